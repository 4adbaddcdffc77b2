"""The first screen in a browser: all of the answer is seen without scrolling, on a desk and on a phone."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser
from tests.lengths import length
from tests.report import looking
from tests.studies.making import made, marked, score, twins

from vivavoce.run.run import Run

SCREENS = {"desk": (1400, 900), "laptop": (1024, 768), "phone": (390, 844)}
HOSTILE = "<img src=x onerror='pwned=1'>\u202e`viva` {{ 7 * 7 }} "


def values(k: int) -> list[float]:
    """Twelve scores that fall with k, and vary."""
    return [max(0.0, 0.95 - 0.02 * k - 0.05 * (n % 4)) for n in range(12)]


def plain(folder: Path) -> Run:
    run = marked(folder, {name: twins(values(9 * k)) for k, name in enumerate(("Model A", "Model B"))})
    run.compare("Model A", "Model B", metric="told")
    return run


def undecided(folder: Path) -> Run:
    """Three candidates that nothing sets apart, with a floor and a ceiling."""
    names = {"Model A": 0, "Model B": 1, "Model C": 1, "Best": -2, "Worst": 30}
    answers = {name: twins(values(k)[k % 5 :] + values(k)[: k % 5]) for name, k in names.items()}
    run = marked(folder, answers, role={"Best": "ceiling", "Worst": "floor"})
    run.compare("Model A", "Model B", "Model C", metric="told", margin=0.01)
    return run


def many(folder: Path) -> Run:
    names = [f"candidate-{k:02}" for k in range(length(20, 40))]
    run = marked(folder, {name: twins(values(k)) for k, name in enumerate(names)})
    run.compare(*names, metric="told")
    return run


def long(folder: Path) -> Run:
    """Names of 300 characters without a blank; three are compared."""
    names = [f"{letter * 290}-version-{k}" for k, letter in enumerate("abc")]
    run = marked(folder, {name: twins(values(5 * k)) for k, name in enumerate(names)})
    run.compare(*names, metric="told")
    return run


def hostile(folder: Path) -> Run:
    run = marked(folder, {HOSTILE * (k + 2): twins(values(9 * k)) for k in range(3)})
    run.compare(*(HOSTILE * (k + 2) for k in range(3)), metric="told")
    return run


def failed(folder: Path) -> Run:
    return marked(folder, {"Model A": twins(["fail"] * 12), "Model B": twins(["fail"] * 12)})


def unscored(folder: Path) -> Run:
    return made(folder, {"Model A": twins(["x"] * 3)})


def uncompared(folder: Path) -> Run:
    """The command that compares names a metric of many settings."""
    run = made(folder, {f"Model {letter}": twins(["x"] * 12) for letter in "AB"})
    marks = [
        {"candidate": f"Model {letter}", "item": item, "worth": value}
        for k, letter in enumerate("AB")
        for item, value in twins(values(9 * k)).items()
    ]
    run.import_scores(
        marks, criteria=["worth"], range={"*": (0, 1)},
        measure="judge(model=maker/examiner-large-2025-01-31, rubric=medgpt, temperature=0.25)",
    )  # fmt: skip
    return run


def several(folder: Path) -> Run:
    """Five benchmarks."""
    run = None
    for name in ("exam", "ward", "clinic", "surgery", "night shift"):
        answers = {f"Model {letter}": twins(values(9 * k)) for k, letter in enumerate("AB")}
        run = made(folder, answers, name=name, run=run)
    assert run is not None
    score(run)
    run.compare("Model A", "Model B", metric="told")
    return run


@pytest.mark.parametrize(
    "make", [plain, undecided, many, long, hostile, failed, unscored, uncompared, several]
)
def test_the_answer_is_seen_without_scrolling(browser: Browser, tmp_path: Path, make: Any) -> None:
    with looking.opened(browser, make(tmp_path).report()) as page:
        for name, (width, height) in SCREENS.items():
            page.set_viewport_size({"width": width, "height": height})
            box = page.locator("section.first").bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= height, (name, box)
            assert width == page.evaluate("document.documentElement.scrollWidth"), name
            assert page.evaluate("typeof pwned") == "undefined"
            assert (True, []) == tuple(page.evaluate(_TOO_FAR_RIGHT)), name


_TOO_FAR_RIGHT = """() => {
  const parts = [...document.querySelectorAll("section.first :is(p, li, th, td)")]
    .filter((part) => part.checkVisibility({ visibilityProperty: true }));
  const beyond = parts.filter((part) => part.getBoundingClientRect().right > innerWidth + 0.5);
  return [parts.length > 0, beyond.map((part) => part.innerText)];
}"""
"""Whether the answer has parts, and those of them that reach over the side."""
