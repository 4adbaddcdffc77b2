"""Log-probabilities and probabilities of options in a table, as the record that a model's would be.

They stand in a column for each option (`logprob_A`, `prob_B`), or in one column as an object or a list in the
order of the options. A row becomes a response to the request `choices`, as if its model had been asked here.
"""

import json
import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from vivavoce.benchmarks.column_names import folded
from vivavoce.benchmarks.table_rows import list_of
from vivavoce.core.errors import InputError
from vivavoce.core.records import Item, Response
from vivavoce.core.tables import Line, cell
from vivavoce.core.text import label, one_line
from vivavoce.logprobs.options import Choices, options_of
from vivavoce.run.exchange.file_scores import NONE
from vivavoce.run.exchange.rows import number_of

LOGPROBS, PROBABILITIES = "option_logprobs", "option_probabilities"
"""The fields under which a user names the column."""
_OF_OPTIONS = r"(?:(?:option|choice|letter|label|answer|class|pred|model|response)s?_)?"
_LOG = re.compile(
    rf"{_OF_OPTIONS}(?:log_?probs?|log_?prob(?:abilit(?:y|ies))?|lp|log_?lik(?:elihoods?)?|ll)(?:_(?:option|choice|letter)s?)?"
)
_SHARE = re.compile(
    rf"{_OF_OPTIONS}(?:probs?|p|pr|probabilit(?:y|ies)|confidences?|conf|softmax|wahrscheinlichkeit(?:en)?|konfidenz"
    r"|probabilidad(?:es)?|confianza|probabilites?|confiance|probabilidades?|confianca|概率|確率|置信度|確信度)"
    r"(?:_(?:option|choice|letter)s?)?"
)
_WHOLE = re.compile(r".*(option|choice|letter|label|class).*")
"""A column that holds the figures of all options says so; `logprobs` alone may be those of tokens."""
_LABEL = re.compile(r"[a-j]|\d{1,2}|true|false|yes|no")
_MOST_SUM, _LEAST_SUM = 1.05, 0.5
"""Probabilities of options that exclude each other add up to 1 at most; far less is none of them."""


class OptionColumns(NamedTuple):
    """The columns with figures of options: one for each label, or one for all; `is_log` for logarithms."""

    is_log: bool
    by_label: Mapping[str, str] = {}
    column: str = ""

    def reads(self, column: str) -> bool:
        """Whether the figures stand in this column, or in a field of it."""
        return column in self.by_label.values() or self.column in _leading(column)


def option_figures(
    columns: Sequence[str], map: Mapping[str, str], set: Mapping[str, Any]
) -> OptionColumns | None:
    """The columns with figures of options, log-probabilities before probabilities; null for none.

    `map` may name the column, and `set` say `none`.
    """
    for field in (LOGPROBS, PROBABILITIES):
        if field in map:
            return OptionColumns(field == LOGPROBS, {}, field)  # rows have it under our name
    if NONE in (set.get(LOGPROBS), set.get(PROBABILITIES)):
        return None
    return next(filter(None, (_of_kind(columns, _LOG), _of_kind(columns, _SHARE))), None)


def _of_kind(columns: Sequence[str], kind: re.Pattern[str]) -> OptionColumns | None:
    """The columns whose names say that kind of figure: one for each label from the first, or one for all."""
    families: dict[str, dict[str, str]] = defaultdict(dict)
    for column in columns:
        for stem, name in _parts(folded(column)):
            if _is_figure(stem, name, kind):
                families[stem].setdefault(name, column)
    if labelled := next(filter(_are_labels, families.values()), None):
        return OptionColumns(kind is _LOG, labelled)
    prefixes = dict.fromkeys(chain.from_iterable(map(_leading, columns)))
    in_one = [name for name in prefixes if _is_whole(name, kind)]
    return OptionColumns(kind is _LOG, {}, in_one[0]) if len(in_one) == 1 else None


def _is_figure(stem: str, name: str, kind: re.Pattern[str]) -> bool:
    """Whether a column of this name holds a figure of an option; `p_1` is too short to say so."""
    is_short = len(stem) < 3 and name.isdigit()
    return bool(kind.fullmatch(stem) and _LABEL.fullmatch(name)) and not is_short


def _leading(column: str) -> list[str]:
    """The column, and those of which its dotted name is a field: options may have their texts for names."""
    return [column, *(column[:k] for k, sign in enumerate(column) if sign == ".")]


def _is_whole(column: str, kind: re.Pattern[str]) -> bool:
    name = folded(column)
    return bool(kind.fullmatch(name) and _WHOLE.fullmatch(name))


def _parts(name: str) -> list[tuple[str, str]]:
    """What a name says before its last word, and behind its first one, each with that word."""
    first, _, ending = name.partition("_")
    beginning, _, last = name.rpartition("_")
    return [(beginning, last), (ending, first)]


