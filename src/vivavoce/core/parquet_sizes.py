"""How large a Parquet file is once it is unpacked, by its footer: a file of kilobytes may hold gigabytes.

The footer is a struct of Thrift's compact protocol:
https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
"""

import os
import struct
from pathlib import Path
from typing import Any

from vivavoce.core.errors import InputError

MOST_TIMES, MOST_ROWS_A_BYTE = 200, 20
"""How many times its size a file unpacks to, text 3 to 50 times; and the rows of a byte."""
ALWAYS_BYTES, ALWAYS_ROWS = 1 << 28, 1_000_000
"""What any file may unpack to."""
_LONGEST_FOOTER = 1 << 26
_N_ROWS, _GROUPS, _BYTES_OF_GROUP = 3, 4, 2  # ids of fields


def refuse_bomb(path: Path) -> None:
    """Raise `InputError` for a file that unpacks to far more than its size; one without a footer passes."""
    try:
        size = path.stat().st_size
        footer = _footer(path)
        n_rows = int(footer[_N_ROWS])
        n_bytes = sum(max(int(group[_BYTES_OF_GROUP]), 0) for group in footer[_GROUPS])
    except (OSError, ValueError, TypeError, LookupError, RecursionError, struct.error):
        return  # who reads it says what is wrong with it
    if n_bytes > MOST_TIMES * size + ALWAYS_BYTES or n_rows > MOST_ROWS_A_BYTE * size + ALWAYS_ROWS:
        raise InputError(
            f"{path} has {size:,} bytes, and unpacks to {n_rows:,} rows of {n_bytes:,} bytes: no table of "
            "texts does, so it is not read. If it is right, save it as CSV or JSON lines."
        )


def _footer(path: Path) -> dict[int, Any]:
    """The fields of the file's footer by their ids."""
    with path.open("rb") as stream:
        stream.seek(-8, os.SEEK_END)
        length, mark = struct.unpack("<I4s", stream.read(8))
        if mark != b"PAR1" or length > _LONGEST_FOOTER:
            raise ValueError
        stream.seek(-8 - length, os.SEEK_END)
        return _Compact(stream.read(length)).struct()


class _Compact:
    """Values of Thrift's compact protocol, one after another."""

    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 0

    def struct(self) -> dict[int, Any]:
        """The fields of a struct by their ids."""
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._zigzag()
            kind = head & 15
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind)
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (4, 5, 6):
            return self._zigzag()
        if kind == 8:
            return self._skip(self._varint())
        if kind in (9, 10):
            head = self._byte()
            return [self._value(head & 15) for _ in range(head >> 4 if head >> 4 < 15 else self._varint())]
        if kind == 12:
            return self.struct()
        return self._skip({1: 1, 2: 1, 3: 1, 7: 8}[kind])

    def _byte(self) -> int:
        self.place += 1
        return self.data[self.place - 1]

    def _skip(self, n: int) -> None:
        self.place += n

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def _zigzag(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
