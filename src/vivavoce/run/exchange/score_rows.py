"""Rows of recorded scores as the scores that they give to answers of a run, read as often as asked for."""

import sqlite3
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from vivavoce.benchmarks.table_layout import renamed
from vivavoce.core.endings import server_error
from vivavoce.core.errors import InputError, suggest
from vivavoce.core.records import Item, Value
from vivavoce.core.specs import Spec
from vivavoce.core.tables import Line, cell
from vivavoce.core.text import is_blank, spoken, with_line_ends
from vivavoce.run.exchange.label_probabilities import RowProbability, row_probability
from vivavoce.run.exchange.rows import by_name, listed, named, number_of, of_probe, text_of
from vivavoce.run.exchange.score_layout import Layout
from vivavoce.run.exchange.sources import Source
from vivavoce.store.by_place import response_at
from vivavoce.store.forgotten import GoneKeys, gone_keys
from vivavoce.store.name_keys import candidate_keys, edit_keys
from vivavoce.store.read import StoredResponse, items_by_id
from vivavoce.store.write import ScoreRow
from vivavoce.studies.text import count

_NEEDED = {
    "item": "--map item=COLUMN",
    "candidate": "--map candidate=COLUMN or --set candidate=NAME",
}


class Scorable(NamedTuple):
    """What scores can be about: current items by name and the key of each, candidates and edits by theirs.

    A name in `shared` is that of items of several benchmarks, and says nothing.
    """

    items: Mapping[tuple[str, str], tuple[int, Item]]
    shared: frozenset[tuple[str, str]]
    candidates: Mapping[str, int]
    edits: Mapping[str, int]
    gone: GoneKeys

    @classmethod
    def of(
        cls, db: sqlite3.Connection, benchmark: str | None = None, others: Iterable[Item] = ()
    ) -> "Scorable":
        """The items of a run, or of one benchmark without those `others` that its settings leave out."""
        stored = {key: i for key, i in items_by_id(db).items() if benchmark in (None, i.benchmark)}
        holders: dict[tuple[str, str], set[str]] = {}
        for item in stored.values():
            for name in by_name([item]):
                holders.setdefault(name, set()).add(item.benchmark)
        keys = {(i.benchmark, i.item, i.variant): key for key, i in stored.items()}
        unselected = by_name(others)
        return cls(
            {
                name: (keys[i.benchmark, i.item, i.variant], i)
                for name, i in by_name(stored.values()).items()
                if name not in unselected
            },
            frozenset(name for name, benchmarks in holders.items() if len(benchmarks) > 1),
            candidate_keys(db),
            edit_keys(db),
            gone_keys(db),
        )

    def answer(
        self, db: sqlite3.Connection, item: int, candidate: str, repeat: int, edit: str
    ) -> StoredResponse | None:
        """The answer in words to an item; null where the run holds none."""
        if candidate not in self.candidates or edit not in self.edits:
            return None
        return response_at(db, item, self.candidates[candidate], repeat, self.edits[edit])

    def is_gone(self, item: int, answer: StoredResponse | None) -> bool:
        """Whether a question was forgotten, to which whoever is new has no answer, or the answer was."""
        return item in self.gone.items or (answer is not None and answer.key in self.gone.responses)


class RecordedScore(NamedTuple):
    """A score of a row under its criterion and rater, where it stands, and the words for its answer."""

    criterion: str
    rater: str
    score: ScoreRow
    where: str
    words: str


class LeftOut:
    """What a reading met beside scores.

    Blank answers that had been given some; rows about items outside the benchmark, and about answers that the
    run does not hold, by their words; how many rows there are, are scored, are of probes, and are about what
    the run was told to forget; the criteria that a long table names, chosen or not; the probabilities of a
    draw of labels. `with_text` rows that are scored hold the text that was, and it is another one than that
    of the answer in `other_texts`.
    """

    def __init__(self) -> None:
        self.blank_scored: dict[str, None] = {}
        self.skipped: Counter[str] = Counter()
        self.unmatched: Counter[str] = Counter()
        self.other_texts: Counter[str] = Counter()
        self.with_text = 0
        self.probes = 0
        self.rows = self.scored = self.forgotten = 0
        self.criteria: dict[str, None] = {}
        self.draw: list[RowProbability] = []


