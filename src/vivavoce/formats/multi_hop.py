"""A question that takes several steps: the answer, and what leads to it (ClinIQLink 2025, multi-hop)."""

import re

from vivavoce.formats.base import Format, unanswered, unreadable, voiced
from vivavoce.formats.cues import retracts
from vivavoce.formats.markup import lines_of, unboxed, unfenced, untabled, untagged
from vivavoce.formats.options import checked_question, laid_out
from vivavoce.formats.refusal import abstains, only_refuses
from vivavoce.formats.sections import (
    EXPLANATION,
    FINAL,
    Section,
    joined,
    pattern,
    sections,
    split_steps,
)
from vivavoce.formats.short_inverse import checked_references
from vivavoce.formats.structured import entries, entry, listed
from vivavoce.formats.tokens import Doc
from vivavoce.prompts import load
from vivavoce.records import Item, Reading, Reasoned
from vivavoce.text import is_blank

__all__ = ["FORMAT"]

_REASONING = rf"""
    (?:(?:my|the|step[- ]by[- ]step|detailed|brief|clinical|logical|multi-hop)\s){{0,3}}
    (?:reasoning(?:\s(?:steps|process|chain))?|steps|chain\sof\s(?:thought|reasoning)|thought\sprocess|analysis
      |logic|raisonnement|razonamiento|argumentation)
  | {EXPLANATION}
  | (?=step\s(?:1|one)\b[*_]{{0,2}}\s?[:.)–-])
"""
_LABELS = pattern({"answer": FINAL, "conclusion": r"(?:(?:in|the)\s)?conclusion", "reasoning": _REASONING})
_FIRST = re.compile(
    r"^[#>*_\-•\t ]*+(?:reasoning\s)?step\s(?:1|one)\b[*_]{0,2}\s?[:.)–-]", re.IGNORECASE | re.MULTILINE
)
_SAID = re.compile(
    r"""(?:^|(?<=[.!?]\s))[*_#>\ ]*+
        (?P<so>(?:so|thus|hence|therefore|overall|consequently|in\ conclusion|in\ summary|finally),?\ )?
        (?:the|my)\ (?P<final>(?:(?:final|correct|best|right)\ ){0,2})answer\ (?:is|would\ be|must\ be)
        (?:\ that\b)?(?P<colon>[:,]?)[*_]*+\s""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
"""A conclusion; "the answer is complex" alone is none."""
_OPENER = re.compile(r"[:!]\W*$")
"""A line such as "Sure! Here is my answer:", which is no step."""


def _ask(item: Item, style: str | None) -> str:
    return load("multi_hop").fill(question=laid_out(item))


def _read(item: Item, text: str) -> Reading:
    answer = voiced(text)
    if isinstance(answer, Reading):
        return answer
    if abstains(answer) or only_refuses(answer):
        return unanswered("a refusal without an answer")
    found = entries(answer)
    if found and (read := _from_json(found)) is not None:
        return read
    answer = unboxed(untabled(unfenced(answer), lines_of))
    first = _FIRST.search(answer)
    if first is not None:  # steps may follow the answer without a label of their own
        answer = f"{answer[: first.start()]}\nReasoning:\n{answer[first.start() :]}"
    return _from_text(untagged(answer))


def _from_json(found: dict[str, object]) -> Reading | None:
    answer = entry(found, "answer")
    steps = listed(found, "reasoning")
    if answer is None and not steps:
        return None
    return _settled(answer or "", steps)


def _settled(answer: str, steps: tuple[str, ...]) -> Reading:
    if is_blank(answer):
        return unreadable("reasoning without an answer") if steps else unanswered("the answer is blank")
    if abstains(answer) or only_refuses(answer):
        return unanswered("a refusal without an answer")
    return Reading("ok", Reasoned(answer, steps))


def _from_text(text: str) -> Reading:
    parts = sections(text, _LABELS)
    answers = [p for p in parts if p.name == "answer"] or [p for p in parts if p.name == "conclusion"]
    kind = answers[0].name if answers else ""
    reasons = [p.text for p in parts if p.name in {"reasoning", "conclusion"} and p.name != kind]
    before = parts[0].text
    if answers:
        given = [p for p in answers if not is_blank(p.text)]
        steps = split_steps(joined(*reasons)) if reasons else _before(before)
        if not given:
            return _settled("", steps)
        chosen = _chosen(text, given)
        return chosen if isinstance(chosen, Reading) else _settled(chosen.text, steps)
    if any(not is_blank(reason) for reason in reasons):
        # what stands before the reasoning is the answer; within it, "the answer is ..." is
        if not is_blank(before) and not _OPENER.search(before):
            return _settled(before, split_steps(joined(*reasons)))
        return _said(joined(*reasons)) or _settled("", split_steps(joined(*reasons)))
    return _said(text) or _settled(text.strip(), ())


def _before(text: str) -> tuple[str, ...]:
    return () if _OPENER.search(text) and "\n" not in text else split_steps(text)


def _said(text: str) -> Reading | None:
    """The answer in "Therefore, the answer is ...", to the end of its line; the rest are the steps."""
    marks = [
        m for m in _SAID.finditer(text) if m["so"] or m["final"] or m["colon"] == ":" or _closes(text, m)
    ]
    if not marks:
        return None
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    given = []
    after = ""
    for mark, end in zip(marks, ends, strict=True):
        line, _, after = text[mark.end() : end].partition("\n")
        given.append(Section("", mark.start(), line.strip(" \t*_")))
    chosen = _chosen(text, given)
    if isinstance(chosen, Reading):
        return chosen
    return _settled(chosen.text, split_steps(joined(text[: marks[0].start()].strip(), after.strip())))


def _closes(text: str, mark: re.Match[str]) -> bool:
    """True for a conclusion that is a paragraph of its own, and the last one."""
    return "\n\n" in text[: mark.start()][-3:] and "\n" not in text[mark.end() :].rstrip()


def _chosen(text: str, given: list[Section]) -> Section | Reading:
    """The last answer, if those before agree or are taken back; one called final comes before."""
    final = [p for p in given if re.match(r"\W*(?:\w+\W+){0,2}?final\b", text[p.lead : p.lead + 40], re.I)]
    given = final or given
    last = given[-1]
    words = set(Doc(last.text).forms)
    for earlier in reversed(given[:-1]):
        forms = set(Doc(earlier.text).forms)
        if not (forms <= words or words <= forms):
            between = Doc(text[earlier.lead : last.lead])
            if not retracts(between, 0, len(between)):
                return unreadable("two final answers that disagree")
            break
    return last


def _check(item: Item) -> Item:
    return checked_references(checked_question(item))


FORMAT = Format(
    name="multi_hop",
    fields=("question", "references", "steps", "context"),
    answered="with an answer and the steps that lead to it",
    read_as="the answer, and the steps",
    ask=_ask,
    read=_read,
    check=_check,
)
