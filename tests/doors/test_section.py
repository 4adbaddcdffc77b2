"""The door for report sections: what a registered section adds to the page, and the defaults without one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.studies.making import marked

from vivavoce.core import registry
from vivavoce.core.errors import SpecError
from vivavoce.core.registry import section
from vivavoce.report import charts
from vivavoce.report.section import Section, about_of, section_of
from vivavoce.report.sections.findings import sections
from vivavoce.studies.answers import answers_in

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "plugin_section.py"
ORDER = ["overall", "ranking", "arguments", "correlation", "consistency", "resilience", "calibration",
         "agreement", "gaps", "examiners", "controls", "facts", "audit", "review", "rubrics", "panel",
         "contamination", "positions", "size"]  # fmt: skip
"""The studies of a report, from its top."""


def found(*rows: dict[str, Any], text: str = "One sentence.\nAnother one.") -> list[dict[str, Any]]:
    return [{"made_at": "2026-01-02T03:04:05", "settings": {"items": None, "text": text}, "rows": list(rows)}]


def shown(**studies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sections(studies, {}, [], selection=None, answers=answers_in(pl.DataFrame()))


def drop(candidate: str, kind: str, difference: float) -> dict[str, Any]:
    return {"candidate": candidate, "contrast": "bias", "type": kind, "difference": difference,
            "low": difference - 0.1, "high": difference + 0.1, "verdict": "worse", "p": 0.01}  # fmt: skip


def test_the_example_draws_a_chart_and_chooses_its_columns() -> None:
    registry.load_plugin(EXAMPLE)
    (bias,) = shown(bias=found(drop("A", "recency", 0.2), drop("B", "recency", 0.1)))
    assert "Misleading additions" == bias["heading"]
    assert ["Drop by type of bias"] == [figure.title for figure in bias["figures"]]
    assert bias["figures"][0].svg is not None
    assert ["candidate", "type", "difference", "verdict"] == [name for name, _ in bias["table"]["columns"]]


def test_the_example_stands_on_the_page(tmp_path: Path) -> None:
    answers = {f"q{n}|{kind}": value for n in range(10) for kind, value in (("bias:recency", 0.2 + n / 20),
               ("neutral", 0.9))}  # fmt: skip
    run = marked(tmp_path, {"A": answers, "B": answers})
    run.study("bias")
    registry.load_plugin(EXAMPLE)
    page = run.report(plots=tmp_path / "plots").read_text(encoding="utf-8")
    assert "<h3>Misleading additions</h3>" in page
    assert "How far scores fall when a question carries a misleading sentence." in page
    assert "Items were asked again with a misleading sentence" in page
    assert (tmp_path / "plots" / "bias.svg").is_file()


def test_a_study_without_a_section_gets_its_sentences_and_a_plain_table() -> None:
    (mine,) = shown(mine=found({"candidate": "A", "estimate": 0.25, "reason": None}))
    assert ("Mine", ["One sentence.", "Another one."], []) == (
        mine["heading"],
        mine["sentences"],
        mine["figures"],
    )
    assert [("candidate", False), ("estimate", True)] == mine["table"]["columns"]
    assert [[("A", False), ("0.250", True)]] == mine["table"]["rows"]


def test_a_row_of_a_measure_bears_its_name_for_charts_and_not_in_the_plain_table() -> None:
    @section("mine")
    class Mine(Section):
        def charts(self, rows: Any) -> Iterator[charts.Figure]:
            yield charts.figure(rows[0]["measure"], "No chart: nothing to draw.", "mine")

    row = {"metric": "rouge", "criterion": "f", "estimate": 0.5}
    (mine,) = shown(mine=found(row))
    assert ["rouge: f"] == [figure.title for figure in mine["figures"]]
    assert ["metric", "criterion", "estimate"] == [name for name, _ in mine["table"]["columns"]]


def test_sentences_stand_with_their_charts_where_a_section_asks_for_it() -> None:
    @section("mine")
    class Mine(Section):
        sentences_with_charts = True

        def charts(self, rows: Any) -> Iterator[charts.Figure]:
            yield from (charts.figure(title, "No chart.", title) for title in ("first", "second"))

    (mine,) = shown(mine=found({"candidate": "A"}))
    assert [("first", "One sentence."), ("second", "Another one.")] == [
        (group["title"], group["sentence"]) for group in mine["groups"]
    ]
    assert [] == mine["sentences"]


def test_sections_keep_their_order_and_plugins_stand_after_them() -> None:
    @section("above")
    class Above(Section):
        pass

    names = ["zeta", "above", "bias", *reversed(ORDER)]
    made = shown(**{name: found() for name in names})
    assert [*ORDER, "above", "bias", "zeta"] == [part["study"] for part in made]


def test_a_section_of_ours_is_not_replaced_by_a_plugin(tmp_path: Path) -> None:
    plugin = tmp_path / "mine.py"
    plugin.write_text(EXAMPLE.read_text(encoding="utf-8").replace('"bias"', '"ranking"'), encoding="utf-8")
    with pytest.raises(
        SpecError, match=r"the section 'ranking' of plugin .* is there already, from vivavoce"
    ):
        registry.load_plugin(plugin)


def test_a_run_of_a_plugin_that_is_not_loaded_is_still_reported() -> None:
    assert "" == about_of("of a plugin that is gone")
    assert type(section_of("of a plugin that is gone")) is Section


def test_every_section_of_ours_is_of_a_registered_name_and_has_something_to_say() -> None:
    assert set(ORDER) == registry.members("section").keys()
    for name in ORDER:
        assert section_of(name).about or about_of(name), name
        assert section_of(name).order < Section.order, name


def test_the_loop_over_findings_names_no_study() -> None:
    from vivavoce.report.sections import findings

    text = Path(findings.__file__).read_text(encoding="utf-8")
    assert [] == [name for name in registry.members("section") if f'"{name}"' in text]


def test_a_section_that_does_not_inherit_is_refused_with_what_to_write() -> None:
    with pytest.raises(
        SpecError, match=r"does not derive from vivavoce.Section: write `class Mine\(Section\)"
    ):

        @section("mine")
        class Mine:
            pass
