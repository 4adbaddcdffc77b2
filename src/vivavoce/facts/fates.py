"""What becomes of the units that a splitter gave: each comes back, in order, with its fate."""

# ruff: noqa: E501 - a line of a pattern is one kind of words

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from vivavoce.core.text import is_blank, one_line, printable
from vivavoce.facts.answer_words import AnswerWords, content_words, vocabulary, words_of
from vivavoce.facts.cleaning import sentence_key
from vivavoce.facts.fact import Answer, Fact, Fate
from vivavoce.facts.splitters import NoClaim
from vivavoce.language.invariants import NEGATION, invariants, numbers_beyond
from vivavoce.language.stems import Vocabulary
from vivavoce.language.words import clinical_tokens
from vivavoce.reading.refusal import refuses

_TIMES = ("", "year", "month", "week", "day", "hour")
"""Units of numbers that may come from the question: ages, durations, and numbers of a name, as in type 2."""
_NOT_DENYING = re.compile(
    r"\bnot (?:only|just|merely|solely|necessarily)\b|\bwith or without\b|\bwhether or not\b|\bor not\b|"
    r"\bto avoid\b|\bno(?:\.|\b)(?= ?\d)|\bno (?:sooner|doubt)\b|\bnegative (?:feedback|pressure|bacteri\w+|"
    r"bacill\w+|cocc\w+|organisms?|rods?|predictive|inotrop\w+|chronotrop\w+)|\bgram[- ]negative\b",
    re.IGNORECASE,
)
_DENYING_SOFTLY = re.compile(
    r"\b(?:unless|except|prevent\w*|rul(?:e|es|ed|ing) out|exclud\w+|fail(?:s|ed|ing)?|refrain\w*|stop\w*|discontinu\w+|"
    r"withh\w+|withdraw\w*|instead|rather than|prohibit\w*|forbid\w*|forbidden|insufficient\w*|inadequate\w*|"
    r"little|few|hardly|barely|rarely|seldom|un(?!der|i[tovq])[a-z]{4,}|in(?:effective|active|adequate|capable|appropriate|"
    r"advisable|complete|operable|curable)|im(?:possible|mune|mobile)|dis(?:courag|approv|agree)\w*|wrong|false|"
    r"free|zero|neither|nor|loss|lose[sd]?|lost|missing|reject\w*|"
    r"poorly|other than|(?<!not )only|harmful|dangerous)\b",
    re.IGNORECASE,
)
_RATE = re.compile(
    r"(?:(?:\b(?:per|each|every) |/ ?|(?:(?<=times )|(?<=once )|(?<=twice )|(?<=mg )|(?<=doses )|(?<=tablets ))an? )"
    r"(?=(?:hour|day|week|month|year)\b)|\b(?=(?:hour|week|month|year|dai)ly\b))"
    r"(hour|day|week|month|year|dai)|\b([btqo])\.? ?(?:i\.? ?)?d\b"
)
_BOUNDARY = re.compile(
    r"[,;:.()–—]|\b(?:and|but|while|whereas|although|though|which|who|because|since|if|unless|so|however|yet|"
    r"instead|except)\b",
    re.IGNORECASE,
)
_CONTRAST = re.compile(r"[;:]|\b(?:but|whereas|while|although|though|however|yet|which)\b", re.IGNORECASE)
_CONDITION = re.compile(
    r"\b(?:(?:only |even )?if|unless|provided(?: that)?|as long as|without(?= (?:\w+ ){0,2}\w+,)|in (?:the )?(?:case|event|presence|absence|setting) of|"
    r"(?:in|for|to|by) (?:\w+ ){0,2}?(?:patients?|people|persons|individuals|children|infants|neonates|women|men|"
    r"adults|those)(?= (?:with|who|whose|without|on|in|under|over|above|below|aged|older|younger|taking|"
    r"receiving|undergoing|having|at)\b))",
    re.IGNORECASE,
)
_CONDITION_END = re.compile(r"[,;.]|\bthen\b", re.IGNORECASE)
_CLAUSE = re.compile(
    r"[;:]|,? (?:but|whereas|while|although|which)\b|, (?=and\b)|"
    r"\band (?=(?:can|may|also|therefore|thus|is|are|was|were|should|must|will|has|have)\b)",
    re.IGNORECASE,
)
_COVERED = 0.6
"""Share of a unit's words from which it repeats a consequent, and of what is denied from which it asserts it."""
_HALF = 0.5
"""Share of a unit's words that stand before a denial ("X is contraindicated") from which it is about that."""
_KEPT = 0.34
"""Share of a condition's words from which the unit has the condition."""


def why_changed(unit: str, answer: AnswerWords) -> str | None:
    """What the unit says otherwise than the answer, as a clause; null where nothing is."""
    return _numbers(unit, answer) or _rate(unit, answer) or _against_origins(unit, answer)


