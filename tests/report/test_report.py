"""The report: one page that carries everything, escapes everything, and asks nothing of the network."""

import base64
import hashlib
import json
import os
import re
import stat
from collections import Counter
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.studies.making import SILENT, UNREADABLE, Answers, borrowed, exam, made, marked, score, twins

from vivavoce.core.errors import StoreError
from vivavoce.core.records import Criterion, Row, Value
from vivavoce.core.registry import metric
from vivavoce.metrics import Metric
from vivavoce.report.explorer import LONGEST_TEXT, MOST_WORST
from vivavoce.run.run import Run, open_run

VOID = {"input", "meta", "line", "circle", "link", "img", "br"}
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style></title><svg onload=alert(1)>",
    "{{ 7 * 7 }}{% include 'x' %}",
    "javascript:alert(1)",
    "&lt;b&gt; &amp;",
    "--><iframe src=//evil.example>",
)


class Page(HTMLParser):
    """A page as a browser reads it: its elements, attributes, text, and whether every tag is closed."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.source = text
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.said: list[str] = []
        self.open: list[str] = []
        self.inside: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        assert [] == self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert tag == self.open.pop()

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("script", "style"):
            self.inside.setdefault(self.open[-1], []).append(data)
        else:
            self.said.append(data)

    @property
    def carried(self) -> dict[str, Any]:
        """The answers that the page carries for its explorer."""
        found: dict[str, Any] = json.loads(self.inside["script"][0])
        return found

    @property
    def text(self) -> str:
        """What is read, a blank between elements, white space as one blank."""
        return " ".join(" ".join(self.said).split())


def report(run: Run, **settings: Any) -> Page:
    page = Page(run.report(**settings).read_text(encoding="utf-8"))
    assert_asks_nothing(page)
    return page


def assert_asks_nothing(page: Page) -> None:
    """No element, attribute or style that makes a browser fetch, and no script but the page's own."""
    assert not {"iframe", "object", "embed", "link", "img", "base"} & set(page.tags)
    for tag, name, value in page.attributes:
        assert not name.startswith("on"), (tag, name)
        assert name not in ("action", "formaction", "srcset"), (tag, name)
        if name in ("src", "href", "data", "xlink:href"):
            assert value.startswith("#"), (tag, name, value)
    (style,) = page.inside["style"]
    assert not re.search(r"url\(|@import|expression\(", style)
    data, script = page.inside["script"]
    assert not re.search("[<>&\u2028\u2029]", data)
    assert ("script", "type", "application/json") in page.attributes
    (policy,) = (v for t, n, v in page.attributes if t == "meta" and n == "content" and "default-src" in v)
    assert (
        f"default-src 'none'; script-src {hashed(script)}; style-src {hashed(style)}; "
        "base-uri 'none'; form-action 'none'"
    ) == policy


def hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def elements(page: Page) -> Mapping[str, int]:
    return dict(page.tags)


def page_of(folder: Path, text: str) -> Page:
    """The report of a run that has this text in answers, names, questions, keys, notes, groups, its name."""
    items = [
        {"item": f"{text} {n}", "question": text, "references": [text], "category": text, "context": text}
        for n in range(12)
    ]
    answers: Answers = {
        name: {f"{text} {n}": [text, f"{text} again"] for n in range(12)} for name in (text, f"{text} 2")
    }
    made(folder, answers, items=items, role={f"{text} 2": "ceiling"})
    path = (folder / "run.viva").rename(folder / f"{text.replace('/', '∕')}.viva")
    run = open_run(path)
    with borrowed():
        hostile(text)
        run.score("hostile")
    run.compare(text, f"{text} 2", metric="hostile")
    return report(run, to=folder / "page.html")


@pytest.fixture(scope="module")
def harmless_pages(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Page]:
    """The page of harmless words, and of such as look like settings, which are listed as such."""
    words = {False: "harmless words", True: "harmless words (a=1)"}
    return {settings: page_of(tmp_path_factory.mktemp("harmless"), text) for settings, text in words.items()}


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_and_never_run(
    tmp_path: Path, harmless_pages: dict[bool, Page], text: str
) -> None:
    """Wherever it is stored, as harmless text in the same places is."""
    page = page_of(tmp_path, text)
    assert elements(harmless_pages["(" in text and "=" in text]) == elements(page)
    assert " ".join(text.split()) in page.text
    if "<" in text:
        assert text not in page.source


