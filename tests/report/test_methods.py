"""Methods and checklist: only what is true of the run at hand, and nothing claimed beyond it."""

from pathlib import Path
from typing import Any

import pytest
from tests.studies.making import SILENT, UNREADABLE, Answers, exam, made, marked, score, twins
from tests.viewing import read_anew

from vivavoce import __version__
from vivavoce.core import registry
from vivavoce.core.errors import StoreError
from vivavoce.core.tables import restrict_to_items
from vivavoce.report.checklist import (
    ABOUT,
    ABOUT_CHART,
    ANSWERS,
    ANSWERS_CHART,
    GUIDELINES,
    checklist,
    checklist_text,
    filled,
)
from vivavoce.report.data import ReportData, Roster, facts_of
from vivavoce.report.methods import methods
from vivavoce.run.run import Run
from vivavoce.run.tables.load import select_items
from vivavoce.run.tables.requests import load_requests
from vivavoce.store import read
from vivavoce.store.view import with_view
from vivavoce.studies.answers import identical_repeats


def contents(run: Run, items: str | None = None) -> ReportData:
    chosen = with_view(run.file, select_items, items)
    answers = read_anew(run, chosen)
    responses = facts_of(answers)
    with run.file.reading() as db:
        scores = restrict_to_items(read.scores(db, details=True), chosen)
        return ReportData(
            name="run.viva",
            items=restrict_to_items(read.items(db), chosen),
            responses=responses,
            answers=answers,
            identical=identical_repeats(responses),
            roster=Roster.of(responses, scores),
            requests=with_view(run.file, load_requests, chosen),
            scores=scores,
            measures={k.key: k.measure for k in read.measures(db)},
            estimates=run.estimates(items=items).rows,
            comparisons=tuple(read.findings(db, "compare")),
            benchmarks=tuple(read.benchmarks(db)),
            provenance=tuple(read.provenance(db)),
            selection=items,
            studies={name: tuple(read.findings(db, name)) for name in registry.members("study")},
        )


def text(run: Run, **settings: Any) -> str:
    return "\n".join(methods(contents(run, **settings)))


@pytest.fixture
def answers() -> Answers:
    return {
        name: twins([base + 0.01 * (k * step % 7) for k in range(12)])
        for name, base, step in (("Ann", 0.7, 3), ("Ben", 0.4, 5), ("Cleo", 0.1, 2))
    }


# Methods


def test_the_exam_is_told_with_its_size_revision_and_hash(tmp_path: Path, answers: Answers) -> None:
    items = [{"item": f"q{n:02}", "group": f"case {n // 2}"} for n in range(12)]
    said = text(marked(tmp_path, answers, items=items))
    assert "The exam was exam: 12 questions (12 short), from 6 independent cases" in said
    assert "Source: a file of the authors' own, exam.jsonl; no revision (a file; its hash stands in" in said
    assert "content hash " in said
    assert str(tmp_path) not in said.split("\n")[0]  # where it lies on a machine is nobody's business


def test_each_question_a_case_of_its_own_is_told_so(tmp_path: Path, answers: Answers) -> None:
    assert "12 questions (12 short), each an independent case." in text(marked(tmp_path, answers))


def test_candidates_bounds_and_repeats_are_counted(tmp_path: Path) -> None:
    said = text(
        marked(
            tmp_path,
            {"Ann": {"q": ["0.1", "0.2"]}, "Ben": {"q": ["0.3"]}, "Best": {"q": ["1", "1"]}},
            role={"Best": "ceiling"},
        )
    )
    assert "2 candidates were examined: Ann and Ben. Best served as ceiling, not as a candidate." in said
    assert "Each answered a question between 1 and 2 times, 5 answers in all." in said
    assert "All repeats of Best are the same text" in said


def test_missing_answers_are_told_by_the_rule_that_counts_them(tmp_path: Path) -> None:
    run = made(tmp_path, {"Ann": twins([0.5, SILENT, UNREADABLE, "fail"])})
    score(run, "told", "told(silence=set_aside)")
    said = text(run)
    assert "counted as the worst score by told: worth; it was set aside by told(silence=set_aside)" in said
    assert "2 scores failed for reasons that are not the candidate's" in said
    assert "The share of expected answers with a score of their own was 25.0 %." in said
    assert "No score failed." not in said


