"""Which step of a chain of reasoning an answer calls the wrong one.

A claim is a place where a step is expected, such as what follows "Step:"; elsewhere what the text says of the
steps it names decides.
"""

from typing import NamedTuple

from vivavoce.formats import words
from vivavoce.formats.stepnames import Mention, heads_line, inferred, mention_at, mentions, numbered_lines
from vivavoce.formats.stepverdicts import REACH, locates, verdict, verdicts
from vivavoce.formats.tokens import CLAUSE, COMMA, LINE, SENTENCE, Doc

__all__ = [
    "Found",
    "claimed",
    "corrected",
    "denies_all",
    "head",
    "named_in",
    "several",
    "takes_back",
    "turns",
]


class Found(NamedTuple):
    """The step an answer names, or why none can be read; tokens up to `end` hold nothing else."""

    step: str | None = None
    reason: str | None = None
    end: int = 0


def claimed(doc: Doc, last: int, k: int = 0) -> Found | None:
    """The step that a claim begins with, "3", "Step 3: ...", "in the third"; None if it begins otherwise."""
    while k < len(doc) and (doc.forms[k] in words.LIGHT or doc.forms[k] in words.LOCATES):
        if mention_at(doc, k, last, expected=True) is not None:
            break
        k += 1
    mention = mention_at(doc, k, last, expected=True) if k < len(doc) else None
    if mention is None:
        return None
    end = mention.j
    other = _alternative(doc, mention, last)
    if other is not None:
        return Found(reason=several((*mention.names, *other.names)), end=other.j)
    if len(set(mention.names)) > 1:
        return Found(reason=several(mention.names), end=end)
    return Found(mention.names[0], None, end)


def _alternative(doc: Doc, m: Mention, last: int) -> Mention | None:
    """The other step that is left open: "3, or maybe 4", "step 3, though it could also be step 5"."""
    hedged = False
    for p in range(m.j, min(m.j + REACH, len(doc))):
        form = doc.forms[p]
        other = mention_at(doc, p, last, expected=True) if hedged else None
        if other is not None:
            return other if other.names != m.names else None
        hedged = hedged or form in words.HEDGES or form in words.HEDGED
        if form not in words.OPEN_TO_ANOTHER or doc.breaks[p] >= LINE:
            return None
    return None


def several(names: tuple[str, ...]) -> str:
    """The reason for more than one step."""
    shown = list(dict.fromkeys(names))
    return f"more than one step is named: {', '.join(shown[:5])}{' …' if len(shown) > 5 else ''}"


def head(doc: Doc, last: int) -> Found | None:
    """The step field of an answer without labels, which is its beginning: "3", or "Step 3: ...".

    None if it begins otherwise, if a verdict clears that step, or if lines begin with several steps, as where
    the chain is repeated.
    """
    found = claimed(doc, last)
    if found is None:
        return None
    taken_back = corrected(doc, found.end, last)
    if taken_back is not None:
        return taken_back
    if found.reason:
        return found if found.end >= len(doc) or doc.breaks[found.end] >= SENTENCE else None
    named = mentions(doc, last)
    if len({m.names for m in named if heads_line(doc, m)}) > 1:
        return None
    if found.end < len(doc) and doc.breaks[found.end] >= LINE:
        further = claimed(doc, last, found.end)
        if further is not None and (further.end >= len(doc) or doc.breaks[further.end] >= LINE):
            names = (found.step or "", further.step or "")
            return found if len(set(names)) == 1 else Found(reason=several(names), end=further.end)
    elif found.end < len(doc):
        if numbered_lines(doc) > 1:
            return None
        gap = doc.gap(found.end)
        parted = doc.breaks[found.end] >= COMMA or gap.strip() in {")", "-", "–", "—"}
        if not parted or verdict(doc, named or [Mention(0, found.end, ())], 0) == "cleared":
            return None
    return found


def takes_back(doc: Doc, i: int, j: int) -> bool:
    """True if the words of tokens i to j-1 take an earlier step back: "wait", "on second thought"."""
    return any(
        (doc.forms[k] in words.TAKES_BACK and doc.breaks[k] >= COMMA)
        or (doc.forms[k], doc.forms[k + 1] if k + 1 < j else "") in words.TAKES_BACK_PAIRS
        for k in range(i, j)
    )


def turns(doc: Doc, k: int) -> bool:
    """True if token k stands in a sentence that begins with "Actually" or "No"."""
    start = next((p for p in range(k, max(k - REACH, 0) - 1, -1) if doc.breaks[p] >= SENTENCE), k)
    return doc.forms[start] in words.TURNS


