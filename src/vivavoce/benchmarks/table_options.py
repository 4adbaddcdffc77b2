"""Options as tables write them: a list, under labels, or in a column each; and the keys that name them."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from vivavoce.core.errors import InputError, RowError
from vivavoce.core.tables import Line
from vivavoce.core.text import label, one_line

_COLUMN = re.compile(r"(?:(?:(?:answer_?)?(?:option|choice)|opt)_?|op)([a-z]|\d{1,2})|([a-z])")
_LABELLED = re.compile(r"\(?([A-Za-z])[).:]\s*(.+)", re.DOTALL)
_PAIRS = (("label", "text"), ("key", "value"), ("id", "text"))
"""How data sets name an option's label and its text, where each option is an object."""


def option_columns(columns: Mapping[str, str]) -> dict[str, str]:
    """The columns that hold one option each, by their labels in order: A, B … or 1, 2 … or 0, 1 ….

    `columns` gives each column's folded name: `option_a`, `choice_1`, `opa`, or `a` alone. Labels have no
    gap; columns named `option` go before bare letters, and those need no other name. Empty where there are no
    two such columns. Raises `InputError` where two columns are one option.
    """
    families: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for column, name in columns.items():
        if matched := _COLUMN.fullmatch(name):
            text = (matched[1] or matched[2]).upper()
            families[name[: len(name) - len(text)].rstrip("_")][text].append(column)
    complete = (families[name] for name in sorted(families, reverse=True) if _series(families[name]))
    labels = next(complete, {})
    for text, named in labels.items():
        if len(named) > 1:
            names = " and ".join(map(repr, named))
            raise InputError(f"the columns {names} may each be option {text}: rename one.")
    return {text: labels[text][0] for text in _series(labels)}


def _series(labels: Collection[str]) -> list[str]:
    """These labels in order, where they are two or more without a gap from the first; else none."""
    series = (first for first in _firsts(len(labels)) if set(first) == set(labels))
    return next(series, []) if len(labels) > 1 else []


def _firsts(count: int) -> list[list[str]]:
    """The labels that so many options may have: letters, or numbers from 1 or from 0."""
    numbers = [[str(k) for k in range(start, start + count)] for start in (1, 0)]
    return [[label(k) for k in range(count)], *numbers]


def gathered(lines: Iterable[Line], columns: Mapping[str, str]) -> Iterator[Line]:
    """The rows with `options` in the place of the columns that hold one each; a row of blanks has none."""
    for line in lines:
        options = {text: line.row.get(column) for text, column in columns.items()}
        remainder = {name: value for name, value in line.row.items() if name not in columns.values()}
        if columns:
            remainder["options"] = options if any(map(_is_said, options.values())) else None
        yield Line(line.where, remainder)


def listed_options(options: Any, where: str) -> tuple[Any, tuple[str, ...]]:
    """The options as a list, and the labels that they stand under; () where they have none.

    Labels that are letters or numbers give the order, as answers name options by it: blank options at the end
    are left out. Raises `InputError` for one between others, and where a label is left out.
    """
    labelled = _labelled(options)
    if labelled is not None:
        return _in_order({str(name).strip().upper(): value for name, value in labelled.items()}, where)
    if isinstance(options, str) and options.strip():
        raise RowError(
            f"{where}: the options are one text, {one_line(options, 40)!r}: write a JSON array, as "
            '["aspirin", "heparin"], or a column for each, as option_a and option_b.',
            "the options are one text",
        )
    return options, ()


def _in_order(options: dict[str, Any], place: str) -> tuple[list[Any], tuple[str, ...]]:
    """The texts and the labels of options, by letters or numbers, without blank ones at the end."""
    if all(re.fullmatch(r"[A-Z]|\d{1,2}", name) for name in options):
        options = dict(sorted(options.items(), key=lambda entry: (len(entry[0]), entry[0])))
    while options and not _is_said([*options.values()][-1]):
        options.popitem()
    _check_gaps(options, place)
    return list(options.values()), tuple(options)


