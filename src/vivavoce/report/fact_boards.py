"""The facts of answers on the page: coverage, the false facts that come most, and examples of each candidate.

The page carries of each candidate the worst answer, the best and the one in the middle, as far as there is
room, and says how many it leaves out; all facts are in the run.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from vivavoce.core import specs
from vivavoce.core.text import one_line, printable
from vivavoce.facts.fact import WRONG
from vivavoce.facts.unit_matching import same_words
from vivavoce.report.answer_facts import HIDDEN, AnswerFacts, ShownFact, answer_facts, shown_fact
from vivavoce.report.charts.facts import length_against_score
from vivavoce.report.charts.svg import Figure, figure
from vivavoce.report.data import ReportData, Rows
from vivavoce.report.explorer import item_name
from vivavoce.studies.answers import Answers
from vivavoce.studies.facts.fact_table import (
    ASIDE,
    KINDS,
    SUPPORTED,
    UNSETTLED,
    FactTable,
    fact_tables,
)
from vivavoce.studies.score_table import ITEM_KEY, RESPONSE, ScoreTable

MOST_BYTES = 1_500_000
"""The limit for the answers of the page; a board shows one answer in any case."""
MOST_FALSE, MOST_LENGTHS, LONGEST_QUESTION = 12, 4, 600
WHICH = ("worst", "best", "middle")
STATED = "stated"
Place = tuple[Any, ...]
"""The values of the columns that name an answer, or a unit of one."""
_FAKE = re.compile(r"(?<![^\W_])(?:fake|mock|dummy|stub|replay)(?![^\W_])", re.IGNORECASE)


class FactAnswer(NamedTuple):
    """An answer that the page shows fact by fact, and which of its candidate's it is."""

    candidate: str
    name: str
    repeat: int
    which: str
    precision: float
    n_right: int
    n_settled: int
    question: str
    facts: AnswerFacts
    statements: tuple[ShownFact, ...]


class FactBoard(NamedTuple):
    """What one measure of facts says on one benchmark; `basis` are sentences on what its figures rest on."""

    benchmark: str
    signature: str
    splitter: str
    rater: str
    basis: tuple[str, ...]
    coverage: Rows
    false: Rows
    n_false_left_out: int
    answers: tuple[FactAnswer, ...]
    n_answers: int
    lengths: tuple[Figure, ...]


def fact_boards(data: ReportData) -> list[FactBoard]:
    """A board for each measure of facts and benchmark."""
    if data.units is None:
        return []
    scores = ScoreTable(data.scores, {}, answers=data.answers, units=data.units)
    boards, room = [], MOST_BYTES
    for table in fact_tables(scores._replace(unit_measures=data.unit_measures)):
        answers = list(_answers(table, data, room))
        room -= sum(answer.facts.size for answer in answers)
        boards.append(_board(table, data, tuple(answers)))
    return boards


def fact_board_rows(board: FactBoard) -> Iterator[tuple[str, dict[str, Any]]]:
    """A board as rows under their section: what became of facts by candidate, and the false facts."""
    place = {"benchmark": board.benchmark, "signature": board.signature, "rater": board.rater}
    yield from (("facts", {**place, **row}) for row in board.coverage)
    for row in board.false:
        fact = row["fact"]
        shared = {"text": fact.text, "verdict": fact.word, "kind": fact.kind, "weight": fact.weight}
        yield (
            "false fact",
            {**place, **shared, "n_answers": row["n_answers"], "candidates": row["candidates"]},
        )


def _board(table: FactTable, data: ReportData, answers: tuple[FactAnswer, ...]) -> FactBoard:
    measure = table.measure
    splitter = str(specs.signed(measure.signature).spec.settings.get("splitter", ""))
    false = _false_facts(table.facts, hide=data.redact)
    return FactBoard(
        benchmark=table.benchmark,
        signature=measure.signature,
        splitter=splitter,
        rater=measure.rater,
        basis=tuple(_basis(splitter, measure.rater)),
        coverage=[_coverage(table.of(name), name) for name in table.candidates],
        false=false[:MOST_FALSE],
        n_false_left_out=len(false[MOST_FALSE:]),
        answers=answers,
        n_answers=table.answers.filter(pl.col("precision").is_not_null()).height,
        lengths=tuple(_lengths(table)),
    )


