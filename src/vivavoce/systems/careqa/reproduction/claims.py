"""Sentences of the paper beside what its own tables give."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from vivavoce import stats
from vivavoce.systems.careqa.reproduction.published_tables import Floats, PublishedTables

NOTES = ("ACI-Bench", "MTS-Dialog")
"""The benchmarks of clinical note-taking."""
_RELAXED = ("Relaxed perplexity", "Relaxed perplexity logprobs")


def claims(
    tables: PublishedTables, paper: Mapping[str, Any], rows: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """A row per sentence: `what`, `published`, `recomputed`, `holds`, and `why` it does not.

    Where the paper prints no figure, a correlation counts as one if its models can tell it from zero at 5 %.
    """
    return [
        {"what": claim, "published": published, "recomputed": recomputed, "holds": holds,
         "why": None if holds else reason}
        for claim, published, recomputed, holds, reason in (
            *_cluster_claims(rows["clusters"]),
            *_figure_claims(rows["figure1"]),
            *_relaxed_claims(tables, paper),
            *_table_claims(tables, rows["identities"]["multimedqa"]["deviation"]),
            *_review_claims(rows["sample_sizes"]["review"]),
        )
    ]  # fmt: skip


_Claim = tuple[str, Any, Any, bool | None, str | None]


def _having(rows: Mapping[str, Mapping[str, Any]], figure: str) -> dict[str, Mapping[str, Any]]:
    """The rows that have the figure."""
    return {name: row for name, row in rows.items() if row[figure] is not None}


def _cluster_claims(clusters: Mapping[str, Mapping[str, Any]]) -> Iterator[_Claim]:
    if rows := _having(clusters, "perplexity_min"):
        yield _perplexity_claim(rows)
    if rows := _having(clusters, "ngram_semantic_min"):
        worst = min(rows, key=lambda d: rows[d]["ngram_semantic_min"])
        r, (a, b) = rows[worst]["ngram_semantic_min"], rows[worst]["ngram_semantic_pair"]
        least_mean = min(row["ngram_semantic_mean"] for row in rows.values())
        yield (
            "n-gram and semantic metrics correlate strongly with each other on all benchmarks",
            None,
            r,
            r > _critical(rows[worst]),
            f"{a} and {b} on {worst}: r {r:.2f} cannot be told from zero; the mean over pairs is "
            f"{least_mean:.2f} or more",
        )
    if rows := _having(clusters, "prometheus_max"):
        nearest = max(rows, key=lambda d: rows[d]["prometheus_max"])
        r = rows[nearest]["prometheus_max"]
        yield (
            "Prometheus stands apart from the n-gram and semantic metrics",
            None,
            r,
            r < _critical(rows[nearest]),
            f"on {nearest} it correlates with one of them, r {r:.2f}",
        )


def _perplexity_claim(rows: Mapping[str, Mapping[str, Any]]) -> _Claim:
    datasets = [
        f"{d} ({row['perplexity_min']:.3f})" for d, row in rows.items() if row["perplexity_min"] < 0.96
    ]
    return (
        "word perplexity, byte perplexity and bits per byte correlate above 0.96 on all benchmarks",
        0.96,
        min(row["perplexity_min"] for row in rows.values()),
        not datasets,
        f"below on {', '.join(datasets)}; the three are transforms of one number, so their ranks agree by "
        "construction, and r says how skewed their scale is",
    )


def _critical(row: Mapping[str, Any]) -> float:
    """The least |r| that so few models can tell from zero at 5 %; 1 where none can be."""
    return stats.critical_r(row["n"]) or 1.0


def _figure_claims(figure: Mapping[str, Mapping[str, Any]]) -> Iterator[_Claim]:
    cells = {
        name: row["recomputed"]
        for name, row in _having(figure, "recomputed").items()
        if "Perplexity" not in name and not name.startswith("Medical MCQA")
    }
    if not cells:
        return
    yield _sign_claim(cells)
    largest = max(cells, key=lambda name: abs(cells[name]))
    critical = _critical(figure[largest])
    n_beyond = sum(abs(r) > critical for r in cells.values())
    yield (
        "every open metric but perplexity correlates very weakly with multiple choice",
        None,
        cells[largest],
        n_beyond == 0,
        f"{largest} is the strongest; with {figure[largest]['n']} models |r| under {critical:.2f} cannot be "
        f"told from zero, and {n_beyond} of {len(cells)} cells lie beyond it",
    )


def _sign_claim(cells: Mapping[str, float]) -> _Claim:
    positive = [name for name, r in cells.items() if r > 0 and not name.startswith((*NOTES, "Med Transcr"))]
    negative = [name for name, r in cells.items() if r <= 0 and name.startswith(NOTES)]
    return (
        "only clinical note-taking and Med Transcriptions correlate positively with multiple choice",
        None,
        {"positive elsewhere": positive, "negative there": negative},
        not positive and not negative,
        "the cells named say otherwise",
    )


class _Relaxed(NamedTuple):
    """Table 10: the models, and both columns in their order."""

    models: list[str]
    perplexity: Floats
    logprob: Floats


def _table_10(tables: PublishedTables) -> _Relaxed:
    columns = [tables.cells.get(("OLAPH", name), {}) for name in _RELAXED]
    shared = sorted(set.intersection(*map(set, columns)))
    pairs = {name: [column[name].value or 0.0 for column in columns] for name in shared}
    # a perplexity of 1 or less has no logarithm to divide by
    usable = {name: pair for name, pair in pairs.items() if pair[0] > 1}
    return _Relaxed(list(usable), *np.array(list(usable.values())).reshape(-1, 2).T)


def _relaxed_claims(tables: PublishedTables, paper: Mapping[str, Any]) -> Iterator[_Claim]:
    models, perplexity, logprob = _table_10(tables)
    if len(models) < 3:
        return
    lengths = -logprob / np.log(perplexity)
    yield (
        "Table 10 is exp(-log P / (n + target length)), with n of 128 tokens or more",
        128,
        [float(lengths.min()), float(lengths.max())],
        bool(lengths.min() >= 128),
        "the quotient of the two columns is neither constant nor as large",
    )
    # lower perplexity is better, higher log-probability too
    ranks = {
        name: {"rank": rank, "rank_by_logprob": by_logprob}
        for name, rank, by_logprob in zip(models, _ranks(-perplexity), _ranks(logprob), strict=True)
        if name in paper["healthcare"]
    }
    rho = stats.correlation(-perplexity, logprob, coefficient="spearman")
    yield (
        "Relaxed Perplexity scores healthcare fine-tunes higher",
        None,
        ranks,
        all(row["rank"] <= len(ranks) for row in ranks.values()),
        f"ranks among {len(models)} models, by perplexity and by log-probability; the two columns agree by "
        f"Spearman {rho or 0:.2f} only",
    )


def _ranks(values: Floats) -> list[int]:
    """The place of each value, 1 for the highest."""
    return [1 + int((values > value).sum()) for value in values]


def _table_claims(tables: PublishedTables, multimedqa: float | None) -> Iterator[_Claim]:
    if multimedqa is not None:
        yield (
            "multimedqa is the size-weighted mean of its parts (largest distance)",
            0.0,
            multimedqa,
            multimedqa <= 0.001 + 1e-9,
            "beyond the rounding of Table 20",
        )
    first, second = (tables.cells.get((name, "Prometheus"), {}) for name in ("ACI-Bench", "MIMIC-III"))
    copies = [name for name, cell in first.items() if cell == second.get(name) and cell.error]
    yield (
        "each cell of Table 12 is a measurement of its own",
        None,
        copies,
        not copies,
        "MIMIC-III and ACI-Bench have the same value and error for these models",
    )


def _review_claims(review: Mapping[str, Mapping[str, Any]]) -> Iterator[_Claim]:
    for name, sample in review.items():
        yield (
            f"{sample['reviewed']} items reviewed of {name}: margin of error at 95 %",
            sample["margin"],
            sample["recomputed"],
            abs(sample["recomputed"] - sample["margin"]) <= 0.0005,
            f"of {sample['population']:,} items, {sample['needed']} give that margin",
        )
