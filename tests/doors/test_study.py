"""The door for studies: a plugin's study works like ours, and the check finds what is wrong with one."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.cases import each_case
from tests.studies.making import marked, twins

from vivavoce.core import registry
from vivavoce.core.errors import SelectionError, SpecError
from vivavoce.core.records import Finding
from vivavoce.run.run import Run
from vivavoce.studies.score_table import ScoreTable
from vivavoce.studies.study import Study
from vivavoce.testing.study import check_study

PLUGIN = Path(__file__).resolve().parents[2] / "examples" / "plugin_study.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanRow:
    candidate: str
    mean: float | None


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return marked(tmp_path, {"A": twins([0.25, 0.5]), "B": twins([0.75, 0.5])})


def registered(findings: Callable[[Any, ScoreTable], Finding], **members: Any) -> Study:
    """A study of these findings, registered as `mean`."""
    body = {"about": "The mean.", "row": MeanRow, "findings": findings, **members}
    built: Study = registry.study("mean")(type("Mean", (Study,), body))()
    return built


def mean(self: Study, scores: ScoreTable) -> Finding:
    ok = scores.scores.filter(status="ok").group_by("candidate").agg(pl.col("value").mean()).sort("candidate")
    return self.finding([MeanRow(candidate=r["candidate"], mean=r["value"]) for r in ok.to_dicts()])


def test_a_plugin_s_study_runs_from_the_command_line(run: Run, viva: Callable[..., Any]) -> None:
    done = viva("study", run.file.path, "spread", "--plugin", PLUGIN, "--json")
    rows = json.loads(done.stdout)["rows"]
    assert [("spread", "A", 0.25, 0.5), ("spread", "B", 0.5, 0.75)] == [
        (r["study"], r["candidate"], r["lowest"], r["highest"]) for r in rows
    ]


def test_its_fields_are_settings_of_the_spec(run: Run, viva: Callable[..., Any]) -> None:
    assert "A: 0.25" in viva("study", run.file.path, "spread(least=2)", "--plugin", PLUGIN).stdout
    assert "A: 0.25" not in viva("study", run.file.path, "spread(least=9)", "--plugin", PLUGIN).stdout


def test_its_finding_is_kept_with_its_settings(run: Run, viva: Callable[..., Any]) -> None:
    viva("study", run.file.path, "spread(least=2)", "--plugin", PLUGIN)
    with run.file.reading() as db:
        study, settings = db.execute("SELECT study, settings FROM findings").fetchone()
    assert ("spread", 2) == (study, json.loads(settings)["least"])


def test_the_study_of_all_takes_it_along(run: Run) -> None:
    registry.load_plugin(PLUGIN)
    assert "spread" in run.study()


def test_an_unknown_setting_is_named(run: Run) -> None:
    registry.load_plugin(PLUGIN)
    with pytest.raises(SpecError, match="spread has no setting 'most'"):
        run.study("spread(most=1)")


def test_an_option_that_it_does_not_have_is_refused(run: Run) -> None:
    registry.load_plugin(PLUGIN)
    with pytest.raises(
        SelectionError, match=r"a margin .* are for the study of controls, examiners and facts alone"
    ):
        run.study("spread", margin=0.1)


def test_an_option_of_the_command_is_also_a_setting_of_the_spec(run: Run) -> None:
    with pytest.raises(SelectionError, match="--margin 2: it is a difference of alpha"):
        run.study("examiners(margin=2)")


def test_the_list_of_studies_and_the_help_name_it(viva: Callable[..., Any]) -> None:
    rows = json.loads(viva("list", "studies", "--plugin", PLUGIN, "--json").stdout)["rows"]
    said = {row["name"]: row["what"] for row in rows}
    assert "Between which values the scores of each candidate lie." == said["spread"]
    assert all(name in viva("study", "--help").stdout for name in said)


@each_case("name", [*registry.members("study")])
def test_our_studies_pass_the_check(name: str) -> None:
    check_study(registry.build("study", name))


def test_the_example_passes_the_check() -> None:
    registry.load_plugin(PLUGIN)
    check_study(registry.build("study", "spread"))


def test_a_study_without_findings_is_not_registered() -> None:
    with pytest.raises(SpecError, match="the study 'bare' has no row, about, findings"):
        registry.study("bare")(type("Bare", (Study,), {}))


def test_a_sound_study_passes() -> None:
    check_study(registered(mean))


def test_a_study_that_counts_failed_scores_as_nan_fails_the_check() -> None:
    def careless(self: Study, scores: ScoreTable) -> Finding:
        means = scores.scores["value"].fill_null(float("nan")).mean() if scores.scores.height else None
        return self.finding([MeanRow(candidate="all", mean=means)])  # type: ignore[arg-type]

    with pytest.raises(AssertionError, match="given failed scores, has nan as mean"):
        check_study(registered(careless))


def test_a_study_that_an_empty_table_breaks_fails_the_check() -> None:
    def careless(self: Study, scores: ScoreTable) -> Finding:
        return self.finding([MeanRow(candidate=scores.scores["candidate"][0], mean=None)])

    with pytest.raises(AssertionError, match="given an empty table, raises IndexError"):
        check_study(registered(careless))


def test_a_study_that_hangs_on_the_order_of_the_rows_fails_the_check() -> None:
    def careless(self: Study, scores: ScoreTable) -> Finding:
        names = scores.scores["candidate"].unique(maintain_order=True).to_list()
        return self.finding([MeanRow(candidate="; ".join(names), mean=None)])

    with pytest.raises(AssertionError, match="finds other rows when the score rows come in another order"):
        check_study(registered(careless))


def test_rows_of_other_columns_fail_the_check() -> None:
    def careless(self: Study, scores: ScoreTable) -> Finding:
        return Finding(study="mean", rows=({"candidate": "A"},))

    with pytest.raises(AssertionError, match="has a row with the columns candidate; MeanRow has"):
        check_study(registered(careless))
