"""Reviews of items: the ladder of raters who call them correct, agreement, gold, and the raters themselves.

"A Benchmark for Open-Ended Healthcare Question Answering" (BSC 2025, appendix A.3, table 2) prints the shares
of items that at least one, two and all three evaluators call correct; its "interrater" is 3/3 plus none.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from vivavoce import stats
from vivavoce.core.numbers import printed
from vivavoce.core.records import Finding
from vivavoce.core.registry import study
from vivavoce.studies.bounded import ends_text, interval_text
from vivavoce.studies.intervals import FamilyEstimate, Floats, by_coefficient, by_differences, by_mean
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.reviewed_items import ReviewedItem, Reviews, by_category
from vivavoce.studies.score_table import ScoreTable
from vivavoce.studies.study import Study
from vivavoce.studies.text import count


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRow:
    """Reviews of one benchmark, `about` a category, all, or one rater; null where nothing can be said.

    `n` items were reviewed, `n_three` of them by three raters or more. `one_of_three`, `two_of_three` and
    `three_of_three` are the shares of these that at least one, two and three raters call correct; with m > 3
    raters the chance that of three drawn among them. `all_agree` is the share of the `n_two` items with two
    reviews or more on which all raters say the same: with three raters 3/3 plus none, which is published as
    "interrater". Each has an interval of 95 % by case, null below 10 cases. `alpha` is Krippendorff's
    (nominal) of `correct`, with its jackknife interval `low` to `high` by case, null below 10 cases and where
    nobody differs. `relevance` is the mean of the items' means, 1 to 5.

    `held_out` items have an open dispute. Of the others `gold` is the share that is correct: as adjudicated,
    else as most raters say; `n_tied` items without a majority have none.

    Of a rater, `correct` is the share of their `n` items that they call correct, and `kinder` how much more
    often than the mean of the others on the same items. Of `n_again` items that they judged a second time
    they changed the share `changed`; `drift` is how much more often they said correct then. `…_low` to
    `…_high` are their 95 % intervals for a rater alone; `…_low_family` to `…_high_family` hold for all raters
    of the call together (Bonferroni), and `…_p` is by Holm over them: who is named has .05 at most.
    `profession`, `years` of experience, `paid` and `author` (of items of the run) are what the rater says of
    themselves.
    """

    about: Literal["category", "all", "rater"]
    benchmark: str
    category: str | None = None
    rater: str | None = None
    n: int = 0
    n_groups: int = 0
    n_raters: int = 0
    n_three: int = 0
    one_of_three: float | None = None
    one_low: float | None = None
    one_high: float | None = None
    two_of_three: float | None = None
    two_low: float | None = None
    two_high: float | None = None
    three_of_three: float | None = None
    three_low: float | None = None
    three_high: float | None = None
    n_two: int = 0
    all_agree: float | None = None
    agree_low: float | None = None
    agree_high: float | None = None
    alpha: float | None = None
    low: float | None = None
    high: float | None = None
    relevance: float | None = None
    relevance_low: float | None = None
    relevance_high: float | None = None
    held_out: int = 0
    n_gold: int = 0
    gold: float | None = None
    n_tied: int = 0
    correct: float | None = None
    kinder: float | None = None
    kinder_low: float | None = None
    kinder_high: float | None = None
    kinder_low_family: float | None = None
    kinder_high_family: float | None = None
    kinder_p: float | None = None
    n_again: int = 0
    changed: float | None = None
    drift: float | None = None
    drift_low: float | None = None
    drift_high: float | None = None
    drift_low_family: float | None = None
    drift_high_family: float | None = None
    drift_p: float | None = None
    profession: str | None = None
    years: float | None = None
    paid: bool | None = None
    author: bool | None = None
    reason: str | None = None


NO_REVIEWS = (
    "Nobody reviewed an item: `viva annotate RUN review` asks people, `viva import RUN FILE --ballots --task "
    "review` takes what they said elsewhere."
)
ALIKE = "all say the same: agreement beyond chance is undefined"


KINDER = NamingSentence(
    code="review.kinder",
    templates=("{rater} calls {direction} items correct than the others{basis}.",),
    names=("rater",),
    family="all raters and benchmarks of the call",
    correction="Holm",
    null="reviewers",
)
DRIFT = NamingSentence(
    code="review.drift",
    templates=("{rater} says correct {direction} often the second time{basis}.",),
    names=("rater",),
    family="all raters and benchmarks of the call",
    correction="Holm",
    null="second looks",
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
        names = sorted({item.place[0] for item in reviews.items})
        by_name = {name: [item for item in reviews.items if item.place[0] == name] for name in names}
        corrected = _rater_rows(by_name, reviews)
        for benchmark, items in by_name.items():
            rows += _ladder_rows(items, reviews, benchmark)
            rows += [row for row in corrected if row.benchmark == benchmark]
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
    mean = stats.exact_mean(values) if ends.value is None else ends.value
    return {name: mean, f"{start}_low": ends.low, f"{start}_high": ends.high}


def _ladder_rows(items: Sequence[ReviewedItem], reviews: Reviews, benchmark: str) -> Iterator[ReviewRow]:
    """The rows of the categories of a benchmark, and of all its items."""
    for category, part in by_category(items).items():
        yield _ladder_row(part, reviews, about="category", benchmark=benchmark, category=category)
    yield _ladder_row(items, reviews, about="all", benchmark=benchmark)


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
    means = [stats.exact_mean(list(item.relevance.values())) for item in items]
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
        "gold": stats.exact_mean(gold) if gold else None,
        "n_tied": len(verdicts) - len(gold),
    }


_Differences = tuple[Any, Any]
"""Differences, and the case of each."""


class _Rater(NamedTuple):
    """The row of a rater without what is tested, and the differences that are."""

    row: ReviewRow
    kinder: _Differences
    drift: _Differences
    p: float
    """That so many items are called correct, were this rater like the others of each item."""


def _rater(rater: str, items: Sequence[ReviewedItem], reviews: Reviews, benchmark: str) -> _Rater:
    """How often a rater says correct, beside the others and beside a second look of their own."""
    judged = [item for item in items if rater in item.correct]
    moves, cases_moved = _moves(rater, reviews, benchmark)
    # On the same items only: who was dealt easier ones is no kinder.
    shared = [item for item in judged if len(item.correct) > 1]
    gaps = np.array([item.correct[rater] - _mean_of_others(item, rater) for item in shared])
    row = ReviewRow(
        about="rater",
        benchmark=benchmark,
        rater=rater,
        n=len(judged),
        n_groups=len({item.group for item in judged}),
        n_two=len(shared),
        correct=_mean([item.correct[rater] for item in judged]),
        n_again=len(moves),
        changed=_mean(moves != 0),
        **(reviews.backgrounds[rater]._asdict() if rater in reviews.backgrounds else {}),
    )
    kinder = gaps, np.array([item.group for item in shared])
    return _Rater(row, kinder, (moves, cases_moved), _exact_p(rater, shared))


def _moves(rater: str, reviews: Reviews, benchmark: str) -> _Differences:
    """What a rater changed on second sight, and in which direction."""
    again = [entry for entry in reviews.again if entry.rater == rater and entry.place[0] == benchmark]
    # Yes to no and no to yes both change, and only in the mean do they cancel.
    moves = np.array([entry.second - entry.first for entry in again])
    return moves, np.array([entry.group for entry in again])


def _exact_p(rater: str, shared: Sequence[ReviewedItem]) -> float:
    """The p of how often a rater says correct, were they like the others of each item."""
    # Gaps are skewed where most items are correct, and t among many raters is then too bold.
    chances = [stats.exact_mean(list(item.correct.values())) for item in shared]
    return stats.events_test(round(sum(item.correct[rater] for item in shared)), chances)


def _rater_rows(by_name: Mapping[str, Sequence[ReviewedItem]], reviews: Reviews) -> list[ReviewRow]:
    """The rows of the raters of all benchmarks, each kind of difference corrected over all of them."""
    raters = [
        _rater(rater, items, reviews, benchmark)
        for benchmark, items in by_name.items()
        for rater in _raters(items)
    ]
    kinder = by_differences([rater.kinder for rater in raters], [rater.p for rater in raters])
    drifts = by_differences([rater.drift for rater in raters])
    return [
        replace(
            rater.row,
            **_columns("kinder", rater.kinder, of_kinder),
            **_columns("drift", rater.drift, of_drift),
            # That of the first figure stands in the row.
            reason=of_kinder.estimate.reason if len(rater.kinder[0]) else None,
        )
        for rater, of_kinder, of_drift in zip(raters, kinder, drifts, strict=True)
    ]


def _columns(name: str, tested: _Differences, figure: FamilyEstimate) -> dict[str, Any]:
    """A mean difference under its column, from one difference on; its intervals and p from ten cases on."""
    return {
        name: _mean(tested[0]),
        f"{name}_low": figure.estimate.low,
        f"{name}_high": figure.estimate.high,
        f"{name}_low_family": figure.low,
        f"{name}_high_family": figure.high,
        f"{name}_p": figure.p,
    }


def _mean(values: Any) -> float | None:
    return stats.exact_mean(values) if len(values) else None


def _mean_of_others(item: ReviewedItem, rater: str) -> float:
    return stats.exact_mean([value for who, value in item.correct.items() if who != rater])


def _sentences(rows: Sequence[ReviewRow]) -> Iterator[str]:
    """A line per benchmark, and one per rater whose kindness or drift is shown."""
    for row in rows:
        if row.about == "all":
            yield " ".join(_line(row))
        elif row.about == "rater":
            yield from _rater_line(row, "kinder", KINDER, ("more", "fewer"))
            yield from _rater_line(row, "drift", DRIFT, ("more", "less"))


def _rater_line(
    row: ReviewRow, name: str, sentence: NamingSentence, directions: tuple[str, str]
) -> Iterator[str]:
    """A sentence where p and the interval for all raters show a difference.

    The two weigh items with unlike numbers of raters unlike: where the interval holds 0 neither is named.
    """
    p, value = getattr(row, f"{name}_p"), getattr(row, name)
    low, high = getattr(row, f"{name}_low_family"), getattr(row, f"{name}_high_family")
    if p is None or p > stats.ALPHA or not value:
        return
    basis = f" (p = {p:.2g})"
    if low is not None and high is not None:
        if low <= 0 <= high:
            return
        least, most = sorted((abs(low), abs(high)))
        basis = f", by {printed(least)} to {printed(most)}"
    yield sentence.text(rater=row.rater, direction=directions[value < 0], basis=basis)


def _line(row: ReviewRow) -> Iterator[str]:
    yield f"{row.benchmark}: {count(row.n, 'item')} reviewed by {count(row.n_raters, 'rater')}."
    if row.three_of_three is not None:
        yield (
            f"All of three call {printed(row.three_of_three, '.1%')} correct"
            f"{ends_text(row.three_low, row.three_high, '.1%')}, at "
            f"least two {printed(row.two_of_three, '.1%')}, at least one {printed(row.one_of_three, '.1%')}."
        )
    if row.all_agree is not None:
        ends = ends_text(row.agree_low, row.agree_high, ".1%")
        yield f"All raters say the same of {printed(row.all_agree, '.1%')}{ends}."
    if row.alpha is None:
        yield f"Alpha is not given: {row.reason}."
    else:
        yield f"Alpha is {printed(row.alpha)}{interval_text(row)}."
    if row.gold is not None:
        gold = f"{printed(row.gold, '.1%')} of {count(row.n_gold, 'item')}"
        yield f"Gold: {gold} are correct; {row.n_tied} tied."
    if row.held_out:
        yield f"{count(row.held_out, 'item')} held out by open disputes."
