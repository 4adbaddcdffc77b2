"""Six questions on which the winner of the first verdict does worse than the candidate it beat.

The rule is fixed, so that nobody picks what convinces: the largest difference first, then the name of the
question. Without a winner they are those on which the two best differ most.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from vivavoce.core.records import Measure
from vivavoce.core.text import is_blank, one_line
from vivavoce.report.data import Board, Rows
from vivavoce.report.explorer import item_name, key_with_labels
from vivavoce.studies.answers import Answers
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.primary import Primary
from vivavoce.studies.row_parts import select_rows
from vivavoce.studies.score_table import ITEM_KEY, counted_value
from vivavoce.studies.text import count

MOST_EXAMPLES = 6
LONGEST_QUESTION, LONGEST_KEY, LONGEST_ANSWER = 260, 160, 260
DECIDED = ("better", "better_by_margin")


class Pair(NamedTuple):
    """The two candidates that examples are about; `first` is the `winner` where a verdict names one."""

    first: str
    second: str
    winner: bool


class Examples(NamedTuple):
    """The examples with the rule that chose them; `reason` says why there are none."""

    pair: Pair | None
    rule: str
    rows: Sequence[Mapping[str, Any]]
    reason: str | None = None


def leading_pair(scored: Rows, comparisons: Rows) -> Pair | None:
    """The two best candidates: of the verdicts between them and others, the one nearest to the top.

    `scored` are the rows of the primary criterion, the best first; `comparisons` those of pairs on it. The
    winner is whom a verdict calls better than the best of those it beat. Null with fewer than two candidates.
    """
    names = [row["candidate"] for row in scored if row["role"] == "candidate" and row["estimate"] is not None]
    place = {name: n for n, name in enumerate(names)}
    won = _unbeaten([pair for pair in _won(comparisons) if place.keys() >= set(pair)])
    if won:
        winner, loser = min(won, key=lambda pair: (place[pair[0]], place[pair[1]]))
        return Pair(winner, loser, winner=True)
    return Pair(names[0], names[1], winner=False) if len(names) > 1 else None


def _won(comparisons: Rows) -> list[tuple[str, str]]:
    """The winner and the loser of each verdict that names one."""
    ends = {"a": ("a", "b"), "b": ("b", "a")}
    decided = [row for row in comparisons if row["verdict_code"] in DECIDED and row["favours"] in ends]
    return [(row[ends[row["favours"]][0]], row[ends[row["favours"]][1]]) for row in decided]


def _unbeaten(won: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pairs whose winner loses none: with every winner beaten, no one is shown to be best."""
    beaten = {loser for _, loser in won}
    return [pair for pair in won if pair[0] not in beaten]


def examples(
    items: pl.DataFrame,
    answers: Answers,
    scores: pl.DataFrame,
    measures: Mapping[int, Measure],
    primary: Primary | None,
    pair: Pair | None,
) -> Examples:
    """Up to six questions, each with its key, both answers and both scores by the primary criterion.

    A score is the mean over the repeats of an answer, of which the first is shown.
    """
    if pair is None or primary is None:
        return Examples(pair, "", (), "There are no two candidates with scores to set side by side.")
    key = measure_of(scores, measures, primary)
    if key is None:
        return Examples(pair, "", (), f"{primary.label} has no score of each answer.")
    criterion = measures[key].criterion
    of_pair = (pl.col("measure_id") == key) & pl.col("candidate").is_in(pair[:2])
    by_item = _by_item(scores.filter(of_pair), measures[key], primary.benchmark)
    first, second = (by_item.filter(candidate=name).drop("candidate") for name in pair[:2])
    paired = first.join(second, on=ITEM_KEY, suffix="_second")
    sign = 1 if criterion.direction == "higher" else -1
    paired = paired.with_columns(loss=sign * (pl.col("value_second") - pl.col("value")))
    if not pair.winner:
        paired = paired.with_columns(pl.col("loss").abs())
    chosen = paired.filter(pl.col("loss") > 1e-9).sort(
        pl.col("loss").round(9), *ITEM_KEY[1:], descending=[True, False, False]
    )
    rule = _rule(pair, chosen.height, paired.height)
    if not chosen.height:
        return Examples(pair, rule, (), _none(pair, paired.height))
    first_items = chosen.head(MOST_EXAMPLES)
    texts = _texts(answers, first_items.select(ITEM_KEY), pair)
    with_texts = first_items.join(items, on=ITEM_KEY, how="left", maintain_order="left")
    rows = [_example(row, pair, texts) for row in with_texts.iter_rows(named=True)]
    return Examples(pair, rule, rows)


