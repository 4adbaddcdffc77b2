"""Contamination: signs that a candidate has read the exam, from tests that need none of its training data.

All of them can show that something was memorised and none that nothing was: a paraphrase, a translation or an
answer key by itself leaves no trace here. A figure says nothing alone. It is compared with what it would be
without memory, and only a difference that chance does not make is called consistent with memorisation.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from vivavoce import stats
from vivavoce.core.errors import SelectionError
from vivavoce.core.numbers import printed
from vivavoce.core.records import Finding, ModelCard
from vivavoce.core.registry import study
from vivavoce.studies.contamination.signals import PLACEBO, REWRITTEN, OtherWords, Signal, signals
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.row_parts import distinct, select_rows
from vivavoce.studies.score_matrix import key_of, labels
from vivavoce.studies.score_table import ScoreTable
from vivavoce.studies.study import MeasureRow, Study, measure_columns
from vivavoce.studies.text import count, factor, number

CONSISTENT, DIFFERENT, NO_SIGN, CANNOT_TELL = (
    "consistent with memorisation",
    "stands out from the others",
    "no sign",
    "cannot tell",
)
"""The words of a test. Standing out from the others is less: a larger or a newer model does so too."""
PEOPLE = "people"
"""The author of rewordings whose words are nobody's own."""
BEFORE, AFTER, UNKNOWN = "may have been read", "came after the cutoff", "not known"
"""The words of the dates: the month of the cutoff counts as before it."""

