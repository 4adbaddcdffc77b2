"""A file of marks, row by row: which answer of the run each is about, and what it says of each criterion."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from vivavoce.errors import InputError, suggest
from vivavoce.interchange.rows import by_name, named, number_of, of_probe, text_of
from vivavoce.records import Item, Value
from vivavoce.specs import Spec
from vivavoce.store.read import Answer
from vivavoce.store.write import Mark
from vivavoce.tables import Line, read_lines
from vivavoce.text import is_blank

__all__ = ["Blank", "Held", "Layout", "MarkKey", "Marks", "read_marks"]

COLUMNS = (
    *("item", "variant", "candidate", "repeat", "edit", "criterion", "value", "rater", "pass_no", "ballot"),
    *("position", "note", "probe"),
)
_NEEDED = {
    "item": "--map item=COLUMN",
    "candidate": "--map candidate=COLUMN or --set candidate=NAME",
}
Blank = Literal["unanswered", "recorded"]
MarkKey = tuple[str, str, int, int, str]
"""Criterion, rater, response key, pass and ballot."""


class Layout(NamedTuple):
    """How a file of marks is laid out, and which of its rows are meant.

    `columns` gives for each of our names the file's, `constants` a value for every row, `criteria` the
    columns of a wide file or a choice from a long one, `where` the values that chosen rows have, `status`
    the column whose word must be ok. `blank` says what marks of a blank answer count as.
    """

    columns: Mapping[str, str]
    constants: Mapping[str, str]
    criteria: Sequence[str] = ()
    where: Mapping[str, str] = {}
    status: str | None = None
    blank: Blank = "unanswered"

    def check(self) -> None:
        """Raise `InputError` for a field that marks do not have."""
        fields = (*COLUMNS, "id", *self.criteria)
        if wrong := [name for name in (*self.columns, *self.constants) if name not in fields]:
            raise InputError(f"scores have no field {wrong[0]!r}.{suggest(wrong[0], list(fields))}")


class Held(NamedTuple):
    """What marks can be about: the run's items by name, its answers, and items a selection leaves out."""

    items: Mapping[tuple[str, str], Item]
    shared: frozenset[tuple[str, str]]
    answers: Mapping[tuple[str, str, str, str, int, str], Answer]
    others: Mapping[tuple[str, str], Item]

    @classmethod
    def of(
        cls,
        items: Sequence[Item],
        answers: Mapping[tuple[str, str, str, str, int, str], Answer],
        others: Iterable[Item] = (),
    ) -> "Held":
        """The items by every name they answer to; a name that two benchmarks share says nothing."""
        holders: dict[tuple[str, str], set[str]] = {}
        for item in items:
            for name in by_name([item]):
                holders.setdefault(name, set()).add(item.benchmark)
        shared = frozenset(name for name, benchmarks in holders.items() if len(benchmarks) > 1)
        return cls(by_name(items), shared, answers, by_name(others))


class Marks(NamedTuple):
    """The marks of a file by their natural key; blank answers that had been given some; rows left out, and
    those of probes.
    """

    by_key: dict[MarkKey, Mark]
    blank_scored: tuple[str, ...]
    skipped: int
    probes: int

    @property
    def criteria(self) -> tuple[str, ...]:
        """The criteria marked, in the file's order."""
        return tuple(dict.fromkeys(criterion for criterion, *_ in self.by_key))


class _About(NamedTuple):
    """The answer that a row marks, under its key, and the words for it."""

    answer: Answer
    words: str


