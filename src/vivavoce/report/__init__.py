"""The report: a self-contained HTML file.

`write` turns what a run holds (`data`) into plain rows and charts (`variables`) and fills the template,
which escapes every text.
"""

import base64
import hashlib
from collections.abc import Iterable
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from vivavoce.core.errors import StoreError
from vivavoce.core.measure_names import metric_name
from vivavoce.core.private_files import private_folder
from vivavoce.core.text import label, printable
from vivavoce.core.text_files import write_text
from vivavoce.report.charts.svg import CHART_CSS, Figure
from vivavoce.report.checklist import MADE_BY as CHECKLIST_MADE_BY
from vivavoce.report.checklist import checklist_text
from vivavoce.report.context import json_rows, page_context
from vivavoce.report.data import ReportData
from vivavoce.report.format import SILENCE, interval, number, p_value, percent, ranks
from vivavoce.report.page_charts import with_page_charts
from vivavoce.report.sections.leaderboard import Scale, leaderboard_figures
from vivavoce.studies.text import cases, count, few_cases, uneven

if TYPE_CHECKING:
    from jinja2 import Environment

MADE_BY = '<meta name="generator" content="vivavoce'
PAGE = Path(__file__).with_name("page")
STYLES = ("page.css", "first.css", "second.css", "facts.css")
Pages = Literal["one", "all"]
"""What paper shows: the first two layers, or everything."""


@cache
def page_environment(folder: Path) -> "Environment":
    """Templates of a folder, in which every text is escaped and cannot turn the direction of what follows.

    A folder has one environment: it takes longer to compile the templates than to fill them.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,  # candidates' answers are hostile text
        undefined=StrictUndefined,
        finalize=lambda value: printable(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _report_environment() -> "Environment":
    environment = page_environment(PAGE)
    environment.filters |= {
        "figure": number,
        "interval": interval,
        "n": "{:,}".format,
        "share": percent,
        "position": _position,
        "tick": lambda value: number(value, "g"),
        "p": p_value,
        "runs": _runs,
        "silence": SILENCE.get,
        "count": count,
        "cases": cases,
        "uneven": uneven,
        "few_cases": few_cases,
        "label": label,
        "ranks": ranks,
        "metric_name": metric_name,
    }
    return environment


def _page(values: dict[str, Any]) -> str:
    from markupsafe import Markup

    style = "".join(map(_page_file, STYLES)) + CHART_CSS
    script = _page_file("page.js") + _page_file("explorer.js")
    text = (
        _report_environment()
        .get_template("page.html")
        .render(
            **values,
            explorer_data=Markup(values["explorer"].data),  # escaped as JSON, see `explorer.embedded`
            style=Markup(style),
            script=Markup(script),
            policy=f"default-src 'none'; script-src {policy_hash(script)}; style-src {policy_hash(style)}; "
            "base-uri 'none'; form-action 'none'",
        )
    )
    return text.lstrip()


def _page_file(name: str) -> str:
    return (PAGE / name).read_text(encoding="utf-8")


def policy_hash(text: str) -> str:
    """What a content security policy calls this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def write(
    data: ReportData,
    path: Path,
    *,
    plots: Path | None = None,
    checklist: Path | None = None,
    pages: Pages = "all",
) -> list[dict[str, Any]]:
    """Write the page to `path`, as a whole or not at all, every chart to the folder `plots`, and `checklist`.

    `pages` is what paper shows: `one` is the answer and the details beside it, without what is folded. Names
    of charts are made of what they show, in letters a to z, digits and hyphens. Returns the page's numbers as
    rows, see `vivavoce.report.context.json_rows`.
    """
    refuse_other_files(path, checklist)
    values = page_context(data)
    write_text(path, _page(with_page_charts(values) | {"pages": pages}), "the report", "--to")
    if checklist is not None:
        write_text(checklist, checklist_text(data), "the checklist", "--checklist")
    if plots is not None:
        write_charts(_figures(values), plots)
    size = path.stat().st_size
    return [{"section": "file", "path": str(path), "bytes": size, "plots": plots and str(plots),
             "checklist": checklist and str(checklist)}, *json_rows(values)]  # fmt: skip


def refuse_other_files(path: Path, checklist: Path | None = None) -> None:
    """Raise `StoreError` where the report or its checklist would replace anything but an earlier one."""
    _refuse(path, "report", MADE_BY, "--to")
    if checklist is not None:
        if checklist.resolve() == path.resolve():
            raise StoreError(f"the report and its checklist are both {path}: give --checklist another path.")
        _refuse(checklist, "checklist", CHECKLIST_MADE_BY, "--checklist")


def _refuse(path: Path, subject: str, made_by: str, option: str) -> None:
    """Raise `StoreError` for a path that holds anything but an earlier file of this kind."""
    try:
        if path.is_dir():
            raise StoreError(f"{path} is a folder: give the {subject} a file's path with {option}.")
        if not path.exists() or (path.stat().st_size == 0 and path.is_file()):
            return
        if path.is_file():
            with path.open("rb") as stream:
                if made_by.encode() in stream.read(4_000):
                    return
    except OSError as error:
        reason = error.strerror or error
        raise StoreError(f"cannot look at {path}: {reason}. Give another path with {option}.") from None
    raise StoreError(f"{path} is there already and is no {subject}: give another path with {option}.")


def write_charts(figures: Iterable[Figure], folder: Path) -> None:
    """Write every chart to `folder` as an SVG file of its own; other files there stay."""
    try:
        private_folder(folder)
    except OSError as error:
        raise StoreError(
            f"cannot make the folder {folder}: {error.strerror or error}. Give another path with --plots."
        ) from None
    drawings: dict[str, str] = {}
    for figure in figures:
        name, n = figure.name, 2
        while name in drawings:
            name, n = f"{figure.name}-{n}", n + 1
        if figure.svg is not None:
            drawings[name] = figure.svg
    for name, svg in drawings.items():
        write_text(folder / f"{name}.svg", svg, "a chart", "--plots")


def _figures(values: dict[str, Any]) -> list[Figure]:
    """All figures of the page in its order, and the leaderboards, which the page draws itself."""
    return [
        *leaderboard_figures(values["boards"]),
        *(row["figure"] for row in values["comparisons"] if row["figure"]),
        *values["matrix"],
        *(profile["figure"] for profile in values["profiles"]),
        *values["distributions"],
        *values["against"],
        *(figure for section in values["sections"] for figure in section["figures"]),
        *(figure for board in values["facts"] for figure in board.lengths),
    ]


def _runs(rows: list[dict[str, Any]], key: str) -> list[list[dict[str, Any]]]:
    """Neighbours that share a value."""
    return [list(group) for _, group in groupby(rows, key=itemgetter(key))]


def _position(value: float, scale: Scale) -> str:
    """Where a value lies on a scale, in percent of its width."""
    width = scale.high - scale.low
    place = (value - scale.low) / width if width else 0.0
    return f"{100 * min(1.0, max(0.0, place)):.2f}"
