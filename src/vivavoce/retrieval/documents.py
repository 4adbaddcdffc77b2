"""What a folder's files become: documents with their text, and those left out with a reason."""

from typing import NamedTuple

MOST_CHARACTERS = 20_000_000
"""Characters of one document's text; a longer one is a database or a bomb."""


class Document(NamedTuple):
    """One text of a source. `name` is its file, or `rows.jsonl#12` for line 12 of a file of rows.

    `texts` are its pages in order where it is `paged`, as a PDF is, else one text. Line ends are line
    feeds and control characters are replaced; beyond that each text is what was read, and every quote stands
    in it. The text of a row begins with its title.
    """

    name: str
    texts: tuple[str, ...]
    paged: bool = False
    title: str = ""
    url: str = ""

    def text(self, page: int | None = None) -> str:
        """The text of a page, counted from 1; of a document without pages, its text.

        Raises `IndexError` for a page that it does not have.
        """
        number = page if page is not None else 1
        if number < 1 or (page is None) is self.paged:
            raise IndexError(f"{self.name} has {'pages' if self.paged else 'no pages'}: page {page}")
        return self.texts[number - 1]


class Skipped(NamedTuple):
    """A file, a row of one or some of its pages, which could not be used, and why."""

    file: str
    reason: str


class Unusable(Exception):
    """A file that gives no text; the message is the reason, a clause."""
