"""Units, verdicts and evidence that were recorded elsewhere, one row for each unit of an answer.

The file is .jsonl, or any other table with the columns

    item, candidate, unit, text      always; `unit` is a number or a name, `text` may be empty
    repeat                           1 if there is none
    variant, edit, benchmark         '' if there is none: the base item, the answer as it came, any benchmark
    verdict, evidence, rater         where the unit was checked; several raters have a row each

`item` may also be the id that the item was published under. A unit named `must 1` is the item's first
must-statement, and no unit of the answer. `evidence` is a list of objects with the fields of
`core.evidence.Evidence`, of which `source` and `quote` are needed. Other columns are left aside.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import chain
from pathlib import Path
from sys import intern
from typing import Any, NamedTuple, get_args

from vivavoce.core.errors import InputError, suggest
from vivavoce.core.evidence import Bearing, Evidence
from vivavoce.core.file_cache import cached_by_file
from vivavoce.core.json_text import read_json
from vivavoce.core.tables import Line, read_lines
from vivavoce.core.text import one_line
from vivavoce.facts.fact import AnswerKey, EvidenceWord, KnowledgeWord, VerdictWord

_WORDS: tuple[VerdictWord, ...] = (*get_args(KnowledgeWord), *get_args(EvidenceWord))
MUST = "must "
"""How the name of a must-statement begins."""


class RecordedUnit(NamedTuple):
    """A row of the file. `verdict` is null and `rater` '' where there is none."""

    unit: str
    text: str
    verdict: VerdictWord | None = None
    evidence: tuple[Evidence, ...] = ()
    rater: str = ""


class RecordedUnits(NamedTuple):
    """The rows of a file by answer, the units in the order of the file, the rows of a unit side by side."""

    path: Path
    by_answer: Mapping[AnswerKey, tuple[RecordedUnit, ...]]

    def texts(self, keys: Iterable[AnswerKey]) -> tuple[str, ...] | None:
        """The text of each unit of an answer, however many raters checked it; null if none is recorded.

        `keys` are the names that the answer may have: the first with a row counts.
        """
        units = {row.unit: row.text for row in self._rows(keys) if not row.unit.startswith(MUST)}
        return tuple(units.values()) or None

    def checked(
        self, keys: Iterable[AnswerKey], text: str, *, must: bool = False
    ) -> tuple[RecordedUnit, ...]:
        """The rows with a verdict on the units of an answer that have this text; with `must`, on its
        must-statements: a fact may be stated, and false.
        """
        return tuple(
            row
            for row in self._rows(keys)
            if row.verdict and row.text == text and row.unit.startswith(MUST) == must
        )

    def _rows(self, keys: Iterable[AnswerKey]) -> tuple[RecordedUnit, ...]:
        return next((self.by_answer[key] for key in keys if key in self.by_answer), ())

    @property
    def raters(self) -> tuple[str, ...]:
        """Who gave verdicts, in alphabetical order; '' stands for rows without a rater."""
        return tuple(sorted({row.rater for rows in self.by_answer.values() for row in rows if row.verdict}))

    def unknown(self, items: Collection[str]) -> Counter[str]:
        """The number of rows by each item of the file that is none of `items`."""
        counts: Counter[str] = Counter()
        for key, rows in self.by_answer.items():
            if key.item not in items:
                counts[key.item] += len(rows)
        return counts


@cached_by_file
def read_recorded(path: Path) -> RecordedUnits:
    """What a file of units holds.

    Raises `InputError` naming the line: a column that is lacking or of another type, a word that is no
    verdict, a unit that a rater checked twice, one with two texts.
    """
    by_answer: dict[AnswerKey, dict[str, list[RecordedUnit]]] = {}
    for line in read_lines(path):
        row = _unit(line)
        units = by_answer.setdefault(_key(line), {})
        rows = units.setdefault(row.unit, [])
        if any(row.rater == earlier.rater for earlier in rows):
            raise _twice(line, row)
        if rows and rows[0].text != row.text:
            raise InputError(
                f"{line.where}: unit {row.unit!r} has another text than in an earlier row: give it the same, "
                "or its own unit."
            )
        rows.append(row)
    return RecordedUnits(
        path, {key: tuple(chain.from_iterable(units.values())) for key, units in by_answer.items()}
    )


def _key(line: Line) -> AnswerKey:
    others = (_label(line, name) for name in ("variant", "edit", "benchmark"))
    return AnswerKey(_name(line, "item"), _name(line, "candidate"), _repeat(line), *others)


def _label(line: Line, column: str) -> str:
    label = line.row.get(column)
    if label is not None and not isinstance(label, str):
        raise InputError(f"{line.where}: {column} must be text, not {_excerpt(label)}.")
    return intern(label or "")


def _twice(line: Line, row: RecordedUnit) -> InputError:
    checker = f" by {row.rater!r}" if row.rater else ""
    return InputError(
        f"{line.where}: unit {row.unit!r} of this answer stands there twice{checker}: leave one row, or name "
        "another rater."
    )


def _unit(line: Line) -> RecordedUnit:
    unit, text = line.row.get("unit"), line.row.get("text")
    if type(unit) is int:
        unit = str(unit)
    if not isinstance(unit, str) or not unit.strip():
        raise InputError(f"{line.where}: unit must be a number or a name, not {_excerpt(unit)}.")
    if not isinstance(text, str):
        raise InputError(f"{line.where}: text must be the text of the unit, not {_excerpt(text)}.")
    rater = line.row.get("rater")
    if rater is not None and not isinstance(rater, str):
        raise InputError(f"{line.where}: rater must be a name, not {_excerpt(rater)}.")
    text = " ".join(text.split())  # as of a model's reply: line ends and runs of blanks say nothing
    return RecordedUnit(intern(unit.strip()), text, _verdict(line), _evidence(line), intern(rater or ""))


def _name(line: Line, column: str) -> str:
    name = line.row.get(column)
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"{line.where}: {column} must be a name, not {_excerpt(name)}.")
    return intern(name)


def _repeat(line: Line) -> int:
    repeat = line.row.get("repeat")
    if repeat in (None, ""):
        return 1
    if isinstance(repeat, str) and repeat.isascii() and repeat.isdigit() and len(repeat) < 10:
        repeat = int(repeat)
    if type(repeat) is not int or repeat < 1:
        raise InputError(f"{line.where}: repeat must be a whole number from 1, not {_excerpt(repeat)}.")
    return repeat


def _verdict(line: Line) -> VerdictWord | None:
    word = line.row.get("verdict")
    if word in (None, ""):
        return None
    for name in _WORDS:
        if isinstance(word, str) and word.strip().casefold() == name:
            return name
    hint = suggest(word, _WORDS) if isinstance(word, str) else f" Known: {', '.join(_WORDS)}."
    raise InputError(f"{line.where}: {_excerpt(word)} is no verdict.{hint}")


def _evidence(line: Line) -> tuple[Evidence, ...]:
    """The passages of a row; in a table without lists they are the text of a JSON array."""
    passages = line.row.get("evidence")
    if passages in (None, ""):
        return ()
    if isinstance(passages, str):
        try:
            passages = read_json(passages)
        except ValueError as error:
            raise InputError(f"{line.where}: evidence is no JSON ({one_line(str(error))}).") from None
    if not isinstance(passages, list):
        raise InputError(f"{line.where}: evidence must be a list of objects, not {_excerpt(passages)}.")
    return tuple(_passage(passage, f"{line.where}, evidence {k}") for k, passage in enumerate(passages, 1))


def _passage(passage: Any, place: str) -> Evidence:
    if not isinstance(passage, dict):
        raise InputError(f"{place}: an object with source and quote is needed, not {_excerpt(passage)}.")
    texts = {}
    for name in ("source", "version", "file", "quote"):
        text = passage.get(name, "")
        if not isinstance(text, str) or (name in ("source", "quote") and not text.strip()):
            raise InputError(f"{place}: {name} must be text, not {_excerpt(passage.get(name))}.")
        texts[name] = text
    bearing = passage.get("bearing", "shown")
    if bearing not in get_args(Bearing):
        words = ", ".join(get_args(Bearing))
        raise InputError(f"{place}: bearing must be one of {words}, not {_excerpt(bearing)}.")
    return Evidence(
        **texts, page=_place(passage, "page", 1, place), offset=_place(passage, "offset", 0, place),
        bearing=bearing,
    )  # fmt: skip


def _place(passage: Mapping[str, Any], name: str, least: int, place: str) -> int | None:
    number = passage.get(name)
    if number is None or (type(number) is int and number >= least):
        return number
    raise InputError(f"{place}: {name} must be null or a whole number from {least}, not {_excerpt(number)}.")


def _excerpt(value: object) -> str:
    return "null" if value is None else one_line(repr(value), 40)
