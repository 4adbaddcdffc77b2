"use strict";
document.documentElement.classList.add("js");

/* Tables whose headers sort. Cells may bear their value in data-v; empty ones stay last, either way. */
for (const table of document.querySelectorAll("table.sorts")) {
  const body = table.tBodies[0];
  if (!body || body.rows.length < 2) continue;
  const heads = [...table.tHead.rows[0].cells];
  const value = (row, at) => {
    const cell = row.cells[at];
    const text = (cell.dataset.v ?? cell.textContent).trim();
    if (text === "" || text === "–") return null;
    const number = Number(text.replace("−", "-").replace(/ %$/, "").replaceAll(",", ""));
    return Number.isNaN(number) ? text : number;
  };
  const order = new Intl.Collator("en", { numeric: true });
  const compared = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : order.compare(String(a), String(b));
  heads.forEach((head, at) => {
    if (head.dataset.fixed !== undefined) return;
    const button = document.createElement("button");
    button.type = "button";
    head.dataset.label = head.textContent.trim(); // on paper, where buttons are not repeated
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const first = head.classList.contains("n") ? "descending" : "ascending";
      const now = head.getAttribute("aria-sort");
      const way = now === null ? first : now === "ascending" ? "descending" : "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", way);
      const sign = way === "ascending" ? 1 : -1;
      const rows = [...body.rows].map((row) => [value(row, at), row]);
      rows.sort(([a], [b]) => (a === null || b === null ? (a === null) - (b === null) : sign * compared(a, b)));
      body.append(...rows.map(([, row]) => row));
    });
  });
}

/* Copying; where the browser grants no clipboard, the text is selected for the reader to copy. */
for (const button of document.querySelectorAll("button[data-copies]")) {
  const source = document.getElementById(button.dataset.copies);
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = [...source.querySelectorAll("p, li")].map((line) => line.textContent.trim()).join("\n\n");
    let said = "Copied";
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      getSelection().selectAllChildren(source);
      said = "Selected: copy it now";
    }
    button.textContent = said;
  });
}

/* What scrolls sideways can be reached by keyboard, and only that. */
const reach = () => {
  for (const box of document.querySelectorAll(".scroll, figure")) {
    const scrolls = box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1;
    if (scrolls) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
    box.classList.toggle("sideways", box.scrollWidth > box.clientWidth + 1);
  }
};
reach();
addEventListener("resize", reach);
document.addEventListener("toggle", reach, true); // what was folded has no width

/* A link into a fold opens it: for browsers that do not do so by themselves. */
const unfold = () => {
  const target = document.getElementById(location.hash.slice(1));
  const fold = target?.closest("details:not([open])");
  if (!fold) return;
  fold.open = true;
  target.scrollIntoView();
};
addEventListener("hashchange", unfold);
unfold();

/* Paper shows what is folded. */
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("main details:not([open], .answer)")];
  for (const one of folded) one.open = true;
});
addEventListener("afterprint", () => {
  for (const one of folded) one.open = false;
  folded = [];
});
