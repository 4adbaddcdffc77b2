"""The card of every rater against control cases: pairs, averages, lines, verdicts and what is left out."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.finished_runs import finished_run
from tests.studies.making import exam, row, score, write_lines

from vivavoce.core.errors import SelectionError
from vivavoce.core.records import Finding
from vivavoce.run.run import Run, open_run
from vivavoce.studies.controls.rows import ControlRow
from vivavoce.studies.study import columns

Edits = Mapping[str, Sequence[float | str]]
"""By edit what the answer to each item is worth; the edit '' is the answer as given."""


def controlled(
    folder: Path,
    edits: Edits,
    *specs: str,
    more: Mapping[str, Edits] | None = None,
    groups: Sequence[int] | None = None,
    repeats: int = 1,
    role: Mapping[str, str] | None = None,
) -> Run:
    """A run of candidate A, and of `more` ones, whose answers and controls say what they are worth."""
    finished_run(folder, _control, edits, specs, more, groups, repeats, role)
    return open_run(folder / "run.viva")


def _control(
    folder: Path,
    edits: Edits,
    specs: Sequence[str],
    more: Mapping[str, Edits] | None,
    groups: Sequence[int] | None,
    repeats: int,
    role: Mapping[str, str] | None,
) -> None:
    n = len(next(iter(edits.values())))
    items = [
        {"item": f"q{i:03}", "question": f"What of {i}?", "references": ["key"]}
        | ({"group": f"g{groups[i]}"} if groups else {})
        for i in range(n)
    ]
    rows = [
        {"candidate": name, "item": f"q{i:03}", "text": str(value), "edit": edit, "repeat": repeat}
        for name, by_edit in {"A": edits, **(more or {})}.items()
        for edit, values in by_edit.items()
        for i, value in enumerate(values)
        for repeat in range(1, repeats + 1)
    ]
    run = open_run(folder / "run.viva")
    file = write_lines(folder / "answers.jsonl", rows)
    run.import_answers(file, benchmark=exam(folder, items), role=role)
    score(run, *specs)


def study(run: Run, spec: str = "controls", **options: Any) -> Finding:
    (finding,) = run.study(spec, **options).values()
    return finding


RNG = np.random.default_rng(7)
REAL = RNG.uniform(0.5, 0.8, 24).round(6)
NOISE = RNG.normal(0, 0.02, 24).round(6)
RNG_WIDE = np.random.default_rng(8)


def kind(run: Run, control: str, **options: Any) -> dict[str, Any]:
    return row(study(run, **options), control=control)


def edits(**controls: Any) -> Edits:
    """The answers, and each control as so much more than its answer."""
    shifted = {f"control:{name}": (REAL + by).round(6).tolist() for name, by in controls.items()}
    return {"": REAL.tolist(), **shifted}


def test_a_rater_that_likes_length_is_fooled_by_padding_and_by_nothing_else(tmp_path: Path) -> None:
    run = controlled(tmp_path, edits(padded=0.15 + NOISE, noise=NOISE - 0.4, confident=NOISE))
    finding = study(run, margin=0.05)
    assert {"padded": "fooled", "noise": "not_fooled", "confident": "not_fooled", "all": "fooled"} == {
        r["control"]: r["verdict"] for r in finding.rows
    }
    assert str(finding).startswith("told: worth on exam is fooled by padded (control less real text 0.1")
    assert "not fooled by noise and confident" in str(finding)
    padded = row(finding, control="padded")
    assert 0.0 == padded["p_greater"]
    assert pytest.approx(-(0.15 + NOISE.mean()), abs=1e-6) == padded["difference"]
    assert {columns(ControlRow)} == {tuple(r) for r in finding.rows}


def test_a_rule_whose_padded_score_falls_is_not_fooled(tmp_path: Path) -> None:
    run = controlled(tmp_path, edits(padded=NOISE - 0.2, praise=NOISE - 0.3))
    finding = study(run, margin=0.05)
    assert {"not_fooled"} == {r["verdict"] for r in finding.rows}
    assert "is fooled by none of 2 kinds of control (margin 0.05)" in str(finding)


def test_a_kind_is_not_cleared_by_its_interval_alone_among_several(tmp_path: Path) -> None:
    """Praise lies just on the good side of the margin: p .031 alone, twice that beside a kind at the line."""
    wide = RNG_WIDE.normal(0, 0.1, 24).round(6)
    close = 0.05 - 2.3 * wide.std(ddof=1) / 24**0.5 - wide.mean() + wide
    single = study(controlled(tmp_path / "1", edits(praise=close)), margin=0.05)
    assert {"not_fooled"} == {r["verdict"] for r in single.rows}
    at_line = 0.05 - wide.mean() + wide
    pair = study(controlled(tmp_path / "2", edits(praise=close, padded=at_line)), margin=0.05)
    praise = row(pair, control="praise")
    assert ("not_shown", True) == (praise["verdict"], praise["p"] < 0.05 < praise["p_adjusted"])
    assert "the interval alone says not fooled" in praise["reason"]
    assert "not fooled by" not in str(pair)


def test_all_is_not_fooled_only_where_each_kind_is(tmp_path: Path) -> None:
    run = controlled(tmp_path, edits(padded=NOISE - 0.2, confident=NOISE + 0.05))
    whole = kind(run, "all", margin=0.05)
    assert ("not_shown", "not shown for confident") == (whole["verdict"], whole["reason"])
    assert None is whole["p"]


def test_without_a_margin_there_are_figures_and_no_verdict(tmp_path: Path) -> None:
    run = controlled(tmp_path, edits(noise=NOISE - 0.4))
    for control in ("noise", "all"):
        r = kind(run, control)
        assert None is r["verdict"]
        assert r["reason"].startswith("needs --margin: the least difference that matters")
    noise = kind(run, "noise")
    assert (1.0, True) == (noise["p_greater"], noise["low"] < noise["difference"] < noise["high"])
    assert None is noise["p"]
    assert "no verdict, needs --margin" in str(study(run))


def test_a_metric_that_declares_its_least_difference_needs_no_option(tmp_path: Path) -> None:
    run = controlled(tmp_path, edits(noise=NOISE - 0.4), "told(least=0.1)")
    assert (0.1, "the metric", "not_fooled") == tuple(
        kind(run, "noise")[k] for k in ("margin", "margin_source", "verdict")
    )
    assert (0.2, "--margin") == tuple(kind(run, "noise", margin=0.2)[k] for k in ("margin", "margin_source"))


def test_each_metric_may_have_its_own_margin(tmp_path: Path) -> None:
    run = controlled(tmp_path, edits(noise=NOISE - 0.4))
    (r, _) = study(run, "controls(margin=0.02, margins=['told:0.5'])").rows
    assert (0.5, "margins", "fooled") == (r["margin"], r["margin_source"], r["verdict"])
    with pytest.raises(SelectionError, match=r"no metric 'rouge' here; there are told"):
        study(run, "controls(margins=['rouge:0.5'])")
    with pytest.raises(SelectionError, match=r"write a metric and a number, such as judge:0\.5"):
        study(run, "controls(margins=['told'])")
    with pytest.raises(SelectionError, match=r"--margin -1: the least difference that matters is 0 or more"):
        study(run, margin=-1)


def test_a_margin_as_wide_as_the_scale_gives_no_verdict(tmp_path: Path) -> None:
    r = kind(controlled(tmp_path, edits(noise=NOISE - 0.4)), "noise", margin=1)
    assert (None, True) == (r["verdict"], r["reason"].startswith("the margin 1 is as wide as the scale (1)"))


def test_draws_are_averaged_inside_the_item_before_candidates(tmp_path: Path) -> None:
    """A has one draw and B three: the item's mean is over the two candidates, not over four rows."""
    real = [0.8] * 12
    run = controlled(
        tmp_path,
        {"": real, "control:noise": [0.4] * 12},
        more={"B": {"": real, "control:noise:1": [0.0] * 12, "control:noise:2": [0.2] * 12,
                    "control:noise:3": [1.0] * 12}},
    )  # fmt: skip
    r = kind(run, "noise")
    assert pytest.approx(((0.4 + 0.4) / 2, (1 + 2 / 3) / 2)) == (r["difference"], r["p_greater"])
    assert (2, 4, 48) == (r["n_candidates"], r["n_draws"], r["n_pairs"])


