"""Scores by axis and theme beside those of simple-evals, and graders beside physicians."""

import json
import random
from pathlib import Path

import pytest
from tests.judging.conftest import judge, providers_file
from tests.judging.fake_judge import FakeJudge
from tests.logs.test_bad_logs import altered_value, read_or_refused

import vivavoce as viva
from vivavoce import stats
from vivavoce.core.records import Item, Unit
from vivavoce.judging.judge import Judge
from vivavoce.systems.healthbench.study.axes import AxesRow, _sentence

__all__ = ["judge", "providers_file"]
JUDGE = "judge(rubric=healthbench, model=fake/j1)"


def test_axes_and_themes_are_those_of_simple_evals(shared: Path, tmp_path: Path):
    """`healthbench_fake_allresults.json` was written by simple-evals at ee3b031 with a fake grader."""
    folder = shared / "data" / "peers" / "healthbench"
    run = viva.open(tmp_path / "hb.viva")
    results = folder / "healthbench_fake_allresults.json"
    run.import_logs(results, benchmark=f"healthbench(data={folder / 'input.jsonl'})")
    published = json.loads(results.read_text())["metrics"]
    rows = run.study("axes")["axes"].rows
    mine = {f"{row['part']}:{row['name']}": row["score"] for row in rows}
    theirs = {
        key: value
        for key, value in published.items()
        if key.startswith(("axis:", "theme:")) and ":n" not in key
    }
    theirs = {key: value for key, value in theirs.items() if not key.endswith("bootstrap_std")}
    assert theirs == pytest.approx(mine)
    assert {3, 1} == {row["n_items"] for row in rows}


TALKS = {f"t{k}": ("p1 p3", "p2 p3", "p1")[k % 3] for k in range(12)}
"""By conversation the answer; p1 is worth 5, p2 3 and p3 -8: -3/8, -5/8 and 5/8."""


