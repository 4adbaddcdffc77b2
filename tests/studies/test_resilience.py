"""Resilience: variance over wordings beside that of candidates, the order kept, the shift, two rephrasers."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau
from tests.finished_runs import finished_run
from tests.studies.making import exam, marked, row, score, twins, write_lines

from vivavoce.core.records import Finding
from vivavoce.run.run import Run, open_run
from vivavoce.studies.reliability.resilience import ResilienceRow
from vivavoce.studies.study import columns

Scores = Mapping[str, Mapping[str, Sequence[float | str]]]
"""Candidate, then item, then the score as first answered and of each wording."""


def reworded(
    folder: Path,
    scores: Scores,
    *,
    edits: str = "rephrase",
    run: Run | None = None,
    groups: int | None = None,
) -> Run:
    """A run of these answers and their wordings, scored; items `q07` lie in so many groups."""
    if run is None:
        finished_run(folder, _reword, scores, edits, groups)
        return open_run(folder / "run.viva")
    _reword(folder, scores, edits, groups, run)
    return run


def _reword(folder: Path, scores: Scores, edits: str, groups: int | None, run: Run | None = None) -> None:
    names = sorted({item for by_item in scores.values() for item in by_item})
    items = [
        {"item": n, "question": f"What of {n}?", "references": ["key"]}
        | ({"group": f"g{k % groups}"} if groups else {})
        for k, n in enumerate(names)
    ]
    rows = [
        {"candidate": c, "item": item, "text": str(value), "edit": f"{edits}:{k}" if k else ""}
        for c, by_item in scores.items()
        for item, values in by_item.items()
        for k, value in enumerate(values)
        if k or run is None
    ]
    run = run or open_run(folder / "run.viva")
    run.import_answers(write_lines(folder / f"{edits}.jsonl", rows), benchmark=exam(folder, items))
    score(run)


def study(run: Run) -> Finding:
    return run.study("resilience")["resilience"]


def whole(finding: Finding, **wanted: Any) -> dict[str, Any]:
    return row(finding, **{"candidate": "", "edit": "", **wanted})


BY_HAND: Scores = {
    "A": {"q1": (0.3, 0, 0.2), "q2": (0.5, 0.4, 0.6)},
    "B": {"q1": (0.6, 0.5, 0.7), "q2": (0.8, 0.8, 1)},
}


def test_a_table_worked_by_hand(tmp_path: Path) -> None:
    """Means .1, .5 and .6, .9: (MS candidate .2025 - MS interaction .0025) / 2 items = .1; range 1."""
    finding = study(reworded(tmp_path, BY_HAND))
    r = whole(finding)
    figures = {k: r[k] for k in ("s2_rephrase", "s2_candidate", "raw_candidate", "wording_share")}
    expected = {"s2_rephrase": 0.02, "s2_candidate": 0.1, "raw_candidate": 0.1, "wording_share": 0.2}
    assert pytest.approx(expected) == figures
    assert pytest.approx(0.01) == r["variance_scaled_published"]
    assert pytest.approx((0.55, 0.525, -0.025)) == (r["mean_before"], r["mean_after"], r["mean_shift"])
    assert (1.0, 2, 2, 2, 4, 2) == tuple(
        r[k] for k in ("order_kept_tau", "n_candidates", "n_items", "n_groups", "n_responses", "n_edits")
    )
    assert [None] * 6 == [r[k] for k in columns(ResilienceRow) if k.endswith(("low", "high"))][:6]
    assert r["reason"].startswith("2 cases: too few to tell")
    assert {columns(ResilienceRow)} == {tuple(r) for r in finding.rows}


def test_each_candidate_and_each_wording_has_its_row(tmp_path: Path) -> None:
    finding = study(reworded(tmp_path, BY_HAND))
    shifts = {(r["candidate"], r["edit"]): r["mean_shift"] for r in finding.rows}
    assert (
        pytest.approx(
            {
                ("", ""): -0.025,
                ("A", ""): -0.1,
                ("B", ""): 0.05,
                ("", "rephrase:1"): -0.125,
                ("", "rephrase:2"): 0.075,
            }
        )
        == shifts
    )
    assert pytest.approx(0.02) == row(finding, candidate="A")["s2_rephrase"]
    assert pytest.approx(0.01) == row(finding, candidate="A")["variance_scaled_published"], "the range of all"


def random_scores(m: int = 5, n: int = 24, k: int = 3, seed: int = 1) -> Scores:
    rng = np.random.default_rng(seed)
    level = np.linspace(0.3, 0.7, m)[:, None, None]
    values = np.clip(level + rng.normal(0, 0.05, (1, n, 1)) + rng.normal(0, 0.05, (m, n, k + 1)), 0, 1)
    return {f"c{c}": {f"q{i:02}": values[c, i].round(6).tolist() for i in range(n)} for c in range(m)}


def cube(scores: Scores) -> Any:
    return np.array([[values for values in by_item.values()] for by_item in scores.values()], dtype=float)


def test_figures_are_numpys_and_scipys(tmp_path: Path) -> None:
    scores = random_scores()
    finding, y = study(reworded(tmp_path, scores)), cube(scores)
    before, after = y[:, :, 0], y[:, :, 1:]
    r = whole(finding)
    assert pytest.approx(after.var(axis=2, ddof=1).mean()) == r["s2_rephrase"]
    published = after.var(axis=2).mean(axis=0).mean() / (after.max() - after.min())
    assert pytest.approx(published) == r["variance_scaled_published"]
    table = after.mean(axis=2)
    effects, rest = table.mean(axis=1) - table.mean(), table - table.mean(axis=0)
    ms_candidate = 24 * (effects**2).sum() / 4
    ms_interaction = ((rest - effects[:, None]) ** 2).sum() / (4 * 23)
    assert pytest.approx((ms_candidate - ms_interaction) / 24) == r["s2_candidate"]
    taus = [kendalltau(before.mean(axis=1), after[:, :, k].mean(axis=1)).statistic for k in range(3)]
    assert pytest.approx(taus) == [row(finding, edit=f"rephrase:{k}")["order_kept_tau"] for k in (1, 2, 3)]
    assert pytest.approx(np.mean(taus)) == r["order_kept_tau"]
    assert pytest.approx((table - before).mean()) == r["mean_shift"]
    assert r["reason"] is None
    for name in ("s2_rephrase", "wording_share", "mean_shift"):
        assert r[f"{name}_low"] < r[name] < r[f"{name}_high"]
    edit = row(finding, edit="rephrase:1")
    assert edit["order_kept_tau_low"] <= edit["order_kept_tau"] <= edit["order_kept_tau_high"]


def test_the_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    scores = random_scores(m=3, n=12)
    backwards = {c: dict(reversed(by_item.items())) for c, by_item in reversed(scores.items())}
    first, second = (tmp_path / name for name in ("first", "second"))
    first.mkdir()
    second.mkdir()
    one, two = (study(reworded(*where)).rows for where in ((first, scores), (second, backwards)))
    assert one == two


def test_equal_candidates_have_no_share_and_the_raw_figure_stays(tmp_path: Path) -> None:
    """Means .1, .5 and .5, .1: MS candidate 0, MS interaction .16."""
    scores: Scores = {
        "A": {"q1": (0.1, 0, 0.2), "q2": (0.5, 0.5, 0.5)},
        "B": {"q1": (0.5, 0.5, 0.5), "q2": (0.1, 0.1, 0.1)},
    }
    r = whole(study(reworded(tmp_path, scores)))
    assert pytest.approx((0.0, -0.08)) == (r["s2_candidate"], r["raw_candidate"])
    assert (None, None) == (r["wording_share"], r["order_kept_tau"])
    assert "candidates differ no more than questions make them: no variance to divide by" in r["reason"]
    assert "all candidates are alike, so there is no order" in r["reason"]


def test_a_measure_that_does_not_move_has_variance_0(tmp_path: Path) -> None:
    scores = {c: {f"q{k:02}": [v] * 3 for k in range(12)} for c, v in (("A", 0.2), ("B", 0.5))}
    r = whole(study(reworded(tmp_path, scores)))
    assert (0.0, 0.0, 0.0) == (r["s2_rephrase"], r["wording_share"], r["mean_shift"])
    assert (None, None) == (r["s2_rephrase_low"], r["mean_shift_low"])
    assert r["reason"] is not None


def test_one_candidate_has_nothing_to_be_set_beside(tmp_path: Path) -> None:
    finding = study(reworded(tmp_path, {"A": BY_HAND["A"]}))
    r = whole(finding)
    assert (None, None, None) == (r["s2_candidate"], r["wording_share"], r["order_kept_tau"])
    assert pytest.approx(0.02) == r["s2_rephrase"]
    assert "one candidate: there is no variance between candidates" in r["reason"]
    assert "one candidate has no order" == row(finding, edit="rephrase:1")["reason"]


def test_one_wording_has_no_variance(tmp_path: Path) -> None:
    scores = {c: {i: values[:2] for i, values in by_item.items()} for c, by_item in BY_HAND.items()}
    r = whole(study(reworded(tmp_path, scores)))
    assert (None, None, 1.0) == (r["s2_rephrase"], r["variance_scaled_published"], r["order_kept_tau"])
    assert "no answer has two wordings with a score" in r["reason"]


def test_failed_scores_are_left_out_and_counted(tmp_path: Path) -> None:
    scores = {**BY_HAND, "A": {"q1": (0.3, 0, 0.2, "fail"), "q2": (0.5, 0.4, 0.6)}}
    r = whole(study(reworded(tmp_path, scores)))
    assert (1, pytest.approx(0.02)) == (r["n_failed"], r["s2_rephrase"])


def test_two_rephrasers_live_side_by_side(tmp_path: Path) -> None:
    run = reworded(tmp_path, BY_HAND)
    still = {c: {i: (v[0], v[0], v[0]) for i, v in by_item.items()} for c, by_item in BY_HAND.items()}
    reworded(tmp_path, still, edits="rephrase@qwen: 2.5", run=run)
    finding = study(run)
    assert pytest.approx((0.02, 0.0)) == tuple(
        whole(finding, edits=edits)["s2_rephrase"] for edits in ("rephrase", "rephrase@qwen: 2.5")
    )
    assert "2 wordings by qwen: 2.5 of 4 answers of 2 candidates" in finding.text


def test_passes_of_a_judge_are_subtracted_under_a_name_of_their_own(tmp_path: Path) -> None:
    """Wordings .2 and .6, each scored twice, .1 apart: s2_pass .005, so .08 - .005 / 2."""
    run = reworded(tmp_path, {"A": {f"q{k:02}": (0.5, 0.2, 0.6) for k in range(12)}})
    lines = [
        {"item": f"q{k:02}", "candidate": "A", "edit": f"rephrase:{e}", "pass_no": p, "value": v + 0.05 * s}
        for k in range(12)
        for e, v in ((1, 0.2), (2, 0.6))
        for p, s in ((1, -1), (2, 1))
    ]
    run.import_scores(write_lines(tmp_path / "j.jsonl", lines), measure="panel", range={"*": (0, 1)})
    r = whole(study(run), metric="panel")
    assert pytest.approx((0.08, 0.005, 0.0775)) == (r["s2_rephrase"], r["s2_pass"], r["s2_rephrase_net"])
    assert (None, None) == (r["mean_shift"], whole(study(run), metric="told")["s2_pass"])
    assert "no score of the answers as they were first given" in r["reason"]


def test_with_and_without_a_chat_template_is_a_paired_contrast(tmp_path: Path) -> None:
    """The template adds .1 or .2 to an answer, and doubles how far wordings lie apart."""
    bare = {f"q{k:02}": (0.3, 0.3, 0.4) for k in range(12)}
    templated = {f"q{k:02}": (0.4 + 0.1 * (k % 2), 0.3, 0.5) for k in range(12)}
    names = {"hf/m(chat_template=false, temperature=0)": bare, "hf/m(temperature=0)": templated, "hf/m": bare}
    finding = study(reworded(tmp_path, names))
    r = row(finding, contrast="chat template")
    assert ("hf/m(temperature=0)", "hf/m(chat_template=false, temperature=0)") == (
        r["candidate"],
        r["against"],
    )
    assert pytest.approx((0.15, 0.015)) == (r["difference"], r["s2_difference"])
    assert 0.1 < r["difference_low"] < 0.15 < r["difference_high"] < 0.2
    assert (None, 12) == (r["s2_difference_low"], r["n_groups"])
    assert "all cases differ alike" in r["reason"]
    assert (
        "hf/m(temperature=0) less hf/m(chat_template=false, temperature=0), 12 questions: score +0.15"
        in finding.text
    )


def test_the_sentence_says_what_moves_by_how_much(tmp_path: Path) -> None:
    text = study(reworded(tmp_path, random_scores())).text
    assert text.startswith("told: worth on exam, 3 wordings of 120 answers of 5 candidates in 24 cases: in ")
    assert "times that between candidates (" in text
    assert "; candidates before and after: tau-b " in text


def test_twins_do_not_make_enough_cases(tmp_path: Path) -> None:
    """Twenty-four questions in six cases are six."""
    r = whole(study(reworded(tmp_path, random_scores(), groups=6)))
    assert (24, 6) == (r["n_items"], r["n_groups"])
    assert (None, None, None) == (r["wording_share_low"], r["mean_shift_low"], r["s2_rephrase_low"])


def test_floors_have_no_place_and_other_edits_neither(tmp_path: Path) -> None:
    run = reworded(tmp_path, BY_HAND)
    reworded(tmp_path, {"A": {"q1": (0, 1, 1)}}, edits="rephrased", run=run)
    reworded(tmp_path, {"A": {"q1": (0, 1, 1)}}, edits="control:noise", run=run)
    assert {"rephrase"} == {r["edits"] for r in study(run).rows}


def test_without_wordings_it_says_how_to_make_some_and_asks_nothing_unnamed(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([0.1, 0.2])})
    assert study(run).text.startswith("No answer was put in other words: `viva vary RUN")
    assert "resilience" not in run.study()


def test_wordings_without_a_score_are_named(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": {"q1": 0.1}})
    lines = [{"candidate": "A", "item": "q1", "edit": "rephrase:1", "text": "0.2"}]
    run.import_answers(write_lines(tmp_path / "more.jsonl", lines), benchmark=exam(tmp_path, ["q1"]))
    assert "no wording has a score" in study(run).text


def test_wordings_whose_scores_all_failed_have_a_row_that_says_so(tmp_path: Path) -> None:
    finding = study(reworded(tmp_path, {"A": {"q1": (0.3, "fail", "fail")}}))
    (only,) = finding.rows
    assert (2, "all 2 scores of wordings failed: score them again") == (only["n_failed"], only["reason"])
    assert "told: worth on exam, wordings: all 2 scores of wordings failed: score them again." == finding.text


def test_who_has_failed_wordings_alone_is_named_and_failures_are_counted(tmp_path: Path) -> None:
    finding = study(reworded(tmp_path, {**BY_HAND, "C": {"q1": (0.3, "fail", "fail")}}))
    assert 2 == whole(finding)["n_failed"]
    assert finding.text.endswith(
        "; 2 scores of wordings failed: score them again before deciding; left out, having no scored "
        "wording: C."
    )


def test_without_scores_before_nothing_is_called_alike(tmp_path: Path) -> None:
    scores = {c: {i: ("fail", *after[1:]) for i, after in items.items()} for c, items in BY_HAND.items()}
    finding = study(reworded(tmp_path, scores))
    assert "no score of the answers as they were first given" in whole(finding)["reason"]
    assert "alike" not in finding.text
    assert "no score of the answers as they were first given" == row(finding, edit="rephrase:1")["reason"]


def test_a_share_of_cases_that_are_all_alike_has_no_interval(tmp_path: Path) -> None:
    """Candidates differ by .3 on each question and each wording moves each score alike."""
    twelve = {f"q{k:02}" for k in range(12)}
    scores = {c: dict.fromkeys(twelve, (mean, mean, mean + 0.1)) for c, mean in (("A", 0.2), ("B", 0.5))}
    r = whole(study(reworded(tmp_path, scores)))
    assert pytest.approx(0.005 / 0.045) == r["wording_share"]
    assert (None, None) == (r["wording_share_low"], r["wording_share_high"])
    assert "one case decides the share, or all weigh on it alike: no interval" in r["reason"]


def test_pairs_of_candidates_stay_turn_round_or_are_near_ties(tmp_path: Path) -> None:
    """A and B tie but for noise; C is best as first answered and worst in other words."""
    noise = 0.02 * np.random.default_rng(5).standard_normal((3, 20, 3))
    means = {"A": (0.5, 0.5, 0.5), "B": (0.5, 0.5, 0.5), "C": (0.8, 0.2, 0.2)}
    scores = {
        name: {f"q{k:02}": tuple(np.add(means[name], noise[n, k]).tolist()) for k in range(20)}
        for n, name in enumerate(means)
    }
    finding = study(reworded(tmp_path, scores))
    r = whole(finding)
    assert (3, 0, 2) == (r["n_pairs"], r["n_same_order"], r["n_turned"])
    assert (-1.0, pytest.approx(-1 / 3)) == (r["order_kept_tau_low"], r["order_kept_tau_high"])
    assert "(-1.00 to -0.33) (0 of 3 pairs in the same order, 2 turned, 1 near tie)" in finding.text
