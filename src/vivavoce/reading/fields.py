"""The fields of a response: what stands under labels such as "Final Answer:", or in an object of JSON.

A label stands at the head of a line, in any dressing (bold, heading, bullet, a line of its own), or after a
blank inside a line if it is capitalised or begins a clause. Inside a line, and at its head unless it stands
alone, a colon or the like must follow. Text is cut, never changed.
"""

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

from vivavoce.core.text import lazy_pattern
from vivavoce.language.languages import codes, language
from vivavoce.reading.step_words import STEP_PATTERN

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


@cache
def final_labels() -> str:
    """`FINAL`, and what announces the answer in any language."""
    cues = sorted({cue for code in codes() for cue in language(code).cues}, key=lambda cue: (-len(cue), cue))
    listed = "|".join(cue.replace(" ", r"\s") for cue in cues)
    return rf"(?:{FINAL}|(?:(?:a|o|la|el|il|het|de|die|η|to)\s)?(?:{listed}))"


COPULA = r"(?:\s?(?:is|es|est|ist|lautet|è|é|är|jest|je|это|adalah|là|为|是|は))?"
"""What may stand between "The answer" and a colon."""


_DRESS = r"""[\#>*_•–+"“'`(\[ \t-]*+"""
_CLOSE = r"""[*_"”'`)\]]*+"""
_HEAD_TAG = lazy_pattern(
    r"\s*<(?P<name>(?:incorrect[_ ])?(?:explanation|reason|reasoning))\s?>"
    r"(?P<text>.*?)(?:</(?P=name)\s?>|\Z)",
    re.IGNORECASE | re.DOTALL,
)


class Section(NamedTuple):
    """The text under a label; `name` is '' for what stands under none, `lead` for where the label begins."""

    name: str
    lead: int
    text: str


def label_pattern(labels: Mapping[str, str]) -> re.Pattern[str]:
    """The labels of a format: section names with the (verbose) pattern of their words."""
    words = "|".join(f"(?P<{name}>{words})" for name, words in labels.items())
    return lazy_pattern(
        rf"""(?:
            (?P<head>^{_DRESS}(?:\d{{1,2}}[.)]\s{_DRESS})?)
          | (?P<clause>(?:(?<=[.;,|!?)]\s)|(?<=[。；！？]))[*_]*+)
          | (?P<inside>(?<=\s)[*_]*+(?=[A-Z]))
        )
        (?:{words})
        (?:{_CLOSE}[^\S\n]*(?:[:：=→]|(?P<loose>(?:(?<=\s)[-–—](?=\s)|$))){_CLOSE})""",
        re.VERBOSE | re.IGNORECASE | re.MULTILINE,
    )


_POSITIONS = frozenset({"head", "clause", "inside", "loose"})
"""Groups of a label pattern that say where a label stands; every other group is the name of a section."""


def sections(text: str, labels: re.Pattern[str]) -> list[Section]:
    """The sections of `text` in order; the first has no label, and may be empty."""
    matches = list(_labels(text, labels))
    ends = [*(match.start() for match in matches), len(text)]
    parts = [Section("", 0, text[: ends[0]])]
    for match, end in zip(matches, ends[1:], strict=True):
        name = next(name for name in labels.groupindex if match[name] and name not in _POSITIONS)
        parts.append(Section(name, match.start(), text[match.end() : end]))
    return [part._replace(text=part.text.strip(" \t\r\n*_")) for part in parts]


_FILLED = lazy_pattern(r"\S")


def _labels(text: str, labels: re.Pattern[str]) -> Iterator[re.Match[str]]:
    filled = 0  # where words stand again behind the last label
    for match in labels.finditer(text):
        at_head = match["head"] is not None
        if not at_head and filled >= match.start() > 0:
            continue  # "Answer: The reasons: ..." has one label
        if match["inside"] is not None and not text[match.end("inside")].isupper():
            continue  # the pattern knows no case
        if match["loose"] is None or at_head:
            filled = words.start() if (words := _FILLED.search(text, match.end())) else len(text)
            yield match


def without_label(text: str, label: re.Pattern[str]) -> str:
    """`text` without a label or a tag at its very head; nothing else is cut."""
    if tag := _HEAD_TAG.match(text):
        return f"{tag['text'].strip()}{text[tag.end() :].rstrip()}"
    match = label.match(text)
    if match is None or match["head"] is None:
        return text
    content = text[match.end() :].strip()
    # what was opened before the label and closes at the end: "**Explanation: ...**"
    opened = re.sub(r"[^*_]", "", match["head"])
    if opened and content.endswith(opened) and content.count(opened) % 2:
        content = content[: -len(opened)].rstrip()
    return content


def paragraphs(*texts: str) -> str:
    """The texts that are not empty, as paragraphs."""
    return "\n\n".join(text for text in texts if text)


