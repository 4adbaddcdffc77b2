"""`viva status FOLDER --watch`: how far all shards are, while others write them."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.run.shards.test_collect_and_score import ECHO, parts

import vivavoce as viva_
from vivavoce.cli.watch import show_progress
from vivavoce.core.errors import InputError, RunNotFound, StoreError
from vivavoce.core.shards import Shard
from vivavoce.run.run import Run
from vivavoce.run.shards.memory import ShardWork
from vivavoce.run.shards.progress import (
    ProgressRow,
    _expected_in_shards,
    _ShardRun,
    _without_copies,
    snapshot,
)

Viva = Callable[..., Any]


def test_a_folder_of_shards_is_counted_together(exam: Any, tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    runs = parts(folder, exam(30), 3)
    runs[0].score("exact", shard="1/3")
    runs[2].file.path.unlink()
    viva_.open(folder / "all.viva").merge(runs[0].file.path)  # no shard: counted by itself alone
    *each, total = snapshot(folder)
    assert ["all.viva", "part-1.viva", "part-2.viva"] == [Path(row.run).name for row in each]
    assert [None, "1/3", "2/3"] == [row.shard for row in each]
    heights = [runs[0].responses.height, runs[1].responses.height]
    assert heights == [row.done for row in each[1:]]
    assert ("total", sum(heights), 0, None, 1) == (
        total.about,
        total.done,
        total.failed,
        total.remaining,
        total.missing,
    )
    assert (heights[0], 0.0, None) == (total.scores, total.cost, total.seconds_left)
    assert sum(heights) == total.rate  # all of them came within the last minute


def test_a_shard_of_which_two_runs_lie_there_is_counted_once(exam: Any, tmp_path: Path, viva: Viva) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    first, second = parts(folder, exam(30), 2)
    viva_.open(folder / "all.viva").merge(first.file.path, second.file.path)
    shutil.copy(first.file.path, folder / "a copy.viva")
    first.score("exact", shard="1/2")
    *each, total = snapshot(folder)
    assert {"a copy.viva": "part-1.viva"} == {
        Path(row.run).name: Path(row.copy_of).name for row in each if row.copy_of
    }
    n = first.responses.height + second.responses.height
    assert (n, 0, first.scores.height, 0) == (total.done, total.remaining, total.scores, total.missing)
    table = viva("status", folder).stdout
    assert "a copy.viva holds shard 1/2, as part-1.viva does: all counts it once." in table


def test_a_run_that_shares_one_of_its_shards_alone_is_no_copy() -> None:
    def run(name: str, done: int, *held: tuple[str, int]) -> _ShardRun:
        works = [
            ShardWork("collect", Shard(number, 2), {"benchmark": job}, done, done=True)
            for job, number in held
        ]
        return _ShardRun(ProgressRow(run=name, shard="1/2", done=done), works)

    further = run("a", 100, ("x", 1), ("y", 1))
    of_both = [further, run("b", 90, ("y", 1), ("z", 2)), run("c", 80, ("x", 1))]
    assert [None, None, "a"] == [row.copy_of for row in _without_copies(of_both)]


def test_of_two_runs_of_a_shard_the_one_that_is_further_counts(exam: Any, tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    (run,) = parts(folder, exam(6), 1)
    begun = folder / "begun.viva"
    shutil.copy(run.file.path, begun)
    with viva_.open(begun).file.writing() as db:
        db.execute("DELETE FROM calls")
        db.execute("DELETE FROM responses")
    begun_row, row, total = snapshot(folder)
    assert (row.run, None) == (begun_row.copy_of, row.copy_of)
    assert (6, 0) == (total.done, total.remaining)


@pytest.mark.parametrize(
    ("shards", "missing"),
    [
        ([("x", "1/2"), ("x", "2/2"), ("y", "1/4"), ("y", "2/4")], 2),
        ([("x", "1/2"), ("x", "2/2"), ("x", "2/4")], 3),
        ([("x", "1/2"), ("x", "1/2")], 1),
        ([("x", "1/2"), ("y", "2/2")], 2),
        ([("x y", "1/3"), ("x", "2/3")], 1),  # the second has not come to the other exam yet
        ([("x", "1/3"), ("y", "3/3"), ("x y", "2/3")], 0),
        ([("score", "1/2"), ("score", "2/2"), ("x", "1/2")], 1),
    ],
)
def test_shards_that_have_no_run_are_counted_by_exam_and_division(
    exam: Any, tmp_path: Path, shards: Sequence[tuple[str, str]], missing: int
) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    whole = viva_.open(tmp_path / "whole.viva")
    whole.collect(exam(12), models=ECHO)
    for number, (names, shard) in enumerate(shards):
        run = viva_.open(folder / f"{number}.viva")
        if names == "score":
            shutil.copy(whole.file.path, run.file.path)
            run.score("exact", shard=shard)
            continue
        for name in names.split():
            run.collect(exam(12, name=name), models=ECHO, shard=shard)
            run.score("exact", shard=shard)
    assert missing == snapshot(folder)[-1].missing


def test_shards_of_two_collects_count_both(exam: Any, tmp_path: Path) -> None:
    """The same part of the questions, asked of two candidates into two runs."""
    for name, model in (("a", "baseline/echo"), ("b", "baseline/random")):
        viva_.open(tmp_path / f"{name}.viva").collect(exam(12), models=[model], shard="1/2")
    first, second, total = snapshot(tmp_path)
    assert [None, None] == [first.copy_of, second.copy_of]
    assert 0 < first.done + second.done == total.done


@pytest.mark.parametrize(
    ("first", "second", "of_each_item"),
    [
        ({"repeats": 1}, {"repeats": 2}, 2),
        ({"repeats": 2}, {"repeats": 1}, 2),
        ({}, {"models": ["baseline/echo", "baseline/random"]}, 2),
        ({"models": ["baseline/echo", "baseline/random"]}, {"models": ["baseline/random"], "repeats": 3}, 4),
        ({}, {"models": ["baseline/random"]}, 2),
    ],
)
def test_collects_that_overlap_leave_nothing_that_never_comes(
    exam: Any, tmp_path: Path, first: dict[str, Any], second: dict[str, Any], of_each_item: int
) -> None:
    run = viva_.open(tmp_path / "part.viva")
    for options in (first, second):
        run.collect(exam(12), **{"models": ECHO} | options, shard="1/2")
    row, total = snapshot(run.file.path)
    assert (of_each_item * run.items.height, 0) == (row.done, row.remaining)
    assert (0, 0.0) == (total.remaining, total.seconds_left)


def test_log_probabilities_are_expected_beside_text_and_each_request_once() -> None:
    def work(expected: int, *candidates: str, repeats: int = 1, requests: Sequence[str] = ()) -> ShardWork:
        job = {"benchmark": "b", "candidates": list(candidates), "repeats": repeats}
        job |= {"for": list(requests)} if requests else {}
        return ShardWork("collect", Shard(1, 2), job, expected, done=False)

    text, both = work(10, "a"), work(40, "a", "b", repeats=2)
    given, asked = work(6, "a", requests=["given"]), work(20, "a", "b", requests=["given", "options"])
    assert 40 == _expected_in_shards([text, both])
    assert 16 == _expected_in_shards([text, given])
    assert 60 == _expected_in_shards([text, both, given, asked])
    assert 18 == _expected_in_shards([given, work(12, "a", requests=["options"])])
    assert _expected_in_shards([asked, work(9, "a", requests=["options", "margin"])]) is None
    assert 0 == _expected_in_shards([work(0, "a")])


def test_what_is_left_and_what_failed_stand_apart(
    exam: Any, fake: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from aiohttp import web

    async def closed(request: Any) -> Any:
        return web.json_response({"error": {"message": "no access"}}, status=403)

    monkeypatch.setenv("VLLM_BASE_URL", fake(closed).base_url)
    run = viva_.open(tmp_path / "part.viva")
    run.collect(exam(12), models=["vllm/m"], shard="1/2")
    row, total = snapshot(run.file.path)
    assert (0, run.items.height) == (row.done, row.remaining)
    assert row.cost is None
    assert total.remaining == row.remaining


def test_a_run_that_is_no_shard_is_watched_too(exam: Any, tmp_path: Path) -> None:
    run = viva_.open(tmp_path / "whole.viva")
    run.collect(exam(5), models=ECHO, repeats=2)
    row, total = snapshot(run.file.path)
    assert (None, 10, 0, 0) == (row.shard, row.done, row.remaining, total.missing)
    imported = viva_.open(tmp_path / "imported.viva")
    imported.import_answers([{"item": "a", "candidate": "m", "text": "x", "question": "Why?"}], name="table")
    assert snapshot(imported.file.path)[0].remaining is None


def test_a_run_that_cannot_be_read_does_not_end_the_watch(exam: Any, tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    parts(folder, exam(6), 1)
    (folder / "broken.viva").write_bytes(b"no database")
    with viva_.open(folder / "part-1.viva").file.writing() as db:
        db.execute("UPDATE calls SET cost = 9e999")  # JSON has no such number
    broken, part, total = snapshot(folder)
    assert (None, None) == (part.cost, total.cost)
    assert broken.error
    assert (6, 6) == (part.done, total.done)
    with pytest.raises(StoreError):
        snapshot(folder / "broken.viva")


def test_what_is_left_in_all_is_not_known_while_shards_are_missing_or_not_read(
    exam: Any, tmp_path: Path, viva: Viva
) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    runs = parts(folder, exam(30), 3)
    total = snapshot(folder)[-1]
    assert (0, 0.0, 0) == (total.remaining, total.seconds_left, total.missing)
    runs[1].file.path.write_bytes(b"no database")
    total = snapshot(folder)[-1]
    assert (None, None, 1) == (total.remaining, total.seconds_left, total.missing)
    assert "At most 1 shard has no run here yet." in viva("status", folder).stdout.splitlines()
    for run in runs[1:]:
        run.file.path.unlink()
    total = snapshot(folder)[-1]
    assert (None, None, 2) == (total.remaining, total.seconds_left, total.missing)
    assert "2 shards have no run here yet." in viva("status", folder).stdout.splitlines()


def test_the_time_left_in_all_is_not_known_where_a_run_with_some_left_has_stopped(
    exam: Any, tmp_path: Path
) -> None:
    for run in parts(tmp_path, exam(60), 2):
        with run.file.writing() as db:
            db.execute("DELETE FROM calls WHERE call_id <= 4")
            db.execute("DELETE FROM responses WHERE response_id <= 4")
    total = snapshot(tmp_path)[-1]
    assert (8, 8 / total.rate * 60) == (total.remaining, total.seconds_left)
    grow_older(run, 1_000)
    total = snapshot(tmp_path)[-1]
    assert (8, None) == (total.remaining, total.seconds_left)
    assert total.rate


def test_a_folder_without_a_run_and_a_path_without_anything(tmp_path: Path, viva: Viva) -> None:
    with pytest.raises(StoreError, match=r"no run lies in the folder .*: a run is a file whose name ends"):
        viva("status", tmp_path)
    with pytest.raises(RunNotFound, match="no run at"):
        viva("status", tmp_path / "none.viva", "--watch")
    for every in ("0", "-1", "nan", "inf"):
        with pytest.raises(InputError, match="--every"):
            viva("status", tmp_path, "--watch", "--every", every)


def test_the_status_of_a_folder_is_a_table_or_an_object(exam: Any, tmp_path: Path, viva: Viva) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    parts(folder, exam(6), 2)[1].file.path.unlink()
    answer = json.loads(viva("status", folder, "--json").stdout)
    assert ("viva.status/1", str(folder)) == (answer["schema"], answer["run"])
    assert ["progress", "total"] == [row["about"] for row in answer["rows"]]
    table = viva("status", folder).stdout
    assert "part-1.viva" in table
    assert "1 shard has no run here yet." in table
    assert "" == viva("status", folder, "--quiet").stdout
    for option in ("--verify", "--full"):
        with pytest.raises(InputError, match="are of one run at rest"):
            viva("status", folder, option)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a\nall  99.viva", "a all 99.viva"),
        ("a\tb\rc.viva", "a b c.viva"),
        ("\x1b[2J\u202eb.viva", "\ufffd[2J\ufffdb.viva"),
        ("\udcff.viva", "\ufffd.viva"),  # no UTF-8 on the disk
        ("\u2028b\x85.viva", "b .viva"),
    ],
)
def test_a_strange_file_name_leaves_each_run_its_row(
    exam: Any, tmp_path: Path, viva: Viva, name: str, shown: str
) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    (run,) = parts(folder, exam(6), 1)
    run.file.path.rename(folder / name)
    shutil.copy(folder / name, folder / f"{name}.viva")
    (folder / f"broken {name}").write_bytes(b"no database")
    lines = viva("status", folder).stdout.split("\n")
    rows = lines[lines.index(next(line for line in lines if line.startswith("─"))) + 1 : lines.index("")]
    names = [next(name for name in names_of(shown) if row.startswith(f"{name}  ")) for row in rows]
    assert sorted(names_of(shown)) == sorted(names)
    assert all(line.isprintable() for line in lines)
    answer = json.loads(viva("status", folder, "--json").stdout)
    assert {name, f"{name}.viva", f"broken {name}"} == {
        Path(row["run"]).name for row in answer["rows"] if row["about"] == "progress"
    }


def names_of(shown: str) -> list[str]:
    """What stands in the column of names."""
    return [shown, f"{shown}.viva", f"broken {shown}", "all"]


def test_watching_prints_an_object_a_line_until_ctrl_c(exam: Any, tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    parts(folder, exam(6), 1)
    words = ["status", str(folder), "--watch", "--every", "0.2", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "vivavoce", *words], stdout=subprocess.PIPE, text=True, env={**os.environ}
    )
    assert process.stdout
    lines = [process.stdout.readline() for _ in range(3)]
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=30)
    assert 0 == process.returncode
    answers = [json.loads(line) for line in [*lines, *rest.splitlines()]]
    assert {6} == {answer["rows"][-1]["done"] for answer in answers}


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., list[str]]:
    """What a watch prints at each look; between two looks, these steps are taken, and then Ctrl-C."""

    def watched(path: Path, *steps: Callable[[], object], json: bool = False) -> list[str]:
        printed, left = [], list(steps)

        def next_step(_: float) -> None:
            printed.append(capsys.readouterr().out)
            if not left:
                raise KeyboardInterrupt
            left.pop(0)()

        monkeypatch.setattr("vivavoce.cli.watch.time.sleep", next_step)
        show_progress(path, watch=True, every=5.0, json=json, quiet=False)
        return printed

    return watched


def test_a_watch_waits_for_the_first_run_and_for_runs_that_are_gone_for_a_moment(
    exam: Any, tmp_path: Path, looks: Callable[..., list[str]]
) -> None:
    folder, away = tmp_path / "parts", tmp_path / "away"
    folder.mkdir()
    steps: list[Callable[[], object]] = [
        lambda: parts(folder, exam(6), 1),
        lambda: folder.rename(away),
        lambda: away.rename(folder),
        lambda: (folder / "part-1.viva").unlink(),
    ]
    before, first, gone, again, without = looks(folder, *steps)
    yet = f"No run here yet: {folder} is looked at again.\n"
    assert [yet, yet, yet] == [before, gone, without]
    assert first == again
    assert "part-1.viva" in first
    (look,) = looks(folder, json=True)
    assert {"schema": "viva.status/1", "run": str(folder), "rows": []} == json.loads(look)


def test_a_run_that_cannot_be_read_for_a_moment_does_not_end_its_watch(
    exam: Any, tmp_path: Path, looks: Callable[..., list[str]]
) -> None:
    (run,) = parts(tmp_path, exam(6), 1)
    path, copy = run.file.path, tmp_path / "copy.viva"
    shutil.copy(path, copy)
    first, broken, again = looks(
        path, lambda: path.write_bytes(b"no database"), lambda: shutil.copy(copy, path)
    )
    assert first == again
    assert broken.startswith(f"{path} is no readable run file")
    path.write_bytes(b"no database")
    with pytest.raises(StoreError, match="is no readable run file"):
        looks(path)


def grow_older(run: Run, seconds: float) -> None:
    """Let the latest call of a run be so old, and each before it 11 seconds older."""
    with run.file.writing() as db:
        db.execute(
            "UPDATE calls SET made_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', -(? + 11.0 * "
            "((SELECT max(call_id) FROM calls) - call_id)) || ' seconds')",
            (seconds,),
        )


@pytest.mark.parametrize(("age", "rate"), [(6.0, 5.0), (65.0, 5.0), (600.0, 5.0), (880.0, 5.0), (905.0, 0.0)])
def test_the_rate_of_a_copy_is_that_of_its_last_minute_until_it_has_been_silent_for_long(
    exam: Any, tmp_path: Path, viva: Viva, age: float, rate: float
) -> None:
    run = viva_.open(tmp_path / "part-1.viva")
    run.collect(exam(60), models=ECHO, shard="1/2")
    grow_older(run, age)
    with run.file.writing() as db:
        db.execute("DELETE FROM calls WHERE call_id <= 4")
        db.execute("DELETE FROM responses WHERE response_id <= 4")
    row, total = snapshot(tmp_path)
    assert (rate, rate) == (row.rate, total.rate)
    assert (4, 48.0 if rate else None) == (row.remaining, row.seconds_left)
    table = viva("status", tmp_path).stdout
    if age < 60:
        assert row.as_of is total.as_of is None
        assert "as of" not in table
        return
    assert row.as_of
    at = datetime.fromisoformat(row.as_of)
    assert age == pytest.approx((datetime.now(UTC) - at).total_seconds(), abs=10)
    assert total.as_of == (row.as_of if rate else None)
    assert "as of (UTC)" in table
    assert f"{at:%Y-%m-%d %H:%M}" in table


def test_a_clock_that_is_ahead_adds_nothing_to_the_rate(exam: Any, tmp_path: Path) -> None:
    run = viva_.open(tmp_path / "part-1.viva")
    run.collect(exam(30), models=ECHO)
    grow_older(run, -300)
    row, _ = snapshot(tmp_path)
    assert (5.0, None) == (row.rate, row.as_of)


def test_the_time_left_follows_from_the_rate(exam: Any, serving: Any, tmp_path: Path) -> None:
    server = serving(latency=0.2)
    (tmp_path / "p.yaml").write_text("vllm: {concurrency: 1}\n")
    words = ["collect", "part.viva", exam(60), "--model", "vllm/m", "--providers", "p.yaml", "--shard", "1/1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "vivavoce", *words, "--quiet"],
        cwd=tmp_path,
        env={**os.environ, "VLLM_BASE_URL": server.base_url},
    )
    try:
        end = time.monotonic() + 60
        while len(server.seen) < 4 and time.monotonic() < end:
            time.sleep(0.1)
        while not (row := snapshot(tmp_path / "part.viva")[0]).done and time.monotonic() < end:
            time.sleep(0.1)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
    assert row.remaining is not None
    assert 0 < row.done < 60
    assert (60, row.remaining / row.rate * 60) == (row.done + row.remaining, row.seconds_left)
