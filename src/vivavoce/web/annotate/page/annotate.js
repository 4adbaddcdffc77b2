"use strict";
// Keys, dragging, and saving as one goes. Without this script every page still works by its buttons.
const form = document.getElementById("judgement");
const state = document.getElementById("state");
const WAIT_MS = 400, RETRY_MS = 5000;
let timer = 0, saving = false, again = false, unsaved = false;

function say(text, bad) { state.textContent = text; state.classList.toggle("bad", Boolean(bad)); }

function changed() { unsaved = true; clearTimeout(timer); timer = setTimeout(save, WAIT_MS); }

// Who signed in again in another tab has another token, that of a page loaded now. Another rater's is not taken.
async function renewToken() {
  const answer = await fetch(location.href);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById("judgement");
  if (fresh?.dataset.rater !== form.dataset.rater || fresh.elements.csrf.value === form.elements.csrf.value) return false;
  form.elements.csrf.value = fresh.elements.csrf.value;
  return true;
}

async function save() {
  if (saving) { again = true; return false; }
  saving = true; again = false;
  say("Saving …");
  const body = new URLSearchParams(new FormData(form));
  let stored = false;
  try {
    const answer = await fetch(location.href, { method: "POST", body, headers: { Accept: "application/json" } });
    if (answer.ok) {
      const reply = await answer.json();
      form.elements.version.value = reply.version;
      document.getElementById("n-done").textContent = reply.n_done;
      stored = true; unsaved = again;
      say(reply.lacking ? `Stored; it lacks ${reply.lacking}.` : "Stored.");
    } else if (answer.headers.get("content-type")?.includes("json")) {
      say(`Not stored yet: ${(await answer.json()).sentence}`, answer.status !== 400);
      if (answer.status === 503) timer = setTimeout(save, RETRY_MS);
    } else if (answer.status === 401) {
      say("Not stored: your time is over. Open your link in another tab and sign in, then save here.", true);
      timer = setTimeout(save, RETRY_MS);
    } else if (answer.status === 403 && await renewToken()) {
      again = true;
    } else {
      const text = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[role=alert]");
      say(`Not stored: ${text ? text.textContent : answer.status}`, true);
    }
  } catch {
    say("Not stored: the server does not answer. What you entered stays here and is sent again.", true);
    timer = setTimeout(save, RETRY_MS);
  } finally { saving = false; }
  if (again) return save();
  return stored;
}

function parts() { return [...document.querySelectorAll(".part")]; }
function current() { return document.querySelector(".part.now"); }
function choose(part) {
  if (!part) return;
  current()?.classList.remove("now");
  part.classList.add("now");
  part.focus({ preventScroll: true });
  part.scrollIntoView({ block: "nearest" });
}
function step(by) { const all = parts(); choose(all[all.indexOf(current()) + by] ?? (by > 0 ? all[0] : all[all.length - 1])); }

function mark(key) {
  const part = current();
  const field = part?.querySelector(`[data-key="${CSS.escape(key)}"]`)
    ?? (form.matches(".task-review, .task-pairwise") ? form.querySelector(`[data-key="${CSS.escape(key)}"]`) : null);
  if (!field) return false;
  field.click();
  if (form.matches(".task-rate, .task-translation, .task-rewording")) step(1);
  return true;
}

async function saveAndGoOn() { clearTimeout(timer); unsaved = false; document.getElementById("save").click(); }

document.addEventListener("keydown", (event) => {
  if (!form || event.altKey || event.metaKey) return;
  const typing = event.target.closest("textarea, select, input:not([type=radio]):not([type=checkbox])");
  if (event.key === "Enter" && (event.ctrlKey || (!typing && !event.target.closest("a, button, summary")))) {
    event.preventDefault(); saveAndGoOn(); return;
  }
  if (typing) { if (event.key === "Escape") typing.blur(); return; }
  if (event.ctrlKey) return;
  const letter = event.shiftKey && /^[A-Z]$/.test(event.key) && document.querySelector(`.part[data-letter="${event.key}"]`);
  const focus = form.querySelector(`[data-focus="${CSS.escape(event.key)}"]`);
  if (letter) choose(letter);
  else if (mark(event.key)) { /* done */ }
  else if (focus) focus.focus();
  else if (event.key === "m" && markSelection()) { /* marked */ }
  else if (event.key === "j") step(1);
  else if (event.key === "k") step(-1);
  else if (event.key === "ArrowRight" && event.target.type !== "radio") document.getElementById("skip")?.click();
  else if (event.key === "ArrowLeft" && event.target.type !== "radio") document.getElementById("previous")?.click();
  else return;
  event.preventDefault();
});

if (form) {
  form.addEventListener("change", changed);
  form.addEventListener("input", (event) => { if (event.target.matches("textarea, input:not([type])")) changed(); });
  form.addEventListener("submit", () => { unsaved = false; clearTimeout(timer); });
  form.addEventListener("focusin", (event) => {
    const part = event.target.closest(".part");
    if (part && part !== current()) { current()?.classList.remove("now"); part.classList.add("now"); }
  });
  window.addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });
  choose(parts()[0]);
}

// A passage that is selected in a text goes into the list of that text.
function markSelection(id) {
  const selection = document.getSelection(), quote = selection.toString().replace(/\s+/g, " ").trim();
  const text = selection.anchorNode?.parentElement?.closest("[data-spans]");
  if (!quote || !text || (id && text.dataset.spans !== id)) return false;
  const list = document.getElementById(text.dataset.spans);
  list.value = [...list.value.split("\n").filter(Boolean), quote].join("\n");
  const yes = list.closest(".part").querySelector("[data-key=y]");
  yes.checked = true;
  changed();
  return true;
}
for (const button of document.querySelectorAll("button.mark")) {
  button.hidden = false;
  button.addEventListener("mousedown", (event) => event.preventDefault());  // or the selection would be gone
  button.addEventListener("click", () => { if (!markSelection(button.dataset.spans)) say("Select words of this text first.", true); });
}

// Dragging an answer gives all answers the ranks of their order.
let dragged = null;
for (const handle of document.querySelectorAll(".handle")) {
  handle.hidden = false;
  handle.addEventListener("dragstart", (event) => { dragged = handle.closest(".part"); event.dataTransfer.setData("text/plain", ""); });
}
for (const part of document.querySelectorAll(".part[data-letter]")) {
  part.addEventListener("dragover", (event) => { if (dragged) event.preventDefault(); });
  part.addEventListener("drop", (event) => {
    if (!dragged || dragged === part) return;
    event.preventDefault();
    const below = dragged.compareDocumentPosition(part) & Node.DOCUMENT_POSITION_FOLLOWING;
    part[below ? "after" : "before"](dragged);
    parts().forEach((answer, place) => { answer.querySelector(`[data-key="${place + 1}"]`).checked = true; });
    dragged = null;
    changed();
  });
}