def test_a_control_is_paired_with_its_own_repeat(tmp_path: Path) -> None:
    run = controlled(tmp_path, edits(noise=NOISE - 0.4), repeats=3)
    once = (
        controlled(tmp_path / "once", edits(noise=NOISE - 0.4))
        if (tmp_path / "once").mkdir() is None
        else run
    )
    assert 72 == kind(run, "noise")["n_pairs"]
    assert kind(run, "noise")["difference"] == kind(once, "noise")["difference"]


def test_an_empty_control_counts_by_the_criterions_rule(tmp_path: Path) -> None:
    silent = {"": REAL.tolist(), "control:empty": [""] * 24}
    worst = kind(controlled(tmp_path, silent), "empty", margin=0.1)
    assert ("not_fooled", 24) == (worst["verdict"], worst["n_unanswered"])
    assert pytest.approx(REAL.mean(), abs=1e-6) == worst["difference"]
    for rule, verdict, reason in (
        ("set_aside", "not_shown", "the criterion sets silence aside"),
        ("correct", "fooled", None),
    ):
        folder = tmp_path / rule
        folder.mkdir()
        r = kind(controlled(folder, silent, f"told(silence={rule})"), "empty", margin=0.1)
        assert verdict == r["verdict"]
        assert reason is None or r["reason"].startswith(reason)


