"""What a value of a text metric means on an exam: its mean against the right key, and against a wrong one.

The answers are the first of each model to every question of HIVMedQA, blanks and the rephrased gold left out;
the wrong key is that of the next question, in the exam's order, on another case. docs/metrics.md quotes them.

Usage: python tools/probes.py [FOLDER]    FOLDER holds data/hivmedqa; by default VIVA_SHARED, else ../shared
"""

import os
import sys
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from vivavoce.benchmarks import load
from vivavoce.core import registry
from vivavoce.core.records import Item, Reading, Response, Row
from vivavoce.core.tables import read_lines
from vivavoce.core.text import is_blank
from vivavoce.metrics import ScoringContext
from vivavoce.run.exchange.rows import by_name

METRICS = ("token_f1", "rouge(n=1)", "bleu", "chrf", "meteor")
NO_MODEL = "Rephrased Gold Answers"


class Means(NamedTuple):
    """A metric's mean against the question's own key, and against the key of another question."""

    own: float
    other: float


def answers(folder: Path) -> list[tuple[Item, Item, str]]:
    """Each answer between its question, and the question whose key is not its own."""
    items = load(f"hivmedqa(data='{folder}')").items
    after = {
        item.name: next(o for o in (*items[n + 1 :], *items[:n]) if o.group != item.group)
        for n, item in enumerate(items)
    }
    named = by_name(items)
    found = []
    for _, row in read_lines(folder / "responses.jsonl"):
        said = row["answer"] or ""
        if row["iteration"] == 1 and row["model"] != NO_MODEL and not is_blank(said):
            item = named[str(row["question_id"]), ""]
            found.append((item, after[item.name], said))
    return found


def means(spec: str, said: list[tuple[Item, Item, str]]) -> Means:
    """The two means of a metric's first criterion."""
    metric, lab = registry.build("metric", spec), ScoringContext()
    name = metric.criteria[0].criterion

    def mean(which: int) -> float:
        rows = [
            Row(one[which], Response(benchmark="hivmedqa", item="i", candidate="c"), Reading("ok", one[2]))
            for one in said
        ]
        return fmean(marks[name].value for marks in metric.values(rows, lab))

    return Means(mean(0), mean(1))


def main() -> None:
    """Print how many answers there are, then a line per metric."""
    given = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("VIVA_SHARED", "../shared")
    said = answers(Path(given) / "data" / "hivmedqa")
    print(f"{len(said)} answers; mean against the question's own key, and against another's")
    for spec in METRICS:
        own, other = means(spec, said)
        print(f"{spec:12} {own:.2f} {other:.2f}")


if __name__ == "__main__":
    main()
