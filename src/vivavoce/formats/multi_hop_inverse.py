"""A chain of reasoning with one wrong step: which one, and why? (ClinIQLink 2025, multi-hop inverse)."""

import re

from vivavoce.formats.base import Format, fault, unanswered, unreadable, voiced
from vivavoce.formats.markup import lines_of, unboxed, unfenced, untabled, untagged
from vivavoce.formats.options import checked_question, laid_out
from vivavoce.formats.refusal import abstains, only_refuses
from vivavoce.formats.sections import EXPLANATION, FINAL, joined, pattern, sections
from vivavoce.formats.short_inverse import checked_references
from vivavoce.formats.steps import (
    Found,
    claimed,
    corrected,
    denies_all,
    head,
    named_in,
    several,
    takes_back,
    turns,
)
from vivavoce.formats.structured import entries, entry
from vivavoce.formats.tokens import Doc
from vivavoce.prompts import load
from vivavoce.records import Item, Located, Reading
from vivavoce.text import is_blank, one_line

__all__ = ["FORMAT"]

_STEP = r"""
    (?:(?:the|a|my|first(?=\s(?:incorrect|wrong|faulty|flawed|erroneous|error|false))|incorrect|wrong|faulty|flawed
        |erroneous|error|false|invalid|mistaken|problematic|reasoning|inference|logical|identified|selected|chosen
        |final(?=[^\n:]{0,40}:)|answer|number|of|in|with|containing|location)\s){0,6}
    (?:(?:steps?(?:\(s\))?|hop|schritt|paso|étape|passo|шаг|步骤|步驟)(?:\s?\#|\s(?:number|no\.?|nr\.?|index|id)
        |\s(?:incorrecte?|incorrecto|incorreto|erron[ée]e?|erróneo|errado|fautive))?)
  | step\s(?:with|containing|that\scontains)\s(?:the|an)\s(?:error|mistake|incorrect\sinference)
  | (?:error|mistake)\s(?:location|position|is\sin|in)
"""
_LABELS = pattern(
    {
        "step": _STEP,
        "explanation": rf"{EXPLANATION} | (?:my\s)?reasoning | correction",
        "final": rf"{FINAL} | (?:the\s)?(?:conclusion|verdict)",
    }
)
_OWN = re.compile(r"^\W*step\s*#?\d{1,3}\s*[:.)–—-]\s*", re.IGNORECASE)
_ANY = 10**6
"""The last step of an item without steps."""


def _ask(item: Item, style: str | None) -> str:
    shown = f"\nAnswer given: {item.false_answer}\n" if item.false_answer else ""
    steps = "\n".join(f"Step {n}: {_OWN.sub('', text)}" for n, text in enumerate(item.steps, 1))
    return load("multi_hop_inverse").fill(question=laid_out(item), conclusion=shown, steps=steps)


def _read(item: Item, text: str) -> Reading:
    answer = voiced(text)
    if isinstance(answer, Reading):
        return answer
    if abstains(answer) or only_refuses(answer):
        return unanswered("a refusal without an answer")
    last = len(item.steps) or _ANY
    found = entries(answer)
    read = _from_json(found, last) if found else None
    if read is None:
        read = _from_text(untagged(unboxed(untabled(unfenced(answer), lines_of))), last)
    place, explanation = read[0], "" if is_blank(read[1]) else read[1]
    if place is None and (is_blank(explanation) or abstains(explanation) or only_refuses(explanation)):
        return unanswered("neither a step nor an explanation")
    if place is None:
        return Reading("ok", Located(None, explanation))
    if place.reason or place.step is None:
        return unreadable(place.reason or "no step is named")
    if not place.step.isdecimal():
        return unreadable(f"{one_line(place.step, 20)} is no number of a step")
    if len(place.step) > 6 or not 1 <= int(place.step) <= last:
        many = f"from 1 to {last}" if item.steps else "counted from 1"
        return unreadable(f"there is no step {one_line(place.step, 20)}: they are {many}")
    return Reading("ok", Located(int(place.step), explanation))


_Place = tuple[Found | None, str]


def _from_json(found: dict[str, object], last: int) -> _Place | None:
    given = entry(found, "step")
    explanation = entry(found, "explanation")
    if given is None:
        answer = entry(found, "answer")
        if answer is None and explanation is None:
            return None
        place = _field(answer, last, sure=False) if answer else None
        return place, explanation or ""
    return (_field(given, last) if given.strip() else None), explanation or ""


