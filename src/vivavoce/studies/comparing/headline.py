"""A stored verdict as a headline: both names, by how much in percentage points or units, the interval.

Nothing is tested again: a headline says what `verdicts` found, of one pair or of a leader among many. It is
one line of at most `LONGEST_HEADLINE` characters without a semicolon, and the same wherever it is shown.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.core.group_levels import scope_of_all
from vivavoce.core.measure_names import measure_name
from vivavoce.core.numbers import printed
from vivavoce.core.records import Criterion, Measure
from vivavoce.core.short_names import LONGEST_NAME, Name, short_names
from vivavoce.core.text import one_line
from vivavoce.studies.bounded import Bounded
from vivavoce.studies.comparing.outcome_words import are_people, comparative, is_or_are, side_of
from vivavoce.studies.comparing.verdicts import DIFFERENT, permutation
from vivavoce.studies.overall_design import OVERALL
from vivavoce.studies.pooling import is_geometric, on_log_scale
from vivavoce.studies.scale import PEOPLE, by_scale, opening_of, phrase_of, scale_of_row
from vivavoce.studies.text import MOST_NAMES, and_so, count, factor, listed, number, plain

LONGEST_HEADLINE = 200
NAME_WIDTHS = (LONGEST_NAME, 32, 24, 16, 12)
"""How long names may be: the first of these with which a headline fits."""
Row = Mapping[str, Any]


class Unit(NamedTuple):
    """How a headline writes the figures of a criterion: those of a scale from 0 to 1 in percent."""

    criterion: Criterion

    @property
    def is_share(self) -> bool:
        """Whether the scale is 0 to 1."""
        return (self.criterion.low, self.criterion.high) == (0, 1)

    def figure(self, value: float) -> str:
        """A value or a difference without its unit, with a minus sign that is one."""
        text = printed(100 * value, ".1f") if self.is_share else number(value, self.criterion)
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


def fitting_headline(write: Callable[[Name], Sequence[str]], names: Sequence[str], scope: str = "") -> str:
    """The sentences that `write` makes with short `names`, in at most `LONGEST_HEADLINE` characters.

    Names are cut as far as it takes. What does not fit even then is left out, and the last sentence says so.
    The sentence `scope` comes last and is never left out.
    """
    if scope:
        return f"{_fitting(write, names, LONGEST_HEADLINE - len(scope) - 1)} {scope}"
    return _fitting(write, names, LONGEST_HEADLINE)


def _fitting(write: Callable[[Name], Sequence[str]], names: Sequence[str], longest: int) -> str:
    for width in NAME_WIDTHS:
        sentences = write(short_names(names, width))
        # Names give way before sentences do.
        if len(line := " ".join(sentences)) <= longest:
            return line
    while len(sentences) > 1 and len(" ".join([*sentences, MORE])) > longest:
        sentences = sentences[:-1]
    line = one_line(sentences[0], longest - len(MORE) - 1)
    return " ".join([line, *sentences[1:], MORE])


MORE = "More is below."


def comparison_headline(
    rows: Sequence[Row], criterion: Criterion, *, order: Sequence[str] = (), absent: Sequence[str] = ()
) -> str:
    """The verdicts of a comparison in one line: on its pair, or on its first candidate and the others.

    `order` are the candidates with the best first, by default as the rows name them; `absent` were not
    compared with the first. Rows about several criteria or benchmarks, or without a candidate in common, are
    counted by their verdicts; else `criterion` is theirs. Empty without rows.
    """
    if not rows:
        return ""
    names, unit = names_in_order(rows, order), Unit(criterion)
    scope = scope_of_rows(rows)
    if len(rows) == 1 and not absent:
        return fitting_headline(lambda name: [pair_headline(rows[0], unit, name)], names, scope)
    leader, n_pairs = names[0], len({frozenset((row["a"], row["b"])) for row in rows})
    # One pair by several measures: no figure is of all of them.
    if n_pairs == 1 and len(rows) > 1:
        return fitting_headline(lambda name: _counts_of_measures(rows, name), names, scope)
    opponents = _by_opponent(rows, leader)
    # Without a candidate in all pairs nobody leads.
    if n_pairs < len(rows) or len(opponents) < len(names) - 1:
        return f"{_count_of_pairs(rows)} {scope}".rstrip()
    pairs = [opponents[name] for name in names[1:]]
    return fitting_headline(
        lambda name: leader_sentences(leader, pairs, absent, unit, name), [*names, *absent], scope
    )


def scope_of_rows(rows: Sequence[Row]) -> str:
    """The sentence on which groups alone the verdicts hold for, if one is of all rows."""
    return scope_of_all(row.get("scope") for row in rows)


def _by_opponent(rows: Sequence[Row], candidate: str) -> dict[str, Row]:
    """The pairs of a candidate by the other one."""
    return {_opponent(row, candidate): row for row in rows if candidate in (row["a"], row["b"])}


def names_in_order(rows: Sequence[Row], order: Sequence[str]) -> list[str]:
    """The candidates of these rows: those of `order` in it, then the others as the rows name them."""
    named = dict.fromkeys(name for row in rows for name in (row["a"], row["b"]))
    return list(dict.fromkeys([*(name for name in order if name in named), *named]))


def row_criterion(row: Row, measures: Iterable[Measure]) -> Criterion:
    """The criterion of an estimate or a comparison, as its measure declares it.

    All overalls have one; of a measure that is not there it is a scale without limits.
    """
    key = (row["signature"], row["criterion"], row["rater"] or "")
    for measure in measures:
        if (measure.signature, measure.criterion.criterion, measure.rater) == key:
            return measure.criterion
    if row["metric"] == OVERALL:
        return Criterion(criterion=OVERALL)
    return Criterion(criterion=row["criterion"], low=None, high=None)


def verdict_interval(row: Row) -> tuple[float | None, float | None, bool]:
    """The ends of the interval that goes with a verdict, and whether it is the pair's own.

    It holds for all comparisons of a call together. Where Holm's step decided and that wider one still holds
    0, it is the pair's own, so that no interval beside "better" holds 0.
    """
    family_ends = Bounded(row["difference"], row["low_family"], row["high_family"])
    if row["verdict_code"] in DIFFERENT and family_ends.holds_zero:
        return row["low"], row["high"], True
    return family_ends.low, family_ends.high, False


def _count_of_pairs(rows: Sequence[Row]) -> str:
    """How many of many comparisons show that a candidate, or people under a help, are better, and so on."""
    noun = "group" if are_people(rows[0]["a"]) else "candidate"
    words = [comparative(row["verdict_code"], row["signature"]) for row in rows]
    effects = Counter(word for row, word in zip(rows, words, strict=True) if row["verdict_code"] in DIFFERENT)
    if not effects:
        claim = f"a {words[0]} {noun}" if len({row["signature"] for row in rows}) == 1 else "a difference"
        return f"Of {len(rows)} comparisons none shows {claim}."
    parts = [f"{n} {'show' if n > 1 else 'shows'} a {word} {noun}" for word, n in effects.items()]
    return f"Of {len(rows)} comparisons {and_so(parts)}."


def _counts_of_measures(rows: Sequence[Row], name: Name) -> list[str]:
    """By how many measures, and by which, each of two candidates is better than the other, or faster."""
    by_claim: dict[str, list[Row]] = {}
    for row in rows:
        if row["verdict_code"] in DIFFERENT and (side := side_of(row)):
            winner = str(row[side])
            claim = f"{_better_than(row, name(winner))} {name(_opponent(row, winner))}"
            by_claim.setdefault(claim, []).append(row)
    if not by_claim:
        a, b = name(rows[0]["a"]), name(rows[0]["b"])
        return [f"No significant difference between {a} and {b} by any of {len(rows)} measures."]
    return [
        f"{claim} by {len(part)} of {len(rows)} measures ({listed(_measure_names(part, rows))})."
        for claim, part in by_claim.items()
    ]


def _measure_names(rows: Sequence[Row], compared: Sequence[Row]) -> list[str]:
    """The measures of these rows, in the fewest words that tell all measures from each other."""
    ways = [(is_whole, is_placed) for is_placed in (False, True) for is_whole in (False, True)]
    for is_whole, is_placed in ways:
        if len({_measure(row, is_whole, is_placed) for row in compared}) == len(compared):
            break
    return [_measure(row, is_whole, is_placed) for row in rows]


def _measure(row: Row, is_whole: bool, is_placed: bool) -> str:
    """The measure of a row: its criterion or the whole name, and where it is placed."""
    name = measure_name(row["metric"], row["criterion"], row["rater"] or "") if is_whole else row["criterion"]
    return f"{name} on {row['benchmark']}" if is_placed else str(name)


def pair_headline(row: Row, unit: Unit, name: Name, *, is_short: bool = False) -> str:
    """The verdict on two candidates as one sentence; a short one has no interval."""
    first, second = _names_by_side(row)
    a, b, margin = name(first), name(second), unit.margin(row["margin"])
    difference = "" if is_short else _difference(row, unit, name)
    match row["verdict_code"]:
        case "better" | "better_by_margin" | "higher" | "higher_by_margin":
            amount, matters = difference_words(row, unit), _matters(row, unit, is_short=is_short)
            amount = amount.partition(" (")[0] if is_short else amount
            return f"{_better_than(row, a)} {b} by {amount}{matters}."
        case "equivalent":
            return f"{_scale(row)}{a} and {b} are equivalent within {margin}{difference}."
        case "not_worse":
            bound = f"by more than {margin}, and was not shown to be better"
            claim = f"{_scale(row)}{a} {is_or_are(first)} not worse than {b}"
            return f"{claim} {bound}{difference}."
        case "cannot_tell":
            scale = phrase_of(scale_of_row(row))
            claim = f"No significant difference between {a} and {b}{' ' if scale else ''}{scale}"
            return f"{claim}{difference}."
        case "incomparable" | None:
            reason = str(row["reason"] or "no reason is stored").replace(";", ",")
            return f"{a} and {b} cannot be compared: {reason}."
    return f"{a} and {b}: {_verdict_words(row)}"


def _names_by_side(row: Row) -> tuple[str, str]:
    """Both names, first that of whom the verdict is on the side."""
    return (row["b"], row["a"]) if side_of(row) == "b" else (row["a"], row["b"])


def _verdict_words(row: Row) -> str:
    """The stored verdict behind a colon; its scope is said once, at the end of the headline."""
    words = str(row["verdict"]).removesuffix(row.get("scope") or "").rstrip().replace(";", ",")
    return words[:1].lower() + words[1:]


def leader_sentences(
    leader: str, rows: Sequence[Row], absent: Sequence[str], unit: Unit, name: Name
) -> list[str]:
    """The verdicts on a leader and each of the others as sentences, none of which joins two scales.

    `rows` are its pairs, the next best first; `absent` were not compared with it.
    """
    n, parts = len(rows) + len(absent), by_scale(rows)
    sentences: list[str] = []
    for part in sorted(parts, key=lambda part: scale_of_row(part[0]) != PEOPLE):
        sentences += _sentences_of_scale(leader, part, n, unit, name, is_only=len(parts) == 1)
    if absent:
        words = _clause("absent", sentences, name(leader), listed([*map(name, absent)]), "")
        sentences.append(_as_sentence(words, [leader], name))
    return sentences


def _sentences_of_scale(
    leader: str, rows: Sequence[Row], n: int, unit: Unit, name: Name, *, is_only: bool
) -> list[str]:
    """The verdicts on a leader and those of all `n` others whose pairs are on one scale.

    A claim that somebody is better names its scale itself. Any other has it in front, but for those that
    follow another where it `is_only` one.
    """
    better = _won(leader, rows)
    sentences = [f"{_better(leader, better, n, unit, name)}."] if better else []
    for code, part in _by_code(leader, [row for row in rows if row not in better]).items():
        names = listed([name(_opponent(row, leader)) for row in part])
        margin, verb = unit.margin(part[0]["margin"]), is_or_are(*(_opponent(row, leader) for row in part))
        words = _clause(code, sentences, name(leader), names, margin, verb)
        opening = "" if sentences and is_only else _scale(rows[0])
        starts = [leader, *(_opponent(row, leader) for row in part)]
        sentences.append(_as_sentence(f"{opening}{words}", starts, name))
    return sentences


def _won(leader: str, rows: Sequence[Row]) -> list[Row]:
    """The pairs whose verdict is for the leader."""
    return [row for row in rows if row["verdict_code"] in DIFFERENT and _favours(row, leader)]


def _as_sentence(words: str, candidates: Sequence[str], name: Name) -> str:
    """The words with a full stop; our own begin with a capital, a candidate's name stays as it is written."""
    is_name = words.startswith(tuple(map(name, candidates)))
    return f"{words}." if is_name else f"{words[0].upper()}{words[1:]}."


