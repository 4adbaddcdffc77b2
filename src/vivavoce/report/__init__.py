"""The report: one HTML file that carries everything and asks nothing of the network.

`write` turns what a run holds into plain rows (`contents`) and fills the template, which escapes every text.
"""

from contextlib import suppress
from pathlib import Path
from typing import Any

from vivavoce.errors import StoreError
from vivavoce.report.contents import Contents, rows

__all__ = ["Contents", "render", "write"]


def render(contents: Contents) -> str:
    """The page as text."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,  # candidates' answers are hostile text
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"figure": _figure, "share": _share, "position": _position, "tick": "{:g}".format}
    return environment.get_template("page.html").render(**rows(contents))


def write(contents: Contents, path: Path) -> None:
    """Write the page to `path`, replacing an earlier one as a whole or not at all."""
    if path.is_dir():
        raise StoreError(f"{path} is a folder: give the report a file's path with --to.")
    page = render(contents)
    draft = path.with_name(f".{path.name}.part")
    try:
        draft.write_text(page, encoding="utf-8", errors="replace")  # a lone surrogate is no text
        draft.replace(path)
    except OSError as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise StoreError(
            f"cannot write the report to {path}: {error.strerror}. Give another path with --to."
        ) from None


def _figure(value: float | None, places: int = 3) -> str:
    """A number in a table; a dash where there is none."""
    return "–" if value is None else f"{value:.{places}f}".replace("-", "−")


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _position(value: float | None, scale: dict[str, Any]) -> str:
    """Where a value lies on a scale, in percent of its width."""
    width = scale["high"] - scale["low"]
    place = 0.0 if value is None or width == 0 else (value - scale["low"]) / width
    return f"{100 * min(1.0, max(0.0, place)):.2f}"
