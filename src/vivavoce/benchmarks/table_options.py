"""Options as tables write them: a list, under labels, or in a column each; and the keys that name them."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from shlex import quote
from typing import Any, NamedTuple

from vivavoce.core.errors import InputError, RowError
from vivavoce.core.tables import Line, in_levels
from vivavoce.core.text import label, one_line

ANSWERS = ("answer", "antwort", "respuesta", "reponse", "resposta")
"""Names of a column that may be the key or what the model answered."""
_COLUMN = re.compile(
    r"(?:(?:(?:answer_?)?(?:option|choice)|opcion|opcao|opt)_?|op)([a-z]|\d{1,2})"
    rf"|(?:(?:{'|'.join(ANSWERS)}|risposta)_)?([a-z])"
)
_FURTHER = r"(?:_(?:answer|option|choice))?_(?:idx|index|letter|label|text|key)"
RIGHT_COLUMN = re.compile(
    rf"(?:correct|right|gold|key|solution){_FURTHER}|correct_(?:answer|option|choice)|(?:answer|gold)_key"
    "|cop|losung|gabarito"
)
"""Folded names of columns that name the right option, and nothing else, beside the key."""
KEY_COLUMN = re.compile(rf"{RIGHT_COLUMN.pattern}|answer{_FURTHER}|richtig")
"""The same with names that are, beside a model's answers, what it chose or whether that is right."""
OTHER_KEYS = "keys of other columns"
"""Where a row holds what its columns of further keys say, by column."""
_LABELLED = re.compile(r"\(?([A-Za-z])[).:]\s*(.+)", re.DOTALL)
_LABELLED_LINE = re.compile(r"\s*\(?([A-Z])(?:[).:、．]\s*|\s+)(\S.*)")
_PAIRS = (("label", "text"), ("key", "value"), ("id", "text"))
"""How data sets name an option's label and its text, where each option is an object."""


