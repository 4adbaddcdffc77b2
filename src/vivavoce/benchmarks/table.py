"""The questions of a table: one item for each id, its format inferred where none stands.

Such a benchmark has no file. Its items are stored in the run, and the run reads them from there.
"""

import ast
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from vivavoce import formats
from vivavoce.benchmarks import Benchmark, Loaded, check_item, checked
from vivavoce.benchmarks.files import read_item
from vivavoce.benchmarks.table_options import is_letter, key_of, listed_options
from vivavoce.core import registry
from vivavoce.core.errors import InputError, RowError
from vivavoce.core.exclusions import Faulty, exclusion_at
from vivavoce.core.records import Card, Exclusion, Item
from vivavoce.core.registry import benchmark
from vivavoce.core.tables import ITEMS, LISTS, Line, Lines
from vivavoce.core.text import one_line

SHORT_WORDS = 10
"""A key of at most so many words is a short answer."""
INFERRED = (
    "messages: conversation; options: mcq, and with several keys list; the key True or False, and no "
    "options under letters: true_false; "
    "steps: multi_hop, and with "
    f"the number of a wrong one multi_hop_inverse; a key or a reference of {SHORT_WORDS} words at most: "
    "short; every other question: longform"
)
"""The rule for the format of a question that states none."""
_FIELDS = tuple(
    name for name in ITEMS if name not in ("benchmark", "alias", "source", "origin", "weight", "meta")
)


