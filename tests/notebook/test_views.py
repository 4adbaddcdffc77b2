"""What a cell shows: complete, short, safe with any text, and never an error."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.hostile import ALL, SHORT
from tests.studies.making import write_lines

import vivavoce as viva
from vivavoce.core import display
from vivavoce.core.errors import SelectionError
from vivavoce.core.records import Finding, Item, Response, Unit
from vivavoce.core.text import printable
from vivavoce.notebook.markup import shortened

ITEM = Item(
    benchmark="b", item="q1", format="mcq", question="Which drug?", options=("a", "b"), answer=("b",),
    category="cardiology",
)  # fmt: skip


class Reader(HTMLParser):
    """The elements of a block in which every element is closed, and its text without the style."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert [] == self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag == self.open.pop()

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def read(record: Any) -> Reader:
    text = record._repr_html_()
    assert text is not None
    return Reader(text)


@pytest.fixture
def run(tmp_path: Path) -> viva.Run:
    """Two candidates on twelve questions, scored by a rule; one answer is blank, one is missing."""
    questions = [
        {"id": f"q{n}", "format": "mcq", "question": f"Question {n}?", "options": ["a", "b"], "answer": "a"}
        for n in range(12)
    ]
    answers = [
        {"item": f"q{n}", "candidate": name, "text": "a" if n % (2 + k) else " " if n == 0 else "b"}
        for n in range(12)
        for k, name in enumerate(("one", "two"))
        if (n, k) != (11, 1)
    ]
    exam = write_lines(tmp_path / "exam.jsonl", questions)
    run = viva.open(tmp_path / "run.viva")
    run.import_answers(write_lines(tmp_path / "answers.jsonl", answers), benchmark=f"jsonl(path={exam})")
    return run


def test_a_run_says_what_is_here_what_is_missing_and_the_next_step(run: viva.Run) -> None:
    before = read(run).text
    assert "12 items of exam" in before
    assert "23 responses of 2 candidates: one, two" in before
    assert "Missing: 1 response never asked for" in before
    assert "Missing: 23 responses without any score" in before
    assert "Next: run.score()" in before
    run.score("accuracy")
    scored = read(run).text
    assert "23 scores by 1 measure" in scored
    assert "Missing: 2 scores of answers that say nothing" in scored
    assert "without any score" not in scored
    assert "Next: run.compare()" in scored
    run.compare("one", "two", metric="accuracy")
    assert "Next: run.report()" in read(run).text
    assert "findings: 1 of compare" in repr(run)


def test_the_plain_form_of_a_run_says_the_same(run: viva.Run) -> None:
    lines = repr(run).splitlines()
    assert f"Run({str(run.file.path)!r})" == lines[0]
    assert "  12 items of exam" == lines[1]
    assert lines[-1].startswith("  next: run.score()")
    assert any(line.startswith("  missing: 1 response never asked for") for line in lines)


def test_a_run_that_is_not_on_disk_says_how_it_begins(tmp_path: Path) -> None:
    run = viva.open(tmp_path / "none.viva")
    assert "Nothing is stored here yet" in read(run).text
    assert "Nothing is stored here yet" in repr(run)
    assert [] == list(tmp_path.iterdir())


def test_a_file_that_is_no_run_is_named_and_raises_nothing(tmp_path: Path) -> None:
    path = tmp_path / "notes.viva"
    run = viva.open(path)
    path.write_text("no run")
    assert "notes.viva" in read(run).text
    assert str(path) in repr(run)


def test_failed_scores_come_before_everything_else_in_the_next_step(run: viva.Run, tmp_path: Path) -> None:
    marks = [
        {"item": f"q{n}", "candidate": name, "value": 1.0, "status": "error" if n == 3 else "ok"}
        for n in range(12)
        for name in ("one", "two")
        if (n, name) != (11, "two")
    ]
    run.import_scores(write_lines(tmp_path / "scores.jsonl", marks), measure="people", criteria=("value",),
                      status="status", range={"*": (0, 1)})  # fmt: skip
    assert "Missing: 2 scores failed" in read(run).text
    assert "Next: run.score('people', …)" in read(run).text


def test_many_candidates_and_measures_are_counted_not_listed(tmp_path: Path) -> None:
    exam = write_lines(
        tmp_path / "exam.jsonl", [{"id": "q", "format": "short", "question": "Why?", "references": ["a"]}]
    )
    answers = [{"item": "q", "candidate": f"c{n:03d} {'long ' * 1000}", "text": "a"} for n in range(300)]
    run = viva.open(tmp_path / "run.viva")
    run.import_answers(write_lines(tmp_path / "answers.jsonl", answers), benchmark=f"jsonl(path={exam})")
    text = read(run).text
    assert "300 responses of 300 candidates" in text
    assert "and 294 more" in text
    assert len(text) < 1_500
    finding = run.score("exact")
    shown = read(finding)
    assert "290 more rows" in shown.text
    assert len(shown.text) < 15_000
    assert "svg" not in shown.tags


