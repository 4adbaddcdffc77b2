"""Which columns of a planned table hold the file's own scores of its answers."""

import shlex
from collections.abc import Sequence
from itertools import filterfalse
from typing import NamedTuple

from vivavoce.core.text import has_line_ends
from vivavoce.run.exchange.file_scores import (
    NO_SCORES,
    NONE,
    FileScores,
    are_scores,
    is_key_name,
    names_scores,
    parsed_column,
    scale_of,
)
from vivavoce.run.exchange.import_plan import Plan


class Scored(NamedTuple):
    """A plan, and the file's scores of its answers that it takes."""

    plan: Plan
    scores: FileScores


def with_scores(plan: Plan, columns: Sequence[str], named: Sequence[str] | None) -> Scored:
    """The columns of the file's own scores, of `columns` that are no field of ours; `named` are those said.

    Those whose name says so are taken, and those whose name may say so are asked about.
    """
    if not plan.source.free or list(named or ()) == [NONE]:
        return Scored(plan, NO_SCORES)
    free = [column for column in columns if not has_line_ends(column)]
    parsed = parsed_column(list(filterfalse(is_key_name, free)), plan.values)
    if named is None:
        plan, named = _unnamed(plan, free)
    return Scored(plan, FileScores(named, parsed))


def _unnamed(plan: Plan, columns: Sequence[str]) -> tuple[Plan, list[str]]:
    """The plan, and the columns of scores where nobody names them."""
    fitting = [*(plan.scores or ()), *(column for column in columns if are_scores(plan.values(column)))]
    sure = list(dict.fromkeys([*(plan.scores or ()), *filter(names_scores, fitting)]))
    likely = [column for column in fitting if _may_score(plan, column) and column not in sure]
    unfitting = [column for column in columns if column not in fitting]
    return _asking(_noting_others(plan, unfitting), sure, likely), [*sure, *likely]


def _may_score(plan: Plan, column: str) -> bool:
    """Whether a column may hold scores by its name, and its values differ."""
    return names_scores(column) is None and len(set(plan.values(column))) > 1


def _noting_others(plan: Plan, columns: Sequence[str]) -> Plan:
    """The plan with a sentence on each column of scores on another scale."""
    for column in filter(names_scores, columns):
        scale = scale_of(plan.values(column))
        if scale and not is_key_name(column):
            plan = plan.noting(
                f"{column!r} holds {scale[0]:g} to {scale[1]:g}, and scores of 0 to 1 alone come in beside "
                f"answers: --scores --measure NAME --criteria {shlex.quote(column)} imports it."
            )
    return plan


def _asking(plan: Plan, sure: Sequence[str], likely: Sequence[str]) -> Plan:
    """The plan that asks whether the likely columns hold scores too."""
    if not likely:
        return plan
    examples = ", ".join(f"{column!r} ({plan.example(column)})" for column in likely)
    sentence = (
        f"Whether {examples} {'is a score' if len(likely) == 1 else 'are scores'} that the file gives to "
    )
    sentence += f"its answers. Proposed: yes; --criteria {','.join(sure) or NONE} says no."
    return plan.asking(sentence, ("--criteria", ",".join([*sure, *likely])))