_OPEN = r"^[>*_#\s]*+"
_STEP_MARKS = (
    lazy_pattern(
        rf"{_OPEN}(?:[-•–+]\s*)?(?:reasoning\s)?{STEP_PATTERN}\s*(?:\d{{1,3}}|one|two|three|four|five|six|seven|eight|nine|ten)\b[*_]*\s*[:.)–—-][*_]*\s*",
        re.I,
    ),
    lazy_pattern(rf"{_OPEN}\(?\d{{1,3}}[.):][*_]*\s+"),
    lazy_pattern(r"^[>\s]*+[-*•–+]\s+"),
)
_INLINE = lazy_pattern(
    rf"(?<=[\s.;])(?=[*_]{{0,2}}(?!fase|etapa){STEP_PATTERN}\s\d{{1,3}}[*_]{{0,2}}\s?[:.)])", re.IGNORECASE
)


def split_steps(text: str) -> tuple[str, ...]:
    """The steps of a chain of reasoning, without "Step 1:", "1." or bullets.

    The strongest kind of mark there is counts: bullets under "Step 1:" belong to that step. Without marks
    every line that is not blank is a step. A line before the first mark that ends with a colon is none.
    """
    lines = [line.strip() for line in _INLINE.sub("\n", text).splitlines() if _says_something(line)]
    for mark in _STEP_MARKS:
        if any(mark.match(line) for line in lines):
            return tuple(step.strip() for step in _marked_steps(lines, mark) if _says_something(step))
    return tuple(lines)


def _says_something(text: str) -> bool:
    return any(c.isalnum() for c in text)


def _marked_steps(lines: list[str], mark: re.Pattern[str]) -> list[str]:
    """A step for each line with a mark, and the lines that follow it."""
    steps: list[list[str]] = []
    for line in lines:
        if match := mark.match(line):
            step = line[match.end() :]
            if line.count("**") % 2:
                step = step.strip(" \t*_")
            # "**1. Drug**: ..." closes behind its mark what was opened before it
            steps.append([step.replace("**", "", step.count("**") % 2)])
        elif steps:
            steps[-1].append(line)
        elif not line.rstrip("*_ ").endswith(":"):
            steps.append([line])
    return [" ".join(step) for step in steps]


# --- JSON

_FENCE = lazy_pattern(r"```[a-zA-Z]{0,10}[ \t]*\n(.*?)```", re.DOTALL)
_KEY = lazy_pattern(
    r"(?:final|correct|selected|chosen|my|best|predicted)?[ _-]*"
    r"(?:answers?|options?|choices?|selections?|selected|response|result|results|verdict|prediction|letters?"
    r"|labels?|respuesta|reponse|réponse|antwort|risposta|resposta)"
    r"(?:[ _-]*(?:letters?|text|option|choice|key|value))?",
    re.IGNORECASE,
)


_RIGHT_KEYS = frozenset(["correct", "right", "true", "chosen", "included", "correct ones", "yes"])
"""Keys of what is right, beside one of what is not."""
_LITERAL_LIMIT = 20_000
"""Characters of an object that is read as Python prints it: the parser of Python is slow."""
_DEEPEST = 100
"""Objects and lists within each other in an answer of JSON; what is deeper is read as text."""
_FIELDS = {
    "answer": lazy_pattern(
        r"(?:final|correct|short|my|the)?[ _-]*(?:answer|conclusion|result)", re.IGNORECASE
    ),
    "reasoning": lazy_pattern(
        r"(?:step[ _-]by[ _-]step)?[ _-]*(?:reasoning|steps|rationale|explanation|logic"
        r"|chain[ _-]of[ _-]thought)(?:[ _-]*(?:steps|chain|process))?",
        re.IGNORECASE,
    ),
    "explanation": lazy_pattern(
        r"(?:(?:incorrect|wrong|error|reasoning|step|the|correct)[ _-]*){0,4}"
        r"(?:explanation|reason|rationale|justification|why|reasoning|text)",
        re.IGNORECASE,
    ),
    "step": lazy_pattern(
        r"(?:(?:incorrect|wrong|faulty|flawed|erroneous|error|reasoning|inference|identified|first|the)"
        r"[ _-]*){0,5}(?:step|hop)s?(?:[ _-]*(?:number|no|index|id|num))?",
        re.IGNORECASE,
    ),
}


def json_values(text: str) -> list[Any] | None:
    """What a JSON answer holds: strings, numbers and booleans; None if `text` is no JSON object or array.

    Of an object the values under answer keys count ("answer", "final_answer", "choice"), or else every entry
    as "key: value". The last fenced block is read where the text around it is prose.
    """
    value = json_document(text)
    return None if value is None else _answers(value)


