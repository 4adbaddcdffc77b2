"""Status: what is in a run, what is missing from it, and why."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import polars as pl

from vivavoce.core.cases import CaseCount
from vivavoce.core.exclusions import ExclusionCounts
from vivavoce.core.measure_names import earlier_versions, metric_name
from vivavoce.core.records import Finding, ItemKey, Measure
from vivavoce.core.specs import signed
from vivavoce.core.text import causes_said
from vivavoce.studies.coverage import Coverage, Requests, coverage, coverage_of_responses
from vivavoce.studies.row_parts import parts_by, select_rows
from vivavoce.studies.score_table import ITEM_KEY
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

    `expected` responses are those that the candidate was asked for, `never_asked` of them without a request
    so far; the other `responses` were asked for, and `lost` of them never came. `unscored` responses have no
    score yet; the other states are those of `Coverage`, and `coverage` is its share.
    `recorded` scores were given elsewhere: `viva score` gives no more of them. `earlier_version` is the
    version of a metric that the run has scores of a later one by; null for any other.
    """

    about: str = "marks"
    benchmark: str
    candidate: str
    metric: str | None
    criterion: str | None
    rater: str | None
    expected: int = 0
    never_asked: int = 0
    responses: int = 0
    lost: int = 0
    unscored: int = 0
    ok: int = 0
    unanswered: int = 0
    unreadable: int = 0
    failed: int = 0
    set_aside: int = 0
    coverage: float | None = None
    causes: Mapping[str, int] = field(default_factory=dict)
    recorded: bool = False
    earlier_version: str | None = None


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
    """How many cases the questions of one benchmark are, and how many questions repeat another one.

    `near_repeated` more repeat one nearly, null if not looked for; they are of its case if `near_joined`.
    `group_level`, `outer_level` and `n_outer` are as in `CaseCount`.
    """

    about: str = "questions"
    benchmark: str
    questions: int
    repeated: int
    cases: int
    shared: int
    further: int
    near_repeated: int | None = None
    near_joined: bool = False
    group_level: str | None = None
    outer_level: str | None = None
    n_outer: int | None = None


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
    requests: Requests,
    calls: Sequence[Mapping[str, Any]] = (),
    only: Mapping[int, frozenset[ItemKey]] | None = None,
    probes: Mapping[int, str] | None = None,
    cases: Sequence[CaseCount] = (),
    exclusions: Sequence[ExclusionCounts] = (),
) -> Finding:
    """The scores of the run, its questions, and what was asked; `about` tells the rows apart.

    `questions`: a `QuestionsRow` per benchmark, from `cases`; `shared` cases stand in another benchmark too,
    `further` ones in none before it.
    `exclusions`: an `ExclusionsRow` per spec under which rows of a benchmark were left out.
    `marks`: a `ScoresRow` per benchmark, candidate and measure (`scores_rows`), and `variants` the same of
    responses to items that were made in the run, and of edited ones.
    `calls`: a `CallsRow` per model, endpoint and purpose, from those of `store.call_log.call_totals`. Failed
    calls may have been made good by later ones. Tokens are those that the endpoint counted, null where it
    counted none; the cost is null, with a reason, where a call that was answered has no price.
    """
    rows = scores_rows(responses, scores, measures, requests, only=only, probes=probes)
    calls_rows = [_calls_row(call) for call in calls]
    questions = [QuestionsRow(**counted._asdict()) for counted in cases]
    left_out = [ExclusionsRow(benchmark=e.benchmark, spec=e.spec, **e.facts) for e in exclusions]
    text = [
        *(counted.summary for counted in cases),
        *map(attrgetter("text"), exclusions),
        *map(_sentence, rows),
        *map(_bill, calls_rows),
    ]
    every = (*rows, *calls_rows, *questions, *left_out)
    return Finding(study="status", rows=tuple(map(as_mapping, every)), text="\n".join(text))


