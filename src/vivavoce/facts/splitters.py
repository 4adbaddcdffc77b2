"""Splitters: a cleaned answer into units, each of which is to be one fact.

A splitter is named by a spec:

    openai/gpt-4o                                 a model, by the prompt `core/prompts/facts_split.md`
    model(name=openai/gpt-4o, prompt=FILE.md)     a model, by a prompt of your own
    recorded(file=units.jsonl)                    units that people or other tools made
    sentences                                     every sentence is a unit

A model's splitter makes requests and reads replies; whoever scores asks. What becomes of the units that come
is settled by `facts.fates`.
"""

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.core.errors import InputError, SpecError, suggest
from vivavoce.core.prompts import Prompt, Unreadable, load
from vivavoce.core.specs import Spec, parse
from vivavoce.core.text import is_blank, one_line, printable, spoken
from vivavoce.facts.fact import Answer
from vivavoce.facts.recorded import read_recorded
from vivavoce.language.replies import NO_MATERIAL, Material, read_object
from vivavoce.models.candidates import is_model_name
from vivavoce.models.fencing import fenced, fenced_texts, harmless, notice, quotable
from vivavoce.models.requests import Message, Request, Sampling
from vivavoce.reading.refusal import refuses

PROMPT = "facts_split"
FORM = (
    'Reply with one JSON object and nothing else: {"facts": [{"text": "the first fact", "claim": true, '
    '"why": ""}, {"text": "Hello!", "claim": false, "why": "a greeting"}]}. An answer that states nothing at '
    "all has an empty list."
)
"""What every prompt ends with: the form that `read_reply` takes."""
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "text": {"type": "string"},
                    "claim": {"type": "boolean"},
                    "why": {"type": "string"},
                },
                "required": ["text", "claim", "why"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["facts"],
    "additionalProperties": False,
}
LEAST_TOKENS, MOST_TOKENS = 4_096, 16_384
"""Bounds of the tokens of a reply. Between them a reply has a token for each character of the answer, about
four times the answer itself: room for names in the place of pronouns, and for the form.
"""
_QUOTED = 2_000
"""Characters of a reply that the model is shown again."""


class NoClaim(str):
    """A unit that the splitter gave as no claim; `why` is its reason, on one line."""

    why: str

    def __new__(cls, text: str, reason: str) -> "NoClaim":
        """Such a unit of this text."""
        unit = super().__new__(cls, text)
        unit.why = one_line(printable(reason))
        return unit


