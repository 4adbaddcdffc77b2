"""A metric's evidence reaches the store, leaves with an export, and leaves no redacted one."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.run.test_score import by
from tests.studies.making import made

from vivavoce.core.errors import MetricError
from vivavoce.core.evidence import Evidence
from vivavoce.core.records import ItemKey, Row, Unit, Value
from vivavoce.run.exchange.exports import export_run, export_tables
from vivavoce.run.run import Run, open_run
from vivavoce.store.view import with_view

SECRET = "Ms Example was given 40 mg of a drug that nobody names."
PASSAGE = Evidence("=folder of letters", "9f3a", "letter of Ms Example.pdf", 2, 17, SECRET, "supports")
SHORT = Evidence("context", "77aa", "", None, 0, "=1+1")


def units(rows: Sequence[Row]) -> list[Mapping[str, Any]]:
    """Of each answer two units, the first with evidence."""
    return [
        {
            "worth": {
                Unit(unit="1", text=f"first of {r.item.item}"): Value(1.0, evidence=(PASSAGE, SHORT)),
                Unit(unit="2", text="second"): Value(None, note="no_claim: none", status="set_aside"),
            }
        }
        for r in rows
    ]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    run = made(tmp_path, {"A": {"q1": "x", "q2": "y"}, "B": {"q1": "z"}})
    run.score(by(units))
    return run


def chosen(run: Run) -> set[ItemKey]:
    return {(row["benchmark"], row["item"], "") for row in run.items.to_dicts() if row["item"] == "q1"}


def held(folder: Path) -> bytes:
    return b"".join(p.read_bytes() for p in (folder.iterdir() if folder.is_dir() else [folder]))


def test_what_a_metric_gives_is_stored_and_scoring_again_changes_nothing(run: Run) -> None:
    rows = run.evidence
    assert [(c, i, "1", q) for c, i in (("A", "q1"), ("B", "q1"), ("A", "q2")) for q in (SECRET, "=1+1")] == (
        rows.select("candidate", "item", "unit", "quote").rows()
    )
    run.score(by(units))
    assert rows.equals(run.evidence)


@pytest.mark.parametrize(
    "passage",
    [
        PASSAGE._replace(page=0),
        PASSAGE._replace(page=True),
        PASSAGE._replace(offset=-1),
        PASSAGE._replace(offset=1.5),  # type: ignore[arg-type]
        PASSAGE._replace(quote=None),  # type: ignore[arg-type]
        PASSAGE._replace(bearing="proves"),  # type: ignore[arg-type]
        tuple(PASSAGE),
    ],
)
def test_evidence_without_a_place_is_the_metrics_error(tmp_path: Path, passage: Any) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    name = by(lambda rows: [{"worth": Value(1.0, evidence=(passage,))} for _ in rows])
    with pytest.raises(MetricError, match="evidence is of Evidence"):
        run.score(name)
    assert 0 == run.scores.height


def test_the_table_is_exported_and_no_cell_is_a_formula(run: Run, tmp_path: Path) -> None:
    run.export(tmp_path / "out", format="parquet", table=["evidence"])
    assert run.evidence.equals(pl.read_parquet(tmp_path / "out" / "evidence.parquet"))
    options = {"form": "csv", "tables": ["evidence"], "chosen": chosen(run), "estimates": list}
    with_view(run.file, export_tables, tmp_path / "csv", **options)
    text = (tmp_path / "csv" / "evidence.csv").read_text(encoding="utf-8-sig")
    assert 4 + 1 == len(text.splitlines())
    assert not {",=", "\n="} & {text[k : k + 2] for k in range(len(text))}


@pytest.mark.parametrize("form", ["csv", "run"])
def test_a_redacted_export_holds_no_passage_and_no_name_of_its_file(
    run: Run, tmp_path: Path, form: str
) -> None:
    assert SECRET.encode() in held(run.file.path)
    run.export(tmp_path / "redacted", format=form, redact=True)
    bytes_written = held(tmp_path / "redacted")
    for text in (SECRET, PASSAGE.file, PASSAGE.source, "letter of Ms", PASSAGE.version):
        assert text.encode() not in bytes_written
    if form == "run":
        redacted = open_run(tmp_path / "redacted")
        assert not any(check.wrong for check in redacted.verify())
        columns = ("candidate", "item", "page", "offset", "bearing")
        assert run.evidence.select(columns).equals(redacted.evidence.select(columns))
        assert 2 == redacted.evidence["quote"].n_unique()


def test_a_run_of_some_items_holds_their_passages_alone(run: Run, tmp_path: Path) -> None:
    other = PASSAGE._replace(quote="Said of the second question alone.")
    at = {"q1": (), "q2": (other,)}
    run.score(by(lambda rows: [{"worth": Value(1.0, evidence=at[r.item.item])} for r in rows], name="second"))
    assert other.quote.encode() in held(run.file.path)
    export_run(run.file, tmp_path / "some.viva", chosen=chosen(run), items="some")
    part = open_run(tmp_path / "some.viva")
    assert {SECRET, "=1+1"} == set(part.evidence["quote"])
    assert other.quote.encode() not in held(tmp_path / "some.viva")
    assert not any(check.wrong for check in part.verify())


def test_the_columns_of_the_table_fit_json(run: Run) -> None:
    assert json.dumps(run.evidence.to_dicts())
