"""A hook of mkdocs: what the code knows is written into the pages, so that they cannot say anything else.

`<!-- card: SPEC -->` becomes the facts of a metric.
"""

import re
from typing import Any


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page with the facts of its metrics filled in."""
    return re.sub(r"<!-- card: (.+?) -->", lambda match: card(match[1]), markdown)


def card(spec: str) -> str:
    """A metric's facts as a table: range and rules of each criterion, formats, settings, signature."""
    from vivavoce.pipeline.catalogue import describe

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
