"""The answer itself in a short free answer: what a box, a field of JSON, a tag or "Answer:" holds.

A label counts where it heads a line and what it holds is short; the last one is taken. Words around a formula
or a tag stay. A text without any of these is the answer as it stands.
"""

import html
import re
from functools import cache

from vivavoce.core.records import Row
from vivavoce.core.text import is_blank, lazy_pattern
from vivavoce.language.characters import in_one_form
from vivavoce.reading.fields import COPULA, final_labels, json_values, label_pattern, sections
from vivavoce.reading.markup import unboxed, unfenced, untagged

_LONGEST = 200
"""Characters of what a label may hold: a longer text is an explanation, and all of it is the answer."""
_TAG = lazy_pattern(
    r"</?(?:b|i|u|em|strong|p|span|div|code|sub|mark)(?:\s[^<>]{0,80})?/?>|<br\s?/?>", re.IGNORECASE
)
_RAISED = lazy_pattern(r"<sup>\s?([-+]?\d{1,4})\s?</sup>", re.IGNORECASE)
_WORDS_IN_FORMULA = lazy_pattern(
    r"\\(?:text(?:bf|it|rm)?|math(?:bf|rm|it|sf)|operatorname|mbox)\s?\{([^{}]*)\}"
)
_SIGNS = (
    (lazy_pattern(r"\\([%$&#_])"), r"\1"),
    (lazy_pattern(r"\\(?:,|;|:|!|quad\b|qquad\b|ensuremath\b)|(?<=\d)~(?=\S)"), " "),
    (lazy_pattern(r"\^\{([-+]?\d{1,4})\}"), r"^\1"),
    (lazy_pattern(r"\^\{?\\circ\}?"), "°"),
    (lazy_pattern(r"\\(?:times|cdot)(?![a-z])"), "×"),
    (lazy_pattern(r"\\mu(?![a-z])"), "μ"),
    (lazy_pattern(r"\\leq?(?![a-z])"), "≤"),
    (lazy_pattern(r"\\geq?(?![a-z])"), "≥"),
    (lazy_pattern(r"\\[()\[\]]|\$(?=\S)|(?<=\S)\$"), ""),
)
_BOXES = ("\\boxed", "\\fbox")
_MARKED = lazy_pattern(r"[{<\\$:：*`]")


@cache
def _label() -> re.Pattern[str]:
    return label_pattern({"answer": final_labels() + COPULA})


def short_answer(text: str) -> str:
    """The answer itself, in plain characters; all of `text` where nothing marks it."""
    text = in_one_form(text).strip()
    if not _MARKED.search(text):
        return text
    values = json_values(text)
    if values is not None and len(values) == 1:
        return _plain(str(values[0]))
    labelled = [part.text for part in sections(unboxed(untagged(unfenced(text))), _label()) if part.name]
    final = labelled[-1].split("\n\n")[0].strip() if labelled else ""
    return _plain(text if is_blank(final) or len(final) > _LONGEST else final)


def boxed_or_read(row: Row) -> str:
    """The text of a short answer that is compared: with its boxes where it has some, else as it was read."""
    final = row.response.parts.final
    return final if any(box in final for box in _BOXES) else row.reading.text


def _plain(text: str) -> str:
    """`text` without tags, emphasis and the signs of formulas; raised numbers are powers."""
    if "<" in text:
        text = _TAG.sub(" ", _RAISED.sub(r"^\1", text))
    if "&" in text:
        text = html.unescape(text)
    if "\\" in text or "$" in text:
        while (plain := _WORDS_IN_FORMULA.sub(r"\1", text)) != text:
            text = plain
        for pattern, sign in _SIGNS:
            text = pattern.sub(sign, text)
    return text.strip(" \t\n*_`\"'“”")
