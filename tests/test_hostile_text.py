"""Text of strangers in every field: nothing runs, nothing is asked for, and it is shown as it stands."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest
import yaml
from markdown_it import MarkdownIt
from playwright.sync_api import Browser, Page
from tests.hostile import ALL, CANDIDATES, SHORT, hostile_run
from tests.report import looking

from vivavoce.core.text import printable
from vivavoce.run.run import Run

FOREIGN = """() => {
  const all = [...document.querySelectorAll("*")];
  const values = (e, names) => names.map((n) => e.getAttribute(n)).filter((v) => v !== null);
  const attributes = (names) => all.flatMap((e) => values(e, names));
  const active = "img, iframe, object, embed, link, base, video, audio, math, meta[http-equiv=refresh], " +
    "form[action], foreignObject, animate, image, use";
  return {
    elements: all.filter((e) => e.matches(active)).map((e) => e.outerHTML.slice(0, 200)),
    handlers: all.flatMap((e) => e.getAttributeNames().filter((n) => n.startsWith("on"))),
    links: attributes(["href", "src", "action", "xlink:href", "srcset", "formaction"])
      .filter((v) => !v.startsWith("#")),
    styles: attributes(["style"]).filter((s) => /url|import|expression/i.test(s)),
    ran: window.pwned ?? null,
  };
}"""
DRAWN = {"svg", "g", "path", "text", "rect", "circle", "line", "title", "defs", "clipPath", "tspan"}
NOTHING: dict[str, Any] = {"elements": [], "handlers": [], "links": [], "styles": [], "ran": None}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    with hostile_run(tmp_path_factory.mktemp("hostile")) as run:
        yield run


@contextmanager
def watched(page: Page) -> Iterator[list[str]]:
    """Dialogs that the page opens meanwhile; each is dismissed."""
    dialogs: list[str] = []

    def dismiss(dialog: Any) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)
    yield dialogs
    page.remove_listener("dialog", dismiss)


WORK = """async (texts) => {
  const shown = (e) => e.checkVisibility();
  const say = (e, kind) => e.dispatchEvent(new Event(kind, { bubbles: true }));
  const said = (e) => ["input", "change"].forEach((kind) => say(e, kind));
  document.querySelectorAll("details").forEach((one) => { one.open = true; });
  [...document.querySelectorAll("th button, [data-copies]")].filter(shown).forEach((one) => one.click());
  const form = document.querySelector("#explorer form");
  for (const control of form.querySelectorAll("select")) {
    for (let n = 0; n < control.options.length; n++) { control.selectedIndex = n; said(control); }
    control.selectedIndex = 0;
    said(control);
  }
  for (const text of texts) { form.elements.search.value = text; said(form.elements.search); }
  form.reset();
  await new Promise((done) => setTimeout(done, 500));
  form.elements.beside.selectedIndex = 1;
  said(form.elements.beside);
  document.getElementById("answers-open").click();
  for (const option of ["shared", "first", "reference"]) {
    form.elements.differences.value = option;
    said(form.elements.differences);
  }
}"""
"""Open, sort, choose, search and copy whatever can be."""


def test_the_report_of_a_hostile_run_runs_nothing_and_asks_for_nothing(
    browser: Browser, run: Run, tmp_path: Path
) -> None:
    path = run.report(tmp_path / "'><img src=x onerror=pwned=30>.html", plots=tmp_path / "plots")
    with (
        looking.opened(browser, path, viewport={"width": 1280, "height": 900}) as page,
        watched(page) as dialogs,
    ):
        assert NOTHING == page.evaluate(FOREIGN)
        page.evaluate(WORK, [*SHORT, "(.*", "\\"])
        page.locator("#answers-list > details").last.locator(".given .text").first.wait_for()
        assert NOTHING == page.evaluate(FOREIGN)
        assert [] == dialogs
        assert 2 == page.locator("script").count()
        shown = "\n".join(page.locator("#answers-list .given .text").all_inner_texts())
        assert printable(ALL) in shown
        names = " ".join(page.locator("table.board tbody th").all_inner_texts())
        assert printable(CANDIDATES[0]) in names
    charts = sorted((tmp_path / "plots").glob("*.svg"))
    assert len(charts) > 5
    for chart in charts:
        for element in ElementTree.parse(chart).iter():
            assert element.tag.rpartition("}")[2] in DRAWN, chart
            assert not [name for name in element.attrib if name.startswith("on") or "href" in name], chart
    with looking.opened(browser, charts[0]) as page:
        assert NOTHING == page.evaluate(FOREIGN)


def hostile_rubric(folder: Path) -> Path:
    """A rubric whose every text is hostile; names of criteria are words by its grammar."""
    fields = {
        "name": "hostile", "version": 1, "source": ALL, "note": ALL, "kind": "mark", "reference": True,
        "call": "joint", "reasoning": "strip", "result": "json",
        "criteria": [{"name": "worth", "ask": ALL, "scale": [0, 2], "if_unanswered": "worst",
                      "levels": {n: f"{n} {ALL}" for n in range(3)}}],
    }  # fmt: skip
    parts = ("{{ question }}", "{{ reference }}", "{{ answer }}", "{{ form }}")
    body = "\n\n".join(("## system", "{{ criteria }}", "## user", *parts))
    path = folder / "hostile.md"
    path.write_text(f"---\n{yaml.safe_dump(fields)}\n---\n\n{body}\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("task", ["rank", "rate"])
def test_packets_of_a_hostile_run_run_nothing_and_come_back(
    browser: Browser, run: Run, tmp_path: Path, task: Any
) -> None:
    own = {"criterion": ALL} if task == "rank" else {"rubric": str(hostile_rubric(tmp_path))}
    run.make_panel(["anna"], tmp_path / "out", task=task, **own)
    saved = tmp_path / "<img src=x onerror=pwned=40>.json"
    with looking.opened(browser, tmp_path / "out" / "anna.html") as page, watched(page) as dialogs:
        assert NOTHING == page.evaluate(FOREIGN)
        for article in page.locator("article").all():
            if task == "rank":
                article.locator("select").select_option("1")
                article.get_by_label("okay", exact=True).check()
            else:
                article.get_by_role("radio").first.check()
        for text in page.locator("textarea").all():
            text.fill(ALL)
        with page.expect_download() as coming:
            page.locator("#save").click()
        coming.value.save_as(saved)
        looking.reload_until(
            page, lambda: ALL == page.locator("textarea").first.input_value().replace("\r", "")
        )
        assert NOTHING == page.evaluate(FOREIGN)
        assert [] == dialogs
    hostile_draft = json.loads(saved.read_text(encoding="utf-8"))
    for one in hostile_draft["items"]:
        one["__proto__"] = {"pwned": 41}
        one["question"] = ALL
    bad = tmp_path / "<svg onload=pwned=42>.json"
    bad.write_text(json.dumps(hostile_draft | {"panel": ALL, "schema": ALL}), encoding="utf-8")
    with looking.opened(browser, tmp_path / "out" / "anna.html") as page:
        page.locator("#load").set_input_files(bad)
        page.locator("#told", has_text="was not loaded").wait_for()
        bad.write_text(json.dumps(hostile_draft), encoding="utf-8")
        page.locator("#load").set_input_files(bad)
        page.locator("#told", has_text="is complete").wait_for()
        assert NOTHING == page.evaluate(FOREIGN)
        assert page.evaluate("({}).pwned === undefined")
    (done,) = run.read_panel(saved)
    assert done.new


def test_what_a_gate_leaves_of_a_hostile_run_holds_no_markup(viva: Any, run: Run, tmp_path: Path) -> None:
    summary, junit = tmp_path / "summary.md", tmp_path / "junit.xml"
    terms = ["--metric", "people", "--require", "not-worse", "--margin", "0.1", "--max-critical", "0"]
    veto = ["--veto", "noted[worth] <= 0"]
    files = ["--summary", summary, "--junit", junit]
    viva("compare", run.file.path, "--against", CANDIDATES[0], *terms, *veto, *files, code=3)
    tokens = MarkdownIt("commonmark").enable("table").parse(summary.read_text(encoding="utf-8"))
    kinds = [t.type for token in tokens for t in (token, *(token.children or ()))]
    assert {"html_inline", "link_open", "image"}.isdisjoint(kinds)
    assert 1 == kinds.count("html_block")  # the comment by which the file is known again
    assert "<!-- viva compare: gate -->\n" == next(t.content for t in tokens if t.type == "html_block")
    root = ElementTree.parse(junit).getroot()
    assert {"testsuites", "testsuite", "testcase", "failure", "properties", "property", "system-out",
            "system-err"} >= {element.tag for element in root.iter()}  # fmt: skip
    text = junit.read_text(encoding="utf-8") + summary.read_text(encoding="utf-8")
    assert printable(text) == text


def test_no_cell_of_an_export_of_a_hostile_run_is_a_formula(run: Run, tmp_path: Path) -> None:
    run.export(tmp_path / "out", format="csv")
    files = sorted((tmp_path / "out").rglob("*.csv"))
    assert len(files) > 3
    texts = {cell for file in files for row in pl.read_csv(file, infer_schema=False).rows() for cell in row}
    assert any("=HYPERLINK" in cell for cell in texts - {None})
    numbers = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")
    formulas = re.compile(r"[\s\x00-\x20]*[=+\-@＝＋－＠]")
    assert [] == [cell for cell in texts - {None} if formulas.match(cell) and not numbers.fullmatch(cell)]


@pytest.fixture(scope="module")
def cells(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with what a notebook shows of the run and its findings."""
    item = run.items["item"][0]
    findings = [run.estimates(), run.compare(*CANDIDATES, metric="noted"), *run.study().values()]
    records = [run, *findings, run.item(item), run.response(item, CANDIDATES[0])]
    texts = [text for record in records if (text := record._repr_html_())]
    assert len(records) == len(texts)
    path = tmp_path_factory.mktemp("notebook") / "cells.html"
    path.write_text(f"<!doctype html><meta charset=utf-8>{'<hr>'.join(texts)}", encoding="utf-8")
    return path


def test_a_notebook_cell_of_a_hostile_run_runs_nothing_and_can_be_read(
    browser: Browser, run: Run, tmp_path: Path
) -> None:
    item = run.items["item"][0]
    findings = [run.estimates(), run.compare(*CANDIDATES, metric="noted"), *run.study().values()]
    records = [run, *findings, run.item(item), run.response(item, CANDIDATES[0])]
    cells = [text for record in records if (text := record._repr_html_())]
    assert len(records) == len(cells)
    path = tmp_path / "cells.html"
    path.write_text(f"<!doctype html><meta charset=utf-8>{'<hr>'.join(cells)}", encoding="utf-8")
    with looking.opened(browser, path, viewport={"width": 900, "height": 900}) as page:
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert NOTHING == page.evaluate(FOREIGN)
        assert 0 == page.locator("script").count()
        assert printable(CANDIDATES[0]) in page.locator("body").inner_text()
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert [] == [seen for seen in looking.contrasts(page) if seen["ratio"] < 4.5], scheme