def hostile(note: str) -> None:
    """A metric whose notes are hostile too."""

    @metric("hostile")
    class Hostile(Metric):
        """Scores half of what it sees, with a note."""

        criteria = (Criterion(criterion="worth"),)
        formats = ("short",)
        needs = ()

        def values(self, rows: Any, context: Any) -> list[Mapping[str, Value]]:
            return [{"worth": mark(row)} for row in rows]

    def mark(row: Row) -> Value:
        if row.response.repeat == 2:
            return Value(None, note=note, status="failed")
        return Value(0.5, note=note)


def test_a_run_without_marks_still_gives_a_page(tmp_path: Path) -> None:
    page = report(made(tmp_path, {"A": twins(["x", SILENT])}))
    for words in (
        "Nothing has been scored yet. viva score run.viva scores what fits the questions;",
        "None was asked for: viva compare run.viva A B --metric METRIC",
        "No scored answers to show.",
        "All 2 answers are on this page.",
        "1 blank",
        "not for clinical use",
    ):
        assert words in page.text


def test_the_leaderboard_shows_intervals_coverage_bounds_and_what_is_missing(tmp_path: Path) -> None:
    answers = {"A": twins([1, 0, 1, "fail"]), "B": twins([1, SILENT, UNREADABLE, 0.5])}
    run = marked(tmp_path, answers)
    page = report(run)
    for found in run.estimates("told").rows:
        assert f"{found['candidate']} {found['estimate']:.3f}" in page.text
        assert f"{found['low']:.3f} to {found['high']:.3f}" in page.text
        assert f"{100 * found['coverage']:.1f} %" in page.text
        if found["n_failed"]:
            assert f"{found['bound_low']:.3f} to {found['bound_high']:.3f}" in page.text
    assert "75.0 % 1 failed" in page.text
    assert "50.0 % 1 unanswered, 1 unreadable" in page.text
    assert "What was not answered or could not be read counts as the worst score." in page.text
    assert "1 score failed; the bounds say what it could change." in page.text


def test_compliance_stands_apart_from_skill(tmp_path: Path) -> None:
    """Two answers read, one not, one not given: readable is 2 of 3, whatever they were worth."""
    page = report(marked(tmp_path, {"A": twins([0, 0, UNREADABLE, SILENT])}))
    assert "A short 66.7 % 2 1 1" in page.text


def test_the_ceiling_stands_below_the_candidates_and_is_marked(tmp_path: Path) -> None:
    answers = {"Best": twins([1, 1]), "Worse": twins([0.5, 0])}
    text = report(marked(tmp_path, answers, role={"Best": "ceiling"})).text
    assert text.index("Worse 0.250") < text.index("Best ceiling 1.000")


def test_comparisons_show_their_words_and_their_last_test(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([0.5, 0.7] * 6), "B": twins([0.4] * 12)})
    run.compare("A", "B", metric="told", margin=0.5)
    last = run.compare("B", "A", metric="told", margin=0.1).rows[0]
    page = report(run)
    assert 1 == page.text.count(last["verdict"])
    assert "A is better than B by 20.0 percentage points" in page.text
    assert last["basis"] in page.text
    assert last["p_adjusted"] < 0.0001
    assert f"p < 0.0001 (Holm over 1), {last['p_flip']:.4f} by sign-flip permutation test" in page.text
    assert last["q"] is None  # of one test it is p
    assert "by sign flips of cases, q" not in page.text
    assert "both answered" not in page.text
    assert "Margin 0.1 (--margin). Test 2 on this run," in page.text
    assert "2 tests were made on this run" in page.text


def test_the_difference_on_what_both_answered_stands_beside_the_headline(tmp_path: Path) -> None:
    """B is silent on two: the headline counts them, the other figure rests on the ten others."""
    silent = {"q00": SILENT, "q01": SILENT}
    run = marked(tmp_path, {"A": twins([0.5, 0.7] * 6), "B": twins([0.4, 0.3] * 6) | silent})
    (row,) = run.compare("A", "B", metric="told").rows
    assert (12, 10) == (row["n_items"], row["n_answered"])
    shown = f"{row['difference_answered']:.3f} ({row['low_answered']:.3f} to {row['high_answered']:.3f})"
    assert f"On the 10 both answered: {shown}." in report(run).text


