"""Where a text names the answer of a task with options, or an option by its number or letter.

An explanation that says "the answer is 2" tells an examiner what to pick and explains nothing. Found are
statements in English, Spanish, French and Italian ("the correct option is C", "(Answer 4 correct)", "la
respuesta correcta es la 2"), and options by label ("Answers 1, 2 and 5 are"). A number alone is neither:
doses, ages, "grade 2", "type 1 diabetes" and "verbal response 4" stay. Not found are a place in the list
("the second option"), Roman numerals, and an option named in its own words. Every pattern is bounded, so that
reading is linear in the text.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from vivavoce.core.text import lazy_pattern
from vivavoce.language.sentences import sentence_starts

AnswerMentionKind = Literal["answer", "option", "all"]
"""`answer` says which option is right, `option` names options by label, `all` all or none of them at once."""


class AnswerMention(NamedTuple):
    """Characters `start` to `end` of a text that name the answer, or options.

    Of a statement they are all that goes with it: its sentence, its clause or its brackets. `named` are
    options by index from 0, as labels count (A and 1 are the first); empty where no label stands. `quote` are
    the words that were found.
    """

    start: int
    end: int
    kind: AnswerMentionKind
    named: tuple[int, ...]
    quote: str


def answer_mentions(text: str) -> list[AnswerMention]:
    """All mentions in order, none within another: statements go before the options that they name."""
    starts = [*sentence_starts(text), len(text)]
    statements = list(_statements(text, starts))
    answers = _without_overlaps([m for m in statements if m.kind == "answer"])
    rivals = [m for m in (*statements, *_options(text)) if m.kind != "answer"]
    ends = [m.start for m in answers]
    free_standing = []
    for mention in rivals:
        position = bisect_right(ends, mention.end - 1)
        if not (position and answers[position - 1].end > mention.start):
            free_standing.append(mention)
    return sorted([*answers, *_without_overlaps(free_standing)])


def _without_overlaps(mentions: Sequence[AnswerMention]) -> list[AnswerMention]:
    result: list[AnswerMention] = []
    for mention in sorted(mentions, key=lambda m: (m.start, not m.named, -m.end)):
        if not result or mention.start >= result[-1].end:
            result.append(mention)
    return result


# Labels: 1 to 10, A to J; a small letter only before a sign. "1, 2 and 5", "A-C", "(b)".
_LABEL = r"(?:(?<!\d)(?:10|[1-9])(?!\d)|(?-i:[A-J])(?!\w)|(?-i:[a-j])(?=[)\].,;:!?*]|$))"
_OPEN, _CLOSE = r"[(\[*\"“']{0,2}", r"[)\]*\"”']{0,2}"
_AND = r"(?:\s?,\s?(?:(?:and|or|y|e|et|ou|o)\s)?|\s?[&/]\s?|\s(?:and|or|to|y|e|o|et|ou|a|à)\s|\s?[-–]\s?)"
_LABELS = rf"{_OPEN}{_LABEL}{_CLOSE}(?:{_AND}{_OPEN}{_LABEL}{_CLOSE}){{0,9}}"
_FOLLOWS = (
    r"is|are|was|were|would|will|can|could|may|might|must|should|has|have|had|does|do|did|seems?|states?|says?"
    r"|refers?|describes?|and|or|but|because|since|as|which|that|correct\w{0,2}|corrett[ae]|incorrect\w{0,2}"
    r"|right|wrong|true|false|verdader[ao]s?|fals[ao]s?|vraies?|fausses?|ver[ae]|not|also|in|for|given|due|es|son"
    r"|ser[ií]an?|no|porque|ya|que|pues|dado|y|e|o|u|est|sont|car|puisque|parce|et|ou|ne|n['’]est|è|sono|perch[eé]"
    r"|poich[eé]|non|to|the"
)
"""Words that may stand behind a label; behind a number of something else stands its unit."""
_END = rf"(?=\s{{0,2}}(?:$|[()\[\]}}'\"”’»*_:;!?]|[.,](?!\d)|[-–—](?!\d)|(?:{_FOLLOWS})(?!\w)))(?!\s?[%°])"
_COUNTED = (
    r"(?:\d|[.,/-]\d|\s?[%°‰]|\s?(?:[mµμnk]?g|kg|mcg|m?l|dl|[mck]?m|mm\w+|mmol|mEq|UI?|IU|h|hrs?|min|s|hours?|days?"
    r"|weeks?|months?|years?|minutes?|times|out|of|questions?|patients?|people|cases?|items?|points?|doses?|drugs?"
    r"|horas?|d[ií]as?|semanas?|meses|años|veces|preguntas?|heures?|jours?|semaines?|mois|ans|fois|questions"
    r"|ore|giorni|settimane|mesi|anni|volte|domande|per|de)(?!\w))"
)
"""What follows a number that counts something."""
_NOUN = (
    r"(?:answers?|options?|choices?|alternatives?|statements?|respuestas?|opci[oó]n(?:es)?|alternativas?"
    r"|afirmaci[oó]n(?:es)?|enunciados?|r[eé]ponses?|propositions?|rispost[ae]|opzion[ei]|alternativ[ae]"
    r"|affermazion[ei])"
)
_RIGHT = (
    r"(?:(?:only\s|most\s|m[aá]s\s|plus\s|pi[uù]\s)?(?:correct|right|true|accurate|incorrect|wrong|false"
    r"|correctas?|verdaderas?|acertadas?|incorrectas?|falsas?|correctes?|bonnes?|vraies?|exactes?|fausses?"
    r"|incorrectes?|corrett[ae]|esatt[ae]|giust[ae]|ver[ae]|errat[ae]|sbagliat[ae]))"
)
_BEST = (
    rf"(?:{_RIGHT}|best|final|keyed|most\s(?:appropriate|likely|suitable|adequate)|mejor|m[aá]s\sadecuada"
    r"|meilleure|migliore)"
)
_IS = r"(?:is|are|was|(?:would|will|must|should)\sbe|es|ser[ií]a|son|est|serait|sont|è|sarebbe|sono)"
_ASIDE = (
    r"(?:\s(?:to|for|in|of|a|en|de|à|per)\s(?:this|the|our|esta|este|la|cette|ce|questa|questo)\s(?:question|case"
    r"|patient|item|problem|pregunta|caso|paciente|cas|domanda)|\s(?:here|then|therefore|thus|clearly))?"
)
_LINK = rf"(?:\s?[:=]\s{{0,3}}|\s{_IS}\s{{1,3}}(?::\s?)?|\s(?:→|->|=>)\s)"
_THE = r"(?:(?:the|la|el|il|l['’]|number|letter|n[ºo°]\.?|letra|lettre|lettera|n[uú]mero|num[eé]ro)\s?){0,2}"
_LABELLED = rf"{_THE}(?:{_NOUN}\s)?{_THE}(?P<labels>{_LABELS}){_END}"
_ONE = rf"(?:\s(?:one|{_NOUN})\b)?"
_FLAGS = re.IGNORECASE | re.MULTILINE

_CLAIMS = (
    # the (best) answer is (option) 2; la respuesta correcta es la 2; correct response: 2
    lazy_pattern(
        rf"\b(?:(?:{_BEST}\s)?{_NOUN}(?:\s{_BEST})?|{_RIGHT}\sresponses?){_ASIDE}{_LINK}(?P<not>(?:not|no|non)\s)?"
        rf"{_LABELLED}",
        _FLAGS,
    ),
    # the correct one is C; la correcta es la 1
    lazy_pattern(rf"\b(?:the|la|le)\s{_RIGHT}(?:\sone)?{_LINK}{_LABELLED}", _FLAGS),
    # answer 4 (is the) correct (one); las opciones 1 y 3 son verdaderas; la 3 es correcta
    lazy_pattern(
        rf"\b(?:{_NOUN}|la|las)\s(?:number\s|letter\s)?(?P<labels>{_LABELS})(?:\s{_IS})?"
        rf"(?P<the>\s(?:the|la|las|le|il))?\s{_BEST}\b{_ONE}",
        _FLAGS,
    ),
    # B is correct; 3: false; (C) is the right answer
    lazy_pattern(
        rf"(?:^|(?<=[.;:!?]\s))\s{{0,3}}(?P<labels>{_OPEN}{_LABEL}{_CLOSE})(?:\s{_IS}|\s?[:=])"
        rf"(?P<the>\s(?:the|la|il))?\s{_BEST}\b{_ONE}",
        _FLAGS,
    ),
)
_IN_WORDS = lazy_pattern(
    rf"\b(?:the|our|my)\s(?:{_BEST}\s)?answer{_ASIDE}\s{_IS}\s"
    r"|(?:^|(?<=[.!?]\s))\s{{0,3}}(?:final\s|correct\s)?answer\s?:\s"
    rf"|\b{_RIGHT}\s(?:option|choice|alternative|statement|response){_ASIDE}\s{_IS}\s"
    r"|\b(?:respuesta|opci[oó]n|alternativa|afirmaci[oó]n|r[eé]ponse|proposition|risposta|opzione|affermazione)"
    rf"\s{_RIGHT}{_ASIDE}{_LINK}|\b(?:bonne|vraie)\sr[eé]ponse{_ASIDE}{_LINK}"
    rf"|\b{_IS}\s(?:therefore\s|thus\s|clearly\s)?(?:the|la|le)\s(?:{_RIGHT}\s)(?:{_NOUN}|response)\b(?!\s?\?)"
    rf"|\b(?:es|est|è)\sla\s{_NOUN}\s{_RIGHT}\b",
    _FLAGS,
)
"""The answer in words: "the correct option is to wait", "Pulmonary neoplasia is the correct answer"."""
_OPTION = lazy_pattern(
    rf"\b(?:(?:the|las?|l[eo]s?|il|gli)\s|l['’])?{_NOUN}\s(?:number\s|letter\s)?(?P<labels>{_LABELS})(?!{_COUNTED})",
    _FLAGS,
)
_ALL = lazy_pattern(
    r"\b(?:all|none|both|neither)\sof\sthe\s(?:above|options|answers)\b|\b(?:todas|ninguna)\sde\slas\santeriores\b"
    r"|\baucune\sdes\sr[eé]ponses\b|\bnessuna\sdelle\sprecedenti\b",
    _FLAGS,
)
_SINGLE = lazy_pattern(_LABEL, _FLAGS)
_RANGE = lazy_pattern(
    rf"({_LABEL})[)\]]{{0,2}}(?:\s?[-–]\s?|\sto\s|\sa\s|\sà\s)[(\[]{{0,2}}({_LABEL})", _FLAGS
)
_DENIED = lazy_pattern(r"(?:\bnot|n['’]t|\bno|\bnon)\s{0,2}$", re.IGNORECASE)
_DENIES = lazy_pattern(r"(?:not|no|non)\b", re.IGNORECASE)
_WRONG = lazy_pattern(r"\b(?:incorr|wrong|fals|fauss|errat|sbagliat)", re.IGNORECASE)
_PLURAL = lazy_pattern(
    r"\b(?:answers|options|choices|alternatives|statements|responses|respuestas|opciones|alternativas|afirmaciones"
    r"|r[eé]ponses|propositions|risposte|opzioni|affermazioni)\b",
    re.IGNORECASE,
)
_NEXT_CLAUSE = lazy_pattern(
    r",?\s{1,2}(?=(?:because|since|given|due to|as (?:it|this|these|the|he|she|they)|porque|ya que|puesto que"
    r"|dado que|car|puisque|parce qu|perch[eé]|poich[eé])\b)|[,;]\s{1,2}(?:and|but|y|et|e)\s",
    re.IGNORECASE,
)
_LEAD = lazy_pattern(
    r"[,;:–—]\s{1,2}(?:(?:and|so|hence|thus|then|therefore|y|por tanto|por lo tanto|as[ií] que|donc|et|quindi"
    r"|dunque),?\s(?:that\s)?)?(?:(?:the|our|my|la|le|il|l['’])\s?)?$",
    re.IGNORECASE,
)
_OPENING = lazy_pattern(
    r"\s{0,9}(?:therefore|thus|hence|so|in conclusion|in summary|accordingly|consequently|por (?:lo )?tanto"
    r"|en conclusi[oó]n"
    r"|donc|en conclusion|quindi|pertanto|in conclusione)",
    re.IGNORECASE,
)
_STOP = lazy_pattern(r"[)\]*]{0,2}[.!?](?=\s|$)\s{0,2}")
_FAR = 200
"""Characters of a sentence that are looked at before and behind a statement."""


def _statements(text: str, starts: Sequence[int]) -> Iterator[AnswerMention]:
    """Statements; "option B is incorrect" says nothing of the answer, and is a mention of the option."""
    for pattern in _CLAIMS:
        for match in pattern.finditer(text):
            named = options_named(match["labels"])
            if "not" in pattern.groupindex and match["not"]:
                begin, end = match.span("labels")
                yield AnswerMention(begin, end, "option", named, match["labels"])
            elif _turns_down(match, named):
                begin, end = _option_span(match)
                yield AnswerMention(begin, end, "option", named, text[begin:end])
            elif not _denied(text, match):
                yield _statement(text, match, starts, named)
    for match in _IN_WORDS.finditer(text):
        if not _denied(text, match) and not _DENIES.match(text, match.end()):
            yield _statement(text, match, starts, (), in_words=True)


def _turns_down(match: re.Match[str], named: Sequence[int]) -> bool:
    """True for "B is incorrect" and "the false ones are A and B", not for "B is the incorrect one"."""
    definite = "the" not in match.re.groupindex or match["the"]
    is_plural = len(named) > 1 or _PLURAL.search(match[0])
    return bool(_WRONG.search(match[0]) and (not definite or is_plural))


def _denied(text: str, match: re.Match[str]) -> bool:
    return bool(_DENIED.search(text, max(0, match.start() - 6), match.start()))


def _options(text: str) -> Iterator[AnswerMention]:
    for match in _OPTION.finditer(text):
        begin, end = _option_span(match)
        yield AnswerMention(begin, end, "option", options_named(match["labels"]), text[begin:end])
    for match in _ALL.finditer(text):
        yield AnswerMention(match.start(), match.end(), "all", (), match[0])


def _option_span(match: re.Match[str]) -> tuple[int, int]:
    """The noun and its labels, without a sign that only closes what was opened before the noun."""
    end, labels = match.end("labels"), match["labels"]
    while (
        labels
        and labels[-1] in ")]\"”'*"
        and labels.count(labels[-1]) > labels.count({")": "(", "]": "[", "”": "“"}.get(labels[-1], "\0"))
    ):
        labels, end = labels[:-1], end - 1
    begin = match.start() + len(match[0]) - len(match[0].lstrip())
    return begin, end


def options_named(labels: str) -> tuple[int, ...]:
    """The options that labels name, by index from 0, each once: "1, 2 and 5", "A-C"."""
    named: list[int] = []
    for single in _SINGLE.finditer(labels):
        named.append(_index(single[0]))
    for first, last in _RANGE.findall(labels):
        named += range(_index(first), _index(last) + 1)
    return tuple(sorted(set(named)))


def _index(name: str) -> int:
    return int(name) - 1 if name.isdigit() else ord(name.upper()) - ord("A")


def _statement(
    text: str,
    match: re.Match[str],
    starts: Sequence[int],
    named: tuple[int, ...],
    *,
    in_words: bool = False,
) -> AnswerMention:
    """The statement with all of its sentence that goes with it: brackets, a clause, or the whole."""
    position = bisect_right(starts, match.start() + len(match[0]) - len(match[0].lstrip()))
    first, last = starts[position - 1], starts[position] if position < len(starts) else len(text)
    near = max(first, match.start() - _FAR)
    if brackets := _brackets(text, match, near, min(last, match.end() + _FAR)):
        return AnswerMention(*brackets, "answer", named, match[0].strip())
    lead = _LEAD.search(text, near, match.start())
    is_alone = lead is None or _predicate(match, in_words) or _OPENING.fullmatch(text, near, lead.start())
    begin = first if is_alone or lead is None else lead.start()
    end = _statement_end(text, match, min(last, match.end() + _FAR), alone=bool(is_alone), in_words=in_words)
    return AnswerMention(begin, end or last, "answer", named, match[0].strip())


def _statement_end(text: str, match: re.Match[str], far: int, *, alone: bool, in_words: bool) -> int | None:
    """Where a statement ends before its sentence does; null where both end together."""
    stop = None if in_words else _STOP.match(text, match.end())
    if stop:
        return stop.end()
    following = _NEXT_CLAUSE.search(text, match.end(), far)
    if following is None or not (in_words or following.start() == match.end()):
        return None
    # ", and more" goes on with what stands before a clause that goes
    return following.end() if alone or following[0].isspace() else following.start()


def _brackets(text: str, match: re.Match[str], begin: int, far: int) -> tuple[int, int] | None:
    """The brackets that a statement stands in; null for none."""
    opened, closed = (
        max(text.rfind(sign, begin, match.start() + 1) for sign in signs) for signs in ("([", ")]")
    )
    ends = [place for sign in ")]" if (place := text.find(sign, match.end() - 1, far)) >= 0]
    return (opened, min(ends) + 1) if opened > closed and ends else None


def _predicate(match: re.Match[str], in_words: bool) -> bool:
    """True for "X is the correct answer": what is said to be the answer stands before it."""
    return in_words and bool(re.match(_IS + r"\s", match[0], re.IGNORECASE))
