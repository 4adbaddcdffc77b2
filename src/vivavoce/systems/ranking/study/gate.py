"""The suitability gate: do people agree on what a good argument of this task is?

Ranking over Scoring (COLING 2025, section 3.6 and RQ4): two people rank four sources on five items of a task,
and a low agreement says that the task is no measure of arguments. The paper draws its line by eye.
"""

import math
from collections.abc import Iterator
from typing import Literal

from vivavoce import stats
from vivavoce.core.errors import SelectionError
from vivavoce.core.numbers import printed
from vivavoce.studies.panels.rank_data import Board, ballot_ranks
from vivavoce.studies.text import count
from vivavoce.systems.ranking.study.rows import ArgumentsRow, run_row

Level = Literal["ordinal", "nominal", "interval"]
LEAST_CASES = 5
"""Cases that the published gate rests on: the jackknife of fewer says nothing."""
NO_THRESHOLD = "no verdict without a threshold, such as --threshold 0.6, fixed before the ranks are seen"
SUITABLE, NOT_SUITABLE, NOT_SHOWN = "suitable", "not_suitable", "not_shown"


def check_threshold(threshold: float | None) -> None:
    """Raise `SelectionError` for a threshold that alpha cannot reach, or cannot fall below."""
    if threshold is not None and not (math.isfinite(threshold) and 0 < threshold < 1):
        raise SelectionError(f"--threshold {threshold:g}: it is a value of alpha, between 0 and 1.")


def gate_row(board: Board, threshold: float | None, level: Level) -> ArgumentsRow:
    """Krippendorff's alpha of the ranks, its jackknife interval over cases, and the verdict.

    `suitable` where the whole interval lies above the threshold, `not_suitable` where it lies below, and
    `not_shown` where it holds it, or where there is none to be had.
    """
    ranks = ballot_ranks(board)
    counts = {
        "n": len(ranks.table),
        "n_items": len(ranks.units),
        "n_groups": len(set(ranks.groups.tolist())),
        "n_raters": len(board.raters),
    }
    if why := _no_alpha(board, len(ranks.units)):
        verdict = NOT_SHOWN if threshold is not None else None
        return _gate(board, level, threshold=threshold, verdict=verdict, reason=why, **counts)
    name: stats.AgreementCoefficient = f"alpha_{level}"  # type: ignore[assignment]
    alpha = stats.agreement_interval(name, ranks.table, ranks.table_groups, missing=ranks.missing)
    verdict, reason = _verdict(alpha, threshold)
    few = alpha.low is not None and counts["n_groups"] < LEAST_CASES
    ends = None if few else alpha.low, None if few else alpha.high
    if few:
        reason = f"{count(counts['n_groups'], 'case')} ranked by two people: the gate takes {LEAST_CASES}"
        verdict = NOT_SHOWN if threshold is not None else None
    return _gate(
        board,
        level,
        value=alpha.value,
        low=ends[0],
        high=ends[1],
        threshold=threshold,
        verdict=verdict,
        reason=reason,
        **counts,
    )


def _gate(board: Board, level: Level, **values: object) -> ArgumentsRow:
    return run_row(board.benchmark, "gate", f"alpha_{level}", against=board.panel, **values)


def _no_alpha(board: Board, n_items: int) -> str | None:
    """Why there is no agreement to be had; null where there is."""
    if len(board.raters) < 2:
        return "one rater: nobody to agree with"
    return None if n_items else "nothing was ranked by two raters"


def _verdict(alpha: stats.AgreementInterval, threshold: float | None) -> tuple[str | None, str | None]:
    """The verdict, and the reason where there is none or it cannot be told."""
    if alpha.value is None:
        return (NOT_SHOWN if threshold is not None else None), "the ranks do not vary"
    if alpha.low is None or alpha.high is None:
        reason = (
            "no interval: the raters agree entirely, or leave one case to carry all of it; rank more cases"
        )
        return (NOT_SHOWN if threshold is not None else None), reason
    if threshold is None:
        return None, NO_THRESHOLD
    if alpha.low > threshold:
        return SUITABLE, None
    return (NOT_SUITABLE if alpha.high < threshold else NOT_SHOWN), None


def gate_sentence(row: ArgumentsRow) -> str:
    """What the gate says of a task."""
    place = f"{row.against} on {row.benchmark}"
    basis = f"{count(row.n_items or 0, 'question')}, {count(row.n or 0, 'argument')}, {row.n_raters} raters"
    if row.value is None:
        return f"{place}: no agreement of people to go by: {row.reason}."
    ends = "" if row.low is None else f" ({printed(row.low)} to {printed(row.high)}, jackknife over cases)"
    alpha = row.figure.replace("_", " ")
    figure = f"{place} ({basis}): people agree on the order with {alpha} {printed(row.value)}{ends}"
    words = {
        SUITABLE: f"above {row.threshold}: the task is suitable to rank arguments by",
        NOT_SUITABLE: f"below {row.threshold}: the task is not suitable to rank arguments by",
        NOT_SHOWN: f"not shown to be above or below {row.threshold}",
    }
    if row.verdict is None:
        return f"{figure}; {row.reason}."
    reason = f" ({row.reason})" if row.reason else ""
    return f"{figure}; {words[row.verdict]}{reason}."


def gate_rows(boards: list[Board], threshold: float | None, level: Level) -> Iterator[ArgumentsRow]:
    """A row for each panel on each benchmark."""
    for board in boards:
        yield gate_row(board, threshold, level)