def exam(folder: Path) -> str:
    points = [
        {"text": f"Says {name}.", "weight": weight} for name, weight in (("p1", 5), ("p2", 3), ("p3", -8))
    ]
    rows = [
        {"id": name, "format": "conversation", "question": f"About {name}?", "rubric": points}
        for name in TALKS
    ]
    (folder / "talks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return f"jsonl(path={folder / 'talks.jsonl'})"


def answered(folder: Path, answers: dict[str, str | None]) -> viva.Run:
    run = viva.open(folder / "talks.viva")
    rows = [{"item": name, "candidate": "A", "text": text} for name, text in answers.items()]
    (folder / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run.import_answers(folder / "answers.jsonl", benchmark=exam(folder))
    return run


def test_the_mean_is_clipped_and_single_answers_are_not(tmp_path: Path, judge: FakeJudge, providers_file):
    run = answered(tmp_path, TALKS)
    (row,) = run.score(JUDGE, providers=providers_file()).rows
    values = run.scores.filter(criterion="score")["value"].to_list()
    assert {-3 / 8, -5 / 8, 5 / 8} == set(values)
    assert -1 / 8 == pytest.approx(sum(values) / 12)
    assert (0.0, 0.0) == (row["estimate"], row["low"])
    ends = stats.pooled([[value, 1] for value in values], list(TALKS), stats.sum_ratio)
    assert ends.high == pytest.approx(row["high"])


def test_a_silence_reaches_no_point(tmp_path: Path, judge: FakeJudge, providers_file):
    run = answered(tmp_path, {name: "p1" if k else "" for k, name in enumerate(TALKS)})
    (row,) = run.score(JUDGE, providers=providers_file()).rows
    assert 11 / 12 * 5 / 8 == pytest.approx(row["estimate"])
    assert 1 == row["n_unanswered"]


def test_the_score_is_adjusted_for_length(tmp_path: Path, judge: FakeJudge, providers_file):
    """1,000 characters more than 2,000 cost 2 * 0.0147, and 1,000 fewer earn it."""
    texts = {name: f"p1 {'x' * (2_997 if k % 2 else 997)}" for k, name in enumerate(TALKS)}
    run = answered(tmp_path, texts)
    run.score("judge(rubric=healthbench_professional, model=fake/j1)", providers=providers_file())
    adjusted = run.scores.filter(criterion="score_length_adjusted").sort("item")
    by_item = dict(adjusted.select("item", "value").iter_rows())
    assert 5 / 8 + 2 * 0.0147 == pytest.approx(by_item["t0"])
    assert 5 / 8 - 2 * 0.0147 == pytest.approx(by_item["t1"])


def test_comparisons_are_made_before_clipping(tmp_path: Path, judge: FakeJudge, providers_file):
    """Both means are clipped to 0, and the worse candidate is worse all the same."""
    run = viva.open(tmp_path / "talks.viva")
    texts = {"A": "p1 p3", "B": "p3"}
    rows = [{"item": name, "candidate": c, "text": text} for name in TALKS for c, text in texts.items()]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run.import_answers(tmp_path / "answers.jsonl", benchmark=exam(tmp_path))
    found = run.score(JUDGE, providers=providers_file()).rows
    assert [0.0, 0.0] == [row["estimate"] for row in found]
    (row,) = run.compare("A", "B", metric="judge:score").rows
    assert 5 / 8 == pytest.approx(row["difference"])


LABELS = [  # by completion what three physicians say, and what the judge will
    ("p1", [True, True, False]),
    ("p1", [True, True, True]),
    ("p2", [False, False, False]),
    ("p2", [True, False, False]),
] * 5


def meta_file(folder: Path) -> Path:
    rows = [
        {
            "prompt_id": f"c{k}", "prompt": [{"role": "user", "content": f"About {k}?"}], "completion": text,
            "rubric": "Says p1.", "category": f"cluster:{'ab'[k % 2]}", "binary_labels": labels,
            "anonymized_physician_ids": ["d1", "d2", "d3"], "completion_id": str(k),
        }
        for k, (text, labels) in enumerate(LABELS)
    ]  # fmt: skip
    file = folder / "2025_oss_meta_eval.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_a_judge_is_held_against_physicians_point_by_point(tmp_path: Path, judge: FakeJudge, providers_file):
    """Pairs: 25 of 30 labels of p1 are met, 5 of 30 of p2; the judge says met of p1 and not met of p2.

    F1 of met is 2*25 / (2*25 + 5 + 5), of not met the same: 5/6, as `healthbench_meta_eval.py` gives it.
    """
    run = viva.open(tmp_path / "meta.viva")
    (log,) = run.import_logs(meta_file(tmp_path)).logs
    assert ("healthbench_meta", 20, 60) == (log.tool, log.responses, log.scores)
    run.score(JUDGE, providers=providers_file())
    finding = run.study("meta_evaluation")["meta_evaluation"]
    whole = {row["rater"]: row for row in finding.rows if (row["category"], row["place"]) == ("all", "")}
    assert 5 / 6 == pytest.approx(whole["fake/j1"]["balanced_f1"])
    assert (60, 20, "judge") == tuple(whole["fake/j1"][name] for name in ("n_pairs", "n_points", "kind"))
    assert whole["fake/j1"]["low"] < 5 / 6 < whole["fake/j1"]["high"]
    assert {"fake/j1", "d1", "d2", "d3"} == set(whole)
    assert 40 == whole["d1"]["n_pairs"]
    assert "fake/j1 has a balanced F1 of 0.83" in finding.text


def test_a_judge_takes_each_physicians_place_on_the_same_pairs(
    tmp_path: Path, judge: FakeJudge, providers_file
):
    """A fourth physician labelled alone what nobody else did: it has no place, and moves nobody's figure."""
    file = meta_file(tmp_path)
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    alone = rows[0] | {"prompt_id": "c99", "completion_id": "99", "binary_labels": [True],
                       "anonymized_physician_ids": ["d4"]}  # fmt: skip
    file.write_text("".join(json.dumps(row) + "\n" for row in [*rows, alone]))
    run = viva.open(tmp_path / "meta.viva")
    run.import_logs(file)
    run.score(JUDGE, providers=providers_file())
    finding = run.study("meta_evaluation")["meta_evaluation"]
    places = {row["place"]: row for row in finding.rows if (row["category"], row["kind"]) == ("all", "place")}
    assert ["all", "d1", "d2", "d3"] == list(places)
    (d1,) = [r for r in finding.rows if (r["rater"], r["category"]) == ("d1", "all")]
    assert (d1["n_pairs"], d1["balanced_f1"]) == (places["d1"]["n_pairs"], places["d1"]["physician_f1"])
    # Of 8 pairs with d2 and d3 d1 says met in 6 and they in 3, alike in 3 and 2; the judge in 4, in 3 and 4.
    d1_place = places["d1"]
    assert pytest.approx((6 / 7 + 8 / 9) / 2) == d1_place["balanced_f1"]
    assert pytest.approx((2 / 3 + 4 / 7) / 2) == d1_place["physician_f1"]
    assert pytest.approx(d1_place["balanced_f1"] - d1_place["physician_f1"]) == d1_place["difference"]
    # They differ in 5 cases, always for the judge: 2 of 32 ways to flip them are as far, and no interval.
    assert (2 / 32, None) == (d1_place["p"], d1_place["difference_low"])
    assert 40 == places["d1"]["n_pairs"]
    assert 120 == places["all"]["n_pairs"]
    assert 3 * 2 / 32 == d1_place["p_adjusted"]
    assert places["all"]["p_adjusted"] is None
    assert "In physicians' places, on the same 120 pairs, fake/j1 has" in finding.text
    assert "In the place of each of 3 physicians" in finding.text


def test_a_physician_who_always_says_the_same_has_no_balanced_f1(tmp_path: Path):
    file = meta_file(tmp_path)
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for row in rows:
        row["binary_labels"] = [True, *row["binary_labels"][1:]]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = viva.open(tmp_path / "meta.viva")
    run.import_logs(file)
    finding = run.study("meta_evaluation")["meta_evaluation"]
    (d1,) = [row for row in finding.rows if (row["rater"], row["category"]) == ("d1", "all")]
    assert finding.text.startswith("Physicians among themselves have a balanced F1 of 0.")
    assert (None, "one side says the same of every point") == (d1["balanced_f1"], d1["reason"])


def test_labels_that_do_not_fit_their_names_are_refused(tmp_path: Path):
    file = meta_file(tmp_path)
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    rows[3]["binary_labels"] = [True]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(viva.InputError, match=r"line 4: binary_labels and anonymized_physician_ids"):
        viva.open(tmp_path / "meta.viva").import_logs(file)


def test_altered_labels_give_rows_or_one_sentence(tmp_path: Path):
    file = meta_file(tmp_path)
    whole = [json.loads(line) for line in file.read_text().splitlines()][:4]
    for seed in range(60):
        rows = altered_value(json.loads(json.dumps(whole)), random.Random(seed))
        file.write_text("\n".join(map(json.dumps, rows)))
        read_or_refused(file, "healthbench_meta")


def test_what_a_silence_counts_is_declared_where_the_mean_is_clipped():
    item = Item(
        benchmark="b", item="i", format="conversation", question="q",
        rubric=(Unit(unit="r1", text="x", weight=2), Unit(unit="r2", text="y", weight=-5)),
    )  # fmt: skip
    clipped = Judge(rubric="healthbench_professional", model="m/x")
    parts = {"score": 0.0, "answers": 1.0}
    assert {"score": parts, "score_length_adjusted": parts} == clipped.silence_parts(item)
    assert [0.0, 0.0] == [c.silence for c in clipped.criteria if c.criterion != "met"]


def axis_row(name: str, score: float, gap: float, p: float) -> AxesRow:
    return AxesRow(
        benchmark="hb", metric="judge", criterion="point", rater="ann", candidate="A", part="axis", name=name,
        score=score, low=None, high=None, n_items=40, n_groups=40, n_failed=0, below_others=gap, p=p,
        p_adjusted=min(1.0, 2 * p),
    )  # fmt: skip


def test_an_axis_is_lowest_where_a_test_over_all_axes_shows_it() -> None:
    """Of equal axes one is lowest all the same."""
    unequal = [axis_row("accuracy", 0.7, -0.3, 0.001), axis_row("tone", 0.4, 0.3, 0.001)]
    assert "A is lowest on tone (0.40, scored by ann)." in _sentence(unequal)
    equal = [axis_row("accuracy", 0.52, -0.02, 0.04), axis_row("tone", 0.5, 0.02, 0.04)]
    assert "No axis of A is shown lower than the others (scored by ann)." in _sentence(equal)