def test_a_run_in_which_nothing_failed_says_so(tmp_path: Path, answers: Answers) -> None:
    said = text(marked(tmp_path, answers))
    assert "No score failed." in said
    assert "The share of expected answers with a score of their own was 100.0 %." in said


def test_measures_stand_with_their_signatures(tmp_path: Path, answers: Answers) -> None:
    run = marked(tmp_path, answers)
    said = text(run)
    for measure in contents(run).measures.values():
        assert f"told [{measure.signature}]" in said


def test_intervals_are_told_by_the_kind_of_scale(tmp_path: Path, answers: Answers) -> None:
    run = made(tmp_path, answers)
    score(run, "told")
    assert "95 % intervals are Wilson intervals" in text(run)
    assert "use t with" not in text(run)
    score(run, "told(high=null)")
    assert "95 % intervals of told are Wilson intervals" in text(run)
    assert (
        "95 % intervals of told(high=null) use t with these degrees of freedom, from 10 effective cases on."
        in text(run)
    )


def test_without_comparisons_nothing_is_said_of_holm_or_looks(tmp_path: Path, answers: Answers) -> None:
    said = text(marked(tmp_path, answers))
    for word in ("Holm", "Bonferroni", "compared", "better"):
        assert word not in said


def test_a_family_is_told_with_its_correction_a_pair_without(tmp_path: Path, answers: Answers) -> None:
    run = marked(tmp_path, answers)
    run.compare("Ann", "Ben", metric="told")
    said = text(run)
    assert "Holm" not in said
    assert "no correction within a call was due" in said
    assert "This was the only test on this run." in said
    run.compare("Ann", "Ben", "Cleo", metric="told", margin=0.1)
    said = text(run)
    assert "corrected by Holm and intervals by Bonferroni" in said
    assert "(families of 1 and 3)" in said
    assert "2 tests were made on this run in all" in said
    assert "was set to 0.1 in 3 of 4 comparisons." in said


def test_comparisons_on_other_items_or_a_fixed_exam_are_told(tmp_path: Path, answers: Answers) -> None:
    twice = {
        name: {item: [value, round(float(value) + 0.02, 3)] for item, value in by.items()}  # type: ignore[arg-type]
        for name, by in answers.items()
    }
    run = marked(tmp_path, twice)
    (tmp_path / "part").mkdir()
    part = exam(tmp_path / "part", [f"q{n:02}" for n in range(11)])
    run.compare("Ann", "Ben", metric="told", items=part, population="fixed")
    said = text(run)
    assert f"Some comparisons were made on the items of {part}." in said
    assert "All comparisons took the exam as fixed" in said
    assert "Only the items of" not in said
    assert "Plugins: told.py." in said
    assert f"Only the items of {part} were used." in text(run, items=part)


def test_only_studies_that_were_made_are_told(tmp_path: Path, answers: Answers) -> None:
    run = marked(tmp_path, answers)
    assert "Friedman" not in text(run)
    run.study("ranking")
    assert "Friedman" in text(run)
    assert "Krippendorff" not in text(run)


def test_the_software_is_told_with_its_version(tmp_path: Path, answers: Answers) -> None:
    assert f"processed with vivavoce {__version__}." in text(marked(tmp_path, answers))


def test_an_unmarked_run_tells_of_exam_and_candidates_only(tmp_path: Path, answers: Answers) -> None:
    said = text(made(tmp_path, answers))
    assert "3 candidates were examined" in said
    for word in ("marked", "interval", "Standard errors", "missing"):
        assert word not in said


def test_names_stay_as_they_are_but_for_what_cannot_be_printed(tmp_path: Path) -> None:
    """The page escapes; a mark that turns the direction of a text goes."""
    said = text(marked(tmp_path, {"<b>Ann</b>\u202e": {"q": ["0.1"]}}))
    assert "1 candidate was examined: <b>Ann</b>\ufffd." in said


# Checklist


