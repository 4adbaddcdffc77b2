"""Workers make the variants of one process, in the same order; what asks a model is made where it asks."""

from functools import partialmethod
from pathlib import Path

import pytest
from tests.run.workers.every_format import answered
from tests.run.workers.patient_pool import PatientPool
from tests.soak.kills import tables

from vivavoce.core import registry
from vivavoce.core.errors import InputError
from vivavoce.core.records import Response
from vivavoce.run.run import Run, open_run
from vivavoce.run.vary import verb
from vivavoce.run.workers.executor import Lost
from vivavoce.run.workers.process_pool import ProcessPool
from vivavoce.store import read
from vivavoce.variants import Stock, Variation

SPECS = (
    *("bias(type=[recency, authority], seed=1)", "demographic(kind=[sex, age, name])", "neutralise"),
    "control(kind=[none, noise], draws=1)",
)


@pytest.fixture(autouse=True)
def _small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Stock, "by_items", partialmethod(Stock.by_items, 2))
    monkeypatch.setattr(Stock, "by_answers", partialmethod(Stock.by_answers, 11))


def run_of(folder: Path) -> Run:
    """A run with an item of every format, answered."""
    folder.mkdir()
    return answered(folder / "run.viva", ())


def test_workers_make_what_one_process_makes(
    tmp_path: Path, pool: PatientPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool.lend(verb, monkeypatch)
    alone, shared = run_of(tmp_path / "alone"), run_of(tmp_path / "shared")
    for name in ("alone", "shared"):
        open_run(tmp_path / name / "run.viva").vary("bias(type=anchoring)", items="sample")
    dry = shared.vary(*SPECS, workers=2, dry_run=True)
    by_one, by_two = alone.vary(*SPECS, mark=True), shared.vary(*SPECS, mark=True, workers=2)
    assert (by_one.rows, by_one.notes, by_one.text) == (by_two.rows, by_two.notes, by_two.text)
    assert [row["what"] for row in dry.rows] == [row["what"] for row in by_one.rows]
    assert {"bias:recency", "demographic:sex"} <= {row["what"] for row in by_two.rows if row["made"]}
    assert tables(alone.file.path) == tables(shared.file.path)
    again = shared.vary(*SPECS, mark=True, workers=2)
    assert 0 == sum(row["made"] for row in again.rows)
    assert tables(alone.file.path) == tables(shared.file.path)


@pytest.mark.parametrize("spec", SPECS[:3])
def test_shards_make_one_after_the_other_what_is_made_of_all(spec: str, tmp_path: Path) -> None:
    run = run_of(tmp_path / "run")
    run.vary("bias(type=anchoring)", items="sample")
    with run.file.reading() as db:
        items = list(read.items_by_id(db).values())
    responses = [r for r in _responses(run) if r.text is not None]
    stock = Stock(items, responses, dict.fromkeys("ABC", "candidate"))
    variation: Variation = registry.build("variation", spec)
    pieces = variation.shards(stock)
    assert len(pieces) > 3
    assert list(variation.makes(stock, None)) == [o for v, part in pieces for o in v.makes(part, None)]


def test_what_asks_a_model_has_no_shards() -> None:
    for spec in ("rephrase(model=vllm/m)", "bias(type=recency, planted=vllm/m)"):
        assert not registry.build("variation", spec).shards(Stock([]))


def test_an_error_of_a_variation_comes_back_and_nothing_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(tmp_path / "run")
    before = tables(run.file.path)
    with pytest.raises(InputError, match="neutralise: no candidate 'Nobody' in this run"):
        run.vary("neutralise(candidate=Nobody)", workers=2)
    monkeypatch.setattr(ProcessPool, "results", lambda self, shards, job: iter([Lost("it ended")]))
    with pytest.raises(
        InputError, match=r"neutralise cannot be made by workers: it ended\. Nothing was made"
    ):
        run.vary("neutralise", workers=2)
    assert before == tables(run.file.path)


def _responses(run: Run) -> list[Response]:
    with run.file.reading() as db:
        stored = read.stored_responses(db)
    names = ("benchmark", "item", "variant", "candidate", "repeat", "edit")
    return [Response(**dict(zip(names, key, strict=True)), text=a.text) for key, a in stored.items()]
