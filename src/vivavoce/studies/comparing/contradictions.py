"""Where an additional comparison says otherwise than all pairs together: one sentence names both."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from vivavoce.studies.comparing.headline import Row
from vivavoce.studies.comparing.verdicts import BETTER

_BOARD = ("benchmark", "metric", "criterion", "rater")


def contradictions(family: Sequence[Row], additional: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The sentence on the first of these findings that says otherwise than the family's rows; at most one."""
    return islice(filter(None, (contradiction(family, finding["rows"]) for finding in additional)), 1)


def contradiction(family: Sequence[Row], additional: Sequence[Row]) -> str | None:
    """The first pair of which an additional comparison says otherwise than the family, in one sentence.

    Null where both say the same of who is better. A pair that one of them does not have is no contradiction.
    """
    winners = {_key(row): _winner(row) for row in family}
    for row in additional:
        winner, of_family = _winner(row), winners.get(_key(row), _winner(row))
        if winner != of_family:
            additional_claim, family_claim = _claim(winner, row), _claim(of_family, row)
            sides = f"An additional comparison {additional_claim}, all pairs together {family_claim}."
            return f"{sides} The headline rests on all pairs."
    return None


def _key(row: Row) -> tuple[Any, ...]:
    return (*(row[name] or "" for name in _BOARD), frozenset((row["a"], row["b"])))


def _winner(row: Row) -> str | None:
    return row[row["favours"]] if row["verdict_code"] in BETTER and row["favours"] else None


def _claim(winner: str | None, row: Row) -> str:
    """What a comparison found of a pair."""
    if winner is None:
        return f"did not separate {row['a']} and {row['b']}"
    return f"found {winner} better than {row['b'] if winner == row['a'] else row['a']}"
