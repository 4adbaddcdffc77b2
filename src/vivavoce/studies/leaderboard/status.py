"""Status: what is in a run, what is missing from it, and why."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any

import polars as pl

from vivavoce.core.cases import CaseCount
from vivavoce.core.exclusions import ExclusionCounts
from vivavoce.core.measure_names import metric_name
from vivavoce.core.records import Finding, Measure
from vivavoce.core.specs import signed
from vivavoce.core.tables import restrict_to_items
from vivavoce.core.text import causes_said
from vivavoce.studies.row_parts import parts_by
from vivavoce.studies.study import as_mapping, columns
from vivavoce.studies.text import count

_RESPONSE = ("item", "variant", "repeat")
_SHARED = ("benchmark", *_RESPONSE, "format", "candidate", "edit", "status")
OF_RESPONSES, _OF_SCORES = (
    (*_SHARED, "role", "probe", "error"),
    (*_SHARED, "pass_no", "unit", "ballot", "note"),
)
"""The columns that are read here: there may be millions of rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoresRow:
    """What one measure gave to one candidate's responses; null measure: nothing has been scored yet.

    `recorded` scores were given elsewhere: `viva score` gives no more of them.
    """

    about: str = "marks"
    benchmark: str
    candidate: str
    metric: str | None
    criterion: str | None
    rater: str | None
    responses: int = 0
    ok: int = 0
    unanswered: int = 0
    unreadable: int = 0
    failed: int = 0
    set_aside: int = 0
    causes: Mapping[str, int] = field(default_factory=dict)
    recorded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsRow:
    """What was asked of one model at one endpoint for one purpose.

    Where calls failed: the last cause, how many failed for it, how many were answered since, and what to do.
    """

    about: str = "calls"
    model: str
    endpoint: str | None
    purpose: str
    calls: int
    failed: int
    attempts: int
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    reason: str | None
    last_cause: str | None = None
    last_cause_calls: int | None = None
    answered_since: int | None = None
    advice: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionsRow:
    """How many cases the questions of one benchmark are, and how many questions repeat another one."""

    about: str = "questions"
    benchmark: str
    questions: int
    repeated: int
    cases: int
    shared: int
    further: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExclusionsRow:
    """The rows of a benchmark's files that were left out under a spec, of how many, and why."""

    about: str = "exclusions"
    benchmark: str
    spec: str
    excluded: int
    excluded_of: int
    exclusions: Mapping[str, int]


COLUMNS = columns(ScoresRow)
CALLS = columns(CallsRow)
QUESTIONS = columns(QuestionsRow)


