"""Write examples/answers.csv: questions of the sample benchmark and the answers of two made-up models.

    python tools/example_table.py

One table with a row per question and model, as people have them.
"""

import csv
import json
from pathlib import Path

from vivavoce.benchmarks import load
from vivavoce.benchmarks.sample import CANDIDATES, recorded
from vivavoce.core.tables import read_lines

TARGET = Path(__file__).resolve().parents[1] / "examples" / "answers.csv"
FORMATS = ("mcq", "true_false", "list", "short")
COLUMNS = ("id", "category", "question", "options", "answer", "model", "response")


def main() -> None:
    """Write the table."""
    items = [item for item in load("sample").items if not item.variant and item.format in FORMATS]
    with recorded() as path:
        rows = [line.row for line in read_lines(path)]
    responses = {
        (row["item"], row["candidate"]): row["text"]
        for row in rows
        if not row["variant"] and row["repeat"] == 1 and row["text"] is not None
    }
    with TARGET.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(COLUMNS)
        for model in (CANDIDATES[0], CANDIDATES[2]):
            for item in items:
                if (item.item, model) in responses:
                    key = item.answer or item.references
                    question = (item.item, item.category, item.question, _cell(item.options), _cell(key))
                    table.writerow([*question, model, responses[item.item, model]])
    print(TARGET)


def _cell(values: tuple[str, ...]) -> str:
    """Nothing, the only value, or a JSON array."""
    return "" if not values else values[0] if len(values) == 1 else json.dumps(values, ensure_ascii=False)


if __name__ == "__main__":
    main()
