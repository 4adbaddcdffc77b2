"""Which columns of a planned table hold scores of its answers: the file's own, and people's."""

import shlex
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import filterfalse
from typing import NamedTuple

from vivavoce.core.tables import Line, cell
from vivavoce.core.text import has_line_ends
from vivavoce.run.exchange.answer_scores import NO_SCORES, AnswerScores
from vivavoce.run.exchange.file_scores import (
    NONE,
    are_scores,
    is_key_name,
    names_scores,
    parsed_column,
    scale_of,
    score_value,
)
from vivavoce.run.exchange.import_plan import Plan
from vivavoce.run.exchange.rater_columns import (
    RaterColumn,
    named_columns,
    numbers_rater,
    rater_columns,
    scores_in,
)

_FEW = 20
"""Questions on which models may all be right, or all wrong, by chance."""


class Scored(NamedTuple):
    """A plan, and the file's scores of its answers that it takes."""

    plan: Plan
    scores: AnswerScores


def with_scores(
    plan: Plan,
    columns: Sequence[str],
    fields: Mapping[str, str],
    named: Sequence[str] | None,
    raters: Sequence[str] | None = None,
    *,
    n_options: int = 0,
) -> Scored:
    """The columns of the file's own scores and of people's, of `columns` that are no field of ours.

    `named` are those of the file that the user says, `raters` those of people. Columns whose name says so are
    taken, and those whose name may say so are asked about. One that says the same of all models of a question
    is none; `fields` gives the columns of our fields. The questions have up to `n_options`.
    """
    if not plan.source.free:
        return Scored(plan, NO_SCORES)
    free = list(filterfalse(has_line_ends, columns))
    people: Sequence[RaterColumn] = ()
    if raters is not None:
        people = named_columns(list(filter(NONE.__ne__, raters)), free)
    elif not (named and NONE in named):
        plan, people = _people(plan, free, fields, named or (), n_options)
    scored = {rater.column for rater in people}
    return _of_file(plan, list(filterfalse(scored.__contains__, free)), fields, named, people)


def _of_file(
    plan: Plan,
    columns: Sequence[str],
    fields: Mapping[str, str],
    named: Sequence[str] | None,
    people: Sequence[RaterColumn],
) -> Scored:
    """The scores of people, and of other columns those of the file."""
    if named and NONE in named:
        return Scored(plan, AnswerScores(raters=people))
    parsed = parsed_column(list(filterfalse(is_key_name, columns)), plan.values)
    if named is None:
        plan, named = _unnamed(*_without_constant(plan, columns, fields))
    return Scored(plan, AnswerScores(named, parsed, people))


def _people(
    plan: Plan, columns: Sequence[str], fields: Mapping[str, str], named: Sequence[str], n_options: int
) -> tuple[Plan, tuple[RaterColumn, ...]]:
    """The plan, and the columns of people's scores where nobody names them; `named` are the file's own."""
    columns = list(filterfalse(named.__contains__, columns))
    plan, free = _without_constant(plan, columns, fields, is_likely=numbers_rater)
    sure, likely = rater_columns(free, plan.values, n_options)
    likely = tuple(rater for rater in likely if rater.column not in (plan.scores or ()))
    scored = {rater.column for rater in (*sure, *likely)}
    for column in filter(numbers_rater, free):
        if column not in scored and plan.values(column):
            is_score = bool(scores_in(plan.values(column)))
            reason = "which may be no score" if is_score else "no number and no yes or no"
            advice = f": --raters {shlex.quote(column)} takes it" if is_score else ""
            plan = plan.noting(
                f"{column!r} holds {plan.example(column)!r}, {reason}: it came in as no person's "
                f"score{advice}."
            )
    return _asking_raters(plan, sure, likely), (*sure, *likely)


def _asking_raters(plan: Plan, sure: Sequence[RaterColumn], likely: Sequence[RaterColumn]) -> Plan:
    """The plan that asks whether the likely columns hold scores of people."""
    if not likely:
        return plan
    examples = ", ".join(f"{rater.column!r} ({plan.example(rater.column)})" for rater in likely[:5])
    more = f" and {len(likely) - 5} more" if len(likely) > 5 else ""
    names = ", ".join(dict.fromkeys(rater.rater for rater in likely))
    may_choose = any(numbers_rater(rater.column) for rater in likely)
    doubt = ", or numbers of the options that they chose" if may_choose else ""
    denial = shlex.quote(",".join(rater.column for rater in sure) or NONE)
    return plan.asking(
        f"Whether {examples}{more} are scores by several people ({names}){doubt}. Proposed: yes; "
        f"--raters {denial} says no.",
        ("--raters", ",".join(rater.column for rater in (*sure, *likely))),
    )


