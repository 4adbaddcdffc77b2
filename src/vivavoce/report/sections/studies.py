"""The sections of the studies of the core: what they are about, and which charts draw their rows."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from vivavoce.core.registry import section
from vivavoce.report import charts
from vivavoce.report.charts.svg import Figure, figure
from vivavoce.report.data import Rows, by_board
from vivavoce.report.section import Section
from vivavoce.studies.scale import by_scale, phrase_of, scale_of_row
from vivavoce.studies.text import count

MOST_CURVES = 12
"""Candidates of one benchmark and kind of confidence that are drawn."""
POINTS = ("confidence", "coverage")
"""Columns of the rows that a chart is drawn of."""


def _benchmarks(rows: Rows) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    by_benchmark: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_benchmark.setdefault(row["benchmark"], []).append(row)
    yield from by_benchmark.items()


def _on_one_scale(rows: Rows) -> list[Rows]:
    """The rows of each board and scale: a rank holds on one."""
    return [part for on_board in by_board(rows).values() for part in by_scale(on_board)]


@section("ranking")
class Ranking(Section):
    """Rank intervals by mean, and mean ranks with their critical difference."""

    methods = (
        "Ranks are the places that paired tests of all pairs leave open, with p values corrected by "
        "Holm; mean ranks over cases were compared by Friedman's test, with Nemenyi's critical "
        "difference."
    )
    order = 20
    sentences_with_charts = True

    def charts(self, rows: Rows) -> Iterator[Figure]:
        """Ranks by measure; rank intervals, and critical differences where boards hold enough cases."""
        for benchmark, on_benchmark in _benchmarks(rows):
            firsts = [by_scale(on_board)[0] for on_board in by_board(on_benchmark).values()]
            by_measure = charts.ranks_by_measure(list(chain(*firsts)))
            if isinstance(by_measure, charts.Drawing):
                title = f"Ranks by measure on {benchmark}"
                yield figure(title, by_measure, "ranks-by-measure", benchmark)
        for on_board in _on_one_scale(rows):
            title = f"{on_board[0]['measure']} on {on_board[0]['benchmark']}"
            scale = phrase_of(scale_of_row(on_board[0]))
            title = ", ".join(filter(None, (title, scale)))
            yield figure(title, charts.rank_ranges(on_board), "ranks", title)
            if on_board[0]["critical_difference"] is not None:
                mean_ranks = charts.critical_difference(on_board)
                yield figure(title, mean_ranks, "mean-ranks", title)


@section("correlation")
class Correlation(Section):
    """How measures order the candidates."""

    methods = (
        "Measures were correlated over candidates' means (Spearman, Kendall, Pearson) after turning "
        "those on which lower is better; each coefficient names its level."
    )
    order = 30

    def charts(self, rows: Rows) -> Iterator[Figure]:
        """One map of all measures per benchmark; columns and maps of what crosses benchmarks."""
        # Findings of before have no column that names the contrast.
        of_measures = [row for row in rows if row.get("contrast", "measures") == "measures"]
        for benchmark, on_benchmark in _benchmarks(of_measures):
            yield figure(
                f"Measures on {benchmark}", charts.correlation_map(on_benchmark), "correlation", benchmark
            )
        yield from _crossing_figures([row for row in rows if row.get("contrast", "measures") != "measures"])


def _crossing_figures(rows: Rows) -> Iterator[Figure]:
    """A figure per contrast, side that stays, and subset of candidates."""
    crossed: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        side = row["b"] if row["contrast"] == "ratings" else row["a"]
        if row["coefficient"] == "pearson":
            crossed.setdefault((row["contrast"], str(side), row["subset"]), []).append(row)
    for (contrast, side, subset), pairs in crossed.items():
        draw = charts.benchmark_map if contrast == "benchmarks" else charts.crossing_columns
        title = f"{side} over benchmarks" if contrast == "benchmarks" else f"Measures against {side}"
        of_size = f", {subset} models" if subset else ""
        yield figure(f"{title}{of_size}", draw(pairs), "crossing", contrast, side, subset)


@section("consistency")
class Consistency(Section):
    """Variance components of scores."""

    methods = "The variance of scores was divided into question, candidate by question, repeat and examiner."
    order = 40

    def charts(self, rows: Rows) -> Iterator[Figure]:
        """Stacked shares per benchmark; candidates with identical repeats apart."""
        for benchmark, on_benchmark in _benchmarks(rows):
            overall = [row for row in on_benchmark if row["candidate"] == ""]
            bars = overall if len(overall) > 1 else on_benchmark
            yield figure(f"All candidates on {benchmark}", charts.variance_bars(bars), "variance", benchmark)
            title = f"Variance over repeats on {benchmark}"
            by_prompt = charts.variance_by_prompt(overall, "variance_published", "variance over repeats")
            yield figure(title, by_prompt, "variance-by-prompt", benchmark)
            identical = [row for row in on_benchmark if row["identical"] and row["s2_pass"]]
            if len(identical) > 1:
                title = f"Candidates whose repeats are the same text, on {benchmark}"
                yield figure(title, charts.variance_bars(identical), "variance-same-text", benchmark)


@section("resilience")
class Resilience(Section):
    """What other words do to scores, and to the order of candidates."""

    methods = (
        "Answers were put in other words by a model and scored again; the variance over the wordings of an "
        "answer was set beside the variance between candidates on the same questions, and the candidates' "
        "order before beside their order after (Kendall's tau-b), with cases as unit."
    )
    order = 42

    def charts(self, rows: Rows) -> Iterator[Figure]:
        """Variance by measure per benchmark; the two orders per measure and rephraser."""
        of_all = [row for row in rows if not row["candidate"] and not row["edit"]]
        for benchmark, on_benchmark in _benchmarks(of_all):
            title = f"Variance over wordings on {benchmark}"
            yield figure(title, charts.wording_shares(on_benchmark), "wordings", benchmark)
            words = "variance over wordings, as a share of the range of all scores"
            by_prompt = charts.variance_by_prompt(on_benchmark, "variance_scaled_published", words)
            yield figure(f"{title} by prompt", by_prompt, "variance-by-prompt", benchmark)
        for row in of_all:
            title = f"{row['measure']} on {row['benchmark']} before and after rewording"
            orders = charts.order_before_and_after(_candidates_of(row, rows))
            yield figure(title, orders, "order", title, row["edits"])


def _candidates_of(row: Mapping[str, Any], rows: Rows) -> list[Mapping[str, Any]]:
    """The rows of the candidates by the measure and the rephraser of another row."""
    place = {name: row[name] for name in ("benchmark", "metric", "criterion", "rater", "edits")}
    return [r for r in rows if r["candidate"] and not r["contrast"] and place.items() <= r.items()]


@section("calibration")
class Calibration(Section):
    """Confidence against right and wrong."""

    methods = (
        "Confidence was held against right and wrong by the debiased calibration error over bins of equal "
        "mass, Brier's score with its split, and risk against coverage, with cases as unit; thresholds keep "
        "errors among the answered below the stated rate with the stated confidence (Learn then Test)."
    )
    order = 45

    def charts(self, rows: Rows) -> Iterator[Figure]:
        """A reliability diagram and a curve of risk for each candidate, per kind of confidence."""
        groups: dict[tuple[str, str], dict[str, list[Mapping[str, Any]]]] = {}
        for row in rows:
            if not row["category"]:
                of_kind = groups.setdefault((row["of"], row["benchmark"]), {})
                of_kind.setdefault(row["candidate"], []).append(row)
        for (kind, benchmark), by_candidate in groups.items():
            title = "Stated confidence" if kind == "stated" else f"Confidence by {kind}"
            title = f"{title} on {benchmark}"
            for candidate, of_candidate in list(by_candidate.items())[:MOST_CURVES]:
                yield from _confidence_figures(title, candidate, of_candidate)
            n = len(by_candidate) - MOST_CURVES
            if n > 0:
                words = f"{count(n, 'further candidate')} {'is' if n == 1 else 'are'} in the table alone."
                yield figure(title, words, "reliability", title)

    def table(self, rows: Rows) -> Rows:
        """The figures without the points of the charts."""
        figures = [row for row in rows if row["figure"] not in ("bin", "curve")]
        return super().table([{k: v for k, v in r.items() if k not in POINTS} for r in figures])


def _confidence_figures(title: str, candidate: str, rows: Rows) -> Iterator[Figure]:
    """Both charts of one candidate, or the sentence why there are none."""
    if not any(row["figure"] == "bin" for row in rows):
        yield figure(title, f"{candidate}: no chart, {rows[0]['reason']}.", "reliability", title, candidate)
        return
    yield figure(title, charts.reliability_diagram(rows), "reliability", title, candidate)
    yield figure(title, charts.risk_coverage_curve(rows), "risk-coverage", title, candidate)


@section("agreement")
class Agreement(Section):
    """Agreement of scores on the same response."""

    methods = (
        "Agreement of scores on the same answer was measured by Krippendorff's alpha and other "
        "coefficients, with intervals from leaving out one case at a time."
    )
    order = 50

    def charts(self, rows: Rows) -> Iterator[Figure]:
        """Krippendorff's ordinal alpha per benchmark."""
        for benchmark, on_benchmark in _benchmarks([r for r in rows if r["coefficient"] == "alpha_ordinal"]):
            yield figure(
                f"Krippendorff's alpha on {benchmark}", charts.forest(on_benchmark), "agreement", benchmark
            )


