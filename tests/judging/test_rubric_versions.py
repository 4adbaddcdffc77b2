"""One rubric under several wordings of its file, and under signatures of earlier releases."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.judging.fake_judge import FakeJudge
from tests.studies.making import made

from vivavoce.core import registry
from vivavoce.core.errors import SelectionError
from vivavoce.judging.loading import load
from vivavoce.run.run import Run


@pytest.fixture
def providers(tmp_path: Path, judge: FakeJudge) -> Path:
    """The file that says where the fake judge is."""
    file = tmp_path / "providers.yaml"
    file.write_text(json.dumps({"fake": {"base_url": judge.base_url, "attempts": 1}}))
    return file


@pytest.fixture
def rubric(tmp_path: Path) -> Path:
    """A rubric of the user's own."""
    file = tmp_path / "own.md"
    file.write_text(load("correctness").path.read_text(encoding="utf-8"), encoding="utf-8")
    return file


def spec_of(rubric: Path, model: str = "fake/j1") -> str:
    return f"judge(rubric='{rubric}', model={model})"


def rewrite(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


@contextmanager
def earlier_release() -> Iterator[None]:
    """Signatures as earlier releases made them: the hash of the rubric's bytes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "signature", partial(registry.signature, by_bytes=True))
        yield


def signatures(run: Run) -> list[str]:
    return list(dict.fromkeys(m.signature for m in run.measures))


def test_a_rubric_with_its_defaults_written_out_scores_nothing_again(
    tmp_path: Path, rubric: Path, judge: FakeJudge, providers: Path
) -> None:
    run = made(tmp_path, {"A": {"q1": "x", "q2": "y"}})
    run.score(spec_of(rubric), providers=providers)
    original = signatures(run)
    rewrite(rubric, "reasoning: strip\n", "# thoughts are no part of an answer\n")
    rewrite(rubric, "    step: 0.5\n", "    direction: higher\n    key: correct\n    step: 0.5\n")
    planned = run.score(spec_of(rubric), providers=providers, dry_run=True)
    assert [(0, 0)] == [(row["to_score"], row["calls"]) for row in planned.rows]
    run.score(spec_of(rubric), providers=providers)
    assert (original, 2, 2) == (signatures(run), len(judge.sent), run.scores.height)


def test_another_scale_scores_everything_again(
    tmp_path: Path, rubric: Path, judge: FakeJudge, providers: Path
) -> None:
    run = made(tmp_path, {"A": {"q1": "x", "q2": "y"}})
    run.score(spec_of(rubric), providers=providers)
    rewrite(rubric, "    step: 0.5\n", "")
    run.score(spec_of(rubric), providers=providers)
    assert (2, 4, 4) == (len(signatures(run)), len(judge.sent), run.scores.height)


def test_a_run_of_an_earlier_release_keeps_its_signature(
    tmp_path: Path, rubric: Path, judge: FakeJudge, providers: Path
) -> None:
    """Nothing is scored again by the same file; further answers and passes come under the same signature."""
    run = made(tmp_path, {"A": {"q1": "x", "q2": "y"}})
    with earlier_release():
        run.score(spec_of(rubric), providers=providers)
    former = signatures(run)
    metric = registry.build("metric", spec_of(rubric))
    assert former == [registry.signature(metric, by_bytes=True)] != [registry.signature(metric)]
    planned = run.score(spec_of(rubric), providers=providers, dry_run=True)
    assert [0] == [row["to_score"] for row in planned.rows]
    estimates = run.score(spec_of(rubric), providers=providers)
    assert (former, 2, 2) == (signatures(run), len(judge.sent), run.scores.height)
    assert former == [row["signature"] for row in estimates.rows]
    made(tmp_path, {"A": {"q1": "x", "q2": "y"}, "B": {"q1": "z"}}, run=run)
    run.score(spec_of(rubric), providers=providers, passes=2)
    assert (former, 6, 6) == (signatures(run), len(judge.sent), run.scores.height)


def in_version_1(run: Run, spec: str, providers: Path, *, by_bytes: bool = False) -> list[str]:
    """Score as version 1 of the judge did, and give the signatures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "signature", partial(registry.signature, by_bytes=by_bytes, version=1))
        run.score(spec, providers=providers)
    assert ["@1#"] == [signature[-11:-8] for signature in signatures(run)]
    return signatures(run)


@pytest.mark.parametrize("by_bytes", [False, True])
def test_scores_of_version_1_stay_where_every_answer_is_read_as_it_stands(
    tmp_path: Path, rubric: Path, judge: FakeJudge, providers: Path, *, by_bytes: bool
) -> None:
    run = made(tmp_path, {"A": {"q1": "x < y", "q2": " an analysis\n"}})
    former = in_version_1(run, spec_of(rubric), providers, by_bytes=by_bytes)
    estimates = run.score(spec_of(rubric), providers=providers)
    assert (former, 2) == (signatures(run), len(judge.sent))
    assert former == [row["signature"] for row in estimates.rows]


