"""Our own logs and results of our batches, altered by anybody: rows or one sentence, and nothing by half."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.run.tool_files.batch_answers import fake_batch
from tests.run.tool_files.exported_runs import with_units

import vivavoce as viva
from vivavoce.core.errors import VivaError
from vivavoce.run.run import Run

VALUES = (None, 3, -1, 1.5, float("nan"), "x", "", [], {}, [1], {"a": 1}, True, 10**30, "1" * 50, "9" * 5000)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return with_units(tmp_path_factory.mktemp("altered") / "run")


@pytest.fixture(scope="module")
def log(run: Run) -> Any:
    """The log of a candidate, as JSON."""
    to = run.file.path.with_name("logs")
    (written,) = run.export(to, format="inspect", log_format="json", candidate="local")
    return json.loads(written.path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def results(run: Run) -> Any:
    """The results of a batch."""
    folder = run.file.path.parent
    run.export(folder / "requests", format="batch", candidate="openai/x")
    (file,) = fake_batch(folder / "requests", folder / "results", lambda body: "hello")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to all values inside a value of JSON."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, entry in inner:
        yield (*above, name)
        yield from places(entry, (*above, name))


def altered(value: Any, seed: int) -> Any:
    """A copy in which one to three values are others, or gone."""
    rng, copy = random.Random(seed), json.loads(json.dumps(value))
    for _ in range(rng.choice([1, 1, 3])):
        *way, name = rng.choice(list(places(copy)))
        holder = copy
        for step in way:
            holder = holder[step]
        if isinstance(holder, dict) and rng.random() < 0.3:
            del holder[name]
        else:
            holder[name] = rng.choice(VALUES)
    return copy


@given(seed=st.integers(0, 10**6))
def test_an_altered_log_of_ours_gives_rows_or_one_sentence(
    log: Any, tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    folder = tmp_path_factory.mktemp("log")
    (folder / "log.json").write_text(json.dumps(altered(log, seed)))
    _imported(viva.open(folder / "run.viva"), folder / "log.json", "inspect")


@given(seed=st.integers(0, 10**6))
def test_altered_results_of_a_batch_give_rows_or_one_sentence(
    run: Run, results: Any, tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    folder = tmp_path_factory.mktemp("batch")
    rows = altered(results, seed)
    (folder / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run.file.copy(folder / "run.viva")
    _imported(viva.open(folder / "run.viva"), folder / "results.jsonl", "openai-batch")


def _imported(run: Run, file: Path, reader: str) -> None:
    before, sentence = run.responses.height if run.file.exists else 0, ""
    try:
        run.import_logs(file, reader=reader)
    except VivaError as error:
        sentence = str(error)
    assert "\n" not in sentence
    assert not sentence or before == (run.responses.height if run.file.exists else 0)