def _numbers(unit: str, answer: AnswerWords) -> str | None:
    strange = numbers_beyond(unit, answer.text)
    if strange:
        foreign = set(numbers_beyond(unit, f"{answer.text}\n{answer.question}"))
        strange = tuple(n for n in strange if n in foreign or n[1] not in _TIMES)
    if not strange:
        return None
    named = ", ".join(dict.fromkeys(" ".join(filter(None, number)) for number in strange))
    return f"numbers or units that the answer has not, or not so often: {one_line(named, 60)}"


def _rate(unit: str, answer: AnswerWords) -> str | None:
    """A dose per week is none per day, though its number and unit are the same."""
    strange = _rates(unit) - _rates(f"{answer.text}\n{answer.question}")
    return f"a rate that the answer has not: per {min(strange)}" if strange else None


@lru_cache(maxsize=64)
def _rates(text: str) -> set[str]:
    return {match[1] if match[1] not in (None, "dai") else "day" for match in _RATE.finditer(text.lower())}


def _against_origins(unit: str, answer: AnswerWords) -> str | None:
    """What of negations and conditions is otherwise than in every sentence that the unit may come from."""
    if unit in answer.sentences:  # among many that are alike it need not be one of the likeliest origins
        return None
    faults = [_negation(unit, origin) or _condition(unit, origin) for origin in answer.origins(unit)]
    return faults[0] if faults and all(faults) else None


def _denials(text: str) -> list[re.Match[str]]:
    """Words that deny, but for those that deny nothing ("not only")."""
    spared = [match.span() for match in _NOT_DENYING.finditer(text)]
    return [
        match
        for match in NEGATION.finditer(text)
        if not any(start <= match.start() < end for start, end in spared)
    ]


def _negation(unit: str, origin: str) -> str | None:
    in_unit = _denials(unit)
    if in_unit:
        parts = [origin] if _CONTRAST.search(unit) else _nearest(unit, origin)
        denied = any(_denials(part) or _DENYING_SOFTLY.search(part) for part in parts)
        return None if denied else f"a negation added: {_excerpt(in_unit[0][0])}"
    if _DENYING_SOFTLY.search(unit):
        return None
    words = content_words(unit)
    lost = (match for match in _denials(origin) if _asserts(words, origin, match))
    return next((f"a negation lost: {_excerpt(match[0])}" for match in lost), None)


def _nearest(unit: str, origin: str) -> list[str]:
    """The clauses of a sentence that have most words of the unit."""
    words = content_words(unit)
    parts = [origin[start:stop] for start, stop in _spans(origin)]
    counts = [sum(map(vocabulary(part).holds, words)) for part in parts]
    return [part for count, part in zip(counts, parts, strict=True) if count == max(counts)]


def _spans(origin: str) -> Iterator[tuple[int, int]]:
    """Where the clauses of a sentence that are set against each other begin and end."""
    return pairwise((0, *(match.start() for match in _CONTRAST.finditer(origin)), len(origin)))


def _asserts(words: Sequence[str], origin: str, denial: re.Match[str]) -> bool:
    """True if these words of a unit say what a denial in the sentence denies.

    That is what follows it in its clause; where nothing does, what goes before. A unit with words of another
    clause is of that clause.
    """
    start, stop = next((a, b) for a, b in _spans(origin) if a <= denial.start() < b)
    clause, remainder = vocabulary(origin[start:stop]), vocabulary(origin[:start] + origin[stop:])
    if any(remainder.holds(word) and not clause.holds(word) for word in words):
        return False
    preceding, following = _around(origin, denial)
    if content_words(following):
        return _share(content_words(following), Vocabulary(words)) >= _COVERED
    return _share(words, vocabulary(preceding)) >= _HALF


def _around(origin: str, denial: re.Match[str]) -> tuple[str, str]:
    """What stands before and after a denial, up to the next words or signs that end what it governs."""
    ends = [match.span() for match in _BOUNDARY.finditer(origin)]
    end = min((first for first, _ in ends if first >= denial.end()), default=len(origin))
    begin = max((last for _, last in ends if last <= denial.start()), default=0)
    return origin[begin : denial.start()], origin[denial.end() : end]


def _share(words: Sequence[str], among: Vocabulary) -> float:
    """The share of the words that stand among others; 0 for none."""
    return sum(map(among.holds, words)) / len(words) if words else 0.0


class _Condition(NamedTuple):
    """A condition of a sentence, and what it governs."""

    text: str
    consequent: str


