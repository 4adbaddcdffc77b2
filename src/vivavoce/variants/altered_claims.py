"""A claim turned into its opposite, and a number replaced by another: rules for texts, and what they leave.

Where several claims or numbers can be changed, one is drawn. A rule that is not sure changes nothing.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from vivavoce.core.text import one_line
from vivavoce.language.invariants import NEGATION
from vivavoce.language.sentences import sentence_starts
from vivavoce.variants.controls import Draw, Edited

AROUND = 30
"""Characters of the text on each side of a change that are told with it."""


class _Site(NamedTuple):
    """A place in a text, and what can stand there instead."""

    start: int
    end: int
    new: str


def _edited(text: str, site: _Site) -> Edited:
    preceding = text[max(0, site.start - AROUND) : site.start]
    following = text[site.end : site.end + AROUND]
    old = text[site.start : site.end]
    change = f'"{preceding}{old}{following}" became "{preceding}{site.new}{following}"'
    return Edited(f"{text[: site.start]}{site.new}{text[site.end :]}", one_line(change, 250))


# Claims


def _set(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


_ENGLISH = _set("the of and is are was were with this that which for not in to by from has have should it")
_OTHER = _set(
    "el la los las que en un una es por con se no del le les des du et est il di che per gli della sono der",
    "die das und ist nicht ein eine mit zu os uma não de het een van som och att är",
)
_LETTERS = re.compile(r"[^\W\d_]+")
_SOFT = (
    "always|often|usually|only|just|also|both|either|generally|sometimes|commonly|typically|mainly|mostly|"
    "frequently|largely|primarily|probably|possibly|perhaps|all|not|never|no|rarely|seldom"
)
_UNSURE = re.compile(
    r"\b(?:if|whether|when|whenever|where|unless|while|although|though|until|once|how|why|what|than|all|every|"
    r"each|some|most|many|few|any|several|both|either|neither|nor|only)\b",
    re.IGNORECASE,
)
"""Words in a clause that make its denial something else than its opposite."""
_LEADS = re.compile(r"(?:^|\s)(?:that|which|who|whose|as|so|there|and|or|but|it's)\s*$", re.IGNORECASE)
_ASSERTED = re.compile(
    r"(?<=[\w)\"”’]\s)(?P<verb>is|are|was|were|can|could|will|would|should|must|(?:has|have|had)(?=\sbeen\b))"
    rf"(?=\s(?!(?:{_SOFT}|because)\b)[\w(\"“])"
)
_EXISTS = re.compile(
    r"\b(?P<lead>[Tt]here (?:is|are|was|were)) (?:an? |some )?"
    rf"(?=[a-z])(?!(?:{_SOFT}|the|this|these|many|several|few|two|three|four|five|more|less|a|an|some)\b)"
)
_DENIED = re.compile(
    r"\b(?P<verb>is|are|was|were|can|could|will|would|should|must|does|[Dd]o|did|has|have|had)"
    r"(?:\snot\b|n['’]t\b|(?<=\b[Cc]an)not\b)(?!\s(?:only|just|merely|solely|necessarily|always|all|every|yet)\b)"
)
_LACKED = re.compile(
    r"\b(?P<verb>is|are|was|were|has|have|had) no (?=[a-z])(?!(?:longer|more|less|doubt|sooner|other|one)\b)"
)


_KEPT_BY_DENIAL = re.compile(r"\b(?:but|any|anything|anyone|anymore|either|until|unless)\b", re.IGNORECASE)
"""Words of a sentence that does not read without its denial."""


def is_english(text: str) -> bool:
    """True if a text has more of the commonest English words than of those of other languages around it."""
    words = [word.casefold() for word in _LETTERS.findall(text[:20_000])]
    return sum(word in _ENGLISH for word in words) > sum(word in _OTHER for word in words)


def negated(text: str, draw: Draw) -> Edited | str:
    """The text with one claim turned: "is indicated" into "is not indicated", or the other way round.

    English only. A sentence that denies nothing gets a "not" behind is, are, was, were, can, could, will,
    would, should, must or "has been", or a "no" behind "there is". One that denies once, in such words, loses
    it. Questions, conditions and statements about all, some or most of something are left alone: their denial
    is not their opposite. Nor are "may" and "might".
    """
    if not is_english(text):
        return "it is not in English: claims are turned in English only"
    sites = list(_claims(text))
    return (
        _edited(text, draw.choice("negated", sites)) if sites else "it has no claim that the rules can turn"
    )


def _claims(text: str) -> Iterator[_Site]:
    starts = sentence_starts(text)
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        sentence = text[start:end]
        if "?" in sentence:
            continue
        n_denials = sum(1 for _ in NEGATION.finditer(sentence))
        if n_denials == 0:
            sites = _denials(sentence)
        elif n_denials == 1 and not _KEPT_BY_DENIAL.search(sentence):
            sites = _assertions(sentence)
        else:
            continue
        yield from (_Site(start + a, start + b, new) for a, b, new in sites)


def _clause_before(sentence: str, position: int) -> str:
    """What stands between the last comma, colon or bracket and a place."""
    return re.split(r"[,;:(\n]", sentence[max(0, position - 300) : position])[-1]


def _denials(sentence: str) -> Iterator[_Site]:
    for match in _EXISTS.finditer(sentence):
        if not _UNSURE.search(_clause_before(sentence, match.start())):
            yield _Site(match.start(), match.end(), f"{match['lead']} no ")
    for match in _ASSERTED.finditer(sentence):
        clause = _clause_before(sentence, match.start())
        if clause.strip() and not _LEADS.search(clause) and not _UNSURE.search(clause):
            yield _Site(*match.span("verb"), "cannot" if match["verb"] == "can" else f"{match['verb']} not")


def _assertions(sentence: str) -> Iterator[_Site]:
    for pattern in (_DENIED, _LACKED):
        for match in pattern.finditer(sentence):
            if not _UNSURE.search(_clause_before(sentence, match.start())):
                yield _Site(match.start(), match.end(), f"{match['verb']}{' ' * (pattern is _LACKED)}")


# Numbers

_NUMBER = re.compile(
    r"(?<![\w.,/:^#@&=+×*–−-])(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,7}(?:\.\d{1,4})?)(?![.,]?\d)"
)
_UNIT = re.compile(
    r"(?:mg|mcg|[µμ]g|ug|kg|g|ng|pg|m[lL]|d[lL]|f[lL]|L|l|mm|cm|m|[mµμnp]?mol|mEq|k?Pa|k?cal|IU|U|h|s|bpm|Hz)"
    r"(?:[/²³^]|\b)|%|[°º]\s?[CF]\b|(?<=\s)(?:mmHg|mm Hg|per ?cent|degrees?|beats|breaths|meters?|metres?|"
    r"lit(?:er|re)s?|(?:milli|micro|kilo)?grams?|(?:second|minute|hour|day|week|month|year|time|dose|tablet|drop|"
    r"puff|cell)s?|cigarettes|packs?|pack-years)\b"
)
_LED_IN = re.compile(
    r"(?:\b(?:of|is|was|are|were|be|than|about|around|approximately|least|over|under|below|above|at|to|by|up)|[=<>≤≥~])"
    r"\s*$"
)
"""What stands before a number that is a value though no unit follows."""
_NAMED = re.compile(
    r"\b(?:options?|answers?|choice|numbers?|no|nr|fig(?:ure)?|tables?|ref(?:erence)?s?|chapter|section|step|"
    r"question|case|types?|grades?|stages?|class|phase|group|level|factor|vitamin|version|page|part|point|item|"
    r"statement|pmid|doi|nct|isbn|room|chromosome|trimester|line|score of|th|st)\.?\s*[#:]?\s*$",
    re.IGNORECASE,
)
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_JOINED_BEFORE = re.compile(r"\d\s*(?:%|[^\W\d_]{1,6})?\s*(?:\bto|\bor|\band|[-–—/x×:,;])\s*$")
_JOINED_AFTER = re.compile(r"\s*(?:%|[^\W\d_]{1,6}\b)?\s*(?:to\b|or\b|and\b|[-–—/x×:]|,|;)\s*\d")
_LISTED = re.compile(r"(?:^|\n)[ \t]*[-*(]?[ \t]*$")
_ANY = re.compile("")
_INDEX_AROUND = (
    (_NAMED, _ANY),
    (re.compile(rf"\b{_MONTH}\.?\s*$"), _ANY),
    (_ANY, re.compile(rf"\s*(?:of\s+)?{_MONTH}\b")),
    (_LISTED, re.compile(r"[.):]")),
    (re.compile(r"\[[\d,;\s–-]*$"), _ANY),
    (_ANY, re.compile(r"[\d,;\s–-]*\]")),
)
"""What stands before and after a number that is an index."""
_FACTORS = (Decimal(2), Decimal("0.5"), Decimal("1.5"))
_SIGNS = (1, -1, -1)
_DEGREE_STEPS = {"C": 2, "F": 4}
_DEGREES = re.compile(r"\s?(?:°|º|degrees?\s)\s?(?P<scale>[CF])", re.IGNORECASE)
_PERCENT = re.compile(r"\s?(?:%|percent\b|per cent\b)")
_YEARS = re.compile(r"[\s-]?(?:years?|yrs?|yo)\b", re.IGNORECASE)
_PH = re.compile(r"\bpH\s*(?:of|is|was|=|:|<|>)?\s*$")
_TWICE = {
    "two": "four", "three": "six", "four": "eight", "five": "ten", "six": "twelve", "seven": "three",
    "eight": "four", "nine": "three", "ten": "five", "twelve": "six",
}  # fmt: skip
_NUMBER_WORD = re.compile(
    rf"(?<![\w-])(?P<number>{'|'.join(_TWICE)})(?=\s(?:minutes|hours|days|weeks|months|years|times|doses|tablets|"
    r"drops|puffs|litres|liters)\b)",
    re.IGNORECASE,
)


def numbers(text: str, draw: Draw) -> Edited | str:
    """The text with one of its numbers replaced by another; unit, sign and decimals stay.

    A number is doubled, halved or made half as large again, a share stays within 100 %, a temperature moves
    by 2 °C or 4 °F, a pH by 0.4, years stay within 100. Number words from two to twelve count before units of
    time and of doses. Left alone are: years such as 2019, dates, citations, ranges and ratios, numbers of
    lists, and numbers that are names (type 2, stage 3, option 4, receptor 2, B12, 29-year-old), and decimals
    written with a comma. One or two figures without a unit count behind words such as "of", "than" and "is".
    """
    sites = [site for match in _NUMBER.finditer(text) if (site := _other_number(text, match, draw))]
    for match in _NUMBER_WORD.finditer(text):
        if not re.search(r"\b(?:to|or|and|the)\s$", text[max(0, match.start() - 5) : match.start()]):
            new = _TWICE[match["number"].lower()]
            sites.append(_Site(*match.span(), new.capitalize() if match["number"][0].isupper() else new))
    return (
        _edited(text, draw.choice("numbers", sites))
        if sites
        else "it has no number that the rules can change"
    )


def _other_number(text: str, match: re.Match[str], draw: Draw) -> _Site | None:
    start, end = match.span("number")
    preceding, following = text[max(0, start - 40) : start], text[end : end + 40]
    if (
        _is_name(match["number"], preceding, following)
        or _JOINED_BEFORE.search(preceding)
        or _JOINED_AFTER.match(following)
    ):
        return None
    old = Decimal(match["number"].replace(",", ""))
    for value in _others(old, preceding, following, draw.number("factor") % 3):
        step = Decimal(1).scaleb(min(0, int(old.as_tuple().exponent)))
        value = value.quantize(step)
        # "1 month" and "2 months": a number that is or becomes one would need another word behind it
        plural = re.match(r"\s[^\W\d_]{4}", following) and 1 in (old, value)
        if value > 0 and value != old and not plural:
            return _Site(start, end, f"{value:,f}" if "," in match["number"] else f"{value:f}")
    return None


def _is_name(number: str, preceding: str, following: str) -> bool:
    """True for what is written in figures and measures nothing: an index, a date, a citation."""
    unit = bool(_UNIT.match(following) or (following[:1].isspace() and _UNIT.match(following, 1)))
    return (not unit and not _is_value(number, preceding, following)) or _is_index(
        number, preceding, following
    )


def _is_value(number: str, preceding: str, following: str) -> bool:
    """True for a number without a unit that is a value all the same."""
    if re.fullmatch(r"(?:19|20)\d\d", number) or re.match(r"[^\W\d_]|[-_]", following):
        return False
    return "." in number or len(number) > 2 or bool(_LED_IN.search(preceding))


def _is_index(number: str, preceding: str, following: str) -> bool:
    """True for a number of a list, a date or a citation, or one that is a name."""
    leading_zero = len(number) > 1 and number.startswith("0") and "." not in number
    in_brackets = preceding.endswith("(") and following.startswith(")")
    return (
        leading_zero
        or in_brackets
        or any(old.search(preceding) and new.match(following) for old, new in _INDEX_AROUND)
    )


def _others(old: Decimal, preceding: str, following: str, first: int) -> list[Decimal]:
    """Other values, of which the first that fits is taken: years within 100, a share within all of it."""
    if degrees := _DEGREES.match(following):
        return [old + _SIGNS[first] * _DEGREE_STEPS[degrees["scale"].upper()]]
    if _PH.search(preceding):
        return [old + _SIGNS[first] * Decimal("0.4")]
    if old == 0:
        return [Decimal(2)]
    values = [old * factor for factor in (*_FACTORS[first:], *_FACTORS[:first])]
    if old <= 100 and (_PERCENT.match(following) or _YEARS.match(following)):
        return [value for value in values if value <= 100]
    return values
