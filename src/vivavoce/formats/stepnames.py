"""How a step of a chain of reasoning is named: "step 3", "Step three", "the 3rd step", "steps 2-4".

A bare number counts only where a step is expected. Steps that are joined by "and", "or", a dash or a slash
are one mention of several.
"""

from typing import NamedTuple

from vivavoce.formats import words
from vivavoce.formats.tokens import CLAUSE, COMMA, LINE, NONE, Doc

__all__ = ["Mention", "heads_line", "inferred", "mention_at", "mentions", "numbered_lines"]

_JOINS = frozenset(
    {"and", "or", "to", "through", "-", "/", "&", "+", "nor", "und", "oder", "y", "o", "et", "ou"}
)
_CROSSES, _TICKS = frozenset("❌✗✘✖☒"), frozenset("✅✓✔☑")


class Mention(NamedTuple):
    """Tokens i to j-1 name the steps `names`, as written in digits; several if they are joined."""

    i: int
    j: int
    names: tuple[str, ...]


def mentions(doc: Doc, last: int) -> list[Mention]:
    """The steps named in a text, left to right; `last` is the number of the last step."""
    found, k = [], 0
    while k < len(doc):
        mention = mention_at(doc, k, last, expected=_awaited(doc, k))
        if mention is not None:
            found.append(mention)
            k = mention.j
        else:
            k += 1
    if not found and numbered_lines(doc) > 1:
        return [Mention(k, k + 1, (doc.forms[k],)) for k in range(len(doc)) if _counts(doc, k)]
    return found or [m for k in range(len(doc)) if (m := _inference(doc, k)) is not None]


def inferred(doc: Doc, m: Mention) -> bool:
    """True if a mention names its step by another noun, which may be about something else."""
    return doc.forms[m.i] in words.INFERENCES or doc.forms[m.j - 1] in words.INFERENCES


def _inference(doc: Doc, k: int) -> Mention | None:
    """The step of "the third inference", "premise 2": so called only where a text speaks of no steps."""
    form, p = doc.forms[k], k + 1
    if p >= len(doc) or doc.breaks[p] > NONE:
        return None
    if form in words.INFERENCES and doc.forms[p].isdecimal():
        return _number(doc, k, p)
    if form.isdecimal() and len(form) < 5 and doc.forms[p] in _TH and not doc.gap(p):
        number, p = int(form), k + 2
    else:
        number = words.ORDINALS.get(form, 0)
    named = number and p < len(doc) and doc.breaks[p] == NONE and doc.forms[p] in words.INFERENCES
    return Mention(k, p + 1, (str(number),)) if named else None


def _awaited(doc: Doc, k: int) -> bool:
    """True where a number can only be a step's: "the wrong step is 3", "the answer is the third"."""
    p = k - 2 if doc.forms[k - 1 : k] == ["the"] else k - 1
    if p < 1 or doc.forms[p] not in {"is", "was", "es", "ist", "est"} or doc.breaks[k] > CLAUSE:
        return False
    return doc.forms[p - 1] in words.STEP_NOUNS | words.NUMBER_NOUNS | words.ANSWER_NOUNS | {"one"}


def mention_at(doc: Doc, k: int, last: int, *, expected: bool = False) -> Mention | None:
    """The step or steps named from token k on; with `expected`, a bare number or ordinal is enough."""
    one = _one(doc, k, last, expected=expected)
    if one is None:
        return None
    names, j = list(one.names), one.j
    while j < len(doc) and (more := _joined(doc, j, last)) is not None:
        names += more.names
        j = more.j
    return Mention(k, j, tuple(names))


def _one(doc: Doc, k: int, last: int, *, expected: bool) -> Mention | None:
    form = doc.forms[k]
    noun = _noun(doc, k)
    if noun:
        p = k + noun
        if p < len(doc) and doc.forms[p] in words.NUMBER_NOUNS:
            p += 1
        if p < len(doc) and doc.breaks[p] <= CLAUSE and not (p == k + noun and ":" in doc.gap(p)):
            return _number(doc, k, p)
        return None
    fused = form.removeprefix("step") if doc.tokens[k].kind == "w" and form.startswith("step") else ""
    if fused.isdecimal():
        return Mention(k, k + 1, (str(int(fused)) if len(fused) < 5 else fused,))
    ordinal = _ordinal(doc, k, last, expected=expected)
    if ordinal is not None or not expected:
        return ordinal
    if (
        len(form) == 1
        and form.isalpha()
        and doc.gap(k)[-1:] in {"(", "["}
        and doc.gap(k + 1)[:1] in {")", "]"}
    ):
        return Mention(k, k + 1, (form,))  # "the wrong step is (c)" names one that is not there
    p = k + 1 if form in words.NUMBER_NOUNS or form in {"statement", "inference", "point", "第"} else k
    if p >= len(doc):
        return None
    number = _number(doc, k, p)
    return number if number is not None and _bare(doc, number.j) else None


def _noun(doc: Doc, k: int) -> int:
    if doc.forms[k] in words.STEP_NOUNS:
        return 1
    return 2 if "".join(doc.forms[k : k + 2]) in {"步骤", "步驟"} else 0


def _number(doc: Doc, k: int, p: int) -> Mention | None:
    token = doc.tokens[p]
    if token.kind == "n":
        if p > k and any(c in doc.gap(p) for c in "\n;"):
            return None
        names = tuple(part for part in token.form.split(",") if part)
        return Mention(k, p + 1, tuple(str(int(n)) if n.isdecimal() and len(n) < 5 else n for n in names))
    if token.form in words.COUNTING:
        roman = len(token.form) < 5 and set(token.form) <= set("ivx")
        if not roman or (doc.surface(p, p + 1).isupper() and p > k):
            return Mention(k, p + 1, (str(words.COUNTING[token.form]),))
    return None


