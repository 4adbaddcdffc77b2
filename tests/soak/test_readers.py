"""Mutated inputs: whatever a file, a reply or a word became, we read it or refuse it with a sentence."""

import math
import zlib
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from tests.lengths import length
from tests.soak import readers
from tests.soak.patience import patience
from tests.soak.readers import Reader, dumped
from tests.soak.tally import Tally

INPUTS = length(150, 20_000)
AFTER = 0.05
"""The share of inputs that were read with which more is done."""
PATIENCE = 60
"""Seconds after which an input counts as one that hangs: the slowest takes less than one."""
Refusals = tuple[type[BaseException], ...]
READ = "A mutated input is read, or refused with a sentence"
USED = "What was read can be scored, studied and reported, or is refused with a sentence"
LEFT = "A refused input leaves the run as it was"


def fault_of(
    call: Callable[[], object], refusals: tuple[type[BaseException], ...]
) -> tuple[str | None, str | None]:
    """What broke the promise, null if nothing did; and the sentence of a refusal, null if it was read."""
    try:
        with patience(PATIENCE):
            call()
    except refusals as error:
        sentence = str(error)
        return (None if sentence.strip() else f"{type(error).__name__} without a sentence"), sentence
    except BaseException as error:  # a panic of Polars is no Exception
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"{type(error).__name__}: {str(error)[:300]}", None
    return None, None


def soak(reader: Reader, times: int, tally: Tally) -> None:
    rng = Random(zlib.crc32(reader.name.encode()))
    before = reader.run.read_bytes() if reader.run else b""
    held = dumped(reader.run) if reader.run else []
    for what, call in islice(reader.cases(rng), times):
        fault, refusal = fault_of(call, reader.refusals)
        tally.count(READ, fault and f"{reader.name}, {what}: {fault}")
        assert refusal is None or what != readers.GOOD, f"{reader.name}: {refusal}"
        if refusal is None and reader.after and rng.random() < AFTER:
            fault, _ = fault_of(lambda: reader.after(rng), reader.refusals)
            tally.count(USED, fault and f"{reader.name}, {what}: {fault}")
        if reader.run is None:
            continue
        if refusal is not None:
            changed = reader.run.read_bytes() != before and dumped(reader.run) != held
            tally.count(LEFT, f"{reader.name}, {what}: the run changed" if changed else None)
        for beside in reader.run.parent.glob(f"{reader.run.name}-*"):
            beside.unlink()
        reader.run.write_bytes(before)


@pytest.mark.parametrize("group", readers.GROUPS)
def test_a_mutated_input_is_read_or_refused_with_a_sentence(
    group: str, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tally: Tally
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VIVA_TEST_KEY", "a-key-of-a-test-0123456789")
    percent, make = readers.GROUPS[group]
    every = make(tmp_path, shared / "data")
    for reader in every:
        soak(reader, math.ceil(INPUTS * percent / 100 / len(every)), tally)
    tally.check()


def test_the_groups_share_all_inputs() -> None:
    assert 100 == sum(percent for percent, _ in readers.GROUPS.values())
