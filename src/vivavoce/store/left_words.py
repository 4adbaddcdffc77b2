"""Whether a text holds words of other texts: four in a row, eight signs of Chinese, or a rare one."""

import re
from collections.abc import Iterable, Iterator, Sequence

_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
SHORTEST = 12
"""Characters of a text of fewer than four words that is looked for as a whole."""
RARE = 9
"""Characters of a single word that is looked for where no other question of the run has it."""
_SIZES = (1, 2, 3, 4, 8)


class LeftWords:
    """Texts in which words of forgotten ones are looked for.

    `texts` are held, so that the forgotten ones can be any number, and pass one by one.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._runs: set[tuple[str, ...]] = {run for text in texts for run in _runs(text, _SIZES)}
        self._hits: set[tuple[str, ...]] = set()

    def forget(self, text: str | None) -> None:
        """Look for the words of this text from now on."""
        self._hits.update(run for run in _looked_for(text or "") if run in self._runs)

    def spare(self, text: str | None) -> None:
        """The words of this text are not those of a forgotten one alone."""
        if self._hits:
            self._hits.difference_update(_runs(text or "", _SIZES))

    def holds(self, text: str) -> bool:
        """Whether a text holds words of a forgotten one."""
        return bool(self._hits) and any(run in self._hits for run in _runs(text, _SIZES))


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.casefold())


def _runs(text: str, sizes: Sequence[int]) -> Iterator[tuple[str, ...]]:
    tokens = _tokens(text)
    for size in sizes:
        yield from (tuple(tokens[n : n + size]) for n in range(len(tokens) - size + 1))


def _looked_for(text: str) -> Iterator[tuple[str, ...]]:
    tokens = _tokens(text)
    for size in (4, 8):
        for n in range(len(tokens) - size + 1):
            run = tuple(tokens[n : n + size])
            if (size == 8) == bool(_WIDE.match(run[0])):
                yield run
    if len(tokens) < 4 and sum(map(len, tokens)) >= SHORTEST:
        yield tuple(tokens)
    yield from ((token,) for token in tokens if len(token) >= RARE or _is_number(token))


def _is_number(token: str) -> bool:
    return len(token) >= 5 and any(letter.isdigit() for letter in token)
