"""Whole losses that no question showed: how many may exist, and whether they would undo a difference."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from vivavoce import stats
from vivavoce.studies.comparing.headline import listed
from vivavoce.studies.comparing.paired import Compared, Differences, Incomparable
from vivavoce.studies.comparing.verdicts import BETTER, ComparisonRow
from vivavoce.studies.text import cases, count


def unseen_losses(compared: Compared) -> dict[str, Any]:
    """The columns with the shares of cases that A, and B, could have lost whole (95 %) though none was seen.

    Null where a loss over half the scale was seen, without two limits, and where no cases were sampled or
    scored one by one.
    """
    pair, data = compared.pair, compared.data
    if pair.width is None or pair.population == "fixed" or not isinstance(data, Differences):
        return {}
    d, effective = data.arrays("d").differences, compared.observed.effective_groups
    shares = stats.unseen_shares(d, effective, span=pair.width)
    return {"unseen_loss_a": shares.negative, "unseen_loss_b": shares.positive}


class _Unseen(NamedTuple):
    """On how many questions no whole loss was seen, how many percent may exist, and what they would do."""

    questions: str
    percent: str
    undo: bool


def notes_on_unseen_losses(
    pairs: Sequence[Compared | Incomparable], rows: Sequence[ComparisonRow]
) -> Iterator[str]:
    """The lines on graded differences in which the better candidate lost nothing over half the scale."""
    subjects: dict[_Unseen, list[str]] = {}
    for pair, row in zip(pairs, rows, strict=True):
        if isinstance(pair, Compared) and (unseen := _unseen(pair, row)) is not None:
            better, worse = (row.b, row.a) if row.favours == "b" else (row.a, row.b)
            subjects.setdefault(unseen, []).append(f"{better} against {worse} ({row.criterion})")
    for unseen, names in subjects.items():
        undo = f"would {'' if unseen.undo else 'not '}undo"
        yield (
            f"{listed(names)}: no whole loss was seen in {unseen.questions}; up to {unseen.percent} % may "
            f"exist (95 %), which {undo} {'this difference' if len(names) == 1 else 'these differences'}."
        )


def _unseen(compared: Compared, row: ComparisonRow) -> _Unseen | None:
    """What was not seen of the better candidate; null where nobody is, or scores are yes or no."""
    share = row.unseen_loss_b if row.favours == "b" else row.unseen_loss_a
    width = compared.pair.width
    if row.verdict_code not in BETTER or share is None or width is None or not _is_graded(compared, width):
        return None
    return _Unseen(
        questions=f"{count(row.n_items, 'question')} ({cases(row.n_groups, row.effective_cases)})",
        percent=f"{100 * share:.2g}",
        undo=(1 - share) * abs(row.difference or 0.0) <= share * width,
    )


def _is_graded(compared: Compared, width: float) -> bool:
    """Whether any question is won or lost by a part of the scale."""
    if not isinstance(compared.data, Differences):
        return False
    sizes = np.round(np.abs(compared.data.arrays("d").differences) / width, 9)
    return bool(((sizes > 0) & (sizes < 1)).any())
