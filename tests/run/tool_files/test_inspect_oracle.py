"""Our logs as Inspect itself reads them."""

import math
from pathlib import Path

import pytest
from tests.lazy import lazy_module
from tests.run.tool_files.exported_runs import with_units
from tests.studies.making import made, marked

import vivavoce as viva

inspect_log = lazy_module("inspect_ai.log")


@pytest.mark.parametrize("log_format", ["eval", "json"])
def test_inspect_reads_every_sample_of_a_log(tmp_path: Path, log_format: str) -> None:
    run = with_units(tmp_path / "run")
    for written in run.export(tmp_path / "logs", format="inspect", log_format=log_format):
        log = inspect_log.read_eval_log(str(written.path))
        assert ("success", written.candidate) == (log.status, log.eval.model)
        assert log.samples is not None
        assert (
            written.rows
            == len(log.samples)
            == len(inspect_log.read_eval_log_sample_summaries(str(written.path)))
        )
        for sample in log.samples:
            alone = inspect_log.read_eval_log_sample(str(written.path), id=sample.id, epoch=sample.epoch)
            assert sample.output.completion == alone.output.completion


@pytest.mark.parametrize("log_format", ["eval", "json"])
def test_inspect_sees_what_failed_and_what_has_no_score(tmp_path: Path, log_format: str) -> None:
    run = marked(tmp_path / "run", {"A": {"q1": [0.25, "", None]}})
    (written,) = run.export(tmp_path / "logs", format="inspect", log_format=log_format)
    scored, blank, failed = inspect_log.read_eval_log(str(written.path)).samples or []
    assert [0.25] == list(scored.scores["told"].as_dict().values())
    assert ("no_response", True) == (
        blank.scores["told"].reason,
        math.isnan(blank.scores["told"].value["worth"]),
    )
    assert (None, "no response came") == (scored.error, failed.error.message)


def test_inspect_shows_our_means_with_their_intervals(tmp_path: Path) -> None:
    run = marked(tmp_path / "run", {"A": {f"q{k}": k / 10 for k in range(8)}})
    (written,) = run.export(tmp_path / "logs", format="inspect")
    (result,) = inspect_log.read_eval_log(str(written.path), header_only=True).results.scores
    assert ("worth", "told", 8) == (result.name, result.scorer, result.scored_samples)
    assert ["mean", "low 95%", "high 95%"] == list(result.metrics)


@pytest.mark.parametrize("item", ["../../x", "a/../b", "..", "a\\b", "x" * 3000, "Ünïcödé 𝔸"])
def test_inspect_finds_a_sample_of_any_id(tmp_path: Path, item: str) -> None:
    run = made(tmp_path / "run", {"A": {item: "yes"}})
    (written,) = run.export(tmp_path / "logs", format="inspect")
    (summary,) = inspect_log.read_eval_log_sample_summaries(str(written.path))
    assert "yes" == inspect_log.read_eval_log_sample(str(written.path), id=summary.id).output.completion


def test_a_log_that_inspect_wrote_anew_comes_back_the_same(tmp_path: Path) -> None:
    """As it is when scores are edited there, or the log converted."""
    from inspect_ai.log import write_eval_log

    run = with_units(tmp_path / "run")
    before = viva.open(tmp_path / "before.viva")
    after = viva.open(tmp_path / "after.viva")
    for written in run.export(tmp_path / "logs", format="inspect"):
        before.import_logs(written.path)
        again = tmp_path / f"again-{written.path.name}"
        write_eval_log(inspect_log.read_eval_log(str(written.path)), str(again))
        after.import_logs(again)
    assert before.responses.equals(after.responses)
    assert before.scores.equals(after.scores)
