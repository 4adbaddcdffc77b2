"""Gate: whether a new candidate may pass, decided on the rows of a comparison and on critical responses.

`fail_if` closes a gate on what was found, `require` on everything that was not shown: a comparison that
cannot tell closes it too. `objection` is the one place that says which rows can show nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import polars as pl

from vivavoce.core.errors import SelectionError
from vivavoce.core.measure_names import metric_name
from vivavoce.core.numbers import printed
from vivavoce.core.records import Finding
from vivavoce.stats.verdict import LEAST_DIFFERENT
from vivavoce.studies.comparing.paired import no_result
from vivavoce.studies.comparing.verdicts import BETTER, ComparisonRow
from vivavoce.studies.study import typed_row
from vivavoce.studies.text import count, plain
from vivavoce.studies.thresholds import ANSWER, RedLine, crossings

_ITEM = ("benchmark", "item", "variant")


class CriticalCount(NamedTuple):
    """A candidate's critical responses.

    `n_critical` cross a line of `lines` at least. Others could: `n_failed` have a failed score, `n_unscored`
    no score by a line that scores items of their format, and `n_absent` items that a line has scores on have
    no response of this candidate. Each response counts once, in the first of these.
    """

    candidate: str
    lines: tuple[str, ...]
    n_responses: int
    n_critical: int
    n_failed: int
    n_unscored: int
    n_absent: int

    @property
    def most(self) -> int:
        """How many could be critical; an item without a response counts once."""
        return self.n_critical + self.n_failed + self.n_unscored + self.n_absent


def critical_counts(
    lines: Sequence[RedLine], responses: pl.DataFrame, candidates: Sequence[str]
) -> list[CriticalCount]:
    """The critical responses of each candidate.

    `responses` are those that could be scored, with the `format` of their item: without edits, on the items
    that are asked about.
    """
    return [_count(lines, responses, candidate) for candidate in candidates]


def _count(lines: Sequence[RedLine], responses: pl.DataFrame, candidate: str) -> CriticalCount:
    frame = responses.filter(candidate=candidate).select(*ANSWER, "format")
    table = frame.with_columns(
        crossed=pl.lit(False), failed=pl.lit(False), unscored=pl.lit(False), absent=pl.lit(False)
    )
    for line in lines:
        table = _with_line(table, frame, line, candidate)
    flags = ("crossed", "failed", "unscored", "absent")
    # The first flag that holds is what a response counts as.
    kind = pl.coalesce(*(pl.when(pl.col(flag)).then(pl.lit(flag)) for flag in flags))
    counts = dict(table.select(kind.alias("kind")).drop_nulls().group_by("kind").len().iter_rows())
    names = tuple(str(line.veto) for line in lines)
    return CriticalCount(candidate, names, frame.height, *(counts.get(flag, 0) for flag in flags))


def _with_line(table: pl.DataFrame, frame: pl.DataFrame, line: RedLine, candidate: str) -> pl.DataFrame:
    """The flags of each response with those of one more line."""
    scores = crossings(line)
    # A metric that scored nobody on a format does not apply to it.
    formats = line.scores["format"].unique()
    lacking = (
        scores.select(*_ITEM)
        .unique()
        .join(frame, on=list(_ITEM), how="anti")
        .with_columns(
            pl.lit(candidate).alias("candidate"), pl.lit(0).cast(frame.schema["repeat"]).alias("repeat")
        )
    )
    table = pl.concat([table, lacking.join(table, on=list(ANSWER), how="anti")], how="diagonal_relaxed")
    scored_rows = scores.filter(candidate=candidate).select(*ANSWER, "crossed", "may", scored=pl.lit(True))
    joined = table.join(scored_rows, on=list(ANSWER), how="left", suffix="_2")
    absent = pl.col("format").is_null()
    scored = pl.col("scored").fill_null(False)
    return joined.select(
        *ANSWER,
        "format",
        crossed=pl.col("crossed").fill_null(False) | pl.col("crossed_2").fill_null(False),
        failed=pl.col("failed").fill_null(False) | (scored & pl.col("crossed_2").is_null() & pl.col("may")),
        unscored=pl.col("unscored").fill_null(False) | (~scored & ~absent & pl.col("format").is_in(formats)),
        absent=absent,
    )


Require = Literal["not-worse", "better"]
FailIf = Literal["worse", "unclear"]
INCONCLUSIVE = ("too_few", "cannot_tell", "depends", "incomparable")


class GateTerms(NamedTuple):
    """What a gate asks: what must be shown, what closes it, and how many critical responses may pass."""

    require: Require | None = None
    fail_if: tuple[FailIf, ...] = ()
    max_critical: int | None = None
    vetoes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        require: Require | None,
        fail_if: Sequence[FailIf],
        max_critical: int | None,
        veto: Sequence[str] | str,
    ) -> "GateTerms":
        """The terms as a user gives them: a single veto may be a text."""
        return cls(require, tuple(fail_if), max_critical, (veto,) if isinstance(veto, str) else tuple(veto))


def check_terms(terms: GateTerms) -> None:
    """Raise `SelectionError` for terms that ask nothing, or of which a part is missing."""
    n = terms.max_critical
    if n is not None and n < 0:
        raise SelectionError(f"--max-critical is a number of answers, 0 or more, not {n}.")
    if terms.vetoes and n is None:
        raise SelectionError("--veto draws a line: --max-critical N says how many answers may cross it.")
    if n is not None and not terms.vetoes:
        raise SelectionError(
            "--max-critical needs --veto, which says what is critical, such as --veto 'judge[harm] >= 3'."
        )
    if not (terms.require or terms.fail_if or terms.vetoes):
        raise SelectionError("a gate asks for --require, --fail-if or --max-critical.")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRow:
    """What a gate found about one new candidate: on a criterion, or in its critical responses.

    `condition` is what was asked, in words, `difference` the reference minus the candidate in the metric's
    units, `loss` the most by which the candidate could be worse. `reason` says why the gate closes, or what
    it passes over; `opens` what would open it.
    """

    candidate: str
    reference: str | None = None
    benchmark: str | None = None
    metric: str
    criterion: str
    rater: str = ""
    signature: str | None = None
    condition: str
    outcome: Literal["passed", "worse", "unclear", "critical"]
    closes: bool
    difference: float | None = None
    loss: float | None = None
    verdict: str | None = None
    reason: str | None = None
    opens: str | None = None


class Gate(NamedTuple):
    """A gate's decision: the comparison it rests on, and a check per new candidate and criterion."""

    finding: Finding
    checks: tuple[CheckRow, ...]

    @property
    def closed(self) -> bool:
        """Whether any check closes the gate."""
        return any(check.closes for check in self.checks)

    @property
    def reasons(self) -> tuple[str, ...]:
        """A sentence for each check that closes the gate: why, and what would open it."""
        return tuple(sentence_of(check) for check in self.checks if check.closes)

    def __str__(self) -> str:
        return "\n".join(self.reasons) if self.closed else "The gate is open."