def corrected(doc: Doc, k: int, last: int) -> Found | None:
    """The step of the first sentence that corrects the one before: "Wait, no, step 4."."""
    while k < len(doc):
        if doc.breaks[k] >= CLAUSE and doc.forms[k] in words.TAKES_BACK | words.TURNS:
            end = doc.sentence_end(k)
            while k < end and doc.forms[k] in words.TAKES_BACK | words.TURNS:
                k += 1
            found = claimed(doc, last, k) if k < end else None
            if found is not None and found.end <= end and (doc.ends(found.end)):
                return found
        k = doc.sentence_end(k) if k < len(doc) else k
    return None


def denies_all(doc: Doc, last: int) -> bool:
    """True if the text begins by saying that no step is wrong: "None", "All steps are correct"."""
    if not len(doc):
        return False
    said = doc.forms[: doc.sentence_end(0)]
    if said in (
        ["none"],
        ["all"],
        ["both"],
        ["neither"],
        ["all", "steps"],
        ["every", "step"],
        ["no"],
        ["nothing"],
        ["no", "step"],
        ["no", "steps"],
        ["no", "error"],
        ["no", "errors"],
    ):
        return True
    if not any(w in words.NO_STEP for w in said[:3] + (said[3:6] if said[0] in {"there", "i"} else [])):
        return False
    judged = any(w in words.FAULTS or w in words.SOUND for w in said)
    if not judged or any(w in {"but", "except", "besides", "apart"} for w in said):
        return False
    return not mentions(Doc(doc.surface(0, doc.sentence_end(0))), last)


def named_in(doc: Doc, last: int, *, accused_only: bool = False) -> Found | None:
    """The step that a text without a step field calls wrong; None if it names no step.

    A sentence that says where the error is counts before others, and the last of such sentences; else the
    first step that is called wrong, else the only one that is named in the first line, else in the text.
    """
    found = mentions(doc, last)
    if not found:
        return None
    said = verdicts(doc, found)
    ends = [0, *(m.j for m in found)]
    cues = [m for (m, v), end in zip(said, ends, strict=False) if v != "cleared" and locates(doc, m, end)]
    if cues:
        seen = cues[-1]
        cues += [m for m, v in said if v == "accused" and m.i >= seen.j and takes_back(doc, seen.j, m.i)]
        return _agreed(doc, cues)
    for blame in ("accused", "tentative"):
        blamed = [m for m, v in said if v == blame]
        if blamed:
            return _blamed(doc, blamed)
    if accused_only:
        return None
    if all(inferred(doc, m) for m in found):
        return None  # "the first statement" of a guideline is no step
    live = [m for m, v in said if v == "named"]
    line = next((k for k in range(1, len(doc)) if doc.breaks[k] >= LINE), len(doc))
    restated = len({m.names for m in found if heads_line(doc, m)}) > 1
    for among in ([m for m in live if m.i < line and not restated], live):
        names = tuple(dict.fromkeys(name for m in among for name in m.names))
        if len(names) == 1:
            return Found(names[0])
        if names:
            return Found(reason=several(names))
    return Found(reason="no step is called wrong")


def _agreed(doc: Doc, cues: list[Mention]) -> Found:
    """The step of the last cue, if those before agree or are taken back."""
    last = cues[-1]
    other = next((m for m in reversed(cues) if m.names != last.names), None)
    if other is not None and not (takes_back(doc, other.j, last.i) or turns(doc, last.i)):
        return Found(reason=several((*other.names, *last.names)))
    return Found(last.names[0]) if len(set(last.names)) == 1 else Found(reason=several(last.names))


def _blamed(doc: Doc, blamed: list[Mention]) -> Found:
    """The first step that is called wrong.

    Another one counts on the same line, in a list, or after a retraction; else it is part of the explanation.
    """
    choice = blamed[0]
    seen, back, broken = choice.j, False, False
    for other in blamed[1:]:
        back = back or takes_back(doc, max(seen - 1, choice.j), other.i)
        broken = broken or any(doc.breaks[k] >= LINE for k in range(seen, other.i + 1))
        seen = other.i
        if other.names == choice.names:
            continue
        if back or turns(doc, other.i):
            choice, seen, back, broken = other, other.j, False, False
        elif not broken or (heads_line(doc, choice) and heads_line(doc, other)):
            return Found(reason=several((*choice.names, *other.names)))
    return Found(choice.names[0]) if len(set(choice.names)) == 1 else Found(reason=several(choice.names))
