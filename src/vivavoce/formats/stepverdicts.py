"""What an answer says of the steps it names: called wrong, called right, or only named.

What is said of a step is read in its own stretch of the text, up to the next step that is named.
"""

import itertools
from collections.abc import Iterator
from typing import Literal

from vivavoce.formats import words
from vivavoce.formats.stepnames import Mention
from vivavoce.formats.tokens import CLAUSE, COMMA, NONE, SENTENCE, Doc

__all__ = ["REACH", "Verdict", "locates", "verdict", "verdicts"]

Verdict = Literal["accused", "cleared", "tentative", "named", "aside"]
REACH = 14
"""How many words before a step can say something of it."""
_CROSSES, _TICKS = frozenset("❌✗✘✖☒"), frozenset("✅✓✔☑")


def verdicts(doc: Doc, found: list[Mention]) -> list[tuple[Mention, Verdict]]:
    """The steps with their verdicts; those behind a "because" only explain what is said before it."""
    said: list[tuple[Mention, Verdict]] = []
    aside = 0
    for n, m in enumerate(found):
        if n and doc.sentence_end(found[n - 1].j - 1) > m.i:
            between = doc.forms[found[n - 1].j : m.i]
            if any(w in _BECAUSE for w in between):
                aside = doc.sentence_end(m.i)
        asked = "?" in doc.gap(doc.sentence_end(m.i))
        said.append((m, "aside" if m.i < aside or asked else verdict(doc, found, n)))
    return said


_BECAUSE = frozenset({"because", "since", "as", "given", "due"})


def _clauses(doc: Doc, i: int, j: int) -> Iterator[tuple[int, int]]:
    start = i
    for k in range(i + 1, j + 1):
        if k == j or doc.breaks[k] >= COMMA or doc.forms[k] in words.RESET:
            if start < k:
                yield start, k
            start = k


def _split(doc: Doc, i: int, j: int) -> int:
    """Where, in tokens i to j-1, what is said of a step ends and what leads to the next begins."""
    for k in range(j - 1, max(i, j - REACH) - 1, -1):
        if doc.breaks[k] >= COMMA and k > i and doc.forms[k] not in {"which", "that", "who", "where"}:
            return k
        if doc.forms[k] in words.RESET or (doc.forms[k] in {"and", "as", "because"} and k > i):
            return k
    return j if i == 0 or doc.breaks[i] < SENTENCE else i


def _opens(doc: Doc, k: int) -> bool:
    """True if a sentence begins with token k; "No." ends one here, elsewhere it is short for "number"."""
    return doc.breaks[k] >= SENTENCE or (k > 0 and doc.forms[k - 1] == "no" and doc.breaks[k] > NONE)


def verdict(doc: Doc, found: list[Mention], n: int) -> Verdict:
    """What is said of the step that is named at place n."""
    m = found[n]
    before = found[n - 1].j if n else 0
    begin = max((k for k in range(before, m.i + 1) if _opens(doc, k)), default=before)
    begin = max(begin, _split(doc, before, m.i) if n and begin == before else begin, m.i - REACH)
    end = _split(doc, m.j, found[n + 1].i) if n + 1 < len(found) else len(doc)
    if n + 1 < len(found) and end == found[n + 1].i:
        # "step 4 follows from the wrong step 3": what stands right before a step is said of that one
        while end > m.j and doc.breaks[end] == NONE and doc.forms[end - 1] in words.FAULTS | _BEFORE_STEP:
            end -= 1
    left = doc.forms[begin : m.i]
    if left and left[-1] in {"than", "unlike"}:
        return "cleared"
    if left and left[-1] in {"except", "but", "besides", "save"} and any(w in words.NO_STEP for w in left):
        return _excepted(doc, m)
    for k in range(len(left) - 1, -1, -1):
        if left[k] in words.RESET or left[k] in words.EXPLAINS:
            left = left[k + 1 :]
            break
    denied = _denials(left)
    if any(w in words.FAULTS for w in left):
        return "cleared" if denied % 2 else _unless_hedged(left)
    judged = any(w in words.SOUND for w in left[-4:]) and not denied
    if judged and (left[-1] in words.SOUND or ":" in doc.gap(m.i)):
        return "cleared"
    right = _right(doc, m, end, denied)
    if right != "named":
        return right
    return "cleared" if denied % 2 else "named"


def _excepted(doc: Doc, m: Mention) -> Verdict:
    """The opposite of what is said of all other steps: "all but step 3 are correct"."""
    start = next((k for k in range(m.i, -1, -1) if doc.breaks[k] >= SENTENCE), 0)
    said = doc.forms[start : doc.sentence_end(m.j - 1)]
    denied = sum(w in _DENIES or w == "none" for w in said) % 2 == 1
    sound = any(w in words.SOUND for w in said) and not any(w in words.FAULTS for w in said)
    return "accused" if sound != denied else "cleared"


_BEFORE_STEP = frozenset({"the", "this", "that", "in", "of", "at"})
_DENIES = words.NOT_LEFT & frozenset(
    ["not", "no", "never", "neither", "nor", "isnt", "arent", "wasnt", "dont", "doesnt", "didnt", "cannot",
     "cant", "nothing", "without", "nicht", "kein", "non", "nao", "hardly"]
) | {"nothing", "free"}  # fmt: skip


