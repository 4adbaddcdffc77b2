"""What the words behind an option say of it, to the end of the line: "A) Aspirin: INR normal, so excluded".

And whether a clause behind an option is the reason for choosing it.
"""

import itertools
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from vivavoce.language.tokens import CLAUSE, COMMA, LINE, NONE, SENTENCE, Doc, has_any
from vivavoce.reading import lexicon as words
from vivavoce.reading.mentions import WINDOW, Verdict, only_quotes
from vivavoce.reading.options import Mention
from vivavoce.reading.word_roles import by_head, width

JUDGES = words.NOT_RIGHT | words.CHOSEN_RIGHT
"""The words that call an option right or wrong."""


class Judging(NamedTuple):
    """The words that call what is named wrong, those that call it right, and what may begin a verdict."""

    wrong: frozenset[str]
    right: frozenset[str]
    heads: frozenset[str]


OPTIONS = Judging(words.NOT_RIGHT, words.CHOSEN_RIGHT, JUDGES | {"which", "who"})
CANNOT = frozenset({"cannot", "cant"})
_DENIALS_OF_DOUBT = words.NOT_LEFT | {"little", "alcun"}
_SHORT = 4
"""Words of a clause that denies the merit of an option: "no added clinical value"."""
_AROUND, _LONGEST = 12, 40
"""Words before an option, half of those behind it, and characters of each, that a phrase may have."""
_ENDS_VERDICT = words.RESET | (words.REASONS - {"as", "given", "due", "being"})
_ITS = (["it"], ["its"], ["this"], ["that"], ["thats"], ["es"], ["cest"], ["ist"], ["e"])


def remark(doc: Doc, mention: Mention, j: int) -> Verdict | None:
    """The verdict at the end of a line about one option: "A) Aspirin: INR normal, so excluded"."""
    heads_line = doc.breaks[mention.i] >= LINE and mention.j < j and doc.gap_has(mention.j, ":-–—")
    if not heads_line or doc.forms[mention.i : mention.j] in (["yes"], ["no"]):
        return None
    start = next((k for k in range(j - 1, mention.j, -1) if doc.breaks[k] != NONE), mention.j)
    clause = doc.forms[start:j]
    rival = any(_letter_with_colon(doc, k) for k in range(max(mention.j, start - WINDOW), start))
    if rival or len(clause) > WINDOW or not has_any(clause, JUDGES) or gives_reason(doc, mention, start, j):
        return None
    if denials(clause):
        return "rejected"
    return None if "out" in clause and "ruled" not in clause else "chosen"


def but_wrong(doc: Doc, mention: Mention, end: int) -> bool:
    """True for "B is often chosen, but it is wrong": a clause of a few words turns the option down."""
    window = doc.forms[mention.j : min(end, mention.j + WINDOW)]
    if words.BUTS.isdisjoint(window):
        return False
    turn = mention.j + next(n for n, form in enumerate(window) if form in words.BUTS)
    clause = doc.forms[turn + 1 : min(end, turn + 5, doc.sentence_end(mention.i))]
    return clause[:1] in _ITS and doc.ends(turn + 1 + len(clause)) and denials(clause) % 2 == 1


def verdict_of_phrase(doc: Doc, mention: Mention) -> Verdict | None:
    """The verdict of "the trap is A", "could it be A?" or "from A to B", whatever else is said; else null."""
    text = phrase_around(doc, mention)
    if words.ASIDES.search(text) or words.UNSPACED_ASIDES.search(text.replace(" ", "")):
        return "rejected"
    return "chosen" if words.AFFIRMATIONS.search(text) else None


def verdict_of_saying(doc: Doc, mention: Mention) -> Verdict | None:
    """The verdict on a value of true/false in "this is true. It isn't" and "false to say it is false"."""
    text = phrase_around(doc, mention)
    if words.TRUTH_OF_SAYING.search(text):
        return "tentative"
    return "rejected" if words.TRUTH_ASIDES.search(text) else None