def test_where_all_marks_failed_the_bounds_are_what_they_could_be(tmp_path: Path) -> None:
    text = report(marked(tmp_path, {"A": twins(["fail"] * 3), "B": twins([1, 0, 1])})).text
    assert "no answer could be scored (3 failed) – 0.000 to 1.000" in text.split("Bounds")[1]


def test_one_of_each_is_told_in_the_singular(tmp_path: Path) -> None:
    text = report(marked(tmp_path, {"A": {"q1": 0.5}})).text
    assert "1 candidate 1 question 1 independent case 1 answer 0 blank" in text
    assert "1 question in 1 case, few cases;" in text
    assert "The one answer is on this page." in text


def test_few_cases_are_told_of_the_measures_that_rest_on_them(tmp_path: Path) -> None:
    """Ten short questions and one of a list: only the measure of the list rests on few."""
    items: list[dict[str, Any]] = [{"item": f"q{n:02}"} for n in range(10)]
    listed = {"item": "q10", "format": "list", "options": ["a", "b", "c"], "answer": ["a", "b"]}
    run = made(tmp_path, {"A": twins([0.5] * 10) | {"q10": "A, B"}}, items=[*items, listed])
    score(run, "told", "list_f1")
    text = report(run).text
    assert re.search(
        r"Fewer than 10 effective cases for [^.]*list_f1[^.]* on exam: only a difference in nearly all", text
    )
    assert "10 effective cases on exam" not in text


def test_a_comparison_that_marks_have_overtaken_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stale = "Answers or scores have come since: compare again before relying on this."
    run = marked(tmp_path, {"A": twins([0.5, 0.7] * 6 + ["fail 0.6"]), "B": twins([0.4] * 13)})
    score(run, "told(least=0.1)")
    run.compare("A", "B", metric="told(least=0.1)")  # the report compares by the primary criterion alone
    assert stale not in report(run).text
    monkeypatch.setenv("TOLD_MENDED", "1")
    score(run)
    assert stale not in report(run).text
    score(run, "told(least=0.1)")
    assert stale in report(run).text
    run.compare("A", "B", metric="told(least=0.1)")
    assert stale not in report(run).text


def test_two_versions_of_a_metric_have_a_board_each(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": twins(["x", "y"])})
    with borrowed():
        hostile("v1")
        run.score("hostile")

        @metric("hostile", version=2)
        class Kinder(Metric):
            """Everything is worth 1."""

            criteria = (Criterion(criterion="worth"),)
            formats = ("short",)
            needs = ()

            def values(self, rows: Any, context: Any) -> list[Mapping[str, Value]]:
                return [{"worth": Value(1.0)} for _ in rows]

        run.score("hostile")
    text = report(run).text
    boards = text[text.index("Dots are means") :]
    later, earlier = "hostile · worth on exam", "hostile (earlier version 1) · worth on exam"
    assert (1, 1) == (boards.count(later), boards.count(earlier))
    assert "A 1.000" in boards[boards.index(later) : boards.index(earlier)]
    assert "By earlier versions of metrics, which were scored anew: 1 leaderboard" in boards
    assert "A 0.500" in boards[boards.index(earlier) :]


def test_answers_stand_worst_first_beside_their_references(tmp_path: Path) -> None:
    text = report(marked(tmp_path, {"A": {"q1": [0.9, 0.2], "q2": 0.1, "q3": SILENT}})).text
    order = [text.index(f"{item} A repeat {repeat}") for item, repeat in (("q3", 1), ("q2", 1), ("q1", 2))]
    assert sorted(order) == order
    assert "q1 A repeat 1" not in text
    assert "the key of q1" in text
    assert "The worst 3 answers, at most one of each candidate to a question" in text
    assert "All 4 answers are on this page." in text


def test_failed_marks_are_not_the_worst_answers(tmp_path: Path) -> None:
    text = report(marked(tmp_path, {"A": {"q1": 0.9, "q2": "fail"}})).text
    assert "q1 A repeat 1" in text
    assert "q2 A repeat 1" not in text


def test_lower_is_better_turns_the_worst_around(tmp_path: Path) -> None:
    text = report(marked(tmp_path, {"A": {"q1": 0.9, "q2": 0.1}}, "told(direction=lower)")).text
    assert text.index("q1 A repeat 1") < text.index("q2 A repeat 1")


def test_answers_in_the_page_itself_are_capped_in_number_and_length(tmp_path: Path) -> None:
    long = "0.1" + "1" * LONGEST_TEXT
    answers = {"A": {f"q{n}": "0.5" for n in range(MOST_WORST + 20)} | {"long": long}}
    page = report(marked(tmp_path, answers))
    assert MOST_WORST == page.text.count(" A repeat 1")
    assert long not in page.source
    assert "3 further characters are in the run." in page.text
    assert f"All {MOST_WORST + 21} answers are on this page." in page.text


def test_identical_repeats_are_pointed_out(tmp_path: Path) -> None:
    answers = {"Same": {"q1": ["0.5", "0.5"], "q2": "0.1"}, "Varied": {"q1": ["0.5", "0.6"]}}
    text = report(marked(tmp_path, answers)).text
    assert "All repeats of Same are the same text." in text


def test_methods_name_signatures_provenance_and_limitations(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1, 0])})
    text = report(run).text
    for measure in run.measures:
        assert measure.signature in text
    assert "import file answers-exam.jsonl" in text
    assert "score metric told" in text
    assert "told.py" in text
    assert "No rater in this run has been checked against people's scores." in text
    assert (
        "Fewer than 10 effective cases on exam: only a difference in nearly all cases can be detected."
        in text
    )


