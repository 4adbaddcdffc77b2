"""Log-probabilities and probabilities of options in a table, as the record that a model's would be.

They stand in a column for each option (`logprob_A`, `prob_B`), or in one column as an object or a list in the
order of the options. A row becomes a response to the request `choices`, as if its model had been asked here.
Names alone may mislead: what stands under them and does not fit is left out; what the user named is refused.
"""

import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from vivavoce.benchmarks.column_names import folded
from vivavoce.benchmarks.table_rows import list_of
from vivavoce.core.errors import InputError
from vivavoce.core.records import Item, Response
from vivavoce.core.tables import Line
from vivavoce.core.text import label, one_line
from vivavoce.logprobs.options import Choices, options_of
from vivavoce.run.exchange.file_scores import NONE
from vivavoce.run.exchange.rows import number_of
from vivavoce.run.exchange.wide_tables import cell_or_null

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
_WHOLE = re.compile(r".*(option|choice|letter|label|class)")
"""A column that holds the figures of all options says so; `logprobs` alone may be those of tokens."""
_LABEL = re.compile(r"[a-j]|\d{1,2}|true|false|yes|no")
_MOST_SUM, _LEAST_SUM = 1.05, 0.5
"""Probabilities of options that exclude each other add up to 1 at most; far less is none of them."""
_BLANK = {"", "nan", "n/a", "na", "null", "none", "{}", "[]"}
Values = Callable[[str], Sequence[Any]]
"""What stands first in a column."""


class OptionColumns(NamedTuple):
    """The columns with figures of options: one for each label, or one for all; `is_log` for logarithms.

    `mapped` is the column that the user named for it, which rows have under our name; '' without.
    """

    is_log: bool
    by_label: Mapping[str, str] = {}
    column: str = ""
    mapped: str = ""

    def __str__(self) -> str:
        return self.mapped or self.column or ", ".join(self.by_label.values())

    def reads(self, column: str) -> bool:
        """Whether the figures stand in this column, or in a field of it."""
        return column in self.by_label.values() or self.column in _leading(column)

    def fits(self, options: Sequence[str]) -> bool:
        """Whether the columns may hold a figure of each of these options, by their names."""
        orders = (order for order, _ in _orders(options, len(options) == 2))
        return bool(self.column) or any(self.by_label.keys() >= {*order} for order in orders)


def option_figures(
    columns: Sequence[str], map: Mapping[str, str], set: Mapping[str, Any], values_of: Values,
    options: Sequence[str] = (),
) -> OptionColumns | None:  # fmt: skip
    """The columns with figures of options, log-probabilities before probabilities; null for none.

    `map` may name the column, and `set` say `none`. Columns go first whose names fit the `options` that most
    questions have. One column for all is one by its first values, which are objects or lists.
    """
    for field in (LOGPROBS, PROBABILITIES):
        if field in map:
            return OptionColumns(field == LOGPROBS, {}, field, map[field])
    if NONE in (set.get(LOGPROBS), set.get(PROBABILITIES)):
        return None
    likely = [figures for kind in (_LOG, _SHARE) for figures in _of_kind(columns, kind, values_of, options)]
    return next((figures for figures in likely if figures.fits(options)), next(iter(likely), None))


def _of_kind(
    columns: Sequence[str], kind: re.Pattern[str], values_of: Values, options: Sequence[str]
) -> list[OptionColumns]:
    """The columns whose names say that kind of figure: for each label, for all options, for each text."""
    texts = {*map(folded, options)}
    lettered = filter(_are_labels, _families(columns, kind, _LABEL.fullmatch))
    of_texts = filter(lambda family: family.keys() == texts, _families(columns, kind, texts.__contains__))
    names = {name for name in chain.from_iterable(map(_leading, columns)) if kind.fullmatch(folded(name))}
    in_one = [name for name in names if _WHOLE.match(folded(name)) and any(map(_cells, values_of(name)))]
    figures, in_one = partial(OptionColumns, kind is _LOG), in_one[: len(in_one) == 1]
    return [*map(figures, lettered), *map(partial(figures, {}), in_one), *map(figures, of_texts)]


def _families(
    columns: Sequence[str], kind: re.Pattern[str], is_label: Callable[[str], object]
) -> Iterable[dict[str, str]]:
    """Columns whose names are alike but for a label, by label; `p_1` is too short to hold a figure."""
    families: dict[str, dict[str, str]] = defaultdict(dict)
    for column in columns:
        for stem, name in _parts(folded(column)):
            is_short = len(stem) < 3 and name.isdigit()
            if kind.fullmatch(stem) and is_label(name) and not is_short:
                families[stem].setdefault(name, column)
    return families.values()


def _leading(column: str) -> list[str]:
    """The column, and those of which its dotted name is a field: options may have their texts for names."""
    return [column, *(column[:k] for k, sign in enumerate(column) if sign == ".")]


