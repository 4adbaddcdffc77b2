"""What a report draws on: a run's tables, the board that a row stands on, and scores by response."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from vivavoce.core.cases import CaseCount, Cases, count_cases
from vivavoce.core.exclusions import ExclusionCounts
from vivavoce.core.records import Measure
from vivavoce.store.comparisons import comparison_tests
from vivavoce.store.read import Benchmark
from vivavoce.studies.answer_integrity import IntegrityRow
from vivavoce.studies.answers import BLANK, TEXT_HASH, Answers
from vivavoce.studies.comparing.status import OF_RESPONSES
from vivavoce.studies.coverage import Requests
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.overall_design import OVERALL
from vivavoce.studies.primary import Primary
from vivavoce.studies.row_parts import by_candidate, coded, distinct, select_rows
from vivavoce.studies.score_matrix import key_of, labels
from vivavoce.studies.score_table import MISSING, JudgedCriterion
from vivavoce.studies.validation_status import saturated_criteria, validation_statuses

Rows = Sequence[Mapping[str, Any]]
RESPONSE = ("candidate", "item", "variant", "repeat")
"""The columns that tell the responses on one benchmark apart."""


class ReportData(NamedTuple):
    """Everything a report draws on: one run's tables, estimates, comparisons and findings by study.

    `requests` is what was expected of candidates. `only` lists, for measures that do not score every item of
    their formats, the items they do score.
    `probes` lists what was asked for measures of log-likelihoods. `responses` are answers in words with what
    figures need of their texts (`facts_of`), and `answers` reads the texts; `identical` are the candidates
    whose repeats are one text, and `roster` says who was asked what. `logprob_rows` are what came of
    log-likelihood requests, scored or not. `cases` are those of the run's items.
    `primary` is what the first answer is about; `primary_rows` are the estimates of it, `primary_pairs` the
    latest comparison of each pair by it, with `made_at`, those of the `family` on the present data first.
    `days` are the days of collection by response, null
    where all came on one. `exclusions` are the rows that benchmarks left out. `overall_scores` are the scores
    of single answers behind an overall that is primary. `units` are the scores of the facts of answers by
    `unit_measures`, null where none were scored, and `evidence` by measure the passages that they rest on.
    `retired` names measures whose scores are in none of these, and `n_tests_retired` counts comparisons by
    them: they were tests all the same. `forgotten` says what the run was told to forget. `integrity` counts
    the answers that are in some way not whole, and `file_scores` compares the scores that came with the
    answers with ours.
    """

    name: str
    items: pl.DataFrame
    responses: pl.DataFrame
    answers: Answers
    scores: pl.DataFrame
    measures: Mapping[int, Measure]
    estimates: Rows
    comparisons: Rows
    benchmarks: Sequence[Benchmark]
    provenance: Rows
    selection: str | None
    studies: Mapping[str, Rows]
    roster: "Roster"
    requests: Requests
    redact: bool = False
    only: Mapping[int, frozenset[tuple[str, str, str]]] = {}
    probes: Mapping[int, str] = {}
    identical: frozenset[str] = frozenset()
    logprob_rows: pl.DataFrame | None = None
    cases: Cases = Cases((), (), ())
    primary: Primary | None = None
    primary_rows: Rows = ()
    primary_pairs: Rows = ()
    family: str | None = None
    overall_scores: pl.DataFrame | None = None
    days: pl.DataFrame | None = None
    exclusions: Sequence[ExclusionCounts] = ()
    units: pl.DataFrame | None = None
    unit_measures: Mapping[int, Measure] = {}
    evidence: Mapping[int, pl.DataFrame] = {}
    retired: Sequence[str] = ()
    n_tests_retired: int = 0
    integrity: Sequence[IntegrityRow] = ()
    file_scores: Rows = ()
    forgotten: Sequence[str] = ()

    def left_out(self, benchmark: str) -> list[str]:
        """The sentences on the rows that a benchmark left out."""
        return [counts.text for counts in self.exclusions if counts.benchmark == benchmark]

    def case_counts(self, items: pl.DataFrame) -> dict[str, CaseCount]:
        """By benchmark how many cases these items are, and how many repeat another one."""
        chosen = set(items.select("benchmark", "item", "variant").iter_rows())
        return {counted.benchmark: counted for counted in count_cases(self.cases, chosen)}

    @property
    def without_overall(self) -> "ReportData":
        """The same without the measure of an overall, which no rater gives: its metrics give the scores."""
        return self._replace(measures={k: m for k, m in self.measures.items() if m.metric != OVERALL})

    @property
    def without_logprobs(self) -> "ReportData":
        """The same without measures of log-likelihoods: no answer was read for them."""
        return self._replace(
            scores=select_rows(self.scores, ~pl.col("measure_id").is_in(list(self.probes))),
            measures={key: m for key, m in self.measures.items() if key not in self.probes},
        )

    @property
    def n_logprob_items(self) -> int:
        """The number of items about which log-likelihoods were asked."""
        columns = ("benchmark", "item", "variant")
        of_probes = pl.col("measure_id").is_in(list(self.probes))
        tables = [distinct(select_rows(self.scores, of_probes), *columns)]
        if self.logprob_rows is not None:
            tables.append(self.logprob_rows.select(columns))
        asked_items = pl.concat(tables)
        return asked_items.n_unique() if asked_items.height else 0

    @property
    def n_tests(self) -> int:
        """How many tests the comparisons are: on unchanged data they are one; those by retired scores too."""
        return len(comparison_tests(self.comparisons)) + self.n_tests_retired

    @property
    def stamps(self) -> dict[JudgedCriterion, str]:
        """The validation status of judges that were checked against people; all others are unvalidated."""
        return validation_statuses(self.studies.get("examiners", ()))

    @property
    def saturated(self) -> frozenset[JudgedCriterion]:
        """Criteria with nearly all scores at one value."""
        return saturated_criteria(self.studies.get("examiners", ()))

    @property
    def raters_compared(self) -> bool:
        """Whether a finding shows how far raters of the same answers agree."""
        findings = self.studies.get("agreement", ())
        return any(row["contrast"] == "raters" for finding in findings for row in finding["rows"])


class Roster(NamedTuple):
    """Who was asked, `candidate` and `role`, and what: `benchmark`, `item`, `variant` and `group`.

    In words or for log-likelihoods, each once.
    """

    candidates: pl.DataFrame
    items: pl.DataFrame

    @classmethod
    def of(cls, *tables: pl.DataFrame) -> "Roster":
        """Those of responses and of scores; edits are nobody's question."""
        unedited = [select_rows(table, pl.col("edit") == "") for table in tables]
        return cls(
            *(
                pl.concat(distinct(table, *names) for table in unedited).unique(maintain_order=True)
                for names in (("candidate", "role"), ("benchmark", "item", "variant", "group"))
            )
        )


