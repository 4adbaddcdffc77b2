"""Made-up runs of arguments: sources, evaluators of several mixtures and training runs, and panels."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.studies.making import made, write_lines

from vivavoce.run.run import Run

SOURCES = ("able", "fair", "poor")
ROLES = {"gold": "ceiling", "noise": "floor"}
OPTIONS = ("aspirin", "ibuprofen", "paracetamol", "rest")
TRAINED = "trained(weights='models/mixture-{}')"
Value = Callable[[str, int, int, int], float | None]
"""From a source, the number of the item, the mixture and the run to a score; null failed."""


def items(n: int, **settings: Any) -> list[dict[str, Any]]:
    """Made-up items of the format argument, four options each."""
    return [
        {
            "item": f"q{k:02}",
            "format": "argument",
            "question": f"Case {k}: what helps?",
            "options": list(OPTIONS),
            "answer": [OPTIONS[k % 4]],
            "references": [f"The guideline of case {k} says so."],
            **{name: value(k) for name, value in settings.items() if value(k) is not None},
        }
        for k in range(n)
    ]


def argued(
    folder: Path,
    n: int = 20,
    *,
    sources: Sequence[str] = ("gold", *SOURCES, "noise"),
    texts: Callable[[str, int], str] | None = None,
    **settings: Any,
) -> Run:
    """A run in which each source has an argument for each item."""

    def text(source: str, k: int) -> str:
        if source == "gold":
            return f"The guideline of case {k} says so."
        return (
            f"{source} words about case {k}" + " and more" * SOURCES.index(source)
            if source in SOURCES
            else "x"
        )

    answers = {source: {f"q{k:02}": (texts or text)(source, k) for k in range(n)} for source in sources}
    roles = {name: role for name, role in ROLES.items() if name in sources}
    return made(folder, answers, items=items(n, **settings), role=roles)


def evaluated(
    run: Run,
    folder: Path,
    value: Value,
    n: int = 20,
    *,
    mixtures: int = 3,
    runs: int = 3,
    measure: str = TRAINED,
    criterion: str = "right",
    sources: Sequence[str] = ("gold", *SOURCES, "noise"),
    parts: Callable[[str, int, int, int], Mapping[str, int]] | None = None,
    skip: Sequence[tuple[str, int]] = (),
) -> Run:
    """The run with scores by evaluators of these mixtures and training runs."""
    for mixture in range(1, mixtures + 1):
        rows = []
        for source in sources:
            for k in range(n):
                if (source, k) in skip:
                    continue
                for number in range(1, runs + 1):
                    score = value(source, k, mixture, number)
                    row = {"candidate": source, "item": f"q{k:02}", "pass_no": number, "criterion": criterion}
                    row |= {"rater": f"mixture-{mixture}", "value": score}
                    if score is None:
                        row["status"] = "failed"
                    if parts:
                        row["parts"] = dict(parts(source, k, mixture, number))
                    rows.append(row)
        file = write_lines(folder / f"scores-{criterion}-{mixture}.jsonl", rows)
        run.import_scores(file, measure=measure.format(mixture), range={"*": (0, 1)}, again=True)
    return run
