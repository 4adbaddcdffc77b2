"""Labels that were drawn and did not come back: failed scores, at both ends of the scale."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.lengths import length
from tests.studies.judging import JUDGE, judged
from tests.studies.people import RATING, Benchmark, benchmark, drawn, people_run

from vivavoce.run.run import Run
from vivavoce.store.label_draws import LabelDraw, put_label_draw

N, SIZE = 200, 60


def run_with_draw(folder: Path, values: Benchmark, places: list[int], lost: set[int]) -> Run:
    """A panel drew these items; of the lost ones no label came back."""
    run = people_run(folder, values, [k for k in places if k not in lost])
    n = values.judge.shape[1]
    frame = {("exam", f"q{k:03}", ""): len(places) / n for k in range(n)}
    with run.file.writing() as db:
        put_label_draw(
            db, LabelDraw(RATING, frame, frozenset(("exam", f"q{k:03}", "") for k in places), "panel p1")
        )
    return run


def row_of(run: Run, **settings: Any) -> dict[str, Any]:
    (row,) = run.compare("A", "B", metric=JUDGE, **settings).rows
    return dict(row)


def worst_for_a(values: Benchmark, places: list[int], n: int) -> set[int]:
    """The drawn items on which people put A highest above B."""
    difference = values.people[0] - values.people[1]
    return set(sorted(places, key=lambda k: -difference[k])[:n])


def test_labels_lost_where_one_candidate_is_better_give_no_verdict(tmp_path: Path) -> None:
    """Equal candidates: what came back alone would put B ahead."""
    values, places = benchmark(3), drawn(1, N, SIZE)
    lost = worst_for_a(values, places, 20)
    row = row_of(run_with_draw(tmp_path, values, places, lost))
    assert row["high"] < 0  # as observed, B is ahead
    assert ("depends", None) == (row["verdict_code"], row["favours"])
    assert (
        "It depends on the 20 cases drawn for labelling that people have not scored. Score them first."
        == (row["verdict"])
    )
    assert row["bound_low"] < row["low"] < row["high"] < row["bound_high"]
    assert "20 cases drawn without a label of all that is compared" in row["reason"]


def test_false_verdicts_stay_rare_however_labels_are_lost(tmp_path: Path) -> None:
    named = 0
    n = length(6, 60)
    for seed in range(n):
        values, places = benchmark(seed), drawn(seed, N, SIZE)
        folder = tmp_path / str(seed)
        folder.mkdir()
        row = row_of(run_with_draw(folder, values, places, worst_for_a(values, places, 15)))
        named += row["favours"] is not None
    assert named <= 0.05 * n + 2 * (0.05 * 0.95 * n) ** 0.5


def test_a_large_difference_survives_a_few_lost_labels(tmp_path: Path) -> None:
    values, places = benchmark(4, better=2.0), drawn(1, N, SIZE)
    row = row_of(run_with_draw(tmp_path, values, places, set(places[:2])))
    assert ("better", "b") == (row["verdict_code"], row["favours"])
    assert row["bound_low"] < row["low"] < row["high"] <= row["bound_high"] < 0


def test_bounds_are_the_two_fillings_by_hand(tmp_path: Path) -> None:
    """Every question was drawn and the judge is noise: the labels alone, two of twenty at both ends."""
    rng = np.random.default_rng(1)
    people = np.round(np.stack([rng.uniform(2, 4, 20), rng.uniform(1, 3, 20)]), 1)
    values = Benchmark(people, np.full((2, 20), 2.5))
    row = row_of(run_with_draw(tmp_path, values, list(range(20)), {0, 1}))
    total = (people[0] - people[1])[2:].sum()
    assert pytest.approx(((total - 10) / 20, (total + 10) / 20)) == (row["set_low"], row["set_high"])


def test_the_means_have_the_bounds_of_lost_labels(tmp_path: Path) -> None:
    values, places = benchmark(3), drawn(1, N, SIZE)
    run = run_with_draw(tmp_path, values, places, worst_for_a(values, places, 20))
    for row in run.estimates(JUDGE).rows:
        assert row["set_low"] < row["estimate"] < row["set_high"]
        assert "20 cases drawn without a label" in row["reason"]


def test_a_known_label_of_one_candidate_narrows_the_bounds_of_the_pair(tmp_path: Path) -> None:
    values, places = benchmark(3), drawn(1, N, SIZE)
    half = run_with_draw(tmp_path, values, places, set(places[:10]))
    folder = tmp_path / "one"
    folder.mkdir()
    marks = [("AB"[c], f"q{k:03}", float(values.judge[c, k])) for c in range(2) for k in range(N)]
    labels = [("AB"[c], f"q{k:03}", float(values.people[c, k]), "ann")
              for c in range(2) for k in places if c == 0 or k not in places[:10]]  # fmt: skip
    with_a = judged(folder, {JUDGE: marks, RATING: labels})
    row, narrower = row_of(half), row_of(with_a, labels_chosen_at_random=True)
    assert narrower["set_high"] - narrower["set_low"] < row["set_high"] - row["set_low"]


def test_a_ranking_is_open_where_lost_labels_decide(tmp_path: Path) -> None:
    values, places = benchmark(3), drawn(1, N, SIZE)
    run = run_with_draw(tmp_path, values, places, worst_for_a(values, places, 20))
    rows = [row for row in run.study("ranking")["ranking"].rows if row["scale"]]
    assert {(1, 2, True)} == {(row["rank_low"], row["rank_high"], row["depends_on_failed"]) for row in rows}


def test_nothing_lost_changes_nothing(tmp_path: Path) -> None:
    values, places = benchmark(4, better=2.0), drawn(1, N, SIZE)
    row = row_of(run_with_draw(tmp_path, values, places, set()))
    assert (row["low"], row["high"]) == (row["bound_low"], row["bound_high"])
    assert row["reason"] is None