def read_marks(file: Path, layout: Layout, held: Held, spec: Spec) -> Marks:
    """The marks of a file for answers of the run. A rater is who the file says, else the spec's model.

    Marks of probes are left out: they are of no answer in words. Raises `InputError` for a row about what the
    run does not hold, a second mark under one key, a criterion that no row marks, or a file of which nothing
    but marks of probes is chosen.
    """
    marks: dict[MarkKey, Mark] = {}
    blank_scored: dict[str, None] = {}
    lost: Counter[str] = Counter()
    seen: dict[str, None] = {}  # the criteria a long file names, chosen or not
    skipped = probes = 0
    model = spec.settings.get("model")
    for line in named(_chosen(file, layout, spec), layout.columns, layout.constants, _NEEDED):
        if of_probe(line) and "probe" not in layout.criteria:
            probes += 1
            continue
        about = _about(line, held)
        if "value" in line.row and "criterion" in line.row:
            seen[text_of(line, "criterion") or "value"] = None
        if about is None:
            skipped += 1
        elif isinstance(about, str):
            lost[about] += 1
        else:
            text = about.answer.text  # null: it never arrived, which is no silence of the candidate's
            silent = layout.blank == "unanswered" and text is not None and is_blank(text)
            rater = text_of(line, "rater") or (model if isinstance(model, str) else "")
            for criterion, value in _values(line, layout):
                if silent and value.value is not None:
                    blank_scored[about.words] = None
                mark = Mark(
                    about.answer.key,
                    Value(None, note="the answer is blank", status="unanswered") if silent else value,
                    pass_no=number_of(line.row, "pass_no", int, line.where, 1),
                    ballot=text_of(line, "ballot") or "",
                    position=number_of(line.row, "position", int, line.where),
                )
                key = (criterion, rater, mark.response, mark.pass_no, mark.ballot)
                if marks.setdefault(key, mark) != mark:
                    raise InputError(
                        f"{line.where}: a second mark for {criterion} of {about.words}; --where chooses "
                        "rows, --map pass_no=… or --map rater=… tells marks apart."
                    )
    if lost:
        raise InputError(
            f"{lost.total()} rows of {file} are about what this run does not hold, such as "
            f"{next(iter(lost))}: import the answers first, or choose rows with --where. Nothing was "
            "imported."
        )
    if probes and not (marks or skipped):
        raise InputError(
            f"{file}: the {probes} rows chosen mark what models told of their probabilities, no answer in "
            "words: `viva merge` brings such marks from the run they are from."
        )
    if seen and (absent := [name for name in layout.criteria if name not in seen]):
        raise InputError(f"{file}: no row marks {absent[0]!r}.{suggest(absent[0], list(seen))}")
    return Marks(marks, tuple(blank_scored), skipped, probes)


def _chosen(file: Path, layout: Layout, spec: Spec) -> Iterator[Line]:
    """The rows that `where` chooses. Raises `InputError` if there is none, or a column is not there."""
    where = layout.where
    # f1.csv has a column `variant` for the measure's setting: rows chosen by it name no variant of an item.
    own = "variant" in where and "variant" not in layout.columns.values()
    of_measure = own and spec.settings.get("variant") == where["variant"]
    none = True
    for line in read_lines(file):
        for column in where:
            if column not in line.row:
                near = suggest(column, list(line.row))
                raise InputError(
                    f"{line.where}: --where {column}={where[column]}: no column {column!r}.{near}"
                )
        if all(str(line.row[column]) == wanted for column, wanted in where.items()):
            none = False
            yield Line(line.where, {k: v for k, v in line.row.items() if not (of_measure and k == "variant")})
    if none:
        raise InputError(f"{file}: no row has {', '.join(f'{k}={v}' for k, v in where.items())}.")


def _about(line: Line, held: Held) -> _About | str | None:
    """The answer a row is about; the words for what the run does not hold; null for an item left out."""
    names = (text_of(line, "item") or "", text_of(line, "variant") or "")
    said = " ".join(names).strip()
    if names in held.others:
        return None
    if names in held.shared:
        raise InputError(
            f"{line.where}: several benchmarks of this run have an item {said}: --benchmark says which."
        )
    item = held.items.get(names)
    if item is None:
        return f"the item {said}"
    candidate = text_of(line, "candidate") or ""
    repeat = number_of(line.row, "repeat", int, line.where, 1)
    place = (item.benchmark, item.item, item.variant, candidate, repeat, text_of(line, "edit") or "")
    words = f"{candidate}, {item.name}, repeat {repeat}"
    answer = held.answers.get(place)
    return (
        f"an answer of {candidate} to {item.name}, repeat {repeat}"
        if answer is None
        else _About(answer, words)
    )


def _values(line: Line, layout: Layout) -> Iterator[tuple[str, Value]]:
    """The criteria of a row with their marks: a column each, or one named in the column `criterion`."""
    row, criteria, status = line.row, layout.criteria, layout.status
    if status is not None and status not in row:
        raise InputError(f"{line.where}: --status {status}: no such column.{suggest(status, list(row))}")
    word = "ok" if status is None else str(row[status])
    note = text_of(line, "note")
    if "value" in row and ("criterion" in row or not criteria):
        pairs = [(text_of(line, "criterion") or "value", "value")]
        pairs = [pair for pair in pairs if not criteria or pair[0] in criteria]
    elif criteria:
        pairs = [(name, name) for name in criteria]
    else:
        raise InputError(
            f"{line.where}: neither a column 'value' nor --criteria: name the columns that hold marks "
            "(--criteria a,b), or map value and criterion."
        )
    for criterion, column in pairs:
        if column not in row:
            raise InputError(
                f"{line.where}: no column {column!r} for a criterion.{suggest(column, list(row))}"
            )
        if word != "ok":  # what stands in the place of the mark, such as "2-3", need not be a number
            yield criterion, Value(None, note=word, status="failed")
            continue
        value = number_of(row, column, float, line.where)
        if value is None:
            yield criterion, Value(None, note=note or "no value was recorded", status="failed")
        else:
            yield criterion, Value(float(value), note=note)
