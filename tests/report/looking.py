"""A browser's view of a report: a page that may ask for nothing, its contrasts, and how it is built."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

BUILT: dict[str, Any] = {
    "language": "en",
    "h1": 1,
    "jumps": [],
    "landmarks": ["HEADER", "NAV", "MAIN", "FOOTER"],
    "unnamed charts": 0,
    "unnamed controls": [],
    "unnamed regions": 0,
    "heads without scope": 0,
    "ids twice": [],
    "links to nowhere": [],
}


_IDLE_PAGES: list[Page] = []
"""Pages of this process's browser that nobody uses: a new one costs half a second of CPU."""
SIZE = {"width": 1280, "height": 720}
"""A page has this size unless another is named."""


_CLEAR = """() => {
  try { localStorage.clear(); sessionStorage.clear(); } catch { }
  document.replaceChildren();
}"""
"""An empty page costs nothing where it gets another size."""


@contextmanager
def fresh_page(browser: Browser, *, viewport: Any = SIZE, color_scheme: Any = "light") -> Iterator[Page]:
    """A page that knows nothing of earlier visits: no cookie, nothing stored. An error closes it for good.

    Whoever answers its dialogs ceases to in time.
    """
    page = _IDLE_PAGES.pop() if _IDLE_PAGES else browser.new_context().new_page()
    if viewport != page.viewport_size:
        page.set_viewport_size(viewport)
    page.emulate_media(media="null", color_scheme=color_scheme)
    try:
        yield page
        page.context.unroute_all()
        page.unroute_all()
        page.evaluate(_CLEAR)
        if page.url.startswith("http"):  # it may ask a server for more; a file does not
            page.goto("about:blank")
        page.context.clear_cookies()
    except BaseException:
        page.context.close()
        raise
    _IDLE_PAGES.append(page)


@contextmanager
def opened(
    browser: Browser, path: Path, *, strict: bool = True, java_script_enabled: bool = True, **settings: Any
) -> Iterator[Page]:
    """The page in a browser that knows nothing; every request but the file itself is refused and remembered.

    With `strict`, a request, a console message or an error of a script fails the test when the page closes.
    """
    asked: list[str] = []
    said: list[str] = []
    own = path.resolve().as_uri()

    def watch(route: Any) -> None:
        if route.request.url.split("#")[0] == own:
            route.continue_()
        else:
            asked.append(route.request.url)
            route.abort()

    with fresh_page(browser, **settings) if java_script_enabled else _plain_page(browser, settings) as page:
        page.context.route("**/*", watch)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(own)
        yield page
        if strict:
            assert [] == said, said
        assert [] == asked


@contextmanager
def _plain_page(browser: Browser, settings: dict[str, Any]) -> Iterator[Page]:
    """A page without scripts."""
    context = browser.new_context(java_script_enabled=False, **settings)
    try:
        yield context.new_page()
    finally:
        context.close()


def reload_until(page: Page, restored: Callable[[], bool]) -> None:
    """Load a page again; its draft comes from the browser's own store, which is late where that is busy."""
    for attempt in range(20):
        page.reload()
        if restored():
            return
        page.wait_for_timeout(50 * attempt)
    raise AssertionError("what was filled in is gone")


def until(page: Page, expression: str, seconds: float = 30) -> None:
    """Wait for an expression to be true.

    Playwright's own `wait_for_function` looks a second time by `eval`, which the page's policy refuses.
    """
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"never true: {expression}"
        page.wait_for_timeout(50)


def unfold(page: Page, *parts: str) -> None:
    """Open the folds that hold these parts of the page."""
    for part in parts:
        page.locator(f"details:has(> #{part}) > summary").click()


def contrasts(page: Page) -> list[dict[str, Any]]:
    """Colour, ground and their ratio for every piece of text that is seen, cut to 200 characters."""
    found: list[dict[str, Any]] = page.evaluate(_CONTRASTS)
    return found


