"""A text about one person, rewritten for the other sex: by rules, and only where the rules are sure.

They raise `Unsure` where they are not: people of both sexes, relatives whose pronouns these may be, or a
"her" that may be "him" or "his". A text that is rewritten there and back is the same again, titles aside (Mrs
comes back as Ms).
"""

import re
from typing import Literal

__all__ = ["Sex", "Unsure", "sex_of", "swapped"]

Sex = Literal["female", "male"]


class Unsure(Exception):
    """A text that the rules do not rewrite; it says why, as a clause."""


_SAME = {
    "woman": "man", "girl": "boy", "female": "male", "lady": "gentleman", "she": "he", "herself": "himself",
}  # fmt: skip
_TO_MALE = {**_SAME, "hers": "his"}
_TO_FEMALE = {**{male: female for female, male in _SAME.items()}, "him": "her"}
_TITLE = r"(?=\.?\s+[A-Z])"


def _forms(words: str) -> str:
    """Words in lower case or with a capital: HER2, HE and MS are other things."""
    return "|".join(f"[{w[0].upper()}{w[0]}]{w[1:]}" for w in words.split())


_FEMALE = re.compile(rf"\b(?:{_forms(' '.join([*_TO_MALE, 'her']))})\b|\b(?:Mrs|Ms|Miss)\b{_TITLE}")
_MALE = re.compile(rf"\b(?:{_forms(' '.join([*_TO_FEMALE, 'his']))})\b|\bMr\b{_TITLE}")
_PERSON = "(?:woman|man|girl|boy|lady|gentleman|(?:fe)?male|patient|person)"
_ONE = rf"(?:an?|one|another)\s(?:[\w-]+,?\s){{0,4}}{_PERSON}"
_UNSURE = {
    "it speaks of other people": re.compile(
        r"\b(?:(?:step|grand|god)?(?:mother|father|son|daughter)|mom|mum|dad|wife|husband|sister|brother|aunt|"
        r"uncle|niece|nephew|girlfriend|boyfriend|fianc[ée]e?|widow(?:er)?|men|women|boys|girls|males|females|"
        r"ladies|gentlemen|school(?:girl|boy)|waitress|actress|heiress|hostess|twins?)s?\b",
        re.IGNORECASE,
    ),
    "a word for its person has a sex of its own": re.compile(
        r"\b(?:business|police|fire|post|sales|fisher|house|crafts|chair|repair|crew|lay)(?:wo)?m[ae]n\b|"
        r"\bhousewife\b",
        re.IGNORECASE,
    ),
    "it speaks of several people": re.compile(
        rf"\b(?:{_ONE}.*{_ONE}|(?:two|three|four|both|several)\s(?:[\w-]+\s){{0,3}}(?:patients|people|persons))\b",
        re.IGNORECASE | re.DOTALL,
    ),
    "'His' is a name in it": re.compile(r"\bof His\b|\bHis(?=[- ](?:bundle|Purkinje))"),
    "its sex is abbreviated": re.compile(r"\b\d{1,3}[ -]?(?:y/?o|yrs?)?[ -]?[FM]\b"),
}


def sex_of(*texts: str) -> Sex | None:
    """The sex of the one person that the texts speak of; null where they state none.

    Raises `Unsure` where they speak of people of both sexes, or of others.
    """
    text = "\n".join(texts)
    for why, pattern in _UNSURE.items():
        if pattern.search(text):
            raise Unsure(why)
    female, male = bool(_FEMALE.search(text)), bool(_MALE.search(text))
    if female and male:
        raise Unsure("it speaks of people of both sexes")
    return "female" if female else "male" if male else None


