"""What a checker is: claims go in, and a verdict on each comes out, with the passages it rests on.

A checker with a model makes requests and reads the replies; whoever scores asks the model. A checker without
one gives its verdicts itself.
"""

from abc import ABC
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

from vivavoce.core.evidence import Evidence
from vivavoce.core.once import Once, once_each
from vivavoce.core.specs import Spec
from vivavoce.facts.fact import Answer, Fact, Verdict
from vivavoce.models.requests import Request

NO_PASSAGE = Verdict("unverifiable", "no passage of the source bears on it")


class Neighbours(NamedTuple):
    """The units of the same answer right before and after one, in their order."""

    preceding: tuple[str, ...] = ()
    following: tuple[str, ...] = ()


class Claim(NamedTuple):
    """A statement to check, the passages to check it against, and the units around it that are to be shown.

    Without passages (null) no evidence is asked for. With an empty tuple it was asked for, and there is none.
    """

    text: str
    passages: tuple[Evidence, ...] | None = None
    neighbours: Neighbours = Neighbours()


class CheckCall(NamedTuple):
    """One request of a checker's model; `reader` gives a verdict for each of the `claims`, in their order.

    `reader` raises nothing: a reply that is no verdict is the verdict `bad`, with evidence `unverifiable`.
    """

    claims: tuple[Claim, ...]
    request: Request
    reader: Callable[[str], tuple[Verdict, ...]]


class Checker(ABC):
    """A checker of facts, made of a spec by `checker_of`; it holds settings, never results.

    `model` is asked with what `calls` gives, under any purpose. Without a model `verdicts` answers. `files`
    belong to the signature of a number that rests on it, `packages` run it, each with its extra. One that
    `takes_passages` not is given claims without any. `neighbours` is how many units before and after a claim
    it is shown.
    """

    spec: Spec
    model: str | Spec | None = None
    files: tuple[Path, ...] = ()
    packages: ClassVar[Mapping[str, str]] = {}
    takes_passages: ClassVar[bool] = True
    neighbours: int = 0

    @property
    def name(self) -> str:
        """The canonical spec: the rater of every number that rests on it."""
        return str(self.spec)

    def prepare(self, *, passages: bool) -> None:  # noqa: B027 - most need nothing
        """Load what it needs. Raises `InputError` or `MetricError` where it cannot check.

        `passages` says whether claims come with passages.
        """

    def immediate_verdict(self, claim: Claim) -> Verdict | None:
        """The verdict on a claim that nobody needs to be asked about; null where somebody does."""
        return NO_PASSAGE if claim.passages == () else None

    def calls(self, claims: Iterable[Claim]) -> tuple[CheckCall, ...]:
        """The calls that check these claims, each distinct one once; none with an immediate verdict."""
        return ()

    def verdicts(
        self, answer: Answer, facts: Sequence[Fact], claims: Sequence[Claim], once: Once = once_each
    ) -> tuple[Verdict | None, ...]:
        """The verdict on each fact of an answer, with its claim; null where none is recorded.

        For checkers without a model. `once` is `context.once_a_call` of whoever scores.
        """
        raise NotImplementedError(f"{self.name} asks a model: see calls")