def structure(page: Page) -> dict[str, Any]:
    """What `BUILT` asks of a page."""
    found: dict[str, Any] = page.evaluate(_STRUCTURE)
    return found


_CONTRASTS = """() => {
  const parse = (text) => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    return { r, g, b, a };
  };
  const over = (top, under) => ({
    r: top.r * top.a + under.r * (1 - top.a), g: top.g * top.a + under.g * (1 - top.a),
    b: top.b * top.a + under.b * (1 - top.a), a: 1 });
  const light = ({ r, g, b }) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
  const base = parse(getComputedStyle(document.documentElement).backgroundColor);
  const page = base.a ? base : parse(getComputedStyle(document.body).backgroundColor);
  const ground = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      layers.push(parse(getComputedStyle(at).backgroundColor));
    }
    return layers.reverse().reduce((under, top) => over(top, under), page);
  };
  const shapes = new Map();
  const drawn = (svg) => {
    if (!shapes.has(svg)) {
      shapes.set(svg, [...svg.querySelectorAll("path, rect, circle")].map((shape) => {
        const style = getComputedStyle(shape);
        return { shape, fill: style.fill, a: Number(style.fillOpacity) * Number(style.opacity),
                 box: shape.getBoundingClientRect() };
      }).filter(({ fill, a }) => fill.startsWith("rgb") && a > 0));
    }
    return shapes.get(svg);
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const element = node.parentElement;
    if (!node.textContent.trim() || !element.checkVisibility({ visibilityProperty: true })) continue;
    if (element.closest("script, style, option, .skip")) continue;
    const svg = element.closest("svg");
    const style = getComputedStyle(element);
    let colour = parse(svg ? style.fill : style.color);
    let under = ground(svg ? svg.parentElement : element);
    if (svg) {
      const box = element.getBoundingClientRect();
      const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
      for (const { shape, fill, a, box: own } of drawn(svg)) {
        const before = shape.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING;
        if (before && own.left <= x && x <= own.right && own.top <= y && y <= own.bottom) {
          const colour = parse(fill);
          under = over({ ...colour, a: a * colour.a }, under);
        }
      }
    }
    colour = over(colour, under);
    const [a, b] = [light(colour), light(under)].sort((p, q) => q - p);
    const shown = ({ r, g, b: blue }) => [r, g, blue].map(Math.round).join(" ");
    found.push({ text: node.textContent.trim().slice(0, 200), colour: shown(colour), ground: shown(under),
                 ratio: (a + 0.05) / (b + 0.05), inside: svg ? "svg" : element.tagName });
  }
  return found;
}"""

_STRUCTURE = """() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const levels = all("h1, h2, h3, h4, h5, h6").map((h) => [Number(h.tagName[1]), h.textContent]);
  const ids = all("[id]").map((one) => one.id);
  const charted = (s) => s.closest("[role=img]")?.getAttribute("aria-label");
  const titled = (r) => r.ariaLabel || r.getAttribute("aria-labelledby");
  const named = (c) => c.labels?.length || c.textContent.trim() && c.tagName === "BUTTON" || c.ariaLabel;
  return {
    "language": document.documentElement.lang,
    "h1": all("h1").length,
    "jumps": levels.filter(([level], n) => n && level > levels[n - 1][0] + 1).map(([, text]) => text),
    "landmarks": ["HEADER", "NAV", "MAIN", "FOOTER"].filter((tag) => all(tag).length === 1),
    "unnamed charts": all("svg").filter((s) => !charted(s)).length,
    "unnamed controls": all("button, input, select").filter((c) => !named(c)).map((c) => c.outerHTML),
    "unnamed regions": all("[role=region], section, nav").filter((r) => !titled(r)).length,
    "heads without scope": all("th:not([scope])").length,
    "ids twice": ids.filter((id, n) => ids.indexOf(id) !== n),
    "links to nowhere": all("a").map((a) => a.getAttribute("href")).filter((h) => !ids.includes(h.slice(1))),
  };
}"""
