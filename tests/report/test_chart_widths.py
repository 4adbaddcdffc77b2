"""Every kind of chart in Chromium, on a desk and on a phone: texts can be read and keep their room."""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from tests.report import looking, test_distributions, test_profiles
from tests.report.charts import reworded
from tests.report.test_confidence_charts import rows as confidence
from tests.report.test_controls_chart import control
from tests.report.test_crossing_charts import crossing, prompts
from tests.report.test_crossing_charts import pairs as crossing_pairs
from tests.report.test_facts import CURVE, step
from tests.report.test_matrix import pair
from tests.report.test_plots import CROSSED, FIRM, FOUR, MEASURES, correlation, pairs, ranking

from vivavoce.report import charts
from vivavoce.report.charts.correlation import _scatter_chart
from vivavoce.report.charts.distributions import distributions
from vivavoce.report.charts.facts import length_against_score, temperature_curve
from vivavoce.report.charts.svg import CHART_CSS, Drawing
from vivavoce.report.data import scored_responses
from vivavoce.report.sections.comparisons import matrix
from vivavoce.report.sections.profiles import profiles
from vivavoce.variants.control_kinds import KINDS

NAMES = ("Model A (made up)", "WWW MMM @@@ %%%", "openai/gpt-4o-mini-2024-07-18(temperature=0.7)")
LONG = (
    "Mistral-7B-Instruct-v0.3, quantised to four bits, with retrieval over guidelines of 2024",
    "漢字" * 9,
    "c",
)

FEW = tuple(f"bertscore(encoder=package, layers=[{k}])" for k in range(6))


def _drawings() -> Iterator[Drawing | str | None]:
    for names in (NAMES, LONG):
        ranked = ranking(*((name, 1.0 + k, 1, 3) for k, name in enumerate(names)))
        yield charts.rank_ranges(ranked)
        yield charts.critical_difference(ranked)
        yield charts.ranks_by_measure([row | {"measure": name} for name in (*names, *FEW) for row in ranked])
        crossed = [crossing(name, 0.4 - 0.2 * k) for k, name in enumerate(names)]
        yield charts.crossing_columns(crossed)
        yield charts.benchmark_map(crossing_pairs(*names))
        spreads = [prompts(name, 0.1, 0.2, 0.3) for name in names]
        yield charts.variance_by_prompt(spreads, "variance_published", "variance over repeats")
        yield charts.forest([row for name in names for row in pairs(0.1, -0.3, a=name, margin=0.05)])
        yield charts.correlation_map(
            correlation({at: 0.1 for at in combinations(range(3), 2)}, names, alike=((0, 1),))
        )
        yield matrix([pair(a, b, 0.1, "better", "a") for a, b in combinations(names, 2)]).svg
        for values in (
            [0.0, 1.0, 0.5, "unanswered", "unreadable", "failed"],
            [k / 50 for k in range(51)] * 3,
        ):
            scores = test_distributions.table({name: list(values) for name in names})
            yield distributions(scores, {1: test_distributions.measure()})[0].svg
        wards = [f"{word} medicine" for word in ("Emergency", "Geriatric", "Internal")]
        by_category = {name: {ward: [0.2, 0.4, 0.9, 1.0] for ward in wards} for name in names}
        yield profiles(test_profiles.table(by_category), test_profiles.TOLD, ())[0]["figure"].svg
    yield charts.rank_ranges(FOUR)
    yield charts.critical_difference(FOUR)
    yield charts.correlation_map(correlation(CROSSED, MEASURES, support=FIRM))
    twelve = [f"candidate {k}" for k in range(12)]
    yield matrix([pair(a, b, -0.1, "better", "b") for a, b in combinations(twelve, 2)]).svg
    yield charts.rank_ranges(ranking(*((name, 1.0 + k, 1, 12) for k, name in enumerate(twelve))))
    blank = dict.fromkeys(("s2_group", "s2_item", "s2_interaction", "s2_repeat", "s2_pass"), 1.0)
    yield charts.variance_bars([blank | {"measure": name, "candidate": ""} for name in NAMES])
    yield charts.wording_shares([reworded(name, k) for k, name in enumerate(LONG)])
    yield charts.order_before_and_after([reworded(name, k) for k, name in enumerate(NAMES)])
    yield charts.order_before_and_after([reworded(name, -k) for k, name in enumerate(LONG)])
    yield charts.controls_grid([control(name, kind) for name in (*NAMES, *LONG) for kind in (*KINDS, "all")])
    yield charts.controls_grid([control(NAMES[0], kind) for kind in ("padded", "all")])
    yield charts.reliability_diagram(confidence(LONG[0]))
    yield charts.risk_coverage_curve(confidence(LONG[0]))
    scored = test_distributions.table({"Ann": [k / 50 for k in range(51)]})
    yield temperature_curve([*CURVE, step(0.9, 0.2, None, None) | {"reason": LONG[0]}])
    yield length_against_score([float(n) for n in range(3000)], [0.5] * 3000)
    yield _scatter_chart([scored_responses(scored, {1: test_distributions.measure()})[0]] * 6, 0)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    drawings = [drawing for drawing in _drawings() if isinstance(drawing, Drawing)]
    assert 40 == len(drawings)
    path = tmp_path_factory.mktemp("charts") / "charts.html"
    figures = "".join(f"<figure>{drawing.__html__()}</figure>" for drawing in drawings)
    path.write_text(
        "<!doctype html><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<style>body{{margin:0 20px}}figure{{margin:0}}{CHART_CSS}</style>{figures}",
        encoding="utf-8",
    )
    return path


def test_texts_are_large_enough_apart_and_inside_of_the_page(browser: Browser, page: Path) -> None:
    with looking.opened(browser, page) as shown:
        for width in (390, 720, 1280):
            shown.set_viewport_size({"width": width, "height": 900})
            assert width == shown.evaluate("document.documentElement.scrollWidth")
            assert {1} == set(shown.evaluate(_SHOWN)), width
            texts = shown.evaluate(_TEXTS)
            assert len(texts) > 300, width
            assert [] == [text for text in texts if text["size"] < 11], width
            assert [] == [text for text in texts if text["right"] > width - 16 or text["left"] < 16], width
            assert [] == shown.evaluate(_OVERLAPS), width


_SHOWN = """() => [...document.querySelectorAll(".v-chart")]
  .map((chart) => [...chart.querySelectorAll("svg")].filter((svg) => svg.checkVisibility()).length)"""
_TEXTS = """() => [...document.querySelectorAll("svg text")].filter((text) => text.checkVisibility())
  .map((text) => [text, text.getBoundingClientRect(), getComputedStyle(text).fontSize])
  .map(([text, { left, right }, size]) => ({ text: text.textContent, left, right,
    size: Math.round(100 * parseFloat(size) * text.getScreenCTM().a) / 100 }))"""
_OVERLAPS = """() => [...document.querySelectorAll("svg")].flatMap((svg) => {
  if (!svg.checkVisibility()) return [];
  const texts = [...svg.querySelectorAll("text")];
  const boxes = texts.map((text) => [text.textContent, text.getBoundingClientRect()]);
  return boxes.flatMap(([one, a], n) => boxes.slice(n + 1)
    .filter(([, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
                       && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4)
    .map(([other]) => [one, other]));
})"""