@dataclass(frozen=True)
class ModelSplitter:
    """Units by a model. `prompt` is the name of a shipped prompt or a .md file with `{{ answer }}` in it."""

    model: str | Spec
    prompt: str = PROMPT

    def __post_init__(self) -> None:
        variables = set(self._prompt.variables)
        if "answer" not in variables or not variables <= {"answer", "question"}:
            raise InputError(
                f"the prompt {self.prompt!r} cannot split: it needs {{{{ answer }}}}, and may hold "
                "{{ question }} and no other variable."
            )

    @cached_property
    def _prompt(self) -> Prompt:
        return load(self.prompt)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that its units depend on."""
        return (Path(self.prompt),) if self.prompt.endswith(".md") else ()

    def request(self, answer: Answer) -> Request:
        """Asks for the facts of an answer, which stands there as material that no tag in it can end."""
        prompt = self._prompt.fill(**self._parts(answer))
        text = f"{notice(self._prompt.variables)}\n\n{prompt}\n\n{FORM}"
        largest = min(max(LEAST_TOKENS, len(answer.cleaned.text)), MOST_TOKENS)
        return Request(
            messages=(Message("user", text),),
            sampling=Sampling(temperature=0.0, max_tokens=largest, schema=SCHEMA),
        )

    def _parts(self, answer: Answer) -> dict[str, str]:
        texts = {"question": answer.question, "answer": answer.cleaned.text}
        return {name: fenced(name, texts[name]) for name in self._prompt.variables}

    def material(self, answer: Answer) -> Material:
        """The texts of others that the request about an answer shows; the prompt's words are its author's."""
        return Material(fenced_texts(self._parts(answer).values()))

    def read_reply(self, reply: str, material: Material = NO_MATERIAL) -> tuple[str, ...]:
        """The units of a reply, in their order; those marked as no claim are `NoClaim`.

        Empty for an empty list. Raises `Unreadable` for a refusal, a cut reply, one that only repeats its
        `material`, and anything else that is not of the form.
        """
        try:
            facts = read_object(reply, material).get("facts")
        except Unreadable as error:
            text = spoken(reply).text
            if refuses(text[:_QUOTED]):
                raise Unreadable(f"the splitter refused: {one_line(printable(text), 60)!r}") from None
            raise error
        if not isinstance(facts, list):
            raise Unreadable("no list under 'facts'")
        return tuple(_unit(fact, number) for number, fact in enumerate(facts, 1))

    def again(self, answer: Answer, reply: str, why: str) -> Request:
        """The request once more, with the reply that could not be used and what is wrong with it."""
        complaint = f"Your reply cannot be used: {harmless(why)}.\n\n{FORM}"
        return self.request(answer).again(quotable(reply), complaint)


@dataclass(frozen=True)
class RecordedSplitter:
    """Units from a file (layout: `facts/recorded.py`)."""

    file: Path
    model: None = None

    @property
    def files(self) -> tuple[Path, ...]:
        """The file."""
        return (self.file,)

    def units(self, answer: Answer) -> tuple[str, ...] | None:
        """The units of an answer; null where the file has none. Raises `InputError` for a bad file."""
        return read_recorded(self.file).texts(answer.keys)

    def why_none(self, answer: Answer) -> str:
        """The reason for an answer without units, as a clause."""
        return (
            f"{self.file.name} has no unit of item {answer.item}, candidate {answer.candidate}, "
            f"repeat {answer.repeat}"
        )


@dataclass(frozen=True)
class SentenceSplitter:
    """Every sentence of a cleaned answer is a unit, without the mark of a list before it."""

    model: None = None
    files: tuple[Path, ...] = ()

    def units(self, answer: Answer) -> tuple[str, ...]:
        """The sentences, in their order."""
        return tuple(_MARKER.sub("", sentence) for sentence in answer.cleaned.sentences)


Splitter = ModelSplitter | RecordedSplitter | SentenceSplitter
_MARKER = re.compile(r"\A\s*(?:[-*•]|\(?\d{1,3}[.)])\s+")


class _Kind(NamedTuple):
    """How a kind of splitter is built from its settings: those that it needs, and those that it may have."""

    build: Callable[[Spec], Splitter]
    needed: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


def _by_model(spec: Spec) -> Splitter:
    model, prompt = spec.settings["name"], spec.settings.get("prompt", PROMPT)
    model = parse(model) if isinstance(model, str) else model
    if not isinstance(model, Spec) or "/" not in model.name or not isinstance(prompt, str):
        raise SpecError(f"{spec}: name takes PROVIDER/MODEL, and prompt the path of a .md file.")
    return ModelSplitter(model, prompt)


def _from_file(spec: Spec) -> Splitter:
    file = spec.settings["file"]
    if not isinstance(file, str):
        raise SpecError(f"{spec}: file takes a path.")
    return RecordedSplitter(Path(file))


_KINDS = {
    "model": _Kind(_by_model, ("name",), ("prompt",)),
    "recorded": _Kind(_from_file, ("file",)),
    "sentences": _Kind(lambda _: SentenceSplitter()),
}


def splitter_of(spec: str | Spec) -> Splitter:
    """The splitter that a spec names. Raises `SpecError` for an unknown one or for other settings."""
    spec = parse(spec) if isinstance(spec, str) else spec
    if spec.name not in _KINDS and is_model_name(spec.name):
        return ModelSplitter(spec)
    if spec.name not in _KINDS:
        raise SpecError(
            f"no splitter {spec.name!r}: name a model as PROVIDER/MODEL.{suggest(spec.name, list(_KINDS))}"
        )
    kind = _KINDS[spec.name]
    names = (*kind.needed, *kind.optional)
    for name in spec.settings:
        if name not in names:
            raise SpecError(f"{spec.name} has no setting {name!r}.{suggest(name, names)}")
    for name in kind.needed:
        if name not in spec.settings:
            raise SpecError(f"{spec.name} needs {name}=…: write {spec.name}:{name}=…")
    return kind.build(spec)


def _unit(fact: Any, number: int) -> str:
    """A unit of a reply, its escapes undone: a text, or an object that says whether it is a claim."""
    claim, reason = True, ""
    if isinstance(fact, dict):
        fact, claim, reason = fact.get("text"), fact.get("claim", True), fact.get("why") or ""
    if not isinstance(fact, str):
        raise Unreadable(f"fact {number} has no text")
    if not isinstance(claim, bool) or not isinstance(reason, str):
        raise Unreadable(f"fact {number} does not say by true or false whether it is a claim")
    text = " ".join(html.unescape(fact).split())
    return (
        text if claim else NoClaim(text, reason if not is_blank(reason) else "the splitter gives no reason")
    )