NOTHING = (
    "Nothing here was asked that shows training data: `viva collect RUN BENCH --model hf/… --for "
    'second_half`, `--for "options(rotate=true)"` or `--for "canary(text=…)"`, then `viva score` with the '
    "same metrics."
)
ALWAYS = (
    "No sign is no clean bill: a paraphrase, a translation, or answers learnt without their questions leave "
    "no trace in any of these."
)
LIMITS = {
    "second_half": "Verbatim text may be set phrases, and larger or newer models go on better with any text: "
    f"hold the figures against questions in other words (variants {REWRITTEN!r}), other candidates, and "
    "questions written after the cutoff. Candidates are held against each other by bits per byte alone: "
    "shares are of tokens, of which each has its own.",
    REWRITTEN: "Against other words, a candidate's difference is told less the mean of the other candidates' "
    "(bits as factors): a rewording that is harder is harder for all. Where all have read the exam, nothing "
    "is left to find, and where some have, they hide it in each other.",
    PLACEBO: "Against a set that none can have read, what other words do there is taken off: that holds if "
    "the same author put both sets in other words.",
    "option_order": "The gap for the published order is the mean over the places of the key, each counting "
    "alike, so that a preference for places cancels. Other habits with the published order, such as one for "
    "options that stand by size, do not.",
    "canary": "A canary that is known shows that some text with it was read, perhaps one that only quotes "
    "it, and not that questions were; one that is not known, that this text was not learnt.",
    "dates": "A question may be older than its exam, and a model may be tuned later than its maker states: "
    "the dates say what is possible, no more.",
}
_AGAINST_TEXTS = {
    REWRITTEN: "the same in other words",
    PLACEBO: "the same in other words and a set that none can have read",
    "others": "the other candidates",
    "other orders": "other orders of the options",
    "decoys": "its decoys",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContaminationRow(MeasureRow):
    """One figure of one candidate, and what it is compared `against`."""

    candidate: str
    probe: str
    against: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    low_family: float | None = None
    high_family: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    n_tests: int | None = None
    mde_family: float | None = None
    n_items: int | None = None
    n_groups: int | None = None
    n_different: int | None = None
    n_decoys: int | None = None
    n_failed: int | None = None
    cutoff: str | None = None
    released: str | None = None
    verdict: str | None = None
    reason: str | None = None


MEMORY = NamingSentence(
    code="contamination.memory",
    templates=(
        "{subject}, {candidate}, against {other}: {figure}): consistent with memorisation.",
        "{subject}: {n} are at least as likely ({p}): consistent with memorisation.",
    ),
    names=("candidate", "metric"),
    family="all tests of the call",
    correction="Holm",
    null="memorisation",
)
STANDS_OUT = NamingSentence(
    code="contamination.stands_out",
    templates=("{subject}, {candidate}, against {other}: {figure}): stands out from the others.",),
    names=("candidate", "metric"),
    family="all tests of the call",
    correction="Holm",
    null="memorisation",
)


@study("contamination")
class Contamination(Study):
    """Signs that items were memorised."""

    about = (
        "Signs that a candidate has seen the benchmark: second halves continued, option order, canary "
        "and dates; finding none does not show that it has not."
    )
    row = ContaminationRow
    sentences = (MEMORY, STANDS_OUT)
    special = True
    needs = ("cards", "any_tokeniser")
    cards: Path | None = None
    reworded_by: str | None = None
    placebo: str | None = None

    def findings(self, scores: ScoreTable) -> Finding:
        """Rows by benchmark, `probe` and candidate; all that it is held `against` has its own row.

        `second_half`: the share of a second half that greedy decoding reproduces, and bits per byte. Bits,
        not shares of tokens, are held against the mean of the other candidates. Against the variants
        `rewritten` of the same questions both are, paired by case: as the candidate's difference (of shares,
        or of natural logarithms of bits) less the mean difference of the others. A candidate without others
        has the difference, its interval and no test: the rewording may be harder. So has everybody while
        nobody says who wrote the rewordings, since a model's own words are easier for its family:
        `reworded_by` is "people", or the model or family (of `scores.cards`), whose candidates then have no
        test and are no others. With `placebo`, a benchmark that no candidate can have read and that the same
        author reworded, the difference there is taken off (`against` "placebo", by Welch's t) and everybody
        is tested. `option_order`: accuracy in the published order less the mean of the other rotations, first
        by the place of the key there, all places then counting alike; questions of a number of options of
        which a place has fewer than 5 cases are left out. `canary`: the share of decoys that are at least as
        likely, p = (that many + 1) / (decoys + 1). `dates`: months from the benchmark's release to the
        candidate's cutoff, of `scores.cards` and `scores.released`; both are needed.

        `low` to `high` is the 95 % interval. p is by Holm, `low_family` to `high_family` by Bonferroni over
        the `n_tests` of the call. `verdict` of a test: "consistent with memorisation" ("stands out from the
        others" against candidates, and of shares of tokens) where the adjusted p is at most .05 and the
        interval excludes chance on the side of memory; "cannot tell" where there is nothing to hold it
        against, fewer than 10 cases, or no outcome could have shown anything; else "no sign". Figures held
        against nothing have no verdict. Without a probe, rows are only those of known dates.

        Raises `SelectionError` for a `placebo` that is no benchmark of the scores, and for a `reworded_by`
        that is no candidate, no model with a card and no family.
        """
        of_candidates = (pl.col("role") == "candidate") & (pl.col("edit") == "")
        candidates = select_rows(scores.scores, of_candidates)
        words = OtherWords(self._unfit(candidates, scores.cards or {}), self._placebo(candidates))
        all_signals = list(signals(candidates, scores.measures, words))
        rows = _signal_rows(all_signals)
        sentences = list(_sentences(all_signals, rows, labels(scores.measures)))
        places = sorted(distinct(candidates, "benchmark", "candidate").iter_rows())
        dates = [
            _date_row(benchmark, candidate, scores.cards or {}, scores.released)
            for benchmark, candidate in places
        ]
        if rows or any(row.value is not None for row in dates):
            rows += dates
            sentences += _date_sentences(dates)
        if not rows:
            return self.finding((), NOTHING)
        return self.finding(rows, "\n".join(sentences), (ALWAYS, *_notes(rows)))

    def _placebo(self, candidates: pl.DataFrame) -> str | None:
        """The placebo benchmark, which the scores hold."""
        benchmarks = sorted(candidates["benchmark"].unique())
        if self.placebo is None or self.placebo in benchmarks or not benchmarks:
            return self.placebo
        raise SelectionError(
            f"placebo={self.placebo}: the run has no scores on a benchmark of this name; name one of "
            f"{', '.join(benchmarks)}."
        )

    def _unfit(self, candidates: pl.DataFrame, cards: Mapping[str, ModelCard]) -> dict[str, str] | None:
        """The candidates whose family wrote the rewordings, or may have, with the reason."""
        author = self.reworded_by
        if author is None:
            return None
        if author == PEOPLE:
            return {}
        names = sorted(candidates["candidate"].unique())
        families = {card.family.casefold() for card in cards.values() if card.family}
        if author not in (*cards, *names) and author.casefold() not in families:
            raise SelectionError(
                f"reworded_by={author}: no candidate, no family and no model with a card has this name; say "
                f"{PEOPLE}, or add its card (--cards)."
            )
        reasons = {name: _why_unfit(name, author, cards) for name in names}
        return {name: reason for name, reason in reasons.items() if reason}


def _why_unfit(name: str, author: str, cards: Mapping[str, ModelCard]) -> str | None:
    """Why a candidate may meet words of its own; null where it does not."""
    family, author_family = ((cards[model].family if model in cards else None) for model in (name, author))
    if name == author or (family and family.casefold() == (author_family or author).casefold()):
        return f"{author} wrote the other words, and its family takes them with less effort"
    return f"its family is not known, and {author} wrote the other words (--cards)" if not family else None


def _signal_rows(all_signals: Sequence[Signal]) -> list[ContaminationRow]:
    """A row per signal, p adjusted over all that have one."""
    # Figures without a test stay out of the family, where they would only cost power.
    p = [signal.p for signal in all_signals if signal.p is not None]
    adjusted = iter(stats.holm(p).tolist())
    return [_row(signal, next(adjusted) if signal.p is not None else None, len(p)) for signal in all_signals]


def _row(signal: Signal, p_adjusted: float | None, n_tests: int) -> ContaminationRow:
    tested = signal.p is not None
    row = ContaminationRow(
        benchmark=signal.benchmark,
        **measure_columns(signal.measure),
        candidate=signal.candidate,
        probe=signal.probe,
        against=signal.against,
        value=signal.value,
        p=signal.p,
        p_adjusted=p_adjusted,
        n_tests=n_tests if tested else None,
        n_items=signal.n_items,
        n_groups=signal.n_groups,
        n_decoys=signal.n_decoys,
        n_failed=signal.n_failed,
        reason=signal.reason,
    )
    if signal.interval:
        row = replace(row, low=signal.interval[0], high=signal.interval[1])
    comparison = signal.comparison
    if comparison:
        low, high = _own_direction(signal, comparison.interval())
        row = replace(row, low=low, high=high)
    if comparison and tested:
        level = stats.bonferroni_level(0.95, n_tests)
        low, high = _own_direction(signal, comparison.interval(level=level))
        row = replace(
            row,
            low_family=low,
            high_family=high,
            mde_family=comparison.mde(k=n_tests),
            n_different=comparison.n_different,
        )
    if signal.against:
        verdict, reason = _verdict(signal, row)
        row = replace(row, verdict=verdict, reason=signal.reason or reason)
    return row


def _own_direction(signal: Signal, interval: stats.Interval | None) -> tuple[float | None, float | None]:
    """An interval in the measure's own direction, no wider than a difference can be."""
    if interval is None:
        return None, None
    limit = math.inf
    if signal.measure.criterion.high is not None and signal.against:
        # A difference of two differences of shares may be as wide as 2, and one of two such as 4.
        limit = {REWRITTEN: 2.0, PLACEBO: 4.0}.get(signal.against, 1.0) if signal.p is not None else 1.0
    low, high = max(interval.low, -limit), min(interval.high, limit)
    return (low, high) if signal.sign > 0 else (-high, -low)


def _verdict(signal: Signal, row: ContaminationRow) -> tuple[str, str | None]:
    """The words of a test, and why there are none to be had."""
    if row.p_adjusted is None or row.n_tests is None:
        return CANNOT_TELL, None
    if signal.least is not None:
        return _decoy_verdict(signal.least, signal.n_decoys or 0, row.p_adjusted, row.n_tests)
    comparison = signal.comparison
    assert comparison is not None  # what has a p and no decoys was tested in pairs
    bound = row.low if signal.sign > 0 else row.high
    # Few cases may have no interval; beside a t test memory is named only where its interval shows it too.
    excludes_zero = comparison.test != "t" or (bound is not None and bound * signal.sign > 0)
    if row.p_adjusted <= stats.ALPHA and comparison.direction > 0 and excludes_zero:
        return (DIFFERENT if signal.weak else CONSISTENT), None
    different = comparison.n_different
    # The smallest p that sign flips of so many cases can give: all of them on one side.
    if different and comparison.test != "t" and 2 * 0.5**different * row.n_tests > stats.ALPHA:
        return CANNOT_TELL, f"{count(different, 'case')} that differ: too few for any outcome to show it"
    return NO_SIGN, None


def _decoy_verdict(least: float, n_decoys: int, p: float, n_tests: int) -> tuple[str, str | None]:
    if p <= stats.ALPHA:
        return CONSISTENT, None
    if least * n_tests <= stats.ALPHA:
        return NO_SIGN, None
    # p is at least 1 / (decoys + 1), and Holm multiplies it by the number of tests.
    needed = math.ceil(n_tests / stats.ALPHA) - 1
    return CANNOT_TELL, (
        f"{count(n_decoys, 'decoy')} cannot show it among {count(n_tests, 'test')}: {needed:,} could"
    )


def _sentences(
    all_signals: Sequence[Signal], rows: Sequence[ContaminationRow], short: Mapping[tuple[str, str, str], str]
) -> Iterator[str]:
    """A sentence for each row; rows without a figure for one reason share one."""
    lacking: dict[tuple[str, str], list[str]] = {}
    for signal, row in zip(all_signals, rows, strict=True):
        subject = f"{short[key_of(signal.measure)]} on {signal.benchmark}"
        if signal.value is not None:
            yield f"{subject}, {signal.candidate}{_figure_text(signal, signal.value, row)}"
            continue
        baseline = f", against {_AGAINST_TEXTS[signal.against]}" if signal.against else ""
        lacking.setdefault((f"{subject}{baseline}", str(row.reason)), []).append(signal.candidate)
    for (subject, reason), candidates in lacking.items():
        yield f"{subject}: {CANNOT_TELL}, {reason} ({', '.join(candidates)})."


def _figure_text(signal: Signal, value: float, row: ContaminationRow) -> str:
    """The end of a row's sentence: the figure, what it rests on, and the verdict."""
    reason = f", {row.reason}" if row.reason else ""
    if signal.probe == "canary":
        n = signal.n_decoys or 0
        return (
            f": {round(value * n):,} of {count(n, 'decoy')} are at least as likely (p {_p_text(row)}): "
            f"{row.verdict}{reason}."
        )
    basis = f"{count(signal.n_items or 0, 'question')} in {count(signal.n_groups or 0, 'case')}"
    if not signal.against:
        c = signal.measure.criterion
        interval = ""
        if row.low is not None and row.high is not None:
            interval = f" ({number(row.low, c)} to {number(row.high, c)})"
        return f": {number(value, c)}{interval}, {basis}."
    rests_on = basis if signal.p is None else f"p {_p_text(row)}; {basis}"
    return (
        f", against {_AGAINST_TEXTS[signal.against]}: {_difference_text(signal, value, row)} ({rests_on}): "
        f"{row.verdict}{reason}{_detectable_text(signal, row)}."
    )


def _difference_text(signal: Signal, value: float, row: ContaminationRow) -> str:
    low, high = (row.low, row.high) if signal.p is None else (row.low_family, row.high_family)
    times = " times as many" if signal.logs else ""
    interval = ""
    if low is not None and high is not None:
        interval = f", {_signed_text(low, signal)} to {_signed_text(high, signal)}"
    return f"{_signed_text(value, signal)}{times}{interval}"


def _detectable_text(signal: Signal, row: ContaminationRow) -> str:
    if row.verdict != NO_SIGN or not row.mde_family:
        return ""
    smallest = factor(-row.mde_family) + " times" if signal.logs else printed(row.mde_family, ".2g")
    return f"; {smallest} could have been detected (80% power)"


def _signed_text(value: float, signal: Signal) -> str:
    """A difference with its sign, three decimals; one of logarithms as a factor."""
    if signal.logs:
        return factor(value)
    return "0.000" if abs(value) < 0.0005 else printed(value, "+.3f")


def _p_text(row: ContaminationRow) -> str:
    p = row.p_adjusted or 0.0
    return "below .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def _date_row(
    benchmark: str, candidate: str, cards: Mapping[str, ModelCard], released: Mapping[str, str]
) -> ContaminationRow:
    """The row of one candidate's cutoff beside one benchmark's release."""
    card = cards.get(candidate)
    cutoff, release = card.cutoff if card else None, released.get(benchmark)
    row = ContaminationRow(
        benchmark=benchmark,
        metric="",
        criterion="",
        rater="",
        candidate=candidate,
        probe="dates",
        against="release",
        cutoff=cutoff,
        released=release,
        verdict=UNKNOWN,
    )
    if cutoff is None or release is None:
        lacking = [
            f"no {subject}" for subject, date in (("cutoff", cutoff), ("release", release)) if date is None
        ]
        return replace(row, reason=f"{' and '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} known")
    months = _months(cutoff) - _months(release)
    return replace(row, value=float(months), verdict=BEFORE if months >= 0 else AFTER)


