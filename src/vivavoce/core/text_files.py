"""Text files that a command writes: as a whole, or not at all."""

from contextlib import suppress
from pathlib import Path

from vivavoce.core.errors import StoreError


def write_text(path: Path, text: str, what: str, option: str) -> None:
    """Write a file as a whole or not at all; one that lies there is replaced.

    Raises `StoreError` where the system refuses, with `what` was to be written and the `option` for another
    path.
    """
    draft = path.with_name(f".{path.name}.part")
    try:
        draft.write_text(text, encoding="utf-8", errors="replace")  # a lone surrogate is no text
        draft.replace(path)
    except OSError as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise StoreError(
            f"cannot write {what} to {path}: {error.strerror or error}. Give another path with {option}."
        ) from None
