"""Answers side by side: from where they begin to differ, escaped, and nothing made up where there is none."""

from pathlib import Path

import polars as pl
from tests.studies.making import exam, score, write_lines

from vivavoce.report.section import Quote, SideBySide
from vivavoce.report.sections.quotes import BEFORE, LONGEST, quoted
from vivavoce.run.run import open_run
from vivavoce.studies.answers import answers_in

ANSWER = ("exam", "q1", "", "A")


def responses(*rows: tuple[int, str, str | None]) -> pl.DataFrame:
    """Repeats of one answer with their edits and texts."""
    names = ["benchmark", "item", "variant", "candidate", "repeat", "edit", "text"]
    return pl.DataFrame([(*ANSWER, *row) for row in rows], schema=names, orient="row")


def texts(table: pl.DataFrame, *quotes: Quote, edits: bool = False) -> list[str | None]:
    (group,) = quoted([SideBySide("one", quotes, edits)], answers_in(table))
    return [quote["text"] for quote in group["quotes"]]


def test_long_texts_are_cut_from_shortly_before_they_differ() -> None:
    shared = "word " * 400
    table = responses((1, "", f"{shared}end."), (1, "control:negated", f"{shared}not the end. {shared}"))
    real, control = texts(table, Quote("real", *ANSWER, 1), Quote("c", *ANSWER, 1, "control:negated"))
    assert real == f"… {(shared + 'end.')[len(shared) - BEFORE :]}"
    assert LONGEST + 4 == len(control or "")
    assert (control or "").endswith(" …")


def test_short_texts_stand_whole() -> None:
    table = responses((1, "", "Give iron.\nDaily."), (1, "control:padded", "Give iron. Daily. Indeed."))
    shown = texts(table, Quote("real", *ANSWER, 1), Quote("c", *ANSWER, 1, "control:padded"))
    assert ["Give iron. Daily.", "Give iron. Daily. Indeed."] == shown


def test_a_blank_text_is_empty_and_a_missing_answer_is_none() -> None:
    table = responses((2, "", "x" * 2000), (2, "control:empty", ""))
    shown = texts(
        table, Quote("real", *ANSWER), Quote("c", *ANSWER, 2, "control:empty"), Quote("?", *ANSWER, 3)
    )
    assert [f"{'x' * LONGEST} …", "", None] == shown


def test_edits_stand_beside_their_answer() -> None:
    table = responses((1, "", "It is A."), (1, "control:noise:1", "foreign"), (1, "neutralise", "It is."))
    assert ["It is A.", "It is.", "foreign"] == texts(table, Quote("A", *ANSWER), edits=True)


def test_the_page_shows_the_pair_and_runs_nothing_in_it(tmp_path: Path) -> None:
    rows = [{"candidate": "A", "item": f"q{k}", "text": f"{0.3 + k / 50}", "edit": ""} for k in range(12)] + [
        {"candidate": "A", "item": f"q{k}", "text": f"{0.5 + k / 50}", "edit": "control:padded"}
        for k in range(12)
    ]
    run = open_run(tmp_path / "run.viva")
    spec = exam(tmp_path, [f"q{k}" for k in range(12)])
    run.import_answers(write_lines(tmp_path / "answers.jsonl", rows), benchmark=spec)
    score(run)
    run.study("controls(margin=0.1)")
    page = Path(run.report(tmp_path / "page.html")).read_text(encoding="utf-8")
    section = page[page.index("<h3>Control cases</h3>") :]
    section = section[: section.index("Table:")]
    assert "<summary>Side by side: 1 example</summary>" in section
    assert section.index('aria-label="A: 0.300"') < section.index('aria-label="padded: 0.500"')
