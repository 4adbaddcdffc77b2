"""`--shard 3/16`: a part of the items, in a run of its own that knows which part it is."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import vivavoce as viva
from vivavoce.core import registry
from vivavoce.core.errors import InputError
from vivavoce.core.records import Finding
from vivavoce.models.rate_limit import Limits
from vivavoce.run.run import Run

WHOLE_EXAM = Path(__file__).with_name("whole_exam.py")
Exam = Callable[..., str]
ECHO = ["baseline/echo"]


def one(finding: Finding) -> dict[str, Any]:
    (row,) = finding.rows
    return dict(row)


def parts(folder: Path, spec: str, of: int, **options: Any) -> list[Run]:
    runs = [viva.open(folder / f"part-{k}.viva") for k in range(1, of + 1)]
    for number, run in enumerate(runs, 1):
        run.collect(spec, models=ECHO, shard=f"{number}/{of}", **options)
    return runs


def names(run: Run) -> set[str]:
    return set(run.responses["item"]) if run.responses.height else set()


def test_the_shards_of_an_exam_ask_every_item_once(exam: Exam, tmp_path: Path) -> None:
    spec = exam(30, change=lambda k: {"group": f"case {k // 3}"})
    runs = parts(tmp_path, spec, 4)
    asked = [names(run) for run in runs]
    assert {f"q{k}" for k in range(30)} == set().union(*asked)
    assert 30 == sum(map(len, asked))
    cases = [{int(name[1:]) // 3 for name in part} for part in asked]
    assert 10 == sum(map(len, cases))


def test_the_order_of_the_file_does_not_matter(exam: Exam, tmp_path: Path) -> None:
    spec = exam(20)
    first = parts(tmp_path, spec, 3)
    file = tmp_path / "exam.jsonl"
    file.write_text("\n".join(reversed(file.read_text().splitlines())))
    (tmp_path / "again").mkdir()
    again = parts(tmp_path / "again", spec, 3)
    assert [names(run) for run in first] == [names(run) for run in again]


def test_a_sample_is_drawn_before_it_is_divided(exam: Exam, tmp_path: Path) -> None:
    spec = exam(40)
    whole = viva.open(tmp_path / "whole.viva")
    whole.collect(spec, models=ECHO, sample="10")
    runs = parts(tmp_path, spec, 3, sample="10")
    assert names(whole) == set().union(*map(names, runs))
    assert {4.0} == {weight for run in runs if run.items.height for weight in run.items["weight"]}


def test_a_dry_run_counts_the_part_of_the_shard(exam: Exam, tmp_path: Path) -> None:
    run = viva.open(tmp_path / "part.viva")
    planned = [run.collect(exam(30), models=ECHO, shard=f"{k}/4", dry_run=True) for k in range(1, 5)]
    assert 30 == sum(one(finding)["calls"] for finding in planned)
    assert "1/4" == one(planned[0])["shard"]
    n = one(planned[0])["calls"]
    assert str(planned[0]).startswith(f"Shard 1/4: {n} of 30 questions.\n{n} requests: {n} questions")
    assert not run.file.exists


def test_a_run_refuses_to_be_another_shard_or_the_whole(exam: Exam, tmp_path: Path) -> None:
    spec, path = exam(30), tmp_path / "part.viva"
    run = viva.open(path)
    run.collect(spec, models=ECHO, shard="1/4")
    before = run.responses.height
    for other in ("2/4", "1/5"):
        with pytest.raises(InputError) as error:
            run.collect(spec, models=ECHO, shard=other)
        assert (
            f"{path} is shard 1/4: ask for --shard 1/4 here, and give shard {other} a run of its own."
            == str(error.value)
        )
        with pytest.raises(InputError, match="is shard 1/4"):
            run.score("exact", shard=other)
    with pytest.raises(InputError) as error:
        run.collect(spec, models=ECHO)
    assert f"{path} is shard 1/4 of exam: ask for --shard 1/4 here, or use another run for all of it." == str(
        error.value
    )
    assert before == run.responses.height
    assert 0 == one(run.collect(spec, models=ECHO, shard="1/4"))["answered"]


def test_a_run_with_other_items_takes_no_shard(exam: Exam, tmp_path: Path) -> None:
    run = viva.open(tmp_path / "whole.viva")
    run.collect(exam(30), models=ECHO)
    with pytest.raises(InputError, match=r"holds \d+ items that are not in shard 1/4, such as q"):
        run.collect(exam(30), models=ECHO, shard="1/4")


def test_a_shard_without_an_item_is_done_and_remembered(exam: Exam, tmp_path: Path) -> None:
    runs = parts(tmp_path, exam(1), 3)
    empty = [run for run in runs if not run.items.height]
    assert 2 == len(empty)
    row = one(empty[0].collect(exam(1), models=ECHO, shard=f"{runs.index(empty[0]) + 1}/3"))
    assert (0, 0, 0) == (row["answered"], row["failed"], row["left"])
    dry = empty[0].collect(exam(1), models=ECHO, shard=f"{runs.index(empty[0]) + 1}/3", dry_run=True)
    assert 0 == one(dry)["calls"]
    scored = empty[0].score("exact", shard=f"{runs.index(empty[0]) + 1}/3")
    assert () == scored.rows
    assert "holds no item: there is nothing to score." in str(scored)


def test_scoring_a_shard_of_a_whole_run_marks_that_part_alone(exam: Exam, tmp_path: Path) -> None:
    spec = exam(30)
    whole = viva.open(tmp_path / "whole.viva")
    whole.collect(spec, models=ECHO)
    scored: list[str] = []
    for number in range(1, 4):
        part = viva.open(whole.copy(tmp_path / f"part-{number}.viva"))
        finding = part.score("exact", "token_f1", shard=f"{number}/3")
        assert len(part.scores) == 2 * part.scores["item"].n_unique()
        assert finding.rows[0]["n_items"] == part.scores["item"].n_unique()
        assert (
            f"These estimates are of shard {number}/3 alone: `viva merge` joins the shards." in finding.notes
        )
        scored += part.scores["item"].unique().to_list()
        with pytest.raises(InputError, match=f"is shard {number}/3"):
            part.score("exact", shard="1/2")
    assert {f"q{k}" for k in range(30)} == set(scored)
    assert 30 == len(scored)


def test_a_dry_run_of_scoring_counts_the_part_of_the_shard(exam: Exam, tmp_path: Path) -> None:
    run = viva.open(tmp_path / "whole.viva")
    run.collect(exam(30), models=ECHO)
    counted = [one(run.score("exact", dry_run=True, shard=f"{k}/3"))["to_score"] for k in range(1, 4)]
    assert 30 == sum(counted)
    assert 30 > max(counted)


def test_the_settings_of_a_whole_exam_are_not_taken_from_a_shard(exam: Exam, tmp_path: Path) -> None:
    run = viva.open(tmp_path / "part.viva")
    run.collect(exam(20), models=["baseline/echo"], shard="1/2")
    registry.load_plugin(WHOLE_EXAM)
    with pytest.raises(InputError, match=r"share.* depends on all items of an exam, and .* holds shard 1/2"):
        run.score("share", shard="1/2")


# Limits.


def test_limits_are_divided_and_one_is_the_least() -> None:
    whole = Limits(concurrency=64, requests_per_minute=500, tokens_per_minute=None)
    assert Limits(4, 31, None) == whole.divided(16)
    assert Limits(1, 1, 1) == Limits(8, 3, 9).divided(16)
    assert whole == whole.divided(1)


def test_a_shard_says_what_it_may_do(
    exam: Exam, endpoint: Callable[..., Any], limits: Callable[..., Path], tmp_path: Path
) -> None:
    endpoint()
    providers = limits(concurrency=8, requests_per_minute=6000, prices={"m": [1.0, 1.0]})
    run = viva.open(tmp_path / "part.viva")
    options: dict[str, Any] = {"models": ["vllm/m"], "shard": "1/4", "providers": providers, "max_cost": 2.0}
    found = run.collect(exam(12), **options)
    row = {"endpoint": "vllm", "concurrency": 2, "requests_per_minute": 1500, "tokens_per_minute": None}
    assert [row] == one(found)["limits"]
    assert str(found).endswith("Shard 1/4 may ask 2 at once (1,500 requests a minute) at vllm, spend 0.5.")
    whole = run.collect(exam(12), **options, limits="whole", dry_run=True)
    assert str(whole).endswith("Shard 1/4 may ask 8 at once (6,000 requests a minute) at vllm, spend 2.")
    few = viva.open(tmp_path / "few.viva").collect(exam(12), **options | {"shard": "1/16"}, dry_run=True)
    assert "All 16 together may pass the endpoint's limits, as each asks one at least." in str(few)


def test_whole_limits_go_with_a_shard(exam: Exam, tmp_path: Path) -> None:
    run = viva.open(tmp_path / "run.viva")
    with pytest.raises(InputError, match="--limits whole goes with --shard"):
        run.collect(exam(3), models=ECHO, limits="whole")
    run.collect(exam(3), models=ECHO)
    with pytest.raises(InputError, match="--limits half: divided or whole"):
        run.score("exact", limits="half", shard="1/2")  # type: ignore[arg-type]


def test_the_command_line_takes_shards(viva: Callable[..., Any], exam: Exam, tmp_path: Path) -> None:
    path = tmp_path / "part.viva"
    words = ("collect", path, exam(12), "--model", "baseline/echo", "--shard", "1/2")
    row = json.loads(viva(*words, "--json").stdout)["rows"][0]
    assert ("1/2", []) == (row["shard"], row["limits"])
    assert "Shard 1/2: " in viva(*words).stdout
    scored: Sequence[Any] = json.loads(viva("score", path, "exact", "--shard", "1/2", "--json").stdout)[
        "rows"
    ]
    assert row["answered"] == scored[0]["n_items"]
    for word in ("17/16", "0/4", "a/b"):
        with pytest.raises(InputError, match=f"--shard {word}: "):
            viva(*words[:-1], word)
        with pytest.raises(InputError, match=f"--shard {word}: "):
            viva("score", path, "exact", "--shard", word)
