"""A response without what is no part of the answer: echoed prompt, cut end, repetitions, non-answers.

DAHL, section 3.3, step 0, names the first three and "regular expression"; the rules are stated below.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from vivavoce.core.endings import ending
from vivavoce.core.text import lazy_pattern, spoken
from vivavoce.facts.fact import Cleaned
from vivavoce.language.sentences import BARE_MARK, CITATIONS, CLOSERS, END_MARKS, LIST_MARK, sentences

_INSTRUCTION = (
    "An examination question from the biomedical domain will be given. Please answer the question as "
    "truthfully as possible. If you don't know the answer to a question, "
)
# What base models repeat of DAHL's prompt: the paper's wording (Figure 8) and the released code's.
_INSTRUCTIONS = (
    _INSTRUCTION + "please don't share false information.",
    _INSTRUCTION + "tell me you don't know. Never share false information.",
)

_TURN = re.compile(r"<\|[^|<>\n]{1,60}\|>")
_SPECIAL = re.compile(r"</?s>|<pad>|\[PAD\]|<bos>|<eos>|<end_of_turn>|\ufeff")
_BREAKS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_BLANKS = re.compile(r"[^\S\n]+")
_EMPTY_LINES = re.compile(r" ?\n[\s]*+")

_DECORATION = r"[\s*_#>\"'“”‘’`]*+"
_LEAD = re.compile(_DECORATION)
_LABEL = re.compile(
    rf"{_DECORATION}(?:(?:question|q|answer|a|response|instruction|user|assistant)\d{{0,3}}[*_]*:[*_]*"
    r"|(?:instruction|system|user|assistant)(?=\n|\Z))\s*+",
    re.IGNORECASE,
)
_NEXT_QUESTION = re.compile(r"\n[*_#> ]*+(?:question|q) ?\d{0,3}[*_]*:", re.IGNORECASE)
_AFTER_ECHO = re.compile(rf"[{CLOSERS}]*+ ?([.?!:…？]*+)[{CLOSERS}]*+(\s*+)")
_PLAIN = str.maketrans("’‘", "''")

_CLOSED = re.compile(rf"[{END_MARKS}][{CLOSERS}]*{CITATIONS}*(?:</\w{{1,10}}>)*\Z")
_ELLIPSIS = re.compile(rf"(?:\.\.\.|…)[{CLOSERS}]*\Z")
_CUT = re.compile(r"(?:^|[\s(])(?:e\.g|i\.e|vs|cf|Dr|Fig|approx)\.\Z|\w No\.\Z", re.IGNORECASE)
_TAIL, _HEAD = 200, 600
"""Characters of a sentence that its end and its beginning are told by."""
_KINDS = ("prompt", "incomplete", "duplicate", "noncommittal")

_MARKS = re.compile(rf"(?:{LIST_MARK}\s+)+")
_POWERS = re.compile("[²³¹⁰⁴-⁹₀-₉]")
_DASHES = re.compile("[\u2010-\u2015]")
_POINT = re.compile(r"\.(?=\d)|(?<=\d)[,:/](?=\d)")
_STAYS = frozenset("%‰<>=+-′″")
_PRIVATE = 0xE000
"""Points, commas and strokes inside a number go to a private place while punctuation is taken away."""
_SURROUND = "*_\"'“”‘ "

_LEAD_IN = (
    r"(?:(?:unfortunately|however|but|and|so|well|therefore|thus|regrettably|honestly|to be honest"
    r"|at this time|currently|(?:based on|given|from|without|with) [^,]{1,120}),?\s+){0,3}"
)
_INFORMATION = (
    r"(?:from|based on|without|with|using) "
    r"[^.]{0,60}(?:information|question|text|context|passage|data|details)"
)
_NOT = r"can(?:\ ?not|'t)\ be"
_NONCOMMITTAL = lazy_pattern(
    rf"""(?:i(?:'m|\ am)\ (?:so\ |very\ )?)?sorry\b | i\ apologi[sz]e\b | my\ apologies\b | as\ an\ ai\b
  | {_LEAD_IN.replace(" ", "[ ]")}(?:
      i\ (?:really\ |simply\ |just\ )?(?:do\ not|don't)
      \ (?:know\b|have\ (?:enough|any|sufficient)\ information)
    | i(?:'m|\ am)\ (?:not\ sure|unable\ to|uncertain)\b
    | i\ (?:can\ ?not|can't|could\ not|couldn't)\ (?:answer|provide|determine|say|find|confirm|give)\b
    | it\ {_NOT}\ (?:answered\b
      | (?:determined|inferred)\ *(?:[.!?…]|\Z|{_INFORMATION.replace(" ", "[ ]")}))
    | (?:this|the|your)\ (?:question|answer)\b.{{0,80}}?
      \b(?:{_NOT}\ answered|is\ unknown|is\ not\ provided)\b
    | there\ is\ (?:not\ enough|insufficient|no)\ information\b.{{0,80}}?\b(?:to\ answer|in\ the\ question)\b
  )""",
    re.IGNORECASE | re.VERBOSE,
)
_NOTHING = re.compile(r"\W*(?:none|unknown|n/a)\W*", re.IGNORECASE)


def clean(
    question: str, response: str, prompt: str | None = None, finish_reason: str | None = None
) -> Cleaned:
    """The sentences of `response` that answer, and what was left out.

    The rules, in their order. Numbers are never changed, and no word inside a sentence is.

    - Normal form: NFC, one kind of line end, one space; special tokens such as `<|eot_id|>` and
      thinking go.
    - `prompt`: at the start only, and as often as it stands there, the rendered `prompt`, the instruction of
      DAHL, the question and a label such as `Answer:`. An echo ends where its sentence or line ends: a
      question that a true sentence merely begins with stays in it. Then all from a later line that asks a
      new question (`Q2:`), and whole sentences that equal the question.
    - Sentences: see `vivavoce.language.sentences`.
    - `incomplete`: the last sentence where it is cut: without an end mark (accepted where the finish reason
      says complete), after a colon or `e.g.`, or with dots where it says cut; with it bare list markers. At
      most one sentence goes, and none that is noncommittal.
    - `duplicate`: a sentence that says an earlier one again, but for case, list marker and punctuation. Other
      numbers, signs or powers make another sentence.
    - `noncommittal`: a sentence that says of the answer, not of the world, that it is not known: "I am not
      sure", "It cannot be answered". "The cause is unknown" is a claim and stays.

    The status is `noncommittal` if only such sentences were there, `empty` if nothing was left, else `ok`.
    Whether a response refuses as a whole, in any language, is told before by `vivavoce.reading.refusal`,
    which leaves a refusal with content an answer; here noncommittal sentences of that answer go one by one.
    Time grows with the length of the response.
    """
    response = _normal_form(spoken(response).text)
    text = _without_prompt(response, question, prompt)
    echoed = len(text) < len(response)
    if _NOTHING.fullmatch(text):
        return Cleaned("noncommittal", (), _named(echoed, False, False, True))
    every = sentences(text)
    keys = {part: sentence_key(part) for part in {*every, question}}
    parts = [part for part in every if keys[part] != keys[question]]
    complete = _without_cut_end(parts, finish_reason)
    first = _without_duplicates(complete, keys)
    claims = tuple(part for part in first if not _is_noncommittal(part))
    removed = _named(
        echoed or len(parts) < len(every),
        len(complete) < len(parts),
        len(first) < len(complete),
        len(claims) < len(first),
    )
    return Cleaned("ok" if claims else "noncommittal" if first else "empty", claims, removed)


def _named(*kinds: bool) -> tuple[str, ...]:
    return tuple(name for name, applied in zip(_KINDS, kinds, strict=True) if applied)


def _normal_form(text: str) -> str:
    plain = _TURN.sub("\n", _SPECIAL.sub("", unicodedata.normalize("NFC", text)))
    plain = _BREAKS.sub("\n", plain)
    return _EMPTY_LINES.sub("\n", _BLANKS.sub(" ", plain)).strip()


def _phrases(question: str, prompt: str | None) -> Iterator[list[str]]:
    """What may be echoed, the longest first, each as its words without the mark at its end."""
    preceding = (prompt or "").partition(question.strip())[0] if question.strip() else ""
    for text in (prompt or "", preceding if len(preceding.split()) > 2 else "", *_INSTRUCTIONS, question):
        plain = _normal_form(text).translate(_PLAIN).casefold()
        if words := plain.rstrip(f" \n{END_MARKS}{CLOSERS}:").split():
            yield words


def _without_prompt(text: str, question: str, prompt: str | None) -> str:
    start = _prompt_end(text, list(_phrases(question, prompt)))
    later = _NEXT_QUESTION.search(text, start)
    return text[start : later.start() if later else None].strip()


def _prompt_end(text: str, phrases: list[list[str]]) -> int:
    """Where the echo of the prompt at the start of the text ends."""
    place, start = -1, 0
    while place < start:
        place = start
        if label := _LABEL.match(text, start):
            start = label.end()
        for words in phrases:
            start = _echo_end(text, start, words)
    return start


def _echo_end(text: str, start: int, words: list[str]) -> int:
    """Where these words and their end mark end; `start` if no sentence or line of them stands there."""
    lead = _LEAD.match(text, start)
    end = _words_end(text, lead.end() if lead else start, words)
    following = _AFTER_ECHO.match(text, end) if end is not None else None
    if following is None:
        return start
    closed = following.end() == len(text) or "\n" in following[2] or following[1].endswith(":")
    begins_next = following[1] and following[2] and not text[following.end()].islower()
    return following.end() if closed or begins_next else start


def _words_end(text: str, place: int, words: list[str]) -> int | None:
    """Where these words end in the text, one blank between them; null if others stand at the place."""
    for number, word in enumerate(words):
        if number:
            if not text[place : place + 1].isspace():
                return None
            place += 1  # the normal form has one blank at most
        if text[place : place + len(word)].translate(_PLAIN).casefold() != word:
            return None
        place += len(word)
    return place


def _without_duplicates(parts: list[str], keys: dict[str, str]) -> list[str]:
    earliest: dict[str, str] = {}
    for part in parts:
        earliest.setdefault(keys[part], part)
    return list(earliest.values())


def sentence_key(sentence: str) -> str:
    """What tells a sentence from others: words, numbers and signs; no case, list marker or punctuation."""
    plain = _MARKS.sub("", sentence, count=1) if _MARKS.match(sentence) else sentence
    plain = _POWERS.sub(
        lambda power: f"^{power[0]}", plain
    )  # NFKC makes 10 of a power of ten a longer number
    plain = _DASHES.sub("-", unicodedata.normalize("NFKC", plain)).lower()
    plain = _POINT.sub(lambda point: chr(_PRIVATE + ord(point[0])), plain)
    return " ".join("".join(_blank_of(c) for c in plain).split())


@lru_cache(maxsize=4096)
def _blank_of(character: str) -> str:
    return " " if character not in _STAYS and unicodedata.category(character)[0] == "P" else character


def _without_cut_end(parts: list[str], finish_reason: str | None) -> list[str]:
    """The sentences without bare list markers at their end, and without one sentence that is cut."""
    end = len(parts)
    while end > 1 and BARE_MARK.fullmatch(parts[end - 1]):
        end -= 1
    cut = end > 0 and _is_cut(parts[end - 1], finish_reason) and not _is_noncommittal(parts[end - 1])
    return parts[: end - 1 if cut else end]


def _is_cut(sentence: str, finish_reason: str | None) -> bool:
    tail = sentence[-_TAIL:].rstrip()
    if tail.rstrip(CLOSERS + " ").endswith(":") or _CUT.search(tail):
        return True
    if ending(finish_reason) == "cut" and _ELLIPSIS.search(tail):
        return True
    row = sentence.startswith("|") and tail.endswith("|")  # a row of a table is closed by its own mark
    return ending(finish_reason) != "complete" and not row and not _CLOSED.search(tail)


def _is_noncommittal(sentence: str) -> bool:
    """True if a sentence says of the answer that it is not known."""
    plain = _MARKS.sub("", sentence[:_HEAD], count=1) if _MARKS.match(sentence) else sentence[:_HEAD]
    return bool(_NONCOMMITTAL.match(plain.translate(_PLAIN).lstrip(_SURROUND)))
