"""DAHL from its question file and its Table 2: categories, rules, sizes, and what each claim rests on.

Seo, Lim, Jang and Shin (2024). No answer is released, so no score can be recomputed. What the paper prints is
in published.yaml.
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
from vivavoce.systems.dahl.reproduction.claims import claims, human_agreement
from vivavoce.systems.dahl.reproduction.not_reproducible import not_reproducible
from vivavoce.systems.dahl.reproduction.question_file import (
    categories,
    checker_calls,
    filters,
    read_questions,
    sample_precision,
)
from vivavoce.systems.dahl.reproduction.size_trend import size_trend

PUBLISHED = Path(__file__).with_name("published.yaml")


@reproduction("dahl")
def reproduce(data: Path) -> Reproduction:
    """Recompute what can be, from questions.csv or its folder.

    Raises `InputError` for a file that holds no such questions.
    """
    paper = read_mapping(PUBLISHED, "published figures", InputError)
    systems = [
        {
            "name": f"{family} {size:g}B" if size else family,
            "family": family,
            "size": size,
            "length": length,
            "score": float(score),
        }
        for family, size, length, score in paper["table2"]
    ]
    file = read_questions(data)
    rows: dict[str, Any] = {
        "categories": categories(file, paper),
        "sample_size": file.n_sample,
        "sample": sample_precision(file.n_sample, len(file.rows), systems, paper["sample"]["of"]),
        "filters": filters(file),
        "size_trend": size_trend(systems, paper["effective_questions"]),
        "human_agreement": human_agreement(paper["human"]),
        "checker_calls": checker_calls(len(file.rows), file.n_sample, systems, paper["example"]),
    }
    rows["claims"] = claims(file, paper, systems, rows)
    rows["not_reproducible"] = not_reproducible(systems, paper["human"])
    return Reproduction(rows, _tables(rows), _notes(rows))


def _tables(rows: Mapping[str, Any]) -> tuple[Table, ...]:
    return (
        Table(
            "Categories",
            ("category", "rows", "released", "listed in the paper"),
            [[name, r["n"], r["published"], r["listed"]] for name, r in rows["categories"].items()],
        ),
        Table("Sizes of a family, by the greatest possible variance", _PAIR, _pairs(rows["size_trend"])),
        claims_table(rows["claims"]),
        not_reproducible_table(rows["not_reproducible"]),
    )


_PAIR = ("family", "from", "to", "difference", "per doubling", "p at most", "answers needed")


def _pairs(trend: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
    return [
        [
            pair["family"],
            f"{pair['small']:g}B",
            f"{pair['large']:g}B",
            f"{pair['difference']:.4f}",
            f"{pair['per_doubling']:.4f}",
            f"{pair['p_at_most']:.2g}",
            pair["answers_needed"],
        ]
        for pair in trend["pairs"]
    ]


def _notes(rows: Mapping[str, Any]) -> tuple[str, ...]:
    decisions = rows["filters"]
    return (
        count_verdicts(rows["claims"]),
        f"The paper's own rules keep {decisions['keep']:,} rows, want {decisions['review']:,} reviewed and "
        f"{decisions['repair']:,} repaired, and drop {decisions['drop']:,}.",
        f"A tenth by category is {rows['sample_size']:,} questions.",
        "No answer, unit or verdict is released, so no DAHL score can be recomputed.",
    )