@section("gaps")
class Gaps(Section):
    """Differences between categories."""

    methods = (
        "Whether a candidate's profile differs between categories was tested as an interaction of "
        "candidate and category with cases as unit, on categories of ten cases or more, p values "
        "corrected by Holm over all profiles of the study."
    )
    order = 60

    def charts(self, rows: Rows) -> Iterator[Figure]:
        """Categories only where the test showed a difference."""
        for (benchmark, *_), on_board in by_board(r for r in rows if r["differs"]).items():
            title = f"{on_board[0]['measure']} by category on {benchmark}"
            yield figure(title, charts.forest(on_board), "categories", title)


@section("examiners")
class Examiners(Section):
    """What a run shows of its raters."""

    methods = (
        "Judges and raters were examined themselves: repeated scores, scores of other judges and of "
        "people on the same answers (Krippendorff's alpha, with intervals from leaving out one case "
        "at a time), shares of scores at one value, and what scores follow besides quality. Sensitivity and "
        "specificity of yes/no judges have Wilson intervals by case; by candidate they were compared by "
        "permutation over cases, Holm over both figures of all candidates."
    )
    order = 70


@section("rubrics")
class Rubrics(Section):
    """Versions of a rubric against people."""

    methods = "Rubrics were compared by their agreement with people, on cases that had no part in choosing."
    order = 80


