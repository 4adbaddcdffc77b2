"""Reviews of items: the ladder of raters who call them correct, agreement, gold, and the raters themselves.

"A Benchmark for Open-Ended Healthcare Question Answering" (BSC 2025, appendix A.3, table 2) prints the shares
of items that at least one, two and all three evaluators call correct; its "interrater" is 3/3 plus none.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from vivavoce.core.records import Finding
from vivavoce.core.registry import study
from vivavoce.studies.intervals import Floats, by_coefficient, by_difference, by_mean
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.review.rows import ReviewRow
from vivavoce.studies.reviewed_items import ReviewedItem, Reviews, SecondReview, by_category
from vivavoce.studies.score_table import ScoreTable
from vivavoce.studies.study import Study
from vivavoce.studies.text import count

NO_REVIEWS = (
    "Nobody reviewed an item: `viva annotate RUN review` asks people, `viva import RUN FILE --ballots --task "
    "review` takes what they said elsewhere."
)
ALIKE = "all say the same: agreement beyond chance is undefined"


KINDER = NamingSentence(
    code="review.kinder",
    templates=("{rater} calls {direction} items correct than the others, by {least} to {most}.",),
    names=("rater",),
    family="each rater alone",
    correction="none",
    null="reviewers",
)
DRIFT = NamingSentence(
    code="review.drift",
    templates=("{rater} says correct {direction} often the second time, by {least} to {most}.",),
    names=("rater",),
    family="each rater alone",
    correction="none",
    null="reviewers",
)


@study("review")
class Review(Study):
    """What people say of the items of an exam."""

    about = "How many items people call correct, how far they agree, and what is held out by disputes."
    row = ReviewRow
    sentences = (KINDER, DRIFT)
    special = True
    needs = ("reviews",)

    def applies_to(self, scores: ScoreTable) -> bool:
        """Where anybody reviewed an item."""
        return scores.reviews is not None and bool(scores.reviews.items)

    def findings(self, scores: ScoreTable) -> Finding:
        """A row per category, one of all and one per rater for each benchmark; see `ReviewRow`.

        First passes alone count; a second pass says how steady a rater is. An item has the category that most
        of its reviews name, else its own.
        """
        reviews = scores.reviews or Reviews(())
        rows: list[ReviewRow] = []
        for benchmark in sorted({item.place[0] for item in reviews.items}):
            items = [item for item in reviews.items if item.place[0] == benchmark]
            parts = by_category(items)
            rows += [
                _ladder_row(part, reviews, about="category", benchmark=benchmark, category=category)
                for category, part in parts.items()
            ]
            rows.append(_ladder_row(items, reviews, about="all", benchmark=benchmark))
            rows += [_rater_row(rater, items, reviews, benchmark) for rater in _raters(items)]
        return self.finding(rows, "\n".join(_sentences(rows)) or NO_REVIEWS)


def _raters(items: Sequence[ReviewedItem]) -> list[str]:
    return sorted({rater for item in items for rater in (*item.correct, *item.relevance)})


def _share(
    name: str, start: str, values: Sequence[float], groups: Sequence[str], **limits: float
) -> dict[str, Any]:
    """A mean under its column, with its interval by case under `start`_low and `start`_high."""
    if not values:
        return {}
    # What was counted is shown from one item on; that it holds for other items, from ten cases on.
    ends = by_mean(
        np.array(values), np.array(groups), low=limits.get("low", 0.0), high=limits.get("high", 1.0)
    )
    mean = float(np.mean(values)) if ends.value is None else ends.value
    return {name: mean, f"{start}_low": ends.low, f"{start}_high": ends.high}


def _ladder_row(items: Sequence[ReviewedItem], reviews: Reviews, **place: Any) -> ReviewRow:
    """The row of these items."""
    two = [item for item in items if len(item.correct) >= 2]
    alike = [float(len(set(item.correct.values())) == 1) for item in two]
    return ReviewRow(
        **place,
        n=len(items),
        n_groups=len({item.group for item in items}),
        n_raters=len(_raters(items)),
        **_ladder([item for item in items if len(item.correct) >= 3]),
        n_two=len(two),
        **_share("all_agree", "agree", alike, [item.group for item in two]),
        **_alpha(two),
        **_relevance([item for item in items if item.relevance]),
        **_gold(items, reviews),
    )


def _ladder(three: Sequence[ReviewedItem]) -> dict[str, Any]:
    """How many of three raters call items correct, of items with so many raters."""
    groups = [item.group for item in three]
    columns: dict[str, Any] = {"n_three": len(three)}
    for k, word in ((1, "one"), (2, "two"), (3, "three")):
        columns |= _share(f"{word}_of_three", word, [item.at_least(k) for item in three], groups)
    return columns


def _relevance(items: Sequence[ReviewedItem]) -> dict[str, Any]:
    means = [float(np.mean(list(item.relevance.values()))) for item in items]
    return _share("relevance", "relevance", means, [item.group for item in items], low=1.0, high=5.0)


def _alpha(two: Sequence[ReviewedItem]) -> dict[str, Any]:
    """Krippendorff's alpha of items with two reviews or more, and why there is none."""
    if not two:
        return {"reason": "no item has two reviews: there is no agreement to measure"}
    values, missing = _table(two)
    estimate = by_coefficient(
        "alpha_nominal", values, np.array([item.group for item in two]), missing, undefined=ALIKE
    )
    return {"alpha": estimate.value, "low": estimate.low, "high": estimate.high, "reason": estimate.reason}


