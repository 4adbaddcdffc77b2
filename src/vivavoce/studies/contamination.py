"""Contamination: signs that a candidate has read the exam, from probes that need none of its training data.

All of them can show that something was memorised and none that nothing was: a paraphrase, a translation or an
answer key by itself leaves no trace here. A figure says nothing alone. It is held against what it would be
without memory, and only a difference that chance does not make is called consistent with memorisation.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vivavoce import stats
from vivavoce.models.cards import ModelCard
from vivavoce.records import Finding
from vivavoce.studies import Marks
from vivavoce.studies.grids import key_of, labels
from vivavoce.studies.traces import REWRITTEN, Trace, traces
from vivavoce.studies.words import count, factor, number

__all__ = ["COLUMNS", "findings"]

COLUMNS = (
    *("benchmark", "metric", "criterion", "rater", "candidate", "probe", "against", "value", "low", "high"),
    *("low_family", "high_family", "p", "p_adjusted", "n_tests", "mde_family", "n_items", "n_groups"),
    *("n_different", "n_decoys", "n_failed", "cutoff", "released", "verdict", "reason"),
)
FOUND, APART, NONE, OPEN = (
    "consistent with memorisation",
    "stands out from the others",
    "no sign",
    "cannot tell",
)
"""The words of a test. Standing out from the others is less: a larger or a newer model does so too."""
BEFORE, AFTER, UNKNOWN = "may have been read", "came after the cutoff", "not known"
"""The words of the dates: the month of the cutoff counts as before it."""

NOTHING = (
    "Nothing here was asked that shows training data: `viva collect RUN BENCH --model hf/… --for "
    'second_half`, `--for "options(rotate=true)"` or `--for "canary(text=…)"`, then `viva score` with the '
    "same metrics."
)
_ALWAYS = (
    "No sign is no clean bill: a paraphrase, a translation, or answers learnt without their questions leave "
    "no trace in any of these."
)
_LIMITS = {
    "second_half": "Verbatim text may be set phrases, and larger or newer models go on better with any text: "
    f"hold the figures against questions in other words (variants {REWRITTEN!r}), other candidates, and "
    "questions written after the cutoff. Candidates are held against each other by bits per byte alone: "
    "shares are of tokens, of which each has its own.",
    REWRITTEN: "Against other words, a candidate's difference is told less the mean of the other candidates' "
    "(bits as factors): a rewording that is harder is harder for all. Where all have read the exam, nothing "
    "is left to find, and where some have, they hide it in each other.",
    "option_order": "The gap for the published order is the mean over the places of the key, each counting "
    "alike, so that a preference for places cancels. Other habits with the published order, such as one for "
    "options that stand by size, do not.",
    "canary": "A canary that is known shows that some text with it was read, perhaps one that only quotes "
    "it, and not that questions were; one that is not known, that this text was not learnt.",
    "dates": "A question may be older than its exam, and a model may be tuned later than its maker states: "
    "the dates say what is possible, no more.",
}


def findings(marks: Marks) -> Finding:
    """Rows of `COLUMNS` by benchmark, `probe` and candidate; all that it is held `against` has its own row.

    `second_half`: the share of a second half that greedy decoding reproduces, and bits per byte. Bits, not
    shares of tokens, are held against the mean of the other candidates. Against the variants `rewritten` of
    the same questions both are, paired by case: as the candidate's difference (of shares, or of natural
    logarithms of bits) less the mean difference of the others. A candidate without others has the difference,
    its interval and no test: the rewording may be harder. `option_order`: accuracy in the published order
    less the mean of the other rotations, first by the place of the key there, all places then counting alike;
    questions of a number of options of which a place has fewer than 5 cases are left out. `canary`: the share
    of decoys that are at least as likely, p = (that many + 1) / (decoys + 1). `dates`: months from the
    benchmark's release to the candidate's cutoff, of `marks.cards` and `marks.released`; both are needed.

    `low` to `high` is the 95 % interval. p is by Holm, `low_family` to `high_family` by Bonferroni over the
    `n_tests` of the call. `verdict` of a test: "consistent with memorisation" ("stands out from the others"
    against candidates, and of shares of tokens) where the adjusted p is at most .05 and the interval excludes
    chance on the side of memory; "cannot tell" where there is nothing to hold it against, fewer than 10
    cases, or no outcome could have shown anything; else "no sign". Figures held against nothing have no
    verdict. Without a probe, rows are only those of known dates.
    """
    own = marks.scores.filter((marks.scores["role"] == "candidate") & (marks.scores["edit"] == ""))
    found = list(traces(own, marks.measures))
    p = [one.p for one in found if one.p is not None]
    adjusted = iter(stats.holm(p).tolist())
    rows = [_row(one, next(adjusted) if one.p is not None else None, len(p)) for one in found]
    said = list(_told(found, rows, labels(marks.measures)))
    dates = [
        _dated(benchmark, candidate, marks.cards or {}, marks.released)
        for benchmark, candidate in sorted(own.select("benchmark", "candidate").unique().iter_rows())
    ]
    if found or any(row["value"] is not None for row in dates):
        rows += dates
        said += list(_of_dates(dates))
    if not rows:
        return Finding(study="contamination", rows=(), text=NOTHING)
    return Finding(
        study="contamination",
        rows=tuple(rows),
        text="\n".join(said),
        notes=(_ALWAYS, *_notes(rows, len(p))),
    )


def _row(one: Trace, p_adjusted: float | None, n_tests: int) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(COLUMNS) | {
        "benchmark": one.benchmark,
        "metric": one.measure.metric,
        "criterion": one.measure.criterion.criterion,
        "rater": one.measure.rater,
        "candidate": one.candidate,
        "probe": one.probe,
        "against": one.against,
        "value": one.value,
        "p": one.p,
        "p_adjusted": p_adjusted,
        "n_tests": n_tests if one.p is not None else None,
        "n_items": one.n_items,
        "n_groups": one.n_groups,
        "n_decoys": one.n_decoys,
        "n_failed": one.n_failed,
        "reason": one.reason,
    }
    if one.ends:
        row["low"], row["high"] = one.ends
    if one.seen:
        row["low"], row["high"] = _turned(one, one.seen.interval())
    if one.seen and one.p is not None:
        level = stats.bonferroni_level(0.95, n_tests)
        row["low_family"], row["high_family"] = _turned(one, one.seen.interval(level=level))
        row["mde_family"] = stats.mde(one.seen.se, one.seen.n_groups, k=n_tests)
        row["n_different"] = one.seen.n_different
    if one.against:
        row["verdict"], why = _verdict(one, row)
        row["reason"] = one.reason or why
    return row


def _turned(one: Trace, ends: stats.Interval | None) -> tuple[float | None, float | None]:
    """An interval in the measure's own direction, no wider than a difference can be."""
    if ends is None:
        return None, None
    c = one.measure.criterion
    bounded = c.high is not None and one.against
    of_differences = one.against == REWRITTEN and one.p is not None
    limit = (2.0 if of_differences else 1.0) if bounded else math.inf
    low, high = max(ends.low, -limit), min(ends.high, limit)
    return (low, high) if one.sign > 0 else (-high, -low)


