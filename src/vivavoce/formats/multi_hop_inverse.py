"""A chain of reasoning with one wrong step: which one, and why? (ClinIQLink 2025, multi-hop inverse)."""

import re
from typing import ClassVar

from vivavoce.core.prompts import load
from vivavoce.core.records import Item, Located, Reading
from vivavoce.core.registry import format
from vivavoce.core.text import is_blank, lazy_pattern, one_line
from vivavoce.formats.base import (
    Format,
    check_question,
    item_error,
    strip_reasoning,
    unanswered,
    unreadable,
    with_context,
)
from vivavoce.formats.open_text import with_references
from vivavoce.language.tokens import Doc
from vivavoce.reading.fields import (
    EXPLANATION,
    FINAL,
    field_text,
    json_object,
    label_pattern,
    paragraphs,
    sections,
)
from vivavoce.reading.markup import labelled_lines, unboxed, unfenced, untabled, untagged
from vivavoce.reading.refusal import abstains, only_refuses
from vivavoce.reading.step_words import STEP_PATTERN
from vivavoce.reading.steps import (
    NamedStep,
    accused_step,
    claimed_step,
    corrected_step,
    denies_all,
    leading_step,
    several_steps,
    takes_back,
    turns,
)

_STEP = r"""
    (?:(?:the|a|my|first(?=\s(?:incorrect|wrong|faulty|flawed|erroneous|error|false))|incorrect|wrong|faulty|flawed
        |erroneous|error|false|invalid|mistaken|problematic|reasoning|inference|logical|identified|selected|chosen
        |final(?=[^\n:]{0,40}:)|answer|number|of|in|with|containing|location)\s){0,6}
    (?:(?:steps?(?:\(s\))?|hop|schritt|paso|étape|passo|passaggio|etapa|fase|шаг|步骤|步驟)(?:\s?\#|\s(?:number|no\.?|nr\.?|index|id)
        |\s(?:incorrecte?|incorrect[oa]|incorret[oa]|errón?e[oa]|erron[ée]e?|erróneo|errad[oa]|fautive|fausse|errat[oa]
        |sbagliat[oa]|scorrett[oa]|equivocad[oa]|fals[oa]))?)
  | step\s(?:with|containing|that\scontains)\s(?:the|an)\s(?:error|mistake|incorrect\sinference)
  | (?:error|mistake)\s(?:location|position|is\sin|in)
"""
_LABELS = label_pattern(
    {
        "step": _STEP,
        "explanation": rf"{EXPLANATION} | (?:my\s)?reasoning | correction",
        "final": rf"{FINAL} | (?:the\s)?(?:conclusion|verdict)",
    }
)
_NUMBERED = lazy_pattern(rf"^\W*{STEP_PATTERN}\s*#?\d{{1,3}}\s*[:.)–—-]\s*", re.IGNORECASE)
_ANY = 10**6
"""The last step of an item without steps."""


@format("multi_hop_inverse", version=2)
class MultiHopInverse(Format):
    """A chain of reasoning with one wrong step: which one, and why?"""

    fields: ClassVar[tuple[str, ...]] = (
        *("question", "steps", "step", "references", "false_answer", "context"),
    )
    answered: ClassVar[str] = "with the number of the wrong step, and why it is wrong"
    read_as: ClassVar[str] = "the step's number (null if none is named), and the explanation"
    shows_steps: ClassVar[bool] = True

    def ask(self, item: Item, style: str | None = None) -> str:
        """The question with the chain, its steps numbered, and the answer it leads to."""
        conclusion = f"\nAnswer given: {item.false_answer}\n" if item.false_answer else ""
        steps = "\n".join(f"Step {n}: {_NUMBERED.sub('', text)}" for n, text in enumerate(item.steps, 1))
        return load("multi_hop_inverse").fill(question=with_context(item), conclusion=conclusion, steps=steps)

    def read(self, item: Item, text: str) -> Reading:
        """The step and the explanation as `Located`, from JSON or from under labels."""
        answer = strip_reasoning(text)
        if isinstance(answer, Reading):
            return answer
        if abstains(answer) or only_refuses(answer):
            return unanswered("a refusal without an answer")
        last = len(item.steps) or _ANY
        place = _from_json(answer, last)
        if place is None:
            place = _from_text(untagged(unboxed(untabled(unfenced(answer), labelled_lines))), last)
        return _located(*place, item)

    def check(self, item: Item) -> Item:
        """Needs two or more steps, the number of the wrong one, and a right explanation."""
        check_question(item)
        if len(item.steps) < 2:
            raise item_error(item, f"multi_hop_inverse needs 2 or more steps, not {len(item.steps)}")
        for n, text in enumerate(item.steps, 1):
            if is_blank(text):
                raise item_error(item, f"step {n} is blank", "a step is blank")
        if item.step is None:
            raise item_error(item, "multi_hop_inverse needs step, the number of the wrong one")
        if not 1 <= item.step <= len(item.steps):
            subject = f"the wrong step is number {item.step}, but the steps are 1 to {len(item.steps)}"
            raise item_error(item, subject, "the wrong step is none of its steps")
        return with_references(super().check(item))

    def key(self, item: Item) -> str:
        """The wrong step and the explanation, under the labels of the prompt."""
        return f"Step: {item.step}\nExplanation: {super().key(item)}"


