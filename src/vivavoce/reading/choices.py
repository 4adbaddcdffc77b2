"""What a response settles on, and how several such choices go together."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from vivavoce.reading.verdicts import JudgedMention, Verdict


class Choice(NamedTuple):
    """The options a response settles on (one, if it can be read) or why there is none.

    `silent` is true where no option was named at all, so that a refusal explains it.
    """

    names: tuple[int, ...] = ()
    reason: str | None = None
    silent: bool = False

    def agrees(self, choice: "Choice") -> bool:
        """True if both settle on the same options, or both on none for a reason."""
        return self.names == choice.names and bool(self.reason) == bool(choice.reason)


def never_rejected(judged: Sequence[JudgedMention], verdict: Verdict) -> list[JudgedMention]:
    """The mentions of this verdict whose options are turned down nowhere."""
    rejected = {name for s in judged if s.verdict == "rejected" for name in s.names}
    return [s for s in judged if s.verdict == verdict and not rejected.issuperset(s.names or (-1,))]


def distinct(choices: Iterable[Choice]) -> list[Choice]:
    """The choices that no earlier one agrees with."""
    kinds: list[Choice] = []
    for choice in choices:
        if not any(choice.agrees(kind) for kind in kinds):
            kinds.append(choice)
    return kinds
