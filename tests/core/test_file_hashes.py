"""Hashes of files in signatures: of a large file once, until it is written to."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from vivavoce.core import file_hashes
from vivavoce.core.errors import InputError
from vivavoce.core.file_hashes import cached_hash, file_hash

LARGE = 1 << 20


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A large file that was written an hour ago by the clock of the tests."""
    clock = SimpleNamespace(time=lambda: os.stat(tmp_path).st_ctime + 3_600)
    monkeypatch.setattr(file_hashes, "time", clock)
    path = tmp_path / "weights.bin"
    path.write_bytes(b"a" * LARGE)
    return path


def n_reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """A list that grows by each file that is read for its hash."""
    reads: list[Path] = []

    def hash_and_count(path: Path) -> str:
        reads.append(path)
        return file_hash(path)

    monkeypatch.setattr(file_hashes, "file_hash", hash_and_count)
    return reads


def test_a_large_file_is_read_once_until_it_is_written_to(
    weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = n_reads(monkeypatch)
    assert {file_hash(weights)} == {cached_hash(weights) for _ in range(3)}
    assert [weights] == reads
    status = weights.stat()
    weights.write_bytes(b"b" * LARGE)
    os.utime(weights, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert file_hash(weights) == cached_hash(weights)
    assert [weights] * 2 == reads


def test_another_file_in_its_place_is_read(weights: Path, tmp_path: Path) -> None:
    first = cached_hash(weights)
    (tmp_path / "new.bin").write_bytes(b"b" * LARGE)
    (tmp_path / "new.bin").rename(weights)
    assert file_hash(weights) == cached_hash(weights) != first


def test_a_small_or_a_recent_file_is_read_each_time(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = n_reads(monkeypatch)
    small = weights.with_name("small.txt")
    small.write_bytes(b"a")
    assert {file_hash(small)} == {cached_hash(small) for _ in range(2)}
    monkeypatch.setattr(file_hashes.time, "time", lambda: weights.stat().st_ctime + 9)
    assert {file_hash(weights)} == {cached_hash(weights) for _ in range(2)}
    assert [small, small, weights, weights] == reads


def test_what_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*none: No such file or directory\."):
        cached_hash(tmp_path / "none")