def _ordinal(doc: Doc, k: int, last: int, *, expected: bool) -> Mention | None:
    form, p = doc.forms[k], k + 1
    if form in {"first", "last"} and doc.forms[p + 1 : p + 2] == ["steps"]:
        return _first_ones(doc, k, last)
    if form == "第" and doc.forms[k + 2 : k + 3] == ["步"]:
        counted = _number(doc, k, k + 1)
        return counted._replace(j=k + 3) if counted else None
    if doc.forms[k + 1 : k + 3] == ["to", "last"] and form in words.ORDINALS:
        number, p = last - words.ORDINALS[form] + 1, k + 3
    elif form in words.ORDINALS:
        number = words.ORDINALS[form]
    elif form in words.LAST or form == "penultimate":
        number = last - (form == "penultimate")
    elif form.isdecimal() and doc.forms[p : p + 1] and doc.forms[p] in _TH and not doc.gap(p):
        number, p = int(form) if len(form) < 5 else 0, k + 2
    else:
        return None
    if number < 1:
        return None
    begin = p
    while p < len(doc) and p - begin < 2 and doc.forms[p] in words.STEP_ADJECTIVES and doc.breaks[p] == NONE:
        p += 1
    if p > begin and any(w in words.FAULTS for w in doc.forms[begin:p]):
        return None  # "the first wrong step" says nothing of its number
    if p < len(doc) and doc.breaks[p] == NONE and _noun(doc, p):
        after = p + 1
        if form in words.LAST | {"first"} and after < len(doc) and doc.tokens[after].kind == "n":
            return None  # "the final step 3"
        return Mention(k, after, (str(number),))
    if expected and form not in words.LAST and (doc.ends(p) or doc.forms[p] in {"one", "is", "because"}):
        return Mention(k, p + (p < len(doc) and doc.forms[p] == "one"), (str(number),))
    return None


_TH = frozenset({"st", "nd", "rd", "th"})


def _first_ones(doc: Doc, k: int, last: int) -> Mention | None:
    """The steps of "the first two steps"."""
    counted = _number(doc, k, k + 1)
    if counted is None or not counted.names[0].isdecimal():
        return None
    many = min(int(counted.names[0]), 20)
    first = 1 if doc.forms[k] == "first" else last - many + 1
    return Mention(k, k + 3, tuple(str(n) for n in range(first, first + many))) if many else None


def _bare(doc: Doc, j: int) -> bool:
    """True if a number that ends before token j counts nothing: no unit or noun follows."""
    if j >= len(doc) or (doc.breaks[j] > NONE and not doc.glued(j)):
        return True
    return doc.forms[j] in _AFTER_NUMBER


_AFTER_NUMBER = (
    words.PREDICATE | _JOINS | frozenset({"because", "since", "as", "contains", "of", "out", "步"})
)


def _joined(doc: Doc, j: int, last: int) -> Mention | None:
    """A further step in "2 and 3", "2-3", "2, 3 or 4", "step 2 or step 4"."""
    p = j + 2 if doc.forms[j : j + 2] == ["but", "also"] else j
    while p < len(doc) and p - j < 2 and doc.forms[p] in _JOINS and doc.breaks[p] <= COMMA:
        p += 1
    if p >= len(doc) or doc.breaks[p] > COMMA or (p == j and doc.breaks[p] < COMMA and not doc.glued(p)):
        return None
    one = _one(doc, p, last, expected=True)
    if one is None:
        return None
    if p == j and (_noun(doc, p) or not (one.j >= len(doc) or doc.forms[one.j] in _JOINS | words.PREDICATE
                                         or doc.breaks[one.j] > NONE)):  # fmt: skip
        return None  # a comma alone joins only bare numbers
    if doc.forms[p - 1] in {"and", "und", "y", "et"} and _subject(doc, one):
        return None if not _plural(doc, one) else one
    return one


def _subject(doc: Doc, m: Mention) -> bool:
    """True if the step begins a clause of its own: "step 2, and step 3 is wrong"."""
    return m.j < len(doc) and doc.breaks[m.j] == NONE and doc.forms[m.j] in words.PREDICATE


def _plural(doc: Doc, m: Mention) -> bool:
    return doc.forms[m.j] in {"are", "were", "have", "arent", "seem", "appear", "contain"} or not _noun(
        doc, m.i
    )


def heads_line(doc: Doc, m: Mention) -> bool:
    """True for the "Step 3:" that a line begins with, or "Step 3" on a line of its own."""
    if doc.breaks[m.i] < LINE or len(m.names) > 1:
        return False
    return m.j >= len(doc) or doc.breaks[m.j] >= CLAUSE or doc.gap(m.j).strip()[:1] in {")", "-", "–"}


def numbered_lines(doc: Doc) -> int:
    """How many lines begin with a number of their own, as in "1. ..."."""
    return sum(_counts(doc, k) for k in range(len(doc)))


def _counts(doc: Doc, k: int) -> bool:
    if doc.breaks[k] < LINE or doc.tokens[k].kind != "n" or not doc.forms[k].isdecimal():
        return False
    return doc.gap(k + 1).strip(" *_")[:1] in {".", ")", ":"}
