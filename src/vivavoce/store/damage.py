"""What a run says when it cannot be read: the file is damaged, or a value in it is.

Values are decoded inside `decoding`, and nothing else is done there, so that a fault of our own is never
taken for damage.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vivavoce.core.errors import StoreError
from vivavoce.core.text import one_line, printable


class DamagedRun(StoreError):
    """A run that is not as it was written; the sentence may name items and candidates."""


def damaged(path: Path, detail: str) -> DamagedRun:
    """The sentence on damage: which file, what is wrong with it, and what to do."""
    return DamagedRun(
        f"{path} is no readable run file ({display(detail)}): it is damaged. Restore a copy, or give another "
        "path."
    )


CHANGED = "it was changed outside vivavoce, or the file is damaged."
"""What a thing that does not fit its hash means."""


def display(text: str, width: int = 120) -> str:
    """What stands in a stranger's file, on one line, shortened, and without what would drive a terminal."""
    return one_line(printable(text), width)


class DamagedValue(DamagedRun):
    """A stored value that is not what was stored there. `RunFile` adds the path of the file."""

    def __init__(self, subject: str) -> None:
        super().__init__(f"the run is damaged ({display(subject)}): restore a copy.")
        self.subject = subject


_UNDECODED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
_POLARS = ("polars", "pyo3_runtime")  # by name, since a command that reads no table does not load Polars


@contextmanager
def decoding(subject: str) -> Iterator[None]:
    """Whatever fails while a stored value is decoded raises `DamagedValue`; its sentence names `subject`."""
    try:
        yield
    except DamagedValue:
        raise
    except BaseException as error:  # a panic of Polars is no Exception
        if isinstance(error, _UNDECODED) or type(error).__module__.startswith(_POLARS):
            raise DamagedValue(f"{subject} cannot be read") from error
        raise