def swapped(text: str, to: Sex) -> str:
    """The text with its one person of sex `to`; unchanged where it is so already, or states none.

    Raises `Unsure` as `sex_of` does, and for a "her" that the rules cannot tell apart.
    """
    if sex_of(text) in (to, None):
        return text
    pattern = _MALE if to == "female" else _FEMALE

    def other(word: re.Match[str]) -> str:
        old = word[0].lower()
        match old:
            case "his":
                new = _of_his(text, word)
            case "her":
                new = _of_her(text, word)
            case "mr":
                new = "ms"
            case "mrs" | "ms" | "miss":
                new = "mr"
            case _:
                new = (_TO_FEMALE if to == "female" else _TO_MALE)[old]
        return new.capitalize() if word[0][0].isupper() else new

    return pattern.sub(other, text)


def _set(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


_FUNCTION = _set(
    "a an the this that these those some any no to for in on at with by from of into onto about after",
    "before during until since while when where because if unless although though as than and or nor but",
    "so yet is are was were be been has have had does do did can could will would shall should may might",
    "must not who whom whose which what how why whether regarding concerning despite without within",
    "through upon via per against between among towards he she it they you we i again now today yesterday",
    "tomorrow tonight immediately here there too also instead twice",
)
"""Words that can begin nothing of hers: before one of them, `her` is him."""
_EITHER = _set(
    "first next last home early late more most less better best worse well much only further long enough",
    "right left back straight overnight both all up down off out over under then alone once daily weekly",
    "being",
)
"""Words that may: `her first child`, `treat her first`."""
_TWO_OBJECTS = _set(
    "give gives gave given giving offer offers offered offering tell tells told telling ask asks asked",
    "asking prescribe prescribes prescribed show shows showed shown showing send sends sent sending bring",
    "brings brought teach teaches taught hand hands handed feed feeds fed grant granted deny denied",
    "denies cost costs spare spared advise advises advised advising order ordered orders buy bought lend",
    "lent assign assigned",
)
"""`gave her insulin` is not `stopped her insulin`."""
_CLAUSE = _set(
    "make makes made making let lets letting have has had help helps helped helping see sees saw seen",
    "watch watched hear heard hears find finds found finding leave leaves left leaving keep keeps kept",
    "keeping render renders rendered consider considers considered call calls called name named think",
    "thinks thought believe believed felt get gets got getting want wants wanted put puts",
)
"""Verbs after which `her` may begin a clause: `makes her vomit`, `found her confused`."""
_NEXT = re.compile(r"\s+[\"'“‘(\[]?([^\W_][\w'’-]*)")


def _following(text: str, at: int) -> tuple[str | None, int]:
    """The next word in lower case, and where it ends; null at punctuation or the end."""
    found = _NEXT.match(text, at)
    return (found[1].lower(), found.end()) if found else (None, at)


def _of_her(text: str, word: re.Match[str]) -> str:
    """`him` or `his`. Raises `Unsure` where both are possible."""
    after, end = _following(text, word.end())
    if after is None or after in _FUNCTION:
        return "him"
    found = re.search(r"([^\W\d_]+)\s+\Z", text[max(0, word.start() - 40) : word.start()])
    before = found[1].lower() if found else ""
    if before in _TWO_OBJECTS or before in _CLAUSE:
        raise Unsure(f"'{before} her {after}' may be him or his")
    adverb = after.endswith("ly")
    if after not in _EITHER and not adverb:
        return "his"
    if after in ("back", "left", "right") and before in ("in", "on", "of", "to", "down", "across", "from"):
        return "his"
    further, _ = _following(text, end)
    plain = further is not None and further not in _FUNCTION
    if plain and (adverb or after in ("first", "last", "next", "left", "right", "daily", "weekly")):
        return "his"
    if adverb and not plain:
        return "him"
    raise Unsure(f"'her {after}' may be him or his")


_AFTER_HERS = _set("and or but is was are were has had who that which in at on with from as")


def _of_his(text: str, word: re.Match[str]) -> str:
    """`hers` where nothing follows that could be hers, else `her`."""
    after, _ = _following(text, word.end())
    return "hers" if after is None or after in _AFTER_HERS else "her"
