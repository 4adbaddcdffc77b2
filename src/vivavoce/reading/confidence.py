"""The confidence that a response states of itself, on a line such as "Confidence: 85%": found, cut off, read.

A model is asked for a last line in percent, and says it in its own way. What could mean two things is
unreadable, never guessed: 0.85 and 1 without a scale, 0.9 %, a range, a limit, a word.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from vivavoce.core.text import LONGEST, hide_thinking, is_blank, lazy_pattern, spoken, too_long
from vivavoce.reading.fields import json_object


class Cut(NamedTuple):
    """A piece that was cut out of a text, and where it began in the text as it came."""

    at: int
    text: str


class StatedConfidence(NamedTuple):
    """A probability in 0 to 1, or null with the reason; `silent` where nothing speaks of confidence."""

    value: float | None
    reason: str | None = None
    silent: bool = False


class _Statement(NamedTuple):
    """A place that states a confidence: where it begins and ends, the scale it names, and what it says."""

    start: int
    end: int
    scale: str
    words: str


# The word that is asked for, and its translations: models also answer in the language of the question.
# Words that also head a section of a clinical text, such as Sicherheit (safety), are none.
_LABEL = r"""
    (?:(?:my|the|overall|final|estimated|stated)\s){0,2}
    (?:confidence(?!\s(?:interval|limit|region|bound)) | konfidenz | confianza | confiança | confiance
      | fiducia | confidenza | уверенность | 置信度 | 信心 | 自信度 | 確信度 | 신뢰도)
    (?:\s(?:level|score|rating|estimate|percentage))?
    (?:\s(?:in|of|for)\s(?:my|this|the|that)\s(?:final\s)?(?:answer|response|choice))?
"""
_CLOSE = r"[*_`]*+"
_SAYS = rf"""
    (?:{_LABEL}){_CLOSE}[ \t]*+(?:[(\[](?P<scale>[^()\[\]\n]{{1,40}})[)\]])?{_CLOSE}[ \t]*+
    (?:[:：=]|\bis\b|[-–—](?=\s)){_CLOSE}[ \t]*+
"""
# the number may stand on a line of its own under the label
_LINE = lazy_pattern(
    rf"^[>\#*_`•+ \t-]*+(?:\d{{1,2}}[.)]\s)?{_CLOSE}{_SAYS}"
    r"(?P<words>(?:[ \t*_`~]*+\n){1,2}[ \t*_`~]*+\d[^\n]{0,20}$|[^\n]*+)",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
# "B. Amoxicillin (confidence: 85%)": inside the last line, and nothing but the number behind it
_TAIL = lazy_pattern(
    rf"[ \t,;|–—-]{{0,9}}+(?<=[\s,;|.–—-])[(\[]?{_CLOSE}{_SAYS}(?P<words>[^\n]{{1,40}}?)[)\]]?[.*_`]*+\s*\Z",
    re.VERBOSE | re.IGNORECASE,
)
_TAIL_LENGTH, _WORDS_LENGTH = 200, 60
"""Characters of a last line in which a confidence may stand, and of one that is stated in words."""
_PLACEHOLDER = lazy_pattern(r"^\W*(?:n{1,3}|x{1,3}|y{1,3}|number|percentage|value|_+)\W*$", re.IGNORECASE)

_BOUND = (
    r"[<>≤≥]|(?:at\s(?:least|most)|(?:more|less|fewer|greater|higher|lower)\sthan|over|under|above|below"
    r"|up\sto)\b"
)
_HEDGE = (
    r"(?:(?:very|fairly|quite|rather|i(?:\sam|['’]m|\swould\ssay|['’]d\ssay)|about|approximately|approx\.?"
    r"|around|roughly|nearly|almost|circa|ca\.?|etwa|environ|unos|大?约|大約|high|low|medium|moderate|at|is"
    r"|[~≈∼(\[:=,]|[-–—](?=\s))\s*)*"
)
_PERCENT = r"%|per\s?cent\b|prozent\b|por\s?cien(?:to)?\b|p[oe]r\s?cento\b|pour\s?cent\b|процент\w*"
_NUMBER = lazy_pattern(
    rf"""^\s*{_HEDGE}(?P<bound>(?:{_BOUND})\s*)?
    (?P<number>[+-]?\d+(?:[.,]\d+)?)(?P<more>[.,]?\d)?
    \s*(?:(?P<percent>{_PERCENT})|(?:/|\bout\sof\b)\s*(?P<out>\d+)(?:[.,]0+)?\b(?:\s*%)?)?
    (?P<rest>.*)$""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_RANGE = lazy_pattern(r"^\s*(?:[-–—±]|\+\s*/?\s*-|to\b|bis\b|à\b|\.\.+)\s*\d", re.IGNORECASE)
