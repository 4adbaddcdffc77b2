"""An open answer in sections: what stands under "Final Answer:", "Reasoning:", "Explanation:" and the like.

A label stands at the head of a line, in any dressing (bold, heading, bullet, a line of its own), or after a
blank inside a line if it is capitalised or begins a clause. Inside a line, and at its head unless it stands
alone, a colon or the like must follow. Text is cut, never changed.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

__all__ = [
    "EXPLANATION",
    "FINAL",
    "Section",
    "joined",
    "pattern",
    "sections",
    "split_steps",
    "unlabelled",
]

EXPLANATION = r"""
    (?:(?:my|the|an?|brief|short|detailed|full|incorrect|wrong|faulty|flawed|error|correct(?:ed)?|reasoning
        |inference|step|answer)\s){0,4}
    (?:explanations?|reasons?|rationale|justification|begründung|erklärung|explicación|explication|explicação
        |spiegazione|объяснение|解释|解釋|説明|설명)
    (?:\s(?:of|for|why)\s(?:the\s)?[\w ]{1,40})?
  | why(?:\s(?:it|this|that|the|step|answer|is|\d{1,2}|wrong|incorrect|flawed|faulty|false)){0,6}
"""
"""What is said to be wrong, and why."""
FINAL = r"""
    (?:(?:the|my|so|thus|hence|therefore|in|correct|final|overall|endgültige|finale|la|die),?\s){0,4}
    (?:answers?|antwort|(?:respuesta|réponse|resposta|risposta)(?:\s(?:finale?|correcta|correcte))?|ответ|答案|정답)
    (?:\s(?:to\sthe\squestion|in\sshort))?
"""
"""The answer itself."""

_DRESS = r"""[\#>*_•–+"“'`(\[ \t-]*+"""
_CLOSE = r"""[*_"”'`)\]]*+"""
_HEAD_TAG = re.compile(
    r"\s*<(?P<name>(?:incorrect[_ ])?(?:explanation|reason|reasoning))\s?>"
    r"(?P<text>.*?)(?:</(?P=name)\s?>|\Z)",
    re.IGNORECASE | re.DOTALL,
)


class Section(NamedTuple):
    """The text under a label; `name` is '' for what stands under none, `lead` for where the label begins."""

    name: str
    lead: int
    text: str


def pattern(labels: Mapping[str, str]) -> re.Pattern[str]:
    """The labels of a format: section names with the (verbose) pattern of their words."""
    words = "|".join(f"(?P<{name}>{words})" for name, words in labels.items())
    return re.compile(
        rf"""(?:
            (?P<head>^{_DRESS}(?:\d{{1,2}}[.)]\s{_DRESS})?) | (?P<clause>(?<=[.;,|!?)]\s)[*_]*+)
          | (?P<inside>(?<=\s)[*_]*+(?=[A-Z]))
        )
        (?:{words})
        (?:{_CLOSE}[^\S\n]*(?:[:：=→]|(?P<loose>(?:(?<=\s)[-–—](?=\s)|$))){_CLOSE})""",
        re.VERBOSE | re.IGNORECASE | re.MULTILINE,
    )


def sections(text: str, labels: re.Pattern[str]) -> list[Section]:
    """The sections of `text` in order; the first has no label, and may be empty."""
    found = list(_labels(text, labels))
    ends = [*(mark.start() for mark in found), len(text)]
    made = [Section("", 0, text[: ends[0]])]
    for mark, end in zip(found, ends[1:], strict=True):
        name = next(name for name in labels.groupindex if mark[name] and name not in _PLACES)
        made.append(Section(name, mark.start(), text[mark.end() : end]))
    return [Section(s.name, s.lead, s.text.strip(" \t\r\n*_")) for s in made]


_PLACES = frozenset({"head", "clause", "inside", "loose"})


def _labels(text: str, labels: re.Pattern[str]) -> Iterator[re.Match[str]]:
    last = 0
    for mark in labels.finditer(text):
        if mark["head"] is None and last and not text[last : mark.start()].strip():
            continue  # "Answer: The reasons: ..." has one label
        inside = mark["inside"] is not None
        if inside and not text[mark.end("inside")].isupper():
            continue  # the pattern knows no case
        if mark["loose"] is None or mark["head"] is not None:
            last = mark.end()
            yield mark


def unlabelled(text: str, label: re.Pattern[str]) -> str:
    """`text` without a label or a tag at its very head; nothing else is cut."""
    if tag := _HEAD_TAG.match(text):
        return f"{tag['text'].strip()}{text[tag.end() :].rstrip()}"
    mark = label.match(text)
    if mark is None or mark["head"] is None:
        return text
    rest = text[mark.end() :].strip()
    # what was opened before the label and closes at the end: "**Explanation: ...**"
    opened = re.sub(r"[^*_]", "", mark["head"])
    if opened and rest.endswith(opened) and rest.count(opened) % 2:
        rest = rest[: -len(opened)].rstrip()
    return rest


def joined(*texts: str) -> str:
    """The texts that are not empty, as paragraphs."""
    return "\n\n".join(text for text in texts if text)


_OPEN = r"^[>*_#\s]*+"
_KINDS = (
    re.compile(
        rf"{_OPEN}(?:[-•–+]\s*)?(?:reasoning\s)?step\s*(?:\d{{1,3}}|one|two|three|four|five|six|seven|eight|nine|ten)\b[*_]*\s*[:.)–—-][*_]*\s*",
        re.I,
    ),
    re.compile(rf"{_OPEN}\(?\d{{1,3}}[.):][*_]*\s+"),
    re.compile(r"^[>\s]*+[-*•–+]\s+"),
)
_INLINE = re.compile(r"(?<=[\s.;])(?=[*_]{0,2}step\s\d{1,3}[*_]{0,2}\s?[:.)])", re.IGNORECASE)


def split_steps(text: str) -> tuple[str, ...]:
    """The steps of a chain of reasoning, without "Step 1:", "1." or bullets.

    The strongest kind of mark there is counts: bullets under "Step 1:" belong to that step. Without marks
    every line that is not blank is a step. A line before the first mark that ends with a colon is none.
    """
    lines = [line.strip() for line in _INLINE.sub("\n", text).splitlines()]
    lines = [line for line in lines if any(c.isalnum() for c in line)]
    for kind in _KINDS:
        if any(kind.match(line) for line in lines):
            break
    else:
        return tuple(lines)
    steps: list[str] = []
    for line in lines:
        mark = kind.match(line)
        if mark:
            rest = line[mark.end() :].strip(" \t*_") if line.count("**") % 2 else line[mark.end() :]
            # "**1. Drug**: ..." closes behind its mark what was opened before it
            steps.append(rest.replace("**", "", rest.count("**") % 2))
        elif steps:
            steps[-1] = f"{steps[-1]} {line}".strip()
        elif not line.rstrip("*_ ").endswith(":"):
            steps.append(line)
    return tuple(step.strip() for step in steps if any(c.isalnum() for c in step))
