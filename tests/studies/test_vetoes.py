"""Red lines: how they are written, what crosses them, and what nobody knows."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each_case
from tests.studies.making import SILENT, TOLD, borrowed, made, marked, row, score, twins, write_lines
from typer.testing import CliRunner

from vivavoce import cli
from vivavoce.core.errors import SelectionError
from vivavoce.run.run import Run
from vivavoce.studies.thresholds import Veto, parse_veto

Panel = Callable[..., Run]
HARM = "panel[harm] >= 3"


@each_case(
    ("text", "veto"),
    [
        ("exact<1", Veto("exact", None, "<", 1.0)),
        ("judge[harm]>=3", Veto("judge", "harm", ">=", 3.0)),
        ("  judge [harm of any kind]  <=  -1.5e0 ", Veto("judge", "harm of any kind", "<=", -1.5)),
        ("judge(rubric=medgpt, model=a/b:c)[harm] > 2.5",
         Veto("judge(rubric=medgpt, model=a/b:c)", "harm", ">", 2.5)),
        ("judge(rubric='a>=3 [b] <4', of=[x, y]) >= 3",
         Veto("judge(rubric='a>=3 [b] <4', of=[x, y])", None, ">=", 3.0)),
        ("judge(of=[x, y])[harm] < .5", Veto("judge(of=[x, y])", "harm", "<", 0.5)),
        ("exact()@1#0a1b[match] < 1", Veto("exact()@1#0a1b", "match", "<", 1.0)),
        ("a:b<1", Veto("a:b", None, "<", 1.0)),
    ],
)  # fmt: skip
def test_a_red_line_is_read_from_the_right(text: str, veto: Veto) -> None:
    assert veto == parse_veto(text)


@each_case(
    "text",
    ["", "exact", "exact < ", "< 1", "exact = 1", "exact == 1", "exact < one", "exact <> 1", "exact < 1 2",
     "exact < nan", "exact < 1e999", "exact >= > 1"],
)  # fmt: skip
def test_what_is_no_red_line_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(SelectionError, match="such as 'judge"):
        parse_veto(text)


def marks(quality: list[float], harm: list[float | None], candidate: str = "A") -> list[tuple[Any, ...]]:
    """A row per question and criterion; a harm of None was never scored."""
    rows: list[tuple[Any, ...]] = [
        (candidate, f"q{n:02}", "", 1, v, "quality") for n, v in enumerate(quality)
    ]
    return rows + [(candidate, f"q{n:02}", "", 1, v, "harm") for n, v in enumerate(harm) if v is not None]


RULES = {"direction": {"harm": "lower"}, "if_unanswered": {"harm": "set_aside"}}


def veto(run: Run, *lines: str, criterion: str = "quality", candidate: str = "A") -> dict[str, Any]:
    found = run.estimates(veto=list(lines) or [HARM])
    json.dumps(found.rows, allow_nan=False)
    return row(found, view="veto", criterion=criterion, candidate=candidate)


def test_an_answer_over_the_line_counts_as_the_worst(panel: Panel) -> None:
    """Quality 5, 5, 4 and 4, the second harmful: (5 + 0 + 4 + 4) / 4."""
    run = panel(marks([5, 5, 4, 4], [0, 3, 2.9, 0]), **RULES)
    found = veto(run)
    assert (3.25, 1, 4) == (found["estimate"], found["n_vetoed"], found["n_items"])
    assert (3.25, 3.25, None) == (found["set_low"], found["set_high"], found["reason"])
    plain = row(run.estimates(veto=[HARM]), view="mean", criterion="quality")
    assert (4.5, None) == (plain["estimate"], plain["n_vetoed"])
    assert found["low"] < plain["low"]


def test_the_measure_that_draws_the_line_has_no_row_of_its_own(panel: Panel) -> None:
    found = panel(marks([5, 5], [0, 3]), **RULES).estimates(veto=[HARM])
    assert [("harm", "mean"), ("quality", "mean"), ("quality", "veto")] == sorted(
        (r["criterion"], r["view"]) for r in found.rows
    )


@pytest.mark.parametrize(("op", "vetoed"), [(">=", 2), (">", 1), ("<=", 2), ("<", 1)])
def test_the_limit_itself_counts_as_it_is_written(panel: Panel, op: str, vetoed: int) -> None:
    run = panel(marks([5, 5, 5], [1, 2, 3]), **RULES)
    assert vetoed == veto(run, f"panel[harm] {op} 2")["n_vetoed"]


def test_a_lower_is_better_measure_goes_to_its_highest(panel: Panel) -> None:
    run = panel(marks([1, 1], [0, 4]), direction={"*": "lower"}, if_unanswered={"*": "set_aside"})
    assert (3.0, 1) == (veto(run)["estimate"], veto(run)["n_vetoed"])


def test_an_answer_without_a_mark_for_the_line_gives_bounds(panel: Panel) -> None:
    """Quality 4 and 2; nobody scored the harm of the second: 4 as seen, 2 if it crossed, 3 if not."""
    found = veto(panel(marks([4, 2], [0, None]), **RULES))
    assert (4.0, 2.0, 3.0, 0) == tuple(found[k] for k in ("estimate", "set_low", "set_high", "n_vetoed"))
    unknown = "1 answer may or may not be over a red line: the scores for it are missing"
    assert (1, f"one case only: no interval; {unknown}") == (found["n_items"], found["reason"])


def test_where_lower_is_better_the_unknown_raises_the_upper_bound(panel: Panel) -> None:
    run = panel(marks([1, 2], [0, None]), direction={"*": "lower"}, if_unanswered={"*": "set_aside"})
    found = veto(run)
    assert (1.0, 1.5, 3.0) == (found["estimate"], found["set_low"], found["set_high"])


def test_no_mark_for_the_line_at_all_is_no_estimate(panel: Panel) -> None:
    rows = marks([4, 2], [None, None]) + marks([4, 2], [0, 0], "B")
    found = veto(panel(rows, **RULES))
    assert (None, 0.0, 3.0) == (found["estimate"], found["set_low"], found["set_high"])
    assert "2 answers may or may not be over" in found["reason"]


def failing(folder: Path, told: list[Any], quality: list[float | None], **settings: Any) -> Run:
    """Scores by a metric that may fail, beside recorded quality; a quality of None failed too."""
    run = marked(folder, {"A": twins(told)}, **settings)
    rows = [
        {"candidate": "A", "item": f"q{n:02}", "quality": v, "state": "lost" if v is None else "ok"}
        for n, v in enumerate(quality)
    ]
    run.import_scores(
        write_lines(folder / "q.jsonl", rows), measure="people(panel=x)", criteria=["quality"],
        range={"*": (0, 5)}, status="state",
    )  # fmt: skip
    return run


def test_a_failed_mark_on_the_line_is_not_known(tmp_path: Path) -> None:
    found = veto(failing(tmp_path, [1, "fail", 0.2], [5, 4, 3]), "told < 0.5")
    assert (2.5, 1) == (found["estimate"], found["n_vetoed"])
    assert pytest.approx((5 / 3, 3)) == (found["set_low"], found["set_high"])


def test_a_limit_that_every_mark_crosses_needs_no_mark(tmp_path: Path) -> None:
    """On 0 to 1 a failed score is at least 0 and at most 1: over `>= 0`, never over `> 1`."""
    run = failing(tmp_path, [1, "fail"], [5, 4])
    always, never = veto(run, "told >= 0"), veto(run, "told > 1")
    assert (0.0, 2, 0.0, 0.0) == tuple(always[k] for k in ("estimate", "n_vetoed", "set_low", "set_high"))
    assert (4.5, 0, 4.5, 4.5) == tuple(never[k] for k in ("estimate", "n_vetoed", "set_low", "set_high"))


def test_an_answer_over_the_line_is_the_worst_even_where_its_own_mark_failed(tmp_path: Path) -> None:
    found = veto(failing(tmp_path, [1, 0], [5, None]), "told < 0.5")
    assert (2.5, 1, 2) == (found["estimate"], found["n_vetoed"], found["n_items"])
    assert (2.5, 2.5) == (found["set_low"], found["set_high"])


@pytest.mark.parametrize(("rule", "vetoed"), [("worst", 1), ("set_aside", 0), ("correct", 0)])
def test_silence_crosses_only_where_it_counts_as_what_crosses(tmp_path: Path, rule: str, vetoed: int) -> None:
    run = failing(tmp_path, [1, SILENT], [5, 4], spec=f"told(silence={rule})")
    found = veto(run, "told < 0.5")
    assert (vetoed, 0) == (found["n_vetoed"], found["n_failed"])


def test_several_lines_are_crossed_by_who_crosses_one(panel: Panel) -> None:
    """Over one line is over; under one and unknown on the other is unknown."""
    rows = marks([5, 5, 5, 5], [0, 4, 0, None])
    rows += [("A", f"q{n:02}", "", 1, v, "bias") for n, v in enumerate([0, 0, 4, 4])]
    found = veto(panel(rows, **RULES), HARM, "panel[bias] >= 3")
    assert (1.25, 3, 1.25, 1.25) == tuple(found[k] for k in ("estimate", "n_vetoed", "set_low", "set_high"))


def test_passes_are_averaged_before_the_line_is_drawn(panel: Panel) -> None:
    """Harm 2 and 4 is 3, and over the line; a tenth three times is no hair under .1."""
    rows = [("A", "q1", "", p, v, "harm") for p, v in ((1, 2), (2, 4))]
    rows += [("A", "q2", "", p, 0.1, "harm") for p in (1, 2, 3)]
    rows += [("A", f"q{n}", "", 1, 5, "quality") for n in (1, 2)]
    run = panel(rows, **RULES)
    assert 1 == veto(run)["n_vetoed"]
    assert 2 == veto(run, "panel[harm] >= 0.1")["n_vetoed"]
    assert 0 == veto(run, "panel[harm] < 0.1")["n_vetoed"]


def test_one_repeat_over_the_line_is_one_answer(panel: Panel) -> None:
    rows = [("A", f"q1#{n}", "", 1, v, "harm") for n, v in ((1, 0), (2, 4))]
    rows += [("A", f"q1#{n}", "", 1, 4, "quality") for n in (1, 2)]
    found = veto(panel(rows, texts={"A": ["x", "y"]}, **RULES))
    assert (2.0, 1) == (found["estimate"], found["n_vetoed"])


def test_a_scale_without_a_worst_end_has_no_veto_and_a_note(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1, 2])}, "told(low=null, high=null, silence=set_aside)")
    score(run, "told(high=2, criteria_named=[other])")
    found = run.estimates(veto=["told(high=2.0)[other] < 2"])
    assert {"mean"} == {r["view"] for r in found.rows}
    assert "No veto where a scale has no worst end" in " ".join(found.notes)


def test_a_line_that_does_not_say_which_criterion_lists_them(panel: Panel) -> None:
    run = panel(marks([5, 5], [0, 3]), **RULES)
    with pytest.raises(SelectionError, match=r"several criteria.*harm, quality"):
        run.estimates(veto=["panel >= 3"])
    with pytest.raises(SelectionError, match=r"'harms' is none of its criteria.*harm, quality"):
        run.estimates(veto=["panel[harms] >= 3"])
    with pytest.raises(SelectionError, match="matches none"):
        run.estimates(veto=["panels[harm] >= 3"])


def test_a_line_drawn_by_several_people_is_refused(panel: Panel) -> None:
    run = panel([("A", "q1", rater, 1, 3, "harm") for rater in ("Ann", "Bob")], **RULES)
    with pytest.raises(SelectionError, match="Ann, Bob"):
        run.estimates(veto=[HARM])


def test_one_line_may_be_given_as_a_text(panel: Panel) -> None:
    run = panel(marks([5, 5], [0, 3]), **RULES)
    assert run.estimates(veto=HARM).rows == run.estimates(veto=[HARM]).rows


def test_floor_and_ceiling_are_vetoed_like_everyone(panel: Panel) -> None:
    rows = marks([5, 5], [4, 4]) + marks([5, 5], [0, 0], "B")
    run = panel(rows, **RULES)
    worst, best = veto(run), veto(run, candidate="B")
    assert (0.0, 0.0, 2) == (worst["estimate"], worst["low"], worst["n_vetoed"])
    assert (5.0, 5.0, 0) == (best["estimate"], best["high"], best["n_vetoed"])


def test_the_command_line_shows_each_view_by_itself(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": [1, 0], "q2": [1, 1]}})
    words = ["score", run.file.path, "told", "told(high=2)", "--plugin", TOLD, "--worst-at", 2,
             "--tail", 0.5, "--veto", "told(high=1.0) < 0.5"]  # fmt: skip
    with borrowed():
        said = CliRunner(env={"COLUMNS": "200"}).invoke(cli.app, [str(word) for word in words])
    assert 0 == said.exit_code, said.output
    for title in ("told: worth on", "told: worth, worst@2 on", "told: worth, tail@0.5 on"):
        assert title in said.stdout
    assert "told(high=2.0): worth, veto on" in said.stdout


def test_marks_that_failed_are_counted_once_whatever_is_shown(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": [1, "fail"], "q2": [1, 1]}})
    words = ["score", run.file.path, "told", "--plugin", TOLD, "--worst-at", 2, "--tail", 0.5]
    with borrowed():
        said = CliRunner(env={"COLUMNS": "200"}).invoke(cli.app, [str(word) for word in words])
    assert 1 == said.exit_code
    assert "1 score failed" in said.stderr


def test_a_line_on_another_format_vetoes_nothing_and_says_so(tmp_path: Path) -> None:
    """Told scores short answers, accuracy the one with options: nothing crossed, nothing is unknown."""
    choice = {"item": "c", "format": "mcq", "options": ["x", "y"], "answer": "x", "references": []}
    run = marked(tmp_path, {"A": {"q1": 1, "c": "x"}}, items=["q1", choice])
    found = score(run, "accuracy", "told", veto=["told < 0.5"])
    assert {"mean"} == {r["view"] for r in found.rows}
    assert "No veto by told < 0.5 on accuracy: they score no format in common." in found.notes