def test_one_candidate_has_estimates_and_no_chart(tmp_path: Path) -> None:
    row = {"benchmark": "b", "candidate": "one", "role": "candidate", "metric": "m", "criterion": "m",
           "rater": "", "view": "mean", "estimate": 0.5, "low": 0.4, "high": 0.6, "n_items": 20,
           "n_failed": 0, "coverage": 1.0, "reason": None}  # fmt: skip
    shown = read(Finding(study="estimates", rows=(row,), text="One is 0.5."))
    assert {"svg", "figure"}.isdisjoint(shown.tags)
    assert "One is 0.5." in shown.text
    for words in ("candidate", "measure", "0.500", "0.400", "20"):
        assert words in shown.text
    assert "failed" not in shown.text
    assert "failed" in read(Finding(study="estimates", rows=(row | {"n_failed": 2},))).text


def test_a_finding_shows_its_sentence_its_chart_and_its_main_columns(run: viva.Run) -> None:
    estimates = read(run.score("accuracy"))
    assert "svg" in estimates.tags
    assert "11 questions" in estimates.text or "12 questions" in estimates.text
    assert "finding.table" in estimates.text
    compared = run.compare("one", "two", metric="accuracy")
    shown = read(compared)
    assert compared.text.split(".")[0] in shown.text
    assert "A − B" in shown.text
    assert compared.notes[0] in shown.text


def test_a_finding_without_rows_and_one_of_an_unknown_study_are_shown() -> None:
    assert "It has no rows." in read(Finding(study="none", rows=())).text
    rows = tuple({"x": n, "nested": {"a": n}, "empty": None, "flag": True} for n in range(12))
    shown = read(Finding(study="mine", rows=rows, text="\n".join(f"Sentence {n}." for n in range(20))))
    assert "2 more rows and 2 more columns in finding.table" in shown.text
    assert "12 more sentences" in shown.text
    assert "nested" not in shown.text


def test_rows_that_no_chart_can_read_are_shown_as_a_table() -> None:
    shown = read(Finding(study="compare", rows=({"a": "one"}, {"b": 2}, {"difference": "much"})))
    assert {"table", "td"} <= shown.tags
    assert "svg" not in shown.tags


def test_the_plain_form_of_a_finding_is_its_sentences_and_short() -> None:
    finding = Finding(study="ranking", rows=({"a": 1},), text="A leads.\x1b[31m", notes=("A note.",))
    assert ["<Finding of ranking: 1 row>", "A leads.\ufffd[31m", "A note."] == repr(finding).splitlines()
    long = repr(replace(finding, text="\n".join(["x" * 5_000] * 100)))
    assert "… and 90 more lines: print it to see all" == long.splitlines()[-1]
    assert len(long) < 6_000


def test_an_item_shows_its_question_its_options_and_the_key() -> None:
    shown = read(ITEM)
    assert "q1, an item of b" in shown.text
    assert "Which drug? A. a B. b ✓ key" in shown.text
    assert "mcq, cardiology" in shown.text
    rich = replace(
        ITEM, format="multi_hop", options=(), answer=(), references=("R",), must=("M",), steps=("s", "t"),
        rubric=(Unit(unit="p", text="Point", weight=2.0),), false_answer="F", context="C",
    )  # fmt: skip
    text = read(rich).text
    for words in ("Reference: R", "Must say: M", "Step 1: s", "Step 2: t", "Point", "2.000", "F", "C"):
        assert words in text


def test_the_plain_form_of_a_record_names_what_is_set_and_cuts_what_is_long() -> None:
    text = repr(replace(ITEM, question="x" * 5_000))
    assert "options=('a', 'b')" in text
    assert "(5,000 characters)" in text
    assert "references" not in text
    assert len(text) < 400


def test_a_response_shows_its_text_or_why_there_is_none() -> None:
    response = Response(
        benchmark="b", item="q1", candidate="one", text="It is b.\nSure.", tokens=1_234, reasoning="hm"
    )
    shown = read(response)
    assert "one on q1" in shown.text
    assert "It is b. Sure." in shown.text
    assert "1,234 tokens" in shown.text
    failed = replace(response, text=None, status="failed", error="HTTP 500")
    assert "failed: HTTP 500" in read(failed).text
    assert "The text is blank." in read(replace(response, text=" \n")).text


def test_a_response_of_a_run_comes_with_its_item_and_its_scores(run: viva.Run) -> None:
    run.score("accuracy")
    scored = run.response("q0", "on")
    assert ("q0", "one") == (scored.item.item, scored.response.candidate)
    assert [("accuracy", 0.0)] == [(score.metric, score.value) for score in scored.scores] or [
        ("accuracy", None)
    ] == [(score.metric, score.value) for score in scored.scores]
    text = read(scored).text
    assert "unanswered" in text
    assert "blank: no letter and no digit" in text
    assert "Question 0?" in text
    assert "accuracy, accuracy: " in repr(scored)
    assert run.item("q0") == scored.item