@section("panel")
class Panel(Section):
    """What people ranked best."""

    order = 90


@section("contamination")
class Contamination(Section):
    """Signs of training on the benchmark."""

    methods = (
        "Signs of training on the exam were sought in how far questions were gone on with from their "
        "first half, in accuracy by the published order of options against other orders, all places "
        "of the key counting alike, and in the rank of the benchmark's canary among decoys, as far as "
        "these were asked, p values corrected by Holm over all tests of the study."
    )
    order = 100


@section("positions")
class Positions(Section):
    """Preference for a place among the options."""

    methods = "Which place among the options a candidate picks was counted over all rotations of them."
    order = 110

    def charts(self, rows: Rows) -> Iterator[Figure]:
        """The share of each place, per metric and benchmark."""
        for (benchmark, *_), on_board in by_board(r for r in rows if r["figure"] == "share").items():
            title = f"{on_board[0]['metric']} by place on {benchmark}"
            by_place = [{**r, "category": f"place {r['position']} of {r['options']}"} for r in on_board]
            yield figure(title, charts.forest(by_place), "places", title)


@section("size")
class Size(Section):
    """Effect of parameters and of medical training."""

    methods = (
        "In a family each model was compared with those of the next smaller size, and a medical model "
        "with its base, in pairs as candidates are, p values corrected by Holm over all pairs of the "
        "study; means were fitted on the logarithm of parameters with the model as unit."
    )
    order = 120
