"""Answers fact by fact on the page: where facts stand, what is beside a colour, and what stays hidden."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from tests.cases import each_case
from tests.hostile import LONG, SHORT
from tests.report import looking
from tests.report.charts import assert_harmless, told
from tests.studies.making import borrowed, made

from vivavoce.core.evidence import Evidence
from vivavoce.core.records import Criterion, Row, Unit, Value
from vivavoce.core.registry import metric
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.report.answer_facts import MOST_FACTS, ShownFact, answer_facts, shown_fact
from vivavoce.report.charts.facts import length_against_score, temperature_curve
from vivavoce.report.sections.facts import Facts
from vivavoce.run.run import Run
from vivavoce.run.tables import unit_rows
from vivavoce.studies.facts.rows import FactsRow

Recorded = Mapping[str, Sequence[Mapping[str, Any]]]
VALUES = {"true": 1.0, "supported": 1.0, "false": 0.0, "contradicted": 0.0}
DOSE = "The maximum dose of paracetamol is 4 g a day."


def fact(text: str, verdict: str = "true", **more: Any) -> dict[str, Any]:
    return {"text": text, "verdict": verdict, **more}


def shown(text: str, verdict: str = "true", unit: str = "1", **more: Any) -> ShownFact:
    row = {"unit": unit, "text": text, "word": verdict, "note": f"{verdict}: why", "unit_weight": 1.0, **more}
    return shown_fact(row, (), hide=False)


def scored(folder: Path, answers: Mapping[str, Mapping[str, str]], facts: Mapping[str, Recorded]) -> Run:
    """A run whose facts are these by candidate and item."""
    run = made(folder, answers)
    with borrowed():

        @metric("page_facts")
        class PageFacts(Metric):
            """Facts with verdicts and evidence, as they are told here."""

            splitter: str = "fake/splitter"
            rater = "fake/checker"
            formats = ("short",)
            needs = ()
            criteria = (
                Criterion(criterion="precision", if_unanswered="set_aside"),
                Criterion(criterion="supported", pool="unit", if_unanswered="set_aside"),
                Criterion(criterion="stated", pool="unit", if_unanswered="set_aside"),
            )

            def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Any]]:
                return [_values(facts[row.response.candidate][row.item.item]) for row in rows]

        run.score("page_facts(splitter=fake/splitter)")
    return run


def _values(facts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    units = {}
    for number, one in enumerate(facts, 1):
        verdict = one["verdict"]
        status = "ok" if verdict in VALUES else "failed" if verdict == "failed" else "set_aside"
        unit = Unit(unit=str(number), text=one["text"], weight=one.get("weight", 1.0))
        note = one.get("note", f"{verdict}: why")
        evidence = tuple(one.get("evidence", ()))
        units[unit] = Value(VALUES.get(verdict), note=note, status=status, evidence=evidence)
    statement = {Unit(unit="must 1", text="It must be said."): Value(0.0, note="false: it is not there")}
    return {"precision": Value(0.5), "supported": units, "stated": statement}


@pytest.fixture(autouse=True)
def _facts_of_this_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unit_rows, "FACTS", "page_facts")


def section(page: Path) -> str:
    text = page.read_text(encoding="utf-8")
    return text.partition('<div id="facts">')[2].partition('aria-labelledby="answers-title"')[0]


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


# Where a fact stands


def test_a_fact_stands_at_the_sentence_that_bears_it() -> None:
    text = "Take rest. The maximum dose of paracetamol is 4 g a day. Call a doctor if fever lasts."
    got = answer_facts(text, [shown("A doctor is called if the fever lasts.", unit="2"), shown(DOSE)])
    assert [0, 1, 1] == [len(claim.facts) for claim in got.claims]
    assert () == got.beneath


def test_a_fact_that_no_sentence_bears_stands_beneath() -> None:
    got = answer_facts("Take rest.", [shown(DOSE)])
    assert [DOSE] == [one.text for one in got.beneath]
    assert [None] == [claim.style for claim in got.claims]


def test_a_repeated_sentence_bears_a_fact_once_and_the_first_does() -> None:
    got = answer_facts("Rest helps. Rest helps.", [shown("Rest helps.")])
    assert [1, 0] == [len(claim.facts) for claim in got.claims]


def test_a_sentence_is_coloured_by_its_gravest_verdict() -> None:
    facts = [shown("Rest helps."), shown("Rest helps.", "false", "2"), shown("Rest helps.", "bad", "3")]
    assert ["wrong"] == [claim.style for claim in answer_facts("Rest helps.", facts).claims]


def test_thinking_is_no_part_of_the_answer() -> None:
    got = answer_facts("<think>Rest helps.</think>Drink.", [shown("Rest helps.")])
    assert ["Drink."] == [claim.text for claim in got.claims]


def test_of_too_many_facts_the_wrong_ones_stay_and_the_rest_is_counted() -> None:
    facts = [shown(f"Fact {n}.", "true" if n > 3 else "false", str(n)) for n in range(1, 501)]
    got = answer_facts("Fact 1.", facts)
    visible = [one for claim in got.claims for one in claim.facts] + list(got.beneath)
    assert MOST_FACTS == len(visible)
    assert 3 == sum(one.word == "false" for one in visible)
    assert f"{500 - MOST_FACTS} true" == got.left_out


@each_case(
    ("word", "sign", "style"),
    [
        ("true", "✓", "right"), ("supported", "✓", "right"), ("false", "✗", "wrong"),
        ("contradicted", "✗", "wrong"), ("bad", "?", "open"), ("unverifiable", "?", "open"),
        ("failed", "?", "open"), ("changed", "?", "open"), ("surplus", "?", "open"),
        ("repeated", "–", "aside"), ("foreign", "–", "aside"), ("no_claim", "–", "aside"),
    ],
)  # fmt: skip
def test_every_word_has_a_sign_beside_its_colour(word: str, sign: str, style: str) -> None:
    one = shown("Rest helps.", word)
    assert (sign, style) == (one.sign, one.style)
    assert one.word


# The page


def test_the_page_shows_coverage_false_facts_evidence_and_what_figures_rest_on(tmp_path: Path) -> None:
    leaflet = Evidence("/home/me/leaflets", "v1", "dose.pdf", 3, 10, "No more than 4 g a day.", "contradicts")
    wrong = fact("The maximum dose is 8 g a day.", "contradicted", weight=4.0, evidence=[leaflet])
    facts = {
        "A": {"q1": [wrong, fact("Rest helps.")], "q2": [wrong]},
        "B": {"q1": [fact("Rest helps."), fact("It is said.", "unverifiable")], "q2": [fact("Rest helps.")]},
    }
    answers = {
        name: dict.fromkeys(("q1", "q2"), "The maximum dose is 8 g a day. Rest helps.") for name in "AB"
    }
    run = scored(tmp_path, answers, facts)
    html = section(run.report())
    text = words(html)
    assert "This measures conflict with facts only" in text
    assert "✗ contradicted ! dose, weight 4 The maximum dose is 8 g a day. in 2 answers of A" in text
    assert "“No more than 4 g a day.” contradicts it: leaflets, dose.pdf, page 3" in text
    assert "/home/me" not in html
    assert "fake/splitter and fake/checker is by its name no real model" in text
    assert "✗ left out It must be said." in text
    rows = [row for row in run.report_rows() if row["section"] == "facts"]
    assert [("A", 3, 1, 2, 0), ("B", 3, 2, 0, 1)] == [
        tuple(row[name] for name in ("candidate", "facts", "right", "wrong", "unsettled")) for row in rows
    ]
    (false,) = [row for row in run.report_rows() if row["section"] == "false fact"]
    assert ("contradicted", "dose", 2, ["A"]) == tuple(
        false[name] for name in ("verdict", "kind", "n_answers", "candidates")
    )


def test_recorded_verdicts_are_named_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = scored(tmp_path, {"A": {"q1": "Rest helps."}}, {"A": {"q1": [fact("Rest helps.")]}})
    with run.file.writing() as db:
        db.execute("UPDATE measures SET rater = 'recorded(file=f.jsonl)'")
    from vivavoce.store.integrity import rehash

    with run.file.writing() as db:
        rehash(db)
    assert "The verdicts were recorded in a file" in words(section(run.report()))


def test_a_run_without_facts_says_nothing_of_them(tmp_path: Path) -> None:
    page = made(tmp_path, {"A": {"q1": "x"}}).report().read_text(encoding="utf-8")
    assert "Facts of answers" not in page


def test_an_answer_without_a_settled_fact_is_counted_and_not_shown(tmp_path: Path) -> None:
    facts = {"A": {"q1": [fact("Rest helps.", "bad")], "q2": [fact("Rest helps.", "failed")]}}
    html = section(scored(tmp_path, {"A": {"q1": "x", "q2": "y"}}, facts).report())
    assert "No answer has a fact with a verdict that is a score." in words(html)
    assert "No fact was found to be wrong." in words(html)


def test_of_each_candidate_the_worst_the_middle_and_the_best_are_shown(tmp_path: Path) -> None:
    items = [f"q{n}" for n in range(9)]
    facts = {
        "A": {
            item: [fact("Rest helps.")] * n + [fact("No.", "false")] * (9 - n) for n, item in enumerate(items)
        }
    }
    text = words(section(scored(tmp_path, {"A": dict.fromkeys(items, "Rest helps.")}, facts).report()))
    assert "3 of 9 answers with a share; 6 left out" in text
    for shown_as in ("worst A q0 0 of 9 right", "middle A q4 4 of 9 right", "best A q8 8 of 9 right"):
        assert shown_as in text


def test_no_text_of_an_answer_a_fact_or_a_quote_is_on_a_redacted_page(tmp_path: Path) -> None:
    # The file of a citation is a title in a model's words.
    quote = Evidence("citation", "v", "Zephyrine, a life.txt", 1, 0, "Zephyrine coughs.", "supports")
    facts = {
        "A": {"q1": [fact("Zephyrine coughs.", "false", note="false: Zephyrine does", evidence=[quote])]}
    }
    run = scored(tmp_path, {"A": {"q1": "Zephyrine coughs."}}, facts)
    run.study("facts")
    page = run.report(redact=True)
    assert "Zephyrine" not in page.read_text(encoding="utf-8")
    assert "✗ false" in words(section(page))
    assert "Zephyrine" not in json.dumps(run.report_rows(redact=True))
    assert "Zephyrine" in section(run.report())


# In a browser


def _passage(k: int) -> Evidence:
    source, file = SHORT[k % len(SHORT)], f"{SHORT[(k + 1) % len(SHORT)]}.pdf"
    return Evidence(source, "v", file, k + 1, 0, LONG[k % len(LONG)] * 20, "contradicts")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Hostile texts wherever a stranger can put one, and an answer of 500 facts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unit_rows, "FACTS", "page_facts")
        kinds = ("true", "false", "supported", "contradicted", "bad", "unverifiable", "repeated")
        facts: dict[str, dict[str, list[dict[str, Any]]]] = {"Able": {}, SHORT[2]: {}}
        for name in facts:
            for item in ("q1", "q2", "q3"):
                n = 500 if (name, item) == ("Able", "q1") else len(LONG)
                facts[name][item] = [
                    fact(
                        f"The dose of drug {k} is {k} mg. {LONG[k % len(LONG)]}{'x' * 300 * (k % 9 == 0)}",
                        kinds[k % 7],
                        weight=4.0,
                        evidence=[_passage(k)] * (k % 6),
                        note=f"{kinds[k % 7]}: {LONG[(k + 5) % len(LONG)]}",
                    )
                    for k in range(n)
                ]  # fmt: skip
        answers = {
            name: {item: " ".join(f"The dose of drug {k} is {k} mg. {LONG[k % len(LONG)]}" for k in range(60))
                   for item in by_item}
            for name, by_item in facts.items()
        }  # fmt: skip
        run = scored(tmp_path_factory.mktemp("hostile"), answers, facts)
        yield run.report()


@pytest.fixture(scope="module")
def unfolded(browser: Browser, hostile: Path) -> Iterator[Page]:
    """That page with all its folds open."""
    with looking.opened(browser, hostile) as page:
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        yield page


@pytest.mark.parametrize("width", [390, 1400])
def test_hostile_facts_stay_text_and_nothing_reaches_over_the_side(unfolded: Page, width: int) -> None:
    unfolded.set_viewport_size({"width": width, "height": 900})
    assert "undefined" == unfolded.evaluate("typeof pwned")
    assert width == unfolded.evaluate("document.documentElement.scrollWidth")
    markup = "#facts :is(script, img, iframe, style, meta, form, object, a[href^=java])"
    assert 0 == unfolded.locator(markup).count()
    over = unfolded.evaluate(
        """() => [...document.querySelectorAll('#facts *')].filter((e) => !e.closest('.scroll, figure')
            && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 80))"""
    )
    assert [] == over
    assert looking.BUILT == looking.structure(unfolded)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_facts_can_be_read_in_either_scheme(unfolded: Page, scheme: Any) -> None:
    unfolded.emulate_media(color_scheme=scheme)
    texts = looking.contrasts(unfolded)
    assert any("contradicted" in one["text"] for one in texts)
    assert [] == [(one["text"][:40], one["ratio"]) for one in texts if one["ratio"] < 4.5]


def test_the_page_of_500_facts_stays_light(hostile: Path) -> None:
    assert len(section(hostile).encode()) < 2_500_000
    assert re.search(r"Not shown: \d+", words(section(hostile)))


# Charts


def point(temperature: float, value: float | None, **more: Any) -> dict[str, Any]:
    return {
        "part": "temperature", "figure": "precision", "candidate": f"m(temperature={temperature:g})",
        "against": "", "contrast": "m", "temperature": temperature, "value": value,
        "low": None if value is None else value - 0.1, "high": None if value is None else value + 0.1,
        "reason": None if value is not None else "3 cases: too few to tell", "verdict_code": None,
        "benchmark": "exam", "rater": "r", **more,
    }  # fmt: skip


def step(temperature: float, colder: float, value: float | None, verdict: str | None) -> dict[str, Any]:
    return point(
        temperature, value, figure="difference", against=f"m(temperature={colder:g})", verdict_code=verdict
    )


CURVE = [point(0.9, 0.5), point(0.2, 0.7), step(0.9, 0.2, -0.2, "worse")]


def test_a_curve_of_temperatures_says_each_step_with_its_verdict() -> None:
    drawn = temperature_curve(CURVE)
    assert_harmless(drawn)
    assert "at 0.2 0.700; at 0.9 0.500" in told(drawn)
    assert "0.9 less 0.2: −0.200 (−0.300 to −0.100), worse" in str(drawn)
    assert "optimal" not in str(drawn)


def test_a_step_that_was_not_tested_gives_its_reason() -> None:
    assert "0.9 less 0.2: 3 cases: too few to tell" in str(
        temperature_curve([point(0.2, 0.7), point(0.9, 0.5), step(0.9, 0.2, None, None)])
    )


def test_one_temperature_is_no_curve() -> None:
    assert "too few to tell" in temperature_curve([point(0.2, 0.7), point(0.9, None)])


def test_lengths_of_one_kind_are_no_chart() -> None:
    assert "nothing to draw" in length_against_score([3.0] * 5, [0.5] * 5)
    drawn = length_against_score([float(n) for n in range(1, 1001)], [0.5] * 1000)
    assert "a point is an answer, 334 of 1,000" in str(drawn)
    assert_harmless(drawn)


def test_the_section_draws_categories_kinds_and_temperatures() -> None:
    blank = dict.fromkeys(FactsRow.__dataclass_fields__)
    rows = [
        {**blank, "part": part, "figure": "precision", "candidate": "A", "contrast": contrast, "value": 0.5,
         "low": 0.4, "high": 0.6, "benchmark": "exam", "rater": "r", "metric": "m", "criterion": "supported",
         "measure": "m"}
        for part, names in (("category", ("heart", "skin")), ("severity", ("dose", "date")))
        for contrast in names
    ]  # fmt: skip
    figures = list(Facts().charts([*rows, *({**blank, **row} for row in CURVE)]))
    assert [
        "Precision by category of A on exam, by r",
        "Precision by kind of fact of A on exam, by r",
        "Precision of m by temperature on exam, by r",
    ] == [figure.title for figure in figures]
    assert all(figure.svg for figure in figures)


def test_two_measures_of_one_rater_are_not_drawn_as_one() -> None:
    two = [{**row, "signature": signature} for signature in ("one", "two") for row in CURVE]
    blank = dict.fromkeys(FactsRow.__dataclass_fields__)
    assert 2 == len(list(Facts().charts([{**blank, **row} for row in two])))


def test_draws_stand_below_the_figure_of_all_questions() -> None:
    blank = dict.fromkeys(FactsRow.__dataclass_fields__)
    rows = [
        {**blank, "part": "draw", "figure": "precision", "candidate": "A", "contrast": f"draw {n}",
         "value": 0.5 + n / 100, "low": 0.4, "high": 0.7, "full": 0.55, "benchmark": "exam", "rater": "",
         "metric": "m", "criterion": "supported", "measure": "m"}
        for n in (1, 2)
    ]  # fmt: skip
    (drawn,) = Facts().charts(rows)
    assert "Draws of A on exam against all questions" == drawn.title
    assert "all questions 0.550; draw 1 0.510 (0.400 to 0.700)" in told(drawn.svg)


def test_the_table_of_the_study_holds_no_text_of_a_fact() -> None:
    (row,) = Facts().table([{"part": "shared", "text": "It is so.", "value": 1.0, "signature": "s"}])
    assert {"part", "value"} == set(row)