def status(
    responses: pl.DataFrame,
    scores: pl.DataFrame,
    measures: Mapping[int, Measure],
    calls: Sequence[Mapping[str, Any]] = (),
    only: Mapping[int, frozenset[tuple[str, str, str]]] | None = None,
    probes: Mapping[int, str] | None = None,
    cases: Sequence[CaseCount] = (),
    exclusions: Sequence[ExclusionCounts] = (),
) -> Finding:
    """The scores of the run, its questions, and what was asked; `about` tells the rows apart.

    `questions`: a `QuestionsRow` per benchmark, from `cases`; `shared` cases stand in another benchmark too,
    `further` ones in none before it.
    `exclusions`: an `ExclusionsRow` per spec under which rows of a benchmark were left out.
    `marks`: a `ScoresRow` per benchmark, candidate and measure; before scoring, one with a null metric, or
    in its place the name of the requests for log-likelihoods; `probes` says which measures score those.
    `calls`: a `CallsRow` per model, endpoint and purpose, from those of `store.call_log.call_totals`. Failed
    calls may have been made good by later ones. Tokens are those that the endpoint counted, null where it
    counted none; the cost is null, with a reason, where a call that was answered has no price.

    `causes` maps each reason for a row that is not ok to how often it occurred. A blank text is unanswered
    before scoring too (`blank` of `responses`); what else counts as no answer, scoring tells. Each response
    counts once: scored in several passes, units or ballots it is what the worst of those scores is (failed,
    unreadable, unanswered, set aside, ok). `responses` are those of the formats that the measure scored, and
    of those of its items that `only` names: some may not have been scored yet, which is a cause of its own.
    Of measures that compare responses, edited ones are left out, and those that have none beside them.
    """
    responses = responses.select(*OF_RESPONSES, "blank")
    scores = scores.select("measure_id", *_OF_SCORES)
    by_probe = {name: of_probe for (name,), of_probe in parts_by(responses, "probe")}
    rows, scored = [], set()
    for (benchmark, candidate, key), part in parts_by(scores, "benchmark", "candidate", "measure_id"):
        probe, measure = (probes or {}).get(key, ""), measures[key]
        row = _row(part=_worst_by_response(part), cause="note", benchmark=benchmark, candidate=candidate,
                   metric=measure.metric, criterion=measure.criterion.criterion,
                   rater=measure.rater, recorded=signed(measure.signature).recorded)  # fmt: skip
        expected = by_probe.get(probe, responses.clear())
        rows.append(_with_unscored(row, part, expected, (only or {}).get(key)))
        scored.add((benchmark, candidate, probe))
    rows += _unscored(responses, scored)
    rows.sort(key=lambda r: (r.benchmark, r.candidate, r.metric or "", r.criterion or ""))
    calls_rows = [_calls_row(call) for call in calls]
    questions = [QuestionsRow(**counted._asdict()) for counted in cases]
    left_out = list(map(_exclusions_row, exclusions))
    text = [
        *(counted.summary for counted in cases),
        *map(attrgetter("text"), exclusions),
        *map(_sentence, rows),
        *map(_bill, calls_rows),
    ]
    every = (*rows, *calls_rows, *questions, *left_out)
    return Finding(study="status", rows=tuple(map(as_mapping, every)), text="\n".join(text))


def _exclusions_row(counts: ExclusionCounts) -> ExclusionsRow:
    return ExclusionsRow(benchmark=counts.benchmark, spec=counts.spec, **counts.facts)


def _calls_row(spent: Mapping[str, Any]) -> CallsRow:
    """The row of one model at one endpoint. A sum of the calls with a price alone would be too low a bill."""
    cost = None if spent["unpriced"] else spent["cost"]
    reason = None
    if spent["unpriced"]:
        reason = f"no price is known of {count(spent['unpriced'], 'call')}"
    elif cost is None:
        reason = "no call was answered"
    figures: dict[str, Any] = {
        name: spent.get(name) for name in CALLS if name not in ("about", "cost", "reason")
    }
    return CallsRow(**figures, cost=cost, reason=reason)


def _bill(row: CallsRow) -> str:
    """What was asked of one model, and what it cost."""
    cost = f"cost {row.cost:.4f}" if row.cost is not None else f"cost not known: {row.reason}"
    at = f" at {row.endpoint}" if row.endpoint else ""
    calls = f"{count(row.calls, 'call')}, {row.failed} failed"
    trouble = f" {trouble_sentences(row)}" if row.last_cause else ""
    return f"{row.model}{at} ({row.purpose}): {calls}; {cost}.{trouble}"


def trouble_sentences(row: CallsRow) -> str:
    """The last cause for which calls of the row failed, and what to do about it."""
    since = f" {count(row.answered_since, 'call')} answered since." if row.answered_since else ""
    return (
        f"Last cause ({row.last_cause_calls} of {row.failed} failed): {(row.last_cause or '').rstrip('.')}."
        f"{since} {row.advice or ''}".rstrip()
    )


def _sentence(row: ScoresRow) -> str:
    """What one measure found of one candidate's responses."""
    by = f"{metric_name(row.metric)}, {row.criterion or 'not marked yet'}" if row.metric else "not marked yet"
    causes = causes_said(row.causes)
    return (
        f"{row.benchmark}, {row.candidate} ({by}): {row.ok} of {row.responses} ok"
        f"{': ' if causes else ''}{causes}."
    )