@benchmark("table")
class Table(Benchmark):
    """Questions that came into a run with their answers, from a data frame or a file; `name` is the exam's.

    They have no file of their own: only a run that holds them can be asked for them.
    """

    name: str

    @property
    def card(self) -> Card:
        """What is known of a user's table."""
        return Card(
            name=self.name,
            description="An exam of the user's own.",
            source="a table with questions and answers",
            revision_note="no file; the hash of its questions stands in the signature",
            licence="not stated",
            access="own",
            citation="none",
        )

    def items(self) -> Iterator[Item]:
        """Raises `InputError`: the questions stand in the run that they were imported into."""
        raise InputError(
            f"the questions of {self} came from a table, and stand in the run that it was imported into: "
            "name that run, or import the table again."
        )

    def loaded(self, items: Sequence[Item], exclusions: Sequence[Exclusion] = ()) -> Loaded:
        """The benchmark with items that a table or a run holds, checked; its signature has their hash."""
        texts = json.dumps([(item.item, item.variant, item.hash) for item in items])
        digest = hashlib.sha256(texts.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        signature = registry.signature(self)
        loaded = checked(self, items, exclusions)
        return loaded._replace(signature=f"{signature}#{digest}{loaded.signature.removeprefix(signature)}")


class TableItems(NamedTuple):
    """What a table says of questions: the benchmark, the rows with an id each, and the formats inferred.

    `lines` reads the rows of the table again, as often as asked for.
    """

    benchmark: Loaded
    lines: Lines
    formats: dict[str, int]


def table_items(lines: Iterable[Line], name: str, faulty: Faulty = "refuse") -> TableItems:
    """The questions of rows under our names: one item for each id and variant.

    Without an id, what is asked (question, options, context) names the question: `q` and ten hex digits of
    its hash, the same in every table. What a row leaves empty, another row with that id may say. A question
    that states no format has it by `INFERRED`.

    Raises `RowError` for two rows that say different things of one id, for a row that names no question,
    and for items that their format cannot use; with `faulty` "exclude" such questions are left out, all of
    their rows as one.
    """
    faults: dict[tuple[str, str], Exclusion] = {}

    def leave_out(key: tuple[str, str], where: str, error: RowError) -> None:
        if faulty == "refuse":
            raise RowError(f"{error} {_EXCLUDE}", error.reason) from None
        faults.setdefault(key, exclusion_at(where, error.reason))

    merged: dict[tuple[str, str], dict[str, tuple[Any, str]]] = {}
    for line in lines:
        key = ("", line.where)  # no question bears it
        try:
            named = _with_id(line)
            key = (str(named.row["item"]), str(named.row.get("variant") or ""))
            _merge(merged.setdefault(key, {}), named, " ".join(key).strip())
        except RowError as error:
            leave_out(key, line.where, error)
    inferred: Counter[str] = Counter()
    items = []
    usable = {key: fields for key, fields in merged.items() if key not in faults}
    letters = _keys_are_letters(usable.values())
    for key, fields in usable.items():
        try:
            row, is_inferred = _row(fields, letters=letters)
            items.append(_item(row, name))
            inferred.update([items[-1].format] if is_inferred else ())
        except RowError as error:
            leave_out(key, fields["item"][1], error)
    loaded = Table(name=name).loaded(items, tuple(faults.values()))
    return TableItems(loaded, Lines(partial(_with_ids, lines)), dict(inferred))


_EXCLUDE = 'With faulty="exclude" (--faulty exclude) such questions are left out and counted.'


def _row(fields: dict[str, tuple[Any, str]], *, letters: bool) -> tuple[Line, bool]:
    """The row of a question, and whether its format was inferred. Raises `RowError` where it asks nothing."""
    place = fields["item"][1]
    row = _in_form({name: value for name, (value, _) in fields.items()}, place, letters=letters)
    if not row.get("question") and not row.get("messages"):
        raise RowError(f"{place}: no row says what the question {row['item']!r} is.", "no question")
    is_inferred = row.get("format") in (None, "")
    if is_inferred:
        row["format"] = inferred_format(row)
        if row["format"] == "true_false" and _is_lettered(fields, place):
            row["format"] = "mcq"
    return Line(place, _keyed(row, place, letters=letters)), is_inferred


def _is_lettered(fields: Mapping[str, tuple[Any, str]], place: str) -> bool:
    """Whether options stand under labels, or the key is a letter: answers are then letters too."""
    options = fields.get("options", ((), ""))[0]
    listed, labels = listed_options(_list_of(options, dicts=True), place)
    key = fields.get("answer", fields.get("references", ("", "")))[0]
    return bool(labels) or (is_letter(key, listed or ()) and not _is_truth(key))


def _item(line: Line, name: str) -> Item:
    """The item of a row. Raises `RowError` for options without a key, and as its format does."""
    item = read_item(line, name, arrays=True)
    if item.format == "mcq" and item.options and not item.answer:
        raise RowError(
            f"{line.where}: options and no key: name its column with map={{'answer': 'COLUMN'}}, or --map "
            "answer=COLUMN.",
            "options and no key",
        )
    return check_item(item)


def _with_ids(lines: Iterable[Line]) -> Iterator[Line]:
    """The rows with an id each, without those that can have none."""
    for line in lines:
        with suppress(RowError):
            yield _with_id(line)


def _with_id(line: Line) -> Line:
    """The row with an id: its own, or one made of what it asks."""
    row = line.row
    if "item" in row:
        if row["item"] in (None, ""):
            raise RowError(
                f"{line.where}: the id is empty; leave the column out to have ids made of the questions.",
                "the id is empty",
            )
        return line
    if not row.get("question") and not row.get("messages"):
        subject = "neither an id nor a question"
        raise RowError(f"{line.where}: {subject}.", subject)
    options = _list_of(row.get("options"), dicts=True)
    content = [str(row[name]).strip() if row.get(name) else "" for name in ("question", "context")]
    content += [str(row["messages"])] if row.get("messages") else []
    digest = hashlib.sha256(json.dumps([*content, options or None], default=str).encode()).hexdigest()[:10]
    return Line(line.where, {**row, "item": f"q{digest}"})


def _merge(fields: dict[str, tuple[Any, str]], line: Line, name: str) -> None:
    """Add what the row says of its question. Raises `RowError` where another row says something else."""
    for field in _FIELDS:
        value = line.row.get(field)
        if value in (None, ""):
            continue
        earlier, place = fields.setdefault(field, (value, line.where))
        if earlier != value and str(earlier) != str(value):
            raise RowError(
                f"{line.where}: the question {name!r} has another {field} than in {place}: "
                f"{one_line(str(value), 40)!r} and {one_line(str(earlier), 40)!r}. Rows with one id say the "
                "same of the question; different questions need different ids.",
                f"two rows give it another {field}",
            )


def _in_form(row: dict[str, Any], place: str, *, letters: bool) -> dict[str, Any]:
    """The row with lists for what is written as one, and with the options that the key names."""
    row = {k: _list_of(v, dicts=k == "options") if k in LISTS else v for k, v in row.items()}
    row["context"] = _paragraphs(row.get("context"))
    row["options"], labels = listed_options(row.get("options"), place)
    if row["options"]:
        row["answer"] = key_of(row.get("answer"), row["options"], labels, place, letters=letters)
    return row


def _paragraphs(context: Any) -> Any:
    """The text of a context in parts, as PubMedQA has it under `contexts`; any other context as it is."""
    parts = context.get("contexts") if isinstance(context, dict) else _list_of(context)
    if isinstance(parts, list) and all(isinstance(part, str) for part in parts):
        return "\n\n".join(parts)
    return context


def _keys_are_letters(questions: Iterable[Mapping[str, tuple[Any, str]]]) -> bool:
    """Whether keys that are no text of an option are letters, and no key is a text alone.

    Such a table means the letter also where another option's text is that letter: a blood group, a vitamin.
    """
    letter = text = 0
    for fields in questions:
        key = fields.get("answer", fields.get("references", ("", "")))[0]
        options, place = fields.get("options", ((), ""))
        try:
            listed = listed_options(_list_of(options, dicts=True), place)[0] or ()
        except RowError:  # its own row is where that is said
            continue
        letter += is_letter(key, listed) and key not in listed
        text += key in listed and not is_letter(key, listed)
    return letter > 0 and text == 0


def _list_of(value: Any, *, dicts: bool = False) -> Any:
    """The list that a text writes, as JSON or as Python's `str` of a list of texts does; else the value.

    With `dicts`, also the dict that it writes.
    """
    kinds: tuple[type, ...] = (list, dict) if dicts else (list,)
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        for parse in (json.loads, ast.literal_eval):
            with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
                entries = parse(value)
                # NumPy writes an array without commas, and Python would join its texts
                if isinstance(entries, kinds) and (parse is json.loads or str(entries) == value.strip()):
                    return entries
    return value


def inferred_format(row: Mapping[str, Any]) -> str:
    """The format of a question that states none, by `INFERRED`."""
    if row.get("messages"):
        return "conversation"
    if row.get("steps"):
        return "multi_hop" if row.get("step") in (None, "") else "multi_hop_inverse"
    return _format_of_key(row)


def _format_of_key(row: Mapping[str, Any]) -> str:
    """The format that options and keys tell."""
    keys, options = _keys(row), row.get("options") or ()
    if len(keys) == 1 and all(map(_is_truth, (*keys, *options))):
        return "true_false"
    if options:
        return "list" if len(keys) > 1 else "mcq"
    return "short" if any(len(key.split()) <= SHORT_WORDS for key in keys) else "longform"


def _keys(row: Mapping[str, Any]) -> list[str]:
    """What is right: the answer, else the references."""
    key = row.get("answer")
    if key in (None, "", []):
        key = row.get("references")
    return [str(k) for k in (key if isinstance(key, list) else [key]) if k not in (None, "")]


def _is_truth(key: Any) -> bool:
    return str(key).strip().casefold() in ("true", "false", "t", "f")


def _keyed(row: dict[str, Any], place: str, *, letters: bool) -> dict[str, Any]:
    """The row with the key of a closed question as its answer, where a column for all formats held it.

    True and False need no options beside them.
    """
    if row["format"] == "true_false":
        row = {**row, "options": None}
    closed = not getattr(formats.FORMATS.get(row["format"]), "open_text", True)
    if closed and row.get("answer") in (None, "") and row.get("references") not in (None, ""):
        return {**_in_form({**row, "answer": row["references"]}, place, letters=letters), "references": None}
    return row
