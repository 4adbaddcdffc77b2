"""Static charts of findings: the drawings of the report, to show in a cell or to save."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.core.display import shows
from vivavoce.core.errors import InputError, SelectionError, StoreError
from vivavoce.core.measure_names import measure_name
from vivavoce.core.private_files import private_folder, write_all_private
from vivavoce.core.records import Finding
from vivavoce.notebook.markup import Html, block, element, escaped, soft
from vivavoce.report import charts
from vivavoce.report.charts.svg import CHART_CSS, Figure, figure
from vivavoce.report.data import by_board
from vivavoce.report.section import section_of
from vivavoce.report.sections.comparisons import matrices

ESTIMATES, COMPARISON = frozenset({"estimates", "score"}), "compare"
"""The findings whose rows are estimates, and those whose rows are comparisons."""


class Plot(NamedTuple):
    """The drawings of a finding. A notebook shows them; `save` writes them as SVG."""

    figures: tuple[Figure, ...]

    @property
    def inner(self) -> Html:
        """The figures, each under its title, or the sentence in a drawing's place."""
        return Html("".join(map(_figure_html, self.figures)))

    @property
    def css(self) -> str:
        """The rules that the drawings need on a page."""
        return CHART_CSS

    def _repr_html_(self) -> str:
        return block(self.inner, css=self.css)

    def __repr__(self) -> str:
        titles = "; ".join(figure.title for figure in self.figures)
        return f"<Plot: {titles}; show it in a notebook, or save it with .save('chart.svg')>"

    @property
    def svgs(self) -> tuple[str, ...]:
        """The drawings as SVG that stands alone."""
        return tuple(str(figure.svg) for figure in self.figures if figure.svg is not None)

    def save(self, path: str | Path) -> tuple[Path, ...]:
        """Write the drawings: one to a path that ends in .svg, any number into a folder.

        Returns the paths. Raises `InputError` for another kind of file, and for several drawings in one;
        `StoreError` where the system refuses.
        """
        target = Path(path)
        paths = _paths(target, [figure for figure in self.figures if figure.svg is not None])
        try:
            private_folder(paths[0].parent)
            write_all_private(dict(zip(paths, self.svgs, strict=True)))
        except OSError as error:
            raise StoreError(f"cannot write {target}: {error.strerror or error}.") from None
        return paths


def _paths(target: Path, drawings: Sequence[Figure]) -> tuple[Path, ...]:
    """Where drawings go: the file that is named for one, or files in a folder."""
    if not target.suffix:
        return tuple(target / f"{n:02d}-{drawing.name}.svg" for n, drawing in enumerate(drawings, 1))
    if target.suffix.lower() != ".svg":
        raise InputError(f"a drawing is written as SVG: name {target} .svg, or give a folder.")
    if len(drawings) != 1:
        raise InputError(f"there are {len(drawings)} drawings: give a folder for them instead of {target}.")
    return (target,)


def _figure_html(drawing: Figure) -> Html:
    if drawing.svg is None:
        return soft(f"{drawing.title}: {drawing.sentence}")
    inside = Html(drawing.svg.__html__())  # its texts are escaped where they are drawn
    return element("figure", element("figcaption", escaped(drawing.title)), inside)


@shows("drawing", Finding)
def plot(finding: Finding) -> Plot:
    """The drawings of a finding. Raises `SelectionError` where there are none, with the reason."""
    figures = figures_of(finding)
    if not any(figure.svg for figure in figures):
        reasons = "; ".join(dict.fromkeys(figure.sentence or "" for figure in figures))
        reason = (
            f": {reasons}" if reasons else f": {finding.study} has no chart. Its rows are in finding.table."
        )
        raise SelectionError(f"there is nothing to draw{reason}")
    return Plot(tuple(figures))


def figures_of(finding: Finding) -> list[Figure]:
    """The figures that the report would show of these rows."""
    rows = [_labelled(row) for row in finding.rows]
    if finding.study == COMPARISON:
        return [*_forests(rows, "Differences"), *matrices(rows)]
    if finding.study in ESTIMATES:
        return _forests(rows, "Estimates")
    return list(section_of(finding.study).charts(rows))


def _forests(rows: list[Mapping[str, Any]], what: str) -> list[Figure]:
    """A forest for each board and view of a candidate."""
    figures = []
    for view in dict.fromkeys(row.get("view") for row in rows):
        for board, part in by_board(row for row in rows if row.get("view") == view).items():
            name = measure_name(board.metric, board.criterion, board.rater)
            title = f"{what}: {name} on {board.benchmark}"
            title += f", {view}" if view not in (None, "mean", "pooled") else ""
            figures.append(figure(title, charts.forest(part), title))
    return figures


def _labelled(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The row with the name of its measure, as the report's charts want it."""
    return {**row, "measure": name_of(row)} if "metric" in row and "criterion" in row else row


def name_of(row: Mapping[str, Any]) -> str | None:
    """The name of a row's measure without its rater; None of a row without a metric."""
    metric = row.get("metric")
    return None if metric is None else measure_name(metric, row.get("criterion") or "")