def test_lower_is_better_turns_the_difference(tmp_path: Path) -> None:
    run = controlled(tmp_path, edits(noise=0.15 + NOISE, padded=NOISE - 0.2), "told(direction=lower)")
    assert ("not_fooled", "fooled") == tuple(
        kind(run, name, margin=0.05)["verdict"] for name in ("noise", "padded")
    )
    assert kind(run, "noise")["difference"] > 0.1


def test_a_verdict_that_hangs_on_failed_scores_is_not_shown(tmp_path: Path) -> None:
    noise = (REAL - 0.2 + NOISE).round(6).tolist()
    run = controlled(tmp_path, {"": REAL.tolist(), "control:noise": ["fail"] * 10 + noise[10:]})
    r = kind(run, "noise", margin=0.1)
    assert ("not_shown", 10) == (r["verdict"], r["n_failed"])
    assert r["reason"].startswith("it depends on 10 pairs with a score that failed")
    assert r["set_low"] < r["difference"] < r["set_high"]
    one = tmp_path / "one"
    one.mkdir()
    few = controlled(one, {"": REAL.tolist(), "control:noise": ["fail", *noise[1:]]})
    assert "not_fooled" == kind(few, "noise", margin=0.05)["verdict"]


def test_a_failed_score_without_a_limit_shows_nothing(tmp_path: Path) -> None:
    run = controlled(
        tmp_path, {"": REAL.tolist(), "control:noise": ["fail", *(REAL - 0.4 + NOISE)[1:].round(6)]},
        "told(high=null)",
    )  # fmt: skip
    r = kind(run, "noise", margin=0.1)
    assert ("not_shown", None) == (r["verdict"], r["bound_low"])
    assert "nothing bounds it" in r["reason"]


def test_few_cases_show_nothing_however_many_questions(tmp_path: Path) -> None:
    r = kind(
        controlled(tmp_path, edits(noise=NOISE - 0.4), groups=[i % 6 for i in range(24)]), "noise", margin=0.1
    )
    assert ("not_shown", "6 cases: too few to tell", 6) == (r["verdict"], r["reason"], r["n_groups"])
    assert [None] * 4 == [r[k] for k in ("low", "high", "p_greater_low", "p")]
    assert r["difference"] > 0.3


def test_ties_are_half_and_are_not_shown_by_few_questions(tmp_path: Path) -> None:
    run = controlled(tmp_path, edits(noise=0 * NOISE))
    r = kind(run, "noise", margin=0.01)
    assert (0.5, 0.0, "not_shown", 0) == tuple(
        r[k] for k in ("p_greater", "difference", "verdict", "n_different")
    )
    assert "score alike in every case" in r["reason"]
    assert "fooled" == kind(run, "noise", margin=0.2)["verdict"]