def _are_labels(names: Mapping[str, str]) -> bool:
    """Whether these are the first letters, the first numbers, or the two words of a yes-no question."""
    n = len(names)
    if n < 2:
        return False
    numbers = [str(k) for k in range(n + 1)]
    series = [[label(k).casefold() for k in range(n)], numbers[:-1], numbers[1:]]
    return any(names.keys() == {*labels} for labels in (*series, ("true", "false"), ("yes", "no")))


class OptionLikelihoods:
    """The figures of options of the rows, by the items that they answer."""

    def __init__(self, figures: OptionColumns, items: Mapping[tuple[str, str, str], Item]) -> None:
        self.figures, self._items = figures, items

    def response(self, line: Line, response: Response) -> Response | None:
        """The row's figures as a response beside that in words; null where the row has none.

        Raises `InputError` for figures of another number of options, and such as no probabilities can be.
        """
        item = self._items[response.benchmark, response.item, response.variant]
        options = options_of(item)
        figures = self._figures(line, options)
        if not figures:
            return None
        by_text = {name.casefold() for name in figures} == {option.casefold() for option in options}
        put = options if by_text or not item.options else [label(k) for k in range(len(options))]
        logprobs = self._logprobs(_in_order(figures, options, line.where), line.where)
        order = {"shift": 0, "put": [*put], "logprob": logprobs, "tokens": [0] * len(put)}
        record: dict[str, Any] = {"orders": [order], "alone": {}, "tokeniser": None, "truncated": 0}
        return Response(
            benchmark=response.benchmark,
            item=response.item,
            variant=response.variant,
            candidate=response.candidate,
            repeat=response.repeat,
            edit=response.edit,
            probe=Choices(of="text" if by_text else "letter").name,
            logprobs=json.dumps(record, ensure_ascii=False),
        )

    def _figures(self, line: Line, options: Sequence[str]) -> dict[str, float]:
        """The figures that the row has, by label; a list has numbers for labels."""
        if self.figures.column:
            content: Any = list_of(_cell(line, self.figures.column), dicts=True)
            cells = dict(enumerate(content)) if isinstance(content, list) else content
        else:
            cells = {name: _cell(line, column) for name, column in self.figures.by_label.items()}
        if cells in (None, "", {}):
            return {}
        if not isinstance(cells, Mapping):
            raise InputError(
                f"{line.where}: {self.figures.column} holds {one_line(str(cells), 40)!r}, no figure for each "
                f"option: --set {LOGPROBS}={NONE} leaves it out."
            )
        numbers = {str(name): number_of({"": cell}, "", float, line.where) for name, cell in cells.items()}
        return {name: number for name, number in numbers.items() if number is not None}

    def _logprobs(self, figures: Sequence[float], place: str) -> list[float | None]:
        """The logarithms of probabilities. Raises `InputError` for such as cannot be."""
        if self.figures.is_log:
            shares = [math.exp(min(figure, 9.0)) for figure in figures]
            _check_sum(sum(shares), 0.0, figures, place)
            return [*figures]
        percent = 100.0 if 95 <= sum(figures) <= 105 else 1.0
        shares = [figure / percent for figure in figures]
        _check_sum(sum(shares) if min(shares) >= 0 else -1.0, _LEAST_SUM, figures, place)
        return [math.log(share) if share > 0 else None for share in shares]


def _check_sum(total: float, least: float, figures: Sequence[float], place: str) -> None:
    """Raise `InputError` for figures whose probabilities do not add up to 1, or are below 0."""
    if not least <= total <= _MOST_SUM:
        numbers = ", ".join(f"{figure:g}" for figure in figures)
        raise InputError(
            f"{place}: {numbers} are no probabilities of options of which one is right: they add up to "
            f"{total:.3g}. --set {LOGPROBS}={NONE} leaves them out."
            if total >= 0
            else f"{place}: {numbers} are no probabilities. --set {LOGPROBS}={NONE} leaves them out."
        )


def _in_order(figures: Mapping[str, float], options: Sequence[str], place: str) -> list[float]:
    """The figures in the order of the options. Raises `InputError` place they are of other options."""
    names = {name.casefold(): figure for name, figure in figures.items()}
    n = len(options)
    labels = (
        [option.casefold() for option in options], [label(k).casefold() for k in range(n)],
        [str(k) for k in range(n)], [str(k + 1) for k in range(n)], ["yes", "no"],
    )  # fmt: skip
    for order in labels:
        if names.keys() == {*order} and len(order) == n:
            return [names[name] for name in order]
    raise InputError(
        f"{place}: figures for {len(figures)} options ({', '.join(figures)}), and the question has {n}: "
        f"--set {LOGPROBS}={NONE} leaves them out."
    )


def _cell(line: Line, column: str) -> Any:
    try:
        return cell(line.row, column)
    except KeyError:
        return None
