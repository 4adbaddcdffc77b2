"""How metrics part a text into words, and the scripts in which a way gives no words."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from vivavoce.language.quantities import quantity_tokens
from vivavoce.language.scripts import LETTERS_ALONE, SYLLABLES_ALONE, main_script
from vivavoce.language.words import squad_tokens

TOKENS: Mapping[str, Callable[[str], tuple[str, ...]]] = {
    "clinical": quantity_tokens,
    "pairs": partial(quantity_tokens, pairs=True),
    "squad": squad_tokens,
}
"""`pairs` is `clinical` with each two characters that follow each other where spaces divide no words."""
_ALONE = SYLLABLES_ALONE | LETTERS_ALONE
_DIVIDED = {
    "clinical": SYLLABLES_ALONE,
    "zh": frozenset({"Han", "Bopomofo"}),
    "ja-mecab": SYLLABLES_ALONE,
    "pairs": _ALONE,
    "char": _ALONE,
}
"""The scripts without spaces that a way of parting divides all the same; any other divides none."""


def without_words(references: Sequence[str], tokens: str, ways: Sequence[str]) -> str | None:
    """Why these references cannot be compared word by word; null where one of them can, or none has letters.

    `ways` are the values of the metric's setting `tokens`, of which the reason names those that can.
    """
    scripts = set(map(main_script, references))
    undivided = _ALONE - _DIVIDED.get(tokens, frozenset())
    if not scripts <= undivided:
        return None
    able = [way for way in ways if scripts <= _DIVIDED.get(way, frozenset())]
    script = " and ".join(sorted(filter(None, scripts)))
    advice = f"tokens={' or tokens='.join(able)}" if able else "chrf, which compares characters"
    return f"the references are in {script} script, without spaces between words: take {advice}"