def _unnamed(plan: Plan, columns: Sequence[str]) -> tuple[Plan, list[str]]:
    """The plan, and the columns of scores where nobody names them."""
    fitting = [*(plan.scores or ()), *(column for column in columns if are_scores(plan.values(column)))]
    sure = list(dict.fromkeys([*(plan.scores or ()), *filter(names_scores, fitting)]))
    likely = [column for column in fitting if _may_score(plan, column) and column not in sure]
    unfitting = [column for column in columns if column not in fitting]
    return _asking(_noting_others(plan, unfitting), sure, likely), [*sure, *likely]


def _without_constant(
    plan: Plan,
    columns: Sequence[str],
    fields: Mapping[str, str],
    is_likely: Callable[[str], bool] = lambda column: names_scores(column) is not False,
) -> tuple[Plan, list[str]]:
    """The plan, and the columns but for those that say the same of all models of a question, with a note.

    Only those that are likely to hold scores by their names are looked at.
    """
    by_name = [column for column in columns if is_likely(column)]
    constant = _constant_columns(plan.source.lines, by_name, fields)
    free = [column for column in columns if column not in constant or column in (plan.scores or ())]
    return _noting_constant(plan, [column for column in constant if column not in free]), free


def _noting_constant(plan: Plan, columns: Sequence[str]) -> Plan:
    """The plan with a sentence on the columns of values from 0 to 1 that say nothing of answers."""
    shares = [column for column in columns if are_scores(plan.values(column))]
    if not shares:
        return plan
    option = "raters" if any(map(numbers_rater, shares)) else "criteria"
    verb, pronoun = ("says", "it") if len(shares) == 1 else ("say", "them")
    return plan.noting(
        f"{', '.join(map(repr, shares))} {verb} the same of all models of a question and came in as no "
        f"score of answers: --{option} {shlex.quote(','.join(shares))} takes {pronoun}."
    )


def _constant_columns(lines: Iterable[Line], columns: Sequence[str], fields: Mapping[str, str]) -> list[str]:
    """Of these columns those whose value differs between questions, and between no two models of one.

    None without two models for a question. Right and wrong alone may agree by chance: they count as constant
    on `_FEW` such questions or more.
    """
    of_question = [fields[name] for name in ("item", "variant", "question", "messages") if name in fields]
    if not columns or not of_question or "candidate" not in fields:
        return []
    models: dict[str, set[str]] = defaultdict(set)
    values = _by_question(lines, columns, of_question, fields["candidate"], models)
    shared = {question for question, names in models.items() if len(names) > 1}
    return [column for column, by_question in values.items() if _is_of_questions(by_question, shared)]


def _by_question(
    lines: Iterable[Line],
    columns: Sequence[str],
    of_question: Sequence[str],
    candidate: str,
    models: dict[str, set[str]],
) -> dict[str, dict[str, str]]:
    """The value of each question by column, of those that say one of each; `models` takes those of each."""
    values: dict[str, dict[str, str]] = {column: {} for column in columns}
    for line in lines:
        question = repr([_text(line, column) for column in of_question])
        models[question].add(_text(line, candidate))
        values = {
            name: earlier for name, earlier in values.items() if _agrees(earlier, question, _text(line, name))
        }
        if not values:
            break
    return values


def _agrees(values: dict[str, str], question: str, value: str) -> bool:
    """Whether a value is what the question had before, if it had one; it is kept."""
    return not value or values.setdefault(question, value) == value


def _is_of_questions(values: Mapping[str, str], shared: Collection[str]) -> bool:
    """Whether values by question that no model changes are enough to say so."""
    several = [value for question, value in values.items() if question in shared]
    is_graded = not all(_is_right_or_wrong(value) for value in several)
    return len(set(several)) > 1 and (is_graded or len(several) >= _FEW)


def _is_right_or_wrong(value: str) -> bool:
    try:
        return score_value(value) in (0, 1)
    except ValueError:
        return False


def _text(line: Line, column: str) -> str:
    try:
        content = cell(line.row, column)
    except KeyError:
        return ""
    return "" if content is None else str(content).strip()


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