def rows(run: Run) -> dict[str, dict[str, Any]]:
    return {row["item"]: row for row in checklist(contents(run))}


def test_every_item_has_a_section_and_asks_something(tmp_path: Path, answers: Answers) -> None:
    made_of = checklist(contents(marked(tmp_path, answers)))
    assert len(made_of) == len({row["item"] for row in made_of})
    assert all(row["section"] and row["asks"].endswith(".") for row in made_of)
    assert set(ANSWERS) <= {row["item"] for row in made_of}
    assert all((row["answer"] is None) == (row["where"] is None) for row in made_of)


def test_what_the_run_knows_is_filled_in(tmp_path: Path, answers: Answers) -> None:
    run = marked(tmp_path, {**answers, "Cleo": twins([SILENT] * 12)})
    run.compare("Ann", "Ben", metric="told")
    found = rows(run)
    for item, words in {
        "Sources": "a file of the authors' own, exam.jsonl",
        "Description": "12 questions (12 short) in 12 independent cases.",
        "Missing data": "12 unanswered, 0 unreadable and 0 failed",
        "Models": "Candidates by label: Ann, Ben and Cleo.",
        "Measures": "told(",
        "Uncertainty": "95 % intervals (Wilson with effective size)",
        "Comparators": "1 paired comparison of candidates.",
        "Assessors": "all measures are rules",
        "Code": __version__,
        "Flow": "36 answers to 12 questions: 36 arrived.",
        "Performance": "1 leaderboard with 95 % intervals",
    }.items():
        assert words in found[item]["answer"], item


def test_what_only_the_authors_know_is_left_to_them(tmp_path: Path, answers: Answers) -> None:
    found = rows(marked(tmp_path, answers))
    for item in ("Title", "Intended use", "Dates", "Prompts", "Ethics approval", "Funding", "Registration",
                 "Public involvement", "Overlap with training", "Interpretation", "Next steps"):  # fmt: skip
        assert found[item]["answer"] is None, item


def test_an_unmarked_run_answers_nothing_of_its_results(tmp_path: Path, answers: Answers) -> None:
    found = rows(made(tmp_path, answers))
    for item in ("Missing data", "Measures", "Assessors", "Uncertainty", "Comparators", "Performance"):
        assert found[item]["answer"] is None, item
    assert "36 arrived" in found["Flow"]["answer"]


def test_settings_and_tests_of_groups_are_answered_where_they_are(tmp_path: Path, answers: Answers) -> None:
    run = marked(tmp_path, answers)
    assert rows(run)["Settings"]["answer"] is None
    assert rows(run)["Differences between groups"]["answer"] is None
    run.study("gaps")
    assert rows(run)["Differences between groups"]["answer"]
    (tmp_path / "other").mkdir()
    other = marked(tmp_path / "other", {"openai/gpt-4o(temperature=0.2)": {"q": ["0.1"]}})
    assert "openai/gpt-4o(temperature=0.2)" in rows(other)["Settings"]["answer"]


def test_no_word_claims_that_a_guideline_is_met(tmp_path: Path, answers: Answers) -> None:
    found = checklist(contents(marked(tmp_path, answers)))
    said = " ".join(f"{row['asks']} {row['answer']}" for row in found)
    for word in ("complian", "complies", "fulfil", "satisf"):
        assert word not in said
    assert "claims compliance with nothing" in ABOUT


def test_items_bear_no_numbers_that_look_like_the_guidelines(tmp_path: Path, answers: Answers) -> None:
    for row in checklist(contents(marked(tmp_path, answers))):
        assert not any(c.isdigit() for c in row["item"] + row["section"] + row["asks"])


# CHART, and the file

TRIPOD_LLM, CHART = GUIDELINES
SUBITEMS = (
    "1a 1b 2a 2b 3a 3b 4a 4b 4c 5a 5ai 5aii 5aiii 5b 6a 6b 6c 6d 7a 7b 7bi 7bii 7biii 8 9a 9ai "
    "10a 10b 10c 11a 11b 11c 12a 12b 12c 12ci 12cii 12d 12e"
)