def _table(items: Sequence[ReviewedItem]) -> tuple[Floats, Any]:
    # Most raters saw only some of the items: what they did not see is missing, and no "no".
    raters = sorted({rater for item in items for rater in item.correct})
    values = np.array([[item.correct.get(rater, 0.0) for rater in raters] for item in items])
    missing = np.array([[rater not in item.correct for rater in raters] for item in items])
    return values, missing


def _gold(items: Sequence[ReviewedItem], reviews: Reviews) -> dict[str, Any]:
    """What is correct in the end, without what is in dispute."""
    # A dispute says that the key may be wrong: until it is settled no majority decides.
    open_items = [item for item in items if item.place not in reviews.disputed]
    verdicts = [reviews.adjudicated.get(item.place, item.majority) for item in open_items]
    gold = [verdict for verdict in verdicts if verdict is not None]
    return {
        "held_out": len(items) - len(open_items),
        "n_gold": len(gold),
        "gold": float(np.mean(gold)) if gold else None,
        "n_tied": len(verdicts) - len(gold),
    }


def _rater_row(rater: str, items: Sequence[ReviewedItem], reviews: Reviews, benchmark: str) -> ReviewRow:
    """How kind a rater is beside the others, and how steady."""
    judged = [item for item in items if rater in item.correct]
    again = [entry for entry in reviews.again if entry.rater == rater and entry.place[0] == benchmark]
    background = reviews.backgrounds.get(rater)
    columns = _kindness(rater, judged) | _steadiness(again) | (background._asdict() if background else {})
    return ReviewRow(
        about="rater",
        benchmark=benchmark,
        rater=rater,
        n=len(judged),
        n_groups=len({item.group for item in judged}),
        n_again=len(again),
        **columns,
    )


def _kindness(rater: str, judged: Sequence[ReviewedItem]) -> dict[str, Any]:
    """How often a rater says correct, and how much more often than the others on the same items."""
    if not judged:
        return {}
    shared = [item for item in judged if len(item.correct) > 1]
    # On the same items only: who was dealt easier ones is no kinder.
    gaps = [item.correct[rater] - _mean_of_others(item, rater) for item in shared]
    correct = float(np.mean([item.correct[rater] for item in judged]))
    return {
        "correct": correct,
        "n_two": len(shared),
        **_difference("kinder", gaps, [i.group for i in shared]),
    }


def _steadiness(again: Sequence[SecondReview]) -> dict[str, Any]:
    """What a rater changed on second sight, and in which direction."""
    if not again:
        return {}
    # Yes to no and no to yes both change, and only in the mean do they cancel.
    moves = [entry.second - entry.first for entry in again]
    drift = _difference("drift", moves, [entry.group for entry in again])
    drift.pop("reason", None)  # that of the first figure stands in the row
    return {"changed": float(np.mean([move != 0 for move in moves])), **drift}


def _difference(name: str, values: Sequence[float], groups: Sequence[str]) -> dict[str, Any]:
    """A mean difference with its interval by case, and why it has none; nothing without values."""
    if not values:
        return {}
    ends = by_difference(np.array(values), np.array(groups))
    mean = float(np.mean(values))
    return {name: mean, f"{name}_low": ends.low, f"{name}_high": ends.high, "reason": ends.reason}


def _mean_of_others(item: ReviewedItem, rater: str) -> float:
    return float(np.mean([value for who, value in item.correct.items() if who != rater]))


def _sentences(rows: Sequence[ReviewRow]) -> Iterator[str]:
    """A line per benchmark, and one per rater whose kindness or drift is shown."""
    for row in rows:
        if row.about == "all":
            yield " ".join(_line(row))
        elif row.about == "rater":
            kinder, drift = (row.kinder_low, row.kinder_high), (row.drift_low, row.drift_high)
            yield from _rater_line(row, "calls {} items correct than the others", ("more", "fewer"), kinder)
            yield from _rater_line(row, "says correct {} often the second time", ("more", "less"), drift)


def _rater_line(
    row: ReviewRow, words: str, directions: tuple[str, str], ends: tuple[float | None, float | None]
) -> Iterator[str]:
    """A sentence where the interval leaves 0 out."""
    low, high = ends
    if low is None or high is None or low <= 0 <= high:
        return
    least, most = sorted((abs(low), abs(high)))
    yield f"{row.rater} {words.format(directions[low < 0])}, by {least:.2f} to {most:.2f}."


def _line(row: ReviewRow) -> Iterator[str]:
    yield f"{row.benchmark}: {count(row.n, 'item')} reviewed by {count(row.n_raters, 'rater')}."
    if row.three_of_three is not None:
        yield (
            f"All of three call {row.three_of_three:.1%} correct{_ends(row.three_low, row.three_high)}, at "
            f"least two {row.two_of_three:.1%}, at least one {row.one_of_three:.1%}."
        )
    if row.all_agree is not None:
        yield f"All raters say the same of {row.all_agree:.1%}{_ends(row.agree_low, row.agree_high)}."
    if row.alpha is None:
        yield f"Alpha is not given: {row.reason}."
    else:
        ends = "" if row.low is None or row.high is None else f" ({row.low:.2f} to {row.high:.2f})"
        yield f"Alpha is {row.alpha:.2f}{ends}."
    if row.gold is not None:
        yield f"Gold: {row.gold:.1%} of {count(row.n_gold, 'item')} are correct; {row.n_tied} tied."
    if row.held_out:
        yield f"{count(row.held_out, 'item')} held out by open disputes."


def _ends(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f" ({low:.1%} to {high:.1%})"
