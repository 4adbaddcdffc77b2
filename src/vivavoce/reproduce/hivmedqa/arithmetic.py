"""Whether the stored F1 figures are what counts of entities give: what can be checked of MedSynF1."""

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from vivavoce.entities import arithmetic
from vivavoce.entities.rules import PUBLISHED, VARIANTS, Rules
from vivavoce.interchange.rows import number_of
from vivavoce.reproduce.hivmedqa.marks import MARKS
from vivavoce.tables import read_lines

__all__ = ["EDGES", "f1_counts"]

EDGES = {
    (1.0, 0.0): "no entity in the answer",
    (0.0, 1.0): "no entity in the reference",
    (0.0, 0.0): "no match",
}
"""Stored precision and recall that no single quotient gives, by the published rules."""


def f1_counts(file: Path) -> dict[str, Any]:
    """How many rows of f1.csv, all questions and variants, the smallest whole-number counts explain.

    `explained` rows have counts of entities whose precision and recall are the stored ones; `f1_equal` are
    those whose F1 by the published rule book is the stored one too, to 1e-12. `edge` counts the rows at each
    edge. The counts are not the entities: `extraction` says so. Raises `InputError` for a figure that is no
    number.
    """
    rows = explained = equal = 0
    edge: Counter[str] = Counter()
    most: int | None = None
    counted = cache(arithmetic.counts)
    for line in read_lines(file):
        precision, recall, f1 = (
            number_of(line.row, name, float, line.where) for name in ("precision", "recall", "f1")
        )
        rows += 1
        if precision is None or recall is None:
            continue
        found = counted(precision, recall)
        if found is None:
            continue
        explained += 1
        if (precision, recall) in EDGES:
            edge[EDGES[precision, recall]] += 1
        most = max(most or 0, found.gold, found.predicted)
        made = _f1(
            found, VARIANTS[line.row["variant"]].rules if line.row["variant"] in VARIANTS else PUBLISHED
        )
        equal += f1 is not None and made is not None and abs(made - f1) <= 1e-12
    return {
        "rows": rows,
        "rows_published": MARKS["f1.csv"],
        "explained": explained,
        "f1_equal": equal,
        "edge": {name: edge[name] for name in EDGES.values()},
        "greatest_count": most,
        "extraction": "not reproduced",
    }


def _f1(found: arithmetic.Counts, rules: Rules) -> float | None:
    made = arithmetic.f1_of(**found._asdict(), rules=rules)
    return None if made is None else made.f1