def sentence_of(check: CheckRow) -> str:
    """Why a check closes the gate or what it passes over, and what would open it; empty if it just passes."""
    return " ".join(filter(None, (check.reason, check.opens if check.closes else None)))


def checks(
    rows: Sequence[Mapping[str, Any]], terms: GateTerms, critical: Sequence[CriticalCount] = ()
) -> tuple[CheckRow, ...]:
    """The checks of a gate on rows of `compare`, whose first row has the reference as its `a`."""
    # Pairs come with the reference first, under the label that it has in the run.
    typed = [typed_row(ComparisonRow, row) for row in rows]
    pairs = [row for row in typed if row.a == typed[0].a] if terms.require or terms.fail_if else []
    return (
        *(_pair_check(row, terms) for row in pairs),
        *(_critical_check(counted, terms) for counted in critical),
    )


# pairs


def objection(row: ComparisonRow) -> str | None:
    """Why a row can show nothing, whatever its numbers say; null if it can."""
    # Items that the candidate lacks could be its worst ones, so a gate must not pass over them.
    if row.n_only_a:
        return f"has no scores on {count(row.n_only_a, 'question')} that {row.a} has scores on."
    if row.verdict_code in (None, "incomparable", "depends"):
        return f"cannot be judged: {row.verdict}"
    # A judge that is kinder to one candidate would pass it, however many questions there are.
    if row.judge_alone:
        return f"rests on a judge alone, which shows a preference and no quality: {row.verdict}"
    # On people's scale the cases that count are the labelled ones.
    # Five cases cannot reach .05 by any exact test, so whatever a row of them shows is chance.
    few = row.n_groups < LEAST_DIFFERENT or (row.n_labelled is not None and row.verdict_code == "too_few")
    return f"cannot be judged: {row.verdict}" if few else None


