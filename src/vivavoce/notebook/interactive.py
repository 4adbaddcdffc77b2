"""Interactive charts of estimates and comparisons, by Altair, which comes with the extra `plots`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vivavoce.core.display import shows
from vivavoce.core.errors import SelectionError
from vivavoce.core.extras import require_extras
from vivavoce.core.numbers import finite
from vivavoce.core.records import Finding
from vivavoce.notebook.drawings import COMPARISON, ESTIMATES
from vivavoce.notebook.markup import MOST_IN_NAME, shortened
from vivavoce.report.format import interval, number

if TYPE_CHECKING:
    import altair as alt

WIDTH, ROW_HEIGHT = 420, 24
RULE = "#7a8694"


@shows("interactive", Finding)
def interactive_chart(finding: Finding) -> "alt.LayerChart":
    """Points with their 95 % intervals, to hover, to pan and to zoom.

    Raises `ExtraError` where Altair is not installed, `SelectionError` for a finding of another study, and
    for one without a figure.
    """
    if finding.study not in (*ESTIMATES, COMPARISON):
        raise SelectionError(
            f"an interactive chart shows estimates or a comparison, not {finding.study}: "
            "finding.plot() draws those whose report has a chart."
        )
    points = [point for row in finding.rows if (point := _point(row)) is not None]
    if not points:
        raise SelectionError("there is nothing to draw: no row has a figure.")
    require_extras({"altair": "plots"}, "an interactive chart")
    return _chart(points, differences=finding.study == COMPARISON)


def _point(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a row shows: a name, the figure with its interval, and on what it rests."""
    pair = "difference" in row
    value = finite(row["difference"] if pair else row["estimate"])
    if value is None:
        return None
    low, high = (finite(row[f"{end}_family"] if pair else row[end]) for end in ("low", "high"))
    return {
        "name": _name(f"{row['a']} − {row['b']}" if pair else row["candidate"]),
        "measure": _name(", ".join(_measure(row))),
        "value": value,
        "low": low,
        "high": high,
        "figure": number(value),
        "interval": interval(low, high),
        "items": row["n_items"],
        "says": shortened(row.get("verdict") or row.get("reason") or "", 300),
    }


def _measure(row: Mapping[str, Any]) -> list[str]:
    """What a figure is of, each word once."""
    columns = ("metric", "criterion", "rater", "benchmark", "view")
    return list(dict.fromkeys(row[name] for name in columns if row.get(name) not in (None, "", "mean")))


def _name(text: str) -> str:
    return shortened(text, MOST_IN_NAME)


def _chart(points: Sequence[Mapping[str, Any]], *, differences: bool) -> "alt.LayerChart":
    import altair as alt

    data = alt.InlineData(values=list(points))
    names = alt.Y("name:N", title=None, sort=None, axis=alt.Axis(labelLimit=280))
    title = "difference with its 95 % interval" if differences else "estimate with its 95 % interval"
    scale = alt.Scale(zero=differences, padding=12)
    fields = ("name:N", "measure:N", "figure:N", "interval:N", "items:Q", "says:N")
    tooltip = list(map(alt.Tooltip, fields))
    colour = alt.Color("measure:N", title=None, legend=alt.Legend(orient="top", labelLimit=WIDTH))
    base = alt.Chart(data).encode(
        y=names, tooltip=tooltip, color=colour, yOffset=alt.YOffset("measure:N", sort=None)
    )
    layers = [
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=title, scale=scale), x2="high:Q")
        .transform_filter("isValid(datum.low) && isValid(datum.high)"),
        base.mark_point(filled=True, size=70).encode(x=alt.X("value:Q", title=title, scale=scale)),
    ]  # fmt: skip
    if differences:
        zero = alt.Chart(alt.InlineData(values=[{"zero": 0}]))
        layers.insert(0, zero.mark_rule(color=RULE).encode(x="zero:Q"))
    n_lanes = len({(point["name"], point["measure"]) for point in points})
    chart = alt.layer(*layers).properties(width=WIDTH, height=ROW_HEIGHT * n_lanes)
    return chart.interactive(bind_y=False)  # type: ignore[return-value]  # it has no facets
