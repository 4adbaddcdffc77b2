"""Pages of a challenge: self-contained HTML in the report's colours, with every text escaped."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vivavoce._version import __version__
from vivavoce.core.text import one_line, printable
from vivavoce.report import PAGE as REPORT_PAGE
from vivavoce.report import page_environment, policy_hash
from vivavoce.report.format import interval, number, percent
from vivavoce.studies.text import count

if TYPE_CHECKING:
    from jinja2 import Environment

PAGES = Path(__file__).with_name("pages")
STYLE = REPORT_PAGE / "page.css"
LONGEST = 120
"""Characters of a name that a page shows."""


@cache
def _environment() -> "Environment":
    environment = page_environment(PAGES)
    environment.filters |= {
        "figure": number,
        "interval": interval,
        "share": percent,
        "count": count,
        "n": "{:,}".format,
        "name": lambda text: one_line(printable(text), LONGEST),
        "place": lambda value: f"{100 * min(1.0, max(0.0, value)):.2f}",
    }
    return environment


def html_page(template: str, **values: Any) -> str:
    """The page of a template in `pages`: no script, and nothing that turns the direction of text."""
    from markupsafe import Markup

    style = STYLE.read_text(encoding="utf-8") + (PAGES / "submissions.css").read_text(encoding="utf-8")
    policy = f"default-src 'none'; style-src {policy_hash(style)}; base-uri 'none'; form-action 'none'"
    text = (
        _environment()
        .get_template(template)
        .render(**values, style=Markup(style), policy=policy, version=__version__)
    )
    return text.lstrip()
