"""How long, how heavy and how full of charts the demo's page is: a reader's budget, counted and not timed."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from tests.demo_folder import demo_folder
from tests.report import looking
from tests.report.test_browser import PHONE

from vivavoce.run.run import Run, open_run

SCREENS, CHARTS, BYTES = 8, 25, 600_000
SCREEN = {"width": 1400, "height": 900}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The run of `viva demo`."""
    folder, _ = demo_folder(tmp_path_factory.mktemp("demo"))
    return open_run(folder / "viva-demo" / "demo.viva")


@pytest.fixture(scope="module")
def full_page(demo: Run) -> Path:
    """Its page."""
    return demo.file.path.with_suffix(".html")


@pytest.fixture(scope="module")
def first_layers(demo: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its page with `pages="one"`."""
    return demo.report(tmp_path_factory.mktemp("first") / "one.html", pages="one")


def test_the_demos_page_is_light_and_has_few_charts(full_page: Path) -> None:
    page = full_page
    assert page.stat().st_size <= BYTES
    text = page.read_text(encoding="utf-8")
    assert len(re.findall(r"<figure\b", text)) <= CHARTS
    assert 0 < len(re.findall(r"<figure\b", text))


def test_every_chart_is_written_though_the_page_shows_few(demo: Run, tmp_path: Path) -> None:
    page = demo.report(plots=tmp_path / "plots").read_text(encoding="utf-8")
    n_left_out = int(re.search(r"(\d+) further charts? of other", page)[1])  # type: ignore[index]
    boards = len(re.findall(r'<table class="sorts board">', page))
    written = len(list((tmp_path / "plots").glob("*.svg")))
    assert written == len(re.findall(r"<figure\b", page)) + n_left_out + boards


def test_the_demos_page_unfolded_nowhere_is_eight_screens(browser: Browser, full_page: Path) -> None:
    with looking.opened(browser, full_page, viewport=SCREEN) as page:
        assert page.evaluate("document.documentElement.scrollHeight") <= SCREENS * SCREEN["height"]


def test_the_grid_stands_within_a_phone(browser: Browser, full_page: Path) -> None:
    with looking.opened(browser, full_page, viewport=PHONE) as page:
        wide = page.evaluate(
            """() => [...document.querySelectorAll('.second *')].filter((e) =>
                !e.closest('.scroll, figure') && e.getBoundingClientRect().right > innerWidth + 1).length"""
        )
        assert 0 == wide
        grid = page.locator("table.grid").first
        assert grid.evaluate("e => e.closest('.scroll').scrollWidth <= e.closest('.scroll').clientWidth")


def pages_of(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def test_pages_one_prints_the_first_two_layers_alone(
    browser: Browser, full_page: Path, first_layers: Path
) -> None:
    with looking.opened(browser, first_layers) as page:
        short = pages_of(page.pdf(format="A4", prefer_css_page_size=True))
        page.emulate_media(media="print")
        assert page.locator("#examples").is_visible()
        assert page.locator("#methods-title").is_hidden()
    with looking.opened(browser, full_page) as page:
        long = pages_of(page.pdf(format="A4", prefer_css_page_size=True))
        page.emulate_media(media="print")
        assert page.locator("#methods-title").is_visible()
    assert 1 <= short <= 3 < long


def test_nothing_is_clipped_on_paper(browser: Browser, first_layers: Path) -> None:
    """A4 without its margins is 180 mm, which is 680 pixels of CSS."""
    with looking.opened(browser, first_layers, viewport={"width": 680, "height": 960}) as page:
        page.emulate_media(media="print")
        wide = page.evaluate(
            """() => [...document.querySelectorAll('main *')].filter((e) =>
                e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 1)
                .map((e) => e.tagName + ' ' + e.className)"""
        )
        assert [] == wide