def _from_text(text: str, last: int) -> _Place:
    """The step and the explanation: labelled ones, else by the order that `docs/formats.md` gives."""
    parts = sections(text, _LABELS)
    fields: list[tuple[int, Found]] = []
    rest: list[str] = [parts[0].text]
    told = [p.text for p in parts if p.name == "explanation" and not is_blank(p.text)]
    for part in parts[1:]:
        if part.name == "explanation":
            whole = claimed(doc := Doc(part.text), last)
            if whole is not None and whole.end == len(doc):  # "Incorrect Reasoning: Step 3"
                fields.append((part.lead, whole))
                told.remove(part.text)
            continue
        line, _, more = part.text.partition("\n")
        if is_blank(line):
            continue
        field = _field(line, last, sure=part.name == "step")
        if field is None:  # "Answer: it confuses two drugs" names no step
            rest.append(part.text)
            continue
        fields.append((part.lead, field))
        rest += [_behind(line, last), more.strip()]
    if fields:
        return _last_field(text, fields), joined(*(told or rest))
    free = joined(*rest)
    place, explanation = _unlabelled(free, last, alone=not told)
    if place is None and told:
        # an explanation may say outright which step is wrong; one that only mentions a step does not
        place = named_in(Doc(joined(*told)), last, accused_only=True)
    return place, joined(*told) if told else explanation


def _field(text: str, last: int, *, sure: bool = True) -> Found | None:
    """The step of a labelled field; `sure` if the label says that a step stands there."""
    doc = Doc(text)
    found = claimed(doc, last)
    if found is not None:
        return corrected(doc, found.end, last) or found
    if denies_all(doc, last):
        return Found(reason="it names no single step as wrong")
    found = named_in(doc, last)
    if found is None and sure:
        return Found(reason=f"no step is named where one should be: {one_line(text, 40)}")
    return found


def _behind(line: str, last: int) -> str:
    """What follows the step in its own field, without the sign that parts them."""
    doc = Doc(line)
    found = claimed(doc, last)
    if found is None or not found.end:
        return line
    return doc.text[doc.tokens[found.end - 1].end :].lstrip(" \t:.,;)]*_\"'`–—-").strip()


def _last_field(text: str, fields: list[tuple[int, Found]]) -> Found:
    """The last of the labelled steps, if those before agree or are taken back."""
    at, last = fields[-1]
    for before, earlier in reversed(fields[:-1]):
        if (earlier.step, bool(earlier.reason)) != (last.step, bool(last.reason)):
            between = Doc(text[before:at])
            back = takes_back(between, 0, len(between)) or (len(between) and turns(between, len(between) - 1))
            if not back:
                return Found(reason=several(tuple(f.step or "none" for f in (earlier, last))))
            break
    return last


def _unlabelled(text: str, last: int, *, alone: bool) -> _Place:
    doc = Doc(text)
    if not len(doc):
        return None, ""
    found = head(doc, last)
    if found is not None:
        return found, _behind(text, last)
    if denies_all(doc, last):
        return Found(reason="it names no single step as wrong"), text
    found = named_in(doc, last)
    if found is not None and found.reason and not alone and found.reason == "no step is called wrong":
        return None, text  # steps are only cleared: the wrong one is absent, and its explanation is there
    return found, text


def _check(item: Item) -> Item:
    checked_question(item)
    if len(item.steps) < 2:
        raise fault(item, f"multi_hop_inverse needs 2 or more steps, not {len(item.steps)}")
    for n, text in enumerate(item.steps, 1):
        if is_blank(text):
            raise fault(item, f"step {n} is blank")
    if item.step is None:
        raise fault(item, "multi_hop_inverse needs step, the number of the wrong one")
    if not 1 <= item.step <= len(item.steps):
        raise fault(item, f"the wrong step is number {item.step}, but the steps are 1 to {len(item.steps)}")
    return checked_references(item)


FORMAT = Format(
    name="multi_hop_inverse",
    fields=("question", "steps", "step", "references", "false_answer", "context"),
    answered="with the number of the wrong step, and why it is wrong",
    read_as="the step's number (null if none is named), and the explanation",
    ask=_ask,
    read=_read,
    check=_check,
)
