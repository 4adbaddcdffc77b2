"""An answer as tokens: words, numbers and signs that can be compared, and the breaks between them.

Two texts name the same thing if their tokens have the same forms: case, accents, hyphen glyphs, emphasis and
punctuation do not matter; numbers, comparators, units and signs do.
"""

import html
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from vivavoce.core.text import lazy_pattern
from vivavoce.language.characters import CIRCLED, in_one_form
from vivavoce.language.scripts import ACCENTS, MARKS

# How strong the break before a token is.
NONE, COMMA, CLAUSE, SENTENCE, LINE, PARAGRAPH = range(6)

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_NOT_LATIN = _CJK + "\uac00-\ud7af"
_SUPER = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_IN_CIRCLE = f"{CIRCLED[0]}-{CIRCLED[-1]}"
_LETTER = rf"[^\W\d_{_NOT_LATIN}{_SUPER}{_IN_CIRCLE}]"
_IN_WORD = rf"(?:[^\W_{_NOT_LATIN}{_SUPER}{_IN_CIRCLE}]|[{MARKS}])"
_MINUS = r"\-−‐‑"
_TOKEN = lazy_pattern(
    rf"""
    (?P<number>(?:(?<![^\s(\[:=<>≤≥~"'|])[{_MINUS}+±](?=\.?\d))?            # a sign, not a hyphen
        (?:[1-9]\d{{0,2}}(?:[,\u00a0\u2009\u202f]\d{{3}})+(?!,*+\d)(?:\.\d+)?  # 1,000.5
          |(?<![\d.,])[1-9]\d{{0,2}}(?:[ ]0\d\d)+(?![\d.,]\d)(?!\d)                # 10 000; 2 500 may be two
          |\d+(?:[.,·]\d+)*|(?<!\w)\.\d+))
    |(?P<word>{_LETTER}{_IN_WORD}*(?:['’ʼ]{_IN_WORD}+)*)
    |(?P<power>[{_SUPER}]+|[⁺⁻]|\^[ ]?[({{]?[-+−]?\d+[)}}]?)
    |(?P<cjk>[{_CJK}]|[\uac00-\ud7af]+)
    |(?P<circled>[{_IN_CIRCLE}])
    |(?P<range>(?<=[\d%])[ ]?[-–—−][ ]?(?=[<>≤≥]?\d))
    |(?P<arrow>(?:(?<![-=])|(?<=[<>]=))[-=]++>)  # one try a run: behind "<=", which is a token, another
    |(?P<suffix>(?<=[^\W_])[+{_MINUS}](?![\w{_MINUS}])|(?<=\()[+{_MINUS}](?=\)))
    |(?P<sign>[<>]=?|[≤≥≦≧⩽⩾≈~±×÷%‰°/+&√∞≠\u2190-\u21ff])
    """,
    re.VERBOSE,
)
_SIGNS = {
    "≤": "<=",
    "≦": "<=",
    "⩽": "<=",
    "≥": ">=",
    "≧": ">=",
    "⩾": ">=",
    "≈": "~",
    "×": "x",
    "⁺": "+",
    "⁻": "-",
}
_PLAIN = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i", "'": "", "’": "", "ʼ": ""}
)
_MARKS = lazy_pattern(f"[{ACCENTS}]+")
_POSSESSIVE = lazy_pattern(r"['’ʼ]s$", re.IGNORECASE)
_LATEX = (
    (lazy_pattern(r"\\(?:text(?:bf|it|rm)?|math(?:bf|rm|it|sf)|operatorname)\s?\{"), "{"),
    (lazy_pattern(r"\\geq?(?![a-z])"), "≥"),
    (lazy_pattern(r"\\leq?(?![a-z])"), "≤"),
    (lazy_pattern(r"\\mu(?![a-z])"), "μ"),
    (lazy_pattern(r"\\times(?![a-z])"), "×"),
    (lazy_pattern(r"\\([%$&#_])"), r"\1"),
)
_ANSWER_TAG = lazy_pattern(r"<(/?)(?:final[_ ]?)?answer\s?>", re.IGNORECASE)
_LETTER_TAG, _LETTER_END = lazy_pattern(r"<([A-Z])>"), lazy_pattern(r"</([A-Z])>")
_TAG = lazy_pattern(r"</?(?:b|i|u|em|strong|p|br|li|ul|ol|div|span|code|h\d)\s?/?>", re.IGNORECASE)
_BOX = lazy_pattern(r"(?m)^([ \t]*(?:[-*+][ \t]|\d{1,2}[.)][ \t])?)\[([xX ])\](?=\s)")
_SUP_TAG = lazy_pattern(r"<sup>\s?([-+]?\d+)\s?</sup>", re.IGNORECASE)
_CHARGE = lazy_pattern(rf"(?<=[A-Za-z])[{_SUPER}](?=[⁺⁻])")
_BLANK_LINE = lazy_pattern(r"\n[^\S\n]*\n")
_ENDS = lazy_pattern(r"[.!?…][\"'”’*_)\]]*(?:\s|$)|[。！？।]")
_CLAUSE = lazy_pattern(r"[;:()\[\]{}|：；（）؛✓✔☑✅✗✘✖❌☐]|[–—]|(?:^|\s)-+(?:\s|$)|--")
_COMMA = lazy_pattern(r"[,，、،]")
_LONGEST_ENTRY = 12
"""Words of an entry that a number within a line heads."""
_SHORT = frozenset({"vs", "dr", "mr", "approx", "eg", "ie", "cf", "spp", "sp", "no"})


