"""How a step of a chain of reasoning is named: "step 3", "Step three", "the 3rd step", "steps 2-4".

A bare number counts only where a step is expected. Steps that are joined by "and", "or", a dash or a slash
are one mention of several.
"""

from typing import NamedTuple

from vivavoce.language.tokens import CLAUSE, COMMA, LINE, NONE, Doc, has_any
from vivavoce.reading import lexicon as words
from vivavoce.reading import step_words

_JOINS = frozenset(
    {"and", "or", "to", "through", "-", "/", "&", "+", "nor", "und", "oder", "y", "o", "et", "ou"}
)
_COUNTED_NOUNS = frozenset({"statement", "inference", "point", "fase", "etapa", "第"})
_ORS = frozenset({"or", "o", "ou", "oder"})
_ARTICLES = frozenset({"the", "el", "la", "le", "il", "der", "o", "a"})
_PLURALS = frozenset(
    {"are", "were", "have", "arent", "seem", "appear", "contain", "son", "sont", "sind", "sono", "sao"}
)
_ANDS = frozenset({"and", "und", "y", "et"})
_TH = frozenset({"st", "nd", "rd", "th"})
_AFTER_NUMBER = words.PREDICATE | words.REASONS | _JOINS | frozenset({"contains", "of", "out", "步"})
_BEFORE_NUMBER = step_words.STEP_NOUNS | step_words.NUMBER_NOUNS | words.ANSWER_NOUNS | {"one"}
_ROMAN = frozenset("ivx")
_LONGEST_NUMBER = 4
"""Digits of a number that is read as one; a longer one stays as it is written."""


class StepMention(NamedTuple):
    """Tokens i to j-1 name the steps `names`, as written in digits; several if they are joined."""

    i: int
    j: int
    names: tuple[str, ...]


def step_mentions(doc: Doc, last: int) -> list[StepMention]:
    """The steps named in a text, left to right; `last` is the number of the last step."""
    mentions: list[StepMention] = []
    k = 0
    while k < len(doc):
        mention = mention_at(doc, k, last, expected=_awaited(doc, k))
        if mention is not None:
            mentions.append(mention)
            k = mention.j
        else:
            k += 1
    if mentions:
        return mentions
    if numbered_lines(doc) > 1:
        return [StepMention(k, k + 1, (doc.forms[k],)) for k in range(len(doc)) if _counts(doc, k)]
    return [mention for k in range(len(doc)) if (mention := _inference(doc, k)) is not None]


def inferred(doc: Doc, mention: StepMention) -> bool:
    """True if a mention names its step by another noun, which may be about something else."""
    return doc.forms[mention.i] in step_words.INFERENCES or doc.forms[mention.j - 1] in step_words.INFERENCES


def _inference(doc: Doc, k: int) -> StepMention | None:
    """The step of "the third inference", "premise 2": so called only where a text speaks of no steps."""
    p = k + 1
    if p >= len(doc) or doc.breaks[p] > NONE:
        return None
    if doc.forms[k] in step_words.INFERENCES and doc.forms[p].isdecimal():
        return _number(doc, k, p)
    number, p = _counted_place(doc, k)
    named = number and p < len(doc) and doc.breaks[p] == NONE and doc.forms[p] in step_words.INFERENCES
    return (
        StepMention(k, p + 1, (str(number),)) if named and not _is_first_fault(doc, number, p + 1) else None
    )


def _counted_place(doc: Doc, k: int) -> tuple[int, int]:
    """The number that "3rd" or "third" at token k says, 0 for none, and the token behind it."""
    form = doc.forms[k]
    if form.isdecimal() and doc.forms[k + 1 : k + 2] and doc.forms[k + 1] in _TH and not doc.gap(k + 1):
        return (int(form) if len(form) <= _LONGEST_NUMBER else 0), k + 2
    return step_words.ORDINALS.get(form, 0), k + 1


def _awaited(doc: Doc, k: int) -> bool:
    """True where a number can only be a step's: "the wrong step is 3", "the answer is the third"."""
    p = k - 2 if k and doc.forms[k - 1] in _ARTICLES else k - 1
    if p < 1 or doc.forms[p] not in {"is", "was", "es", "ist", "est", "e"} or doc.breaks[k] > CLAUSE:
        return False
    faulted = p > 1 and doc.forms[p - 1] in words.FAULTS and doc.forms[p - 2] in step_words.STEP_NOUNS
    return faulted or doc.forms[p - 1] in _BEFORE_NUMBER


