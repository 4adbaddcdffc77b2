"""Facts of answers as they are read from a run for the study of them."""

from pathlib import Path

import pytest
from tests.studies.making import borrowed, made
from tests.viewing import study_table

from vivavoce.core import registry
from vivavoce.run.run import Run
from vivavoce.run.tables import unit_rows
from vivavoce.run.tables.unit_rows import with_units
from vivavoce.store.view import with_view
from vivavoce.studies.facts.facts import NOTHING, Facts
from vivavoce.studies.score_table import ScoreTable

PLUGIN = Path(__file__).resolve().parents[1] / "studies" / "told_facts.py"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Twelve questions, answered by two candidates; one is blank."""
    monkeypatch.setattr(unit_rows, "FACTS", "told_facts")
    items = [{"item": f"q{n:02}", "category": "ab"[n % 2]} for n in range(12)]
    of_a = {str(item["item"]): "true true false bad" for item in items}
    of_b = {str(item["item"]): "true" for item in items[:-1]} | {"q11": ""}
    run = made(tmp_path, {"A": of_a, "B": of_b}, items=items)
    with borrowed():
        registry.load_plugin(PLUGIN)
        run.score("told_facts")
    return run


def table(run: Run) -> ScoreTable:
    return study_table(run, Facts())


def test_facts_come_with_their_text_weight_and_note(run: Run) -> None:
    units = table(run).units
    assert units is not None
    first = units.row(0, named=True)
    assert ("q00", "A", "1", "It is true.", 2.0, 1.0, "true: told", "a") == tuple(
        first[name]
        for name in ("item", "candidate", "unit", "text", "unit_weight", "value", "note", "category")
    )
    assert 4 * 12 + 11 + 1 == units.height
    assert {"supported"} == {m.criterion.criterion for m in table(run).unit_measures.values()}


def test_only_chosen_items_have_facts(run: Run) -> None:
    units = with_view(run.file, with_units, table(run), {("exam", "q03", "")}).units
    assert units is not None
    assert {"q03"} == set(units["item"])


def test_the_study_reads_them(run: Run) -> None:
    with borrowed():
        registry.load_plugin(PLUGIN)
        finding = run.study("facts")["facts"]
    pooled = [r for r in finding.rows if (r["part"], r["figure"]) == ("precision", "pooled_precision")]
    assert {"A": pytest.approx(2 / 3), "B": 1.0} == {row["candidate"]: row["value"] for row in pooled}
    blank = {r["candidate"]: r["value"] for r in finding.rows if r["figure"] == "blank"}
    assert {"A": 0, "B": 1} == blank


def test_other_metrics_of_units_are_no_facts(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unit_rows, "FACTS", "atomic_facts")
    assert None is table(run).units
    finding = run.study("facts")["facts"]
    assert ((), NOTHING) == (finding.rows, finding.text)
    assert "facts" not in run.study()