_UNIT_SCALE = lazy_pattern(
    r"\bprobability\b|(?<![\d.,])0(?:[.,]0+)?\s*(?:[-–—]|to|and)\s*1(?:[.,]0+)?(?![\d.,]*\d|\s*%)",
    re.IGNORECASE,
)
_PERCENT_SCALE = lazy_pattern(
    r"^\s*(?:in\s)?(?:%|percent|per\scent)\s*$|(?<!\d)[01]\s*%?\s*(?:[-–—]|to|and)\s*100\b", re.I
)
_SCALE = lazy_pattern(r"\d+(?:[.,]\d+)?\s*%?\s*(?:[-–—]|to|and)\s*\d+(?:[.,]\d+)?\s*%?", re.IGNORECASE)
_LISTED = lazy_pattern(r"\s*(?:[,;/|]|or\b|and\b)\s*\d", re.IGNORECASE)
_ANY_PERCENT = lazy_pattern(rf"\d\s*(?:{_PERCENT})", re.IGNORECASE)
_SHARE = lazy_pattern(r"\s*(?:of|der|des|de|dei|degli)\b", re.IGNORECASE)
_LEAST_BARE = 10
"""A bare number up to this may be meant out of 5 or 10; above it stands for percent, as was asked for."""


def without_confidence(text: str) -> tuple[str, tuple[Cut, ...]]:
    """The text without the lines that state a confidence, and what was cut, in order.

    A line counts where it states a number or repeats the placeholder of the request, wherever it stands; in
    words ("high"), or inside a line, at the end alone. Nothing is cut from thinking, nor from a text that is
    too long to be read. `restored` undoes it.
    """
    if len(text) > LONGEST:
        return text, ()
    visible = hide_thinking(text)
    words_end = _words_end(visible)
    cuts: list[Cut] = []
    pieces: list[str] = []
    last = 0
    for statement in _statements(visible):
        start = statement.start
        if statement.end >= words_end:  # the blank lines above the last one are its own
            start = last + len(text[last:start].rstrip())
        # A line may run on into thinking that is hidden: what is hidden stays.
        end = next((n for n in range(start, statement.end) if text[n] != visible[n]), statement.end)
        pieces.append(text[last:start])
        cuts.append(Cut(start, text[start:end]))
        last = end
    return "".join([*pieces, text[last:]]), tuple(cuts)


def restored(text: str, cuts: Sequence[Cut]) -> str:
    """The text as it came, with what was cut out of it put back."""
    pieces: list[str] = []
    length = taken = 0
    for position, piece in cuts:
        kept_text = text[taken : taken + position - length]
        pieces += [kept_text, piece]
        taken += len(kept_text)
        length += len(kept_text) + len(piece)
    return "".join([*pieces, text[taken:]])


def stated_confidence(text: str) -> StatedConfidence:
    """The confidence that a whole response states.

    Lines that state the same count as one. Of different ones the last counts if it stands where it was asked
    for, at the end of the response; otherwise nothing says which is meant. A repeated placeholder states
    nothing. A response that is an object of JSON may hold it under the key `confidence`.
    """
    if len(text) > LONGEST:
        return StatedConfidence(None, too_long(text))
    visible = hide_thinking(text)
    statements = _statements(visible)
    serious = [s for s in statements if not _PLACEHOLDER.match(s.words)]
    if not serious:
        if statements:
            return _unreadable("repeats the request, and is no number")
        return _in_json(spoken(text).text)
    readings = list(dict.fromkeys(_probability(s.words, s.scale) for s in serious))
    if len(readings) == 1:
        return readings[0]
    last = serious[-1]
    if last.end >= _words_end(visible):
        return _probability(last.words, last.scale)
    return StatedConfidence(None, f"it states {len(readings)} different confidences, and none at its end")


def _in_json(text: str) -> StatedConfidence:
    """The confidence under a key of that name, where the whole response is an object of JSON."""
    values = [
        value for key, value in (json_object(text) or {}).items() if str(key).casefold() == "confidence"
    ]
    if not values:
        return StatedConfidence(None, "no line states a confidence", silent=True)
    return _probability(str(values[-1]), "")


def read_confidence(words: str) -> StatedConfidence:
    """A confidence that stands by itself, such as a cell of a table: "85%", "Confidence: 85", "high"."""
    labelled = stated_confidence(words)
    return _probability(words, "") if labelled.silent else labelled