def mention_at(doc: Doc, k: int, last: int, *, expected: bool = False) -> StepMention | None:
    """The step or steps named from token k on; with `expected`, a bare number or ordinal is enough."""
    first = _single(doc, k, last, expected=expected)
    if first is None:
        return None
    names, j = list(first.names), first.j
    while j < len(doc) and (further := _joined(doc, j, last)) is not None:
        names += further.names
        j = further.j
    return StepMention(k, j, tuple(names))


def _single(doc: Doc, k: int, last: int, *, expected: bool) -> StepMention | None:
    """The step named from token k on, without others that are joined to it."""
    if noun := _noun(doc, k):
        return _after_noun(doc, k, k + noun)
    form = doc.forms[k]
    fused = form.removeprefix("step") if doc.tokens[k].kind == "w" and form.startswith("step") else ""
    if fused.isdecimal():
        return StepMention(k, k + 1, (_digits(fused),))
    ordinal = _ordinal(doc, k, last, expected=expected)
    if ordinal is not None or not expected:
        return ordinal
    if len(form) == 1 and form.isalpha() and _in_brackets(doc, k):
        return StepMention(k, k + 1, (form,))  # "the wrong step is (c)" names one that is not there
    p = k + 1 if form in step_words.NUMBER_NOUNS or form in _COUNTED_NOUNS else k
    number = _number(doc, k, p) if p < len(doc) else None
    return number if number is not None and _is_bare(doc, number.j) else None


def _after_noun(doc: Doc, k: int, p: int) -> StepMention | None:
    """The step whose number follows the noun that ends before token p: "step 3", "step no. 3", "step: 3"."""
    first = p
    if p < len(doc) and doc.forms[p] in step_words.NUMBER_NOUNS:
        p += 1
    if p >= len(doc) or doc.breaks[p] > CLAUSE or (p == first and ":" in doc.gap(p)):
        return None
    return _number(doc, k, p)


def _in_brackets(doc: Doc, k: int) -> bool:
    return doc.gap(k)[-1:] in {"(", "["} and doc.gap(k + 1)[:1] in {")", "]"}


def _noun(doc: Doc, k: int) -> int:
    """How many tokens the noun "step" at token k has; 0 if there is none."""
    if doc.forms[k] in step_words.STEP_NOUNS:
        return 1
    return 2 if "".join(doc.forms[k : k + 2]) in {"步骤", "步驟"} else 0


def _digits(number: str) -> str:
    """A number as steps are numbered: "03" is step 3."""
    return str(int(number)) if number.isdecimal() and len(number) <= _LONGEST_NUMBER else number


def _number(doc: Doc, k: int, p: int) -> StepMention | None:
    """The mention from token k on whose number is token p."""
    token = doc.tokens[p]
    if token.kind == "n":
        if p > k and doc.gap_has(p, "\n;"):
            return None
        names = tuple(_digits(part) for part in token.form.split(",") if part)
        return StepMention(k, p + 1, names)
    if token.form not in step_words.COUNTING:
        return None
    # "I" and "x" are words and signs too: a Roman number is written in capitals, after a noun
    if _ROMAN.issuperset(token.form) and not (p > k and doc.surface(p, p + 1).isupper()):
        return None
    return StepMention(k, p + 1, (str(step_words.COUNTING[token.form]),))


def _ordinal(doc: Doc, k: int, last: int, *, expected: bool) -> StepMention | None:
    """The step of "the third step", "the last step", "第三步"; with `expected`, of "the third" alone."""
    form = doc.forms[k]
    if form in {"first", "last"} and doc.forms[k + 2 : k + 3] == ["steps"]:
        return _first_ones(doc, k, last)
    if form == "第" and doc.forms[k + 2 : k + 3] == ["步"]:
        counted = _number(doc, k, k + 1)
        return counted._replace(j=k + 3) if counted else None
    number, begin = _place_in_chain(doc, k, last)
    if number < 1:
        return None
    p = _behind_adjectives(doc, begin)
    if has_any(doc.forms[begin:p], words.FAULTS):
        return None  # "the first wrong step" says nothing of its number
    if p < len(doc) and doc.breaks[p] == NONE and _noun(doc, p):
        end = p + 1
        if form in step_words.LAST | {"first"} and end < len(doc) and doc.tokens[end].kind == "n":
            return None  # "the final step 3"
        if _is_first_fault(doc, number, end):
            return None
        return StepMention(k, end, (str(number),))
    if expected and form not in step_words.LAST and (doc.ends(p) or doc.forms[p] in {"one", "is", "because"}):
        return StepMention(k, p + (p < len(doc) and doc.forms[p] == "one"), (str(number),))
    return None


