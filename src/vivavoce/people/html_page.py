"""A rater's packet as a page that works offline. Every task has the same shell.

Texts are escaped; scripts and styles run by their hashes only.
"""

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from vivavoce.core.text import label
from vivavoce.people.key import Key

if TYPE_CHECKING:
    from jinja2 import Environment

PAGE = Path(__file__).with_name("page")


def html_packet(key: Key, rater: str) -> bytes:
    """The packet of a rater as a page."""
    from markupsafe import Markup

    templates = _environment()
    name = key.task.name
    style, script = (
        templates.get_template(f"{name}.{kind}").render(schema=key.task.schema) + "\n"
        for kind in ("css", "js")
    )
    text = templates.get_template(f"{name}.html").render(
        panel=key.panel,
        task=key.task,
        rater=rater,
        questions=[(entry.question, entry.answers, entry.seal) for entry in key.packets[rater]],
        style=Markup(style),
        script=Markup(script),
        policy=f"default-src 'none'; script-src {_csp_hash(script)}; style-src {_csp_hash(style)}; "
        "base-uri 'none'; form-action 'none'",
    )
    return text.lstrip().encode("utf-8", "replace")


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(PAGE),
        autoescape=True,  # candidates' answers are hostile text
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["label"] = label
    return environment


def _csp_hash(text: str) -> str:
    """What a content security policy calls this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