def _conditions(origin: str) -> Iterator[_Condition]:
    for match in _CONDITION.finditer(origin):
        end = _CONDITION_END.search(origin, match.end())
        stop = end.start() if end else len(origin)
        clauses = [clause.end() for clause in _CLAUSE.finditer(origin, 0, match.start())]
        preceding = origin[clauses[-1] if clauses else 0 : match.start()]
        if content_words(preceding):
            yield _Condition(origin[match.start() : stop], preceding)
        elif end:  # without a comma nobody knows where the consequent begins
            yield _Condition(origin[match.start() : stop], origin[stop:])


def _condition(unit: str, origin: str) -> str | None:
    words = content_words(unit)
    vocabulary_of_unit = Vocabulary(words)
    for condition in _conditions(origin):
        consequent = vocabulary(condition.consequent)
        distinct = [word for word in content_words(condition.text) if not consequent.holds(word)]
        if (
            distinct
            and _share(distinct, vocabulary_of_unit) < _KEPT
            and _share(words, consequent) >= _COVERED
        ):
            return f"a condition lost: {_excerpt(condition.text)}"
    return None


def _excerpt(text: str) -> str:
    return f"'{one_line(printable(text), 50)}'"


_GREETING = re.compile(
    r"\W*(?:hello|hi|hey|dear \w+|greetings|good (?:morning|afternoon|evening|luck|question)|great question|"
    r"thank you|thanks|you(?:'|’)?re welcome|sure|certainly|of course|absolutely|best (?:regards|wishes)|"
    r"kind regards|sincerely|take care|(?:i )?hope (?:this|that|it) helps|(?:please )?feel free to ask\b.*|"
    r"(?:please )?let me know if\b.*|if you have (?:any )?(?:\w+ ){0,2}questions\b.*|"
    r"here (?:is|are) (?:the|an?|some) (?:answer|summary|list|overview|facts|key points|explanation)\b.*|"
    r"get well soon)(?:[\s,!]+\w+){0,3}\W*",
    re.IGNORECASE | re.DOTALL,
)
_ADVICE = re.compile(
    r"\W*(?:(?:therefore|however|finally|in any case|remember|please|always|also|you|patients?|one|should|must|"
    r"need to|may want to|it is|it's|that|to|important|best|essential|advisable|crucial|recommended|necessary|be sure|"
    r"make sure|first|immediately|promptly|strongly),? ){0,8}"
    r"(?:consult(?:ing|ed)?|see|visit|contact|call|ask|(?:talk|speak) (?:to|with)|seek(?: out)?|check with|"
    r"follow the advice of|discuss (?:this|it|your \w+) with|get|obtain)(?: with)? "
    r"(?:(?:a|an|the|your|their|his|her|any|some|own|prompt|immediate|urgent|professional|qualified|licensed|"
    r"medical|health|healthcare|health-care|health care|care|primary|local|family|further|expert|or|and|doctor|"
    r"physician|nurse|pharmacist|specialist|clinician|provider|professional|practitioner|gp|advice|help|attention|"
    r"guidance|opinion)\b[ ,/]*)+"
    r"(?:(?:for|about|regarding|before|if you (?:have|are)|to (?:get|discuss|determine|obtain|receive))\b"
    r"(?: (?:a|an|any|the|your|you|more|further|new|personal\w*|individual\w*|medical|accurate|proper|appropriate|"
    r"specific|advice|guidance|information|help|diagnosis|treatment|plan|options|making|taking|starting|stopping|"
    r"changing|using|decisions?|medications?|medicines?|concerns?|questions?|doubts?|worried|unsure|in doubt|"
    r"and|or|about|health|situation|needs|best|course|of|action)\b,?)*)?"
    r"(?: ?(?:immediately|promptly|right away|as soon as possible|at once))?\W*",
    re.IGNORECASE,
)
_NARRATIVE = re.compile(
    r"\W*(?:in my (?:own )?(?:\w+ )?(?:experience|practice|opinion|case)\b|"
    r"(?:when|as|since|because) i (?:was|were|had|am)\b|as an? ai\b|"
    r"i (?:have|had|was|am|remember|recall|once|used to|saw|met|knew|know|worked|treated|learned|felt|hope|wish|"
    r"personally|also|still|myself|did|do|got|went|took|started|stopped|grew|tried)\b|i(?:'|’)(?:m|ve|d)\b|"
    r"my (?:own )?(?:mother|father|mom|mum|dad|parents?|wife|husband|son|daughter|child|children|brother|sister|"
    r"grand\w+|aunt|uncle|cousin|friends?|colleagues?|boss|teacher|doctor|patients?|experience|name|life|story|"
    r"condition|symptoms)\b)",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"\s*#{1,6}\s")