def facts_of(answers: Answers) -> pl.DataFrame:
    """The answers with the columns that figures take; in place of their texts what figures take of those.

    `blank`: no letter and no digit; `text_hash`: what texts are told apart by.
    """
    return answers(
        *(*OF_RESPONSES, "group", "tokens", "seconds", "cost"),
        blank=BLANK,
        text_hash=TEXT_HASH,
        edited=None,
        items=None,
    )


class Board(NamedTuple):
    """Benchmark, metric, criterion and rater; a rule's rater is ''."""

    benchmark: str
    metric: str
    criterion: str
    rater: str


def board_of(row: Mapping[str, Any]) -> Board:
    """The board that a row of an estimate, a comparison or a study stands on."""
    return Board(row["benchmark"], row["metric"], row["criterion"], row.get("rater") or "")


def by_board(rows: Iterable[Mapping[str, Any]]) -> dict[Board, list[Mapping[str, Any]]]:
    """The rows of each board, all in their order."""
    boards: dict[Board, list[Mapping[str, Any]]] = {}
    for row in rows:
        boards.setdefault(board_of(row), []).append(row)
    return boards


class ScoredResponses(NamedTuple):
    """One measure on the responses of one format: a row per response with its value or status.

    For a measure of log-likelihoods (`of_logprobs`) there is one row per item.
    """

    benchmark: str
    format: str
    measure: Measure
    label: str
    answers: pl.DataFrame
    of_logprobs: bool = False

    @property
    def thing(self) -> str:
        """What is counted."""
        return "question" if self.of_logprobs else "answer"


def scored_responses(
    scores: pl.DataFrame, measures: Mapping[int, Measure], probes: Collection[int] = ()
) -> list[ScoredResponses]:
    """The responses by measure, benchmark and format, a row each; edited answers are left out.

    A score is the mean of a response's passes, and its status `ok` if one of them is. `probes` are the
    measures of log-likelihoods. Names and statuses are codes (`pl.Enum`), names in their order.
    """
    codes = {**coded(scores, "candidate", "item", "variant"), "status": pl.Enum(["ok", *MISSING])}
    short_names = labels(measures)
    order = pl.col("status").replace_strict(
        {s: k for k, s in enumerate(("ok", *MISSING))}, return_dtype=pl.Int8
    )
    parts = []
    for key, measure in measures.items():
        of_measure = select_rows(
            scores.select("benchmark", *RESPONSE, "format", "value", "status", "measure_id", "edit"),
            (pl.col("measure_id") == key) & (pl.col("edit") == ""),
        )
        for benchmark, form in distinct(of_measure, "benchmark", "format").iter_rows():
            place = (pl.col("benchmark") == benchmark) & (pl.col("format") == form)
            answers = pl.concat(
                part.group_by(RESPONSE)
                .agg(
                    value=exact_mean(pl.col("value")).round(9),
                    status=pl.col("status").gather(order.arg_min()).first(),  # one score is enough
                )
                .cast(codes)  # type: ignore[arg-type]
                for _, part in by_candidate(select_rows(of_measure, place))
            )
            name = short_names[key_of(measure)]
            parts.append(ScoredResponses(str(benchmark), str(form), measure, name, answers, key in probes))
    return parts


def quartiles(parts: Sequence[ScoredResponses]) -> list[dict[str, Any]]:
    """A row for each part and candidate: least, quartiles, median and most of its scores, null without any.

    Quartiles are interpolated. `n` counts scores; missing ones are counted beside them and have no value.
    """
    value = pl.col("value")
    rows = []
    for part in parts:
        figures = part.answers.group_by("candidate").agg(
            n=value.count(),
            n_missing=value.is_null().sum(),
            least=value.min(),
            lower=value.quantile(0.25, "linear"),
            median=value.median(),
            upper=value.quantile(0.75, "linear"),
            most=value.max(),
        )
        shared = {"benchmark": part.benchmark, "format": part.format, "measure": part.label}
        rows += [shared | row for row in figures.sort("candidate").iter_rows(named=True)]
    return rows
