"""The report: one HTML file that carries everything and asks nothing of the network.

`write` turns what a run holds into plain rows (`contents`) and fills the template, which escapes every text;
charts are drawn by `plots`, and `export_plots` writes each as a file.
"""

from contextlib import suppress
from pathlib import Path
from typing import Any

from vivavoce.errors import StoreError
from vivavoce.report.contents import Contents, rows
from vivavoce.report.studied import boards_drawn
from vivavoce.text import printable

MADE_BY = '<meta name="generator" content="vivavoce'

__all__ = ["Contents", "export_plots", "render", "write"]


def render(contents: Contents) -> str:
    """The page as text."""
    return _page(rows(contents))


def _page(values: dict[str, Any]) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,  # candidates' answers are hostile text
        undefined=StrictUndefined,
        finalize=lambda value: printable(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "figure": _figure,
        "share": _share,
        "position": _position,
        "tick": "{:g}".format,
        "p": _p,
    }
    return environment.get_template("page.html").render(**values)


def write(contents: Contents, path: Path, *, plots: Path | None = None) -> None:
    """Write the page to `path`, as a whole or not at all, and every chart to the folder `plots`."""
    _refuse(path)
    values = rows(contents)
    _store(path, _page(values), "the report", "--to")
    if plots is not None:
        _export(values, plots)


def _refuse(path: Path) -> None:
    """Raise `StoreError` for a path where something lies that is no report of ours."""
    if path.is_dir():
        raise StoreError(f"{path} is a folder: give the report a file's path with --to.")
    try:
        if not path.exists() or (path.stat().st_size == 0 and path.is_file()):
            return
        if path.is_file():
            with path.open("rb") as stream:
                if MADE_BY.encode() in stream.read(4_000):
                    return
    except OSError as error:
        raise StoreError(f"cannot look at {path}: {error.strerror}. Give another path with --to.") from None
    raise StoreError(f"{path} is there already and is no report: give another path with --to.")


def export_plots(contents: Contents, folder: Path) -> list[Path]:
    """Write every chart to `folder` as an SVG file of its own, and return their paths.

    Names are made of what is shown, in letters a to z, digits and hyphens; earlier files of these names are
    replaced, others stay.
    """
    return _export(rows(contents), folder)


def _export(values: dict[str, Any], folder: Path) -> list[Path]:
    figures = [
        *boards_drawn(values["boards"]),
        *(row["figure"] for row in values["comparisons"] if row["figure"]),
        *(figure for section in values["sections"] for figure in section["figures"]),
    ]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"cannot make the folder {folder}: {error.strerror}. Give another path with --plots."
        ) from None
    taken: dict[str, str] = {}
    for figure in figures:
        name, n = figure.name, 2
        while name in taken:
            name, n = f"{figure.name}-{n}", n + 1
        if figure.svg is not None:
            taken[name] = figure.svg
    for name, svg in taken.items():
        _store(folder / f"{name}.svg", svg, "a chart", "--plots")
    return [folder / f"{name}.svg" for name in taken]


def _store(path: Path, text: str, what: str, option: str) -> None:
    """Write a file as a whole or not at all."""
    draft = path.with_name(f".{path.name}.part")
    try:
        draft.write_text(text, encoding="utf-8", errors="replace")  # a lone surrogate is no text
        draft.replace(path)
    except OSError as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise StoreError(
            f"cannot write {what} to {path}: {error.strerror}. Give another path with {option}."
        ) from None


def _figure(value: float | None, places: int = 3) -> str:
    """A number in a table; a dash where there is none."""
    return "–" if value is None else f"{value:.{places}f}".replace("-", "−")


def _p(value: float | None) -> str:
    """A p value; a small one is never 0."""
    return "–" if value is None else "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _position(value: float | None, scale: dict[str, Any]) -> str:
    """Where a value lies on a scale, in percent of its width."""
    width = scale["high"] - scale["low"]
    place = 0.0 if value is None or width == 0 else (value - scale["low"]) / width
    return f"{100 * min(1.0, max(0.0, place)):.2f}"
