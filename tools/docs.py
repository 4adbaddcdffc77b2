"""A hook of mkdocs: what the code knows is written into the pages, so that they cannot say anything else.

`<!-- commands -->` becomes the help of every verb, `<!-- card: SPEC -->` the facts of a metric.
"""

import re
from typing import Any

__all__ = ["card", "commands", "on_page_markdown"]


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page with its marks filled."""
    markdown = re.sub(r"<!-- card: (.+?) -->", lambda mark: card(mark[1]), markdown)
    return markdown.replace("<!-- commands -->", commands()) if "<!-- commands -->" in markdown else markdown


def card(spec: str) -> str:
    """A metric's facts as a table: range and rules of each criterion, formats, settings, signature."""
    from vivavoce.catalogue import describe

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


def commands() -> str:
    """Every verb with what it does, its arguments and its options."""
    from typer.main import get_command

    from vivavoce.cli import app

    made = []
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        if command.hidden:
            continue
        rows = [
            f"| `{_cell(_spelt(p))}` | {_cell(getattr(p, 'help', None) or '')} |"
            for p in command.params
            if p.name != "help" and not getattr(p, "hidden", False)
        ]
        about = re.sub(r"^(Example: )", r"\1", command.help or "", flags=re.MULTILINE)
        made += [f"## viva {name}", "", about, "", "| | |", "|---|---|", *rows, ""]
    return "\n".join(made)


def _spelt(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper())
    return ", ".join(parameter.opts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
