"""The sentences of a comparison. What may be said is decided in `stats.verdict`; this is how it is said.

Words that promise more than an exam can show ("significant", "no difference", "as good as", "proven", "safe")
have no place here.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vivavoce.records import Criterion
from vivavoce.stats import Verdict
from vivavoce.studies.pooling import on_log_scale

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "HEADLINES",
    "basis",
    "by_view",
    "count",
    "footnote",
    "forms_told",
    "logs_told",
    "number",
    "ordinal",
    "sampled",
    "sentence",
]

HEADLINES = ("mean", "pooled")
"""The views of an estimate that are always there; each criterion has one of them."""


def number(value: float, criterion: Criterion) -> str:
    """A figure for a sentence.

    Two decimals, three on a scale no wider than 1, three digits where a limit lacks.
    """
    if criterion.low is None or criterion.high is None:
        return _digits(value)
    said = f"{value:.{2 if criterion.high - criterion.low > 1 else 3}f}"
    return said.lstrip("-") if float(said) == 0 else said


def plain(value: float) -> str:
    """A figure the user gave, as they gave it."""
    return f"{value:g}"


def _digits(value: float) -> str:
    """Three digits that count, as people write them: 0.0123, 1.23, 12,300, 2.31 × 10^11."""
    if value and math.isfinite(value) and not 1e-4 <= abs(value) < 999_500:
        digits, _, power = f"{value:.2e}".partition("e")
        return f"{digits} × 10^{int(power)}"
    said = f"{value:.3g}"
    return f"{float(said):,.0f}" if "e+" in said else said


def factor(value: float) -> str:
    """A difference of logarithms as what it is of the figures themselves.

    Three digits; near 1 as many as show how far from it, so that neither 1.05 nor 1.001 is 1.
    """
    if abs(value) > 700:  # exp(710) is no float
        power = math.floor(value / math.log(10))
        return f"{math.exp(value - power * math.log(10)):.2f} × 10^{power}"
    apart = abs(math.expm1(value))
    if 1e-6 < apart < 0.1:
        return f"{math.exp(value):.{1 - math.floor(math.log10(apart))}f}".rstrip("0")
    return _digits(math.exp(value))


def ordinal(n: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th."""
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def count(n: int, thing: str) -> str:
    """`1 question`, `63 questions`."""
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def sampled(items: "pl.DataFrame") -> tuple[str, ...]:
    """A sentence for each benchmark of which a sample was asked: how many of how many questions."""
    import polars as pl

    if "weight" not in items.columns:
        return ()
    asked = (
        items.group_by("benchmark", maintain_order=True)
        .agg(n=pl.len(), of=pl.col("weight").sum(), some=(pl.col("weight") != 1).any())
        .filter("some")
    )
    return tuple(
        f"Of {benchmark} a sample was asked, {n:,} of {round(of):,} questions; each counts for as many as it "
        "stands for."
        for benchmark, n, of, _ in asked.iter_rows()
    )


def by_view(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Estimates for tables: the criterion of a view that is no headline bears the view's name."""
    return [
        {**row, "criterion": row["criterion"] + ("" if row["view"] in HEADLINES else f", {row['view']}")}
        for row in rows
    ]


def basis(row: Mapping[str, Any], means: tuple[float, float], criterion: Criterion) -> str:
    """What a verdict rests on: how many questions and cases, the two means, who was ahead how often."""
    out_of = f" out of {plain(criterion.high)}" if criterion.high is not None and criterion.low == 0 else ""
    ahead = "higher" if criterion.direction == "higher" else "lower (better)"
    behind = "lower" if criterion.direction == "higher" else "higher"
    return (
        f"On {count(row['n_items'], 'question')} ({count(row['n_groups'], 'case')}): {row['a']} "
        f"{number(means[0], criterion)}, "
        f"{row['b']} {number(means[1], criterion)}{out_of}; {row['a']} {ahead} in {row['wins']}, equal in "
        f"{row['ties']}, "
        f"{behind} in {row['losses']}."
    )


def sentence(row: Mapping[str, Any], verdict: Verdict, criterion: Criterion, failed: int) -> str:
    """The verdict on a row of `compare.COLUMNS`, in words that hold for the whole family."""
    a, b = (row["b"], row["a"]) if verdict.favours == "b" else (row["a"], row["b"])
    logs = on_log_scale(criterion)
    margin = row["margin"] or 0.0
    m = f"factor of {factor(margin)}" if logs else plain(margin)
    within = f"a {m}" if logs else m
    important = "you called important" if row["margin_source"] == "--margin" else "the metric calls important"
    match verdict.code:
        case "incomparable":
            return f"These two cannot be compared: {row['reason']}."
        case "depends":
            marks = "1 answer" if failed == 1 else f"{failed:,} answers"
            them = "it" if failed == 1 else "them"
            return f"It depends on the {marks} that could not be marked. Mark {them} again before deciding."
        case "too_few":
            return "Too few different cases to say."
        case "better_by_margin":
            return f"{a} is better, and by more than the {m} {important}."
        case "better":
            size = {
                "smaller": f" The difference is smaller than {important}.",
                "open": " Whether it matters is open.",
            }
            d, low, high = row["difference"], row["low_family"], row["high_family"]
            if verdict.favours == "b":  # the difference as seen from the one who is better
                d, low, high = -d, -high, -low
            if logs:
                by = f"{factor(d)} times {b}'s, {factor(low)} to {factor(high)}"
            else:
                by = f"{number(d, criterion)}, {number(low, criterion)} to {number(high, criterion)}"
            return f"{a} is better ({by}).{size.get(verdict.size or '', '')}"
        case "equivalent":
            return f"{a} and {b} are equivalent within {within}."
        case "not_worse":
            return f"{a} is not worse than {b} by more than {within}. It was not shown to be better."
    found = row["mde_family"]
    able = ""
    if found:
        least = f"a factor of {factor(found)}" if logs else f"a difference of {number(found, criterion)}"
        able = f" It would have found {least} four times in five."
    needed = (
        f" To tell {within} apart takes about {count(row['n_needed'], 'question')}."
        if row["n_needed"]
        else ""
    )
    return f"This exam cannot tell them apart.{able}{needed}"


def logs_told(criteria: Iterable[Criterion]) -> tuple[str, ...]:
    """The line on what is compared on the log scale, if anything is."""
    names = ", ".join(dict.fromkeys(c.criterion for c in criteria if on_log_scale(c)))
    if not names:
        return ()
    return (
        f"Compared on the log scale: {names}. A difference there, and a margin, is the natural logarithm "
        "of how many times the one figure is the other: 0.05 is 5 %.",
    )


def forms_told(forms: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The lines on criteria that are one number in several forms; given is each with what it is a form of."""
    by: dict[str, list[str]] = {}
    for lead, criterion in dict.fromkeys(forms):
        by.setdefault(lead, []).append(criterion)
    return tuple(
        f"{', '.join(others)} and {lead} are one number in several forms and count as 1 comparison; a margin "
        "is in the units of each."
        for lead, others in by.items()
    )


def footnote(family: int, looks: int, margin: float | None) -> str:
    """What the words were corrected for, and when the margin was set."""
    several = (
        f"{count(family, 'comparison')} made together: p by Holm, intervals in the sentences by Bonferroni"
        if family > 1
        else "1 comparison made"
    )
    earlier = "before any comparison was seen" if looks == 1 else f"after {count(looks - 1, 'earlier look')}"
    set_when = f" The margin of {plain(margin)} was set {earlier}." if margin is not None else ""
    return f"{several}. This is the {ordinal(looks)} look at this run.{set_when}"
