"""The section of reviews: what people say of the items."""

from collections.abc import Iterator, Mapping
from typing import Any

from vivavoce.core.registry import section
from vivavoce.report import charts
from vivavoce.report.charts.svg import Figure, figure
from vivavoce.report.data import Rows
from vivavoce.report.section import Section

COLUMNS = (
    *(
        "benchmark",
        "task",
        "category",
        "n",
        "n_raters",
        "three_of_three",
        "three_low",
        "three_high",
        "two_of_three",
    ),
    *(
        "one_of_three",
        "all_agree",
        "alpha",
        "low",
        "high",
        "relevance",
        "twice",
        "held_out",
        "gold",
        "reason",
    ),
)


@section("review")
class Reviews(Section):
    """How many items people call correct."""

    heading = "Reviews of the items"
    methods = (
        "People said of items whether they are correct with their key; shares have Wilson intervals by case, "
        "agreement is Krippendorff's alpha (nominal) with a jackknife interval by case, over labels before "
        "adjudication."
    )
    order = 78

    def charts(self, rows: Rows) -> Iterator[Figure]:
        """A ladder for each benchmark and task."""
        ladders = [row for row in rows if row["about"] in ("category", "all")]
        for benchmark, task in dict.fromkeys((row["benchmark"], row["task"]) for row in ladders):
            of_task = [row for row in ladders if (row["benchmark"], row["task"]) == (benchmark, task)]
            title = f"Items that raters call correct on {benchmark}"
            title += "" if task == "review" else f" ({task})"
            yield figure(title, charts.review_ladder(of_task), task, benchmark)

    def table(self, rows: Rows) -> Rows:
        """The rows of categories, formats and questions, and of all."""
        return [_table_row(row) for row in rows if row["about"] != "rater"]


def _table_row(row: Mapping[str, Any]) -> dict[str, Any]:
    title = "all together" if row["about"] == "all" else row[row["about"]]
    return {name: row[name] for name in COLUMNS} | {"category": title}
