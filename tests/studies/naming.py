"""Sentences of findings that name somebody: those that are declared, and a check of every finding made."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from vivavoce.core import registry
from vivavoce.core.measure_names import measure_name, metric_name
from vivavoce.core.records import Finding
from vivavoce.studies.naming import NamingSentence, undeclared
from vivavoce.studies.study import Study

FIGURES = Path(__file__).with_name("figure_sentences.json")
"""Sentences that name something and infer nothing: figures, counts, and reasons why there is none."""

NAMES = ("candidate", "against", "other", "rater", "category", "label", "answer", "item")
"""Columns of rows whose values are names."""


@cache
def declared_of(study: str) -> tuple[NamingSentence, ...]:
    """The sentences that a study declares, and those of its figures."""
    rows = json.loads(FIGURES.read_text(encoding="utf-8"))
    figures = [NamingSentence(**{**row, "templates": tuple(row["templates"])}) for row in rows]
    of_study = [sentence for sentence in figures if sentence.code.startswith(f"{study}.")]
    return (*registry.members("study")[study].sentences, *of_study)


def names_of(finding: Finding) -> Iterator[str]:
    """The names of candidates, raters, metrics, categories, labels and items in a finding's rows."""
    for row in finding.rows:
        yield from (str(row[c]) for c in NAMES if row.get(c))
        if row.get("metric"):
            yield metric_name(str(row["metric"]))
            yield measure_name(
                str(row["metric"]), str(row.get("criterion") or ""), str(row.get("rater") or "")
            )


def undeclared_in(finding: Finding) -> list[str]:
    """The sentences of a finding that hold a name and match no declared template."""
    texts = (finding.text, finding.headline, *finding.notes)
    # "A" and "other" are words too, and a digit is a figure.
    names = {name for name in names_of(finding) if len(name) > 1 and name != "other" and not name.isdigit()}
    return list(undeclared(texts, names, declared_of(finding.study)))


def check(finding_of: Any) -> Any:
    """`Study.finding` that refuses a sentence of a study that ships, names something and is not declared."""

    def finding(self: Study, *args: Any, **kwargs: Any) -> Finding:
        result: Finding = finding_of(self, *args, **kwargs)
        if type(self).__module__.startswith("vivavoce."):
            lines = undeclared_in(result)
            assert not lines, f"{result.study} says what it does not declare: {lines}"
        return result

    return finding
