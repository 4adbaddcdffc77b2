"""Which step of a chain of reasoning a response calls the wrong one.

A claim is a place where a step is expected, such as what follows "Step:". Elsewhere the verdicts on the steps
that the text names decide.
"""

from collections.abc import Sequence
from typing import NamedTuple

from vivavoce.language.tokens import CLAUSE, COMMA, LINE, SENTENCE, Doc, has_any
from vivavoce.reading import lexicon as words
from vivavoce.reading import step_words
from vivavoce.reading.step_mentions import (
    StepMention,
    heads_line,
    inferred,
    mention_at,
    numbered_lines,
    step_mentions,
)
from vivavoce.reading.step_verdicts import REACH, Verdict, judged_steps, locates, step_verdict

_JUDGES = words.FAULTS | step_words.SOUND
_OTHER_MARKS = words.HEDGES | step_words.HEDGED
_CORRECTING = step_words.TAKES_BACK | step_words.TURNS
_LEADS_TO_STEP = words.LIGHT | step_words.LOCATES | {"el", "la", "il", "le", "der"}
_DENIALS_OF_ALL = frozenset(
    {"none", "all", "both", "neither", "all steps", "every step", "no", "nothing", "no step", "no steps",
     "no error", "no errors"}
)  # fmt: skip
"""What alone is a sentence that calls no step wrong."""


class NamedStep(NamedTuple):
    """The step a response names, or why none can be read; tokens up to `end` hold nothing else."""

    step: str | None = None
    reason: str | None = None
    end: int = 0


def several_steps(names: Sequence[str]) -> NamedStep:
    """The reading where more than one step is named."""
    distinct = list(dict.fromkeys(names))
    return NamedStep(
        reason=f"more than one step is named: {', '.join(distinct[:5])}{' …' if len(distinct) > 5 else ''}"
    )


def _one_step(names: Sequence[str]) -> NamedStep:
    return NamedStep(names[0]) if len(set(names)) == 1 else several_steps(names)


# --- claims


def claimed_step(doc: Doc, last: int, k: int = 0) -> NamedStep | None:
    """The step that a claim begins with, "3", "Step 3: ...", "in the third"; None if it begins otherwise."""
    while k < len(doc) and doc.forms[k] in _LEADS_TO_STEP:
        if mention_at(doc, k, last, expected=True) is not None:
            break
        k += 1
    mention = mention_at(doc, k, last, expected=True) if k < len(doc) else None
    if mention is None:
        return None
    further = _alternative(doc, mention, last)
    if further is not None:
        return several_steps((*mention.names, *further.names))._replace(end=further.j)
    return _one_step(mention.names)._replace(end=mention.j)


def _alternative(doc: Doc, mention: StepMention, last: int) -> StepMention | None:
    """The other step that is left open: "3, or maybe 4", "step 3, though it could also be step 5"."""
    hedged = False
    for p in range(mention.j, min(mention.j + REACH, len(doc))):
        form = doc.forms[p]
        further = mention_at(doc, p, last, expected=True) if hedged else None
        if further is not None:
            return further if further.names != mention.names else None
        hedged = hedged or form in _OTHER_MARKS
        if form not in step_words.OPEN_TO_ANOTHER or doc.breaks[p] >= LINE:
            return None
    return None


def leading_step(doc: Doc, last: int) -> NamedStep | None:
    """The step field of a response without labels, which is its beginning: "3", or "Step 3: ...".

    None if it begins otherwise, if a verdict clears that step, or if lines begin with several steps, as where
    the chain is repeated.
    """
    step = claimed_step(doc, last)
    if step is None:
        return None
    correction = corrected_step(doc, step.end, last)
    if correction is not None:
        return correction
    if step.reason:
        return step if step.end >= len(doc) or doc.breaks[step.end] >= SENTENCE else None
    mentions = step_mentions(doc, last)
    if _restates(doc, mentions):
        return None
    if step.end >= len(doc):
        return step
    if doc.breaks[step.end] >= LINE:
        return _with_next_line(doc, step, last)
    return step if _is_field(doc, step, mentions) else None


def _with_next_line(doc: Doc, step: NamedStep, last: int) -> NamedStep:
    """The step of a line; several if the next line is nothing but another step."""
    further = claimed_step(doc, last, step.end)
    if further is None or not (further.end >= len(doc) or doc.breaks[further.end] >= LINE):
        return step
    names = (step.step or "", further.step or "")
    return step if names[0] == names[1] else several_steps(names)._replace(end=further.end)


def _is_field(doc: Doc, step: NamedStep, mentions: Sequence[StepMention]) -> bool:
    """True if a sign divides the step from what follows on its line, and nothing clears it."""
    if numbered_lines(doc) > 1:
        return False
    if doc.breaks[step.end] < COMMA and doc.gap(step.end).strip() not in {")", "-", "–", "—"}:
        return False
    return step_verdict(doc, mentions or [StepMention(0, step.end, ())], 0) != "cleared"


def takes_back(doc: Doc, i: int, j: int) -> bool:
    """True if the words of tokens i to j-1 take an earlier step back: "wait", "on second thought"."""
    return any(
        (doc.forms[k] in step_words.TAKES_BACK and doc.breaks[k] >= COMMA)
        or (doc.forms[k], doc.forms[k + 1] if k + 1 < j else "") in words.RETRACTION_PAIRS
        for k in range(i, j)
    )