def _verdict(one: Trace, row: Mapping[str, Any]) -> tuple[str, str | None]:
    """The words of a test, and why there are none to be had."""
    p, n_tests = row["p_adjusted"], row["n_tests"]
    if p is None:
        return OPEN, None
    if one.least is not None:
        if p <= stats.ALPHA:
            return FOUND, None
        if one.least * n_tests <= stats.ALPHA:
            return NONE, None
        needed = math.ceil(n_tests / stats.ALPHA) - 1
        return OPEN, (
            f"{count(one.n_decoys or 0, 'decoy')} cannot show it among {count(n_tests, 'test')}: "
            f"{needed:,} could"
        )
    assert one.seen is not None  # what has a p and no decoys was tested in pairs
    near = row["low"] if one.sign > 0 else row["high"]
    excluded = near is not None and near * one.sign > 0
    if p <= stats.ALPHA and one.seen.direction > 0 and excluded:
        return (APART if one.weak else FOUND), None
    different = one.seen.n_different
    if different and one.seen.test == "sign" and 2 * 0.5**different * n_tests > stats.ALPHA:
        return OPEN, f"{count(different, 'case')} that differ: too few for any outcome to show it"
    return NONE, None


def _told(
    found: Sequence[Trace], rows: Sequence[Mapping[str, Any]], short: Mapping[tuple[str, str, str], str]
) -> Iterator[str]:
    """A sentence for each row; rows without a figure for one reason share one."""
    lacking: dict[tuple[str, str], list[str]] = {}
    for one, row in zip(found, rows, strict=True):
        what = f"{short[key_of(one.measure)]} on {one.benchmark}"
        if one.value is not None:
            yield f"{what}, {one.candidate}{_held(one, row)}"
            continue
        held = f", against {_AGAINST[one.against]}" if one.against else ""
        lacking.setdefault((f"{what}{held}", str(row["reason"])), []).append(one.candidate)
    for (what, reason), who in lacking.items():
        yield f"{what}: {OPEN}, {reason} ({', '.join(who)})."


