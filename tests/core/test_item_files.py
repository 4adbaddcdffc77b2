import errno
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType

import pytest

from vivavoce.core import item_files
from vivavoce.core.errors import InputError
from vivavoce.core.item_files import BLOCK, ItemFile, item_sequence, items_where
from vivavoce.core.records import Item, Unit

SIZES = [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5]


def item(k: int, **fields: object) -> Item:
    given = {"benchmark": "exam", "item": f"q{k}", "format": "short", "question": f"What helps in {k}?"}
    return Item(**(given | fields))


@pytest.mark.parametrize("n", SIZES)
def test_a_file_gives_back_the_items_in_their_order(n: int) -> None:
    items = tuple(item(k, meta={"year": k}, rubric=(Unit(unit="p", text="says so"),)) for k in range(n))
    stored = ItemFile(iter(items))
    assert n == len(stored)
    assert items == tuple(stored) == tuple(stored)  # read as often as needed
    assert items == stored
    assert stored == items
    assert items[::-1] == tuple(reversed(stored))
    assert items[2:70:3] == stored[2:70:3]
    assert [items[k] for k in range(-n, n)] == [stored[k] for k in range(-n, n)]
    for beyond in (n, -n - 1):
        with pytest.raises(IndexError):
            stored[beyond]


def test_two_readers_do_not_disturb_each_other() -> None:
    stored = ItemFile(item(k) for k in range(300))
    assert [(f"q{k}", f"q{k}") for k in range(300)] == [
        (a.item, b.item) for a, b in zip(stored, stored, strict=True)
    ]
    with ThreadPoolExecutor(8) as pool:
        names = list(pool.map(lambda k: stored[k].item, [k * 37 % 300 for k in range(3_000)]))
    assert [f"q{k * 37 % 300}" for k in range(3_000)] == names


def test_few_items_stay_in_memory_and_more_go_into_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(item_files, "IN_MEMORY", 5)
    few, many = (item_sequence(item(k) for k in range(n)) for n in (5, 6))
    assert isinstance(few, tuple)
    assert isinstance(many, ItemFile)
    assert [f"q{k}" for k in range(6)] == [i.item for i in many]
    assert many is item_sequence(many)
    assert isinstance(many[:5], tuple)


def test_a_selection_of_all_is_the_same_sequence_and_no_second_file() -> None:
    items = ItemFile(item(k) for k in range(3))
    assert items is items_where(items, lambda i: True)
    assert ["q1"] == [i.item for i in items_where(items, lambda i: i.item == "q1")]
    assert 0 == len(items_where(items, lambda i: False))


def test_sequences_of_other_items_are_unequal() -> None:
    stored = ItemFile([item(0), item(1)])
    assert stored != (item(0),)
    assert stored != (item(0), item(2))
    assert stored != ItemFile([item(1), item(0)])
    assert stored != [item(0), item(1)]  # as with a tuple


def test_a_mapping_that_cannot_be_written_to_is_stored_as_the_same_mapping() -> None:
    (stored,) = ItemFile([item(0, meta=MappingProxyType({"year": 2020}))])
    assert {"year": 2020} == stored.meta


def test_what_no_file_can_hold_is_one_sentence() -> None:
    with pytest.raises(InputError, match="exam: an item between 'q0' and 'q1' holds what cannot be stored"):
        ItemFile([item(0), item(1, meta={"call": lambda: None})])


def test_a_folder_that_takes_no_file_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(item_files.tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(InputError, match=r"a long exam needs a temporary file.*No such file.*TMPDIR"):
        ItemFile([item(0)])


def test_another_process_gets_the_items() -> None:
    assert (item(0), item(1)) == pickle.loads(pickle.dumps(ItemFile([item(0), item(1)])))


def test_a_full_disk_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    class FakeFullFile:
        def write(self, content: bytes) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        def close(self) -> None: ...

    monkeypatch.setattr(item_files.tempfile, "TemporaryFile", lambda **how: FakeFullFile())
    with pytest.raises(InputError, match=r"exam: its questions do not fit .*No space left.* TMPDIR"):
        ItemFile([item(0)])
