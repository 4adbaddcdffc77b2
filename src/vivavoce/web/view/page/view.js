"use strict";
// Keys, and rows that come while the run grows. Without this script every page still works.
const SECONDS = 3;
const fresh = document.getElementById("fresh");

function entries() { return [...document.querySelectorAll("#live a.open")]; }

function step(by) {
  const links = entries();
  const place = links.indexOf(document.activeElement);
  const to = links[place < 0 ? (by > 0 ? 0 : links.length - 1) : place + by];
  const page = document.getElementById(by > 0 ? "next" : "previous");
  if (links.length && to) { to.focus(); to.scrollIntoView({ block: "nearest" }); } else if (page) page.click();
}

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  n: () => document.getElementById("next")?.click(),
  p: () => { const back = document.getElementById("previous"); if (back) back.click(); else history.back(); },
  r: () => location.reload(),
  "/": () => { const field = document.getElementById("text"); if (field) field.focus(); else location.href = "/"; },
  "?": () => { const help = document.getElementById("help"); help.open = !help.open; help.querySelector("summary").focus(); },
};

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, select, textarea");
  if (event.key === "Escape" && typing) typing.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(KEYS, event.key)) return;
  event.preventDefault();
  KEYS[event.key]();
});

async function refresh() {
  try {
    if (document.hidden) return;
    const answer = await fetch("/size");
    if (!answer.ok) { fresh.textContent = "The run cannot be read now."; return; }
    const size = await answer.json();
    if (String(size.answers) === fresh.dataset.answers && String(size.scores) === fresh.dataset.scores) return;
    const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
    const live = document.getElementById("live"), other = page.getElementById("live");
    // Who reads or types in the rows is not disturbed: the words say that there are new ones.
    const busy = live && (live.contains(document.activeElement) || !getSelection().isCollapsed);
    if (live && other && !busy) live.replaceWith(other);
    const now = page.getElementById("fresh");
    if (!now) return;
    if (!busy) { fresh.dataset.answers = now.dataset.answers; fresh.dataset.scores = now.dataset.scores; }
    document.querySelector(".run .soft").textContent = page.querySelector(".run .soft").textContent;
    fresh.textContent = busy ? "There is more: press r." : "Just updated.";
  } catch { fresh.textContent = "The viewer has ended."; } finally { setTimeout(refresh, SECONDS * 1000); }
}
setTimeout(refresh, SECONDS * 1000);