class ScoreRows:
    """The scores in the rows of a source for answers of a run.

    A rater is who a row says, else the spec's model. Scores of probes are left out: they are of no answer in
    words. Rows about items that the run, or the benchmark chosen, does not have are left out too, and those
    about what was forgotten, whose words nothing is compared with; `left_out` counts what the last reading
    met.
    """

    def __init__(self, source: Source, layout: Layout, scorable: Scorable, spec: Spec) -> None:
        self._source, self._layout, self._scorable, self._spec = source, layout, scorable, spec
        self.matched, self._text_columns = layout.match(source)
        model = spec.settings.get("model")
        self._rater = model if isinstance(model, str) else ""
        self.left_out = LeftOut()

    def scores(self, db: sqlite3.Connection) -> Iterator[RecordedScore]:
        """The scores, in the order of the rows, read anew; answers are looked up in the run.

        Raises `InputError` for a row that gives no score, and for rows of which none is chosen.
        """
        self.left_out = LeftOut()
        layout = self._layout
        source = self._source._replace(lines=self._counted())
        chosen = _selected_rows(source, layout, self._spec)
        lines = renamed(chosen, self.matched, layout.map, layout.constants)
        for line in named(lines, self.matched, _NEEDED):
            if of_probe(line) and "probe" not in layout.criteria:
                self.left_out.probes += 1
            else:
                scores = list(self._scores_of(line, db))
                self.left_out.scored += bool(scores)
                yield from scores

    def _counted(self) -> Iterator[Line]:
        for line in self._source.lines:
            self.left_out.rows += 1
            yield line

    def _scores_of(self, line: Line, db: sqlite3.Connection) -> Iterator[RecordedScore]:
        """The scores of a row; none where it is about no item or no answer of the run."""
        names = (text_of(line, "item") or "", text_of(line, "variant") or "")
        self._refuse_shared(line, names)
        if "value" in line.row and "criterion" in line.row:
            self.left_out.criteria[text_of(line, "criterion") or "value"] = None
        if names not in self._scorable.items:
            self.left_out.skipped[" ".join(names).strip()] += 1
            return
        key, item = self._scorable.items[names]
        candidate, edit = text_of(line, "candidate") or "", text_of(line, "edit") or ""
        repeat = number_of(line.row, "repeat", int, line.where, 1, least=1)
        answer = self._scorable.answer(db, key, candidate, repeat, edit)
        if self._scorable.is_gone(key, answer):
            self.left_out.forgotten += any(_values(line, self._layout))
            return
        if answer is None:
            self.left_out.unmatched[f"an answer of {candidate} to {item.name}, repeat {repeat}"] += 1
            return
        if self._layout.of_draw:
            place = (item.benchmark, item.item, item.variant)
            self.left_out.draw.append(row_probability(line, place))
        yield from self._of_answer(line, answer, f"{candidate}, {item.name}, repeat {repeat}")

    def _refuse_shared(self, line: Line, names: tuple[str, str]) -> None:
        if names in self._scorable.shared:
            raise InputError(
                f"{line.where}: several benchmarks of this run have an item {' '.join(names).strip()}: "
                "--benchmark says which."
            )

    def _of_answer(self, line: Line, answer: StoredResponse, words: str) -> Iterator[RecordedScore]:
        """The scores that a row gives to an answer, by criterion."""
        values = list(_values(line, self._layout))
        if values:
            self._compare_texts(line, answer, words)
        text = answer.text  # null: it never arrived, so the candidate was not silent
        blank = self._layout.blank == "unanswered" and text is not None and is_blank(text)
        rater = text_of(line, "rater") or self._rater
        for criterion, value in values:
            if blank and value.value is not None:
                self.left_out.blank_scored[words] = None
            score = ScoreRow(
                answer.key,
                Value(None, note="the answer is blank", status="unanswered") if blank else value,
                pass_no=number_of(line.row, "pass_no", int, line.where, 1, least=1),
                ballot=text_of(line, "ballot") or "",
                position=number_of(line.row, "position", int, line.where, least=1),
            )
            yield RecordedScore(criterion, rater, score, line.where, words)

    def _compare_texts(self, line: Line, answer: StoredResponse, words: str) -> None:
        """Count a row that holds a text, and one whose texts are none of the answer's."""
        texts = _texts_of(line, self._text_columns)
        self.left_out.with_text += bool(texts)
        if texts and answer.text not in texts and not any(_is_text_of(text, answer) for text in texts):
            self.left_out.other_texts[words] += 1

    @property
    def _other_texts(self) -> str:
        """The sentence on scores of other texts than the answers that they stand at."""
        answers = self.left_out.other_texts
        n, rows = answers.total(), count(self.left_out.with_text, "row")
        columns = " and ".join(repr(self.matched.get("text", column)) for column in self._text_columns)
        return (
            f"{n:,} of {rows} {'scores' if n == 1 else 'score'} another text than the run's answer, such as "
            f"{next(iter(answers))} (column {columns}): import the answers that were scored, under another "
            'candidate or into another run, and their scores there; --texts differ (texts="differ") stores '
            "the scores at the run's answers. Nothing was imported."
        )

    def refuse_left_out(self, *, scored: bool) -> None:
        """Raise `InputError` if what the last reading met keeps the source from being imported.

        That is a row about an answer that the run does not hold, a score of another text than the answer's, a
        criterion that no row scores, or, where nothing is `scored`, a source of which nothing but items
        outside or scores of probes is chosen.
        """
        met, name = self.left_out, self._source.name
        if met.unmatched:
            raise InputError(
                f"{met.unmatched.total()} rows of {name} are about what this run does not hold, such as "
                f"{next(iter(met.unmatched))}: import the answers first, or choose rows with --where. "
                "Nothing was imported."
            )
        if met.other_texts and self._layout.texts == "same":
            raise InputError(f"{name}: {self._other_texts}")
        if met.probes and not (scored or met.skipped):
            raise InputError(
                f"{name}: the {met.probes} rows chosen score what models told of their probabilities, no "
                "answer in words: `viva merge` brings such scores from the run they are from."
            )
        if met.skipped and not scored:
            raise InputError(
                f"{name} holds {met.skipped.total()} rows of scores, all about items outside the benchmark: "
                f"{listed(met.skipped)}. Nothing was imported."
            )
        absent = [criterion for criterion in self._layout.criteria if criterion not in met.criteria]
        if met.criteria and absent:
            raise InputError(f"{name}: no row scores {absent[0]!r}.{suggest(absent[0], list(met.criteria))}")


