"""Frames of scores and responses that are read in parts: the rows of a plain join, and no more memory."""

import json
import random
import sqlite3
import tracemalloc
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest
from tests.cases import each_case
from tests.lengths import length

import vivavoce as viva
from vivavoce.core.errors import StoreError
from vivavoce.core.records import Criterion, Measure, Value
from vivavoce.core.tables import RESPONSES, SCORES
from vivavoce.run.run import Run
from vivavoce.run.tables import load
from vivavoce.store import query_frames, read
from vivavoce.store.checksums import stored_sums
from vivavoce.store.name_places import ColumnParts
from vivavoce.store.write import ScoreRow, put_measures, put_scores

HOSTILE = ("plain", "'; DROP TABLE scores; --", "{braces} %s", "𝔘nicode Ω", 'quotes "and" \\', "a" * 300)
STATUSES = ("ok", "unanswered", "unreadable", "failed", "set_aside")
PLACE = ("benchmark", "item", "variant", "candidate", "repeat", "edit")
Large = Callable[..., Run]


@pytest.fixture
def large(tmp_path: Path) -> Large:
    """`large(n, m)` is a run of n questions, each answered unevenly often, scored by m measures."""

    def made(n: int, n_measures: int = 1, *, passes: int = 1) -> Run:
        rng = random.Random(n)
        folder = tmp_path / f"{n}-{n_measures}-{passes}"
        folder.mkdir()
        items = [
            {"id": f"q{rng.random()}", "format": "short", "question": f"What of {k}?", "references": ["x"]}
            for k in range(n)
        ]
        rows = [
            {"item": item["id"], "candidate": candidate, "repeat": repeat, "text": rng.choice("xyz")}
            for item in items
            for candidate in rng.sample(HOSTILE, 3)
            for repeat in range(1, rng.randint(1, 3) + 1)
        ]
        for name, lines in (("exam", items), ("answers", rows)):
            (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        run = viva.open(folder / "run.viva")
        run.import_answers(folder / "answers.jsonl", benchmark=f"jsonl(path='{folder / 'exam.jsonl'}')")
        measures = [
            Measure(metric=name, signature=f"m{k}()@1", rater=rater, criterion=Criterion(criterion=name[:3]))
            for k, name in enumerate(HOSTILE[:n_measures])
            for rater in ("", "judge\t1")[: 1 + k % 2]
        ]
        with run.file.writing() as db:
            keys = put_measures(db, measures)
            responses = [key for (key,) in db.execute("SELECT response_id FROM responses")]
            for key in keys:
                marked = [r for r in responses if n_measures == 1 or rng.random() < 0.8]
                put_scores(db, key, [
                    ScoreRow(r, Value(rng.random() if status == "ok" else None, {}, None, status),
                             pass_no=pass_no, ballot=rng.choice(["", "b1"]) if n_measures > 1 else "")
                    for r in marked
                    for pass_no in range(1, passes + 1)
                    for status in [rng.choice(STATUSES)]
                ])  # fmt: skip
        return run

    return made


def joined(run: Run, view: str, columns: tuple[str, ...], order: str) -> list[tuple[object, ...]]:
    """The rows of a view in SQL's own order."""
    with closing(sqlite3.connect(run.file.path)) as db:
        names = ", ".join(f'"{name}"' for name in columns)
        return db.execute(f"SELECT {names} FROM {view} ORDER BY {order}").fetchall()


def test_scores_stand_in_the_order_of_a_join_whatever_names_hold(
    large: Large, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_frames, "CHUNK", 7)
    run = large(12, 4, passes=2)
    order = f"metric, criterion, {', '.join(PLACE)}, pass_no, unit, ballot, rater"
    rows = joined(run, "score_rows", SCORES, order)
    assert 5 == len({row[SCORES.index("status")] for row in rows})
    assert rows == run.scores.rows()


def test_responses_stand_in_the_order_of_a_join(large: Large, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_frames, "CHUNK", 7)
    run = large(12)
    rows = joined(run, "response_rows", RESPONSES, ", ".join(PLACE))
    assert rows == run.responses.rows()
    with run.file.reading() as db:
        assert rows == read.responses(db, probed=False, generated=False).rows()
        assert 0 == read.responses(db, probed=True).height


def test_chosen_candidates_and_measures_are_those_of_all_rows(large: Large) -> None:
    run = large(8, 3)
    some = HOSTILE[1:3]
    with run.file.reading() as db:
        keys = [keyed.key for keyed in read.measures(db)][:2]
        every = read.scores(db, details=True)
        chosen = read.scores(db, measures=keys, candidates=some, details=True)
    expected = every.filter(
        pl.col("measure_id").is_in(keys) & pl.col("candidate").is_in(some)
    ).filter((pl.col("ballot") == "") | (pl.len().over("measure_id", "ballot", "pass_no") > 1))  # fmt: skip
    assert expected.height
    assert expected.equals(chosen)


def test_a_row_changed_in_the_last_part_is_refused(large: Large, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_frames, "CHUNK", 4)
    run = large(10)
    last = "(SELECT max(response_id) FROM scores WHERE status_id = 0)"
    with closing(sqlite3.connect(run.file.path)) as db, db:
        db.execute(f"UPDATE scores SET value = 0.123 WHERE response_id = {last}")
    with pytest.raises(StoreError, match="changed"):
        _ = run.scores
    with closing(sqlite3.connect(run.file.path)) as db, db:
        db.execute(f"UPDATE scores SET value = 7 WHERE response_id = {last}")
    with pytest.raises(StoreError, match="a value that no metric gives"):
        _ = run.scores


def test_checksums_in_parts_are_those_of_the_whole(large: Large, monkeypatch: pytest.MonkeyPatch) -> None:
    run = large(12, 3)
    with run.file.reading() as db:
        whole = stored_sums(db)
        monkeypatch.setattr("vivavoce.store.checksums.CHUNK", 5)
        assert whole == stored_sums(db)


def test_a_column_of_one_name_is_held_once(large: Large) -> None:
    run = large(400)
    constant = ("benchmark", "role", "edit", "metric", "criterion", "rater", "unit", "ballot")
    scores = run.scores
    assert scores.height > 1_000
    assert scores.select(constant).estimated_size() < 1_000
    assert scores.select("item").estimated_size() > scores.height


def test_four_times_the_rows_take_no_more_statements_and_no_more_python_objects(
    large: Large, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_frames, "CHUNK", 200)
    statements, peaks, heights = [], [], []
    for n in length((100, 400), (300, 1_200)):
        run = large(n)
        _ = run.scores  # what is loaded or remembered at first counts for neither
        with run.file.reading() as db:
            seen: list[str] = []
            db.set_trace_callback(seen.append)
            tracemalloc.start()
            heights.append(read.scores(db, details=True).height + read.responses(db).height)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
            db.set_trace_callback(None)
        statements.append(len([text for text in seen if text.startswith("SELECT")]))
    assert heights[1] > 3 * heights[0]
    assert statements[0] == statements[1]
    # Items are read whole, and a place among names stands for each response: 8 bytes a key.
    assert peaks[1] - peaks[0] < 400 * (heights[1] - heights[0])


def test_all_studies_read_the_scores_once(large: Large, monkeypatch: pytest.MonkeyPatch) -> None:
    run = large(12)
    reads = []

    def counted(*args: object, **options: object) -> pl.DataFrame:
        reads.append(options)
        return scores(*args, **options)  # type: ignore[arg-type]

    scores = read.scores
    monkeypatch.setattr(load.read, "scores", counted)
    run.study()
    assert 1 == len([options for options in reads if options["measures"] != []])


@each_case("seed", range(20))
def test_parts_with_columns_of_one_value_are_the_rows_that_came(seed: int) -> None:
    """Columns that stay the same, begin to differ late or are null come back as they were."""
    rng = random.Random(seed)
    schema = pl.Schema({"n": pl.UInt32(), "text": pl.String(), "value": pl.Float64(), "pass_no": pl.Int64()})
    choices: dict[str, list[object]] = {
        "text": rng.choice([[None], ["a"], ["a", None], ["a", "b"]]),
        "value": rng.choice([[None], [0.5], [None, 0.5, float("nan")]]),
        "pass_no": rng.choice([[1], [None], [1, 2]]),
    }
    parts = [
        pl.DataFrame(
            {"n": range(n)}
            | {name: [rng.choice(values) for _ in range(n)] for name, values in choices.items()},
            schema=schema,
        )
        for n in rng.choices((0, 1, 1, 5), k=rng.randint(0, 6))
    ]
    collected = ColumnParts(schema)
    for part in parts:
        collected.add(part)
    assert collected.frame().equals(pl.concat([pl.DataFrame(schema=schema), *parts]))
