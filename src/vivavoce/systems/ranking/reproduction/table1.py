"""Table 1 from the scores of the runs: the mean of the primaries and the best of them."""

from collections.abc import Sequence
from typing import Any

from vivavoce.systems.ranking.reproduction.mean_scores import near
from vivavoce.systems.ranking.reproduction.published_scores import PublishedScores

_OTHER_SET = ("gpt4o", "openbiollm", "label_only")
"""Of all sets of sources, the one whose mean is printed for all three evaluators on NLI."""


def table1(scores: PublishedScores) -> list[dict[str, Any]]:
    """A row for each of the 18 cells: `figure` (average, best), `published`, `recomputed`, `follows`, `why`.

    `source` is the best primary; null for an average. `follows` is null where nothing is printed.
    """
    return [
        row
        for evaluator in scores.evaluators
        for task in scores.tasks
        for row in _rows(scores, evaluator, task)
    ]


def _rows(scores: PublishedScores, evaluator: str, task: str) -> Sequence[dict[str, Any]]:
    average, best = scores.table1.get((evaluator, task), (None, None))
    top = scores.best(task, evaluator)
    of_all = _average(scores, task, evaluator, scores.primaries)
    return (
        _row(evaluator, task, "average", None, average, of_all, _other_set(scores, task, evaluator, average)),
        _row(
            evaluator, task, "best", top, best, scores.mean(task, evaluator, top),
            _control(scores, task, evaluator, best),
        ),
    )  # fmt: skip


def _row(
    evaluator: str,
    task: str,
    figure: str,
    source: str | None,
    published: float | None,
    recomputed: float,
    reason: str | None,
) -> dict[str, Any]:
    follows = None if published is None else near(published, recomputed)
    return {
        "evaluator": evaluator,
        "task": task,
        "figure": figure,
        "source": source,
        "published": published,
        "recomputed": recomputed,
        "follows": follows,
        "why": (reason or "nothing in the tables gives it") if follows is False else None,
    }


def _average(scores: PublishedScores, task: str, evaluator: str, sources: Sequence[str]) -> float:
    return sum(scores.mean(task, evaluator, source) for source in sources) / len(sources)


def _other_set(scores: PublishedScores, task: str, evaluator: str, published: float | None) -> str | None:
    if not near(published, _average(scores, task, evaluator, _OTHER_SET)):
        return None
    return f"it is the mean of {', '.join(_OTHER_SET[:-1])} and {_OTHER_SET[-1]}, a control"


def _control(scores: PublishedScores, task: str, evaluator: str, published: float | None) -> str | None:
    equal_sources = [
        s for s in scores.paper["controls"][task] if near(published, scores.mean(task, evaluator, s))
    ]
    return f"it is the score of {equal_sources[0]}, a control" if equal_sources else None
