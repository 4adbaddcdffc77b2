"""What labels are for: two candidates' comparison or one's score, as judge and people see it by case."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vivavoce.core.errors import InputError
from vivavoce.core.records import Criterion, ItemKey
from vivavoce.store.candidate_names import match_candidate
from vivavoce.store.label_draws import LabelDraw
from vivavoce.studies.score_table import ScoreTable, resolve

Floats = NDArray[np.float64]
FORMS = '"compare A B" or "score A"'


class Goal(NamedTuple):
    """`text` as the user wrote it, and the sign with which each candidate's score enters its figure."""

    text: str
    signs: Mapping[str, float]

    @classmethod
    def parse(cls, text: str, candidates: Sequence[str]) -> "Goal":
        """The goal that a text names. Raises `InputError` for one of no known form, or of two readings."""
        verb, _, names = text.strip().partition(" ")
        words = names.split()
        if verb == "score" and words:
            return cls(text, {match_candidate(" ".join(words), candidates): 1.0})
        if verb == "compare" and len(words) > 1:
            pairs = _pairs(words, candidates)
            if len(pairs) > 1:
                raise InputError(f"--for {text!r} can be read in two ways: rename a candidate on import.")
            for first, second in pairs:
                if first == second:
                    raise InputError(f"--for {text!r} compares {first} with itself: name two candidates.")
                return cls(text, {first: 1.0, second: -1.0})
        raise InputError(f"--for takes {FORMS} with candidates of this run, not {text!r}.")

    def values(self, rows: pl.DataFrame, criterion: Criterion) -> dict[ItemKey, float]:
        """The goal's figure of each item for which every candidate has a value."""
        figures: dict[ItemKey, dict[str, float]] = {}
        for row in resolve(rows, criterion).iter_rows(named=True):
            if row["observed"] is not None and row["candidate"] in self.signs:
                item = (row["benchmark"], row["item"], row["variant"])
                figures.setdefault(item, {})[row["candidate"]] = row["observed"]
        return {
            item: sum(self.signs[candidate] * value for candidate, value in values.items())
            for item, values in figures.items()
            if len(values) == len(self.signs)
        }


def _pairs(words: Sequence[str], candidates: Sequence[str]) -> list[tuple[str, str]]:
    """The pairs of candidates that words can name: labels may have blanks, so every way to part is tried."""
    parts = [(" ".join(words[:n]), " ".join(words[n:])) for n in range(1, len(words))]
    if len(parts) > 1:
        folded = {name.casefold() for name in candidates}
        parts = [part for part in parts if {name.casefold() for name in part} <= folded]
    return [(match_candidate(a, candidates), match_candidate(b, candidates)) for a, b in parts]


class Frame(NamedTuple):
    """The cases that can be drawn, each with its items, in the order of these, and their draws so far.

    `earlier` is each case's total probability, 0 where it took part in no draw; `free` says which were not
    drawn yet.
    """

    cases: tuple[str, ...]
    items: tuple[tuple[ItemKey, ...], ...]
    earlier: Floats
    free: NDArray[np.bool_]

    @classmethod
    def of_cases(
        cls, places: Iterable[ItemKey], cases: Mapping[ItemKey, str], earlier: LabelDraw | None
    ) -> "Frame":
        """The frame of the cases of these items."""
        members: dict[str, list[ItemKey]] = {}
        for place in sorted(places):
            members.setdefault(cases[place], []).append(place)
        draw = earlier or LabelDraw("", {}, frozenset(), "")
        return cls(
            tuple(members),
            tuple(map(tuple, members.values())),
            np.array([max(draw.probabilities.get(i, 0.0) for i in items) for items in members.values()]),
            np.array([draw.items.isdisjoint(items) for items in members.values()], dtype=bool),
        )

    @property
    def case_of(self) -> dict[ItemKey, int]:
        """The position of each item's case."""
        return {item: n for n, items in enumerate(self.items) for item in items}

    def n_cases(self, n: int) -> int:
        """How many free cases hold about `n` questions, at least one."""
        n_free = int(self.free.sum())
        n_items = sum(len(items) for items, free in zip(self.items, self.free, strict=True) if free)
        return min(max(1, round(n * n_free / n_items)), n_free)


class GoalFigures(NamedTuple):
    """The figures of a goal by one criterion, of cases in a given order.

    `judged` are sums over the `sizes` items of each case, `spread` their variance between the judge's passes;
    `labels` are people's sums of the cases at `labelled`.
    """

    criterion: Criterion
    judged: Floats
    sizes: Floats
    spread: Floats | None
    labels: Floats
    labelled: NDArray[np.intp]


def goal_figures(goal: Goal, judge: ScoreTable, people: ScoreTable | None, frame: Frame) -> list[GoalFigures]:
    """The figures of a goal on the cases of a frame, by every criterion of the judge.

    A case that the judge did not score counts as one on which it sees what it sees in the median item.
    People's labels of a case count if they cover all its items that the judge scored.
    """
    figures = []
    for key, measure in judge.measures.items():
        rows = judge.scores.filter(pl.col("measure_id") == key)
        if of_item := _in_frame(goal.values(rows, measure.criterion), frame):
            figures.append(_figures(goal, measure.criterion, rows, of_item, people, frame))
    return figures


def _figures(
    goal: Goal,
    criterion: Criterion,
    rows: pl.DataFrame,
    of_item: Mapping[ItemKey, float],
    people: ScoreTable | None,
    frame: Frame,
) -> GoalFigures:
    judged, counts = _sums(of_item, frame)
    unknown = counts == 0
    items = np.array([len(items) for items in frame.items], dtype=float)
    sizes = np.where(unknown, items, counts)
    judged = np.where(unknown, float(np.median(list(of_item.values()))) * items, judged)
    passes = [
        _sums(_in_frame(goal.values(part, criterion), frame), frame).sums
        for _, part in sorted(rows.group_by("pass_no"))
    ]
    spread = np.var(passes, axis=0, ddof=1) if len(passes) > 1 else None
    labels, n_labels = _sums(_of_people(goal, people, criterion.criterion, of_item), frame)
    positions = np.flatnonzero((n_labels == sizes) & ~unknown)
    return GoalFigures(criterion, judged, sizes, spread, labels[positions], positions)


def _in_frame(values: Mapping[ItemKey, float], frame: Frame) -> dict[ItemKey, float]:
    case_of = frame.case_of
    return {item: value for item, value in values.items() if item in case_of}


def _of_people(
    goal: Goal, people: ScoreTable | None, criterion: str, items: Iterable[ItemKey]
) -> dict[ItemKey, float]:
    """People's figure of each item by a criterion, the mean over raters."""
    measures = people.measures if people else {}
    keys = [key for key, measure in measures.items() if measure.criterion.criterion == criterion]
    if not people or not keys:
        return {}
    rows = people.scores.filter(pl.col("measure_id").is_in(keys) & (pl.col("ballot") == ""))
    values = goal.values(rows, measures[keys[0]].criterion)
    return {item: values[item] for item in items if item in values}


class _Sums(NamedTuple):
    """By case the sum of values, and how many they are."""

    sums: Floats
    counts: Floats


def _sums(values: Mapping[ItemKey, float], frame: Frame) -> _Sums:
    case_of = frame.case_of
    positions = np.array([case_of[item] for item in values], dtype=int)
    n = len(frame.cases)
    sums = np.bincount(positions, weights=np.array(list(values.values()), dtype=float), minlength=n)
    return _Sums(np.asarray(sums, dtype=np.float64), np.bincount(positions, minlength=n).astype(float))