def why_no_claim(text: str) -> str | None:
    """Why a unit could be neither true nor false, as a clause; null for a claim.

    A question, a greeting, a heading, a refusal, a story of the writer's own life, and advice to see a doctor
    that says nothing of when: "see a doctor if the fever lasts three days" is a claim.
    """
    plain = text.strip().replace("’", "'")
    if plain.rstrip("\"')]* ").endswith(("?", "？", "؟")):
        return "it is a question"
    if _is_heading(plain):
        return "it is a heading"
    if _GREETING.fullmatch(plain):
        return "it is a greeting or an offer"
    if _ADVICE.fullmatch(plain):
        return "it is advice to see somebody, and says nothing of when"
    if refuses(plain):
        return "it is a refusal"
    return "it is a story of the writer's own" if _NARRATIVE.match(plain) else None


def _is_heading(text: str) -> bool:
    """True for a line of headings' words alone, one that ends in a colon, and one marked as a heading."""
    bare = text.rstrip("*_ ")
    if bare.endswith((":", "：")) or (_MARKUP.match(text) and not bare.endswith(".")):
        return True
    words = clinical_tokens(text)
    return not bare.endswith((".", "!")) and len(words) <= 6 and words_of("heading").issuperset(words)


MOST = 200
"""Units of an answer that are checked: an answer of 256 tokens has about 30."""
STRANGE = 0.5
"""Share of a unit's content words above which, where neither answer nor question has them, it is foreign."""
ALIKE = 0.9
"""Share of words in common from which two units with the same numbers and negations are much alike."""


def settle(units: Sequence[str], answer: Answer, *, most: int = MOST) -> tuple[Fact, ...]:
    """Every unit with its fate, numbered from 1 in the order in which they came; of all the first that fits.

    `empty`: it holds no letter and no digit. `no_claim`: the splitter marked it so, or the rules of
    `facts.claims` do. `repeated`: its key (`sentence_key`, with the numbers) is that of an earlier unit.
    `surplus`: `most` units before it are checked; such a unit is not compared with the answer. `foreign`:
    more than half of its content words stand in neither answer nor question, or all that it says stands in
    the question alone. `changed`: see `facts.alterations`. Every other unit is `checked`, with a `reason`
    only where it is much like an earlier one, which is kept. Empty for no units. The rules are made for
    English; in other languages a unit is rather checked than set aside, but for numbers.
    """
    words = AnswerWords(answer)
    facts: list[Fact] = []
    first_of: dict[str, int] = {}
    alike = _Alike()
    checked = 0
    for number, unit in enumerate(units, 1):
        fate, reason = _alone(unit, first_of)
        first_of.setdefault(sentence_key(unit), number)
        if fate == "checked" and checked >= most:
            fate, reason = "surplus", f"beyond the {most} units of an answer that are checked"
        elif fate == "checked":
            fate, reason = _against(unit, words)
        if fate == "checked":
            checked += 1
            earlier = alike.earlier(number, unit)
            reason = f"much like unit {earlier}" if earlier else None
        facts.append(Fact(number, str(unit), fate, reason))
    return tuple(facts)


def _alone(unit: str, first_of: Mapping[str, int]) -> tuple[Fate, str | None]:
    """The fate of a unit by itself and by those before it."""
    if is_blank(unit):
        return "empty", "it holds no word"
    if isinstance(unit, NoClaim):
        return "no_claim", unit.why
    if (earlier := first_of.get(sentence_key(unit))) is not None:
        return "repeated", f"unit {earlier} says it"
    reason = why_no_claim(unit)
    return ("no_claim", reason) if reason else ("checked", None)


def _against(unit: str, words: AnswerWords) -> tuple[Fate, str | None]:
    """The fate of a unit by its answer."""
    if reason := _why_foreign(unit, words):
        return "foreign", reason
    reason = why_changed(unit, words)
    return ("changed", reason) if reason else ("checked", None)


def _why_foreign(unit: str, words: AnswerWords) -> str | None:
    content = content_words(unit)
    strange = [word for word in content if not words.words.holds(word)]
    unknown = [word for word in strange if not words.question_words.holds(word)]
    if len(unknown) > STRANGE * len(content):
        named = one_line(printable(", ".join(unknown)), 60)
        return f"{len(unknown)} of its {len(content)} content words are not in answer or question: {named}"
    if content and len(strange) == len(content) and not words.agrees:
        return "none of its content words is in the answer"
    return None


class _Alike:
    """Checked units, to tell a new one from."""

    def __init__(self) -> None:
        self._by_invariants: dict[tuple[object, int], list[tuple[int, frozenset[str]]]] = {}

    def earlier(self, number: int, unit: str) -> int | None:
        """The first earlier unit that is much like this one, which is put to them; null if none is."""
        numbers, negations = invariants(unit)
        same = self._by_invariants.setdefault((numbers, len(negations)), [])
        tokens = frozenset(clinical_tokens(unit))
        near = (n for n, words in same if len(tokens & words) >= ALIKE * len(tokens | words))
        earlier = next(near, None)
        same.append((number, tokens))
        return earlier
