"""A packet as one HTML file that works offline and asks for nothing; what is filled in stays in it."""

import base64
import hashlib
from pathlib import Path

from vivavoce.formats import label
from vivavoce.people.keys import Key

__all__ = ["page"]

PAGE = Path(__file__).with_name("page")


def page(key: Key, rater: str) -> bytes:
    """The packet of a rater. Texts are escaped; scripts and styles run by their hashes only."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(PAGE),
        autoescape=True,  # candidates' answers are hostile text
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["label"] = label
    style, script = (
        (PAGE / name).read_text(encoding="utf-8").replace("\r\n", "\n")
        for name in ("packet.css", "packet.js")
    )
    text = environment.get_template("packet.html").render(
        panel=key.panel,
        criterion=key.criterion,
        rater=rater,
        questions=[(one.question, one.answers, one.seal) for one in key.packets[rater]],
        style=Markup(style),
        script=Markup(script),
        policy=f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'; "
        "form-action 'none'",
    )
    return text.lstrip().encode("utf-8", "replace")


def _hash(text: str) -> str:
    """What a content security policy calls this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