def has_any(forms: Iterable[str], words: frozenset[str] | set[str]) -> bool:
    """True if one of the forms is among the words."""
    return not words.isdisjoint(forms)


class Token(NamedTuple):
    """A word ('w'), number ('n') or sign ('s'), its comparable form, and where it stands in the text."""

    form: str
    kind: str
    start: int
    end: int


class Doc:
    """A tokenised text: `breaks[k]` is the break before token k, `forms[k]` its form."""

    __slots__ = ("_ends", "_places", "breaks", "forms", "text", "tokens")

    def __init__(self, text: str) -> None:
        self.text = _clean(text)
        self.tokens = [_token(m) for m in _TOKEN.finditer(self.text)]
        self.forms = [t.form for t in self.tokens]
        self.breaks: list[int] = []
        for k in range(len(self.tokens)):
            self.breaks.append(PARAGRAPH if k == 0 else self._break(k))
        self._places: dict[object, Sequence[int]] = {}
        self._ends = [len(self.tokens)] * len(self.tokens)
        for k in range(len(self.tokens) - 2, -1, -1):
            self._ends[k] = k + 1 if self.breaks[k + 1] >= SENTENCE else self._ends[k + 1]

    def __len__(self) -> int:
        return len(self.tokens)

    def gap(self, k: int) -> str:
        """What stands between token k-1 and token k, or before the first, or after the last."""
        start = self.tokens[k - 1].end if k > 0 else 0
        return self.text[start : self.tokens[k].start if k < len(self.tokens) else len(self.text)]

    def gap_has(self, k: int, signs: str) -> bool:
        """True if one of the signs stands in the gap before token k."""
        return not set(signs).isdisjoint(self.gap(k))

    def surface(self, i: int, j: int) -> str:
        """The text of the tokens i to j-1, as written."""
        return self.text[self.tokens[i].start : self.tokens[j - 1].end] if i < j else ""

    def glued(self, k: int) -> bool:
        """True if a hyphen alone joins token k to the one before."""
        if not 0 < k < len(self.tokens):
            return False
        start, end = self.tokens[k - 1].end, self.tokens[k].start
        return end == start + 1 and self.text[start] in "-‐‑−–"

    def ends(self, k: int) -> bool:
        """True if nothing of the clause follows before token k: a break of any kind, or the end."""
        return k >= len(self.tokens) or self.breaks[k] > NONE

    def at(self, offset: int) -> int:
        """The first token that starts at `offset` or later."""
        return bisect_left(self.tokens, offset, key=lambda t: t.start)

    def sentences(self, i: int = 0, j: int | None = None) -> list[tuple[int, int]]:
        """The sentences of tokens i to j-1 as ranges; a line break ends a sentence too."""
        end = len(self.tokens) if j is None else j
        starts = [k for k in range(i, end) if k == i or self.breaks[k] >= SENTENCE]
        return list(zip(starts, [*starts[1:], end], strict=True)) if starts else []

    def sentence_end(self, k: int) -> int:
        """The token after the sentence of token k."""
        return self._ends[k]

    # Places are listed once a text: a slice of all that stands between, for each mention, costs the square.

    def count(self, i: int, j: int, words: frozenset[str]) -> int:
        """How many of the tokens i to j-1 are among the words."""
        places = self._places.get(words)
        if places is None:
            places = self._places[words] = [k for k, form in enumerate(self.forms) if form in words]
        return max(0, bisect_left(places, j) - bisect_left(places, i))

    def has_pair(self, i: int, j: int, pairs: frozenset[tuple[str, str]]) -> bool:
        """True if two neighbours among the tokens i to j-1 are one of the pairs."""
        places = self._places.get(pairs)
        if places is None:
            following = enumerate(zip(self.forms, self.forms[1:], strict=False))
            places = self._places[pairs] = [k for k, pair in following if pair in pairs]
        return bisect_left(places, j - 1) > bisect_left(places, i)

    def places(self, key: object, holds: Callable[["Doc", int], bool]) -> Sequence[int]:
        """The tokens of which `holds` is true; looked for once for each `key`."""
        places = self._places.get(key)
        if places is None:
            places = self._places[key] = [k for k in range(len(self.tokens)) if holds(self, k)]
        return places

    def last_break(self, k: int, strength: int) -> int:
        """The last token, up to token k, with a break before it that is at least so strong."""
        places = self._places.get(strength)
        if places is None:
            breaks = enumerate(self.breaks)
            places = self._places[strength] = [
                p for p, strength_before in breaks if strength_before >= strength
            ]
        return places[bisect_right(places, k) - 1]

    def _capital(self, k: int) -> bool:
        """True for a letter that a number counts: "1. A 2. B"."""
        return len(self.tokens[k].form) == 1 and self.surface(k, k + 1).isupper()

    def _break(self, k: int) -> int:
        """How strong the break before token k is."""
        gap = self.gap(k)
        if gap in {"", " ", "-"}:
            return NONE
        if "\n" in gap:
            return PARAGRAPH if _BLANK_LINE.search(gap) else LINE
        if _ENDS.search(gap):
            return CLAUSE if "." in gap and self._dotted(k) else SENTENCE
        if _CLAUSE.search(gap):
            return CLAUSE
        return COMMA if _COMMA.search(gap) else NONE

    def _heads(self, k: int) -> bool:
        """True if token k heads what follows, behind a letter within a sentence: "A and D. Wrong: B"."""
        return (
            self.breaks[k - 1] <= COMMA
            and k + 1 < len(self.tokens)
            and self.gap(k + 1).strip() in {":", "："}
        )

    def _opens(self, k: int) -> bool:
        """True if a sentence opens at token k behind a letter within one: "A and D. Wrong are B and C"."""
        if k < 2 or self.breaks[k - 1] > COMMA or "." in self.gap(k - 1):
            return False
        return self.surface(k - 1, k).isupper() and self.surface(k, k + 1)[:1].isupper()

    def _dotted(self, k: int) -> bool:
        """True if a full stop before token k ends no sentence: "B. text", "2. text", "vs."."""
        preceding = self.tokens[k - 1]
        width = preceding.end - preceding.start
        if width == 1 and preceding.kind == "w":
            return not (self._heads(k) or self._opens(k))
        if preceding.form in _SHORT:
            return preceding.form != "no" or self.tokens[k].kind == "n"
        return preceding.kind == "n" and self._heads_entry(k, width)

    def _heads_entry(self, k: int, width: int) -> bool:
        """True for a number of `width` characters before token k that heads a line or an entry.

        One of three digits or more is rather a quantity.
        """
        if self.breaks[k - 1] >= (LINE if width > 2 else COMMA):
            return True
        if k > 1 and self._capital(k - 2) and self._capital(k):
            return True
        return width < 3 and self.forms[k - 1].isdecimal() and self._goes_on_counting(k - 1)

    def _goes_on_counting(self, k: int) -> bool:
        """True for the 2 of "1. Fever 2. Rash", within a line."""
        form = str(int(self.tokens[k].form) - 1)
        for n in range(k - 1, max(-1, k - _LONGEST_ENTRY), -1):
            if self.breaks[n + 1] >= LINE:
                return False
            if self.tokens[n].form == form and self.gap(n + 1)[:1] == ".":
                return True
        return False