def option_columns(columns: Mapping[str, str]) -> dict[str, str]:
    """The columns that hold one option each, by their labels in order: A, B … or 1, 2 … or 0, 1 ….

    `columns` gives each column's folded name: `option_a`, `choice_1`, `opa`, or `a` alone. Labels have no
    gap; columns named `option` go before `answer_a`, and these before bare letters. Empty where there are no
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


def gathered(lines: Iterable[Line], columns: Mapping[str, str], levels: Sequence[str] = ()) -> Iterator[Line]:
    """The rows with `options` in the place of the columns that hold one each; a row of blanks has none.

    The groups in the columns `levels` are in one more column, as `in_levels` adds it.
    """
    for line in (in_levels(line, levels) for line in lines):
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
    labelled = _lines_of(options) if isinstance(options, str) else _labelled(options)
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


def _lines_of(text: str) -> dict[str, str] | None:
    """The options of a text that has each on a line under its letter, from A without a gap; else null."""
    lines = [_LABELLED_LINE.fullmatch(line) for line in text.strip().splitlines()]
    options = {line[1]: line[2].strip() for line in lines if line}
    return options if len(options) == len(lines) and list(options) == _series(options) else None


def _is_said(value: Any) -> bool:
    return value is not None and str(value).strip() != ""


class KeyStyle(NamedTuple):
    """How the keys of a table name options: by letters, by texts, and by numbers from which first one.

    `letters` says that a key is a letter also where it is a text, `texts` that it is a text; where neither
    holds the table does not show it.
    """

    letters: bool = False
    first: int | None = None
    texts: bool = False


def key_style(questions: Iterable[tuple[Any, Sequence[Any], Sequence[str]]]) -> KeyStyle:
    """The style of the keys of a table, of which each question has its key, options and labels.

    Keys are letters where some key is the letter of an option and no text of one, and none is a text alone.
    Numbers count from 0 where some key is 0, and from 1 where some key is the number of options.
    """
    letter = text = 0
    numbers: set[int] = set()
    for key, options, labels in questions:
        for entry in key if isinstance(key, list) else [key]:
            is_option = entry in options
            letter += is_letter(entry, options) and not is_option
            text += is_option and not is_letter(entry, options)
            numbers |= _first_numbers(str(entry).strip(), list(map(str, options)), labels)
    first = numbers.pop() if len(numbers) == 1 else None
    return KeyStyle(letter > 0 and text == 0, first, texts=text > 0 and letter == 0)


def _first_numbers(key: str, options: Sequence[str], labels: Sequence[str]) -> set[int]:
    """The number of the first option by a key that is a number or a label; none where it tells nothing."""
    if key.isdecimal() and key in labels and key not in options:
        return {int(labels[0])}
    if not key.isdecimal() or key in (*options, *labels):
        return set()
    return {0} if int(key) == 0 else {1} if int(key) == len(options) else set()


def key_of(key: Any, options: Sequence[Any], labels: Sequence[str], where: str, style: KeyStyle) -> Any:
    """The option that a key names: its text, its label, its letter, or its letter with its text.

    A key that is one option's text and another's letter is what the table's other keys are; in a list it is
    the text. A list is that of each, several letters or labels are several options, and any other key is as
    it is. Raises `InputError` for a letter or a number that is one option's label and another's text where
    the table does not show which is meant, and for a number that is no option and may count from 0 or from 1.
    """
    if isinstance(key, list):
        style = style._replace(texts=style.texts or not style.letters)
        named = (key_of(entry, options, labels, where, style) for entry in key)
        return [text for texts in named for text in (texts if isinstance(texts, list) else [texts])]
    return _of_one_key(key, options, labels, where, style) if type(key) in (str, int) else key


def _of_one_key(
    key: str | int, options: Sequence[Any], labels: Sequence[str], place: str, style: KeyStyle
) -> Any:
    text, texts = str(key).strip(), list(map(str, options))
    labelled = texts[labels.index(text.upper())] if text.upper() in labels else None
    if text.isdecimal():
        return _by_number(text, texts, labelled, place, style.first)
    if text in texts and not (style.letters and is_letter(text, texts)):
        _refuse_two_options(text, texts, place, style)
        return text
    named = labelled or _by_letter_and_text(text, texts) or _by_letters(text, texts, labels)
    return named or _in_another_case(text, texts) or key


def _in_another_case(key: str, options: Sequence[str]) -> str | None:
    """The one option of this text in whatever case; null for none and for several."""
    alike = [option for option in options if option.strip().casefold() == key.casefold()]
    return alike[0] if len(alike) == 1 else None


def refuse_other_key(row: Mapping[str, Any], options: Sequence[Any], place: str) -> None:
    """Raise `RowError` where the key and a further key of a row name two options, however they name them."""
    texts = [str(option).strip() for option in options]
    key = row.get("answer")
    right = _may_be(key, texts)
    for column, other_key in row.get(OTHER_KEYS, {}).items():
        meant = _may_be(other_key, texts)
        if right and meant and right.isdisjoint(meant):
            first, second = (one_line(texts[min(numbers)], 40) for numbers in (right, meant))
            raise RowError(
                f"{place}: the key is {one_line(str(key), 40)!r}, which is the option {first!r}, and "
                f"{column!r} is {one_line(str(other_key), 40)!r}, which is {second!r}: correct one of them "
                f"or say which counts with map={{'answer': {column!r}}} (--map {quote(f'answer={column}')}).",
                "two columns name two options as right",
            )


def _may_be(key: Any, options: Sequence[str]) -> set[int]:
    """The places of the options that a key may name: by text, by letter, or by number from 0 or from 1."""
    if isinstance(key, bool) or not isinstance(key, str | int):
        return set()
    text = str(key).strip()
    places = {place for place, option in enumerate(options) if option == text}
    if text.isdecimal() and len(text) < 4:
        places |= {n for n in (int(text), int(text) - 1) if 0 <= n < len(options)}
    return places | _lettered(text if places else text.strip(" ().[]"), options)


def _lettered(text: str, options: Sequence[str]) -> set[int]:
    return {place for place in range(len(options)) if label(place) == text.upper()}


def _refuse_two_options(key: str, options: Sequence[str], place: str, style: KeyStyle) -> None:
    """Raise `RowError` for a key that is an option's text and another's letter, if either may be meant."""
    lettered = {label(k): option for k, option in enumerate(options)}.get(key.upper(), key)
    if lettered != key and not style.texts:
        raise RowError(
            f"{place}: the key {key} is the letter of the option {one_line(lettered, 40)!r} and the text of "
            "another, and no other key of the table shows which is meant: write the option's letter with its "
            f"text, as {key}) {one_line(lettered, 40)}.",
            "the key may be two options",
        )


def _by_number(key: str, options: Sequence[str], labelled: str | None, place: str, first: int | None) -> str:
    """The option that is this number, stands under it, or is at this place counted from `first`."""
    if labelled is None and key not in options:
        if first is not None and first <= int(key) < first + len(options):
            return options[int(key) - first]
        raise RowError(
            f"{place}: the key {key} is no option; as a position it may count from 0 or from 1: write the "
            "option's letter or its text.",
            "the key is no option",
        )
    if labelled not in (None, key) and key in options:
        raise RowError(
            f"{place}: the key {key} is the number of one option and the text of another: write its letter.",
            "the key may be two options",
        )
    return labelled or key


def _by_letter_and_text(key: str, options: Sequence[str]) -> str | None:
    """The option of a key such as 'B) Naloxone'; null where letter and text do not agree."""
    both = _LABELLED.fullmatch(key)
    letters = {option: label(position) for position, option in enumerate(options)}
    return both[2].strip() if both and letters.get(both[2].strip()) == both[1].upper() else None


def is_letter(key: Any, options: Sequence[Any]) -> bool:
    """Whether a key is the letter of one of so many options."""
    return isinstance(key, str) and key.strip().upper() in {label(k) for k in range(len(options))}


def _by_letters(key: str, options: Sequence[str], labels: Sequence[str]) -> list[str]:
    """The options of a key such as 'A, C', 'AC', '(b)' or 'option1,option3'; none where it names others."""
    by_label = {label(k): option for k, option in enumerate(options)}
    by_label |= zip(labels, options, strict=False)
    bare = key.strip(" []().").upper()
    named = re.split(r"\s*[,;|/]\s*|\s+", bare)
    if len(named) == 1 and bare.isalpha() and key.isupper() and sorted(set(bare)) == list(bare):
        named = list(bare)
    return [by_label[name] for name in named] if set(named) <= set(by_label) else []