def _months(date: str) -> int:
    """Months since the year 0 of a year and month."""
    year, month = map(int, date.split("-"))
    return 12 * year + month


def _date_sentences(rows: Sequence[ContaminationRow]) -> Iterator[str]:
    unknown: dict[tuple[str, str | None], list[str]] = {}
    for row in rows:
        if row.value is None:
            unknown.setdefault((row.benchmark, row.reason), []).append(row.candidate)
        else:
            yield (
                f"{row.benchmark} was released in {row.released}, and {row.candidate} has a cutoff "
                f"of {row.cutoff}: it {row.verdict}."
            )
    for (benchmark, reason), candidates in unknown.items():
        yield (f"Whether {benchmark} came before the cutoff: {UNKNOWN}, {reason} ({', '.join(candidates)}).")


def _notes(rows: Sequence[ContaminationRow]) -> Iterator[str]:
    n_tests = max((row.n_tests or 0 for row in rows), default=0)
    if n_tests > 1:
        yield f"{count(n_tests, 'test')} made together: p by Holm, intervals of differences by Bonferroni."
    subjects = [*(row.probe for row in rows), *(row.against for row in rows if row.n_tests)]
    yield from (LIMITS[subject] for subject in dict.fromkeys(subjects) if subject in LIMITS)
    failed = {
        (row.benchmark, row.metric, row.criterion, row.candidate): row.n_failed
        for row in rows
        if row.n_failed
    }
    if failed:
        yield f"{count(sum(failed.values()), 'score')} failed and took no part."
