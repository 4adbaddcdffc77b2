"""`viva status RUN` of one shard: what it owes is its own part, and no other shard is missing from it."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.run.shards.test_collect_and_score import ECHO, Exam, parts

import vivavoce as viva_
from vivavoce.core.errors import StoreError
from vivavoce.run.run import Run
from vivavoce.run.shards.progress import snapshot

Viva = Callable[..., Any]


def about(run: Run, topic: str) -> list[Mapping[str, Any]]:
    return [row for row in run.status().rows if row["about"] == topic]


def test_a_shard_says_which_it_is_and_what_it_has(exam: Exam, tmp_path: Path, viva: Viva) -> None:
    run = parts(tmp_path, exam(30), 3)[1]
    run.score("exact", shard="2/3")
    n = run.responses.height
    assert [
        ("collect", "exam by baseline/echo", "2/3", "complete", n, n, 0),
        ("score", "exact", "2/3", "complete", n, n, 0),
    ] == [
        tuple(row[name] for name in ("verb", "of_what", "shard", "state", "expected", "done", "failed"))
        for row in about(run, "shard")
    ]
    said = viva("status", run.file.path).stdout
    line = f"Shard: 2/3; collect exam by baseline/echo: {n} of {n} answers; score exact: {n} of {n} scores."
    assert line == said.splitlines()[2]
    assert f"Next: `viva merge ALL.viva {run.file.path} …` joins it with the other shards." in said
    assert line == str(run.status()).splitlines()[0]
    full = viva("status", run.file.path, "--full").stdout
    assert "Shard 2/3" in full.splitlines()
    listed = json.loads(viva("status", run.file.path, "--json").stdout)["rows"]
    assert ["2/3", "2/3"] == [row["shard"] for row in listed if row["about"] == "shard"]


def test_a_shard_that_was_cut_owes_what_is_left_of_its_part(exam: Exam, tmp_path: Path, viva: Viva) -> None:
    run = parts(tmp_path, exam(30), 3)[0]
    n = run.responses.height
    with run.file.writing() as db:
        db.execute("DELETE FROM calls")
        db.execute("DELETE FROM responses WHERE response_id IN (SELECT response_id FROM responses LIMIT 3)")
    (row,) = about(run, "shard")
    assert ("unfinished", n, n - 3) == (row["state"], row["expected"], row["done"])
    said = viva("status", run.file.path).stdout
    assert f"{n - 3} of {n} answers." in said
    assert f"Next: `viva collect {run.file.path} … --shard 1/3` again asks what is left, or failed." in said


def test_a_part_of_a_whole_exam_is_scored_whole(exam: Exam, tmp_path: Path, viva: Viva) -> None:
    """A run with all answers, of which one machine scores a part: the others are no scores of this run."""
    run = viva_.open(tmp_path / "whole.viva")
    run.collect(exam(30), models=[*ECHO, "baseline/reference"])
    run.score("exact", shard="2/3")
    run.score("token_f1")
    by_metric = {(row["metric"], row["candidate"]): row for row in about(run, "marks")}
    n = run.scores.filter(metric="exact", candidate=ECHO[0]).height
    assert 0 < n < 30
    assert {n, 30} == {row["responses"] for row in by_metric.values()}
    assert n == by_metric["exact", ECHO[0]]["responses"]
    assert [{}] == [row["causes"] for key, row in by_metric.items() if key == ("exact", "baseline/reference")]
    assert "not scored yet" not in viva("status", run.file.path).stdout
    run.collect(exam(30), models=ECHO, repeats=2)  # of its own part scores may be missing all the same
    causes = {row["candidate"]: row["causes"] for row in about(run, "marks") if row["metric"] == "exact"}
    assert {ECHO[0]: {"not scored yet": n}, "baseline/reference": {}} == causes
    said = viva("status", run.file.path).stdout
    assert (
        f"Next: `viva score {run.file.path} exact --shard 2/3` scores what has no score, or failed." in said
    )


def test_a_run_with_the_scores_of_other_parts_counts_as_a_whole(exam: Exam, tmp_path: Path) -> None:
    run = viva_.open(tmp_path / "whole.viva")
    run.collect(exam(30), models=ECHO)
    run.score("exact", shard="2/3")
    run.score("exact")
    assert ([], [30]) == (about(run, "shard"), [row["responses"] for row in about(run, "marks")])


def test_of_several_exams_and_jobs_each_counts_its_own(exam: Exam, tmp_path: Path, viva: Viva) -> None:
    run = viva_.open(tmp_path / "part.viva")
    for name in ("x", "y"):
        run.collect(exam(20, name=name), models=ECHO, shard="1/4")
    run.collect(exam(20, name="x"), models=ECHO, shard="1/4", repeats=3)
    run.score("exact", shard="1/4")
    heights = dict(run.responses.group_by("benchmark").len().iter_rows())
    n = {name: heights[name] // repeats for name, repeats in (("x", 3), ("y", 1))}
    assert [("x", n["x"]), ("x", 3 * n["x"]), ("y", n["y"])] == sorted(
        (row["of_what"][0], row["expected"]) for row in about(run, "shard") if row["verb"] == "collect"
    )
    assert {"complete"} == {row["state"] for row in about(run, "shard")}
    assert "; and 1 more." in viva("status", run.file.path).stdout


def test_what_was_made_since_is_still_to_be_asked(exam: Exam, tmp_path: Path, viva: Viva) -> None:
    run = viva_.open(tmp_path / "part.viva")
    run.collect("sample", models=ECHO, shard="1/3")
    n = run.responses.height
    run.vary("bias(type=authority)")
    assert f"collect sample by baseline/echo: {n} answers so far." in viva("status", run.file.path).stdout
    run.collect("sample", models=ECHO, shard="1/3")
    assert n < (more := run.responses.height)
    assert f"baseline/echo: {more} of {more} answers." in viva("status", run.file.path).stdout


def test_a_shard_without_an_item_is_done(exam: Exam, tmp_path: Path, viva: Viva) -> None:
    runs = parts(tmp_path, exam(1), 3)
    empty = next(run for run in runs if not run.responses.height)
    said = viva("status", empty.file.path).stdout
    assert ": 0 of 0 answers." in said
    assert "Next: `viva merge ALL.viva" in said


def test_joined_shards_count_as_before(exam: Exam, tmp_path: Path) -> None:
    runs = parts(tmp_path, exam(30), 3)
    for number, run in enumerate(runs, 1):
        run.score("exact", shard=f"{number}/3")
    whole, target = viva_.open(tmp_path / "whole.viva"), viva_.open(tmp_path / "all.viva")
    whole.collect(exam(30), models=ECHO)
    whole.score("exact")
    target.merge(*(run.file.path for run in runs))
    assert [] == about(target, "shard")
    assert about(whole, "marks") == about(target, "marks")
    assert str(whole.status()) == str(target.status())
    runs[0].merge(runs[1].file.path, runs[2].file.path)  # into the first: it is no shard any more
    assert [] == about(runs[0], "shard")
    assert about(whole, "marks") == about(runs[0], "marks")


def test_a_run_of_before_has_no_shard(exam: Exam, tmp_path: Path) -> None:
    run = parts(tmp_path, exam(12), 2)[0]
    with run.file.writing() as db:
        db.execute("DELETE FROM provenance WHERE verb = 'shard'")
    assert [] == about(run, "shard")
    assert str(run.status()).startswith("exam: ")


def test_what_a_run_says_of_its_shard_is_not_trusted(exam: Exam, tmp_path: Path) -> None:
    run = parts(tmp_path, exam(12), 2)[0]
    with run.file.writing() as db:
        db.execute("UPDATE provenance SET body = json_set(body, '$.shard', 7) WHERE verb = 'shard'")
    with pytest.raises(StoreError, match="which shard this is"):
        run.status()


def test_a_run_that_is_watched_by_itself_misses_no_other_shard(
    exam: Exam, tmp_path: Path, viva: Viva
) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    runs = parts(folder, exam(30), 3)
    for run in runs[1:]:
        run.file.path.unlink()
    row, total = snapshot(runs[0].file.path)
    assert ("1/3", 0, 0, 0) == (row.shard, row.remaining, total.remaining, total.missing)
    assert 2 == snapshot(folder)[-1].missing
    assert "2 shards have no run here yet." in viva("status", folder).stdout