def _check_gaps(options: Mapping[str, Any], place: str) -> None:
    """Raise `InputError` for a blank option, and for a letter that is left out."""
    if blank := [name for name, value in options.items() if not _is_said(value)]:
        subject = f"option {blank[0]} is empty, and one behind it is not"
        raise RowError(f"{place}: {subject}.", "an option is empty")
    letters = all(re.fullmatch("[A-Z]", name) for name in options)
    if letters and list(options) != _firsts(len(options))[0]:
        raise RowError(
            f"{place}: the options stand under {', '.join(options)}: letters go from A, without a gap.",
            "the letters of its options have a gap",
        )


def _labelled(options: Any) -> dict[Any, Any] | None:
    """Options by their labels: of a dict, of two lists in one, and of objects; null for any others."""
    if isinstance(options, list):
        return _of_objects(options)
    if not isinstance(options, dict):
        return None
    lists = set(options) == {"label", "text"} and all(isinstance(part, list) for part in options.values())
    return dict(zip(options["label"], options["text"], strict=False)) if lists else options


def _of_objects(options: Sequence[Any]) -> dict[Any, Any] | None:
    if not options or not all(isinstance(option, dict) for option in options):
        return None
    for name, text in _PAIRS:
        if all({name, text} <= option.keys() for option in options):
            return {option[name]: option[text] for option in options}
    return None


def _is_said(value: Any) -> bool:
    return value is not None and str(value).strip() != ""


def key_of(key: Any, options: Sequence[Any], labels: Sequence[str], where: str, *, letters: bool) -> Any:
    """The option that a key names: its text, its label, its letter, or its letter with its text.

    A key that is one option's text and another's letter is its text, unless `letters` says that keys of the
    table are letters. Several letters are several options; any other key is as it is. Raises `InputError` for
    a number that is one option's label and another's text, and for one that is no option: it may count from
    0 or from 1.
    """
    if type(key) not in (str, int):
        return key
    text, texts = str(key).strip(), list(map(str, options))
    under = texts[labels.index(text.upper())] if text.upper() in labels else None
    if text.isdecimal():
        return _by_number(text, texts, under, where)
    if text in texts and not (letters and is_letter(text, texts)):
        return text
    return under or _by_letter_and_text(text, texts) or _by_letters(text, texts) or key


def _by_number(key: str, options: Sequence[str], under: str | None, place: str) -> str:
    """The option that is this number, or stands under it."""
    if under is None and key not in options:
        raise RowError(
            f"{place}: the key {key} is no option; as a position it may count from 0 or from 1: write the "
            "option's letter or its text.",
            "the key is no option",
        )
    if under not in (None, key) and key in options:
        raise RowError(
            f"{place}: the key {key} is the number of one option and the text of another: write its letter.",
            "the key may be two options",
        )
    return under or key


def _by_letter_and_text(key: str, options: Sequence[str]) -> str | None:
    """The option of a key such as 'B) Naloxone'; null where letter and text do not agree."""
    both = _LABELLED.fullmatch(key)
    letters = {option: label(position) for position, option in enumerate(options)}
    return both[2].strip() if both and letters.get(both[2].strip()) == both[1].upper() else None


def is_letter(key: Any, options: Sequence[Any]) -> bool:
    """Whether a key is the letter of one of so many options."""
    return isinstance(key, str) and key.strip().upper() in {label(k) for k in range(len(options))}


def _by_letters(key: str, options: Sequence[str]) -> list[str]:
    """The options of a key such as 'A, C' or '(b)'; none where it does not consist of letters."""
    named = re.split(r"\s*[,;|/]\s*|\s+", key.strip(" []().").upper())
    by_letter = {label(k): option for k, option in enumerate(options)}
    return [by_letter[name] for name in named] if set(named) <= set(by_letter) else []