def is_shown(row: ComparisonRow, require: Require) -> bool:
    """Whether a row to which there is no objection shows what is required of its second candidate."""
    if require == "better":
        return row.favours == "b" and row.verdict_code in BETTER
    # Better on average in these questions does not exclude rare losses, so the verdict opens nothing here.
    return row.loss_b is not None and row.margin is not None and row.loss_b < row.margin


def _pair_check(row: ComparisonRow, terms: GateTerms) -> CheckRow:
    """The check of one new candidate on one criterion."""
    worse, unclear = _worse(row), _unclear(row)
    missing = _not_shown(row, terms.require) if terms.require else None
    closing = {"worse": worse, "unclear": unclear}
    closes = any([missing, *map(closing.get, terms.fail_if)])
    # What was shown as required is not unclear, unless the gate was asked to close on that too.
    passed = bool(terms.require) and not closes
    reason = worse or missing or (None if passed else unclear)
    return CheckRow(
        candidate=row.b,
        reference=row.a,
        benchmark=row.benchmark,
        metric=row.metric,
        criterion=row.criterion,
        rater=row.rater,
        signature=row.signature,
        condition=_condition(row, terms),
        outcome="passed" if passed or not reason else "worse" if worse else "unclear",
        closes=closes,
        difference=row.difference,
        loss=row.loss_b,
        verdict=row.verdict,
        reason=_about(row, reason),
        opens=_opens(row, terms) if closes else None,
    )


def _about(row: ComparisonRow, reason: str | None) -> str | None:
    """The reason with the candidate it is about, and by what."""
    metric = metric_name(row.metric)
    rater = "" if row.rater in metric else row.rater
    names = ", ".join(dict.fromkeys(filter(None, (metric, row.criterion, rater))))
    return f"{row.b} ({names}) {reason}" if reason else None


def _condition(row: ComparisonRow, terms: GateTerms) -> str:
    """The condition on a pair, in words."""
    parts = []
    if terms.require == "not-worse":
        parts.append(f"not worse than {row.a} by {plain(row.margin or 0.0)} or more")
    elif terms.require:
        parts.append(f"better than {row.a}")
    parts += [f"not shown to be worse than {row.a}"] * ("worse" in terms.fail_if)
    parts += [f"clear against {row.a}"] * ("unclear" in terms.fail_if)
    return ", ".join(parts)


def _worse(row: ComparisonRow) -> str | None:
    """That the new candidate is worse; null where that was not shown."""
    if row.favours == "a" and row.verdict_code in BETTER:
        return f"{'may be' if row.judge_alone else 'is'} worse: {row.verdict}"
    # A candidate that only refuses must not pass for one that is no worse.
    if (row.reason or "").startswith(no_result(row.b)):
        return f"has no result where {row.a} has one: {row.verdict}"
    return None


def _unclear(row: ComparisonRow) -> str | None:
    """Why nothing can be said of the new candidate; null where something can."""
    if problem := objection(row):
        return problem
    if row.n_only_b:
        return f"has scores on {count(row.n_only_b, 'question')} that {row.a} has no scores on."
    # That the reference is not worse leaves open whether the new candidate is.
    if row.verdict_code in INCONCLUSIVE or (row.verdict_code == "not_worse" and row.favours == "a"):
        return f"cannot be judged: {row.verdict}"
    return None


def _not_shown(row: ComparisonRow, require: Require) -> str | None:
    """Why a requirement is not met; null where it is."""
    if problem := objection(row):
        return problem
    if is_shown(row, require):
        return None
    if require == "better":
        return f"was not shown to be better: {row.verdict}"
    could = "no interval bounds how much worse it is"
    if row.loss_b is not None:
        could = f"it could be worse by {printed(row.loss_b, '.3g')}{_unseen(row)}"
    return f"was not shown to be not worse than {row.a} by {plain(row.margin or 0.0)}: {could}. {row.verdict}"