def _texts_of(line: Line, columns: Iterable[str]) -> list[str]:
    """The texts in those columns that may hold what was scored."""
    cells = []
    for column in columns:
        with suppress(KeyError):
            cells.append(cell(line.row, column))
    return [str(text) for text in cells if isinstance(text, str | int) and str(text).strip()]


def _is_text_of(text: str, answer: StoredResponse) -> bool:
    """Whether a text is that of an answer, or its final part, but for blanks and how letters are composed."""
    if answer.text is None:
        return server_error(text) is not None
    stored = {_plain(answer.text), _plain(answer.final_text)}
    return any(_plain(form) in stored for form in (text, spoken(text).text, with_line_ends(text)))


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _selected_rows(source: Source, layout: Layout, spec: Spec) -> Iterator[Line]:
    """The rows that `where` chooses. Raises `InputError` if there is none, or a column is not there."""
    where = layout.where
    # f1.csv has a column `variant` for the measure's setting: rows chosen by it name no variant of an item.
    by_variant = "variant" in where and "variant" not in layout.columns.values()
    of_measure = by_variant and spec.settings.get("variant") == where["variant"]
    empty = True
    for line in map(layout.with_fields, source.lines):
        for column in where:
            if column not in line.row:
                near = suggest(column, list(line.row))
                raise InputError(
                    f"{line.where}: --where {column}={where[column]}: no column {column!r}.{near}"
                )
        if all(str(line.row[column]) == value for column, value in where.items()):
            empty = False
            if of_measure:
                line = Line(line.where, {k: v for k, v in line.row.items() if k != "variant"})
            yield line
    if empty:
        raise InputError(f"{source.name}: no row has {', '.join(f'{k}={v}' for k, v in where.items())}.")


def _values(line: Line, layout: Layout) -> Iterator[tuple[str, Value]]:
    """The criteria of a row with their marks: a column each, or one named in the column `criterion`."""
    row, status = line.row, layout.status
    if status is not None and status not in row:
        raise InputError(f"{line.where}: --status {status}: no such column.{suggest(status, list(row))}")
    word = "ok" if status is None else str(row[status])
    note = text_of(line, "note")
    for criterion, column in _columns_of_criteria(line, layout.criteria):
        if column not in row:
            raise InputError(
                f"{line.where}: no column {column!r} for a criterion.{suggest(column, list(row))}"
            )
        if word != "ok":  # what stands in the place of the score, such as "2-3", need not be a number
            yield criterion, Value(None, note=word, status="failed")
            continue
        value = number_of(row, column, float, line.where)
        if value is None:
            yield criterion, Value(None, note=note or "no value was recorded", status="failed")
        else:
            yield criterion, Value(float(value), note=note)


def _columns_of_criteria(line: Line, criteria: Sequence[str]) -> list[tuple[str, str]]:
    """The criteria that a row scores, each with its column."""
    if "value" in line.row and ("criterion" in line.row or not criteria):
        criterion = text_of(line, "criterion") or "value"
        return [(criterion, "value")] if not criteria or criterion in criteria else []
    if criteria:
        return [(name, name) for name in criteria]
    raise InputError(
        f"{line.where}: neither a column 'value' nor --criteria: name the columns that hold scores "
        "(--criteria a,b), or map value and criterion."
    )
