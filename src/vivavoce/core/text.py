"""Pure functions of text: blank or not, thought or answer, one normal form for comparing.

Nothing here knows of items, formats or metrics.
"""

import functools
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeGuard, cast

from vivavoce.core import reasoning_marks as marks
from vivavoce.core.errors import RowError


class _LazyPattern:
    """Stands for a pattern until its first use; then every method of the compiled pattern is its own."""

    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        pattern = re.compile(self._source, self._flags)
        methods = (attribute for attribute in dir(pattern) if not attribute.startswith("__"))
        vars(self).update({attribute: getattr(pattern, attribute) for attribute in methods})
        return getattr(pattern, name)


def lazy_pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """`re.compile(source, flags)`, put off until the pattern is first used.

    Compiling all patterns that answers are read with takes a tenth of a second, and most commands read none.
    """
    return cast(re.Pattern[str], _LazyPattern(source, flags))


LONGEST = 1_000_000
"""Characters of the longest answer that is read (1 MB of plain text): what is longer is a loop.

Characters and not bytes: what reading costs depends on them, whatever the script.
"""


def too_long(text: str) -> str:
    """Why a text of more than `LONGEST` characters is not read."""
    return f"the answer has {len(text):,} characters, and none over {LONGEST:,} is read"


_IN_CIRCLES = frozenset(map(chr, (*range(0x249C, 0x24EA), *range(0x1F110, 0x1F18A))))


def count(n: int, thing: str) -> str:
    """`1 question`, `63 questions`."""
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def is_blank(text: str) -> bool:
    """True if `text` holds no letter and no digit, in any script.

    Combining strokes, punctuation and white space alone are blank; a letter in a circle is a letter.
    """
    return not any(unicodedata.category(c)[0] in "LN" or c in _IN_CIRCLES for c in text)


class Spoken(NamedTuple):
    """An answer without its thinking.

    `closed` is False when thinking was never closed: everything after its mark is thinking. `thought` says
    whether there was any thinking at all.
    """

    text: str
    thought: bool
    closed: bool


def spoken(text: str, *, steps: bool = False, own_marks: tuple[str, str] | None = None) -> Spoken:
    """The final part of an answer: without its thinking, in the marks of any family that is known.

    With `steps`, of a question that asks for reasoning, what a tag `<reasoning>` holds is part of the answer.
    `own_marks` are what opens and closes the thinking of a model of no such family.

    A lone closing mark, such as `</think>`, ends thinking that began at the start. After an unclosed mark
    everything is thinking. Nested marks count as one. A chat's mark of an end, such as `<|im_end|>`, ends the
    answer. White space around the answer is removed. `core.reasoning_marks` has the marks.
    """
    spans, thought, closed = _spoken_spans(text, steps=steps, own_marks=own_marks)
    return Spoken("".join(text[start:end] for start, end in spans).strip(), thought, closed)


def looks_like_thinking(text: str) -> bool:
    """Whether the final part of an answer looks like thinking that was not told apart from it.

    It holds a mark that no family has, or changes its mind several times at length. A hint, no proof.
    """
    answer = spoken(text).text
    if _UNKNOWN_MARK.search(answer):
        return True
    return len(answer) > LONG and sum(1 for _ in _DOUBT.finditer(answer)) >= DOUBTS


def with_line_ends(text: str) -> str:
    """The text with line ends where they stand escaped, as a backslash and an n."""
    return _ESCAPED.sub("\n", text)


def n_escaped(text: str) -> int:
    r"""How many line ends of a text stand escaped; 0 for one with a line end of its own inside.

    A backslash and an n that begin a command of LaTeX, such as `\nu`, are none, and a text with a path of
    Windows has none.
    """
    if "\n" in text.strip() or _PATH.search(text):
        return 0
    return sum(1 for _ in _ESCAPED.finditer(text))


def hide_thinking(text: str) -> str:
    """`text` with a line end in place of each character of its thinking: places in it are those in `text`."""
    spans, thought, _ = _spoken_spans(text)
    if not thought:
        return text
    hidden = ["\n"] * len(text)
    for start, end in spans:
        hidden[start:end] = text[start:end]
    return "".join(hidden)


