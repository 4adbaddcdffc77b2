"""Items in their order: in memory where they are few, else in a temporary file that holds them."""

import copyreg
import io
import pickle
import tempfile
import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from operator import eq
from threading import Lock
from types import MappingProxyType
from typing import overload

from vivavoce.core.errors import InputError
from vivavoce.core.records import Item

IN_MEMORY = 20_000
"""So many items stay in memory: some 12 MB."""
BLOCK = 64
"""Items that are read together: those that are asked one after the other stand side by side."""


class ItemFile(Sequence[Item]):
    """Items in a file without a name, which its owner alone reads and which ends with this object.

    In memory stand one block and 8 bytes for each other one. Reading is safe from several threads.

    Raises `InputError` where there is no temporary file or no room for it, and for an item that holds what
    no file can.
    """

    def __init__(self, items: Iterable[Item]) -> None:
        try:
            self._file = tempfile.TemporaryFile(prefix="viva-")  # noqa: SIM115 - it ends with this object
        except OSError as error:
            raise InputError(
                f"a long exam needs a temporary file, and there is none ({error.strerror or error}): name a "
                "folder that can be written in TMPDIR."
            ) from error
        weakref.finalize(self, self._file.close)
        self._starts = array("q", [0])
        self._n = 0
        self._lock = Lock()
        self._recent: tuple[int, list[Item]] = (-1, [])
        iterator = iter(items)
        while block := list(islice(iterator, BLOCK)):
            self._append(block)

    def _append(self, block: Sequence[Item]) -> None:
        buffer = io.BytesIO()
        try:
            _Pickler(buffer, pickle.HIGHEST_PROTOCOL).dump(block)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise InputError(
                f"{block[0].benchmark}: an item between {block[0].name!r} and {block[-1].name!r} holds what "
                f"cannot be stored ({error}): give its `meta` texts, numbers and lists alone."
            ) from error
        try:
            self._file.write(buffer.getbuffer())
            self._file.flush()
        except OSError as error:
            raise InputError(
                f"{block[0].benchmark}: its questions do not fit into the folder of temporary files, "
                f"{tempfile.gettempdir()} ({error.strerror}): make room there, or name another in TMPDIR."
            ) from error
        self._starts.append(self._starts[-1] + buffer.tell())
        self._n += len(block)

    def _block(self, number: int) -> list[Item]:
        with self._lock:
            self._file.seek(self._starts[number])
            content = self._file.read(self._starts[number + 1] - self._starts[number])
        block: list[Item] = pickle.loads(content)
        return block

    def __len__(self) -> int:
        return self._n

    def __iter__(self) -> Iterator[Item]:
        return chain.from_iterable(self._block(number) for number in range(len(self._starts) - 1))

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Item]: ...
    def __getitem__(self, place: int | slice) -> Item | Sequence[Item]:
        if isinstance(place, slice):
            return item_sequence(self[position] for position in range(*place.indices(self._n)))
        position = range(self._n)[place]  # IndexError beyond the last, and from the end where negative
        number, offset = divmod(position, BLOCK)
        recent, block = self._recent
        if recent != number:
            block = self._block(number)
            self._recent = number, block
        return block[offset]

    def __eq__(self, sequence: object) -> bool:
        if not isinstance(sequence, ItemFile | tuple):
            return NotImplemented
        return len(self) == len(sequence) and all(map(eq, self, sequence))

    def __reduce__(self) -> tuple[Callable[[Iterable[Item]], Sequence[Item]], tuple[list[Item]]]:
        """For another process: the items themselves."""
        return item_sequence, (list(self),)

    def __repr__(self) -> str:
        return f"<{self._n:,} items in a temporary file>"


class _Pickler(pickle.Pickler):
    """Also takes a mapping that cannot be written to, as a loader may give `meta`."""

    dispatch_table = copyreg.dispatch_table | {MappingProxyType: lambda mapping: (dict, (dict(mapping),))}


def item_sequence(items: Iterable[Item]) -> Sequence[Item]:
    """The items in their order, to be read as often as needed; in a file above `IN_MEMORY`.

    Raises `InputError` as `ItemFile`.
    """
    if isinstance(items, ItemFile | tuple):
        return items
    iterator = iter(items)
    first = tuple(islice(iterator, IN_MEMORY + 1))
    return first if len(first) <= IN_MEMORY else ItemFile(chain(first, iterator))


def items_where(items: Iterable[Item], is_selected: Callable[[Item], bool]) -> Sequence[Item]:
    """The items that are selected, in their order; the same sequence where all are."""
    sequence = item_sequence(items)
    return sequence if all(map(is_selected, sequence)) else item_sequence(filter(is_selected, sequence))
