"""The reproduction as tables and sentences: the recomputed figure first, the published one beside it."""

from collections.abc import Mapping, Sequence
from typing import Any

from vivavoce.run.reproduce import Table
from vivavoce.systems.hivmedqa.reproduction.judge_scores import SIX, Incomplete

ALPHA = 0.05


def tables(rows: Mapping[str, Any], best: str) -> tuple[Table, ...]:
    """The tables in the order of the paper; an empty cell is a figure that is not there."""
    return (
        _table2(rows["table2"]),
        _paired(rows["paired"], best),
        _differences(rows["paired"], best),
        _drops(rows),
        _gaps(rows["reference_gap"]),
        Table(
            "F1 of the rephrased gold answers, mean across categories",
            ("variant", "recomputed", "published", "deviation"),
            [
                (variant, _n(row["mean"]), _n(row["published"], 2), _off(row["mean"], row["published"]))
                for variant, row in rows["f1_variants"].items()
            ],
        ),
        Table(
            "Figures of the running text",
            ("what", "recomputed", "published", "deviation", "holds"),
            [
                (row["what"], _number(row["recomputed"]), f"{row['published']:g}",
                 _off(row["recomputed"], row["published"]), {True: "yes", False: "no"}.get(row["holds"]))
                for row in rows["claims"]
            ],
        ),
    )  # fmt: skip


def _n(value: float | None, places: int = 3) -> str | None:
    return None if value is None else f"{value:.{places}f}"


def _number(value: float | None) -> str | None:
    """A count without decimals, any other figure with three."""
    return f"{value:g}" if value is not None and value == int(value) else _n(value)


def _p(value: float | None) -> str | None:
    return "<0.0001" if value is not None and value < 0.0001 else _n(value, 4)


def _off(recomputed: float | None, printed: float | None) -> str | None:
    return None if recomputed is None or printed is None else f"{recomputed - printed:+.4f}"


def _pair(mean: float | None, sd: float | None, places: int) -> str:
    if mean is None:
        return "-"
    return f"{mean:.{places}f} ± " + ("-" if sd is None else f"{sd:.{places}f}")


def _table2(table: Mapping[str, Mapping[str, Mapping[str, float | None]]]) -> Table:
    lines: list[Sequence[Any]] = []
    for candidate, row in table.items():
        cells = [row[name] for name in SIX]
        lines.append((candidate, *(_pair(cell["mean"], cell["sd"], 3) for cell in cells)))
        printed = [_pair(cell["published_mean"], cell["published_sd"], 2) for cell in cells]
        lines.append(("  published", *("illegible" if cell == "-" else cell for cell in printed)))
    lines.append(("greatest deviation", *(_greatest(table, name) for name in SIX)))
    return Table(
        "Table 2: mean ± sd over five iterations, of four category means", ("candidate", *SIX), lines
    )


def _greatest(table: Mapping[str, Mapping[str, Mapping[str, float | None]]], name: str) -> str | None:
    """The greatest deviation of a column: of its means, and of its standard deviations."""
    deviations = []
    for figure in ("mean", "sd"):
        pairs = [(row[name][figure], row[name][f"published_{figure}"]) for row in table.values()]
        differences = [abs(a - b) for a, b in pairs if a is not None and b is not None]
        deviations.append(f"{max(differences):.4f}" if differences else "-")
    return " / ".join(deviations)


def _paired(table: Mapping[str, Mapping[str, Mapping[str, Any]]], best: str) -> Table:
    return Table(
        f"{best} minus each other model, comprehension",
        ("candidate", "difference", "SE, items", "SE, cases", "p, items", "p, cases", "p, Holm", "items",
         "cases", "p, 5 iterations", "p, published test"),
        [
            (candidate, _n(row["difference"]), _n(row["se_item"]), _n(row["se_group"]), _p(row["p_item"]),
             _p(row["p_group"]), _p(row["p_holm"]), row["n_items"], row["n_groups"], _p(row["p_iterations"]),
             _p(row["p_published"]))
            for candidate, row in table["comprehension"].items()
        ],
    )  # fmt: skip


def _differences(table: Mapping[str, Mapping[str, Mapping[str, Any]]], best: str) -> Table:
    """Of each criterion, which models the best one is not shown to be better than."""
    lines = []
    for name, rows in table.items():
        tested = {candidate: row for candidate, row in rows.items() if row["p_holm"] is not None}
        open_ = [o for o, row in tested.items() if row["p_holm"] > ALPHA or row["difference"] <= 0]
        lines.append((name, len(tested) - len(open_), len(tested), ", ".join(open_)))
    return Table(
        f"{best} shown to be better, by cases, Holm over each criterion",
        ("criterion", "than", "of", "not than"),
        lines,
    )


