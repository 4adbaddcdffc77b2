"""Levels of groups: by which one errors are, and for what figures hold where the outer groups are few.

Errors by groups of an outermost level, such as exams, hold for other exams too. Fewer than six exams cannot
show how exams differ: errors are then by the next level, and figures hold for these exams alone.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.core.text import one_line

LEAST_CASES = 6
"""Cases that a level must have: no exact test of fewer comes to 5 %."""


class GroupLevel(NamedTuple):
    """The level of groups that makes the cases of a benchmark with several levels.

    `level` counts from 0, the outermost, of `levels`; `name` is null where levels have no names. `n_outer` is
    how many groups the next outer level has where they are too few, and `outer_name` its name; else null.
    """

    level: int
    levels: int
    name: str | None = None
    outer_name: str | None = None
    n_outer: int | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """The level and the groups that are too few, as columns of a row."""
        return {
            "group_level": self.name or f"level {self.level + 1} of {self.levels}",
            "outer_level": None if self.n_outer is None else self.outer_name or "outer group",
            "n_outer": self.n_outer,
        }


def level_with_enough(count_at: Callable[[int], tuple[int, int]], names: Sequence[str | None]) -> GroupLevel:
    """The outermost level with `LEAST_CASES` cases, else the innermost.

    `count_at` counts the cases and the groups of a level: groups that share a question are one case.
    """
    outer: tuple[str | None, int | None] = (None, None)
    for level, name in enumerate(names[:-1]):
        n_cases, n_groups = count_at(level)
        if n_cases >= LEAST_CASES:
            return GroupLevel(level, len(names), name, *outer)
        outer = name, n_groups
    return GroupLevel(len(names) - 1, len(names), names[-1], *outer)


def scope_text(*, outer_level: str | None = None, n_outer: int | None = None, **_: object) -> str:
    """For which outer groups figures hold; '' where their errors are by the outermost level."""
    if outer_level is None or n_outer is None:
        return ""
    several = plural(outer_level)
    groups = f"this {singular(outer_level)}" if n_outer == 1 else f"these {n_outer} {several}"
    return f"Holds for {groups}, not for other {several}."


def scope_reason(group_level: str, outer_level: str, n_outer: int) -> str:
    """Why errors are by an inner level."""
    several = plural(outer_level)
    few = f"fewer than {LEAST_CASES} {several}"
    if n_outer >= LEAST_CASES:
        few = f"{n_outer} {several} share questions, so that they count as fewer than {LEAST_CASES}, which"
    return f"Errors are by {singular(group_level)}: {few} cannot show how {several} differ."


def level_text(*, group_level: str | None = None, outer_level: str | None = None, **facts: Any) -> str:
    """By which level of groups errors are, and for what figures hold; '' where groups have one level."""
    if group_level is None:
        return ""
    if outer_level is None:
        return f"Errors are by {singular(group_level)}, the outermost level of groups."
    reason = scope_reason(group_level, outer_level, facts["n_outer"])
    return f"{reason} {scope_text(outer_level=outer_level, **facts)}"


def scope_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """For each benchmark whose figures hold for its own outer groups alone, why and for which."""
    for row in rows:
        if row["about"] == "questions" and row["outer_level"] is not None:
            yield f"{one_line(row['benchmark'], 40)}: {level_text(**row)}"


def scope_of_all(scopes: Iterable[str | None]) -> str:
    """The scope that figures share; '' where none is narrow, a general sentence where only some are."""
    several = set(scopes)
    if len(several) == 1:
        return several.pop() or ""
    return "Some results hold for the groups of this run alone." if several - {None, ""} else ""


def singular(name: str) -> str:
    """What a level is called in a sentence: 'exam_id' gives 'exam'."""
    return name.replace("_", " ").strip().removesuffix(" id") or name


def plural(name: str) -> str:
    """Several of what a level is called: 'exam_id' gives 'exams'."""
    word = singular(name)
    if re.search("[^aeiou]y$", word):
        return f"{word[:-1]}ies"
    return word if word.endswith("s") else f"{word}s"
