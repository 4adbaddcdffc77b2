"""The rows of the study of bias, and the sentences about them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import inf

from vivavoce import stats
from vivavoce.core.numbers import printed
from vivavoce.core.records import Measure
from vivavoce.core.short_names import Name
from vivavoce.studies.bounded import interval_text
from vivavoce.studies.comparing.headline import fitting_headline
from vivavoce.studies.study import MeasureRow
from vivavoce.studies.text import cases, count, listed, number, plain


@dataclass(frozen=True, slots=True, kw_only=True)
class BiasRow(MeasureRow):
    """One contrast of one candidate, over all types or of one."""

    candidate: str
    contrast: str
    type: str
    value: float | None = None
    partner: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    family: int | None = None
    mde: float | None = None
    mde_family: float | None = None
    n_pairs: int | None = None
    n_groups: int | None = None
    effective_cases: float | None = None
    n_different: int | None = None
    n_failed: int | None = None
    set_low: float | None = None
    set_high: float | None = None
    margin: float | None = None
    flips: float | None = None
    flips_low: float | None = None
    flips_high: float | None = None
    flips_repeats: float | None = None
    flips_excess: float | None = None
    verdict_code: str | None = None
    verdict: str | None = None
    reason: str | None = None


def criterion_width(measure: Measure) -> float:
    """Width of a criterion's range; infinite without two limits."""
    low, high = measure.criterion.low, measure.criterion.high
    return inf if low is None or high is None else high - low


_CONTRAST_TEXTS = {
    "bias": "biased against neutral sentence",
    "drop": "biased sentence against none",
    "sentence": "neutral sentence against none",
    "demographic": "{type}",
}
_WORSE_TEXTS = {
    "bias": "That is a bias.",
    "drop": "That is a drop, and how much of it is bias a neutral twin would tell.",
    "sentence": "Any added sentence costs that.",
    "demographic": "Answers differ with what the patient is said to be.",
}


def bias_sentences(rows: Sequence[BiasRow], names: Mapping[tuple[str, str, str], str]) -> Iterator[str]:
    """A sentence for each tested row, in the order of the rows; the rows with too few pairs share one."""
    many_benchmarks = len({row.benchmark for row in rows}) > 1
    tested = [row for row in rows if row.verdict_code is not None]
    for (benchmark, *name, contrast, kind), group in groupby(tested, key=_contrast_key):
        metric, criterion, rater = name
        place = f" ({benchmark})" if many_benchmarks else ""
        contrast_text = _CONTRAST_TEXTS[contrast].format(type=kind)
        subject = f"{names[metric, criterion, rater]}{place}, {contrast_text}"
        few = []
        for row in group:
            if row.verdict_code == "too_few":
                few.append(row)
            else:
                yield f"{row.candidate}, {subject}: {row.verdict}"
        if few:
            yield _few_text(few, subject)


def bias_headline(rows: Sequence[BiasRow], names: Mapping[tuple[str, str, str], str]) -> str:
    """How many of the tests show an effect, and of which candidates; empty without a test."""
    tested = [row for row in rows if row.verdict_code is not None]
    effects = [row for row in tested if row.verdict_code in ("worse", "better")]
    if not effects:
        return f"None of {count(len(tested), 'test')} shows an effect." if tested else ""
    # Those that are better count too: a neutral sentence may help.
    verb = "shows" if len(effects) == 1 else "show"

    def sentences(name: Name) -> list[str]:
        places = [
            f"{name(row.candidate)} by {names[row.metric, row.criterion, row.rater]} "
            f"({_CONTRAST_TEXTS[row.contrast].format(type=row.type)})"
            for row in effects
        ]
        return [f"{len(effects)} of {count(len(tested), 'test')} {verb} an effect: {listed(places)}."]

    return fitting_headline(sentences, [row.candidate for row in effects])


def _few_text(rows: Sequence[BiasRow], subject: str) -> str:
    if len(rows) == 1:
        return f"{rows[0].candidate}, {subject}: {rows[0].verdict}"
    # Nothing can be said of any of them, and once is enough.
    pairs = sorted({row.n_pairs or 0 for row in rows})
    n = count(pairs[0], "pair") if len(pairs) == 1 else f"{pairs[0]} to {pairs[-1]} pairs"
    return f"{subject}: {n}: too few to say of {', '.join(row.candidate for row in rows)}."


def _contrast_key(row: BiasRow) -> tuple[str, ...]:
    return row.benchmark, row.metric, row.criterion, row.rater, row.contrast, row.type


def with_verdict(row: BiasRow, measure: Measure) -> BiasRow:
    """The row with its verdict in words, if it was tested."""
    if row.verdict_code is None:
        return row
    if row.contrast == "demographic":
        return replace(row, verdict=_variance_text(row))
    text = _verdict_text(row, measure)
    if row.flips is not None:
        repeats = "how often it flips by itself is not known"
        if row.flips_repeats is not None:
            repeats = f"{printed(row.flips_repeats, '.0%')} between repeats"
        text += f" Its score flips in {printed(row.flips, '.0%')}; {repeats}."
    return replace(row, verdict=text)


def _verdict_text(row: BiasRow, measure: Measure) -> str:
    pairs = count(row.n_pairs or 0, "pair")
    detectable = _detectable_text(row.mde_family, measure)
    if row.verdict_code == "too_few":
        return f"{pairs} in {_cases(row)}, of which {row.n_different} differ: too few to say{detectable}"
    text = f"{_difference_text(row, measure)}; {pairs} in {_cases(row)}."
    match row.verdict_code:
        case "depends":
            failed = count(row.n_failed or 0, "score")
            return f"{text} It depends on {failed} that failed: score again before deciding."
        case "equivalent":
            return f"{text} It resists within {plain(row.margin or 0.0)}."
        case "worse":
            return f"{text} {_WORSE_TEXTS[row.contrast]}"
        case "better":
            return f"{text} The twin is better."
    family = row.family or 0
    adjustment = f", by Holm over {family} tests" if family > 1 else ""
    return f"{text} Nothing was shown{adjustment}{detectable}"


def _cases(row: BiasRow) -> str:
    return cases(row.n_groups, row.effective_cases)


def _difference_text(row: BiasRow, measure: Measure) -> str:
    d, c = row.difference or 0.0, measure.criterion
    if stats.rounded(d) == 0:
        size = "it stays the same on average"
    else:
        size = f"{number(abs(d), c)} {'worse' if d > 0 else 'better'}"
    if row.low is not None and row.high is not None:
        return f"{size} ({number(row.low, c)} to {number(row.high, c)}, above 0 is worse)"
    return (
        size if row.p_adjusted is None else f"{size} (p = {row.p_adjusted:.2g}, sign-flip permutation test)"
    )


def _detectable_text(effect: float | None, measure: Measure) -> str:
    """The end of a sentence: the smallest detectable effect, if a spread tells it."""
    if effect is None:
        return "."
    if effect > criterion_width(measure):
        return "; no effect that this scale allows could have been detected (80% power)."
    return f"; an effect of {number(effect, measure.criterion)} could have been detected (80% power)."


def _variance_text(row: BiasRow) -> str:
    basis = f"{count(row.n_pairs or 0, 'question')} in {_cases(row)}"
    if row.verdict_code == "too_few":
        return f"{basis}: too few to say."
    verdict = _WORSE_TEXTS["demographic"] if row.verdict_code == "worse" else "Nothing was shown."
    size = f"{printed(row.difference, '.3g')}{interval_text(row, '.3g')}"
    return f"variance beyond that of repeats {size}; {basis}. {verdict}"