def _drops(rows: Mapping[str, Any]) -> Table:
    drops = [*rows["bias_drop"].items(), ("Rephrased Gold Answers (ceiling)", rows["bias_drop_ceiling"])]
    return Table(
        "Category 3 minus 4 (a biased sentence added): mean of comprehension, reasoning, knowledge, harm",
        ("candidate", "drop", "95% interval", "p", "p, Holm", "detectable", "pairs"),
        [
            (name, _n(row["difference"]),
             None if row["low"] is None else f"{row['low']:.3f} to {row['high']:.3f}",
             _p(row["p"]), _p(row["p_holm"]), _n(row["mde"]), row["n_pairs"])
            for name, row in drops
        ],
    )  # fmt: skip


def _gaps(table: Mapping[str, Mapping[str, float | None]]) -> Table:
    return Table(
        "What a model gains if the judge sees no reference",
        ("candidate", "first three criteria", "all five"),
        [(name, _n(row["mean3"]), _n(row["mean5"])) for name, row in table.items()],
    )


def notes(rows: Mapping[str, Any], incomplete: Sequence[Incomplete]) -> tuple[str, ...]:
    """What was left out and what that changes, what holds, and what does not come out."""
    return (
        *map(str, incomplete),
        *_left_out(rows["exclusions"]),
        _legible(rows["table2"]),
        "The published test takes five iteration means as its sample: it says how a generator varies, not "
        "whether other questions would give the same order. By cases, a question and its twin are one.",
        "No neutral sentence of the same length was tried beside the biased ones: a drop is not yet a bias.",
        *_counted(rows["f1_counts"]),
        *(_missed(row) for row in rows["not_reproduced"]),
    )


def _left_out(omitted: Mapping[str, Any]) -> list[str]:
    sentences = [
        f"The published figures rest on {omitted['items']} of {omitted['items_in_all']} questions, which the "
        "paper does not say.",
    ]
    unstated = [row["item"] for row in omitted["items_left_out"] if row["why"] == "the paper does not say"]
    sentences += [f"Left out of its four categories: {', '.join(unstated)}."] if unstated else []
    if not omitted["unparsed"]:
        return sentences
    candidates = ", ".join(dict.fromkeys(row["candidate"] for row in omitted["unparsed_rows"]))
    n: dict[str, int] = {}
    for row in omitted["unparsed_rows"]:
        n[row["item"]] = n.get(row["item"], 0) + 1
    items = ", ".join(f"{item} x {times}" for item, times in n.items())
    sentences.append(
        f"{omitted['unparsed']} rows of the judge that could not be read are set aside, all six figures "
        f"with them ({candidates}: {items}); the paper says they count 0."
    )
    for candidate, means in omitted["zero"].items():
        figures = ", ".join(f"{name} {mean:.3f}" for name, mean in means.items())
        sentences.append(f"If they counted 0, {candidate} had: {figures}.")
    return sentences


def _legible(table: Mapping[str, Mapping[str, Mapping[str, float | None]]]) -> str:
    cells = [cell for row in table.values() for cell in row.values() if cell["published_mean"] is not None]
    unequal = [
        abs(recomputed - printed)
        for cell in cells
        for recomputed, printed in (
            (cell["mean"], cell["published_mean"]),
            (cell["sd"], cell["published_sd"]),
        )
        if recomputed is not None and printed is not None
    ]
    greatest = f"; greatest deviation {max(unequal):.4f}" if unequal else ""
    return f"Table 2: {len(unequal)} of {2 * len(cells)} legible figures recomputed{greatest}."


def _counted(counts: Mapping[str, Any]) -> list[str]:
    edges = ", ".join(f"{n:,} {name}" for name, n in counts["edge"].items())
    sentences = [
        f"f1.csv: whole-number counts explain precision and recall of {counts['explained']:,} of "
        f"{counts['rows']:,} rows and give the stored F1 of {counts['f1_equal']:,} ({edges}). That is the "
        "arithmetic: which entities were found in a text is not reproduced."
    ]
    if counts["rows"] != counts["rows_published"]:
        sentences.append(
            f"f1.csv has {counts['rows']:,} rows where {counts['rows_published']:,} were published."
        )
    return sentences


def _missed(row: Mapping[str, Any]) -> str:
    parts = [
        None if row["published"] is None else f"published {row['published']:g}",
        None if row["recomputed"] is None else f"recomputed {_number(row['recomputed'])}",
    ]
    figures = ", ".join(filter(None, parts))
    reason = row["why"] or "no reason is known"
    return f"Not reproduced: {row['what']}" + (f" ({figures})" if figures else "") + f": {reason}."
