"""Profiles by category and format: figures as in the leaderboard, and no word on gaps without the test."""

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.report.charts import assert_harmless, texts, told
from tests.studies.making import Answers, marked

from vivavoce import stats
from vivavoce.core.numbers import printed
from vivavoce.core.records import Criterion, Measure
from vivavoce.report.sections.profiles import FEW_GROUPS, FORMATS, LEAST_GROUPS, UNTESTED, profiles
from vivavoce.run.run import Run
from vivavoce.store import read


def table(
    marks: dict[str, dict[str, list[float | None]]], *, form: str = "short", groups: int | None = None
) -> pl.DataFrame:
    """Score rows by candidate and category: an item and, but for `groups`, a case for each score."""
    rows = [
        {"benchmark": "exam", "item": f"{category}{n}", "variant": "",
         "group": f"{category}{n if groups is None else n % groups}",
         "candidate": name, "role": "candidate", "repeat": 1, "edit": "", "pass_no": 1, "value": mark,
         "status": "failed" if mark is None else "ok", "measure_id": 1, "category": category, "format": form}
        for name, by in marks.items() for category, own in by.items() for n, mark in enumerate(own)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema_overrides={"value": pl.Float64, "category": pl.String})


TOLD = {1: Measure(metric="told", signature="told()@1", criterion=Criterion(criterion="told"))}
HEART, LUNG = [0.2, 0.4, 0.6, 0.8], [1.0, 1.0, 0.5]
SCORES = table({"Ann": {"heart": HEART, "lung": LUNG}, "Ben": {"heart": LUNG, "lung": HEART}})


def gaps(
    *rows: tuple[str, bool | None, float | None, str | None], cases: int = 10, **settings: Any
) -> dict[str, Any]:
    """A finding of the study: candidate, whether the profile differs, p, and why it was not tested."""
    return {
        "made_at": "2026-01-01",
        "settings": settings,
        "rows": [
            {"benchmark": "exam", "metric": "told", "criterion": "told", "rater": "", "candidate": name,
             "category": category, "differs": differs, "p_adjusted": p, "reason": reason,
             "n_groups": cases}
            for name, differs, p, reason in rows for category in ("heart", "lung")
        ],
    }  # fmt: skip


def test_figures_are_those_of_the_statistics_on_the_items_of_the_category() -> None:
    (profile,) = profiles(SCORES, TOLD, ())
    rows = {(r["candidate"], r["part"]): r for r in profile["rows"]}
    e = stats.estimate_mean(HEART, range(4), low=0, high=1)
    own = rows["Ann", "heart"]
    assert 0.5 == pytest.approx(own["estimate"])
    assert (e.value, e.low, e.high, 4, 4, None) == tuple(
        own[k] for k in ("estimate", "low", "high", "n_items", "n_groups", "reason")
    )
    assert ["heart", "lung"] == profile["parts"]
    assert ("category", "exam", "told") == (profile["by"], profile["benchmark"], profile["measure"])


def test_the_chart_says_the_figures_of_its_rows() -> None:
    (profile,) = profiles(SCORES, TOLD, ())
    said = told(profile["figure"].svg)
    for row in profile["rows"]:
        ends = f"({printed(row['low'], '.3f')} to {printed(row['high'], '.3f')})"
        assert f"{row['candidate']}, {row['part']}: {printed(row['estimate'], '.3f')} {ends}" in said
    shown = texts(profile["figure"].svg)
    assert {"n 4 (4)", "n 3 (3)", "0.500*"} <= set(shown)
    assert f"* fewer than {FEW_GROUPS} effective cases: not to be relied on" in shown


def test_a_category_of_two_cases_has_counts_and_a_reason() -> None:
    assert LEAST_GROUPS == 3
    (profile,) = profiles(table({"Ann": {"heart": HEART, "skin": [1.0, 0.0]}}), TOLD, ())
    skin = profile["rows"][1]
    assert (None, None, None, 2, 2) == tuple(
        skin[k] for k in ("estimate", "low", "high", "n_items", "n_groups")
    )
    assert "2 cases: too few for a figure, counts only" == skin["reason"]
    assert "n 2 (2)" in texts(profile["figure"].svg)


def test_cases_count_and_not_questions() -> None:
    """Twenty questions on two cases are two cases."""
    (profile,) = profiles(table({"Ann": {"a": [0.5] * 20, "b": [0.4] * 20}}, groups=2), TOLD, ())
    assert [(20, 2, None)] * 2 == [(r["n_items"], r["n_groups"], r["estimate"]) for r in profile["rows"]]
    assert "No chart: fewer than 3 cases in every cell." == profile["figure"].sentence


def test_ten_cases_need_no_star() -> None:
    (profile,) = profiles(table({"Ann": {"a": [0.5, 0.6] * 5, "b": [0.4, 0.2] * 5}}), TOLD, ())
    assert not [text for text in texts(profile["figure"].svg) if "*" in text]


def test_failed_marks_are_in_no_figure() -> None:
    (profile,) = profiles(table({"Ann": {"heart": [*HEART, None], "lung": LUNG}}), TOLD, ())
    assert 0.5 == pytest.approx(profile["rows"][0]["estimate"])
    assert 4 == profile["rows"][0]["n_items"]


def test_one_category_or_none_is_no_profile() -> None:
    assert [] == profiles(table({"Ann": {"heart": HEART}}), TOLD, ())
    assert [] == profiles(SCORES.with_columns(category=pl.lit(None, pl.String)), TOLD, ())
    assert [] == profiles(SCORES.clear(), TOLD, ())