def phrase_around(doc: Doc, mention: Mention) -> str:
    """The words and signs of the sentence of a mention, which is "@", and of the next."""
    start = max(doc.last_break(mention.i, SENTENCE), mention.i - _AROUND)
    text = "" if doc.breaks[start] >= SENTENCE else "…"
    for k in range(start, mention.i):
        text += f"{_sign(doc, k) * (k > start)} {doc.forms[k][:_LONGEST]}"
    text += f"{_sign(doc, mention.i) * (mention.i > start)} @"
    ends = 0
    for k in range(mention.j, min(len(doc), mention.j + 2 * _AROUND) + 1):
        sign = _sign(doc, k)
        text += sign
        ends += sign in {".", "?"}
        if ends == 2 or k == len(doc):
            break
        text += f" {doc.forms[k][:_LONGEST]}"
    return text.strip()


def _sign(doc: Doc, k: int) -> str:
    """The sign before token k: an end of a sentence, a question mark, a comma, any other, or none."""
    if doc.gap_has(k, "?？"):
        return "?"
    if doc.gap_has(k, ".!。！") or k == len(doc) or doc.breaks[k] >= SENTENCE:
        return "."
    return "," if doc.breaks[k] == COMMA else ";" if doc.breaks[k] > NONE else ""


def _letter_with_colon(doc: Doc, k: int) -> bool:
    """True for a capital that a colon follows: the B of "A: incorrect, B: correct"."""
    letter = doc.surface(k, k + 1)
    return len(letter) == 1 and letter.isupper() and doc.gap_has(k + 1, ":")


def denials(window: Sequence[str], wrong: frozenset[str] = OPTIONS.wrong) -> int:
    """How many words turn down; "ruled out" is one, and "rules out" turns down what comes after it."""
    is_ruled_out = "out" in window and has_any(window, {"ruled", "rule", "rules", "ruling"})
    pairs = sum(pair in words.NOT_RIGHT_PAIRS for pair in itertools.pairwise(window))
    return sum(word in wrong for word in window) + pairs - is_ruled_out


def gives_reason(doc: Doc, mention: Mention, i: int, j: int | None = None) -> bool:
    """True if the clause at token i is the reason for a choice: "E: asymptomatic bacteriuria, no treatment".

    The choice is a letter at the head of a line, or announced, and no other line begins with one; the clause
    speaks of something else than the option.
    """
    is_in_front = doc.breaks[mention.i] >= LINE or _announced(doc, mention.i)
    if mention.by not in {"label", "both"} or not is_in_front:
        return False
    clause = doc.forms[i : doc.sentence_end(i) if j is None else j]
    if not (denies_a_thing(doc, i) or _of_something_else(clause)):
        return False
    return not any(k != mention.i and _letter_heads_line(doc, k) for k in range(len(doc)))


def _announced(doc: Doc, k: int) -> bool:
    """True behind a colon or a copula: "Answer: B", "the answer is B"."""
    return doc.gap_has(k, ":：") or (k > 0 and doc.breaks[k] == NONE and doc.forms[k - 1] in words.COPULA)


def denies_another(doc: Doc, mention: Mention) -> bool:
    """True if the clause behind a choice is its reason, and denies another thing: "B (no interactions)"."""
    k = mention.j
    return doc.ends(k) and denies_a_thing(doc, k) and gives_reason(doc, mention, k)


def denies_a_thing(doc: Doc, k: int) -> bool:
    """True if the clause at token k denies another thing than what stands before: "no further tests"."""
    if doc.breaks[k] >= CLAUSE and has_any(doc.forms[k : k + 2], words.OTHERS):
        return True
    thing = k + width(_withouts(), doc, k)
    return (
        k < thing < len(doc) and doc.breaks[thing] == NONE and doc.forms[thing] not in words.MERITS | JUDGES
    )


