"""Damage: whatever stands in a run that nothing of ours wrote there ends in a sentence, never in a fault."""

import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random

import pytest
from tests.lengths import length
from tests.store.damaging import (
    CELLS,
    READS,
    clear,
    columns,
    flip_bytes,
    full_run,
    overwrite_cells,
    set_cells,
)

import vivavoce as viva
from vivavoce.core.errors import StoreError, VivaError
from vivavoce.run.run import open_run
from vivavoce.store.damage import DamagedValue, damaged, decoding
from vivavoce.store.integrity import rehash
from vivavoce.store.runfile import RunFile

SEEDS = length(1, 4)
WAYS = length(50, 2000)
"""Damaged runs a seed."""
REPORTS = length(6, 200)
"""A report takes a hundred times as long as the rest."""
PATIENCE_S = 60


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a run with rows in every table."""
    path = full_run(tmp_path_factory.mktemp("full")).file.path
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
    return path.read_bytes()


@pytest.fixture
def path(whole: bytes, tmp_path: Path) -> Path:
    file = tmp_path / "full.viva"
    file.write_bytes(whole)
    return file


@contextmanager
def patience() -> Iterator[None]:
    def ring(number: int, frame: object) -> None:
        raise BaseException(f"not read within {PATIENCE_S} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(PATIENCE_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def fault(use: Callable[[], object]) -> str | None:
    """What came out that is no error of ours; null if nothing did."""
    try:
        with patience():
            use()
    except VivaError as error:
        sentence = str(error)
        return None if sentence.strip() and "\x1b" not in sentence else f"a sentence: {sentence!r}"
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic of Polars is no Exception
        return f"{type(error).__name__}: {str(error)[:300]}"
    return None


def forge(path: Path) -> None:
    """Compute all hashes and checksums anew, as a stranger can, where the tables take it."""
    try:
        with open_run(path).file.writing() as db:
            rehash(db)
    except (VivaError, sqlite3.IntegrityError):
        pass


@pytest.mark.parametrize("seed", range(SEEDS))
def test_only_errors_of_ours_come_out_of_a_damaged_run(whole: bytes, tmp_path: Path, seed: int) -> None:
    """Bytes flipped, pages swapped, the end cut off, cells of any type and shape, hashes forged to fit."""
    rng, path, faults = Random(seed), tmp_path / "full.viva", []
    path.write_bytes(whole)
    places = columns(path)
    reads = [name for name in READS if name != "report"]
    for _ in range(WAYS):
        clear(tmp_path)
        path.write_bytes(whole)
        way = overwrite_cells(path, places, rng) if rng.random() < 0.75 else flip_bytes(path, rng)
        if rng.random() < 0.5:
            forge(path)
            way += ", hashes forged"
        name = rng.choice(reads)
        if what := fault(lambda: READS[name](open_run(path), tmp_path)):  # noqa: B023
            faults.append(f"{name} after {way}: {what}")
    assert [] == faults


def test_only_errors_of_ours_come_out_of_a_report_on_a_damaged_run(whole: bytes, tmp_path: Path) -> None:
    rng, path, faults = Random(7), tmp_path / "full.viva", []
    path.write_bytes(whole)
    tables = ("events", "findings", "provenance", "benchmarks")
    places = [place for place in columns(path) if place[0] in tables]
    for _ in range(REPORTS):
        clear(tmp_path)
        path.write_bytes(whole)
        way = overwrite_cells(path, places, rng)
        if what := fault(lambda: READS["report"](open_run(path), tmp_path)):
            faults.append(f"report after {way}: {what}")
    assert [] == faults


READ_ALL = ("status", "estimates", "tables", "compare", "score", "merge")
DAMAGE: dict[str, tuple[str, object]] = {
    "text that is no UTF-8": ("UPDATE responses SET text = CAST(x'ff41' AS TEXT)", None),
    "a name that is no UTF-8": (
        "UPDATE candidates SET candidate = CAST(x'ff41' AS TEXT) WHERE candidate_id = 1",
        None,
    ),
    "a status that is none": ("UPDATE scores SET status_id = 9, value = NULL", None),
    "another list of statuses": ("UPDATE statuses SET status = 'fine' WHERE status_id = 3", None),
    "a direction that is none": ("UPDATE measures SET direction = 'sideways'", None),
    "a signature that is none": ("UPDATE measures SET signature = 'rouge(' WHERE measure_id = 1", None),
    "a card of another shape": ("UPDATE benchmarks SET card = ?", '{"title": "x"}'),
    "a card that is no JSON": ("UPDATE benchmarks SET card = ?", "{"),
    "a point with other keys": ("UPDATE items SET rubric = ?", '[{"points": 1}]'),
    "options that are no list": ("UPDATE items SET options = ?", "7"),
    "a number for a text": ("UPDATE items SET question = ?", 7),
    "bytes for a number": ("UPDATE scores SET value = ?", b"\xff"),
    "an endless value": ("UPDATE scores SET value = ? WHERE value IS NOT NULL", float("inf")),
    "a value outside its range": ("UPDATE scores SET value = ? WHERE value IS NOT NULL", 77.0),
    "an item that stands for no question": ("UPDATE items SET weight = ?", -1.0),
    "no unit that stands for none": ("DELETE FROM units WHERE unit_id = 0", None),
    "a finding that is no JSON": ("UPDATE findings SET rows = ?", "[[["),
    "a draw of other things": ("UPDATE events SET body = ? WHERE kind = 'labels drawn'", '{"metric": 7}'),
    "an interim analysis of nothing": ("UPDATE events SET body = ? WHERE kind = 'interim analysis'", "{}"),
    "JSON deeper than any reader": ("UPDATE items SET meta = ?", "[" * 100_000),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_value_that_nothing_of_ours_wrote_is_called_damage_with_what_to_do(
    path: Path, tmp_path: Path, name: str
) -> None:
    """Also where the hashes fit: who changed the value may have computed them anew."""
    statement, value = DAMAGE[name]
    assert "" == set_cells(path, statement, () if value is None else (value,))
    forge(path)
    sentences = []
    for read in READ_ALL:
        with patience():
            try:
                READS[read](open_run(path), tmp_path)
            except StoreError as error:
                sentences.append(str(error))
    assert sentences
    for sentence in sentences:
        assert str(path) in sentence
        assert "is damaged" in sentence or "is not as vivavoce wrote it" in sentence
        assert "Restore a copy" in sentence
        assert "\n" not in sentence


def test_the_sentence_on_damage_shows_what_a_stranger_wrote_on_one_line_and_shortened(path: Path) -> None:
    sentence = str(damaged(path, "the name \x1b[2J\n" + "x" * 5000))
    assert f"{path} is no readable run file (the name \ufffd[2J " in sentence
    assert sentence.endswith("…): it is damaged. Restore a copy, or give another path.")
    assert len(sentence) < len(str(path)) + 260


def test_a_fault_of_our_own_is_never_called_damage(path: Path) -> None:
    """Only what fails while a stored value is decoded is the file's; the rest keeps its name."""
    for error in (KeyError("a typo"), TypeError("a bug"), ZeroDivisionError()):
        with pytest.raises(type(error)), RunFile(path).reading():
            raise error
    with pytest.raises(MemoryError), decoding("a value"):
        raise MemoryError
    words = r"full\.viva is no readable run file \(a value cannot be read\)"
    with pytest.raises(StoreError, match=words), RunFile(path).reading(), decoding("a value"):
        raise KeyError("unit")
    words = r"the run is damaged \(a value cannot be read\): restore a copy"
    with pytest.raises(DamagedValue, match=words), decoding("a value"):
        raise KeyError("unit")


def test_a_copy_by_vacuum_can_be_merged_into_a_new_run(path: Path, tmp_path: Path) -> None:
    """It keeps a plain journal, and a merge does not turn that of the run beside it into a WAL."""
    copy = viva.open(path).copy(tmp_path / "copy.viva")
    before = copy.read_bytes()
    new = viva.open(tmp_path / "new.viva")
    assert new.merge(copy)[0].scores > 0
    assert before == copy.read_bytes()


def test_the_cells_of_a_stranger_are_of_every_type() -> None:
    assert {type(None), int, float, str, bytes} == {type(cell) for cell in CELLS}
