"""Scripts: which characters belong to a word, and where blanks divide words."""

import unicodedata
from collections import Counter
from functools import lru_cache

MARKS = (
    r"\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    r"\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a"
    r"\u07a6-\u07b0\u07eb-\u07f3\u07fd\u0816-\u0819\u081b-\u0823\u0825-\u0827\u0829-\u082d\u0859-\u085b"
    r"\u0898-\u089f\u08ca-\u08e1\u08e3-\u0903\u093a-\u093c\u093e-\u094f\u0951-\u0957\u0962\u0963"
    r"\u0981-\u0983\u09bc\u09be-\u09cd\u09d7\u09e2\u09e3\u09fe-\u0a03\u0a3c-\u0a51\u0a70\u0a71\u0a75"
    r"\u0a81-\u0a83\u0abc\u0abe-\u0acd\u0ae2\u0ae3\u0afa-\u0b03\u0b3c\u0b3e-\u0b57\u0b62\u0b63\u0b82"
    r"\u0bbe-\u0bcd\u0bd7\u0c00-\u0c04\u0c3c\u0c3e-\u0c56\u0c62\u0c63\u0c81-\u0c83\u0cbc\u0cbe-\u0cd6"
    r"\u0ce2\u0ce3\u0d00-\u0d03\u0d3b\u0d3c\u0d3e-\u0d4d\u0d57\u0d62\u0d63\u0d81-\u0d83\u0dca-\u0ddf"
    r"\u0df2\u0df3\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u0f18\u0f19\u0f35\u0f37"
    r"\u0f39\u0f3e\u0f3f\u0f71-\u0f84\u0f86\u0f87\u0f8d-\u0fbc\u0fc6\u102b-\u103e\u1056-\u1059"
    r"\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d\u135d-\u135f"
    r"\u1712-\u1715\u1732-\u1734\u1752\u1753\u1772\u1773\u17b4-\u17d3\u17dd\u180b-\u180d\u180f\u1885\u1886"
    r"\u18a9\u1920-\u193b\u1a17-\u1a1b\u1a55-\u1a7f\u1ab0-\u1b04\u1b34-\u1b44\u1b6b-\u1b73\u1b80-\u1b82"
    r"\u1ba1-\u1bad\u1be6-\u1bf3\u1c24-\u1c37\u1cd0-\u1cd2\u1cd4-\u1ce8\u1ced\u1cf4\u1cf7-\u1cf9"
    r"\u1dc0-\u1dff\u20d0-\u20f0\u2cef-\u2cf1\u2d7f\u2de0-\u2dff\u302a-\u302f\u3099\u309a\ua66f-\ua672"
    r"\ua674-\ua67d\ua69e\ua69f\ua6f0\ua6f1\ua802\ua806\ua80b\ua823-\ua827\ua82c\ua880\ua881\ua8b4-\ua8c5"
    r"\ua8e0-\ua8f1\ua8ff\ua926-\ua92d\ua947-\ua953\ua980-\ua983\ua9b3-\ua9c0\ua9e5\uaa29-\uaa36\uaa43"
    r"\uaa4c\uaa4d\uaa7b-\uaa7d\uaab0\uaab2-\uaab4\uaab7\uaab8\uaabe\uaabf\uaac1\uaaeb-\uaaef\uaaf5\uaaf6"
    r"\uabe3-\uabea\uabec\uabed\ufb1e\ufe00-\ufe0f\ufe20-\ufe2f"
)
"""Combining marks (Unicode category M, of the basic plane), as a part of a pattern's class.

In many scripts they are vowels and tones: Hindi words that differ in nothing else are different words.
"""
ACCENTS = r"\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u0652\u0670"
"""Marks that are no part of a word's spelling: accents, and points that Hebrew and Arabic seldom write."""
WORD = rf"[^\W_]++(?:[{MARKS}]++[^\W_]*+)*+"
"""Pattern of a run of letters with their marks, and of digits."""
SYLLABLES = (
    r"\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f"
)
"""Han and kana, written without blanks between words; a character is a syllable or a word."""
LETTERS_WITHOUT_SPACES = (
    r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u109a-\u109f\u1780-\u17d3"
    r"\u17d7\u17dc\u17dd"
)
"""Thai, Lao, Burmese and Khmer: letters with their marks, written without blanks between words."""
SYLLABLES_ALONE = frozenset({"Han", "Hiragana", "Katakana", "Bopomofo"})
LETTERS_ALONE = frozenset({"Thai", "Lao", "Khmer", "Myanmar"})
"""The names of scripts without spaces between words: by syllables, by letters."""
_NAMES = {"Cjk": "Han", "Ideographic": "Han", "Katakana-hiragana": "Katakana"}


def scripts(text: str) -> Counter[str]:
    """How many letters of a text are of each script, by the names of Unicode, such as Latin or Devanagari."""
    counts: Counter[str] = Counter()
    for character, n in Counter(text).items():
        if character.isalpha():
            counts[_script(character)] += n
    return counts


@lru_cache(maxsize=4096)
def main_script(text: str) -> str | None:
    """The script of most letters of a text, the first of equals; null where it has none."""
    if text.isascii():
        return "Latin" if any(map(str.isalpha, text)) else None
    counts = scripts(text)
    return max(counts, key=counts.__getitem__) if counts else None


@lru_cache(maxsize=4096)
def _script(character: str) -> str:
    first = unicodedata.name(character, "Unknown").split(" ")[0].removesuffix("-").capitalize()
    return _NAMES.get(first, first)
