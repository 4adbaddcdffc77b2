"""What the words behind an option say of it: "is wrong", a cross, "so excluded", or nothing but a reason."""

from typing import Literal

from vivavoce.formats import words
from vivavoce.formats.match import Mention
from vivavoce.formats.tokens import CLAUSE, COMMA, LINE, NONE, SENTENCE, Doc

__all__ = ["WINDOW", "Verdict", "behind", "only_quotes"]

Verdict = Literal["chosen", "named", "tentative", "rejected"]
WINDOW = 9
"""How many words before or behind an option can say something of it."""


def only_quotes(doc: Doc, k: int) -> bool:
    """True if the break is made of brackets and quotes around single entries: "(A) and (B)"."""
    gap = doc.gap(k)
    return doc.breaks[k] == CLAUSE and not any(c in ";:–—|-." for c in gap)


def behind(doc: Doc, mentions: list[Mention], n: int, j: int) -> Verdict:
    """The verdict of the words after a mention, up to the clause's end or the next mention."""
    m = mentions[n]
    end = min(j, mentions[n + 1].i if n + 1 < len(mentions) else j, m.j + WINDOW)
    window: list[str] = []
    gap = doc.gap(m.j)
    if (ticked := _ticked(doc, m)) is not None:
        return ticked
    if n + 1 == len(mentions) and (remark := _remark(doc, m, j)) is not None:
        return remark
    for k in range(m.j, end):
        if k == m.j:
            loose = doc.breaks[k] > NONE and not only_quotes(doc, k)
            bracket = doc.breaks[k] == CLAUSE and any(c in "([" for c in gap)
            judged = (
                doc.forms[k] in words.NOT_RIGHT
                or doc.forms[k] in words.CHOSEN_RIGHT
                or (doc.forms[k] in {"which", "who"})
            )
            if doc.breaks[k] >= SENTENCE or ";" in gap or ((loose or bracket) and not judged):
                break
            if doc.forms[k] == "no" and loose and not doc.ends(k + 1) and _gives_reason(doc, m, k):
                break
            if doc.forms[k] in {"not", "no", "never", "nor", "neither"} and not doc.ends(k + 1):
                # "B, not A" turns A down; "B: not associated" turns B down
                near = n + 1 < len(mentions) and mentions[n + 1].i <= k + 3
                if doc.breaks[k] == COMMA or near:
                    break
            if doc.breaks[k] == NONE and doc.forms[k] not in words.PREDICATE and not judged:
                break
            if doc.breaks[k] == NONE and doc.forms[k] in {"not", "nor", "never", "rather", "no"}:
                break
        elif (doc.breaks[k] > NONE and not only_quotes(doc, k)) or doc.forms[k] in words.RESET:
            break
        window.append(doc.forms[k])
    if not window:
        return "named"
    if n + 1 < len(mentions) and end == mentions[n + 1].i and len(window) == end - m.j:
        window = _own_part(window)
    last = window[:-1] if window[-1] in words.CHOICE_NOUNS and len(window) > 2 else window
    if tuple(last[-2:]) in words.RUNNERS_UP or tuple(window[-2:]) in words.RUNNERS_UP:
        return "rejected"
    negations = 0 if any(w in words.NO_NEGATION for w in window) else _denials(window)
    if negations % 2:
        return "rejected"
    return "chosen" if any(w in words.CHOSEN_RIGHT for w in window) and not negations else "named"


def _ticked(doc: Doc, m: Mention) -> Verdict | None:
    """The verdict of a tick or a cross: behind the mention, or before it at the head of a line."""
    marks = doc.gap(m.j).split("\n")[0]
    if doc.breaks[m.i] >= LINE:
        marks += doc.gap(m.i).split("\n")[-1]
    if any(c in "❌✗✘✖☐" for c in marks):
        return "rejected"
    return "chosen" if any(c in "✅✓✔☑" for c in marks) else None


def _remark(doc: Doc, m: Mention, j: int) -> Verdict | None:
    """The verdict at the end of a line about one option: "A) Aspirin: INR normal, so excluded"."""
    if (
        doc.forms[m.i : m.j] in (["yes"], ["no"])
        or doc.breaks[m.i] < LINE
        or m.j >= j
        or not any(c in ":-–—" for c in doc.gap(m.j))
    ):
        return None
    start = j - 1
    while start > m.j and doc.breaks[start] == NONE:
        start -= 1
    clause = doc.forms[start:j]
    if len(clause) > WINDOW or not any(w in words.NOT_RIGHT or w in words.CHOSEN_RIGHT for w in clause):
        return None
    if _gives_reason(doc, m, start, j):
        return None
    if _denials(clause):
        return "rejected"
    return None if "out" in clause and "ruled" not in clause else "chosen"


def _denials(window: list[str]) -> int:
    """How many words turn down; "ruled out" is one, and "rules out" turns down what comes after it."""
    out = "out" in window and any(w in window for w in ("ruled", "rule", "rules", "ruling"))
    return sum(w in words.NOT_RIGHT for w in window) - out


def _gives_reason(doc: Doc, m: Mention, i: int, j: int | None = None) -> bool:
    """True if the clause at token i is the reason for a choice: "E: asymptomatic bacteriuria, no treatment".

    The choice is a letter at the head of a line, and no other line begins with one; the clause speaks of
    something else than the option.
    """
    return (
        m.by in {"label", "both"}
        and doc.breaks[m.i] >= LINE
        and _of_another(doc, i, doc.sentence_end(i) if j is None else j)
        and not any(k != m.i and _heads_line(doc, k) for k in range(len(doc)))
    )


def _heads_line(doc: Doc, k: int) -> bool:
    mark = doc.surface(k, k + 1) if doc.breaks[k] >= LINE else ""
    return len(mark) == 1 and mark.isalpha() and doc.breaks[k + 1 : k + 2] != [NONE]


def _of_another(doc: Doc, i: int, j: int) -> bool:
    """True if a clause behind an option has a subject of its own: "agranulocytosis must be ruled out".

    Of the option are "excluded", "must be excluded", "this is wrong", "no effect".
    """
    clause = doc.forms[i:j]
    if clause[0] == "no":
        return len(clause) > 1 and clause[1] not in _MERITS
    if any(w in _ITSELF for w in clause):
        return False
    for w in clause:
        if w in words.NOT_RIGHT or w in words.CHOSEN_RIGHT or w in words.PREDICATE:
            return False
        if w not in words.LIGHT and w not in words.DEGREES and w not in _ADVERBS and not w.endswith("ly"):
            return True
    return False


_ITSELF = (
    words.CHOICE_NOUNS
    | words.LABEL_NOUNS
    | frozenset({"it", "its", "this", "that", "these", "they", "which", "answer", "drug", "agent", "one"})
    | frozenset({"medication", "therapy", "treatment", "test", "procedure"})
)
"""What speaks of the option without its name."""
_ADVERBS = frozenset(
    {"already", "now", "here", "still", "very", "quite", "however", "but", "by", "in", "for"}
)
_MERITS = frozenset(
    {"longer", "good", "better", "more", "use", "role", "benefit", "effect", "indication", "evidence"}
    | {"reason", "place", "value", "option", "need"}
)
"""What an option has none of where it is turned down: "no role", "no longer used"."""


def _own_part(window: list[str]) -> list[str]:
    """What of the words between two mentions belongs to the first: "is wrong (and B ...)"."""
    for k in range(len(window) - 1, 0, -1):
        if window[k] in {"and", "or", "nor"}:
            return window[:k]
    return window