def json_object(text: str) -> dict[str, Any] | None:
    """The entries of a JSON object, bare or fenced, also the only one in an array; None if there is none."""
    value = json_document(text)
    if value is None:
        value = _python_dict(text)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict) and isinstance(inner := _only(value), dict):
        value = inner
    return value if isinstance(value, dict) and value else None


def _python_dict(text: str) -> Any:
    """A dict as Python prints it; None for any other text."""
    if text[:1] == "{" and text[-1:] == "}" and len(text) <= _LITERAL_LIMIT:
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            tree = ast.parse(text, mode="eval").body
            value = ast.literal_eval(tree)
            if len(getattr(tree, "keys", ())) != len(value):  # a key twice, of which Python takes the last
                return None
            return value if isinstance(value, dict) and not _is_deeper(value, _DEEPEST) else None
    return None


def field_text(fields: Mapping[str, Any], field: str) -> str | None:
    """What stands under the last key that names `field`, as text; None if there is none, or it is null."""
    pattern = _FIELDS[field]
    texts = [_text(value) for key, value in fields.items() if pattern.fullmatch(str(key).strip())]
    present = [text for text in texts if text is not None]
    return present[-1] if present else None


def field_steps(fields: Mapping[str, Any], field: str) -> tuple[str, ...]:
    """The entries of the list under a key that names `field`; a text is split into steps."""
    for key, value in fields.items():
        if value is None or not _FIELDS[field].fullmatch(str(key).strip()):
            continue
        leaves = list(value.values()) if isinstance(value, dict) else value
        if not isinstance(leaves, list):
            return split_steps(_text(value) or "")
        steps = [" ".join(split_steps(_text(leaf) or "")) for leaf in leaves]
        return tuple(filter(None, steps))
    return ()


def json_document(text: str) -> Any:
    """The object or list that all of `text` is, else its last fenced block; None without one."""
    value = _parse(text)
    if value is None and "```" in text:
        for block in reversed(_FENCE.findall(text)):
            value = _parse(block)
            if value is not None:
                break
    return value


def _parse(text: str) -> Any:
    text = text.strip()
    if not (text[:1] in {"{", "["} and text[-1:] in {"}", "]"}):
        return None
    try:
        value = json.loads(text, object_pairs_hook=_with_each_value)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, (dict, list)) and not _is_deeper(value, _DEEPEST) else None


def _with_each_value(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs; a key that stands there twice has a list of its values, if they differ."""
    value: dict[str, Any] = {}
    for key, entry in pairs:
        if key in value and value[key] != entry:
            several = value[key] if isinstance(value[key], _Several) else _Several([value[key]])
            entry = _Several([*several, entry])  # the last would win otherwise, and "A" be no answer at all
        value[key] = entry
    return value


class _Several(list[Any]):
    """The values of a key that stands in an object more than once."""


def _is_deeper(value: Any, depth: int) -> bool:
    """True if more than `depth` objects and lists stand within each other: each takes a frame."""
    level = [value]
    for _ in range(depth):
        level = [inner for entry in level for inner in _entries(entry) if isinstance(inner, (dict, list))]
        if not level:
            return False
    return True


def _entries(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def _only(entries: Mapping[str, Any]) -> Any:
    """The only value of an object; None if it has another number of them."""
    return next(iter(entries.values())) if len(entries) == 1 else None


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (list, dict)):
        return ", ".join(str(leaf) for leaf in _leaves(value) if leaf is not None)
    return str(value)


def _answers(value: Any) -> list[Any]:
    """The leaves of a list or object that can be an answer."""
    if isinstance(value, list):
        return [leaf for entry in value for leaf in _answers(entry)]
    if not isinstance(value, dict):
        return [value]
    answers = [
        entry for key, entry in value.items() if entry is not None and _KEY.fullmatch(str(key).strip())
    ]
    if answers:
        return [leaf for answer in answers for leaf in _leaves(answer)]
    right = [entry for key, entry in value.items() if str(key).strip().lower() in _RIGHT_KEYS]
    if right and all(isinstance(entry, list | str) for entry in right):
        return [leaf for entry in right for leaf in _leaves(entry)]
    if _is_checklist(value):
        return [key for key, entry in value.items() if entry]
    if isinstance(inner := _only(value), (dict, list)):
        return _answers(inner)
    return [f"{key}: {entry}" for key, entry in value.items() if not isinstance(entry, (dict, list, bool))]


def _is_checklist(entries: Mapping[str, Any]) -> bool:
    """True for an object that says true or false of each option."""
    return all(isinstance(entry, bool) for entry in entries.values())


def _leaves(value: Any) -> list[Any]:
    """Every value below an answer key, whatever it is called: {"letter": "B", "text": "Heparin"}."""
    if isinstance(value, dict):
        if value and _is_checklist(value):
            return _answers(value)
        value = list(value.values())
    return [leaf for entry in value for leaf in _leaves(entry)] if isinstance(value, list) else [value]