def _is_first_fault(doc: Doc, number: int, k: int) -> bool:
    """True for "el primer paso incorrecto", which says nothing of the step's number; token k is the fault."""
    return number == 1 and k < len(doc) and doc.breaks[k] == NONE and doc.forms[k] in words.FAULTS


def _behind_adjectives(doc: Doc, k: int) -> int:
    """The token behind at most two adjectives of a step, from token k on."""
    end = min(k + 2, len(doc))
    while k < end and doc.forms[k] in step_words.STEP_ADJECTIVES and doc.breaks[k] == NONE:
        k += 1
    return k


def _place_in_chain(doc: Doc, k: int, last: int) -> tuple[int, int]:
    """The number of the step that an ordinal at token k counts, below 1 for none, and the token behind it."""
    form = doc.forms[k]
    if form in step_words.ORDINALS and doc.forms[k + 1 : k + 3] == ["to", "last"]:
        return last - step_words.ORDINALS[form] + 1, k + 3
    if form not in step_words.ORDINALS and (form in step_words.LAST or form == "penultimate"):
        return last - (form == "penultimate"), k + 1
    return _counted_place(doc, k)


def _first_ones(doc: Doc, k: int, last: int) -> StepMention | None:
    """The steps of "the first two steps"."""
    counted = _number(doc, k, k + 1)
    if counted is None or not counted.names[0].isdecimal():
        return None
    n_steps = min(int(counted.names[0]), 20)
    first = 1 if doc.forms[k] == "first" else last - n_steps + 1
    return StepMention(k, k + 3, tuple(str(n) for n in range(first, first + n_steps))) if n_steps else None


def _is_bare(doc: Doc, j: int) -> bool:
    """True if a number that ends before token j counts nothing: no unit or noun follows."""
    if j >= len(doc) or (doc.breaks[j] > NONE and not doc.glued(j)):
        return True
    return doc.forms[j] in _AFTER_NUMBER


def _joined(doc: Doc, j: int, last: int) -> StepMention | None:
    """A further step in "2 and 3", "2-3", "2, 3 or 4", "step 2 or step 4"."""
    p = j + 2 if doc.forms[j : j + 2] == ["but", "also"] else j
    while p < len(doc) and p - j < 2 and doc.forms[p] in _JOINS and doc.breaks[p] <= COMMA:
        p += 1
    article = j < p < len(doc) and doc.forms[p] in _ARTICLES and doc.breaks[p] == NONE
    p += article and doc.forms[p - 1] in _ORS | _ANDS  # "el paso 2 o el paso 3"
    if p >= len(doc) or doc.breaks[p] > COMMA or (p == j and doc.breaks[p] < COMMA and not doc.glued(p)):
        return None
    further = _single(doc, p, last, expected=True)
    if further is None:
        return None
    if p == j and not (_noun(doc, p) == 0 and _ends_list(doc, further.j)):
        return None  # a comma alone joins only bare numbers
    if doc.forms[p - 1 - article] in _ANDS and _subject(doc, further) and not _plural(doc, further):
        return None
    return further


def _ends_list(doc: Doc, j: int) -> bool:
    """True if token j does not go on about the number before it."""
    return j >= len(doc) or doc.breaks[j] > NONE or doc.forms[j] in _JOINS or doc.forms[j] in words.PREDICATE


def _subject(doc: Doc, mention: StepMention) -> bool:
    """True if the step begins a clause of its own: "step 2, and step 3 is wrong"."""
    j = mention.j
    return j < len(doc) and doc.breaks[j] == NONE and doc.forms[j] in words.PREDICATE


def _plural(doc: Doc, mention: StepMention) -> bool:
    """True if what follows is said of all steps before it: "2 and 3 are wrong"."""
    if not _noun(doc, mention.i):
        return True
    return doc.forms[mention.j] in _PLURALS


def heads_line(doc: Doc, mention: StepMention) -> bool:
    """True for the "Step 3:" that a line begins with, or "Step 3" on a line of its own."""
    if doc.breaks[mention.i] < LINE or len(mention.names) > 1:
        return False
    j = mention.j
    return j >= len(doc) or doc.breaks[j] >= CLAUSE or doc.gap(j).strip()[:1] in {")", "-", "–"}


def numbered_lines(doc: Doc) -> int:
    """How many lines begin with a number of their own, as in "1. ..."."""
    return sum(_counts(doc, k) for k in range(len(doc)))


def _counts(doc: Doc, k: int) -> bool:
    """True for the number that a line begins with."""
    if doc.breaks[k] < LINE or doc.tokens[k].kind != "n" or not doc.forms[k].isdecimal():
        return False
    return doc.gap(k + 1).strip(" *_")[:1] in {".", ")", ":"}