def test_where_answers_think_version_2_scores_anew_and_asks_only_what_differs(
    tmp_path: Path, rubric: Path, judge: FakeJudge, providers: Path
) -> None:
    run = made(tmp_path, {"A": {"q1": "x", "q2": "[THINK]hm[/THINK]y"}})
    former = in_version_1(run, spec_of(rubric), providers)
    with run.file.writing() as db:  # the request that held the thinking too was another one
        db.execute("DELETE FROM calls WHERE call_id = (SELECT max(call_id) FROM calls)")
    run.score(spec_of(rubric), providers=providers)
    assert [*former, registry.signature(registry.build("metric", spec_of(rubric)))] == signatures(run)
    assert (3, ("y",)) == (len(judge.sent), judge.sent[-1].answers)
    assert 4 == run.scores.height


def test_an_earlier_release_is_matched_by_the_same_file_alone(
    tmp_path: Path, rubric: Path, judge: FakeJudge, providers: Path
) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    with earlier_release():
        run.score(spec_of(rubric), providers=providers)
    rewrite(rubric, "half right", "partly right")
    run.score(spec_of(rubric), providers=providers)
    assert 2 == len(signatures(run))
    assert registry.signature(registry.build("metric", spec_of(rubric))) == signatures(run)[1]


def test_a_jury_finds_the_scores_that_its_judges_gave_under_an_earlier_release(
    tmp_path: Path, rubric: Path, judge: FakeJudge, providers: Path
) -> None:
    run = made(tmp_path, {"A": {"q1": "x", "q2": "worth 0.5"}, "B": {"q1": "worth 0", "q2": "y"}})
    jury = f"jury(of=[{spec_of(rubric)}, {spec_of(rubric, 'fake/j2')}], rule=mean)"
    with earlier_release():
        run.score(jury, providers=providers)
    sent = len(judge.sent)
    estimates = run.score(jury, providers=providers)
    assert sent == len(judge.sent)
    assert 2 == len(signatures(run))
    by_jury = {row["candidate"]: row["estimate"] for row in estimates.rows if row["rater"] == "jury"}
    assert {"A": 0.75, "B": 0.5} == by_jury


def test_a_shard_of_an_earlier_release_counts_what_it_has(
    tmp_path: Path, rubric: Path, judge: FakeJudge, providers: Path
) -> None:
    run = made(tmp_path, {"A": {"q1": "x", "q2": "y"}})
    with earlier_release():
        run.score(spec_of(rubric), providers=providers, shard="1/1")
    run.score(spec_of(rubric), providers=providers, shard="1/1")
    assert 2 == len(judge.sent)
    assert 1 == len(signatures(run))


def test_tables_name_rubric_and_model_and_json_the_spec(
    tmp_path: Path, rubric: Path, judge: FakeJudge, providers: Path, viva: Callable[..., Any]
) -> None:
    run = made(tmp_path, {"A": {"q1": "x", "q2": "y"}, "B": {"q1": "worth 0.5", "q2": "z"}})
    options = ("--providers", providers)
    text = viva("score", run.file.path, spec_of(rubric), *options).stdout
    assert "\nown by fake/j1: correct on exam\n" in text
    assert str(rubric) not in text
    rows = json.loads(viva("score", run.file.path, spec_of(rubric), *options, "--json").stdout)["rows"]
    assert {str(registry.canonical(registry.build("metric", spec_of(rubric))))} == {r["metric"] for r in rows}


def test_the_page_names_versions_and_states_specs_in_its_methods(
    tmp_path: Path, rubric: Path, judge: FakeJudge, providers: Path, viva: Callable[..., Any]
) -> None:
    run = made(tmp_path, {"A": {"q1": "x", "q2": "y"}, "B": {"q1": "worth 0.5", "q2": "z"}})
    run.score(spec_of(rubric), providers=providers)
    rewrite(rubric, "decide whether", "judge whether")
    run.score(spec_of(rubric), providers=providers)
    first, second = signatures(run)
    version = first.rpartition(")@")[2]
    text = viva("status", run.file.path, "--full").stdout
    assert 2 == text.count(f"own by fake/j1: correct (earlier version {version})")
    page = run.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"own by fake/j1: correct (earlier version {version})" in page
    methods = page[page.index('id="methods"') :]
    assert first.replace("'", "&#39;") in methods
    assert second.replace("'", "&#39;") in methods


@pytest.mark.parametrize("metric", ["own by fake/j1", "own by fake/j1: correct", "own"])
def test_a_judge_is_found_by_the_name_that_tables_show(
    metric: str, tmp_path: Path, rubric: Path, judge: FakeJudge, providers: Path
) -> None:
    run = made(tmp_path, {"A": {"q1": "x", "q2": "y"}, "B": {"q1": "worth 0.5", "q2": "z"}})
    run.score(spec_of(rubric), spec_of(rubric, "fake/j2"), "exact", providers=providers)
    if metric == "own":
        with pytest.raises(SelectionError, match="matches several"):
            run.compare("A", "B", metric=metric)
        return
    assert ["fake/j1"] == [row["rater"] for row in run.compare("A", "B", metric=metric).rows]


def test_a_retired_judge_of_an_earlier_release_is_not_scored_under_todays_signature(
    tmp_path: Path, rubric: Path, judge: FakeJudge, providers: Path
) -> None:
    run = made(tmp_path, {"A": {"q1": "x", "q2": "y"}})
    with earlier_release():
        run.score(spec_of(rubric), providers=providers)
    run.retire("judge")
    with pytest.raises(SelectionError, match="is retired in this run since"):
        run.score(spec_of(rubric), providers=providers)
    assert 2 == len(judge.sent)
