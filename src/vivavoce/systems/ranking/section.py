"""Arguments on the page: means, ranks, spread over training, sources and leaks, quoted examples."""

from collections.abc import Iterator, Mapping
from typing import Any

from vivavoce.core.registry import section
from vivavoce.report import charts
from vivavoce.report.charts.svg import Figure, figure
from vivavoce.report.data import Rows, by_board
from vivavoce.report.format import interval, number
from vivavoce.report.section import Quote, Section, SideBySide
from vivavoce.systems.ranking.study.ranks import ARGUMENTS, EVERYTHING
from vivavoce.systems.ranking.study.rows import KEEP
from vivavoce.systems.ranking.study.sentences import BESIDE
from vivavoce.systems.ranking.study.source_scores import family_label

MOST_EXAMPLES = 3
"""Questions whose arguments are quoted."""
SPREADS = {"between_mixtures": "sd between mixtures", "between_runs": "sd between runs"}
SPREAD = charts.Spreads(*SPREADS, *(name.replace("_", " ") for name in SPREADS))
RANKS = ("rank_of_mean", "mean_run_rank", "mean_instance_rank")


@section("arguments")
class ArgumentsSection(Section):
    """Which source writes the arguments that help most."""

    heading = "Arguments ranked by what they do for the task"
    methods = (
        "Sources of arguments were ranked by the mean score over items and training runs (with the ranks "
        "that paired tests leave open, Holm over all pairs), by the mean rank over runs and over items; "
        "cases were the blocks of Friedman's test. Standard deviations between mixtures and between runs "
        "are nested variance components."
    )
    order = 25

    def charts(self, rows: Rows) -> Iterator[Figure]:
        """By family: means with intervals, ranks, both standard deviations and mean ranks."""
        for board, on_board in by_board([row for row in rows if row["metric"]]).items():
            if board.criterion in BESIDE:
                continue
            title = f"{family_label(board.metric, board.criterion)} on {board.benchmark}"
            among = EVERYTHING if any(row["among"] == EVERYTHING for row in on_board) else ARGUMENTS
            sources = _sources(on_board, among)
            if not sources:
                continue
            yield figure(title, charts.forest(sources), "arguments", title)
            yield figure(title, charts.rank_ranges(sources), "argument-ranks", title)
            if _has_spread(sources):
                yield figure(title, charts.mean_spreads(sources, SPREAD), "argument-spreads", title)
            yield figure(title, charts.critical_difference(sources), "argument-mean-ranks", title)

    def table(self, rows: Rows) -> Rows:
        """Sources with their means, three ranks and both spreads; then leaked items."""
        means = [
            row for row in rows if (row["part"], row["figure"], row["leaked"]) == ("ranks", "mean", KEEP)
        ]
        with_floors = {_family(row) for row in means if row["among"] == EVERYTHING}
        widest = [row for row in means if row["among"] == EVERYTHING or _family(row) not in with_floors]
        return [*(_source_line(row, rows) for row in widest), *_item_lines(rows)]

    def side_by_side(self, rows: Rows) -> Iterator[SideBySide]:
        """The arguments for the items on which they differ most, each beside its edits."""
        for (benchmark, name), of_item in list(_examples(rows).items())[:MOST_EXAMPLES]:
            item, _, variant = name.partition("|")
            label = family_label(*(next(iter(of_item.values()))[k] for k in ("metric", "criterion")))
            quotes = (
                Quote(f"{candidate}: {number(row['value'])}", benchmark, item, variant, candidate)
                for candidate, row in sorted(of_item.items(), key=lambda entry: -(entry[1]["value"] or 0.0))
            )
            yield SideBySide(f"{name}, by {label}", tuple(quotes), edits=True)


def _has_spread(sources: Rows) -> bool:
    return any(line[name] is not None for line in sources for name in SPREADS)


def _examples(rows: Rows) -> dict[tuple[str, str], dict[str, Mapping[str, Any]]]:
    """By benchmark and item the row of each source, of the first family that has the item as an example."""
    by_item: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        if row["part"] == "examples" and row["item"] and row["criterion"] not in BESIDE:
            by_item.setdefault((row["benchmark"], row["item"]), {}).setdefault(row["candidate"], row)
    return by_item


def _source_line(mean: Mapping[str, Any], rows: Rows) -> dict[str, Any]:
    """A source by one family: its mean, its three ranks and both standard deviations."""
    of_source = [r for r in rows if _family(r) == _family(mean) and r["candidate"] == mean["candidate"]]
    ranks = {r["figure"]: r["value"] for r in of_source if _lineup(r) == _lineup(mean)}
    spread = {r["figure"]: r["value"] for r in of_source}
    return {
        "by": f"{family_label(mean['metric'], mean['criterion'])} on {mean['benchmark']}",
        "among": mean["among"],
        "source": mean["candidate"],
        "role": mean["role"],
        "item": None,
        "mean": mean["value"],
        "95 % interval": None if mean["low"] is None else interval(mean["low"], mean["high"]),
        **{name.replace("_", " "): ranks.get(name) for name in RANKS},
        **{words: spread.get(name) for name, words in SPREADS.items()},
        "note": mean["reason"],
    }


def _family(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("benchmark", "metric", "criterion", "rater"))


def _lineup(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["among"], row["leaked"]


def _sources(rows: Rows, board: str) -> list[dict[str, Any]]:
    """A line per source for the charts of estimates, ranks and mean ranks; the best first."""
    rows_by_source: dict[str, dict[str, Mapping[str, Any]]] = {}
    distance = None
    for row in (row for row in rows if _lineup(row) == (board, KEEP) or row["figure"] in SPREADS):
        if row["candidate"]:
            rows_by_source.setdefault(row["candidate"], {})[row["figure"]] = row
        elif row["figure"] == "critical_difference":
            distance = row["value"]
    lines = [_line(f, distance) for f in rows_by_source.values() if {"mean", "rank_of_mean"} <= f.keys()]
    return sorted(lines, key=lambda line: (line["rank"], line["candidate"]))


def _line(figures: Mapping[str, Mapping[str, Any]], distance: float | None) -> dict[str, Any]:
    mean, rank = figures["mean"], figures["rank_of_mean"]
    case_rank = figures.get("mean_case_rank")
    name = mean["candidate"]
    return {
        "candidate": name if mean["role"] == "candidate" else f"{name} ({mean['role']})",
        "value": mean["value"],
        "low": mean["low"],
        "high": mean["high"],
        "coefficient": "mean",
        "rank": rank["value"],
        "rank_low": None if rank["low"] is None else int(rank["low"]),
        "rank_high": None if rank["high"] is None else int(rank["high"]),
        "mean_rank": case_rank["value"] if case_rank else None,
        "critical_difference": distance,
        "reason": rank["reason"],
        **{name: figures[name]["value"] if name in figures else None for name in SPREADS},
    }


def _item_lines(rows: Rows) -> Iterator[dict[str, Any]]:
    """Leaked items with what leaks."""
    for row in rows:
        if row["part"] == "leaks" and row["item"]:
            yield {"by": row["benchmark"], "among": "leaked item", "item": row["item"], "note": row["text"]}