_MARK = lazy_pattern(marks.MARK)
_LEAD = lazy_pattern(marks.LEAD)
_FAMILY = {
    f"{side}{n}": marks.FAMILIES[n].family for n in range(len(marks.FAMILIES)) for side in ("open", "close")
}
_OWN = len(marks.FAMILIES)
_UNKNOWN_MARK = lazy_pattern(
    r"<unused\d+>|<\|[A-Za-z_]{2,40}\|>|\A(?:Thinking|Thought)(?:\.\.\.|…|:?\n)|\bassistant(?:analysis|commentary)"
)
_DOUBT = lazy_pattern(r"\b(?:[Ww]ait|[Hh]mm+)\b[,.: ]")
_ESCAPED = lazy_pattern(
    r"\\{1,2}r\\{1,2}n|\\{1,2}n(?!(?:u|um|eq?|eg|abla|ot|otin|i|icefrac|ode|mid|less|gtr|leq|geq|parallel|sim|"
    r"cong|[vV][dD]ash|prec|succ|subseteq|supseteq|atural|earrow|warrow|ewline|ewpage|ewcommand|oindent|onumber|"
    r"ormalsize|olimits|obreak|exists)(?![A-Za-z]))"
)
_PATH = lazy_pattern(r"(?<![A-Za-z])[A-Z]:\\{1,2}[a-z]\w*\\")
DOUBTS, LONG = 3, 1_000
"""How often a text must change its mind to look like thinking, and from how many characters on."""
_SOLID = lazy_pattern(r"\S")
_WORDED = tuple((lazy_pattern(opening), lazy_pattern(closing)) for opening, closing in marks.WORDED)


@functools.lru_cache(maxsize=16)
def _marks(pair: tuple[str, str] | None) -> re.Pattern[str]:
    """Any known mark, before them those of a model of its own: a family behind the known ones."""
    if pair is None:
        return _MARK
    opening, closing = map(re.escape, pair)
    return re.compile(rf"(?P<open{_OWN}>{opening})|(?P<close{_OWN}>{closing})|{marks.MARK}")


def _spoken_spans(
    text: str, *, steps: bool = False, own_marks: tuple[str, str] | None = None
) -> tuple[list[tuple[int, int]], bool, bool]:
    """Where `text` is no thinking, and `thought` and `closed` as in `Spoken`."""
    start, thought = _worded_end(text)
    if start is None:
        return [], True, False
    if own_marks is None and not any(sign in text for sign in marks.FIRST_SIGNS):  # most answers have no mark
        return [(start, len(text))], thought, True
    while lead := _LEAD.match(text, start):
        start = lead.end()
    parts = _Parts(start, thought=thought)
    for mark in _marks(own_marks).finditer(text, start):
        if not (steps and _FAMILY.get(str(mark.lastgroup)) == marks.REASONING):
            parts.take(text, mark)
    if not parts.depth and not parts.ended:
        parts.spans.append((parts.start, len(text)))
    return parts.spans, parts.thought, parts.depth == 0


class _Parts:
    """What is final so far as the marks of a text come, where the last mark ended, and inside what."""

    def __init__(self, start: int, *, thought: bool) -> None:
        self.start, self.thought = start, thought
        self.spans: list[tuple[int, int]] = []
        self.family, self.depth, self.ended, self.answered = "", 0, False, False

    def take(self, text: str, mark: re.Match[str]) -> None:
        """The next mark of the text; behind the end of an answer only another beginning counts."""
        kind = str(mark.lastgroup)
        # A turn of the candidate behind an echo of the question is the answer, behind an answer another one.
        if kind == "final" or (kind == "turn" and not self.depth and not self.is_answered(text, mark)):
            self.begin_final(text, mark)
        elif self.depth:
            self.think_on(kind, mark)
        elif not (self.ended or _is_strike(text, mark)):
            self.leave_final(kind, text, mark)

    def is_answered(self, text: str, mark: re.Match[str]) -> bool:
        """Whether the answer had any words before this mark, or before its end."""
        if self.ended:
            return self.answered
        spans = (*self.spans, (self.start, mark.start()))
        return any(_SOLID.search(text, start, end) for start, end in spans)

    def begin_final(self, text: str, mark: re.Match[str]) -> None:
        """The answer begins here, whatever was before it."""
        self.thought = self.thought or bool(text[: mark.start()].strip())
        self.spans, self.depth, self.ended, self.start = [], 0, False, mark.end()

    def think_on(self, kind: str, mark: re.Match[str]) -> None:
        """Inside thinking its own family's marks count, and others are words."""
        self.depth += (kind == f"open{self.family}") - (kind == f"close{self.family}")
        self.start = mark.end()

    def leave_final(self, kind: str, text: str, mark: re.Match[str]) -> None:
        """An end, an opening mark, or a lone closing one: all before it was thinking."""
        if kind in ("end", "turn"):
            self.answered = self.is_answered(text, mark)
            self.spans.append((self.start, mark.start()))
            self.ended = True
        elif kind.startswith("open"):
            self.spans.append((self.start, mark.start()))
            self.family, self.depth, self.thought, self.start = kind[4:], 1, True, mark.end()
        elif kind[5:] == str(_OWN) or marks.FAMILIES[int(kind[5:])].may_be_lone:
            self.spans, self.thought, self.start = [], True, mark.end()