def measure_of(scores: pl.DataFrame, measures: Mapping[int, Measure], primary: Primary | None) -> int | None:
    """The measure of the primary criterion with a score of each answer; of several versions that with most.

    Null where the primary criterion has none, such as a pooled figure or a mean over groups.
    """
    if primary is None:
        return None
    place = Board(primary.benchmark, primary.metric, primary.criterion, primary.rater)
    fitting = [
        key
        for key, m in measures.items()
        if (m.metric, m.criterion.criterion, m.rater) == place[1:] and m.criterion.pool == "mean"
    ]
    on_benchmark = select_rows(scores, pl.col("benchmark") == primary.benchmark)
    sizes = dict(on_benchmark["measure_id"].value_counts().iter_rows())
    return max(fitting, key=lambda key: sizes.get(key, 0), default=None)


def _by_item(scores: pl.DataFrame, measure: Measure, benchmark: str) -> pl.DataFrame:
    """The mean score of each candidate and item, with its worst status and the number of repeats."""
    value = counted_value(measure.criterion)
    return (
        scores.filter((pl.col("benchmark") == benchmark) & (pl.col("edit") == ""))
        .group_by(*ITEM_KEY, "candidate")
        .agg(
            value=exact_mean(value),
            status=pl.col("status").sort_by(pl.col("status") == "ok").first(),
            repeats=pl.col("repeat").n_unique(),
        )
        .filter(pl.col("value").is_not_null())
    )


def _texts(answers: Answers, items: pl.DataFrame, pair: Pair) -> dict[tuple[str, ...], str | None]:
    """The text of the first repeat by item and candidate."""
    to_items = answers(*ITEM_KEY, "candidate", "repeat", "final", edited=False, items=items)
    of_pair = to_items.filter(pl.col("candidate").is_in(pair[:2]))
    first = of_pair.sort("repeat").unique([*ITEM_KEY, "candidate"], keep="first")
    return {tuple(row[:-1]): row[-1] for row in first.select(*ITEM_KEY, "candidate", "final").iter_rows()}


def _example(
    row: Mapping[str, Any], pair: Pair, texts: Mapping[tuple[str, ...], str | None]
) -> dict[str, Any]:
    item = tuple(row[name] for name in ITEM_KEY)
    sides = [
        {
            "candidate": name,
            "score": row[f"value{end}"],
            "status": row[f"status{end}"],
            "repeats": row[f"repeats{end}"],
            **_cut("text", texts.get((*item, name)), LONGEST_ANSWER),
        }
        for name, end in ((pair.first, ""), (pair.second, "_second"))
    ]
    key = "; ".join(row["references"] or key_with_labels(row))
    return {
        **{name: row[name] for name in ITEM_KEY},
        "name": item_name(row),
        "category": row["category"],
        "difference": row["loss"],
        **_cut("question", row["question"], LONGEST_QUESTION),
        **_cut("key", key or None, LONGEST_KEY),
        "sides": sides,
    }


def _cut(name: str, text: str | None, length: int) -> dict[str, Any]:
    """The text on one line, cut, and whether it was; null where it is blank."""
    if text is None or is_blank(text):
        return {name: None, f"{name}_cut": False}
    flat = " ".join(text.split())
    return {name: one_line(flat, length), f"{name}_cut": len(flat) > length}


def _rule(pair: Pair, n: int, n_both: int) -> str:
    order = "the largest difference first, then by name"
    of_all = f"of {count(n_both, 'question')} that both have scores on"
    if pair.winner:
        return f"{pair.first} scores lower than {pair.second} on {n:,} {of_all}: {order}."
    return f"No verdict names a winner. {pair.first} and {pair.second} differ on {n:,} {of_all}: {order}."


def _none(pair: Pair, n_both: int) -> str:
    if not n_both:
        return f"{pair.first} and {pair.second} have no question with scores of both."
    verb = "scores lower than" if pair.winner else "differs from"
    return (
        f"{pair.first} {verb} {pair.second} on none of {count(n_both, 'question')} that both have scores on."
    )


def example_rows(result: Examples) -> list[dict[str, Any]]:
    """The examples as rows, a candidate each."""
    shared = ("benchmark", "item", "variant", "category", "question", "key", "difference")
    return [{**{name: row[name] for name in shared}, **side} for row in result.rows for side in row["sides"]]