def test_chart_has_its_39_subitems_in_their_order(tmp_path: Path, answers: Answers) -> None:
    """The abstract of the statement: 12 items and 39 subitems, 1a to 12e (doi 10.1136/bmjmed-2025-001632)."""
    found = filled(contents(marked(tmp_path, answers)), CHART)
    assert 39 == len(found)
    assert SUBITEMS == " ".join(row["item"].split()[0] for row in found)
    assert set(ANSWERS_CHART) <= {row["item"] for row in found}
    assert all(row["asks"].endswith(".") and row["section"] for row in found)
    assert "claims compliance with nothing" in ABOUT_CHART


def test_chart_is_filled_where_the_run_knows_and_open_elsewhere(tmp_path: Path, answers: Answers) -> None:
    found = {row["item"]: row["answer"] for row in filled(contents(marked(tmp_path, answers)), CHART)}
    assert "Candidates by label: Ann, Ben" in found["3a Models"]
    assert "12 of 12 questions have one." in found["7a Reference standard"]
    assert "The run holds all 36 answers." == found["6d Responses"]
    for item in (
        "1a Title",
        "3b Openness",
        "6a Access",
        "6b Dates and places",
        "7biii Blinding",
        "12a Interests",
    ):
        assert found[item] is None, item


def test_a_run_of_a_model_says_where_and_when_it_was_asked(tmp_path: Path, answers: Answers) -> None:
    sent = [{"endpoint": "http://localhost:1", "requests": 2, "characters": 10}]
    step = {"verb": "collect", "made_at": "2026-03-04T05:06:07.000Z", "sent": sent, "changed": True}
    data = contents(marked(tmp_path, answers))._replace(provenance=(step,))
    found = {row["item"]: row["answer"] for row in filled(data, CHART)}
    assert "Requests went to http://localhost:1." == found["6a Access"]
    assert (
        "Models were asked on 2026-03-04 (UTC). The run does not know the place."
        == found["6b Dates and places"]
    )


def test_the_checklist_is_one_file_of_both_and_marks_what_is_open(tmp_path: Path, answers: Answers) -> None:
    run, file = marked(tmp_path, answers), tmp_path / "list.md"
    rows = run.report_rows(tmp_path / "page.html", checklist=file)
    text = file.read_text(encoding="utf-8")
    assert str(file) == rows[0]["checklist"]
    assert text.index("## TRIPOD-LLM") < text.index("## CHART")
    n_rows = sum(line.startswith("| ") and not line.startswith("| item |") for line in text.splitlines())
    assert len(checklist(contents(run))) + 39 == n_rows
    assert text.count("**to be filled in by the authors**") == sum(
        row["answer"] is None for row in rows if row["section"] == "checklist"
    )
    assert {"TRIPOD-LLM", "CHART"} == {row["guideline"] for row in rows if row["section"] == "checklist"}
    assert "--checklist FILE" in (tmp_path / "page.html").read_text(encoding="utf-8")
    run.report(tmp_path / "page.html", checklist=file)  # its own file is replaced


def test_hostile_names_are_plain_text_in_the_checklist(tmp_path: Path) -> None:
    hostile = "a|b <img src=x onerror=1> [x](http://evil) `c`\u202e"
    text = checklist_text(contents(marked(tmp_path, {hostile: {"q": ["0.1"]}})))
    (line,) = [line for line in text.splitlines() if line.startswith("| Models ")]
    assert 4 == line.replace("\\|", "").count("|")
    for part in ("<img", "[x](", "://evil", "\u202e"):
        assert part not in text


@pytest.mark.parametrize(
    ("what", "match"), [("notes", "is no checklist"), ("run", "the run itself"), ("report", "are both")]
)
def test_a_checklist_replaces_nothing_else(tmp_path: Path, answers: Answers, what: str, match: str) -> None:
    run = marked(tmp_path, answers)
    page, notes = tmp_path / "page.html", tmp_path / "notes.md"
    notes.write_text("mine", encoding="utf-8")
    target = {"notes": notes, "run": run.file.path, "report": page}[what]
    with pytest.raises(StoreError, match=match):
        run.report(page, checklist=target)
    assert "mine" == notes.read_text(encoding="utf-8")
    assert not page.exists()
