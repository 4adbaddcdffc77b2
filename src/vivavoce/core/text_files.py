"""Text files that a command writes: as a whole, or not at all."""

from pathlib import Path

from vivavoce.core.errors import StoreError
from vivavoce.core.private_files import write_private


def write_text(path: Path, text: str, what: str, option: str) -> None:
    """Write a file as a whole or not at all; one that lies there is replaced, and keeps its mode.

    Raises `StoreError` where the system refuses, with `what` was to be written and the `option` for another
    path.
    """
    try:
        write_private(path, text)
    except OSError as error:
        raise StoreError(
            f"cannot write {what} to {path}: {error.strerror or error}. Give another path with {option}."
        ) from None