def _basis(splitter: str, rater: str) -> Iterator[str]:
    """What the verdicts rest on, where it is no model that was asked here."""
    if splitter.startswith("recorded"):
        yield "The facts were recorded in a file: this run did not split the answers."
    if splitter.startswith("sentences"):
        yield "Each sentence counts as one fact: no model split the answers."
    if rater.startswith("recorded"):
        yield "The verdicts were recorded in a file: this run did not check the facts."
    if named := [name for name in dict.fromkeys((splitter, rater)) if _FAKE.search(name)]:
        yield (
            f"{' and '.join(named)} is by its name no real model: these figures show that the parts fit "
            "together, and nothing about any candidate."
        )


def _coverage(part: FactTable, candidate: str) -> dict[str, Any]:
    """What became of a candidate's answers and of their facts."""
    sums = part.answers.select(pl.col("given", "right", "settled", *UNSETTLED, *ASIDE).sum()).row(
        0, named=True
    )
    kinds = dict(part.answers["kind"].value_counts().iter_rows())
    return {
        "candidate": candidate,
        "answers": part.answers.height,
        **{kind: kinds.get(kind, 0) for kind in KINDS},
        "facts": sums["given"],
        "right": sums["right"],
        "wrong": sums["settled"] - sums["right"],
        "unsettled": sum(sums[word] for word in UNSETTLED),
        "aside": sum(sums[word] for word in ASIDE),
        "settled": sums["settled"],
    }


def _lengths(table: FactTable) -> Iterator[Figure]:
    """Length against score, a figure for each of the first candidates."""
    for name in table.candidates[:MOST_LENGTHS]:
        part = table.of(name).answers.filter(pl.col("precision").is_not_null()).sort(RESPONSE)
        title = f"Length against score of {name} on {table.benchmark}, by {table.measure.rater}"
        chart = length_against_score(part["settled"].to_list(), part["precision"].to_list())
        yield figure(title, chart, "facts-length", table.benchmark, name)


def _false_facts(facts: pl.DataFrame, *, hide: bool) -> list[dict[str, Any]]:
    """The false facts by text, those of most answers first; texts of the same words are one fact."""
    wrong = facts.filter(pl.col("word").is_in(WRONG))
    forms = {text: same_words(text) for text in wrong["text"].unique()}
    canonical = pl.col("text").replace_strict(forms, return_dtype=pl.String)
    by_text = (
        wrong.group_by(canonical.alias("same"))
        .agg(
            text=pl.col("text").min(),
            word=pl.col("word").mode().sort().first(),
            candidates=pl.col("candidate").unique().sort(),
            n_answers=pl.struct(RESPONSE).n_unique(),
            weight=pl.col("unit_weight").max(),
        )
        .sort("n_answers", "weight", "same", descending=[True, True, False], nulls_last=True)
    )
    return [
        {
            "fact": shown_fact({**row, "note": "", "unit": "", "unit_weight": row["weight"]}, (), hide=hide),
            "n_answers": row["n_answers"],
            "candidates": row["candidates"],
        }
        for row in by_text.iter_rows(named=True)
    ]


def _answers(table: FactTable, data: ReportData, room: int) -> Iterator[FactAnswer]:
    """The examples of each candidate: all the worst come before the best, and these before the middle."""
    rows, which = _chosen(table)
    details = _Details(table, data, list(rows))
    answers: list[FactAnswer] = []
    for place, row in rows.items():
        answer = details.answer(row, place, which[place])
        room -= answer.facts.size
        if answers and room < 0:
            break
        answers.append(answer)
    order = ("worst", "middle", "best")
    yield from sorted(answers, key=lambda answer: (answer.candidate, order.index(answer.which)))


def _chosen(table: FactTable) -> tuple[dict[Place, dict[str, Any]], dict[Place, str]]:
    """The rows of the examples by their place, and which of its candidate's each is."""
    with_value = table.answers.filter(pl.col("precision").is_not_null())
    rows: dict[Place, dict[str, Any]] = {}
    which: dict[Place, str] = {}
    for word in WHICH:
        for row in _of_each(with_value, table.candidates, word):
            place = tuple(row[name] for name in RESPONSE)
            which.setdefault(place, word)
            rows.setdefault(place, row)
    return rows, which


