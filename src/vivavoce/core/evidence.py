"""A passage that a unit of a response rests on, and where it stands."""

from typing import Literal, NamedTuple

Bearing = Literal["supports", "contradicts", "shown"]


class Evidence(NamedTuple):
    """A passage that a unit of a response was checked against, and where it stands.

    `source` names the collection, such as a folder, `context` for the item's own, or `citation`; `version` is
    the hash of what was read of it. `page` counts from 1, null where a file has none. `offset` counts
    characters from the beginning of the file's text, or of the page's; null where the place is not known.
    `quote` stands there word for word. `bearing` is `shown` where the passage was only shown to the checker.
    """

    source: str
    version: str
    file: str
    page: int | None
    offset: int | None
    quote: str
    bearing: Bearing = "shown"