def test_formats_have_a_profile_of_their_own_that_is_never_tested() -> None:
    scores = pl.concat([table({"Ann": {"heart": HEART}}), table({"Ann": {"heart2": LUNG}}, form="mcq")])
    by = {profile["by"]: profile for profile in profiles(scores, TOLD, ())}
    assert {"category", "format"} == set(by)
    assert ["mcq", "short"] == by["format"]["parts"]
    assert FORMATS == by["format"]["said"]


# What is said of gaps


def said(*findings: dict[str, Any]) -> str:
    (profile,) = profiles(SCORES, TOLD, findings)
    return str(profile["said"])


def test_without_the_test_a_profile_says_that_nothing_was_tested() -> None:
    assert UNTESTED == said()
    assert "Differences between categories have not been tested: viva study RUN gaps" == UNTESTED
    other = gaps(("Ann", True, 0.01, None))
    other["rows"] = [{**row, "criterion": "harm"} for row in other["rows"]]
    assert UNTESTED == said(other)


def test_only_candidates_whose_profile_differs_are_named() -> None:
    text = said(gaps(("Ann", True, 0.012, None), ("Ben", False, 0.4, None)))
    assert (
        "Tested for 2 candidates (Holm over all profiles of the study): the profile differs between "
        "categories from that of all candidates for Ann (p 0.0120). For the other 1 it was not shown." == text
    )


def test_where_nothing_was_shown_intervals_are_no_gaps() -> None:
    text = said(gaps(("Ann", False, 0.6, None), ("Ben", False, 0.4, None)))
    assert text.endswith(
        "no profile was shown to differ between categories, so intervals by category are no gaps."
    )
    assert "Ann" not in text


def test_a_test_that_could_not_be_made_says_why() -> None:
    why = "one candidate has no profile against others"
    text = said(gaps(("Ann", None, None, why), ("Ben", None, None, why)))
    assert f"Whether profiles differ between categories could not be tested: {why}." == text


def test_small_categories_are_the_reason_and_not_what_each_of_them_says() -> None:
    text = said(gaps(("Ann", None, None, "2 cases: counts only"), cases=2))
    assert (
        "Whether profiles differ between categories could not be tested: no two categories have ten cases."
        == text
    )


def test_many_categories_stand_in_bands_that_a_page_has_room_for() -> None:
    few, many = (
        profiles(table({"Ann": {f"c{k:02}": HEART for k in range(n)}}), TOLD, ())[0]["figure"].svg
        for n in (6, 12)
    )
    width, height = (
        [float(re.search(rf'<svg [^>]*{side}="([\d.]+)"', svg)[1]) for svg in (few, many)]  # type: ignore[index]
        for side in ("width", "height")
    )
    assert width[0] == width[1]
    assert height[0] < height[1]
    assert 2 == texts(many).count("Ann")
    assert {f"c{k:02}" for k in range(12)} <= set(texts(many))


def test_the_newest_finding_speaks_and_names_its_items() -> None:
    text = said(gaps(("Ann", True, 0.001, None)), gaps(("Ann", False, 0.5, None), items="exam(part=1)"))
    assert "on the items of exam(part=1)" in text
    assert "no profile was shown" in text


# Of a run


def test_profiles_of_a_run_say_what_its_study_found(tmp_path: Path) -> None:
    """Ann is better on the heart, Ben on the lung, on twelve cases each."""
    items = [{"item": f"q{n:02}", "category": "heart" if n < 12 else "lung"} for n in range(24)]
    good = {"Ann": ("heart", 7), "Ben": ("lung", 3)}
    answers: Answers = {
        name: {
            str(item["item"]): (0.8 if item["category"] == best else 0.2) + 0.02 * (n * step % 5)
            for n, item in enumerate(items)
        }
        for name, (best, step) in good.items()
    }
    run = marked(tmp_path, answers, items=items)
    (before,) = of_run(run)
    assert UNTESTED == before["said"]
    run.study("gaps")
    (after,) = of_run(run)
    assert "the profile differs between categories" in after["said"]
    assert before["rows"] == after["rows"]


def of_run(run: Run) -> list[dict[str, Any]]:
    with run.file.reading() as db:
        measures = {k.key: k.measure for k in read.measures(db)}
        return profiles(read.scores(db, details=True), measures, read.findings(db, "gaps"))


def test_hostile_names_and_categories_stay_names() -> None:
    bad = "<script>alert(1)</script>"
    (profile,) = profiles(table({bad: {bad: HEART, "\u202e" + "x" * 200: LUNG}}), TOLD, ())
    assert_harmless(profile["figure"].svg)
    assert "\u202e" not in profile["figure"].svg


@pytest.mark.parametrize(("candidates", "categories"), [(30, 20), (10, 12), (20, 6)])
def test_many_candidates_and_categories_stay_a_small_drawing(candidates: int, categories: int) -> None:
    marks = {f"c{k}": {f"category {c:02}": list(HEART) for c in range(categories)} for k in range(candidates)}
    (profile,) = profiles(table(marks), TOLD, ())
    assert len(profile["figure"].svg) < 60_000
    assert candidates * categories == len(profile["rows"])  # the rows hold them all
    left_out = "left out here: 8 smaller parts, 10 candidates" in texts(profile["figure"].svg)
    assert left_out == (candidates == 30)