def _of_each(answers: pl.DataFrame, candidates: Sequence[str], which: str) -> Iterator[dict[str, Any]]:
    for name in candidates:
        part = answers.filter(pl.col("candidate") == name)
        wrong = pl.col("settled") - pl.col("right")
        ordered = part.with_columns(wrong=wrong).sort(
            "precision", "wrong", *RESPONSE, descending=[False, True, *([False] * len(RESPONSE))]
        )
        place = {"worst": 0, "best": -1, "middle": (ordered.height - 1) // 2}[which]
        if ordered.height:
            yield ordered.row(place, named=True)


class _Details:
    """The facts, statements, texts and evidence of the answers that may be shown."""

    def __init__(self, table: FactTable, data: ReportData, places: list[Place]) -> None:
        answers = pl.DataFrame(places, schema=table.facts.select(RESPONSE).schema, orient="row")
        keys = {
            measure.criterion.criterion: key
            for key, measure in data.unit_measures.items()
            if (measure.signature, measure.rater) == (table.measure.signature, table.measure.rater)
        }
        self.hide = data.redact
        self.facts = _by_place(table.facts.join(answers, on=RESPONSE, how="semi", maintain_order="left"))
        self.statements = _by_place(_statements(data.units, keys.get(STATED), answers))
        self.texts = dict(_texts(data.answers, answers))
        items = data.items.join(answers.select(ITEM_KEY).unique(), on=ITEM_KEY, how="semi")
        self.items = {tuple(row[n] for n in ITEM_KEY): row for row in items.iter_rows(named=True)}
        self.quotes = {
            name: _quotes(data.evidence[key], answers) for name, key in keys.items() if key in data.evidence
        }

    def answer(self, row: Mapping[str, Any], place: Place, which: str) -> FactAnswer:
        """The answer of that place as the page shows it."""
        item = self.items[place[:3]]
        return FactAnswer(
            candidate=row["candidate"],
            name=item_name(item),
            repeat=row["repeat"],
            which=which,
            precision=row["precision"],
            n_right=row["right"],
            n_settled=row["settled"],
            question=HIDDEN if self.hide else one_line(printable(item["question"]), LONGEST_QUESTION),
            facts=answer_facts(
                None if self.hide else self.texts.get(place), self._listed(self.facts, SUPPORTED, place)
            ),
            statements=tuple(self._listed(self.statements, STATED, place)),
        )

    def _listed(self, rows: Mapping[Place, Rows], criterion: str, place: Place) -> list[ShownFact]:
        quotes = self.quotes.get(criterion, {})
        return [
            shown_fact(row, quotes.get((*place, row["unit"], row["pass_no"]), ()), hide=self.hide)
            for row in rows.get(place, ())
        ]


def _texts(read_answers: Answers, answers: pl.DataFrame) -> Iterator[tuple[Place, str | None]]:
    to_items = read_answers(*RESPONSE, "final", edited=False, items=answers.select(ITEM_KEY).unique())
    for *place, text in to_items.join(answers, on=RESPONSE, how="semi").iter_rows():
        yield tuple(place), text


def _quotes(evidence: pl.DataFrame, answers: pl.DataFrame) -> dict[Place, list[dict[str, Any]]]:
    """The passages by answer, unit and pass."""
    rows = evidence.filter(pl.col("edit") == "").join(answers, on=RESPONSE, how="semi", maintain_order="left")
    return _by_place(rows, (*RESPONSE, "unit", "pass_no"))


def _statements(units: pl.DataFrame | None, key: int | None, answers: pl.DataFrame) -> pl.DataFrame:
    """The statements that an answer must make, with the word that says whether it does."""
    if units is None or key is None:
        return answers.clear()
    rows = units.filter((pl.col("measure_id") == key) & (pl.col("unit") != "") & (pl.col("edit") == ""))
    rows = rows.join(answers, on=RESPONSE, how="semi", maintain_order="left")
    first = pl.col("pass_no") == pl.col("pass_no").min().over(RESPONSE)
    return rows.filter(first).with_columns(word=pl.col("note").fill_null("").str.extract(r"^(\w+)", 1))


def _by_place(rows: pl.DataFrame, columns: Sequence[str] = RESPONSE) -> dict[Place, list[dict[str, Any]]]:
    by_place: dict[Place, list[dict[str, Any]]] = {}
    for row in rows.iter_rows(named=True):
        by_place.setdefault(tuple(row[name] for name in columns), []).append(row)
    return by_place
