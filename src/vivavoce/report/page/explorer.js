/* The explorer of answers. Every text comes from the data block and reaches the page as a text node only. */
(() => {
  const source = document.getElementById("answers-data");
  const whole = document.getElementById("explorer");
  if (!source || !whole) return;
  const form = whole.querySelector("form");
  const data = JSON.parse(source.textContent);
  const AT_ONCE = 50;
  const MOST_WORDS = 1500;
  const SILENT = new Set(["unanswered", "unreadable"]);
  const control = (name) => form.elements.namedItem(name);
  const list = document.getElementById("answers-list");
  const count = document.getElementById("answers-count");
  const more = document.getElementById("answers-more");

  const make = (tag, options = {}, ...inside) => {
    const { cls, ...properties } = options;
    const made = Object.assign(document.createElement(tag), properties);
    if (cls) made.className = cls;
    made.append(...inside.filter((part) => part !== null && part !== undefined));
    return made;
  };
  const figure = (value) => {
    if (value === null || value === undefined) return "–";
    const nudged = value + 1e-9 * Math.max(-1e3, Math.min(1e3, value));
    return nudged.toFixed(3).replace(/^-(?=[0.]*$)/, "").replace("-", "−");
  };
  const byName = new Intl.Collator("en", { numeric: true });
  const itemOf = (answer) => data.items[answer.item];
  const speaker = (role) => role[0].toUpperCase() + role.slice(1);
  for (const item of data.items) item.question ??= (item.messages ?? []).map(([, text]) => text).join("\n\n");
  const nameOf = (answer) => data.candidates[answer.candidate].name;
  const repeated = data.answers.some((answer) => answer.repeat > 1);
  const titleOf = (answer) => nameOf(answer) + (repeated ? `, repeat ${answer.repeat}` : "");

  /* The controls */
  const unique = (values) => [...new Set(values)].filter((v) => v !== undefined).sort(byName.compare);
  const fill = (name, values) => {
    for (const [value, label] of values) control(name).append(make("option", { value, textContent: label }));
  };
  const people = data.candidates.map(({ name, role }, n) => [
    String(n), role === "candidate" ? name : `${name} (${role})`]);
  const statuses = unique(data.answers.flatMap((a) => (a.marks.length ? a.marks.map((m) => m[2]) : ["not scored"])));
  fill("candidate", people);
  fill("beside", people);
  fill("format", unique(data.items.map((item) => item.format)).map((v) => [v, v.replaceAll("_", " ")]));
  fill("category", unique(data.items.map((item) => item.category)).map((v) => [v, v]));
  fill("status", statuses.map((v) => [v, v]));
  fill("by", data.measures.map(({ name, low, high }, n) => [
    String(n), low === null || high === null ? name : `${name} (${low} to ${high})`]));

  if (data.items.some((item) => item.format === "longform")) {
    control("differences").querySelector("[value=shared]").defaultSelected = true; // most words would differ
  }
  const LEGENDS = {
    reference: "Read in order. Underlined: in the answer, not in the reference. Dotted: in the reference, not in the first answer.",
    shared: "In any order, without words of one to three letters other than no, not and nor. Underlined: in the answer and in the reference. Dotted: in the reference, not in the first answer.",
    first: "Read in order. Underlined: in this answer, not in the first.",
    none: "",
  };
  const legend = () => {
    document.getElementById("answers-legend").textContent = LEGENDS[control("differences").value];
  };

  /* What is shown */
  const byItem = data.items.map(() => []);
  for (const answer of data.answers) byItem[answer.item].push(answer);
  const straight = (text) => text.replace(/[‘’ʼ]/g, "'").replace(/[“”„]/g, '"');
  const folded = (text) => straight(text).normalize("NFKD").replace(/\p{M}+/gu, "").toLowerCase();
  /* Quoted text is a phrase. Phrases and terms under four characters are found as whole words, and a number
     never as a part of another, as 2 of 1.2. */
  const seeking = (text) =>
    [...folded(text).matchAll(/"([^"]*)"?|[^\s"]+/g)].flatMap(([term, phrase]) => {
      const sought = (phrase ?? term).trim();
      if (sought === "") return [];
      if (phrase === undefined && sought.length > 3) return [(words) => words.includes(sought)];
      const [first, last] = [sought[0], sought.at(-1)];
      const pattern = sought.split(/\s+/).map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("\\s+");
      const before = (/\p{N}/u.test(first) ? "(?<!\\p{N}[.,])" : "") + (WORD.test(first) ? "(?<![\\p{L}\\p{N}])" : "");
      const after = (/\p{N}/u.test(last) ? "(?![.,]\\p{N})" : "") + (WORD.test(last) ? "(?![\\p{L}\\p{N}])" : "");
      const whole = new RegExp(before + pattern + after, "u");
      return [(words) => whole.test(words)];
    });
  const searchable = new Map();
  const words = (answer) => {
    if (!searchable.has(answer)) {
      const item = itemOf(answer);
      searchable.set(answer, folded([item.name, item.question, answer.text ?? ""].join("\n")));
    }
    return searchable.get(answer);
  };
  const scoreOf = (answer, by) => {
    if (by === "") return answer.good;
    const mark = answer.marks.find((m) => m[0] === Number(by));
    if (!mark || mark[2] === "failed") return null;
    return SILENT.has(mark[2]) ? data.measures[mark[0]].silence : mark[1];
  };
  /* What was silent has no score of its own: a dash, though it counts and is sorted as its criterion says. */
  const shownScore = (answer, by) => {
    const own = answer.marks.filter((m) => m[2] !== "failed" && (by === "" || m[0] === Number(by)));
    return own.length && own.every((m) => SILENT.has(m[2])) ? null : scoreOf(answer, by);
  };
  const matching = () => {
    const asked = Object.fromEntries(
      ["search", "candidate", "format", "category", "status", "by", "from", "to", "sort"].map((n) => [n, control(n).value]));
    const terms = seeking(asked.search);
    const from = asked.from === "" ? null : Number(asked.from);
    const to = asked.to === "" ? null : Number(asked.to);
    const found = data.answers.filter((answer) => {
      const item = itemOf(answer);
      if (asked.candidate !== "" && answer.candidate !== Number(asked.candidate)) return false;
      if (asked.format !== "" && item.format !== asked.format) return false;
      if (asked.category !== "" && item.category !== asked.category) return false;
      if (asked.status === "not scored" && answer.marks.length) return false;
      if (asked.status !== "" && asked.status !== "not scored" && !answer.marks.some((m) => m[2] === asked.status)) return false;
      if (from !== null || to !== null) {
        const score = scoreOf(answer, asked.by);
        if (score === null || (from !== null && score < from) || (to !== null && score > to)) return false;
      }
      return terms.every((stands) => stands(words(answer)));
    });
    const turned = asked.by !== "" && data.measures[Number(asked.by)].direction === "lower" ? -1 : 1;
    const item = (a, b) => byName.compare(itemOf(a).name, itemOf(b).name) || a.item - b.item;
    const person = (a, b) => a.candidate - b.candidate || a.repeat - b.repeat;
    const score = (sign) => (a, b) => {
      const [x, y] = [scoreOf(a, asked.by), scoreOf(b, asked.by)];
      if (x === null || y === null) return (x === null) - (y === null);
      return sign * turned * (x - y);
    };
    const orders = {
      worst: [score(1), item, person], best: [score(-1), item, person],
      question: [item, person], candidate: [person, item],
    }[asked.sort];
    return found.sort((a, b) => orders.reduce((settled, order) => settled || order(a, b), 0));
  };

  /* Words of one text that another does not have, in the order of both: the longest common subsequence */
  const TOKEN = /[\p{L}\p{N}]+(?:[.,'’/-][\p{L}\p{N}]+)*|[^\p{L}\p{N}]+/gu;
  const WORD = /^[\p{L}\p{N}]/u;
  const tokens = (text) => text.match(TOKEN) ?? [];
  const spelled = (text) => tokens(text).filter((t) => WORD.test(t));
  const plain = (text) => spelled(text).map((t) => straight(t).toLowerCase());
  const common = (one, other) => {
    const width = other.length + 1;
    const length = new Uint16Array((one.length + 1) * width);
    for (let i = one.length - 1; i >= 0; i--) {
      for (let j = other.length - 1; j >= 0; j--) {
        length[i * width + j] = one[i] === other[j]
          ? length[(i + 1) * width + j + 1] + 1
          : Math.max(length[(i + 1) * width + j], length[i * width + j + 1]);
      }
    }
    const shared = [new Set(), new Set()];
    for (let i = 0, j = 0; i < one.length && j < other.length;) {
      if (one[i] === other[j]) { shared[0].add(i++); shared[1].add(j++); }
      else if (length[(i + 1) * width + j] >= length[i * width + j + 1]) i++;
      else j++;
    }
    return shared;
  };
  const compare = (one, other) => {
    const [a, b] = [plain(one), plain(other)];
    return a.length > MOST_WORDS || b.length > MOST_WORDS ? null : common(a, b);
  };
  /* Where notable words of each stand that the other has anywhere; of the other, where all but its missing stand */
  const NEGATION = new Set(["no", "not", "nor"]);
  const notable = (word) =>
    word.length > 3 || NEGATION.has(word.toLowerCase()) || /\p{N}/u.test(word) || (word.length > 1 && word === word.toUpperCase() && word !== word.toLowerCase());
  const places = (words, keep) => new Set(words.flatMap((word, at) => (keep(word) ? [at] : [])));
  const alike = (one, other) => {
    const [a, b] = [new Set(plain(one)), new Set(plain(other))];
    return [
      places(spelled(one), (word) => notable(word) && b.has(straight(word).toLowerCase())),
      places(spelled(other), (word) => !notable(word) || a.has(straight(word).toLowerCase())),
    ];
  };
  /* The text with the words of `picked` marked: those in `shared`, or all others. */
  const shownText = (text, shared, cls, picked = "others") => {
    const box = make("div", { cls: "text", dir: "auto" });
    if (!shared) {
      box.append(text);
      return box;
    }
    let [at, marked, between, run] = [0, "", "", ""];
    const flush = () => {
      if (marked) box.append(make("mark", { cls, textContent: marked }));
      if (between) run += between;
      [marked, between] = ["", ""];
    };
    for (const token of tokens(text)) {
      if (!WORD.test(token)) {
        if (marked) between += token;
        else run += token;
      } else if (shared.has(at++) === (picked === "others")) {
        flush();
        run += token;
      } else {
        if (run) { box.append(run); run = ""; }
        marked += between + token;
        between = "";
      }
    }
    flush();
    if (run) box.append(run);
    return box;
  };

  /* One answer, opened */
  const marksOf = (answer) => {
    if (!answer.marks.length) return make("p", { cls: "soft small", textContent: "Not scored." });
    const noted = answer.marks.some((mark) => mark[3] !== null);
    const titles = ["Measure", "Score", "Status", ...(noted ? ["Note"] : [])];
    const head = make("tr", {}, ...titles.map((t) => make("th", { scope: "col", cls: t === "Score" ? "n" : "", textContent: t })));
    const body = answer.marks.map(([measure, value, status, note, n]) => make("tr", {},
      make("td", { textContent: data.measures[measure].name }),
      make("td", { cls: "n", textContent: figure(value) }),
      make("td", { textContent: n > 1 ? `${status} (mean of ${n})` : status }),
      noted ? make("td", { textContent: note ?? "" }) : null));
    return make("div", { cls: "scroll" }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...body)));
  };
  const answerColumn = (answer, shared, picked, leave) => {
    const column = make("div", { cls: "given" }, make("h3", { textContent: `Answer of ${titleOf(answer)}` }));
    if (answer.text === null) column.append(make("p", { cls: "soft", textContent: `No text: ${answer.why}.` }));
    else if (answer.text.trim() === "") column.append(make("p", { cls: "soft", textContent: "It arrived empty." }));
    else column.append(shownText(answer.text, shared, "new", picked));
    if (answer.text !== null && answer.why) column.append(make("p", { cls: "soft small", textContent: answer.why }));
    if (answer.cut) column.append(make("p", { cls: "soft small", textContent: `${answer.cut.toLocaleString("en")} further ${answer.cut === 1 ? "character is" : "characters are"} in the run.` }));
    column.append(marksOf(answer));
    if (leave) {
      const button = make("button", { type: "button", cls: "plain", textContent: `Remove ${titleOf(answer)}` });
      button.addEventListener("click", leave);
      column.append(button);
    }
    return column;
  };
  const numbered = (title, entries, { wrong, type = "1" } = {}) => entries && [
    make("h3", { textContent: title }),
    make("ol", { cls: "said", type }, ...entries.map((text, n) => make("li", { dir: "auto" }, text,
      wrong === n + 1 ? make("strong", { textContent: " (the wrong step)" }) : null))),
  ];
  const texts = (title, ...entries) => [
    make("h3", { textContent: title }), ...entries.map((text) => make("div", { cls: "text", dir: "auto", textContent: text }))];
  const drawBody = (row, answer, added) => {
    const item = itemOf(answer);
    const inside = row.querySelector(".inside");
    const chosen = [answer, ...added];
    const besides = control("beside").value;
    const pool = byItem[answer.item].filter((other) => !chosen.includes(other));
    if (besides !== "" && Number(besides) !== answer.candidate && !chosen.some((c) => c.candidate === Number(besides))) {
      const own = pool.filter((other) => other.candidate === Number(besides));
      const found = own.find((other) => other.repeat === answer.repeat) ?? own[0];
      if (found) {
        chosen.push(found);
        pool.splice(pool.indexOf(found), 1);
      }
    }
    const references = item.references ?? [];
    const mode = control("differences").value;
    const shared = new Map();
    let ofReference = null;
    let note = null;
    if ((mode === "reference" || mode === "shared") && references.length) {
      for (const one of chosen.filter((c) => plain(c.text ?? "").length)) {
        const found = references.map((text) => (mode === "shared" ? alike : compare)(one.text ?? "", text));
        const best = found.reduce((top, f, n) => (f && (top < 0 || f[0].size > found[top][0].size) ? n : top), -1);
        if (best < 0) note = "Too long for marking differences.";
        else shared.set(one, found[best][0]);
        if (one === answer && best >= 0) ofReference = [best, found[best][1]];
      }
    } else if (mode === "first") {
      for (const one of chosen.slice(1)) {
        const found = compare(one.text ?? "", answer.text ?? "");
        if (found) shared.set(one, found[0]);
        else note = "Too long for marking differences.";
      }
    }
    const again = (next) => drawBody(row, answer, next);
    const facts = [item.benchmark, item.format.replaceAll("_", " "), item.category].filter(Boolean).join(" · ");
    const key = make("div", {});
    if (references.length) {
      key.append(make("h3", { textContent: references.length > 1 ? "References" : "Reference" }),
        ...references.map((text, n) => shownText(text, ofReference && ofReference[0] === n ? ofReference[1] : null, "gone")));
    }
    if (item.answer) key.append(...texts("Key", ...item.answer));
    if (!references.length && !item.answer) key.append(make("h3", { textContent: "Key" }), make("p", { cls: "soft", textContent: "none" }));
    const label = make("label", { cls: "small soft" }, "Put another answer beside it ");
    if (pool.length) {
      const other = make("select", {}, make("option", { value: "", textContent: "choose" }), ...pool.map((one, n) =>
        make("option", { value: String(n), textContent: `${titleOf(one)} (${figure(shownScore(one, control("by").value))})` })));
      other.addEventListener("change", () => {
        if (other.value !== "") again([...added, pool[Number(other.value)]]);
      });
      label.append(other);
    } else label.textContent = "No other answer to this question is on this page.";
    inside.replaceChildren(...[
      make("p", { cls: "soft small", textContent: facts }),
      ...(item.context ? texts("Context", item.context) : []),
      ...(item.messages ? item.messages.flatMap(([role, text]) => texts(speaker(role), text)) : texts("Question", item.question)),
      item.follows ? make("p", { cls: "soft small", textContent: `Asked behind the candidate's own answers up to ${item.follows}.` }) : null,
      ...(numbered("Options", item.options, { type: "A" }) ?? []),
      ...(item.false_answer ? texts("Wrong answer shown", item.false_answer) : []),
      ...(numbered("Steps", item.steps, { wrong: item.step }) ?? []),
      make("div", { cls: "pair" }, key, ...chosen.map((one, n) =>
        answerColumn(one, shared.get(one), mode === "shared" ? "shared" : "others", n > 0 && added.includes(one) ? () => again(added.filter((a) => a !== one)) : null))),
      make("p", { cls: "wide" }, label),
      note ? make("p", { cls: "soft small", textContent: note }) : null,
    ].filter(Boolean));
    row.redraw = () => drawBody(row, answer, added);
  };
  const drawRow = (answer) => {
    const item = itemOf(answer);
    const by = control("by").value;
    const mark = by === "" ? null : answer.marks.find((m) => m[0] === Number(by));
    const states = mark ? [mark[2]] : unique(answer.marks.map((m) => m[2]));
    const odd = states.filter((s) => s !== "ok");
    const row = make("details", { cls: "answer" },
      make("summary", {},
        make("span", { cls: "score", textContent: figure(shownScore(answer, by)) }),
        make("span", { cls: "id", textContent: item.name }),
        make("span", { cls: "who", textContent: titleOf(answer) }),
        odd.length ? make("span", { cls: "tag", textContent: odd.join(", ") }) : null,
        make("span", { cls: "snippet", textContent: (answer.text ?? "").slice(0, 160) })),
      make("div", { cls: "inside" }));
    row.addEventListener("toggle", () => {
      if (row.open && !row.redraw) drawBody(row, answer, []);
    });
    return row;
  };

  const turnedRound = () => {
    const [from, to] = [control("from").value, control("to").value];
    return from !== "" && to !== "" && Number(from) > Number(to);
  };
  let found = [];
  let shown = 0;
  const number = (n) => n.toLocaleString("en");
  const showMore = () => {
    const next = found.slice(shown, shown + AT_ONCE);
    list.append(...next.map(drawRow));
    shown += next.length;
    more.hidden = shown >= found.length;
    more.textContent = `Show ${number(Math.min(AT_ONCE, found.length - shown))} more`;
    count.textContent = found.length
      ? `Showing ${number(shown)} of ${number(found.length)} ${found.length === 1 ? "answer that matches" : "answers that match"}; ${number(data.answers.length)} of ${number(Number(whole.dataset.total))} are on this page.`
      : turnedRound() ? "The lower end of the score lies above the upper one: no answer can match." : "No answer on this page matches.";
  };
  const refresh = () => {
    found = matching();
    shown = 0;
    list.replaceChildren();
    showMore();
  };
  const rows = () => [...list.children];
  form.addEventListener("input", (event) => {
    if (["beside", "differences"].includes(event.target.name)) {
      legend();
      for (const row of rows()) if (row.redraw) row.redraw();
    } else if (event.target.name) refresh();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => {
    legend();
    refresh();
  }));
  more.addEventListener("click", () => {
    const first = shown;
    showMore();
    rows()[first]?.querySelector("summary").focus();
  });
  document.getElementById("answers-open").addEventListener("click", () => rows().forEach((row) => { row.open = true; }));
  document.getElementById("answers-close").addEventListener("click", () => rows().forEach((row) => { row.open = false; }));
  /* A link to the answers to one question looks for its name. */
  for (const link of document.querySelectorAll("a[data-item]")) {
    link.addEventListener("click", () => {
      form.reset();
      setTimeout(() => {
        control("search").value = `"${link.dataset.item}"`;
        refresh();
      });
    });
  }
  whole.hidden = false;
  legend();
  refresh();
})();
