"""Parts of a run that are merged are the run that did all: every table, whatever the order of the parts."""

import functools
import random
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.store.full_runs import full_run, item_names, shared_exam

from vivavoce.run.run import Run, open_run

ITEMS, PARTS = 30, 4
OWNERS = {
    "ballot_id": "ballots",
    "benchmark_id": "benchmarks",
    "candidate_id": "candidates",
    "edit_id": "edits",
    "item_id": "items",
    "list_id": "exclusion_lists",
    "measure_id": "measures",
    "passage_id": "passages",
    "response_id": "responses",
    "status_id": "statuses",
    "unit_id": "units",
}
"""By key the table whose rows it names; any other key is that of its own row."""
OVER_KEYS = {"score_checksums": ("scores", "details"), "table_hashes": ("hash",)}
"""By table the columns of sums and hashes over keys, which `verify` works out."""
Tables = dict[str, list[dict[str, Any]]]


def stored_tables(run: Run) -> Tables:
    """The rows of all tables but provenance, which says by what verbs a run was made."""
    stored: Tables = {}
    with closing(sqlite3.connect(run.file.path)) as db:
        db.row_factory = sqlite3.Row
        names = [row["name"] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for name in names:
            stored[name] = [dict(row) for row in db.execute(f"SELECT * FROM {name} ORDER BY 1, 2")]
    del stored["provenance"]
    return stored


def named_tables(run: Run) -> dict[str, list[str]]:
    """The rows of `stored_tables` sorted, with the row that a key names in the place of the key."""
    stored = stored_tables(run)
    rows = {key: {row[key]: row for row in stored[table]} for key, table in OWNERS.items()}

    @functools.cache
    def content(key: str, value: int) -> str:
        return named(OWNERS[key], rows[key][value])

    def named(table: str, row: dict[str, Any]) -> str:
        fields = []
        for column, value in row.items():
            is_own_key = column.endswith("_id") and OWNERS.get(column, table) == table
            if not is_own_key and column not in OVER_KEYS.get(table, ()):
                is_key = column in OWNERS and value is not None
                fields.append((column, content(column, value) if is_key else value))
        return repr(fields)

    return {table: sorted(named(table, row) for row in rows) for table, rows in stored.items()}


@pytest.fixture(scope="module")
def single_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One run that did all, in the folder of its benchmark."""
    folder = tmp_path_factory.mktemp("whole")
    return full_run(folder / "whole.viva", shared_exam(folder, ITEMS), item_names(ITEMS))


def part_runs(folder: Path, single_run: Run, parts: Sequence[Sequence[str]]) -> list[Run]:
    """A run of each part of the items, on the benchmark of the whole run."""
    spec = f"jsonl(path='{single_run.file.path.parent / 'exam.jsonl'}')"
    return [full_run(folder / f"part-{k}.viva", spec, part) for k, part in enumerate(parts)]


def test_every_table_of_the_whole_run_has_rows(single_run: Run) -> None:
    empty = {name for name, rows in stored_tables(single_run).items() if not rows}
    assert {"leases", "sign_in_links", "build_steps", "build_texts", "build_parts"} == empty


def test_consecutive_parts_merged_in_their_order_are_the_same_file_key_by_key(
    single_run: Run, tmp_path: Path
) -> None:
    names = item_names(ITEMS)
    size = ITEMS // PARTS + 1
    runs = part_runs(tmp_path, single_run, [names[k : k + size] for k in range(0, ITEMS, size)])
    target = open_run(tmp_path / "all.viva")
    target.merge(*(run.file.path for run in runs))
    expected, merged = stored_tables(single_run), stored_tables(target)
    assert [] == [name for name in expected if expected[name] != merged[name]]


@pytest.mark.parametrize("seed", [1, 2])
def test_parts_that_overlap_merged_in_any_order_and_again_are_the_whole_run(
    single_run: Run, tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    names = item_names(ITEMS)
    parts = [names[k::PARTS] for k in range(PARTS)] + [rng.sample(names, 5)]
    runs = part_runs(tmp_path, single_run, parts)
    rng.shuffle(runs)
    target = runs[0]
    target.merge(*(run.file.path for run in runs[1:]))
    expected = named_tables(single_run)
    merged = named_tables(target)
    assert [] == [name for name in expected if expected[name] != merged[name]]
    counts = target.merge(*(run.file.path for run in runs[1:]))
    assert {(0, 0, 0, 0, 0, 0)} == {merged_run[1:7] for merged_run in counts}
    assert merged == named_tables(target)
    assert [] == [check for check in target.verify() if check.wrong]
