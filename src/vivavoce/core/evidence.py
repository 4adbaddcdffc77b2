"""A passage that a unit of a response rests on, and where it stands."""

from typing import Literal, NamedTuple, get_args

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

    @property
    def is_sound(self) -> bool:
        """Whether the fields hold texts, a page from 1 and an offset from 0 or null, and a bearing's word."""
        texts = (self.source, self.version, self.file, self.quote)
        places = ((self.page, 1), (self.offset, 0))
        return (
            all(isinstance(text, str) for text in texts)
            and all(place is None or (type(place) is int and place >= least) for place, least in places)
            and self.bearing in get_args(Bearing)
        )
