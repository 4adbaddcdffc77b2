"""A stored verdict as a headline: both names, by how much in percentage points or units, the interval.

Nothing is tested again: a headline says what `verdicts` found, of one pair or of a leader among many.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.core.records import Criterion
from vivavoce.studies.comparison.verdicts import BETTER, holds_zero
from vivavoce.studies.pooling import on_log_scale
from vivavoce.studies.scale import PEOPLE, by_scale, opening_of, phrase_of, scale_of_row
from vivavoce.studies.text import and_so, count, factor, number, plain

MOST_NAMES = 3
LONGEST_NAME, END = 44, 16
Row = Mapping[str, Any]
Name = Callable[[str], str]


class Unit(NamedTuple):
    """How a headline writes the figures of a criterion: those of a scale from 0 to 1 in percent."""

    criterion: Criterion

    @property
    def is_share(self) -> bool:
        """Whether the scale is 0 to 1."""
        return (self.criterion.low, self.criterion.high) == (0, 1)

    def figure(self, value: float) -> str:
        """A value or a difference without its unit, with a minus sign that is one."""
        text = f"{100 * value:.1f}" if self.is_share else number(value, self.criterion)
        return "0.0" if text == "-0.0" else text.replace("-", "−")

    def value(self, value: float) -> str:
        """A value: `92.9 %`, `4.14`."""
        return self.figure(value) + (" %" if self.is_share else "")

    def interval(self, low: float, high: float) -> str:
        """An interval of values: `80.4 to 97.6 %`."""
        return f"{self.figure(low)} to {self.value(high)}"

    def amount(self, difference: float) -> str:
        """A difference with its unit: `16.7 percentage points`, `0.31 on the scale 0 to 5`."""
        low, high = self.criterion.low, self.criterion.high
        if self.is_share:
            return f"{self.figure(difference)} percentage points"
        scale = "" if low is None or high is None else f" on the scale {plain(low)} to {plain(high)}"
        return f"{self.figure(difference)}{scale}"

    def detectable(self, difference: float | None) -> str | None:
        """The smallest difference that would be found, with its unit; null where none on the scale would."""
        low, high = self.criterion.low, self.criterion.high
        if difference is None or (low is not None and high is not None and difference > high - low):
            return None
        log = on_log_scale(self.criterion)
        return f"a factor of {factor(difference)}" if log else self.amount(difference)

    def margin(self, margin: float | None) -> str:
        """A margin as it was set, with its unit."""
        if margin is None:
            return "the margin"
        if on_log_scale(self.criterion):
            return f"a factor of {factor(margin)}"
        # 100 * 0.07 is 7.000000000000001
        return f"{plain(round(100 * margin, 9))} percentage points" if self.is_share else plain(margin)


def short_names(candidates: Sequence[str]) -> Name:
    """What gives the name of each of these candidates on a line, a long one cut in its middle.

    Two that would be cut to the same name are told apart by their place.
    """
    cut = [_short_name(name) for name in candidates]
    alike = {name for name, short in zip(candidates, cut, strict=True) if cut.count(short) > 1}

    def name(candidate: str) -> str:
        short = _short_name(candidate)
        return f"{short} ({list(candidates).index(candidate) + 1})" if candidate in alike else short

    return name


def _short_name(name: str) -> str:
    """A name on one line, a long one without its middle: versions often differ at the end alone."""
    flat = " ".join(name.split())
    return flat if len(flat) <= LONGEST_NAME else f"{flat[: LONGEST_NAME - END - 1]}…{flat[-END:]}"


def comparison_headline(rows: Sequence[Row], criterion: Criterion) -> str | None:
    """The verdict of a comparison as one sentence: on its pair, or on its first candidate and the others.

    Null where the rows are about several criteria or benchmarks, or about no candidate in common.
    """
    names = list(dict.fromkeys(name for row in rows for name in (row["a"], row["b"])))
    if len({(row["a"], row["b"]) for row in rows}) < len(rows) or not rows:
        return None
    unit, name = Unit(criterion), short_names(names)
    if len(rows) == 1:
        return pair_headline(rows[0], unit, name)
    leader = names[0]
    of_leader = [row for row in rows if row["a"] == leader]
    return leader_headline(leader, of_leader, (), unit, name) if len(of_leader) == len(names) - 1 else None


def pair_headline(row: Row, unit: Unit, name: Name) -> str:
    """The verdict on two candidates as one sentence."""
    first, second = (row["b"], row["a"]) if row["favours"] == "b" else (row["a"], row["b"])
    a, b, margin = name(first), name(second), unit.margin(row["margin"])
    match row["verdict_code"]:
        case "better" | "better_by_margin":
            return f"{_better_than(row, a)} {b} by {_by(row, unit)}{_matters(row, unit)}."
        case "equivalent":
            return f"{_scale(row)}{a} and {b} are equivalent within {margin}{_difference(row, unit, name)}."
        case "not_worse":
            bound = f"by more than {margin}, and was not shown to be better"
            return f"{_scale(row)}{a} is not worse than {b} {bound}{_difference(row, unit, name)}."
        case "cannot_tell":
            scale = phrase_of(scale_of_row(row))
            claim = f"This exam cannot tell {a} and {b} apart{' ' if scale else ''}{scale}"
            return f"{claim}{_difference(row, unit, name)}."
        case "incomparable" | None:
            return f"{a} and {b} cannot be compared: {row['reason'] or 'no reason is stored'}."
    words = str(row["verdict"])
    return f"{a} and {b}: {words[:1].lower()}{words[1:]}"


def leader_headline(leader: str, rows: Sequence[Row], absent: Sequence[str], unit: Unit, name: Name) -> str:
    """The verdicts on a leader and each of the others, a sentence for each scale that pairs are on.

    `rows` are its pairs, the next best first; `absent` were not compared with it.
    """
    n = len(rows) + len(absent)
    parts = sorted(by_scale(rows), key=lambda part: scale_of_row(part[0]) != PEOPLE) or [[]]
    return " ".join(
        _leader_sentence(leader, part, absent if part is parts[-1] else (), n, unit, name) for part in parts
    )


def _leader_sentence(
    leader: str, rows: Sequence[Row], absent: Sequence[str], n: int, unit: Unit, name: Name
) -> str:
    """The verdicts on a leader and those of all `n` others whose pairs are on one scale."""
    better = _won(leader, rows)
    clauses = [_better(leader, better, n, unit, name)] if better else []
    # A claim that somebody is better names its scale itself; any other clause has it in front.
    opening = "" if better or not rows else _scale(rows[0])
    for code, part in _by_code(leader, [row for row in rows if row not in better]).items():
        names = listed([name(_opponent(row, leader)) for row in part])
        clauses.append(_clause(code, names, unit.margin(part[0]["margin"]), clauses, name(leader)))
    if absent:
        clauses.append(_clause("absent", listed([*map(name, absent)]), "", clauses, name(leader)))
    return _as_sentence(f"{opening}{'; '.join(clauses)}", name(leader))


def _won(leader: str, rows: Sequence[Row]) -> list[Row]:
    """The pairs whose verdict is for the leader."""
    return [row for row in rows if row["verdict_code"] in BETTER and _favours(row, leader)]


def _as_sentence(words: str, leader: str) -> str:
    """The words with a full stop; our own begin with a capital, a candidate's name stays as it is written."""
    return f"{words}." if words.startswith(f"{leader} ") else f"{words[0].upper()}{words[1:]}."


