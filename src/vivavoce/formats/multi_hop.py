"""A question that takes several steps: the answer, and what leads to it (ClinIQLink 2025, multi-hop)."""

import re
from collections.abc import Sequence
from functools import cache
from typing import ClassVar

from vivavoce.core.prompts import load
from vivavoce.core.records import Item, Reading, Reasoned
from vivavoce.core.registry import format
from vivavoce.core.text import is_blank, lazy_pattern
from vivavoce.formats.base import Format, strip_reasoning, unanswered, unreadable, with_context
from vivavoce.formats.open_text import with_references
from vivavoce.language.tokens import Doc
from vivavoce.reading.answer_markers import retracts
from vivavoce.reading.fields import (
    EXPLANATION,
    Section,
    field_steps,
    field_text,
    final_labels,
    json_object,
    label_pattern,
    paragraphs,
    sections,
    split_steps,
)
from vivavoce.reading.markup import labelled_lines, unboxed, unfenced, untabled, untagged
from vivavoce.reading.refusal import abstains, only_refuses
from vivavoce.reading.step_words import STEP_PATTERN

_REASONING = rf"""
    (?:(?:my|the|step[- ]by[- ]step|detailed|brief|clinical|logical|multi-hop)\s){{0,3}}
    (?:reasoning(?:\s(?:steps|process|chain))?|steps|chain\sof\s(?:thought|reasoning)|thought\sprocess|analysis
      |logic|raisonnement|razonamiento|argumentation|ragionamento|raciocínio|gedankengang|schritte|pasos|étapes
      |passaggi|passi|passos)
  | {EXPLANATION}
  | (?={STEP_PATTERN}\s(?:1|one)\b[*_]{{0,2}}\s?[:.)–-])
"""


@cache
def _labels() -> re.Pattern[str]:
    conclusion = r"(?:(?:in|the)\s)?conclusion"
    return label_pattern({"answer": final_labels(), "conclusion": conclusion, "reasoning": _REASONING})


