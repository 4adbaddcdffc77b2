"""Numbers and counts as sentences write them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from vivavoce.core.numbers import printed
from vivavoce.core.records import Criterion
from vivavoce.core.text import count as count
from vivavoce.stats import enough_groups

HEADLINES = ("mean", "pooled")
"""The views that an estimate always has; each criterion has one of them."""


MOST_NAMES = 3
"""Names of candidates that a sentence gives; of more it counts the rest."""


def number(value: float, criterion: Criterion) -> str:
    """A number for a sentence: two decimals, three on a scale up to 1 wide, three digits without limits."""
    if criterion.low is None or criterion.high is None:
        return _digits(value)
    return printed(value, ".2f" if criterion.high - criterion.low > 1 else ".3f")


def plain(value: float) -> str:
    """A number that the user gave, as they gave it."""
    return f"{value:g}"


def _digits(value: float) -> str:
    """Three significant digits, as people write them: 0.0123, 1.23, 12,300, 2.31 × 10^11."""
    if value and math.isfinite(value) and not 1e-4 <= abs(value) < 999_500:
        digits, _, power = printed(value, ".2e").partition("e")
        return f"{digits} × 10^{int(power)}"
    text = printed(value, ".3g")
    return f"{float(text):,.0f}" if "e+" in text else text


def factor(value: float) -> str:
    """A difference of logarithms as the ratio it stands for.

    Three digits; near 1 as many as show the distance from it, so that neither 1.05 nor 1.001 is 1.
    """
    if abs(value) > 700:  # exp(710) is no float
        power = math.floor(value / math.log(10))
        return f"{printed(math.exp(value - power * math.log(10)))} × 10^{power}"
    distance = abs(math.expm1(value))
    if 1e-6 < distance < 0.1:
        return f"{math.exp(value):.{1 - math.floor(math.log10(distance))}f}".rstrip("0")
    return _digits(math.exp(value))


def percent(share: float) -> str:
    """A share of 1 in whole percent: `87 %`."""
    return f"{printed(100 * share, '.0f')} %"


def missing_words(counts: Mapping[str, int], unit: str) -> str:
    """How many answers or scores are in each state: `24 scores unanswered, 13 unreadable`; "" for none."""
    states = [(state.replace("_", " "), n) for state, n in counts.items() if n]
    return ", ".join(
        f"{f'{n:,}' if place else count(n, unit)} {state}" for place, (state, n) in enumerate(states)
    )


def ordinal(n: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th."""
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def and_so(words: Iterable[str]) -> str:
    """`a, b and c`."""
    all_words = list(words)
    return " and ".join(filter(None, (", ".join(all_words[:-1]), *all_words[-1:])))


def listed(names: Sequence[str]) -> str:
    """The names, or the first of them and how many more there are."""
    if len(names) <= MOST_NAMES:
        return and_so(names)
    return f"{', '.join(names[: MOST_NAMES - 1])} and {len(names) - MOST_NAMES + 1} more"


def once(why: str, places: Sequence[tuple[str, str]]) -> str:
    """One line for measures on benchmarks, as pairs, that lack something for one reason."""
    names, benchmarks = (list(dict.fromkeys(part)) for part in zip(*places, strict=True))
    subject = and_so(names) if len(names) <= 3 else count(len(names), "measure")
    place = and_so(benchmarks) if len(benchmarks) <= 8 else count(len(benchmarks), "benchmark")
    return f"{subject} on {place}: {why}."


def depends_on(what: str, names: Sequence[str], n_failed: int) -> str:
    """The sentence that something of these candidates, such as the rank, depends on the failed scores."""
    single = len(names) == 1
    return (
        f"The {what}{'' if single else 's'} of {and_so(names)} depend{'s' if single else ''} on the "
        f"{count(n_failed, 'score')} that failed: score {'it' if n_failed == 1 else 'them'} again before "
        "deciding."
    )


def cases(n_groups: int | None, effective: float | None) -> str:
    """`42 cases`; `12 cases, 2.1 effective` where they differ by more than a tenth."""
    return count(n_groups or 0, "case") + uneven(n_groups, effective)


def uneven(n_groups: int | None, effective: float | None) -> str:
    """`, 2.1 effective` where cases of unequal size tell less by more than a tenth; else nothing."""
    if effective is None or n_groups is None or effective >= 0.9 * n_groups:
        return ""
    return f", {effective:.3g} effective"


def few_cases(effective: float | None) -> str:
    """`, few cases` where fewer than 10 effective ones carry no verdict; else nothing."""
    return ", few cases" if effective is not None and not enough_groups(effective) else ""


def sampled(items: pl.DataFrame) -> tuple[str, ...]:
    """A sentence for each benchmark with a sample of its items: how many of how many were asked."""
    if "weight" not in items.columns:
        return ()
    by_benchmark = (
        items.group_by("benchmark", maintain_order=True)
        .agg(n=pl.len(), of=pl.col("weight").sum(), some=(pl.col("weight") != 1).any())
        .filter("some")
    )
    return tuple(
        f"Of {benchmark} a sample was asked, {n:,} of {round(of):,} questions; each counts for as many as it "
        "stands for."
        for benchmark, n, of, _ in by_benchmark.iter_rows()
    )


def by_view(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Estimates for tables: outside the headline views, the criterion also names its view."""
    return [
        {**row, "criterion": row["criterion"] + ("" if row["view"] in HEADLINES else f", {row['view']}")}
        for row in rows
    ]