def _clause(code: str, names: str, margin: str, before: Sequence[str], leader: str) -> str:
    """What was found of the leader and these: the first clause names it, the others say `it`."""
    return _OPEN[code].format(it="it" if before else leader, names=names, margin=margin)


def _by_code(leader: str, rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The pairs of a leader by their verdict from its side."""
    by_code: dict[str, list[Row]] = {}
    for row in rows:
        by_code.setdefault(_code(row, leader), []).append(row)
    return by_code


_OPEN = {
    "cannot_tell": "this exam cannot tell {it} apart from {names}",
    "too_few": "there are too few different cases to say of {it} and {names}",
    "depends": "missing scores decide between {it} and {names}",
    "incomparable": "{it} cannot be compared with {names}",
    "equivalent": "{it} is equivalent to {names} within {margin}",
    "not_worse": "{it} is not worse than {names} by more than {margin}",
    "not_better": "{it} is not better than {names} by more than {margin}",
    "worse": "tests put {names} above {it}",
    "absent": "{it} was not compared with {names}",
}


def _code(row: Row, leader: str) -> str:
    """The verdict from the side of a leader that is not better."""
    code = str(row["verdict_code"] or "incomparable")
    if code in BETTER:
        return "worse"
    return "not_better" if code == "not_worse" and not _favours(row, leader) else code


def _better(leader: str, rows: Sequence[Row], n: int, unit: Unit, name: Name) -> str:
    """That the leader is better than these of all `n` others, and by how much."""
    claim, preposition = _better_than(rows[0], name(leader)), "to" if rows[0]["judge_alone"] else "than"
    gains = [f"{name(_opponent(row, leader))} by {_by(row, unit, again=row is not rows[0])}" for row in rows]
    if len(rows) < MOST_NAMES:
        return f"{claim} {f' and {preposition} '.join(gains)}"
    if len(rows) == n:
        return f"{claim} all {n} others, {preposition} the next, {gains[0]}"
    return f"{claim} {gains[0]}, and {preposition} {count(len(rows) - 1, 'other')}"


def listed(names: Sequence[str]) -> str:
    """The names, or the first of them and how many more there are."""
    if len(names) <= MOST_NAMES:
        return and_so(names)
    return f"{', '.join(names[: MOST_NAMES - 1])} and {len(names) - MOST_NAMES + 1} more"


def _favours(row: Row, candidate: str) -> bool:
    return bool(row["favours"]) and row[row["favours"]] == candidate


def _opponent(row: Row, candidate: str) -> str:
    return str(row["b"] if row["a"] == candidate else row["a"])


def _scale(row: Row) -> str:
    return opening_of(scale_of_row(row))


def _better_than(row: Row, a: str) -> str:
    """That a candidate is better. A judge may be kinder to one of them, so alone it shows a preference."""
    return f"The judge prefers {a} to" if row["judge_alone"] else f"{_scale(row)}{a} is better than"


def _by(row: Row, unit: Unit, *, again: bool = False) -> str:
    """The difference as the better candidate sees it, with its interval, or p where there is none.

    Said `again`, it has no unit.
    """
    log, lower = on_log_scale(unit.criterion), unit.criterion.direction == "lower"
    # Where lower is better the winner's difference is below 0: an amount of "better" bears no minus.
    sign = (-1 if row["favours"] == "b" else 1) * (-1 if lower and not log else 1)
    write = factor if log else unit.figure
    difference, certainty = sign * (row["difference"] or 0.0), _certainty(row, sign, write)
    if again:
        return f"{write(difference)} ({certainty})"
    amount = f"a factor of {factor(difference)}" if log else unit.amount(difference)
    return f"{amount} ({certainty}{'; lower is better' if lower else ''})"


def _certainty(row: Row, sign: int, write: Callable[[float], str]) -> str:
    """The interval of a difference, or its p where there is none."""
    low, high, note = row["low_family"], row["high_family"], ""
    # Holm's step may decide where Bonferroni's wider interval still holds 0: then the pair's own is shown.
    if holds_zero(low, high):
        low, high, note = row["low"], row["high"], " for this pair alone"
    if low is not None and high is not None:
        return " to ".join(write(end) for end in sorted((sign * low, sign * high))) + note
    return _without_interval(row)


def _without_interval(row: Row) -> str:
    p = row["p_adjusted"]
    return "without an interval" if p is None else f"p {p:.2g} by sign flips of cases"


def _difference(row: Row, unit: Unit, name: Name) -> str:
    """The difference of a pair without a winner, and its interval."""
    d, low, high = row["difference"], row["low_family"], row["high_family"]
    if d is None or on_log_scale(unit.criterion):
        return ""
    ends = _without_interval(row)
    if low is not None and high is not None:
        ends = f"{unit.figure(low)} to {unit.figure(high)}"
    return f": {name(row['a'])} less {name(row['b'])} is {unit.amount(d)} ({ends})"


def _matters(row: Row, unit: Unit) -> str:
    """Whether the difference matters, where a margin says what does."""
    if row["margin"] is None:
        return ""
    important = f"{'you called' if row['margin_source'] == '--margin' else 'the metric calls'} important"
    if row["verdict_code"] == "better_by_margin":
        return f", and by more than the {unit.margin(row['margin']).removeprefix('a ')} {important}"
    if str(row["verdict"]).endswith(f" The difference is smaller than {important}."):
        return f"; the difference is smaller than {important}"
    return "; whether it matters is open" if str(row["verdict"]).endswith(" matters is open.") else ""