@lru_cache(maxsize=2048)
def cached_doc(text: str) -> Doc:
    """The tokens of a short text that comes again and again, such as an option."""
    return Doc(text)


@lru_cache(maxsize=4)
def recent_doc(text: str) -> Doc:
    """The tokens of a text that several readers of one answer ask for."""
    return Doc(text)


def _clean(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFC", in_one_form(text))
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "&" in text:
        text = html.unescape(text)
    if "\\" in text:
        for pattern, plain in _LATEX:
            text = pattern.sub(plain, text)
    if "[x]" in text or "[X]" in text:
        text = _BOX.sub(lambda m: m[1] + ("❌" if m[2] == " " else "✅"), text)
    if "<" in text:
        text = _without_tags(text)
    return _CHARGE.sub(lambda m: unicodedata.normalize("NFKC", m[0]), text)


def _without_tags(text: str) -> str:
    """`text` without tags of HTML; "<B>" that nothing closes is a label in brackets."""
    closed = set(_LETTER_END.findall(text))
    text = _LETTER_TAG.sub(lambda m: m[0] if m[1] in closed else f"({m[1]})", text)
    text = _ANSWER_TAG.sub(lambda m: "}" if m[1] else "\\boxed{", text)
    return _TAG.sub(" ", _SUP_TAG.sub(r"^\1", text))


def _token(match: re.Match[str]) -> Token:
    kind, text = match.lastgroup, match[0]
    if kind == "number":
        return Token(number_form(text), "n", match.start(), match.end())
    if kind == "circled":
        return Token(text, "w", match.start(), match.end())
    if kind in {"word", "cjk"}:
        return Token(_word(text), "w", match.start(), match.end())
    if kind == "power":
        form = _SIGNS.get(text) or "^" + re.sub(
            r"[^\d+-]", "", unicodedata.normalize("NFKC", text).replace("−", "-")
        )
    elif kind == "arrow":
        form = "→"
    elif kind == "range":
        form = "-"
    elif kind == "suffix":
        # "CD4+" ends in a sign; in "aspirin + heparin" the plus joins two entries
        form = "(+)" if text == "+" else "(-)"
    else:
        form = _SIGNS.get(text, text)
    return Token(form, "s", match.start(), match.end())


@lru_cache(maxsize=65536)
def _word(text: str) -> str:
    text = _POSSESSIVE.sub("", text)
    if text.isascii():
        return text.lower().replace("'", "")
    bare = _MARKS.sub("", unicodedata.normalize("NFKD", text)).casefold()
    return unicodedata.normalize("NFC", bare).translate(_PLAIN)


def number_form(text: str) -> str:
    """A number in plain digits: `1,000.50` is 1000.5, `.5` is 0.5; `2,5` and dates stay as written."""
    if " " in text and text.isascii():
        text = text.replace(" ", "")
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).replace("·", ".").replace("−", "-")
        text = "".join(str(unicodedata.digit(c)) if c.isdigit() else c for c in text)
        text = re.sub("[ \u2010\u2011]", lambda m: "" if m[0] == " " else "-", text)
    sign, digits = (text[0], text[1:]) if text.startswith(("+", "-", "±")) else ("", text)
    if re.fullmatch(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?", digits):
        digits = digits.replace(",", "")
    if digits.startswith("."):
        digits = "0" + digits
    if digits.count(".") == 1 and "," not in digits:
        digits = digits.rstrip("0").rstrip(".")
    return sign + digits