def scores_rows(
    responses: pl.DataFrame,
    scores: pl.DataFrame,
    measures: Mapping[int, Measure],
    requests: Requests,
    *,
    only: Mapping[int, frozenset[ItemKey]] | None = None,
    probes: Mapping[int, str] | None = None,
) -> list[ScoresRow]:
    """A row per benchmark, candidate and measure, then those of variants.

    Before scoring there is one with a null metric, or in its place the name of the requests for
    log-likelihoods; `probes` says which measures score those. `requests` are those of the benchmarks' own
    items: responses to other items, and edits, are variants, of which all that are there are expected.
    Expected are the items of the formats that the measure scored, and of those that `only` names: some may
    not have been scored yet. Of measures that compare responses, edited ones are left out, and those that
    have none to be compared with. `causes` maps each reason for a row that is not ok to its number.
    A blank text is unanswered before scoring too (`blank` of `responses`); what else counts as no answer,
    scoring decides.
    """
    responses, scores = responses.select(*OF_RESPONSES, "blank"), scores.select("measure_id", *_OF_SCORES)
    answers = {"marks": _of_questions(responses, requests), "variants": _of_variants(responses, requests)}
    expected = {"marks": requests, "variants": Requests.of_responses(answers["variants"])}
    rows, scored, earlier = [], set(), earlier_versions(measures)
    for (benchmark, candidate, key), of_measure in parts_by(scores, "benchmark", "candidate", "measure_id"):
        probe, measure = (probes or {}).get(key, ""), measures[key]
        parts = {"marks": _of_questions(of_measure, requests), "variants": _of_variants(of_measure, requests)}
        for subject, part in parts.items():
            counted = coverage(
                expected[subject].expected(
                    benchmark,
                    candidate,
                    probe,
                    # A measure that scored one answer of a format is to score all of them.
                    formats=of_measure.get_column("format").unique().to_list(),
                    chosen=(only or {}).get(key),
                    compared=bool((of_measure["ballot"] != "").any()),
                ),
                part,
            )
            scored.add((subject, benchmark, probe, candidate))
            version = signed(measure.signature).version if measure.signature in earlier else None
            place = {"about": subject, "benchmark": benchmark, "candidate": candidate}
            place["earlier_version"] = version
            rows.append(_row(counted, _causes(_worst_by_response(part), "note"), measure, **place))
    rows += _without_scores(answers, expected, scored)
    # A measure may score variants alone, or the questions alone.
    rows = [row for row in rows if row.expected]
    return sorted(rows, key=lambda r: (r.about, r.benchmark, r.candidate, r.metric or "", r.criterion or ""))


def _of_questions(table: pl.DataFrame, requests: Requests) -> pl.DataFrame:
    """The rows about unedited responses to the benchmarks' own items."""
    unedited = select_rows(table, pl.col("edit") == "")
    return unedited.join(requests.items, on=ITEM_KEY, how="semi", maintain_order="left")


def _of_variants(table: pl.DataFrame, requests: Requests) -> pl.DataFrame:
    """The rows about all other responses: edited ones, and those to items that were made in the run."""
    generated = table.join(requests.items, on=ITEM_KEY, how="anti", maintain_order="left")
    edits = table.filter(pl.col("edit") != "").join(requests.items, on=ITEM_KEY, how="semi")
    return pl.concat([generated, edits])


def _without_scores(
    answers: Mapping[str, pl.DataFrame], expected: Mapping[str, Requests], scored: Collection[tuple[str, ...]]
) -> Iterator[ScoresRow]:
    """The rows of requests whose responses no measure scored."""
    for subject, requests in expected.items():
        for benchmark, probe, candidate in requests.by_candidate:
            if (subject, benchmark, probe, candidate) in scored:
                continue
            place = {"benchmark": benchmark, "candidate": candidate, "probe": probe}
            part = answers[subject].filter(**place)
            part = part if probe else _with_blanks(part)
            counted = coverage_of_responses(requests.expected(benchmark, candidate, probe), part)
            place = {"about": subject, "benchmark": benchmark, "candidate": candidate}
            yield _row(counted, _causes(part, "error"), None, metric=probe or None, **place)


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
    by = f"{metric_name(row.metric)}, {row.criterion or 'not scored yet'}" if row.metric else "not scored yet"
    causes = causes_said(row.causes)
    of_variants = " on variants" if row.about == "variants" else ""
    return (
        f"{row.benchmark}, {row.candidate}{of_variants} ({by}): {row.ok} of {row.expected} ok"
        f"{': ' if causes else ''}{causes}."
    )


def _worst_by_response(part: pl.DataFrame) -> pl.DataFrame:
    """A row for each response of a candidate: of its scores by one measure the worst."""
    worst_first = pl.Enum(["failed", "unreadable", "unanswered", "set_aside", "ok"])
    order = (pl.col("status").cast(worst_first), "pass_no", "unit", "ballot")
    return part.sort(*order, maintain_order=True).unique(
        [*_RESPONSE, "edit"], keep="first", maintain_order=True
    )


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


def _causes(part: pl.DataFrame, column: str) -> dict[str, int]:
    """How often each reason for a row that is not ok occurs, the commonest first."""
    missing = part.filter(pl.col("status") != "ok").get_column(column).fill_null("no reason recorded")
    return dict(sorted(missing.value_counts().iter_rows(), key=lambda entry: (-entry[1], entry[0])))


def _row(
    counted: Coverage,
    causes: Mapping[str, int],
    measure: Measure | None,
    *,
    metric: str | None = None,
    **place: Any,
) -> ScoresRow:
    """The row of a measure; without one, of responses that nothing scored, in words or to a probe."""
    gaps = {"not scored yet": counted.unscored, "never asked": counted.never_asked}
    figures = {name: n for name, n in counted._asdict().items() if name != "n_covered"}
    return ScoresRow(
        **place,
        **figures,
        metric=measure.metric if measure else metric,
        criterion=measure.criterion.criterion if measure else None,
        rater=measure.rater if measure else None,
        recorded=measure is not None and signed(measure.signature).recorded,
        responses=counted.expected - counted.never_asked,
        coverage=counted.share,
        causes={**causes, **{cause: n for cause, n in gaps.items() if n}},
    )
