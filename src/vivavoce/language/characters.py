"""Characters that stand for others: full-width and circled ones, signs for two letters, and unseen ones."""

import re
import unicodedata

from vivavoce.core.text import lazy_pattern

CIRCLED = tuple(map(chr, range(0x2460, 0x2474)))
"""The numbers 1 to 20 in circles: ①, ②, ③ …"""
_NUMBERS = (0x2474, 0x2488, 0x2776, 0x2780, 0x278A, 0x3220, 0x3280)
"""Where rows of ten numbers begin: in brackets, with a full stop, in black and other circles."""
_CAPITALS, _SMALL = (0x24B6, 0x1F110, 0x1F130, 0x1F150, 0x1F170), (0x249C, 0x24D0)
"""Where alphabets in circles, squares and brackets begin."""
_LABELS = {
    **{first + n: CIRCLED[n] for first in _NUMBERS for n in range(10)},
    **{first + n: f"({chr(65 + n)})" for first in _CAPITALS for n in range(26)},
    **{first + n: f"({chr(97 + n)})" for first in _SMALL for n in range(26)},
}
_UNSEEN = (
    "\u00ad\u034f\u061c\u180e\u200b\u200d-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff"
)
_LABEL = "\u2474-\u249b\u249c-\u24e9\u2776-\u2793\u3220-\u3229\u3280-\u3289\U0001f110-\U0001f189"
_COMPOSED = (
    "\u2103\u2109\u2113\u2126\u212a\u212b\u2160-\u217f\u3300-\u33ff\ufb00-\ufb06\ufb1d-\ufdff\ufe70-\ufefe"
    "\uff01-\uffef\U0001d400-\U0001d7ff"
)
# one class first: most characters are none of these, and are passed by at once
_OTHER = lazy_pattern(
    rf"(?=[{_UNSEEN}\u200c{_LABEL}{_COMPOSED}])"
    rf"(?:(?P<unseen>[{_UNSEEN}]+|(?<![\u0600-\u06ff])\u200c)|(?P<label>[{_LABEL}])|(?P<composed>[{_COMPOSED}]+))"
)  # in Persian \u200c divides a word
_KEYCAP = lazy_pattern("([1-9])\ufe0f?\u20e3")


def in_one_form(text: str) -> str:
    """`text` with one character for all that look or mean the same, and without those that are not seen.

    Full-width and half-width ones, ligatures, signs such as ℃, and letters of formulas become plain; numbers
    in circles of any kind are `CIRCLED`, letters in circles stand in brackets. Raised digits stay.
    """
    if text.isascii():
        return text
    if "\u20e3" in text:
        text = _KEYCAP.sub(lambda match: CIRCLED[int(match[1]) - 1], text)
    return _OTHER.sub(_plain, text)


def _plain(match: re.Match[str]) -> str:
    if match.lastgroup == "unseen":
        return ""
    if match.lastgroup == "label":
        return _LABELS.get(ord(match[0]), match[0])
    return unicodedata.normalize("NFKC", match[0])
