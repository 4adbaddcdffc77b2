"""Confusion: which labels are taken for which, and the precision, recall and F1 of each.

Counts of answers come from the `parts` of criteria pooled as macro F1, such as those of `label_f1`.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import scipy

from vivavoce import stats
from vivavoce.core.numbers import printed
from vivavoce.core.records import Finding, Measure
from vivavoce.core.registry import study
from vivavoce.studies.bounded import Bounded, interval_text
from vivavoce.studies.intervals import by_holm, in_cases
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.pooling import SILENT, Counts, counts, label_of
from vivavoce.studies.score_matrix import row_labels
from vivavoce.studies.score_table import ScoreTable, weights_of, with_results
from vivavoce.studies.study import MeasureRow, Study, measure_columns
from vivavoce.studies.text import count, few_cases


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfusionRow(MeasureRow):
    """A label of one candidate: what was answered where it is keyed, and how well it is found."""

    candidate: str
    label: str
    n_keyed: int
    n_chosen: int
    answers: Mapping[str, int]
    n_silent: int
    precision: float | None
    recall: float | None
    f1: float | None
    low: float | None
    high: float | None
    below_others: float | None
    p: float | None
    p_adjusted: float | None = None
    n_groups: int
    effective_cases: float
    reason: str | None

    @property
    def is_weaker(self) -> bool:
        """Whether the label is shown weaker than the others."""
        return self.p_adjusted is not None and self.p_adjusted <= stats.ALPHA


WEAKEST = NamingSentence(
    code="confusion.weakest",
    templates=("{measure} on {benchmark}: {candidate} is weakest on {label}, F1 {f1}.",),
    names=("candidate", "label", "metric"),
    family="all labels and candidates of the call",
    correction="Holm",
    null="labels",
)
NONE_WEAKER = NamingSentence(
    code="confusion.none",
    templates=("{measure} on {benchmark}: no label of {candidate} is shown weaker than the others{most}.",),
    names=("candidate", "label", "metric"),
    counts="that no test shows a weakest label, and which mistake is most frequent",
)


@study("confusion")
class Confusion(Study):
    """Confusion tables of labels."""

    about = "Which labels are taken for which, with precision, recall and F1 of each label."
    row = ConfusionRow
    sentences = (WEAKEST, NONE_WEAKER)
    special = True

    def applies_to(self, scores: ScoreTable) -> bool:
        """Whether a criterion is pooled over labels."""
        return any(m.criterion.pool == "macro_f1" for m in scores.measures.values())

    def findings(self, scores: ScoreTable) -> Finding:
        """A row per candidate and label that is keyed or given, labels in the order of the alphabet.

        `answers` counts the answers to questions whose key is the label, by what they say: one row of the
        confusion table. `n_silent` of the `n_keyed` said nothing that can be read; `n_chosen` is how often
        the label was answered, whatever the key. Precision, recall and F1 weigh questions alike, however
        often each was answered; `low` and `high` are the 95% interval of F1, by case. `below_others` is the
        mean F1 of the candidate's other labels less that of this one, with one-sided p by leaving cases out
        and `p_adjusted` by Holm over the labels of all candidates. Answers whose score failed are in no cell.
        """
        rows, notes = list[ConfusionRow](), list[str]()
        for key, measure in scores.measures.items():
            if measure.criterion.pool == "macro_f1":
                for (benchmark,), part in scores.scores.filter(
                    (pl.col("measure_id") == key) & (pl.col("edit") == "")
                ).group_by("benchmark", maintain_order=True):
                    rows += _rows(str(benchmark), measure, with_results(part), notes)
        rows = by_holm(rows)
        text = "\n".join(_sentences(rows, scores))
        return self.finding(rows, text or "No metric scored labels: `viva score RUN label_f1` does.", notes)


class _Cells(NamedTuple):
    """Answers of one candidate by the label keyed and the one given; `silent` by the label keyed."""

    answers: Counter[tuple[str, str]]
    silent: Counter[str]


def _rows(benchmark: str, measure: Measure, part: pl.DataFrame, notes: list[str]) -> Iterator[ConfusionRow]:
    counted = counts(part, measure.criterion)
    if counted.items is None:
        notes.append(f"{measure.metric} on {benchmark}: {counted.reason}.")
        return
    by_candidate = part.partition_by("candidate", as_dict=True)
    for (candidate,), items in sorted(
        counted.items.group_by("candidate"), key=lambda group: str(group[0][0])
    ):
        cells = _cells(by_candidate[candidate,])
        gaps = _label_gaps(counted, items)
        for label, fractions in _fractions(counted, items):
            ratios = [
                stats.ratio(
                    *fraction, groups=items["group"].to_numpy(), weights=weights_of(items), low=0, high=1
                )
                for fraction in fractions
            ]
            answers = {name: n for (keyed, name), n in sorted(cells.answers.items()) if keyed == label}
            yield ConfusionRow(
                benchmark=benchmark,
                **measure_columns(measure),
                candidate=str(candidate),
                label=label,
                n_keyed=sum(answers.values()) + cells.silent[label],
                n_chosen=sum(n for (_, name), n in cells.answers.items() if name == label),
                answers=answers,
                n_silent=cells.silent[label],
                precision=ratios[1].value,
                recall=ratios[2].value,
                **Bounded.from_figure(ratios[0]).columns("f1"),
                **gaps[label]._asdict(),
                n_groups=ratios[0].n_groups,
                effective_cases=ratios[0].df + 1,
                reason=in_cases(ratios[0].reason),
            )


class _Gap(NamedTuple):
    """How far the F1 of a label lies below the mean of the others; null where too few cases tell."""

    below_others: float | None = None
    p: float | None = None


def _label_gaps(counted: Counts, items: pl.DataFrame) -> dict[str, _Gap]:
    """Of each label, by the jackknife over cases, of all labels that are keyed or given."""
    table = counted.of(items)
    n = table.shape[1] // 3
    met = [k for k in range(n) if table[:, [k, n + k, 2 * n + k]].any()]
    columns = [k + part * n for part in range(3) for k in met]
    groups = items["group"].to_numpy()
    gaps = {label_of(counted.names[k]) or "": _Gap() for k in met}
    if len(met) < 2:
        return gaps
    for place, k in enumerate(met):
        figure = stats.pooled(table[:, columns], groups, partial(_gap, place), weights=weights_of(items))
        gaps[label_of(counted.names[k]) or ""] = _tested(figure)
    return gaps


def _tested(figure: stats.Pooled) -> _Gap:
    """The gap with its one-sided p; no p under 10 effective cases."""
    if figure.value is None or not figure.se or not stats.enough_groups(figure.df + 1):
        return _Gap(figure.value)
    p = float(scipy.special.stdtr(figure.df, -figure.value / figure.se))
    return _Gap(figure.value, p)


def _gap(place: int, sums: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Mean F1 of the other labels less that of this one, for each row of sums; NaN where one has none."""
    tp, fp, fn = np.split(sums, 3, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        f1 = 2 * tp / (2 * tp + fp + fn)
        return np.asarray(np.delete(f1, place, axis=1).mean(axis=1) - f1[:, place])


def _fractions(counted: Counts, items: pl.DataFrame) -> Iterator[tuple[str, list[tuple[Any, Any]]]]:
    """By label numerators and denominators of F1, precision and recall, a row per item."""
    table = counted.of(items)
    n = table.shape[1] // 3
    for k in range(n):
        tp, fp, fn = table[:, k], table[:, n + k], table[:, 2 * n + k]
        # Labels are those of all candidates, and this one may have met none of a kind.
        if (tp + fp + fn).any():
            label = label_of(counted.names[k]) or ""
            yield label, [(2 * tp, 2 * tp + fp + fn), (tp, tp + fp), (tp, tp + fn)]


def _cells(rows: pl.DataFrame) -> _Cells:
    """The answers counted by key and answer, passes of one answer as one."""
    cells = _Cells(Counter(), Counter())
    # A rule gives every pass the same counts: further ones are no further answers.
    marks = rows.filter(pl.col("pass_no") == pl.col("pass_no").min())
    for parts, status, n in marks.group_by("parts", "status").len().iter_rows():
        labels: dict[str, str] = {name[:2]: label_of(name) or "" for name in json.loads(parts or "{}")}
        keyed = labels.get("tp", labels.get("fn"))
        if keyed is None:
            continue
        if status in SILENT:
            cells.silent[keyed] += n
        else:
            cells.answers[keyed, labels.get("tp", labels.get("fp", ""))] += n
    return cells


def _sentences(rows: Sequence[ConfusionRow], scores: ScoreTable) -> Iterator[str]:
    names = row_labels(scores.measures)
    boards: dict[tuple[Any, ...], list[ConfusionRow]] = {}
    for row in rows:
        place = row.benchmark, row.metric, row.criterion, row.rater, row.candidate
        boards.setdefault(place, []).append(row)
    for (benchmark, *measure, candidate), board in boards.items():
        lowest = min(board, key=lambda row: (row.f1 or 0.0, row.label))
        if lowest.f1 == 1:
            yield f"{names[tuple(measure)]} on {benchmark}: {candidate} takes no label for another."
            continue
        subject = f"{names[tuple(measure)]} on {benchmark}"
        line = f"{subject}: no label of {candidate} is shown weaker than the others"
        if lowest.is_weaker:
            line = (
                f"{subject}: {candidate} is weakest on {lowest.label!r}, F1 {printed(lowest.f1, '.3f')}"
                f"{interval_text(lowest, '.3f')}{few_cases(lowest.effective_cases)}"
            )
        wrong = [
            (n, row, answer) for row in board for answer, n in row.answers.items() if answer != row.label
        ]
        if wrong:
            # Ties by name, so that the order of the rows changes no sentence.
            n, row, answer = max(wrong, key=lambda cell: (cell[0], cell[1].label, cell[2]))
            line += (
                f"; most often {row.label!r} is taken for {answer!r}, in {n:,} of "
                f"{count(row.n_keyed, 'answer')}"
            )
        yield f"{line}."