def denies_merit(doc: Doc, mention: Mention, limit: int) -> bool:
    """True for a clause up to token `limit` that denies the merit of the letter before it: "B. Kein Nutzen.".

    Any word is a merit behind a letter and a colon, "B: no activity", unless an answer is announced.
    """
    k = mention.j
    if mention.by == "text" or k >= limit:
        return False
    thing = k + width(_withouts(), doc, k)
    end = next((n for n in range(thing + 1, min(thing + _SHORT, limit) + 1) if doc.ends(n)), thing)
    if thing in (k, end) or doc.forms[thing] in words.OTHERS | {"other"}:
        return False
    if doc.gap_has(k, ":：") and end - thing <= 1 + (not doc.gap(end - 1)) and not _announced(doc, mention.i):
        return True
    merits = {doc.forms[thing], doc.forms[end - 1], "".join(doc.forms[max(thing, end - 2) : end])}
    return not merits.isdisjoint(words.MERITS)


@cache
def _withouts() -> Mapping[str, Sequence[tuple[str, ...]]]:
    """What denies the thing behind it, in any language, by its first word."""
    return by_head(lambda part: part.withouts)


def _letter_heads_line(doc: Doc, k: int) -> bool:
    if doc.breaks[k] < LINE:
        return False
    letter = doc.surface(k, k + 1)
    return len(letter) == 1 and letter.isalpha() and doc.breaks[k + 1 : k + 2] != [NONE]


def _of_something_else(clause: Sequence[str]) -> bool:
    """True if a clause behind an option has a subject of its own: "agranulocytosis must be ruled out".

    Of the option are "excluded", "must be excluded", "this is wrong", "no effect".
    """
    if has_any(clause, _ITSELF):
        return False
    for word in clause:
        if word in JUDGES or word in words.PREDICATE:
            return False
        if word not in _NO_SUBJECTS and not word.endswith("ly"):
            return True
    return False


_ITSELF = (
    words.CHOICE_NOUNS
    | words.LABEL_NOUNS
    | frozenset({"it", "its", "this", "that", "these", "they", "which", "answer", "drug", "agent", "one"})
    | frozenset({"medication", "therapy", "treatment", "test", "procedure"})
)
"""What speaks of the option without its name."""
_NO_SUBJECTS = (
    words.LIGHT
    | words.DEGREES
    | frozenset({"already", "now", "here", "still", "very", "quite", "however", "but", "by", "in", "for"})
)


# --- the words behind a mention


def verdict_behind(
    doc: Doc, mentions: Sequence[Mention], n: int, j: int, judging: Judging = OPTIONS
) -> Verdict:
    """The verdict of the words after a mention, up to the clause's end or the next mention."""
    mention = mentions[n]
    following = mentions[n + 1].i if n + 1 < len(mentions) else None
    if (outright := _outright(doc, mention, following, j)) is not None:
        return outright
    end = min(j, j if following is None else following, mention.j + WINDOW)
    window = _window_behind(doc, mention, following, end, judging)
    if not window:
        return "named"
    if end == following and len(window) == end - mention.j:
        window = _first_part(window)
    return weigh_behind(window, judging)


def _outright(doc: Doc, mention: Mention, following: int | None, j: int) -> Verdict | None:
    """The verdict of a tick, of a remark at the end of a line, or of "but it is wrong"; null without."""
    verdict = ticked(doc, mention, following)
    if verdict is None and following is None:
        verdict = remark(doc, mention, j)
    limit = j if following is None else following
    if limit == mention.j < len(doc) and doc.gap_has(limit, "。"):
        limit = doc.sentence_end(limit)  # "B。没有用"
    if verdict is None and (but_wrong(doc, mention, limit) or denies_merit(doc, mention, limit)):
        return "rejected"
    return verdict


def weigh_behind(window: Sequence[str], judging: Judging = OPTIONS) -> Verdict:
    """The verdict of the words behind a mention."""
    negations = 0 if denies_nothing(window) else denials(window, judging.wrong)
    if negations % 2 or _runner_up(window) or window[:3] == ["would", "have", "been"]:
        return "rejected"
    if negations:
        return "of the case" if has_any(window, CANNOT) else "not wrong"  # "B cannot be ruled out"
    if window[0] == "would" and has_any(window[1:3], words.FORESEES):
        return "tentative"
    return "chosen" if has_any(window, judging.right) else "named"