def test_a_selection_is_named_and_restricts_the_page(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": {"q1": 1, "q2": 0}})
    (tmp_path / "part").mkdir()
    part = exam(tmp_path / "part", ["q1"])
    text = report(run, items=part).text
    assert f"Restricted to {part}" in text
    assert "A 1.000" in text
    assert "q2" not in text


def test_a_page_of_failures_alone(tmp_path: Path) -> None:
    text = report(marked(tmp_path, {"A": twins(["fail"] * 3)})).text
    assert "no result: no answer could be scored (" in text


def test_what_is_missing_from_an_estimate_stands_under_its_board(tmp_path: Path) -> None:
    text = report(marked(tmp_path, {"A": {"q1": 1}})).text
    assert "A: one case only: no interval." in text


def test_a_scale_without_limits_gives_a_page(tmp_path: Path) -> None:
    answers = {"A": twins([1, 30, "fail"])}
    report(marked(tmp_path, answers, "told(low=null, high=null, silence=set_aside)"))


RTL = "الجرعة ٥٠ ملغ مرتين يوميا 0.5"


def test_other_scripts_keep_their_text_and_direction(tmp_path: Path) -> None:
    page = report(made(tmp_path, {f"نموذج {RTL}": {"q1": RTL}}))
    run = made(tmp_path / "marked", {"A": {"q1": RTL}})
    with borrowed():
        hostile("")
        run.score("hostile")
    page = report(run)
    assert RTL in page.text
    assert ("div", "dir", "auto") in page.attributes


def test_the_report_lies_beside_the_run_and_replaces_an_earlier_one(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1, 0])})
    first = run.report()
    assert tmp_path / "run.html" == first
    old = first.read_text(encoding="utf-8")
    run.study("ranking")
    assert old != run.report().read_text(encoding="utf-8")
    assert not list(tmp_path.glob(".*"))


def test_a_report_replaces_nothing_but_a_report(tmp_path: Path) -> None:
    """Neither somebody's file nor a thing that is no file: a report once made /dev/full a page."""
    run = marked(tmp_path, {"A": twins([1, 0])})
    exam, pipe = tmp_path / "mine.jsonl", tmp_path / "pipe"
    exam.write_text("mine", encoding="utf-8")
    os.mkfifo(pipe)
    for place in (exam, pipe):
        with pytest.raises(
            StoreError, match=r"is there already and is no report: give another path with --to\."
        ):
            run.report(place)
    assert "mine" == exam.read_text(encoding="utf-8")
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_name_cannot_turn_the_page_or_the_terminal(tmp_path: Path) -> None:
    run = marked(tmp_path, {"\x1b[31mred \u202edrow": twins([1, 0])})
    page = run.report().read_text(encoding="utf-8")
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_a_place_that_cannot_be_written_is_one_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1, 0])})
    for place in ("/proc/report.html", tmp_path / "nowhere" / "report.html"):
        with pytest.raises(
            StoreError, match=r"cannot write the report to .*: .*\. Give another path with --to\."
        ):
            run.report(place)


def test_two_reports_of_one_run_are_the_same(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1, 0] * 6), "B": twins([0.5, 0] * 6)})
    run.compare("A", "B", metric="told")
    assert run.report(tmp_path / "1.html").read_bytes() == run.report(tmp_path / "2.html").read_bytes()
