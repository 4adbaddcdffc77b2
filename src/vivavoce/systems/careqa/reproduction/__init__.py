"""The healthcare suite of the BSC from its published tables: Figure 1, clusters of metrics, claims.

Arias-Duart et al. (2025). The tables come from the file given, and every figure is computed from it; what the
text of the paper says stands in published.yaml.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vivavoce.core.errors import InputError
from vivavoce.core.registry import reproduction
from vivavoce.core.yaml_files import read_mapping
from vivavoce.run.reproduce import Reproduction, Table
from vivavoce.systems.careqa.reproduction.claims import claims
from vivavoce.systems.careqa.reproduction.clusters import clusters
from vivavoce.systems.careqa.reproduction.consistency_checks import identities, sample_sizes
from vivavoce.systems.careqa.reproduction.figure1 import figure1, outside_rounding
from vivavoce.systems.careqa.reproduction.published_tables import read_tables

PUBLISHED = Path(__file__).with_name("published.yaml")


@reproduction("bsc")
def reproduce(data: Path) -> Reproduction:
    """Recompute the paper's correlations from the JSON file of its tables.

    Raises `InputError` for a file that holds no such tables.
    """
    paper = read_mapping(PUBLISHED, "published figures", InputError)
    tables = read_tables(data)
    rows: dict[str, Any] = {
        "figure1": figure1(tables, paper),
        "clusters": clusters(tables, paper),
        "identities": identities(tables, paper),
        "sample_sizes": sample_sizes(tables, paper),
    }
    rows["claims"] = claims(tables, paper, rows)
    rows["not_reproduced"] = [
        {"what": f"Figure 1, {name}", **{key: row[key] for key in ("published", "recomputed", "why")}}
        for name, row in rows["figure1"].items()
        if row["within_rounding"] is not True and row["why"]
    ]
    return Reproduction(rows, _tables(rows), _notes(rows))


def _tables(rows: Mapping[str, Any]) -> tuple[Table, ...]:
    columns = ("published", "recomputed", "deviation", "low", "high")
    figure = [
        [name, *(_figure(row[key]) for key in columns), row["why"] or ""]
        for name, row in rows["figure1"].items()
    ]
    names = ("perplexity_min", "ngram_semantic_mean", "ngram_semantic_min", "prometheus_mean")
    of_clusters = [[d, *(_figure(row[key]) for key in names)] for d, row in rows["clusters"].items()]
    sentences = [[row["what"], _holds(row["holds"]), row["why"] or ""] for row in rows["claims"]]
    return (
        Table("Figure 1: r with multiple choice", ("data set | metric", *columns, "why"), figure),
        Table("Clusters of metrics: r over models", ("benchmark", *names), of_clusters),
        Table("What the paper says", ("claim", "holds", "why"), sentences),
    )


def _notes(rows: Mapping[str, Any]) -> tuple[str, ...]:
    cells = {name: row for name, row in rows["figure1"].items() if not name.startswith("Medical MCQA")}
    compared = {name: row for name, row in cells.items() if row["within_rounding"] is not None}
    if not compared:
        return ("No cell of Figure 1 can be compared.",)
    beyond_rounding = ", ".join(outside_rounding(compared))
    n_models = next(iter(compared.values()))["n"]
    n_inside = sum(row["within_rounding"] for row in compared.values())
    return (
        f"{n_inside} of {len(compared)} cells of Figure 1 come out within the rounding of the tables"
        f"{f'; not: {beyond_rounding}' if beyond_rounding else ''}.",
        f"Each cell is Pearson's r over the {n_models} smaller models, perplexities with their sign turned.",
    )


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _holds(holds: bool | None) -> str:
    return {True: "yes", False: "no", None: ""}[holds]