def turns(doc: Doc, k: int) -> bool:
    """True if token k stands in a sentence that begins with "Actually" or "No"."""
    start = next((p for p in range(k, max(k - REACH, 0) - 1, -1) if doc.breaks[p] >= SENTENCE), k)
    return doc.forms[start] in step_words.TURNS


def corrected_step(doc: Doc, k: int, last: int) -> NamedStep | None:
    """The step of the first sentence that corrects the one before: "Wait, no, step 4."."""
    while k < len(doc):
        if doc.breaks[k] >= CLAUSE and doc.forms[k] in _CORRECTING:
            end = doc.sentence_end(k)
            k = next((p for p in range(k, end) if doc.forms[p] not in _CORRECTING), end)
            step = claimed_step(doc, last, k) if k < end else None
            if step is not None and step.end <= end and doc.ends(step.end):
                return step
        k = doc.sentence_end(k) if k < len(doc) else k
    return None


# --- texts without a claim


def denies_all(doc: Doc, last: int) -> bool:
    """True if the text begins by saying that no step is wrong: "None", "All steps are correct"."""
    if not len(doc):
        return False
    first = doc.forms[: doc.sentence_end(0)]
    if " ".join(first) in _DENIALS_OF_ALL:
        return True
    opening = first[:6] if first[0] in {"there", "i"} else first[:3]
    if not has_any(opening, step_words.NO_STEP) or not has_any(first, _JUDGES):
        return False
    if has_any(first, {"but", "except", "besides", "apart"}):
        return False
    return not step_mentions(Doc(doc.surface(0, doc.sentence_end(0))), last)


def accused_step(doc: Doc, last: int, *, accused_only: bool = False) -> NamedStep | None:
    """The step that a text without a step field calls wrong; None if it names no step.

    A sentence that says where the error is counts before others, and the last of such sentences; else the
    first step that is called wrong, else the only one that is named in the first line, else in the text.
    """
    mentions = step_mentions(doc, last)
    if not mentions:
        return None
    judged = judged_steps(doc, mentions)
    located = _located(doc, judged)
    if located:
        return _agreed(doc, located)
    blamed = _with_verdict(judged, "accused") or _with_verdict(judged, "tentative")
    if blamed:
        return _first_blamed(doc, blamed)
    if accused_only or all(inferred(doc, mention) for mention in mentions):
        return None  # "the first statement" of a guideline is no step
    return _only_named(doc, mentions, _with_verdict(judged, "named"))


def _with_verdict(judged: Sequence[tuple[StepMention, Verdict]], verdict: Verdict) -> list[StepMention]:
    return [mention for mention, judgement in judged if judgement == verdict]


def _located(doc: Doc, judged: Sequence[tuple[StepMention, Verdict]]) -> list[StepMention]:
    """The steps that sentences give as the place of the error, and those that correct the last of them."""
    located: list[StepMention] = []
    end = 0
    for mention, verdict in judged:
        if verdict != "cleared" and locates(doc, mention, end):
            located.append(mention)
        end = mention.j
    if not located:
        return []
    last = located[-1]
    end, is_back = last.j, False
    for mention, verdict in judged:
        if verdict == "accused" and mention.i >= last.j:
            is_back = is_back or takes_back(doc, max(end - 1, last.j), mention.i)
            end = mention.i
            if is_back:
                located.append(mention)
    return located


def _only_named(doc: Doc, mentions: Sequence[StepMention], live: Sequence[StepMention]) -> NamedStep:
    """The only step that is named in the first line, else in the text."""
    line_end = next((k for k in range(1, len(doc)) if doc.breaks[k] >= LINE), len(doc))
    first_line = [mention for mention in live if mention.i < line_end]
    if _restates(doc, mentions):
        first_line = []
    for among in (first_line, live):
        names = tuple(dict.fromkeys(name for mention in among for name in mention.names))
        if names:
            return _one_step(names)
    return NamedStep(reason="no step is called wrong")


def _restates(doc: Doc, mentions: Sequence[StepMention]) -> bool:
    """True if lines begin with several steps, as where the chain is repeated."""
    return len({mention.names for mention in mentions if heads_line(doc, mention)}) > 1


def _agreed(doc: Doc, located: Sequence[StepMention]) -> NamedStep:
    """The step of the last cue, if those before agree or are taken back."""
    last = located[-1]
    further = next((mention for mention in reversed(located) if mention.names != last.names), None)
    if further is not None and not (takes_back(doc, further.j, last.i) or turns(doc, last.i)):
        return several_steps((*further.names, *last.names))
    return _one_step(last.names)


def _first_blamed(doc: Doc, blamed: Sequence[StepMention]) -> NamedStep:
    """The first step that is called wrong.

    Another one counts on the same line, in a list, or after a retraction; else it is part of the explanation.
    """
    choice = blamed[0]
    end, is_back, new_line = choice.j, False, False
    for further in blamed[1:]:
        is_back = is_back or takes_back(doc, max(end - 1, choice.j), further.i)
        new_line = new_line or max(doc.breaks[end : further.i + 1], default=0) >= LINE
        end = further.i
        if further.names == choice.names:
            continue
        if is_back or turns(doc, further.i):
            choice, end, is_back, new_line = further, further.j, False, False
        elif not new_line or (heads_line(doc, choice) and heads_line(doc, further)):
            return several_steps((*choice.names, *further.names))
    return _one_step(choice.names)
