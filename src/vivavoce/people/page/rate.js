{% extends "packet.js" %}
{% block tools %}
  const scales = (article) => [...article.querySelectorAll("fieldset[data-scale]")];
  const chosen = (scale) => scale.querySelector(":checked")?.value ?? null;
  const open = (article) => scales(article).filter((scale) => chosen(scale) === null);
  // A long answer scrolls beside its scales, by keyboard too.
  for (const text of document.querySelectorAll("article > .answer")) {
    if (text.scrollHeight <= text.clientHeight) continue;
    text.tabIndex = 0;
    text.setAttribute("role", "group");
    text.setAttribute("aria-labelledby", text.parentElement.getAttribute("aria-labelledby"));
  }
{% endblock %}
{% block marks %}
  // Values go back as numbers; "cannot tell" is none.
  function marks(article) {
    const values = scales(article).map((scale) => {
      const value = chosen(scale);
      return [scale.dataset.scale, value === null || isNaN(value) ? value : Number(value)];
    });
    return { ...Object.fromEntries(values), remark: field(article, "remark").value };
  }
{% endblock %}
{% block beside %}
        reference: section.querySelector(".reference")?.textContent ?? "",
{% endblock %}
{% block gaps %}
  function lacking(section) {
    return articles(section).flatMap((article) => {
      const names = open(article).map((scale) => scale.querySelector("legend strong").textContent);
      return names.length ? [`${article.dataset.label} lacks ${names.join(", ")}`] : [];
    });
  }

  function begun(section) {
    return section.querySelector("[data-field=rating]:checked") !== null;
  }

{% endblock %}
{% block progress %}
    const answers = sections.flatMap(articles);
    told.textContent = `${answers.filter((article) => !open(article).length).length} of ${answers.length} answers rated.`
{% endblock %}
{% block filled %}
        field(article, "remark").value = String(mark.remark ?? "");
        for (const scale of scales(article)) {
          for (const input of scale.querySelectorAll("input")) {
            input.checked = input.value === String(mark[scale.dataset.scale] ?? "");
          }
        }
{% endblock %}
{% block next %}
    const scale = sections.flatMap(articles).flatMap(open)[0];
    if (!scale) { told.textContent = "Nothing is left to fill in: download the ballot."; return; }
    scale.querySelector("input").focus();
{% endblock %}
