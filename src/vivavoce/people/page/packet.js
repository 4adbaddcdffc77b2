"use strict";
(() => {
  const SCHEMA = "{{ schema }}";
  const { panel, rater } = document.body.dataset;
  const kept = `vivavoce:${panel}:${rater}`;
  const sections = [...document.querySelectorAll("section[data-item]")];
  const told = document.getElementById("told");
  let unsaved = false;

  const field = (part, name) => part.querySelector(`[data-field="${name}"]`);
{% block tools %}
{% endblock %}
  const articles = (section) => [...section.querySelectorAll("article")];

{% block marks %}
{% endblock %}

  // The texts go back as they stood here: so the one who reads the ballot knows what was judged.
  function ballot() {
    return {
      schema: SCHEMA, panel, rater,
      items: sections.map((section) => ({
        item: section.dataset.item, seal: section.dataset.seal,
        question: section.querySelector(".asked").textContent,
{% block beside %}
{% endblock %}
        answers: articles(section).map((article) => ({
          label: article.dataset.label, answer: article.querySelector(".answer").textContent, ...marks(article),
        })),
{% block remark %}
{% endblock %}
      })),
    };
  }

{% block gaps %}
{% endblock %}
  function show() {
    let done = 0;
    for (const section of sections) {
{% block settled %}
{% endblock %}
      const lacks = lacking(section);
      const link = document.querySelector(`a[data-of="${section.id}"]`);
      const line = section.querySelector(".lacks");
      done += lacks.length === 0;
      link.classList.toggle("done", lacks.length === 0);
      link.setAttribute("aria-label", `Question ${section.id.slice(1)}${lacks.length ? "" : ", filled in"}`);
      line.hidden = !lacks.length || !begun(section);
      line.textContent = `Still to do: ${lacks.join("; ")}.`;
    }
    const whole = done === sections.length;
{% block progress %}
{% endblock %}
      + (unsaved ? " Not downloaded yet." : "") + (whole ? " The ballot is complete: download it." : "");
  }

  function fill(said) {
    if (said?.schema !== SCHEMA || said.panel !== panel || said.rater !== rater || !Array.isArray(said.items)) {
      throw new Error("this is no ballot of this packet");
    }
    const by = new Map(said.items.map((one) => [one.item, one]));
    for (const section of sections) {
      const one = by.get(section.dataset.item);
      if (!one || one.seal !== section.dataset.seal) continue;
{% block filled_remark %}
{% endblock %}
      const answers = new Map((one.answers ?? []).map((answer) => [answer.label, answer]));
      for (const article of articles(section)) {
        const mark = answers.get(article.dataset.label) ?? {};
{% block filled %}
{% endblock %}
      }
    }
  }

  // Some browsers keep nothing for a file: then the page's own memory has to do.
  function keep() {
    try { localStorage.setItem(kept, JSON.stringify(ballot())); } catch { /* nothing is lost but the copy */ }
  }

  function changed() { unsaved = true; keep(); show(); }

  document.addEventListener("input", (event) => { if (event.target.dataset.field) changed(); });
  window.addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });

  document.getElementById("save").addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(ballot(), null, 1)], { type: "application/json" }));
    link.download = `ballot-${panel}-${rater}.json`;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    unsaved = false;
    show();
  });

  document.getElementById("next").addEventListener("click", () => {
{% block next %}
{% endblock %}
  });

  document.getElementById("load").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (!file) return;
    try {
      fill(JSON.parse(await file.text()));
      changed();
    } catch (error) {
      told.textContent = `${file.name} was not loaded: ${error.message}.`;
    }
    event.target.value = "";
  });

  document.getElementById("clear").addEventListener("click", () => {
    if (!confirm("Clear everything that is filled in here?")) return;
    for (const one of document.querySelectorAll("select, textarea")) one.value = "";
    for (const one of document.querySelectorAll("[type=checkbox], [type=radio]")) one.checked = false;
    try { localStorage.removeItem(kept); } catch { /* nothing was kept */ }
    unsaved = false;
    show();
  });

  try {
    const before = localStorage.getItem(kept);
    if (before) fill(JSON.parse(before));
  } catch { /* what was kept is not of this packet, or cannot be had */ }
  show();
})();
