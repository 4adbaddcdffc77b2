"""A run whose candidates answer closed questions several times and say how confident they are.

A calibrated candidate is right as often as it says; a boastful one says 95 % whatever happens.
"""

import random
from pathlib import Path

from tests.studies.making import exam, write_lines

from vivavoce.run.run import Run, open_run

OPTIONS = ("Aspirin", "Heparin", "Warfarin", "Alteplase")
METRICS = ("accuracy", "confidence(of=stated)", "confidence(of=repeats)")


def confident_run(
    folder: Path, *, items: int = 40, repeats: int = 3, seed: int = 1, silent: float = 0.0
) -> Run:
    """`items` questions of one option in cases of two, two categories; scored by `METRICS`.

    `silent` is the share of answers that state no confidence.
    """
    spec = exam(
        folder,
        [
            {"item": f"q{k:03}", "format": "mcq", "question": f"Question {k}?", "options": OPTIONS,
             "answer": OPTIONS[k % 4], "group": f"case{k // 2}", "category": "ab"[k % 2]}
            for k in range(items)
        ],
    )  # fmt: skip
    rng = random.Random(seed)
    rows = []
    for k in range(items):
        chance = rng.choice((0.3, 0.6, 0.9))
        for candidate in ("calibrated", "boastful"):
            for repeat in range(1, repeats + 1):
                right = rng.random() < chance
                stated = chance if candidate == "calibrated" else 0.95
                rows.append(
                    {
                        "item": f"q{k:03}",
                        "candidate": candidate,
                        "repeat": repeat,
                        "text": OPTIONS[k % 4] if right else OPTIONS[(k + 1) % 4],
                        "confidence": None if rng.random() < silent else stated,
                    }
                )
    run = open_run(folder / "confident.viva")
    run.import_answers(write_lines(folder / "confident.jsonl", rows), benchmark=spec)
    run.score(*METRICS)
    return run
