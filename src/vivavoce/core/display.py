"""How records show themselves in a notebook: the core asks, and a room above it answers.

    @shows("html", Item)
    def item_html(item: Item) -> str: ...

`html` is what a notebook displays, `drawing` and `interactive` are what `plot` returns.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Literal, TypeVar

Form = Literal["html", "drawing", "interactive"]
F = TypeVar("F", bound=Callable[[Any], Any])

ROOM = "vivavoce.notebook.views"
"""The module whose functions show our records; it is loaded when the first of them is shown."""
_views: dict[tuple[Form, type], Callable[[Any], Any]] = {}


def shows(form: Form, kind: type) -> Callable[[F], F]:
    """Register a function that shows records of this type, and no subclass, in this form."""

    def register(function: F) -> F:
        _views[form, kind] = function
        return function

    return register


def view(form: Form, record: Any) -> Any:
    """What the record looks like in this form; None where nobody has said."""
    import_module(ROOM)
    function = _views.get((form, type(record)))
    return None if function is None else function(record)


def html(record: Any) -> str | None:
    """The record as HTML for a notebook; None where it has none, and where it cannot be shown.

    A notebook then falls back on `repr`.
    """
    try:
        text: str | None = view("html", record)
    except Exception:  # a cell must not fail because of how its last value looks
        return None
    return text


MOST_CHARACTERS = 80


def short_repr(record: Any, values: dict[str, Any]) -> str:
    """A record by these fields, long texts cut with how many characters they have: `Item(item='q1', …)`."""
    return f"{type(record).__name__}({', '.join(f'{k}={short(v)}' for k, v in values.items())})"


def short(value: Any) -> str:
    """What a value looks like, cut where it is long."""
    if isinstance(value, str) and len(value) > MOST_CHARACTERS:
        return f"{value[:MOST_CHARACTERS]!r}… ({len(value):,} characters)"
    text = repr(value[:MOST_CHARACTERS] if isinstance(value, tuple) else value)
    return text if len(text) <= 2 * MOST_CHARACTERS else f"{text[: 2 * MOST_CHARACTERS]}…"