def _window_behind(
    doc: Doc, mention: Mention, following: int | None, end: int, judging: Judging
) -> list[str]:
    """The words of the clause that says something of a mention, up to token `end`."""
    if mention.j >= end or not _says_of(doc, mention, following, judging):
        return []
    window = [doc.forms[mention.j]]
    for k in range(mention.j + 1, end):
        if doc.forms[k] in _ENDS_VERDICT or (doc.breaks[k] > NONE and not only_quotes(doc, k)):
            break
        if doc.tokens[k].kind == "n" and doc.gap(k + 1)[:1] == ")":
            break  # "1) ok 2) wrong"
        window.append(doc.forms[k])
    return window


def _says_of(doc: Doc, mention: Mention, following: int | None, judging: Judging) -> bool:
    """True if the word behind a mention begins what is said of it. The next mention is at `following`."""
    k = mention.j
    form, strength, gap = doc.forms[k], doc.breaks[k], doc.gap(k)
    pair = tuple(doc.forms[k : k + 2])
    judges = form in judging.heads or pair in words.NOT_RIGHT_PAIRS
    heads_next = strength > NONE and ":" in doc.gap(k + 1) and doc.breaks[mention.i] < LINE
    if strength >= SENTENCE or ";" in gap or heads_next:  # "D. Wrong: A"
        return False
    if strength == NONE:
        if form in words.NO_PREDICATES or not (judges or form in words.PREDICATE):
            return form == "no" and doc.ends(k + 1)  # "la B no"
    elif not judges and (not only_quotes(doc, k) or "(" in gap or "[" in gap):
        return False
    return doc.ends(k + 1) or not _turns_to_another(doc, mention, following)


def _turns_to_another(doc: Doc, mention: Mention, following: int | None) -> bool:
    """True if a negation behind a mention is not about it: "B, not A", "E: pneumothorax, no drain"."""
    k = mention.j
    loose = doc.breaks[k] > NONE and not only_quotes(doc, k)
    if following != k and denies_another(doc, mention):
        return True
    is_near = following is not None and following <= k + 3
    if doc.forms[k] in {"less", "least"}:
        return loose and is_near  # "A, less likely B"
    # "B, not A" turns A down; "B: not associated" turns B down
    return doc.forms[k] in words.DENIALS and (doc.breaks[k] == COMMA or is_near)


def _runner_up(window: Sequence[str]) -> bool:
    """True for "second best", and for "second best option"."""
    last = window[:-1] if window[-1] in words.CHOICE_NOUNS and len(window) > 2 else window
    return tuple(last[-2:]) in words.RUNNERS_UP or tuple(window[-2:]) in words.RUNNERS_UP


def ticked(doc: Doc, mention: Mention, following: int | None) -> Verdict | None:
    """The verdict of a tick or a cross: behind the mention, or before or behind the line that it heads."""
    marks = doc.gap(mention.j).split("\n")[0]
    if doc.breaks[mention.i] >= LINE:
        marks += doc.gap(mention.i).split("\n")[-1]
        end = doc.sentence_end(mention.j - 1)
        if doc.ends(mention.j) and (following is None or following >= end):
            marks += doc.gap(end).split("\n")[0]
    if any(c in "❌✗✘✖☐" for c in marks):
        return "rejected"
    return "chosen" if any(c in "✅✓✔☑" for c in marks) else None


def _first_part(window: list[str]) -> list[str]:
    """The words between two mentions that belong to the first: "is wrong" of "is wrong (and B ...)"."""
    for k in range(len(window) - 1, 0, -1):
        if window[k] in {"and", "or", "nor"}:
            return window[:k]
    return window


def behind_doubt(window: Sequence[str]) -> Sequence[str]:
    """The words behind a negation that only strengthens: the "not" of "no doubt that it is not A" denies."""
    if not denies_nothing(window):
        return window
    return window[1 + max(k for k, word in enumerate(window) if word in words.NO_NEGATION) :]


def denies_nothing(window: Sequence[str]) -> bool:
    """True if the negation in the window only strengthens: "not only", "no doubt", "without any doubt"."""
    return has_any(window, words.NO_NEGATION) and any(
        word in words.NO_NEGATION and has_any(window[max(0, k - 3) : k], _DENIALS_OF_DOUBT)
        for k, word in enumerate(window)
    )
