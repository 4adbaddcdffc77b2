"""A longer free answer, marked against references or by examiners."""

from vivavoce.formats.short import open_format

__all__ = ["FORMAT"]

FORMAT = open_format("longform", answered="in free text of any length")