def _worded_end(text: str) -> tuple[int | None, bool]:
    """Where thinking between words ends, and whether there is any; null where it never does."""
    place = text.rfind(marks.FINAL_WORD)
    if place >= 0:
        return place + len(marks.FINAL_WORD), True
    for opening, closing in _WORDED:
        if begin := opening.match(text):
            end = closing.search(text, begin.end())
            return (end.end() if end else None), True
    return 0, False


def _is_strike(text: str, mark: re.Match[str]) -> bool:
    """Whether `</s>` closes words that are struck out, in HTML, and does not end the answer."""
    if mark[0] != "</s>" or text.find("<s>", 0, mark.start()) < 0:
        return False
    return _SOLID.search(text, mark.end()) is not None


_NO_XML = re.compile("[\ud800-\udfff\ufffe\uffff]")
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def label(index: int) -> str:
    """The label of the option at `index` (from 0): A to Z, then AA, AB and so on."""
    letters = ""
    index += 1
    while index:
        index, remainder = divmod(index - 1, 26)
        letters = chr(65 + remainder) + letters
    return letters


def printable(text: str) -> str:
    """`text` without control characters, marks that turn the direction of what follows, and half characters.

    What a stranger wrote can otherwise drive a terminal, or show a name backwards; a file name that is no
    UTF-8 cannot be printed.
    """
    return _UNSEEN.sub("\ufffd", text)


def xml_text(text: str) -> str:
    """`text` without what `printable` replaces and what XML has no place for."""
    return _NO_XML.sub("\ufffd", printable(text))


def printable_json(text: str) -> str:
    """JSON in which what `printable` replaces stands as an escape: no terminal obeys it, no value changes."""
    return _UNSEEN.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)


def has_line_ends(name: object) -> TypeGuard[str]:
    """Whether a name stands on several lines."""
    return isinstance(name, str) and ("\n" in name or "\r" in name)


def refuse_line_ends(name: object, where: str) -> None:
    """Raise `RowError` for a name on several lines: one of them could pass for a sentence of ours."""
    if has_line_ends(name):
        raise RowError(
            f"{where}: a name stands on one line; {one_line(name, 40)!r} does not: take the line ends out.",
            "a name stands on several lines",
        )


def one_line(text: str, width: int = 80) -> str:
    """`text` on one line of at most `width` characters, cut with an ellipsis: for messages."""
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def error_text(error: BaseException) -> str:
    """`KeyError: 'gold'`, for a sentence about code of others: one line, the type alone without a message."""
    return one_line(f"{type(error).__name__}: {error}", 300).rstrip(".: ")


def names_with(part: str, names: Iterable[str]) -> list[str]:
    """The names that a part of a name may mean, whatever its case; none for an empty one.

    Those that begin with it, else those that hold it as a word of its own, else all that hold it.
    """
    folded = part.strip().casefold()
    if not folded:
        return []
    word = re.compile(rf"(?<!\w){re.escape(folded)}(?!\w)")
    holding = [name for name in dict.fromkeys(names) if folded in name.casefold()]
    beginning = [name for name in holding if name.casefold().startswith(folded)]
    return beginning or [name for name in holding if word.search(name.casefold())] or holding


def causes_said(causes: Mapping[str, int], most: int = 3) -> str:
    """The commonest causes, each with how often it occurred: '3 x too long (713 tokens), or alike; 2 x …'.

    Causes that differ in nothing but numbers are one, said by the commonest of them. What stands beyond
    `most` is counted.
    """
    alike: dict[str, list[str]] = {}
    for reason in sorted(causes, key=lambda reason: -causes[reason]):
        alike.setdefault(_NUMBERS.sub("0", reason), []).append(reason)
    total = {form: sum(causes[reason] for reason in whys) for form, whys in alike.items()}
    forms = sorted(total, key=lambda form: -total[form])
    phrases = [
        f"{total[f]:,} x {alike[f][0]}{', or alike' if len(alike[f]) > 1 else ''}" for f in forms[:most]
    ]
    remainder = sum(total[form] for form in forms[most:])
    return "; ".join([*phrases, *([f"{remainder:,} of other causes"] if remainder else [])])


_NUMBERS = re.compile(r"\d[\d.,]*")
SIGNS = str.maketrans(
    {"µ": "μ", "≤": "<=", "≥": ">=", "≯": "<=", "≮": ">=", "≠": "!=", "×": "x", **dict.fromkeys("−‐‑–", "-")}
)
POWERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_POWER = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻](?<=[0-9].)[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]*")


def raised_as_powers(text: str) -> str:
    """The text with raised digits behind a digit as a power: 10³ is 10^3."""
    return _POWER.sub(lambda raised: f"^{raised[0].translate(POWERS)}", text)