def _cells(content: Any) -> Mapping[Any, Any]:
    """The cells of an object or a list, which has numbers for labels; none of anything else."""
    content = list_of(content, dicts=True)
    content = dict(enumerate(content)) if isinstance(content, list) else content
    return content if isinstance(content, Mapping) else {}


def _parts(name: str) -> Iterator[tuple[str, str]]:
    """What a name says before and behind each gap of words, and the same turned round."""
    words = name.split("_")
    for k in range(1, len(words)):
        beginning, ending = "_".join(words[:k]), "_".join(words[k:])
        yield from ((beginning, ending), (ending, beginning))


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

    def response(self, line: Line, response: Response) -> Response | str | None:
        """The row's figures as a response beside that in words; null without any, and why they do not fit.

        Raises `InputError` for that in a column that the user named.
        """
        item = self._items[response.benchmark, response.item, response.variant]
        options = options_of(item)
        try:
            figures = self._figures(line)
            if not figures:
                return None
            in_order, by_text = _in_order(figures, options, not item.options)
            logprobs = self._logprobs(in_order)
        except ValueError as error:
            if not self.figures.mapped:
                return f"{line.where}: {error}"
            raise InputError(
                f"{line.where}, {self.figures}: {error}. --set {LOGPROBS}={NONE} leaves them out."
            ) from None
        put = options if by_text or not item.options else [label(k) for k in range(len(options))]
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

    def _figures(self, line: Line) -> dict[str, float]:
        """The figures that the row has, by label. Raises `ValueError` for what is no number."""
        columns = self.figures.by_label
        cells: Mapping[Any, Any] = {name: cell_or_null(line, column) for name, column in columns.items()}
        if self.figures.column:
            content = cell_or_null(line, self.figures.column)
            cells = _cells(content)
            if not (cells or _is_blank(content)):
                raise ValueError(f"{one_line(str(content), 40)!r} holds no figure for each option")
        cells = {name: content for name, content in cells.items() if not _is_blank(content)}
        return {str(k): self._number(content, columns.get(k, str(k))) for k, content in cells.items()}

    def _number(self, content: Any, name: str) -> float:
        """A figure; a percentage is its share, and minus infinity the logarithm of 0."""
        text = str(content).strip()
        if self.figures.is_log and text.casefold().removesuffix("inity") == "-inf":
            return -math.inf
        is_share = text.endswith("%") and not self.figures.is_log
        with suppress(InputError):
            number = number_of({"": text[:-1].rstrip() if is_share else content}, "", float, "")
            return float(number) / (100 if is_share else 1)
        raise ValueError(f"{name} holds {one_line(repr(content), 40)}, no number")

    def _logprobs(self, figures: Sequence[float]) -> list[float | None]:
        """The logarithms of probabilities, null for 0. Raises `ValueError` for such as cannot be."""
        if self.figures.is_log:
            _check_sum(sum(math.exp(min(figure, 9.0)) for figure in figures), 0.0, figures)
            return [figure if math.isfinite(figure) else None for figure in figures]
        percent = 100.0 if 95 <= sum(figures) <= 105 else 1.0
        shares = [figure / percent for figure in figures]
        _check_sum(sum(shares) if min(shares) >= 0 else -1.0, _LEAST_SUM, figures)
        return [math.log(share) if share > 0 else None for share in shares]


def _check_sum(total: float, least: float, figures: Sequence[float]) -> None:
    """Raise `ValueError` for figures whose probabilities do not add up to 1, or are below 0."""
    if not least <= total <= _MOST_SUM or max(figures) == -math.inf:
        numbers = ", ".join(f"{figure:g}" for figure in figures)
        reason = f" of options of which one is right: they add up to {total:.3g}" if total >= 0 else ""
        raise ValueError(f"{numbers} are no probabilities{reason}")


def _orders(options: Sequence[str], is_truth: bool) -> list[tuple[list[str], bool]]:
    """What the options may be called, in their order, and whether that is their texts."""
    n = len(options)
    texts = [[option.casefold() for option in options], [*map(folded, options)]]
    labels = [[label(k).casefold() for k in range(n)], *([str(k + m) for k in range(n)] for m in (0, 1))]
    labels += [["yes", "no"]] * is_truth
    return [*((names, True) for names in texts), *((names, False) for names in labels)]


def _in_order(
    figures: Mapping[str, float], options: Sequence[str], is_truth: bool
) -> tuple[list[float], bool]:
    """The figures in the order of the options, and whether by their texts. Raises `ValueError` for others."""
    names = {name.casefold(): figure for name, figure in figures.items()}
    for order, by_text in _orders(options, is_truth):
        if names.keys() == {*order} and len(names) == len(options):
            return [names[name] for name in order], by_text
    raise ValueError(
        f"figures for {len(figures)} options ({', '.join(figures)}), and the question has {len(options)}"
    )


def _is_blank(content: Any) -> bool:
    return content is None or str(content).strip().casefold() in _BLANK