def _statements(visible: str) -> list[_Statement]:
    """The places that state a confidence, in order, in a text whose thinking is hidden."""
    words_end = _words_end(visible)
    statements = [
        _Statement(match.start(), match.end(), match["scale"] or "", match["words"])
        for match in _LINE.finditer(visible)
        if _states(match["words"], at_end=match.end() >= words_end)
    ]
    ends = [statement.end for statement in statements[-1:]]
    if ends and ends[0] >= words_end:
        return statements
    stripped = visible.rstrip()
    begin = max(stripped.rfind("\n") + 1, len(stripped) - _TAIL_LENGTH, *ends)
    tail = _TAIL.search(visible, begin)
    if tail is not None and _is_numeric(tail["words"]):
        statements.append(_Statement(tail.start(), tail.end(), tail["scale"] or "", tail["words"]))
    return statements


def _states(words: str, *, at_end: bool) -> bool:
    """Whether words behind the label at the head of a line are a confidence, or stand for one."""
    if at_end and len(words) <= _WORDS_LENGTH:
        return True
    return _PLACEHOLDER.match(words) is not None or _is_numeric(words)


def _words_end(text: str) -> int:
    """Where the last letter or digit ends."""
    return next((k + 1 for k in range(len(text) - 1, -1, -1) if not is_blank(text[k])), 0)


def _is_numeric(words: str) -> bool:
    """Whether the words are a number and what it is of, but nobody's share: "90 % of patients"."""
    match = _NUMBER.match(_plain(words))
    return match is not None and _SHARE.match(match["rest"]) is None


def _plain(words: str) -> str:
    """The words in plain digits and signs, without marks of bold type around them."""
    plain = (
        unicodedata.normalize("NFKC", words[:_TAIL_LENGTH])
        .replace("\\%", "%")
        .replace("٪", "%")
        .replace("−", "-")
        .replace("٫", ".")
    )
    plain = "".join(str(unicodedata.digit(c)) if c.isdigit() and not c.isascii() else c for c in plain)
    return plain.strip(" \t\r\n*_`\"'“”$")


def _probability(words: str, scale: str) -> StatedConfidence:
    """What the words behind the label say, on the scale that stands with the label, if one does."""
    plain = _plain(words)
    match = _NUMBER.match(plain)
    if match is None:
        return _unreadable(f"{_short(plain)} is no number")
    reason = _two_meanings(match)
    highest = _highest(match, scale) if reason is None else reason
    if isinstance(highest, str):
        return _unreadable(f"{_short(f'{scale} {plain}')} {highest}")
    number = _number(match)
    if not 0 <= number <= highest:
        return _unreadable(f"{_short(plain)} is not between 0 and {highest:g}")
    return StatedConfidence(number / highest)


def _number(match: re.Match[str]) -> float:
    return float(match["number"].replace(",", "."))


def _two_meanings(match: re.Match[str]) -> str | None:
    """Why the number cannot be taken for a confidence, whatever its scale; null if it can."""
    remainder = match["rest"]
    if match["bound"] or remainder.startswith("+") or _RANGE.match(remainder):
        return "is a limit or a range, not a number"
    if match["more"] or _SHARE.match(remainder):
        return "cannot be read as a confidence"
    if len(match["number"].partition(",")[2]) == 3:
        return "has a comma that may part thousands or decimals"
    if _ANY_PERCENT.search(_SCALE.sub(" ", remainder)) or _LISTED.match(remainder):
        return "holds more than one number"
    return None


def _highest(match: re.Match[str], scale: str) -> float | str:
    """What the number is out of: 1, 10 or 100; or why that cannot be known."""
    number, remainder = _number(match), match["rest"]
    if match["percent"] or _PERCENT_SCALE.search(scale) or _PERCENT_SCALE.search(remainder):
        # models write 0.9 % for 0.9, and some mean it
        return "may be a probability or below 1 %" if 0 < number < 1 else 100.0
    if match["out"]:
        return (
            float(match["out"]) if match["out"] in ("1", "10", "100") else "is out of none of 1, 10 and 100"
        )
    if _UNIT_SCALE.search(f"{scale} {remainder}"):
        return 1.0
    if _SCALE.search(f"{scale} {remainder}"):
        return "is on a scale that is neither 0 to 1 nor 0 to 100"
    if 0 < number <= _LEAST_BARE:
        return "names no scale: of 1, of 10 or in percent"
    return 100.0


def _short(words: str) -> str:
    flat = " ".join(words.split())
    return repr(flat if len(flat) <= 40 else flat[:39] + "…")


def _unreadable(reason: str) -> StatedConfidence:
    return StatedConfidence(None, f"the stated confidence {reason}")