def _denials(window: list[str]) -> int:
    return 0 if any(w in words.NO_NEGATION for w in window) else sum(w in _DENIES for w in window)


def _unless_hedged(window: list[str]) -> Verdict:
    return "tentative" if any(w in words.HEDGED for w in window) else "accused"


def _right(doc: Doc, m: Mention, end: int, denied: int) -> Verdict:
    """The verdict of the words behind a step: of its own clause, else of a clause that is nothing but one."""
    marks = {c for k in range(m.j, min(end, doc.sentence_end(m.j - 1)) + 1) for c in doc.gap(k)}
    if marks & _CROSSES:
        return "accused"
    if marks & _TICKS:
        return "cleared"
    for at, (i, j) in enumerate(_clauses(doc, m.j, end)):
        window = doc.forms[i:j]
        own = at == 0 and doc.breaks[i] < CLAUSE
        lead = doc.forms[i]
        if not own and not _says_only(window) and lead not in {"which", "but", "yet", "however"}:
            continue
        if lead in words.EXPLAINS - {"which"} and not own:
            continue
        said = _judged(doc, i, j, own=own, denied=denied)
        ahead = doc.forms[j : min(end, j + REACH)]
        if said == "cleared" and any(pair in _GOES_ON for pair in itertools.pairwise(ahead[:4])):
            return "accused" if any(w in words.FAULTS for w in ahead) else said
        if said != "named":
            return said
    return "named"


_GOES_ON = frozenset(
    (turn, same)
    for turn in ("but", "however", "yet")
    for same in ("it", "its", "then", "incorrectly", "wrongly", "falsely", "makes", "draws")
)
"""What goes on about the same step: "is right, but it draws the wrong conclusion"."""


def _says_only(window: list[str]) -> bool:
    """True if the clause begins with a verdict: "incorrect", "this is wrong", "the step is not right"."""
    for w in window[:6]:
        if w in words.FAULTS or w in words.SOUND:
            return True
        if w not in _LEADS and w not in _DENIES:
            return False
    return False


_LEADS = words.LIGHT | words.PREDICATE | words.STEP_NOUNS | frozenset(
    ["here", "reasoning", "inference", "statement", "claim", "completely", "clearly", "partly", "also", "an",
     "where", "statements", "assumption", "conclusion", "there", "contains", "first", "only", "main", "key",
     "logical", "primary", "critical", "overall"]
)  # fmt: skip


def _judged(doc: Doc, i: int, j: int, *, own: bool, denied: int) -> Verdict:
    mild = any(w in words.NO_NEGATION for w in doc.forms[i:j])  # "not only wrong"
    told = i
    if doc.forms[i] == "that":  # "the claim in step 3 that A is B is wrong": the last verb judges
        told = max((k for k in range(i, j) if doc.forms[k] in {"is", "are", "was", "were"}), default=j)
    for k in range(i, j):
        form = doc.forms[k]
        if form in words.SAYING and not (k == i and form == "that"):
            break
        if k < told:
            continue
        denied += form in _DENIES and not mild
        if form in _JUDGES_ALONE and not _stands(doc, k):
            continue
        if form in words.FAULTS or (own and form in words.FAULT_VERBS and denied % 2 == 0):
            return "cleared" if denied % 2 else _unless_hedged(doc.forms[i:k])
        if form in words.SOUND_IF_DENIED and denied % 2:
            return "accused"
        if form in words.SOUND:
            return "accused" if denied % 2 else "cleared"
    return "named"


_JUDGES_ALONE = frozenset({"false", "true", "right", "good", "sound", "fine"})


def _stands(doc: Doc, k: int) -> bool:
    """True if a word judges by itself: "is right." and not "the right ventricle"."""
    if doc.ends(k + 1) or doc.forms[k + 1] in words.AFTER_LABEL | {"that", "about", "here", "step", "claim"}:
        return True
    return doc.forms[k + 1] in {"statement", "assumption", "inference", "conclusion", "premise", "step"}


def locates(doc: Doc, m: Mention, before: int) -> bool:
    """True for "the error is in step 3", "the incorrect step is step 3", "the answer is step 3".

    `before` is where the step named before it ends.
    """
    i = max(m.i - REACH, before)
    own = SENTENCE if i > before or not before else CLAUSE  # another step in the sentence has its own clause
    start = max((k for k in range(i, m.i + 1) if doc.breaks[k] >= own), default=m.i if own == CLAUSE else i)
    left = doc.forms[start : m.i]
    if any(w in _DENIES or w in _BECAUSE or w in words.HEDGED for w in left):
        return False
    what = next((p for p, w in enumerate(left) if w in words.FAULTS or w in words.ANSWER_NOUNS), None)
    if what is None or "that" in left[what:]:
        return False
    return all(w in words.LOCATES or w in _LEADS for w in left[:what]) and any(
        w in words.LOCATES - {"in", "at"} for w in left[what + 1 :]
    )
