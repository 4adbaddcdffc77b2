"""Hooks of mkdocs: what the code knows is written into the pages, so that they cannot say anything else.

`<!-- card: SPEC -->` becomes the facts of a metric, `<!-- figure: NAME -->` a figure of the demo's report,
`<!-- statistics -->` the public names of `vivavoce.stats` by module, `<!-- languages -->` those of languages.
"""

import re
import tempfile
from html import unescape
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

CARD = re.compile(r"<!-- card: (.+?) -->")
FIGURE = re.compile(r"<!-- figure: (.+?) -->")
STATISTICS = "<!-- statistics -->"
LANGUAGES = "<!-- languages -->"
drawings: dict[str, str] = {}
"""The figures that pages show, by name, as SVG."""


def on_files(files: Files, config: Any) -> Files:
    """The site's files, and beside them the figures that its pages show. Raises for a figure that is none."""
    pages = (Path(config.docs_dir) / file.src_uri for file in files.documentation_pages())
    names = {name for page in pages for name in FIGURE.findall(page.read_text(encoding="utf-8"))}
    drawings.clear()
    drawings.update(demo_figures(names) if names else {})
    for name, svg in drawings.items():
        files.append(File.generated(config, f"figures/{name}.svg", content=svg))
    return files


def demo_figures(names: set[str]) -> dict[str, str]:
    """These figures of the demo's report."""
    from vivavoce.run.run import open_run

    with tempfile.TemporaryDirectory() as folder:
        make_demo(Path(folder))
        plots = Path(folder) / "plots"
        open_run(Path(folder) / "demo.viva").report_rows(plots=plots)
        if absent := sorted(name for name in names if not (plots / f"{name}.svg").exists()):
            known = ", ".join(sorted(file.stem for file in plots.iterdir()))
            raise PluginError(f"the demo's report has no figure {', '.join(absent)}. It has {known}.")
        return {name: (plots / f"{name}.svg").read_text(encoding="utf-8") for name in sorted(names)}


def make_demo(folder: Path) -> None:
    """Let the folder hold what `viva demo` leaves."""
    from typer.testing import CliRunner

    from vivavoce.cli import app

    CliRunner().invoke(app, ["demo", "--quiet", "--to", str(folder)], catch_exceptions=False)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page with the facts of its metrics, its figures and the names of statistics filled in."""
    markdown = markdown.replace(STATISTICS, statistics()) if STATISTICS in markdown else markdown
    markdown = markdown.replace(LANGUAGES, languages()) if LANGUAGES in markdown else markdown
    return FIGURE.sub(lambda match: figure(match[1]), CARD.sub(lambda match: card(match[1]), markdown))


def statistics() -> str:
    """The public names of `vivavoce.stats` in the words of mkdocstrings, a heading for each module."""
    from vivavoce import stats

    return "\n\n".join(
        f"::: vivavoce.stats.{module}\n    options:\n      heading: {module.strip('_')}\n"
        f"      members: [{', '.join(names)}]"
        for module, names in stats._NAMES.items()
    )


def languages() -> str:
    """The rows of `viva list languages` as a table."""
    from vivavoce.run.catalogue import listing

    rows = listing("languages")
    cells = [[", ".join(v) if isinstance(v, list) else v for v in row.values()] for row in rows]
    lines = [[*rows[0]], ["---"] * len(rows[0]), *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def figure(name: str) -> str:
    """A figure as an image whose text is its title."""
    title = re.search(r"<title>(.*?)</title>", drawings[name])
    return f"![{unescape(title[1]) if title else name}](figures/{name}.svg)"


def card(spec: str) -> str:
    """A metric's facts as a table: range and rules of each criterion, formats, settings, signature."""
    from vivavoce.run.catalogue import describe

    facts = describe(spec)
    lines = ["| | |", "|---|---|"]
    for c in facts["criteria"]:
        low, high = ("none" if limit is None else f"{limit:g}" for limit in (c["low"], c["high"]))
        silence = {"worst": "counts as the worst", "set_aside": "is set aside", "correct": "counts as right"}
        said = f"{low} to {high}, {c['direction']} is better; silence {silence[c['if_unanswered']]}"
        pooled = "" if c["pool"] == "mean" else f"; pooled ({c['pool']})"
        lines.append(f"| `{c['criterion']}` | {said}{pooled} |")
    lines.append(f"| marks | {', '.join(f'`{name}`' for name in facts['formats'])} |")
    if facts["needs"]:
        lines.append(f"| needs | {', '.join(f'`{name}`' for name in facts['needs'])} |")
    if facts["settings"]:
        settings = "<br>".join(f"`{_cell(setting)}`" for setting in facts["settings"])
        lines.append(f"| settings | {settings} |")
    lines.append(f"| signature | `{facts['signature']}` |")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