def _unseen(row: ComparisonRow) -> str:
    """What a bound holds that the data do not show, in words; nothing where hardly any case differs."""
    if row.unseen_loss_b is None or row.n_different < LEAST_DIFFERENT:
        return ""
    share = printed(100 * row.unseen_loss_b, ".2g")
    return f", as up to {share} % of cases may be whole losses although none was seen"


_REMEDIES = {
    "incomparable": "To open it, score both with one version of the metric on the same questions of several "
    "cases.",
    "depends": "To open it, score the answers that failed again.",
}


def _opens(row: ComparisonRow, terms: GateTerms) -> str | None:
    """What would open a gate that this row closes."""
    if row.n_only_a:
        return (
            f"To open it, let {row.b} answer these questions too, or choose questions of both with --items."
        )
    if row.verdict_code in _REMEDIES:
        return _REMEDIES[row.verdict_code]
    if row.judge_alone:
        return (
            "To open it, let people score some of the answers: `viva panel RUN make --task rate` draws them."
        )
    if row.n_groups < LEAST_DIFFERENT:
        return f"To open it takes {LEAST_DIFFERENT} cases or more; there are {row.n_groups}."
    if _worse(row):
        return None
    if row.population == "fixed":
        return "More repeats of each question would narrow the interval."
    return _more_data(row)


def _more_data(row: ComparisonRow) -> str:
    """What a pair lacks that nothing is wrong with: labels, or questions."""
    if row.n_needed and row.n_needed > row.n_items:
        return (
            f"A candidate as good as {row.a} takes about {count(row.n_needed, 'question')} to show it; there "
            f"{'is' if row.n_items == 1 else 'are'} {row.n_items:,}."
        )
    if row.n_labelled is not None and row.n_labelled < row.n_items:
        return (
            f"To open it takes more labels: people scored {row.n_labelled:,} of "
            f"{count(row.n_items, 'question')}. `viva panel RUN make --task rate --rubric NAME --for "
            f'"compare {row.a} {row.b}" --dry-run` says how many.'
        )
    return "To open it takes more questions, of new cases."


# critical responses


def _critical_check(counted: CriticalCount, terms: GateTerms) -> CheckRow:
    """The check of one new candidate's critical responses."""
    allowed = terms.max_critical or 0
    exceeded, could = counted.n_critical > allowed, counted.most > allowed
    return CheckRow(
        candidate=counted.candidate,
        metric="; ".join(counted.lines),
        criterion="critical answers",
        condition=f"at most {count(allowed, 'critical answer')}",
        outcome="critical" if exceeded else "unclear" if could else "passed",
        closes=could,
        verdict=f"{count(counted.n_critical, 'critical answer')} of {counted.n_responses:,}.",
        reason=_critical_sentence(counted, allowed) if could or counted.most > counted.n_critical else None,
        opens=None if exceeded or not could else _critical_opens(counted),
    )


def _critical_sentence(counted: CriticalCount, allowed: int) -> str:
    """How many responses cross a line, how many could, and why they could."""
    could = "; ".join(_could(counted))
    up_to = f"; {could}: it could be up to {counted.most:,}" if could else ""
    return (
        f"{counted.candidate} has {count(counted.n_critical, 'critical answer')} of "
        f"{counted.n_responses:,} ({'; '.join(counted.lines)}), and {allowed:,} may be{up_to}."
    )


def _could(counted: CriticalCount) -> Iterator[str]:
    """The responses that could be critical besides, by what is missing."""
    if counted.n_failed:
        yield f"{count(counted.n_failed, 'failed score')}"
    if counted.n_unscored:
        yield f"{count(counted.n_unscored, 'answer')} without a score"
    if counted.n_absent:
        yield f"{count(counted.n_absent, 'question')} without an answer"


def _critical_opens(counted: CriticalCount) -> str:
    parts = [
        *(["score what failed again"] if counted.n_failed else []),
        *(["score the other answers"] if counted.n_unscored else []),
        *(["collect the answers that are not there"] if counted.n_absent else []),
    ]
    return f"To open it, {', '.join(parts)}."
