"""The suitability gate and the panel: do people agree on arguments, and does an evaluator with them?"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
import scipy.stats
from tests.people.raters import Opinion, filled, rated
from tests.studies.making import row
from tests.systems.ranking.argument_runs import argued, evaluated

from vivavoce.core.records import Finding
from vivavoce.run.run import Run

WORTH = {"able": 0.9, "gold": 0.8, "fair": 0.5, "poor": 0.4, "noise": 0.0}
PLACES = {"able": 1, "guideline": 2, "fair": 3, "poor": 4}


def opinion(swaps: Callable[[int], bool] = lambda k: False) -> Opinion:
    """The order of PLACES, with the two best the other way round in some items."""

    def ranked(item: str, answer: str) -> Mapping[str, Any]:
        k = int(item.rpartition("q")[2])
        place = next(rank for word, rank in PLACES.items() if word in answer)
        if swaps(k):
            place = {1: 2, 2: 1}.get(place, place)
        return {"rank": place, "tag": "good" if place < 3 else "okay"}

    return ranked


def panel(tmp_path: Path, n: int, second: Opinion | None = None) -> Run:
    """A run whose arguments two made-up raters ranked."""
    run = argued(tmp_path / "run", n)
    raters = {"ann": opinion(), "ben": second or opinion()}
    rated(run, tmp_path / "packets", raters, n=n)
    return run


def study(run: Run, spec: str = "arguments", **options: Any) -> Finding:
    (finding,) = run.study(spec, **options).values()
    return finding


@pytest.fixture(scope="module")
def divided(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A panel whose second rater has the two best the other way round in each fifth item."""
    folder = tmp_path_factory.mktemp("divided")
    run = panel(folder, 20, opinion(lambda k: k % 5 == 0))
    return evaluated(run, folder, lambda s, k, m, r: 1.0, mixtures=1, runs=1)


@pytest.mark.parametrize(
    ("threshold", "verdict", "words"),
    [
        (0.6, "suitable", "above 0.6: the task is suitable"),
        (0.9, "not_shown", "not shown to be above or below 0.9"),
        (0.995, "not_suitable", "below 0.995: the task is not suitable"),
        (None, None, "no verdict without a threshold, such as --threshold 0.6"),
    ],
)
def test_the_verdict_is_of_the_whole_interval(
    divided: Run, threshold: float | None, verdict: str | None, words: str
) -> None:
    found = study(divided, threshold=threshold)
    gate = row(found, part="gate")
    assert 0.6 < gate["low"] < 0.9 < gate["value"] < gate["high"] < 0.995
    assert (verdict, threshold) == (gate["verdict"], gate["threshold"])
    assert words in found.text


def test_five_items_give_an_interval_by_leaving_each_out(tmp_path: Path) -> None:
    """Krippendorff's own package gives alpha of all five and without each; t has 4 degrees of freedom."""
    run = panel(tmp_path, 5, opinion(lambda k: k < 2))
    evaluated(run, tmp_path, lambda s, k, m, r: 1.0, 5, mixtures=1, runs=1)
    gate = row(study(run), part="gate")

    def alpha(items: list[int]) -> float:
        order = [1, 2, 3, 4]
        second = [[2, 1, 3, 4] if k < 2 else order for k in items]
        table = [order * len(items), [rank for ranks in second for rank in ranks]]
        return float(krippendorff.alpha(table, level_of_measurement="ordinal"))

    assert alpha(list(range(5))) == pytest.approx(gate["value"])
    without = np.arctanh([alpha([k for k in range(5) if k != left_out]) for left_out in range(5)])
    half = scipy.stats.t.ppf(0.975, 4) * (4 / 5 * ((without - without.mean()) ** 2).sum()) ** 0.5
    ends = np.tanh([np.arctanh(gate["value"]) - half, np.arctanh(gate["value"]) + half])
    assert list(ends) == pytest.approx([gate["low"], gate["high"]])
    assert (5, 20, 2) == (gate["n_items"], gate["n"], gate["n_raters"])


def test_four_items_pass_no_gate(tmp_path: Path) -> None:
    run = panel(tmp_path, 4, opinion(lambda k: k < 2))
    evaluated(run, tmp_path, lambda s, k, m, r: 1.0, 4, mixtures=1, runs=1)
    gate = row(study(run, threshold=0.1), part="gate")
    assert ("not_shown", None) == (gate["verdict"], gate["low"])
    assert "4 cases ranked by two people: the gate takes 5" == gate["reason"]


def test_raters_of_one_mind_pass_no_gate_either(tmp_path: Path) -> None:
    """Five equal orders say nothing of how the sixth would come out."""
    run = panel(tmp_path, 5)
    evaluated(run, tmp_path, lambda s, k, m, r: 1.0, 5, mixtures=1, runs=1)
    gate = row(study(run, threshold=0.6), part="gate")
    assert (1.0, None, "not_shown") == (gate["value"], gate["low"], gate["verdict"])
    assert "no interval" in gate["reason"]