def _located(step: NamedStep | None, explanation: str, item: Item) -> Reading:
    """The reading for what names the step, and an explanation; either may be missing."""
    if is_blank(explanation):
        explanation = ""
    if step is None:
        if is_blank(explanation) or abstains(explanation) or only_refuses(explanation):
            return unanswered("neither a step nor an explanation")
        return Reading("ok", Located(None, explanation))
    if step.reason or step.step is None:
        return unreadable(step.reason or "no step is named")
    fault = _number_fault(step.step, len(item.steps))
    return unreadable(fault) if fault else Reading("ok", Located(int(step.step), explanation))


def _number_fault(number: str, n_steps: int) -> str | None:
    """Why this is no number of a step of the item; None if it is one."""
    if not number.isdecimal():
        return f"{one_line(number, 20)} is no number of a step"
    # six digits at most: no chain is longer, and Python refuses to read very long numbers
    if len(number) > 6 or not 1 <= int(number) <= (n_steps or _ANY):
        numbers = f"from 1 to {n_steps}" if n_steps else "counted from 1"
        return f"there is no step {one_line(number, 20)}: they are {numbers}"
    return None


_Place = tuple[NamedStep | None, str]


def _from_json(text: str, last: int) -> _Place | None:
    fields = json_object(text)
    if not fields:
        return None
    step = field_text(fields, "step")
    explanation = field_text(fields, "explanation")
    if step is None:
        answer = field_text(fields, "answer")
        if answer is None and explanation is None:
            return None
        # The name `answer` promises no step number, so prose in it is no fault.
        place = _field(answer, last, sure=False) if answer else None
        return place, explanation or ""
    return (_field(step, last) if step.strip() else None), explanation or ""


def _from_text(text: str, last: int) -> _Place:
    """The step and the explanation: labelled ones, else by the order that `docs/formats.md` gives."""
    parts = sections(text, _LABELS)
    steps: list[tuple[int, NamedStep]] = []
    remainder: list[str] = [parts[0].text]
    explanations: list[str] = []
    for part in parts[1:]:
        line, _, more = part.text.partition("\n")
        if part.name == "explanation":
            step = _step_alone(part.text, last)
            if step is not None:  # "Incorrect Reasoning: Step 3"
                steps.append((part.lead, step))
            else:
                explanations.append(part.text)
            continue
        if is_blank(line):
            continue
        field = _field(line, last, sure=part.name == "step")
        if field is None:  # "Answer: it confuses two drugs" names no step
            remainder.append(part.text)
            continue
        steps.append((part.lead, field))
        remainder += [_behind(line, last), more.strip()]
    explanations = [text for text in explanations if not is_blank(text)]
    if steps:
        return _last_field(text, steps), paragraphs(*(explanations or remainder))
    step, explanation = _unlabelled(paragraphs(*remainder), last, alone=not explanations)
    if not explanations:
        return step, explanation
    labelled = paragraphs(*explanations)
    if step is None:
        # an explanation may say outright which step is wrong; one that only mentions a step does not
        step = accused_step(Doc(labelled), last, accused_only=True)
    return step, labelled


def _step_alone(text: str, last: int) -> NamedStep | None:
    """The step that is all a text says."""
    doc = Doc(text)
    step = claimed_step(doc, last)
    return step if step is not None and step.end == len(doc) else None


def _field(text: str, last: int, *, sure: bool = True) -> NamedStep | None:
    """The step of a labelled field; `sure` if the label says that a step stands there."""
    doc = Doc(text)
    step = claimed_step(doc, last)
    if step is not None:
        return corrected_step(doc, step.end, last) or step
    if denies_all(doc, last):
        return NamedStep(reason="it names no single step as wrong")
    step = accused_step(doc, last)
    if step is None and sure:
        return NamedStep(reason=f"no step is named where one should be: {one_line(text, 40)}")
    return step


def _behind(line: str, last: int) -> str:
    """What follows the step in its own field, without the sign that parts them."""
    doc = Doc(line)
    step = claimed_step(doc, last)
    if step is None or not step.end:
        return line
    return doc.text[doc.tokens[step.end - 1].end :].lstrip(" \t:.,;)]*_\"'`–—-").strip()


def _last_field(text: str, fields: list[tuple[int, NamedStep]]) -> NamedStep:
    """The last of the labelled steps, if those before agree or are taken back."""
    position, last = fields[-1]
    for preceding, earlier in reversed(fields[:-1]):
        if (earlier.step, bool(earlier.reason)) != (last.step, bool(last.reason)):
            between = Doc(text[preceding:position])
            back = takes_back(between, 0, len(between)) or (len(between) and turns(between, len(between) - 1))
            if not back:
                return several_steps([step.step or "none" for step in (earlier, last)])
            break
    return last


def _unlabelled(text: str, last: int, *, alone: bool) -> _Place:
    doc = Doc(text)
    if not len(doc):
        return None, ""
    step = leading_step(doc, last)
    if step is not None:
        return step, _behind(text, last)
    if denies_all(doc, last):
        return NamedStep(reason="it names no single step as wrong"), text
    step = accused_step(doc, last)
    if step is not None and step.reason and not alone and step.reason == "no step is called wrong":
        return None, text  # steps are only cleared: the wrong one is absent, and its explanation is there
    return step, text