def _with_unscored(
    row: ScoresRow,
    part: pl.DataFrame,
    responses: pl.DataFrame,
    only: frozenset[tuple[str, str, str]] | None,
) -> ScoresRow:
    """The row with what the measure has yet to score; `only` are the items it scores, null for all."""
    expected = responses.filter(
        (pl.col("benchmark") == row.benchmark)
        & (pl.col("candidate") == row.candidate)
        & pl.col("format").is_in(part.get_column("format").unique().to_list())
    )
    expected = restrict_to_items(expected, only)
    if (part["ballot"] != "").any():
        expected = expected.join(_compared(responses), on=["benchmark", *_RESPONSE], how="semi")
        expected = expected.filter(pl.col("edit") == "")
    unscored = expected.height - row.responses
    if unscored <= 0:
        return row
    return replace(row, responses=expected.height, causes={**row.causes, "not marked yet": unscored})


def _worst_by_response(part: pl.DataFrame) -> pl.DataFrame:
    """A row for each response of a candidate: of its scores by one measure the worst."""
    worst_first = pl.Enum(["failed", "unreadable", "unanswered", "set_aside", "ok"])
    order = (pl.col("status").cast(worst_first), "pass_no", "unit", "ballot")
    return part.sort(*order, maintain_order=True).unique(
        [*_RESPONSE, "edit"], keep="first", maintain_order=True
    )


def _compared(responses: pl.DataFrame) -> pl.DataFrame:
    """The items and repeats that several candidates answered: only those responses meet others."""
    unedited = responses.filter((pl.col("edit") == "") & (pl.col("role") == "candidate"))
    answered = unedited.group_by("benchmark", *_RESPONSE).agg(n=pl.col("candidate").n_unique())
    return answered.filter(pl.col("n") > 1)


def _unscored(responses: pl.DataFrame, scored: set[tuple[Any, ...]]) -> Iterator[ScoresRow]:
    """The rows of responses that no measure scored."""
    for (benchmark, candidate, probe), part in parts_by(
        responses, "benchmark", "candidate", "probe", without=scored
    ):
        if part.height:
            yield _row(part=part if probe else _with_blanks(part), cause="error", benchmark=benchmark,
                       candidate=candidate, metric=probe or None, criterion=None, rater=None)  # fmt: skip


def _with_blanks(part: pl.DataFrame) -> pl.DataFrame:
    """Responses with those that arrived blank as unanswered, and the causes that scoring would give."""
    blank = (pl.col("status") == "ok") & pl.col("blank")
    return part.with_columns(
        status=pl.when(blank).then(pl.lit("unanswered")).otherwise(pl.col("status")),
        error=pl.when(blank)
        .then(pl.lit("blank: no letter and no digit"))
        .when(pl.col("status") == "filtered")
        .then(pl.lit("withheld by the provider's content filter"))
        .when((pl.col("status") == "failed") & (pl.col("error").fill_null("") == ""))
        .then(pl.lit("no answer was recorded"))
        .otherwise(pl.col("error")),
    )


def _row(*, part: pl.DataFrame, cause: str, **place: Any) -> ScoresRow:
    """The row of these scores or responses; `cause` is the column that says why one is missing."""
    counts = dict(part.get_column("status").value_counts().iter_rows())
    missing = part.filter(pl.col("status") != "ok").get_column(cause).fill_null("no reason recorded")
    causes = sorted(missing.value_counts().iter_rows(), key=lambda entry: (-entry[1], entry[0]))
    return ScoresRow(
        **place,
        responses=part.height,
        ok=counts.get("ok", 0),
        # A response withheld by the provider's filter is the candidate's silence, scored or not.
        unanswered=counts.get("unanswered", 0) + counts.get("filtered", 0),
        unreadable=counts.get("unreadable", 0),
        failed=counts.get("failed", 0),
        set_aside=counts.get("set_aside", 0),
        causes=dict(causes),
    )