def test_a_kind_that_was_not_scored_leaves_all_open(tmp_path: Path) -> None:
    run = controlled(tmp_path, edits(noise=NOISE - 0.4))
    (line,) = ({"candidate": "A", "item": "q000", "text": "0.9", "edit": "control:padded"},)
    file = write_lines(tmp_path / "more.jsonl", [line])
    run.import_answers(file, benchmark=f"jsonl(path='{tmp_path / 'exam.jsonl'}')")
    finding = study(run, margin=0.1)
    assert "not scored: score the run again" == row(finding, control="padded")["reason"]
    assert ("not_shown", "not shown for padded") == tuple(
        row(finding, control="all")[k] for k in ("verdict", "reason")
    )


def test_a_blank_answer_is_no_real_text(tmp_path: Path) -> None:
    texts = ["", *REAL[1:].tolist()]
    run = controlled(tmp_path, {"": texts, "control:noise": (REAL - 0.4).round(6).tolist()})
    r = kind(run, "noise")
    assert (23, 1) == (r["n_pairs"], r["n_without_real"])


def test_the_example_is_the_pair_in_which_the_control_gained_most(tmp_path: Path) -> None:
    gains = NOISE.copy()
    gains[5] = 0.19
    r = kind(controlled(tmp_path, edits(padded=gains)), "padded")
    assert ("q005", "A", 1, "control:padded") == tuple(
        r[f"example_{k}"] for k in ("item", "candidate", "repeat", "edit")
    )
    assert pytest.approx(0.19) == r["example_control"] - r["example_real"]


def test_a_ceilings_answers_make_pairs_and_a_floors_do_not(tmp_path: Path) -> None:
    both = edits(padded=NOISE)
    run = controlled(tmp_path, both, more={"P": both, "F": both}, role={"P": "ceiling", "F": "floor"})
    r = kind(run, "padded", margin=0.05)
    assert (2, 48) == (r["n_candidates"], r["n_pairs"])
    everything = kind(run, "all", margin=0.05)
    assert (2, 48, r["n_different"]) == tuple(
        everything[f"n_{k}"] for k in ("candidates", "pairs", "different")
    )


def test_a_small_gain_is_never_written_as_none(tmp_path: Path) -> None:
    finding = study(controlled(tmp_path, edits(noise=np.full(24, 0.0002))), margin=0.1)
    assert "fooled by noise (control less real text 0.0002;" in str(finding)


def test_kinds_that_no_answer_has_are_named(tmp_path: Path) -> None:
    finding = study(controlled(tmp_path, edits(padded=NOISE, noise=NOISE)), margin=0.1)
    (line,) = [line for line in finding.notes if line.startswith("Not examined")]
    assert "for no answer has such a control: none, label_number_right" in line
    assert not any(kind in line for kind in ("padded", "noise"))


def test_people_who_scored_controls_are_examined_too(tmp_path: Path) -> None:
    run = controlled(tmp_path, edits(noise=NOISE - 0.4))
    lines = [
        {"item": f"q{i:03}", "candidate": "A", "edit": edit, "criterion": "worth", "value": 3, "rater": "Ann"}
        for i in range(24)
        for edit in ("", "control:noise")
    ]
    file = write_lines(tmp_path / "people.jsonl", lines)
    run.import_scores(file, measure="expert", range={"worth": (1, 5)})
    finding = study(run, "controls(margins=['told:0.1', 'expert:1'])")
    assert "fooled" == row(finding, control="noise", rater="Ann")["verdict"]
    assert "not_fooled" == row(finding, control="noise", rater="")["verdict"]


def test_a_run_without_controls_says_how_to_make_them(tmp_path: Path) -> None:
    run = controlled(tmp_path, {"": REAL.tolist()})
    finding = study(run)
    assert () == finding.rows
    assert 'viva vary RUN "control(kind=all)"' in str(finding)
    assert "controls" not in run.study()


def test_the_order_of_rows_changes_nothing(tmp_path: Path) -> None:
    both = edits(noise=NOISE - 0.4, padded=NOISE)
    backwards = dict(reversed(list(both.items())))
    (tmp_path / "b").mkdir()
    first, second = controlled(tmp_path, both), controlled(tmp_path / "b", backwards)
    assert study(first, margin=0.1).rows == study(second, margin=0.1).rows
