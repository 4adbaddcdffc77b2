"""Reviews of items: the ladder of raters who call them correct, agreement, gold, and the raters themselves.

"A Benchmark for Open-Ended Healthcare Question Answering" (BSC 2025, appendix A.3, table 2) prints the shares
of items that at least one, two and all three evaluators call correct; its "interrater" is 3/3 plus none.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from vivavoce import stats
from vivavoce.core.numbers import printed
from vivavoce.core.records import Finding
from vivavoce.core.registry import study
from vivavoce.studies.bounded import ends_text, interval_text
from vivavoce.studies.intervals import FamilyEstimate, Floats, by_coefficient, by_differences, by_mean
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.review.review_row import ReviewRow
from vivavoce.studies.reviewed_items import Notes, ReviewedItem, Reviews, items_by
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
        """Rows by category, format and question, one of all and one per rater, of each benchmark and task.

        See `ReviewRow`.

        First passes alone count; a second pass says how steady a rater is. An item has the category that most
        of its reviews name, else its own.
        """
        reviews = scores.reviews or Reviews(())
        rows: list[ReviewRow] = []
        exams = _exams(reviews.items)
        corrected = _rater_rows(exams, reviews)
        for exam, items in exams.items():
            rows += _ladder_rows(items, reviews, exam)
            rows += [row for row in corrected if (row.benchmark, row.task) == exam]
        return self.finding(rows, "\n".join(_sentences(rows)) or NO_REVIEWS)


_Exam = tuple[str, str]
"""A benchmark, and the task in which its items were reviewed."""


def _exams(items: Sequence[ReviewedItem]) -> dict[_Exam, list[ReviewedItem]]:
    """The items of each benchmark in each task, by their names."""
    exams: dict[_Exam, list[ReviewedItem]] = {}
    for item in items:
        exams.setdefault((item.place[0], item.task), []).append(item)
    return dict(sorted(exams.items()))


def _raters(items: Sequence[ReviewedItem]) -> list[str]:
    return sorted({rater for item in items for rater in item.raters})


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


def _ladder_rows(items: Sequence[ReviewedItem], reviews: Reviews, exam: _Exam) -> Iterator[ReviewRow]:
    """The rows of the categories and formats of a benchmark, of all its items, and of further questions."""
    place: dict[str, Any] = {"benchmark": exam[0], "task": exam[1]}
    for category, part in items_by(items, "category").items():
        yield _ladder_row(part, reviews, about="category", category=category, **place)
    formats = items_by(items, "format")
    for name, part in formats.items() if len(formats) > 1 else ():
        yield _ladder_row(part, reviews, about="format", format=name, **place)
    yield _ladder_row(items, reviews, about="all", **place)
    for question in sorted({name for item in items for name in item.further}):
        answered = [
            item._replace(correct=item.further[question], relevance={}, further={})
            for item in items
            if question in item.further
        ]
        yield ReviewRow(about="question", question=question, **place, **_agreement(answered))


def _ladder_row(items: Sequence[ReviewedItem], reviews: Reviews, **place: Any) -> ReviewRow:
    """The row of these items."""
    return ReviewRow(
        **place,
        **_agreement(items),
        **_relevance([item for item in items if item.relevance]),
        **_table_1(items, reviews),
        **_gold(items, reviews),
    )


def _agreement(items: Sequence[ReviewedItem]) -> dict[str, Any]:
    """How many raters say yes of how many items, and how far they agree."""
    two = [item for item in items if len(item.correct) >= 2]
    three = [item for item in two if len(item.correct) >= 3]
    return {
        "n": len(items),
        "n_groups": len({item.group for item in items}),
        "n_raters": len(_raters(items)),
        **_ladder(three),
        "n_two": len(two),
        # One denominator: three agree on 3/3 plus none of the same items that the ladder counts.
        **_all_agree(three or two),
        **_alpha(two),
    }


def _all_agree(items: Sequence[ReviewedItem]) -> dict[str, Any]:
    """How often three raters say the same, or two where that is all there are."""
    return _share("all_agree", "agree", [item.alike for item in items], [item.group for item in items])


def _table_1(items: Sequence[ReviewedItem], reviews: Reviews) -> dict[str, Any]:
    """Items by relevance and number of reviews, and what was written of them."""
    relevant = [(item, min(item.relevance.values()) == _MOST) for item in items if item.relevance]
    two = [high for item, high in relevant if len(item.raters) >= 2]
    notes = [reviews.notes.get((item.place, item.task), Notes()) for item in items]
    high = [high for _, high in relevant]
    return {
        "n_high": sum(high),
        "n_low": len(high) - sum(high),
        "n_high_two": sum(two),
        "n_low_two": len(two) - sum(two),
        "twice": sum(len(item.raters) >= 2 for item in items) / len(items),
        "n_comments": sum(note.comments for note in notes),
        "n_disputes": sum(note.disputes for note in notes),
    }


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
        return {"reason": "no item was judged by two raters: there is no agreement to measure"}
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
    open_items = [item for item in items if item.task not in reviews.disputed.get(item.place, ())]
    # Without a judgement there is nothing to be tied, such as where people say how relevant an item is alone.
    verdicts = [
        reviews.adjudicated.get(item.place, item.majority)
        for item in open_items
        if item.correct or item.place in reviews.adjudicated
    ]
    gold = [verdict for verdict in verdicts if verdict is not None]
    return {
        "held_out": len(items) - len(open_items),
        "n_gold": len(gold),
        "gold": stats.exact_mean(gold) if gold else None,
        "n_tied": len(verdicts) - len(gold),
    }


_MOST = 5.0
"""The relevance of an item that is highly relevant."""
_Differences = tuple[Any, Any]
"""Differences, and the case of each."""


class _Rater(NamedTuple):
    """The row of a rater without what is tested, and the differences that are."""

    row: ReviewRow
    kinder: _Differences
    drift: _Differences
    p: float
    """That so many items are called correct, were this rater like the others of each item."""


def _rater(rater: str, items: Sequence[ReviewedItem], reviews: Reviews, exam: _Exam) -> _Rater:
    """How often a rater says correct, beside the others and beside a second look of their own."""
    judged = [item for item in items if rater in item.correct]
    moves, cases_moved = _moves(rater, reviews, exam)
    # On the same items only: who was dealt easier ones is no kinder.
    shared = [item for item in judged if len(item.correct) > 1]
    gaps = np.array([item.correct[rater] - _mean_of_others(item, rater) for item in shared])
    row = ReviewRow(
        about="rater",
        benchmark=exam[0],
        task=exam[1],
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


def _moves(rater: str, reviews: Reviews, exam: _Exam) -> _Differences:
    """What a rater changed on second sight, and in which direction."""
    again = [entry for entry in reviews.again if (entry.rater, entry.place[0], entry.task) == (rater, *exam)]
    # Yes to no and no to yes both change, and only in the mean do they cancel.
    moves = np.array([entry.second - entry.first for entry in again])
    return moves, np.array([entry.group for entry in again])


def _exact_p(rater: str, shared: Sequence[ReviewedItem]) -> float:
    """The p of how often a rater says correct, were they like the others of each item."""
    # Gaps are skewed where most items are correct, and t among many raters is then too bold.
    chances = [stats.exact_mean(list(item.correct.values())) for item in shared]
    return stats.events_test(round(sum(item.correct[rater] for item in shared)), chances)


def _rater_rows(exams: Mapping[_Exam, Sequence[ReviewedItem]], reviews: Reviews) -> list[ReviewRow]:
    """The rows of the raters of all benchmarks and tasks, each kind of difference corrected over all."""
    raters = [
        _rater(rater, items, reviews, exam) for exam, items in exams.items() for rater in _raters(items)
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
    task = "" if row.task == "review" else f" ({row.task})"
    yield f"{row.benchmark}{task}: {count(row.n, 'item')} reviewed by {count(row.n_raters, 'rater')}."
    if row.three_of_three is not None:
        yield (
            f"All of three call {printed(row.three_of_three, '.1%')} of {count(row.n_three, 'item')} correct"
            f"{ends_text(row.three_low, row.three_high, '.1%')}, at "
            f"least two {printed(row.two_of_three, '.1%')}, at least one {printed(row.one_of_three, '.1%')}."
        )
    if row.all_agree is not None:
        yield _agree_all(row, row.all_agree)
    if row.alpha is None:
        yield f"Alpha is not given: {row.reason}."
    else:
        yield f"Alpha is {printed(row.alpha)}{interval_text(row)}."
    if row.gold is not None:
        gold = f"{printed(row.gold, '.1%')} of {count(row.n_gold, 'item')}"
        yield f"Gold: {gold} are correct; {row.n_tied} tied."
    if row.n_comments or row.n_disputes:
        yield f"Raters wrote {count(row.n_comments, 'note')} and {count(row.n_disputes, 'dispute')}."
    if row.held_out:
        yield f"{count(row.held_out, 'item')} held out by open disputes."


def _agree_all(row: ReviewRow, share: float) -> str:
    """On which share of which items all say the same, and how many items of two raters are not among them."""
    ends = ends_text(row.agree_low, row.agree_high, ".1%")
    subject, n = ("Three say", row.n_three) if row.n_three else ("Both raters say", row.n_two)
    more = f"; {count(row.n_two - n, 'item')} of two raters not among them" if row.n_two > n else ""
    return f"{subject} the same of {printed(share, '.1%')} of {count(n, 'item')}{ends}{more}."
