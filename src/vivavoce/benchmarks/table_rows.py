"""Rows of a table under our names made ready to be questions: an id each, lists, keys, a format."""

import ast
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, TypeGuard

from vivavoce import formats
from vivavoce.benchmarks.column_names import FIELDS, folded
from vivavoce.benchmarks.table_options import (
    OTHER_KEYS,
    KeyStyle,
    is_letter,
    key_of,
    key_style,
    listed_options,
    refuse_other_key,
)
from vivavoce.core.errors import RowError
from vivavoce.core.json_text import read_json
from vivavoce.core.tables import LISTS, Line

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
_OF_MARKS = {"rater", "judge", "annotator", "criterion", *FIELDS["criterion"].others}
"""Columns of a table with several rows for one answer, each with a mark of it."""


class SameQuestions(NamedTuple):
    """What becomes of rows without an id that ask the same of one candidate, or of nobody.

    `rows` ask what an earlier row asks. They are its `repeats` where every question stands equally often for
    every candidate and repeats are not numbered, `marks` of one answer where the table has a column for them,
    and else `questions` of their own.
    """

    rows: int = 0
    rule: str = ""

    @property
    def text(self) -> str:
        """The sentence on such rows; '' without any."""
        if not self.rows:
            return ""
        ask = "row has no id and asks" if self.rows == 1 else "rows have no id and ask"
        become = {
            "repeats": "as every question stands there equally often, they are repeats of its answer",
            "marks": "as they hold marks, each is of the same answer",
            "questions": "each is a question of its own, with a number behind the id",
        }[self.rule]
        return f"{self.rows:,} {ask} what an earlier row asks: {become}."


def same_questions(lines: Iterable[Line]) -> SameQuestions:
    """How the rows of a table that ask the same are named; rows with neither id nor question do not count."""
    counts: Counter[tuple[str, ...]] = Counter()
    numbered = of_marks = False
    for line in lines:
        if "item" not in line.row and _asks(line.row):
            counts[_place(line.row)] += 1
            numbered = numbered or line.row.get("repeat") not in (None, "")
            of_marks = of_marks or not _OF_MARKS.isdisjoint(map(folded, line.row))
    n_repeated = counts.total() - len(counts)
    return SameQuestions(n_repeated, _rule(counts, of_marks, numbered)) if n_repeated else SameQuestions()


def _rule(counts: Counter[tuple[str, ...]], of_marks: bool, numbered: bool) -> str:
    if of_marks:
        return "marks"
    is_even = len(set(counts.values())) == 1 and all(candidate for _, candidate, *_ in counts)
    return "repeats" if is_even and not numbered else "questions"


def identify(line: Line, same: Callable[[], SameQuestions], counts: Counter[tuple[str, ...]]) -> Line:
    """The row with an id, behind those that are in `counts`; rows that ask the same are named as `same` says.

    That is asked of a row without an id. Raises `RowError` where there is nothing to name.
    """
    row = line.row
    if "item" in row:
        if row["item"] in (None, ""):
            raise RowError(
                f"{line.where}: the id is empty; leave the column out to have ids made of the questions.",
                "the id is empty",
            )
        return line
    if not _asks(row):
        subject = "neither an id nor a question"
        raise RowError(f"{line.where}: {subject}.", subject)
    place = _place(row)
    counts[place] += 1
    number, rule = counts[place], same().rule
    if rule == "repeats":
        return Line(line.where, {**row, "item": place[0], "repeat": number})
    is_own = rule == "questions" and number > 1
    return Line(line.where, {**row, "item": f"{place[0]}-{number}" if is_own else place[0]})


def _asks(row: Mapping[str, Any]) -> bool:
    return bool(row.get("question") or row.get("messages"))