_FIRST = lazy_pattern(
    rf"^[#>*_\-•\t ]*+(?:reasoning\s)?{STEP_PATTERN}\s(?:1|one)\b[*_]{{0,2}}\s?[:.)–-]",
    re.IGNORECASE | re.MULTILINE,
)
_CONCLUDES = lazy_pattern(
    r"""(?:^|(?<=[.!?]\s))[*_#>\ ]*+
        (?P<so>(?:so|thus|hence|therefore|overall|consequently|in\ conclusion|in\ summary|finally),?\ )?
        (?:the|my)\ (?P<final>(?:(?:final|correct|best|right)\ ){0,2})answer\ (?:is|would\ be|must\ be)
        (?:\ that\b)?(?P<colon>[:,]?)[*_]*+\s""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
"""A conclusion; "the answer is complex" alone is none."""
_NUMBERED = lazy_pattern(
    rf"^\W*(?:{STEP_PATTERN}\s*#?\d{{1,3}}\s*[:.)–—-]|\d{{1,3}}[.):](?=\s))\s*", re.IGNORECASE
)
"""The number that a step of the key carries."""
_CALLED_FINAL = lazy_pattern(r"\W*(?:\w+\W+){0,2}?final\b", re.IGNORECASE)
_OPENER = lazy_pattern(r"[:!]\W*$")
"""A line such as "Sure! Here is my answer:", which is no step."""


@format("multi_hop", version=2)
class MultiHop(Format):
    """A question whose answer takes several steps."""

    fields: ClassVar[tuple[str, ...]] = ("question", "references", "steps", "context")
    answered: ClassVar[str] = "with an answer and the steps that lead to it"
    read_as: ClassVar[str] = "the answer, and the steps"

    def ask(self, item: Item, style: str | None = None) -> str:
        """The question, and a request for answer and reasoning under labels."""
        return load("multi_hop").fill(question=with_context(item))

    def read(self, item: Item, text: str) -> Reading:
        """The answer and its steps as `Reasoned`, from JSON or from under labels."""
        answer = strip_reasoning(text, steps=True)
        if isinstance(answer, Reading):
            return answer
        if abstains(answer) or only_refuses(answer):
            return unanswered("a refusal without an answer")
        fields = json_object(answer)
        if fields and (reading := _from_json(fields)) is not None:
            return reading
        answer = unboxed(untabled(unfenced(answer), labelled_lines))
        first = _FIRST.search(answer)
        if first is not None:  # steps may follow the answer without a label of their own
            answer = f"{answer[: first.start()]}\nReasoning:\n{answer[first.start() :]}"
        return _from_text(untagged(answer))

    def check(self, item: Item) -> Item:
        """Needs a reference."""
        return with_references(super().check(item))

    def key(self, item: Item) -> str:
        """The answer, and the steps if the item has any."""
        answer = super().key(item)
        return f"Final answer: {answer}\nReasoning: {' '.join(item.steps)}" if item.steps else answer

    def labelled_key(self, item: Item) -> str:
        """The answer under its label, and the steps numbered, as candidates are asked to write them."""
        steps = [" ".join(_NUMBERED.sub("", step).split()) for step in item.steps]
        chain = ["Reasoning:", *(f"{n}. {step}" for n, step in enumerate(steps, 1))] if steps else []
        return "\n".join((f"Final Answer: {super().key(item)}", *chain))


def _from_json(fields: dict[str, object]) -> Reading | None:
    answer = field_text(fields, "answer")
    steps = field_steps(fields, "reasoning")
    if answer is None and not steps:
        return None
    return _reading(answer or "", steps)


def _reading(answer: str, steps: tuple[str, ...]) -> Reading:
    """The reading of an answer and the steps that lead to it."""
    if is_blank(answer):
        return unreadable("reasoning without an answer") if steps else unanswered("the answer is blank")
    if abstains(answer) or only_refuses(answer):
        return unanswered("a refusal without an answer")
    return Reading("ok", Reasoned(answer, steps))


def _from_text(text: str) -> Reading:
    parts = sections(text, _labels())
    preceding = parts[0].text
    for name in ("answer", "conclusion"):  # without a label for the answer, the conclusion is one
        answers = [part for part in parts if part.name == name]
        if answers:
            reasons = _texts(parts, {"reasoning", "conclusion"} - {name})
            steps = split_steps(paragraphs(*reasons)) if reasons else _steps_before(preceding)
            return _labelled(text, answers, steps)
    chain = paragraphs(*_texts(parts, {"reasoning"}))
    if is_blank(chain):
        return _conclusion(text) or _reading(text.strip(), ())
    # what stands before the reasoning is the answer; within it, "the answer is ..." is
    if not is_blank(preceding) and not _OPENER.search(preceding):
        return _reading(preceding, split_steps(chain))
    return _conclusion(chain) or _reading("", split_steps(chain))


def _texts(parts: Sequence[Section], names: set[str]) -> list[str]:
    return [part.text for part in parts if part.name in names]


def _labelled(text: str, answers: Sequence[Section], steps: tuple[str, ...]) -> Reading:
    """The reading of a response with a label for its answer."""
    filled = [section for section in answers if not is_blank(section.text)]
    if not filled:
        return _reading("", steps)
    final = _final(text, filled)
    return final if isinstance(final, Reading) else _reading(final.text, steps)


def _steps_before(text: str) -> tuple[str, ...]:
    """The steps of a chain that stands before the answer without a label; a line that leads in is none."""
    return () if _OPENER.search(text) and "\n" not in text else split_steps(text)


def _conclusion(text: str) -> Reading | None:
    """The answer in "Therefore, the answer is ...", to the end of its line; the rest are the steps."""
    last_line = text.rfind("\n", 0, len(text.rstrip()))
    matches = [match for match in _CONCLUDES.finditer(text) if _concludes(text, match, last_line)]
    if not matches:
        return None
    ends = [*(match.start() for match in matches[1:]), len(text)]
    answers = []
    remainder = ""
    for match, end in zip(matches, ends, strict=True):
        line, _, remainder = text[match.end() : end].partition("\n")
        answers.append(Section("", match.start(), line.strip(" \t*_")))
    final = _final(text, answers)
    if isinstance(final, Reading):
        return final
    return _reading(
        final.text, split_steps(paragraphs(text[: matches[0].start()].strip(), remainder.strip()))
    )


def _concludes(text: str, match: re.Match[str], last_line: int) -> bool:
    """True for a conclusion that is marked as one, or is a paragraph of its own and the last one.

    The last line that is not blank stands behind `last_line`.
    """
    if match["so"] or match["final"] or match["colon"] == ":":
        return True
    return "\n\n" in text[max(0, match.start() - 3) : match.start()] and last_line < match.end()


def _final(text: str, answers: Sequence[Section]) -> Section | Reading:
    """The last answer, if those before agree or are taken back; one called final comes before."""
    final = [part for part in answers if _CALLED_FINAL.match(text[part.lead : part.lead + 40])]
    answers = final or answers
    last = answers[-1]
    last_words = set(Doc(last.text).forms)
    for earlier in reversed(answers[:-1]):
        earlier_words = set(Doc(earlier.text).forms)
        if not (earlier_words <= last_words or last_words <= earlier_words):
            between = Doc(text[earlier.lead : last.lead])
            if not retracts(between, 0, len(between)):
                return unreadable("two final answers that disagree")
            break
    return last
