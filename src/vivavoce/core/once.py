"""Each distinct input once: how a model below the metrics shares the passes of a call."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")
H = TypeVar("H", bound=Hashable)


class Once(Protocol):
    """What a function makes of each distinct input, as `ScoringContext.once_a_call` gives it."""

    def __call__(
        self, function: Callable[[Sequence[H]], Sequence[T]], inputs: Iterable[H], name: str
    ) -> dict[H, T]:
        """The results by input; `name` says which model they pass."""
        ...


def once_each(function: Callable[[Sequence[H]], Sequence[T]], inputs: Iterable[H], name: str) -> dict[H, T]:
    """What `function` makes of each distinct input, in one call."""
    distinct = list(dict.fromkeys(inputs))
    return dict(zip(distinct, function(distinct), strict=True)) if distinct else {}