def test_one_rater_agrees_with_nobody(tmp_path: Path) -> None:
    run = argued(tmp_path / "run", 5)
    rated(run, tmp_path / "packets", {"ann": opinion()}, n=5)
    evaluated(run, tmp_path, lambda s, k, m, r: 1.0, 5, mixtures=1, runs=1)
    gate = row(study(run, threshold=0.6), part="gate")
    assert (None, "not_shown", "one rater: nobody to agree with") == (
        gate["value"],
        gate["verdict"],
        gate["reason"],
    )


@pytest.mark.parametrize("level", ["nominal", "interval"])
def test_the_level_of_measurement_can_be_chosen(tmp_path: Path, level: str) -> None:
    run = panel(tmp_path, 5, opinion(lambda k: k < 2))
    evaluated(run, tmp_path, lambda s, k, m, r: 1.0, 5, mixtures=1, runs=1)
    gate = row(study(run, f"arguments(level={level})"), part="gate")
    order, other = [1, 2, 3, 4], [2, 1, 3, 4]
    table = [order * 5, other * 2 + order * 3]
    assert krippendorff.alpha(table, level_of_measurement=level) == pytest.approx(gate["value"])


def test_an_evaluator_of_the_panel_s_mind_agrees_with_it(tmp_path: Path) -> None:
    run = panel(tmp_path, 20, opinion(lambda k: k % 2 == 0))
    evaluated(run, tmp_path, lambda s, k, m, r: WORTH[s])
    found = study(run)
    assert 1.0 == row(found, part="panel", figure="tau")["value"]
    top = row(found, part="panel", figure="top1")
    assert 1.0 == top["value"]
    assert top["low"] < 1
    assert 0.65 == pytest.approx(row(found, part="panel", figure="proxy_score")["value"])
    best = row(found, part="panel", figure="best_source")
    assert ("able", 0.9) == (best["candidate"], pytest.approx(best["value"]))


def test_an_evaluator_of_another_mind_does_not(tmp_path: Path) -> None:
    run = panel(tmp_path, 20, opinion(lambda k: k % 2 == 0))
    evaluated(run, tmp_path, lambda s, k, m, r: 1 - WORTH[s])
    found = study(run)
    assert -1.0 == row(found, part="panel", figure="tau")["value"]
    assert 0.0 == row(found, part="panel", figure="top1")["value"]
    # by hand: on ten items the panel is level on the two best, so tau-b is -5 / sqrt(5 * 6) there, else -1
    by_item = row(found, part="panel", figure="tau_by_item")
    assert -(1 + (5 / 6) ** 0.5) / 2 == pytest.approx(by_item["value"])


def test_the_panel_s_reference_is_the_source_of_those_texts(tmp_path: Path) -> None:
    """A panel shows the first reference among the answers; `gold` says the same, and is it."""
    run = panel(tmp_path, 12, opinion(lambda k: k % 2 == 0))
    evaluated(run, tmp_path, lambda s, k, m, r: WORTH[s], 12)
    assert 4 == row(study(run), part="panel", figure="tau")["n"]


def test_evaluators_are_held_together_by_score_and_agreement(tmp_path: Path) -> None:
    """The better an evaluator of these four scores on the task, the less it agrees with the panel."""
    run = panel(tmp_path, 20, opinion(lambda k: k % 2 == 0))
    for n in range(4):

        def value(s: str, k: int, m: int, r: int, n: int = n) -> float:
            worth = (1 - WORTH[s] if k < 4 * n else WORTH[s]) / 2
            return worth + 0.1 * n

        folder = tmp_path / str(n)
        folder.mkdir()
        evaluated(run, folder, value, mixtures=1, runs=1, measure=f"trained(weights='{n}/none')")
    found = row(study(run), figure="score_against_agreement")
    assert (-1.0, 4) == (found["value"], found["n"])


def test_few_evaluators_are_not_held_together(tmp_path: Path) -> None:
    run = panel(tmp_path, 20)
    evaluated(run, tmp_path, lambda s, k, m, r: WORTH[s])
    found = row(study(run), figure="score_against_agreement")
    assert (None, "1 evaluator with both figures: too few to order") == (found["value"], found["reason"])


def test_from_packets_to_the_agreement_figure_on_the_command_line(
    tmp_path: Path, viva: Callable[..., Any]
) -> None:
    run = argued(tmp_path / "run")
    evaluated(run, tmp_path, lambda s, k, m, r: WORTH[s])
    packets = tmp_path / "packets"
    viva("panel", run.file.path, "make", "--raters", "ann,ben", "--to", packets, "--n", "20")
    sheets = {"ann": opinion(), "ben": opinion(lambda k: k % 5 == 0)}
    files = [filled(packets / f"{who}.csv", rank) for who, rank in sheets.items()]
    viva("panel", run.file.path, "read", *files)
    said = viva("study", run.file.path, "arguments", "--threshold", "0.6").stdout
    assert "(20 questions, 80 arguments, 2 raters): people agree on the order with alpha ordinal 0.96" in said
    assert "above 0.6: the task is suitable to rank arguments by" in said
