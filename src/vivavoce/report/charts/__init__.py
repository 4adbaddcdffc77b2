"""Charts: rows in, SVG out."""

from vivavoce.report.charts.confidence import reliability_diagram, risk_coverage_curve
from vivavoce.report.charts.controls import controls_grid
from vivavoce.report.charts.correlation import correlation_map
from vivavoce.report.charts.crossings import benchmark_map, crossing_columns
from vivavoce.report.charts.estimate_plots import (
    critical_difference,
    forest,
    rank_ranges,
    rank_text,
    variance_bars,
)
from vivavoce.report.charts.mean_spreads import Spreads, mean_spreads
from vivavoce.report.charts.rank_by_measure import ranks_by_measure
from vivavoce.report.charts.resilience import order_before_and_after, wording_shares
from vivavoce.report.charts.reviews import review_ladder
from vivavoce.report.charts.svg import Drawing, Figure, figure
from vivavoce.report.charts.variance_by_prompt import variance_by_prompt

__all__ = [
    "Drawing",
    "Figure",
    "Spreads",
    "benchmark_map",
    "controls_grid",
    "correlation_map",
    "critical_difference",
    "crossing_columns",
    "figure",
    "forest",
    "mean_spreads",
    "order_before_and_after",
    "rank_ranges",
    "rank_text",
    "ranks_by_measure",
    "reliability_diagram",
    "review_ladder",
    "risk_coverage_curve",
    "variance_bars",
    "variance_by_prompt",
    "wording_shares",
]