def _clause(
    code: str, sentences: Sequence[str], leader: str, names: str, margin: str, verb: str = "is"
) -> str:
    """What was found of the leader and these candidates; the first sentence names it, the others say `it`."""
    return _OPEN[code].format(it="it" if sentences else leader, names=names, margin=margin, verb=verb)


def _by_code(leader: str, rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The pairs of a leader by their verdict from its side."""
    by_code: dict[str, list[Row]] = {}
    for row in rows:
        by_code.setdefault(_code(row, leader), []).append(row)
    return by_code


_OPEN = {
    "cannot_tell": "no significant difference between {it} and {names}",
    "too_few": "too few different cases between {it} and {names}",
    "depends": "missing scores could reverse the result between {it} and {names}",
    "incomparable": "{it} cannot be compared with {names}",
    "equivalent": "{it} is equivalent to {names} within {margin}",
    "not_worse": "{it} is not worse than {names} by more than {margin}",
    "not_better": "{it} is not better than {names} by more than {margin}",
    "worse": "tests put {names} above {it}",
    "faster": "{names} {verb} faster than {it}",
    "more confident": "{names} {verb} more confident than {it}",
    "absent": "{it} was not compared with {names}",
}


def _code(row: Row, leader: str) -> str:
    """The verdict from the side of a leader that is not better."""
    code = str(row["verdict_code"] or "incomparable")
    if code in DIFFERENT:
        word = comparative(row["verdict_code"], row.get("signature"))
        return "worse" if word == "better" else word
    return "not_better" if code == "not_worse" and not _favours(row, leader) else code


def _better(leader: str, rows: Sequence[Row], n: int, unit: Unit, name: Name) -> str:
    """That the leader is better than these of all `n` others, and by how much."""
    claim, preposition = _better_than(rows[0], name(leader)), "to" if rows[0]["judge_alone"] else "than"
    gains = [
        f"{name(_opponent(row, leader))} by {difference_words(row, unit, again=row is not rows[0])}"
        for row in rows
    ]
    if len(rows) < MOST_NAMES:
        return f"{claim} {f' and {preposition} '.join(gains)}"
    if len(rows) == n:
        return f"{claim} all {n} others, {preposition} the next, {gains[0]}"
    return f"{claim} {gains[0]}, and {preposition} {count(len(rows) - 1, 'other')}"


def _favours(row: Row, candidate: str) -> bool:
    side = side_of(row)
    return side is not None and row[side] == candidate


def _opponent(row: Row, candidate: str) -> str:
    return str(row["b"] if row["a"] == candidate else row["a"])


def _scale(row: Row) -> str:
    return opening_of(scale_of_row(row))


def _better_than(row: Row, a: str) -> str:
    """That a candidate is better. A judge may be kinder to one of them, so alone it shows a preference."""
    if row["judge_alone"]:
        return f"The judge prefers {a} to"
    word = comparative(row["verdict_code"], row.get("signature"))
    return f"{_scale(row)}{a} {is_or_are(str(row[side_of(row) or 'a']))} {word} than"


def difference_words(row: Row, unit: Unit, *, again: bool = False) -> str:
    """The difference as the better candidate sees it, with its interval, or p where there is none.

    Said `again`, it has no unit.
    """
    log, sign = on_log_scale(unit.criterion), _sign(row, unit.criterion)
    lower = unit.criterion.direction == "lower" and not is_geometric(unit.criterion)
    write = factor if log else unit.figure
    difference, certainty = sign * (row["difference"] or 0.0), _certainty(row, sign, write)
    if again:
        return f"{write(difference)} ({certainty})"
    amount = f"a factor of {factor(difference)}" if log else unit.amount(difference)
    return f"{amount} ({certainty}{', lower is better' if lower else ''})"


def _sign(row: Row, criterion: Criterion) -> int:
    """1 or -1, as an amount of "better" is the difference or its negative."""
    # Where lower is better the winner's difference is below 0: an amount of "better" bears no minus. A figure
    # on the log scale is a factor, of times how many times faster.
    is_turned = criterion.direction == "lower" and (is_geometric(criterion) or not on_log_scale(criterion))
    return -1 if (side_of(row) == "b") is not is_turned else 1


def _certainty(row: Row, sign: int, write: Callable[[float], str]) -> str:
    """The interval of a difference, or its p where there is none."""
    low, high, alone = verdict_interval(row)
    if low is not None and high is not None:
        note = " for this pair alone" if alone else ""
        return " to ".join(write(end) for end in sorted((sign * low, sign * high))) + note
    return _without_interval(row)


def _without_interval(row: Row) -> str:
    p = row["p_adjusted"]
    test = permutation(row.get("test"))
    return "without an interval" if p is None else f"p = {p:.2g}, {test}"


def _difference(row: Row, unit: Unit, name: Name) -> str:
    """The difference of a pair without a winner, and its interval."""
    d, low, high = row["difference"], row["low_family"], row["high_family"]
    if d is None or on_log_scale(unit.criterion):
        return ""
    ends = _without_interval(row)
    if low is not None and high is not None:
        ends = f"{unit.figure(low)} to {unit.figure(high)}"
    return f": {name(row['a'])} less {name(row['b'])} is {unit.amount(d)} ({ends})"


def _matters(row: Row, unit: Unit, *, is_short: bool) -> str:
    """Whether the difference matters, where a margin says what does."""
    if row["margin"] is None:
        return ""
    important = f"{'you called' if row['margin_source'] == '--margin' else 'the metric calls'} important"
    if row["verdict_code"] in ("better_by_margin", "higher_by_margin"):
        if is_short:
            return f", more than {important}"
        return f", and by more than the {unit.margin(row['margin']).removeprefix('a ')} {important}"
    less = f"the {unit.margin(row['margin']).removeprefix('a ')} " if on_log_scale(unit.criterion) else ""
    if f" The difference is smaller than {less}{important}." in str(row["verdict"]):
        return f", less than {less}{important}"
    return ", and whether it matters is open" if str(row["verdict"]).endswith(" matters is open.") else ""
