"""Which charts stand on the page: those of the primary criterion first, and no more than a reader looks at.

Every chart is written by `--plots`; the page says how many it leaves out.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from vivavoce.report.charts.svg import Figure
from vivavoce.report.data import board_of

MOST_CHARTS = 25


def with_page_charts(values: Mapping[str, Any]) -> dict[str, Any]:
    """The template's variables with the charts of the page alone; `n_charts_left_out` counts the others.

    In order of precedence: the matrix of pairs by the primary criterion, differences, studies, and profiles,
    distributions and scatter plots of the primary criterion. The matrix is not drawn a second time.
    """
    on_page = {id(figure) for figure in list(_in_order(values))[:MOST_CHARTS]}
    every = [figure for figure in _all(values) if figure.svg is not None]

    def chosen(figure: Figure | None) -> Figure | None:
        return figure if figure and (figure.svg is None or id(figure) in on_page) else None

    def all_chosen(figures: list[Figure]) -> list[Figure]:
        return [figure for figure in figures if chosen(figure)]

    sections = [
        {
            **section,
            "groups": [{**group, "figures": all_chosen(group["figures"])} for group in section["groups"]],
        }
        for section in values["sections"]
    ]
    return {
        **values,
        "comparisons": [{**row, "figure": chosen(row["figure"])} for row in values["comparisons"]],
        "matrix": all_chosen(values["matrix"]),
        "profiles": [{**profile, "figure": chosen(profile["figure"])} for profile in values["profiles"]],
        "distributions": all_chosen(values["distributions"]),
        "against": all_chosen(values["against"]),
        "sections": sections,
        "n_charts_left_out": sum(id(figure) not in on_page for figure in every),
    }


def _all(v: Mapping[str, Any]) -> Iterator[Figure]:
    """Every chart of the page's variables, but the matrix of the primary criterion's pairs once."""
    yield from filter(None, [v["primary_matrix"]])
    yield from _other_matrices(v)
    yield from (row["figure"] for row in v["comparisons"] if row["figure"])
    yield from (figure for section in v["sections"] for figure in section["figures"])
    yield from (profile["figure"] for profile in v["profiles"])
    yield from v["distributions"]
    yield from v["against"]


def _other_matrices(v: Mapping[str, Any]) -> Iterator[Figure]:
    first = v["primary_matrix"]
    yield from (figure for figure in v["matrix"] if first is None or figure.name != first.name)


def _in_order(v: Mapping[str, Any]) -> Iterator[Figure]:
    """The charts that may stand on the page, the weightiest first."""
    figures = [
        *filter(None, [v["primary_matrix"]]),
        *(row["figure"] for row in v["comparisons"] if row["figure"]),
        *_other_matrices(v),
        *(figure for section in v["sections"] if not section["quiet"] for figure in section["figures"]),
        *_of_primary_criterion(v),
    ]
    yield from (figure for figure in figures if figure.svg is not None)


def _of_primary_criterion(v: Mapping[str, Any]) -> Iterator[Figure]:
    """Profiles, distributions and scatter plots of the primary criterion."""
    places = v["primary_boards"]
    yield from (profile["figure"] for profile in v["profiles"] if board_of(profile) in places)
    parts = []
    for part, figure in zip(v["scored"], v["distributions"], strict=True):
        if _of_primary(part, places):
            parts.append((part.benchmark, part.format))
            yield figure
    yield from (figure for figure in v["against"] if any(_is_of(figure, *part) for part in parts))


def _of_primary(part: Any, places: Any) -> bool:
    measure = part.measure
    return (part.benchmark, measure.metric, measure.criterion.criterion, measure.rater) in places


def _is_of(figure: Figure, benchmark: str, form: str) -> bool:
    return figure.title.endswith(f": {form} answers on {benchmark}")