def test_scores_of_a_response_are_those_of_the_table(run: viva.Run) -> None:
    run.score("accuracy")
    for row in run.scores.iter_rows(named=True):
        (score,) = run.response(row["item"], row["candidate"]).scores
        assert all(
            getattr(score, name) == row[name]
            for name in ("metric", "criterion", "value", "status", "pass_no")
        )


def test_a_response_that_is_not_there_is_said_in_a_sentence(run: viva.Run) -> None:
    with pytest.raises(SelectionError, match=r"no item 'q99' in this run. Did you mean 'q"):
        run.response("q99", "one")
    with pytest.raises(SelectionError, match="no candidate named 'two' in this run"):
        run.response("q11", "two")
    with pytest.raises(
        SelectionError, match=r"2 candidates answered the item 'q0': name one. Known: one, two"
    ):
        run.response("q0")
    with pytest.raises(SelectionError, match="nobody answered the item 'q0', repeat 2"):
        run.response("q0", "one", repeat=2)
    assert "one" == run.response("q11").response.candidate
    assert "It has no scores yet." in read(run.response("q11")).text


def hostile_records() -> list[Any]:
    rows = tuple({name: text for name in (*SHORT, "a")} for text in SHORT)
    item = Item(benchmark=SHORT[0], item=SHORT[1], format=SHORT[2], category=SHORT[4], question=ALL,
                options=SHORT, answer=(SHORT[0],), references=SHORT, must=SHORT, steps=SHORT, context=ALL,
                rubric=tuple(Unit(unit=t, text=t) for t in SHORT))  # fmt: skip
    response = Response(benchmark=SHORT[0], item=SHORT[1], candidate=SHORT[3], text=ALL, reasoning=ALL)
    return [
        item, response, replace(response, status="failed", text=None, error=ALL),
        Finding(study=SHORT[3], rows=rows, text=ALL, notes=SHORT),
        *(Finding(study=name, rows=rows, text=ALL) for name in ("estimates", "compare")),
    ]  # fmt: skip


@pytest.mark.parametrize("record", hostile_records(), ids=lambda record: type(record).__name__)
def test_text_of_strangers_makes_no_element_no_attribute_and_no_style(record: Any) -> None:
    shown = read(record)
    assert shown.tags <= {
        *("b", "code", "details", "div", "li", "ol", "p", "style", "summary", "table", "tbody", "td", "th"),
        *("thead", "tr"),
    }
    assert shown.names <= {"class", "dir", "scope", "translate"}
    text = record._repr_html_()
    (style,) = re.findall("<style>(.*?)</style>", text, flags=re.DOTALL)
    assert "url(" not in style
    assert "@import" not in style
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", text)


def test_what_a_stranger_wrote_is_shown_as_it_stands() -> None:
    response = Response(benchmark="b", item="q", candidate="c", text=ALL)
    assert " ".join(printable(ALL).split()) in read(response).text


def test_no_notebook_reads_mathematics_or_markdown_in_a_block() -> None:
    text = Response(benchmark="b", item="q", candidate="c", text="$\\href{javascript:x}{y}$")._repr_html_()
    assert text is not None
    assert text.startswith('<div class="viva tex2jax_ignore mathjax_ignore notranslate" translate="no">')
    assert "_repr_markdown_" not in dir(Response)
    assert "_repr_latex_" not in dir(Response)


def test_long_texts_are_cut_and_counted() -> None:
    long = replace(ITEM, item="n" * 5_000, question="q" * 50_000, options=("o" * 5_000,), answer=())
    text = read(long).text
    assert "(48,000 more characters)" in text
    assert "(4,800 more characters)" in text
    assert len(text) < 4_000
    assert "abc" == shortened("abc", 3)
    assert "ab … (1 more characters)" == shortened("abc", 2)


def test_a_view_that_breaks_shows_nothing_and_raises_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(record: Any) -> str:
        raise RuntimeError("no")

    monkeypatch.setitem(display._views, ("html", Item), broken)
    assert ITEM._repr_html_() is None
    assert repr(ITEM).startswith("Item(")


def test_half_a_character_can_be_shown() -> None:
    assert "a?b" in read(replace(ITEM, question="a\ud800b")).text


def test_a_view_is_quick_and_the_same_each_time(run: viva.Run) -> None:
    assert run._repr_html_() == run._repr_html_()
    json.dumps(run._repr_html_())


def test_the_table_of_a_finding_names_a_judge_by_rubric_and_model() -> None:
    row = {"metric": "judge(model=m, rubric=a/r.md)", "criterion": "harm", "value": 0.5}
    page = Finding(study="mine", rows=(row,), text="")._repr_html_() or ""
    assert "r by m" in page
    assert "rubric=" not in page
