"""Orders of the sources: by the rank of the mean, as the paper's figures have them, and otherwise."""

from collections.abc import Sequence
from typing import Any

from vivavoce import stats
from vivavoce.systems.ranking.reproduction.published_scores import PublishedScores

INSTANCES = "what an evaluator predicted for an item is not released, so no item has a rank"


def orders(scores: PublishedScores, *, controls: bool) -> dict[str, dict[str, list[str | list[str]]]]:
    """By task and evaluator: sources by the rank of their mean, ties nested; primaries only or all."""
    return {
        task: {
            evaluator: scores.order(task, evaluator, _sources(scores, task, controls))
            for evaluator in scores.evaluators
        }
        for task in scores.tasks
    }


def _sources(scores: PublishedScores, task: str, controls: bool) -> Sequence[str]:
    return scores.sources(task) if controls else scores.primaries


def ranks(scores: PublishedScores) -> dict[str, dict[str, dict[str, Any]]]:
    """By task and evaluator: each source's `rank_of_mean` and `mean_run_rank`, among `primaries` and `all`.

    `rank_of_mean` ranks the means over runs, to two digits; `mean_run_rank` averages the ranks inside each
    run. Ties share their mean rank, 1 is the best. `mean_instance_rank` is null, with the `reason`.
    """
    return {
        task: {
            evaluator: {
                "primaries": _ranks(scores, task, evaluator, scores.primaries),
                "all": _ranks(scores, task, evaluator, scores.sources(task)),
                "mean_instance_rank": None,
                "reason": INSTANCES,
            }
            for evaluator in scores.evaluators
        }
        for task in scores.tasks
    }


def _ranks(
    scores: PublishedScores, task: str, evaluator: str, sources: Sequence[str]
) -> dict[str, dict[str, float]]:
    of_mean = stats.mean_ranks([[scores.mean(task, evaluator, source)] for source in sources])
    of_runs = stats.mean_ranks(scores.matrix(task, evaluator, sources))
    return {
        source: {"rank_of_mean": float(of_mean[k]), "mean_run_rank": float(of_runs[k])}
        for k, source in enumerate(sources)
    }


def by_run_ranks(ranked: dict[str, dict[str, float]]) -> list[str | list[str]]:
    """Sources by `mean_run_rank`, the best first; those of one rank are a list in its place."""
    values = {source: round(row["mean_run_rank"], 9) for source, row in ranked.items()}
    places = [[s for s in values if values[s] == rank] for rank in sorted(set(values.values()))]
    return [place[0] if len(place) == 1 else place for place in places]


def friedman_tests(scores: PublishedScores) -> dict[str, dict[str, dict[str, Any]]]:
    """By task and evaluator: Friedman's test of the primaries over training runs; `all`, of all sources.

    `chi2` with its `p`, `f` (Iman and Davenport's) with `p_f`, `n_blocks`, `n_sources`. Runs are trainings
    on one set of items: the test says nothing of other items.
    """
    return {
        task: {
            evaluator: {
                **_friedman(scores, task, evaluator, scores.primaries),
                "all": _friedman(scores, task, evaluator, scores.sources(task)),
            }
            for evaluator in scores.evaluators
        }
        for task in scores.tasks
    }


def _friedman(scores: PublishedScores, task: str, evaluator: str, sources: Sequence[str]) -> dict[str, Any]:
    test = scores.friedman(task, evaluator, sources)
    return {
        "chi2": test.chi2,
        "p": test.p_chi2,
        "f": test.f,
        "p_f": test.p_f,
        "n_blocks": test.n_blocks,
        "n_sources": test.n_systems,
    }
