{% extends "packet.js" %}
{% block tools %}
  const tagOf = (article) => article.querySelector("[data-field=tag]:checked")?.value ?? null;
{% endblock %}
{% block marks %}
  function marks(article) {
    const wrong = field(article, "clearly_wrong").checked;
    const rank = field(article, "rank").value;
    return { rank: wrong || rank === "" ? null : Number(rank), clearly_wrong: wrong, tag: tagOf(article) };
  }
{% endblock %}
{% block remark %}
        remark: field(section, "remark").value,
{% endblock %}
{% block gaps %}
  function lacking(section) {
    return articles(section).flatMap((article) => {
      const { rank, clearly_wrong, tag } = marks(article);
      const lacks = [...(rank === null && !clearly_wrong ? ["a rank"] : []), ...(tag === null ? ["a tag"] : [])];
      return lacks.length ? [`${article.dataset.label} lacks ${lacks.join(" and ")}`] : [];
    });
  }

  function begun(section) {
    return articles(section).some((a) => { const m = marks(a); return m.rank !== null || m.clearly_wrong || m.tag; });
  }

  // Nobody has to say twice that an answer is bad, nor where it ranks.
  function settle(article) {
    const wrong = field(article, "clearly_wrong").checked;
    field(article, "rank").disabled = wrong;
    for (const tag of article.querySelectorAll("[data-field=tag]")) {
      if (wrong) tag.checked = tag.value === "bad";
      tag.disabled = wrong && tag.value !== "bad";
    }
  }

{% endblock %}
{% block settled %}
      articles(section).forEach(settle);
{% endblock %}
{% block progress %}
    told.textContent = `${done} of ${sections.length} questions filled in.`
{% endblock %}
{% block filled_remark %}
      field(section, "remark").value = String(one.remark ?? "");
{% endblock %}
{% block filled %}
        field(article, "rank").value = mark.rank == null ? "" : String(mark.rank);
        field(article, "clearly_wrong").checked = mark.clearly_wrong === true;
        for (const tag of article.querySelectorAll("[data-field=tag]")) tag.checked = tag.value === mark.tag;
{% endblock %}
{% block next %}
    const gap = sections.find((section) => lacking(section).length);
    const article = gap && articles(gap).find((a) => { const m = marks(a); return m.tag === null || (m.rank === null && !m.clearly_wrong); });
    if (!article) { told.textContent = "Nothing is left to fill in: download the ballot."; return; }
    const rank = field(article, "rank");
    (rank.value === "" && !rank.disabled ? rank : field(article, "tag")).focus();
{% endblock %}