_AGAINST = {
    REWRITTEN: "the same in other words",
    "others": "the other candidates",
    "other orders": "other orders of the options",
    "decoys": "its decoys",
}


def _held(one: Trace, row: Mapping[str, Any]) -> str:
    """The end of a row's sentence: the figure, what it rests on, and the verdict."""
    c = one.measure.criterion
    value = one.value or 0.0
    why = f", {row['reason']}" if row["reason"] else ""
    if one.probe == "canary":
        n = one.n_decoys or 0
        return (
            f": {round(value * n):,} of {count(n, 'decoy')} are at least as likely (p {_p(row)}): "
            f"{row['verdict']}{why}."
        )
    basis = f"{count(one.n_items or 0, 'question')} in {count(one.n_groups or 0, 'case')}"
    if not one.against:
        ends = "" if row["low"] is None else f" ({number(row['low'], c)} to {number(row['high'], c)})"
        return f": {number(value, c)}{ends}, {basis}."
    low, high = (row[f"{end}{'' if one.p is None else '_family'}"] for end in ("low", "high"))
    ends = "" if low is None else f", {_signed(low, one)} to {_signed(high, one)}"
    able = ""
    if row["verdict"] == NONE and row["mde_family"]:
        least = factor(-row["mde_family"]) + " times" if one.logs else f"{row['mde_family']:.2g}"
        able = f"; {least} would have been found four times in five"
    rests = basis if one.p is None else f"p {_p(row)}; {basis}"
    times = " times as many" if one.logs else ""
    return (
        f", against {_AGAINST[one.against]}: {_signed(value, one)}{times}{ends} ({rests}): "
        f"{row['verdict']}{why}{able}."
    )


def _signed(value: float, one: Trace) -> str:
    """A difference with its sign, three decimals; one of logarithms as a factor."""
    if one.logs:
        return factor(value)
    return "0.000" if abs(value) < 0.0005 else f"{value:+.3f}"


def _p(row: Mapping[str, Any]) -> str:
    p = row["p_adjusted"]
    return "below .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def _dated(
    benchmark: str, candidate: str, cards: Mapping[str, ModelCard], released: Mapping[str, str]
) -> dict[str, Any]:
    """The row of one candidate's cutoff beside one benchmark's release."""
    card = cards.get(candidate)
    cutoff, out = card.cutoff if card else None, released.get(benchmark)
    lacking = [f"no {what}" for what, date in (("cutoff", cutoff), ("release", out)) if date is None]
    months = None if cutoff is None or out is None else _months(cutoff) - _months(out)
    verdict = UNKNOWN if months is None else BEFORE if months >= 0 else AFTER
    return dict.fromkeys(COLUMNS) | {
        **dict.fromkeys(("metric", "criterion", "rater"), ""),
        "benchmark": benchmark,
        "candidate": candidate,
        "probe": "dates",
        "against": "release",
        "value": None if months is None else float(months),
        "cutoff": cutoff,
        "released": out,
        "verdict": verdict,
        "reason": f"{' and '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} known"
        if lacking
        else None,
    }


def _months(date: str) -> int:
    """Months since the year 0 of a year and month."""
    year, month = map(int, date.split("-"))
    return 12 * year + month


def _of_dates(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    unknown: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row["value"] is None:
            unknown.setdefault((row["benchmark"], row["reason"]), []).append(row["candidate"])
        else:
            yield (
                f"{row['benchmark']} was released in {row['released']}, and {row['candidate']} has a cutoff "
                f"of {row['cutoff']}: it {row['verdict']}."
            )
    for (benchmark, reason), who in unknown.items():
        yield f"Whether {benchmark} came before the cutoff: {UNKNOWN}, {reason} ({', '.join(who)})."


def _notes(rows: Sequence[Mapping[str, Any]], n_tests: int) -> Iterator[str]:
    if n_tests > 1:
        yield f"{count(n_tests, 'test')} made together: p by Holm, intervals of differences by Bonferroni."
    for probe in dict.fromkeys(row["probe"] for row in rows):
        yield _LIMITS[probe]
    if any(row["against"] == REWRITTEN and row["p"] is not None for row in rows):
        yield _LIMITS[REWRITTEN]
    failed = {
        (row["benchmark"], row["metric"], row["criterion"], row["candidate"]): row["n_failed"]
        for row in rows
        if row["n_failed"]
    }
    if failed:
        yield f"{count(sum(failed.values()), 'mark')} failed and took no part."