def _place(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The id that the content of a row makes, and what of it the row is: whose answer, and which one."""
    texts = (str(row.get(name) or "") for name in ("candidate", "variant", "repeat", "edit"))
    return (_content_id(row), *texts)


def _content_id(row: Mapping[str, Any]) -> str:
    """`q` and ten hex digits of a hash of question, options and context: the same in every table."""
    options = list_of(row.get("options"), dicts=True)
    content = [str(row[name]).strip() if row.get(name) else "" for name in ("question", "context")]
    content += [str(row["messages"])] if row.get("messages") else []
    text = json.dumps([*content, options or None], default=str)
    return f"q{hashlib.sha256(text.encode()).hexdigest()[:10]}"


def completed(line: Line, style: KeyStyle) -> tuple[Line, bool]:
    """The row with its key as options and with a format, and whether that was inferred.

    Raises `RowError` where it asks nothing, and for options and keys that fit several readings.
    """
    place = line.where
    row = in_form(line.row, place, style)
    if not _asks(row):
        raise RowError(f"{place}: no row says what the question {row['item']!r} is.", "no question")
    is_inferred = row.get("format") in (None, "")
    if not is_inferred:
        row["format"] = format_named(row["format"])
    else:
        row["format"] = inferred_format(row)
        if row["format"] == "true_false" and _is_lettered(line):
            row["format"] = "mcq"
    return Line(place, _keyed(row, place, style)), is_inferred


def style_of(rows: Iterable[Mapping[str, Any]]) -> KeyStyle:
    """How the keys of these rows name options."""
    return key_style(filter(None, map(_key_and_options, rows)))


def _key_and_options(row: Mapping[str, Any]) -> tuple[Any, Any, tuple[str, ...]] | None:
    key = row.get("answer")
    key = list_of(row.get("references") if key in (None, "") else key)
    try:
        options, labels = listed_options(list_of(row.get("options"), dicts=True), "")
    except RowError:  # its own row is where that is said
        return None
    return (key, options, labels) if options and key is not None else None


def _is_lettered(line: Line) -> bool:
    """Whether options stand under labels, or the key is a letter: answers are then letters too."""
    options, labels = listed_options(list_of(line.row.get("options"), dicts=True), line.where)
    key = line.row.get("answer", line.row.get("references", ""))
    return bool(labels) or (is_letter(key, options or ()) and not _is_truth(key))


def in_form(row: Mapping[str, Any], place: str, style: KeyStyle) -> dict[str, Any]:
    """The row with lists for what is written as one, and with the options that the key names."""
    row = {k: list_of(v, dicts=k == "options") if k in LISTS else v for k, v in row.items()}
    row["context"] = _paragraphs(row.get("context"))
    return with_key(row, place, style)


def with_key(row: dict[str, Any], place: str, style: KeyStyle) -> dict[str, Any]:
    """The row with its options as a list, and with those that the key names.

    Options by what each scores, as BIG-bench has them, are keyed where no other key stands.
    """
    options = row.get("options")
    if _are_scores(options) and row.get("answer") in (None, "", []):
        best = max(options.values())
        right = [text for text, score in options.items() if score == best]
        return {**row, "options": [*options], "answer": right}
    listed, labels = listed_options(options, place)
    if listed and OTHER_KEYS in row:
        refuse_other_key(row, listed, place)
    key = key_of(row.get("answer"), listed, labels, place, style) if listed else row.get("answer")
    remainder = {name: value for name, value in row.items() if name != OTHER_KEYS}
    return {**remainder, "options": listed, "answer": key}


def _are_scores(options: Any) -> TypeGuard[dict[str, float]]:
    """Whether options are what each scores, and one of them does."""
    return (
        isinstance(options, dict)
        and all(isinstance(score, int | float) for score in options.values())
        and any(options.values())
    )


def _paragraphs(context: Any) -> Any:
    """The text of a context in parts, as PubMedQA has it under `contexts`; any other context as it is."""
    parts = context.get("contexts") if isinstance(context, dict) else list_of(context)
    if isinstance(parts, list) and all(isinstance(part, str) for part in parts):
        return "\n\n".join(parts)
    return context


def list_of(value: Any, *, dicts: bool = False) -> Any:
    """The list that a text writes, as JSON or Python's `str` of a list or tuple of texts; else the value.

    With `dicts`, also the dict that it writes.
    """
    kinds: tuple[type, ...] = (list, dict, tuple) if dicts else (list, tuple)
    if isinstance(value, str) and value.lstrip().startswith(("[", "{", "('", '("')):
        for parse in (read_json, ast.literal_eval):
            with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
                entries = parse(value)
                # NumPy writes an array without commas, and Python would join its texts
                if isinstance(entries, kinds) and (parse is read_json or str(entries) == value.strip()):
                    return list(entries) if isinstance(entries, tuple) else entries
    return value


_FORMATS = {"multiple_choice": "mcq", "multiple_choice_question": "mcq", "single_choice": "mcq",
            "multi_select": "list", "multiple_answers": "list", "true_or_false": "true_false",
            "short_answer": "short", "long_answer": "longform"}  # fmt: skip


def format_named(word: Any) -> str:
    """The format that a word names, in any case and by what others call it; else the word."""
    name = folded(str(word))
    return name if name in formats.FORMATS else _FORMATS.get(name, str(word))


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


def _keyed(row: dict[str, Any], place: str, style: KeyStyle) -> dict[str, Any]:
    """The row with the key of a closed question as its answer, where a column for all formats held it.

    True and False need no options beside them.
    """
    if row["format"] == "true_false":
        row = {**row, "options": None}
    closed = not getattr(formats.FORMATS.get(row["format"]), "open_text", True)
    if closed and row.get("answer") in (None, "") and row.get("references") not in (None, ""):
        return {**in_form({**row, "answer": row["references"]}, place, style), "references": None}
    return row
