"""Ranking over Scoring from its published scores: means, orders, tests, Table 1, and the paper's claims.

De la Iglesia et al. (COLING 2025). Scores and printed means come from the file given, and every figure is
computed from it; what the text of the paper says stands in published.yaml.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vivavoce.core.errors import InputError
from vivavoce.core.registry import reproduction
from vivavoce.core.yaml_files import read_mapping
from vivavoce.run.reproduce import (
    Reproduction,
    Table,
    claims_table,
    count_verdicts,
    not_reproducible_table,
)
from vivavoce.systems.ranking.reproduction.claims import claims
from vivavoce.systems.ranking.reproduction.mean_scores import (
    cells,
    deviations,
    means,
    mixture_spread,
    score_grid,
)
from vivavoce.systems.ranking.reproduction.not_reproducible import not_reproducible
from vivavoce.systems.ranking.reproduction.published_scores import PublishedScores, read_scores
from vivavoce.systems.ranking.reproduction.rank_orders import (
    by_run_ranks,
    friedman_tests,
    orders,
    ranks,
)
from vivavoce.systems.ranking.reproduction.table1 import table1

PUBLISHED = Path(__file__).with_name("published.yaml")


@reproduction("ranking")
def reproduce(data: Path) -> Reproduction:
    """Recompute the paper's tables and figures from the JSON file of its scores.

    Raises `InputError` for a file that holds no such scores.
    """
    paper = read_mapping(PUBLISHED, "published figures", InputError)
    scores = read_scores(data, paper)
    of_means = means(scores)
    rows: dict[str, Any] = {
        "means": of_means,
        "deviations": deviations(scores, of_means),
        "mixture_spread": mixture_spread(scores),
        "score_grid": score_grid(scores),
        "order": orders(scores, controls=True),
        "order_primaries": orders(scores, controls=False),
        "ranks": ranks(scores),
        "friedman": friedman_tests(scores),
        "table1": table1(scores),
    }
    rows["claims"] = claims(scores, rows)
    rows["not_reproducible"] = not_reproducible(paper)
    return Reproduction(rows, _tables(scores, rows), _notes(rows))


def _tables(scores: PublishedScores, rows: Mapping[str, Any]) -> tuple[Table, ...]:
    sources = scores.sources(scores.tasks[0])
    return (
        Table("Mean over runs", ("task", "evaluator", *sources), _means(scores, rows)),
        Table(
            "Primaries in order, and Friedman's test over runs",
            ("task", "evaluator", "by the mean", "by run ranks", "p", "runs"),
            _orders(scores, rows),
        ),
        Table(
            "All sources by the mean",
            ("task", "evaluator", "order"),
            [[t, e, _arrows(order)] for t, of_task in rows["order"].items() for e, order in of_task.items()],
        ),
        Table(
            "LLM-trained: standard deviation between runs of a mixture, and between mixtures",
            ("task", *sources),
            [[t, *(_spread(row.get(s)) for s in sources)] for t, row in rows["mixture_spread"].items()],
        ),
        Table(
            "Cells of Table 1 that do not follow",
            _MISS,
            [[row[key] for key in _MISS] for row in rows["table1"] if row["follows"] is False],
        ),
        claims_table(rows["claims"]),
        not_reproducible_table(rows["not_reproducible"]),
    )


_MISS = ("evaluator", "task", "figure", "published", "recomputed", "why")


def _means(scores: PublishedScores, rows: Mapping[str, Any]) -> Sequence[Sequence[str]]:
    sources = scores.sources(scores.tasks[0])
    return [
        [task, column, *(_figure(of_source.get(source, {}).get("recomputed")) for source in sources)]
        for task, columns in rows["means"].items()
        for column, of_source in columns.items()
    ]


def _orders(scores: PublishedScores, rows: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
    return [
        [
            task,
            evaluator,
            _arrows(rows["order_primaries"][task][evaluator]),
            _arrows(by_run_ranks(rows["ranks"][task][evaluator]["primaries"])),
            "" if test["p"] is None else f"{test['p']:.2g}",
            test["n_blocks"],
        ]
        for task in scores.tasks
        for evaluator, test in rows["friedman"][task].items()
    ]


def _arrows(order: Sequence[str | Sequence[str]]) -> str:
    return " > ".join(place if isinstance(place, str) else " = ".join(place) for place in order)


def _spread(row: Mapping[str, Any] | None) -> str:
    return "" if row is None else f"{_figure(row['sd_run'])} | {_figure(row['sd_mixture'])}"


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _notes(rows: Mapping[str, Any]) -> tuple[str, ...]:
    fits = rows["deviations"]
    n_printed = sum(cell["published"] is not None for _, cell in cells(rows["means"]))
    conventions = [
        f"over {n} runs {counts['population']} of {counts['cells']} are of the population, "
        f"{counts['sample']} of the sample"
        for n, counts in fits["runs"].items()
    ]
    neither = ", ".join(f"{r['task']} {r['evaluator']} {r['source']}" for r in fits["neither"])
    n_wrong = sum(row["follows"] is False for row in rows["table1"])
    return (
        f"{n_printed - len(fits['means'])} of {n_printed} printed means are those of their runs, to 0.01.",
        f"Printed standard deviations: {'; '.join(conventions)}{f'; neither: {neither}' if neither else ''}.",
        f"{n_wrong} of {len(rows['table1'])} cells of Table 1 do not follow from Tables 2 to 4.",
        count_verdicts(rows["claims"]),
    )
