"""A model that checks claims: by what it knows, or by the passages that it is shown."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from vivavoce.core import prompts
from vivavoce.core.errors import SpecError
from vivavoce.core.evidence import Evidence
from vivavoce.core.specs import Setting, Spec
from vivavoce.facts import verdict_replies as replies
from vivavoce.facts.checker import CheckCall, Checker, Claim, Neighbours
from vivavoce.facts.fact import KnowledgeWord, Verdict
from vivavoce.facts.verdict_words import verdict
from vivavoce.models.fencing import fenced, notice
from vivavoce.models.requests import Message, Request, Sampling

Reads = Callable[[str], KnowledgeWord]

_SHIPPED_PROMPTS = ("facts_check", "facts_check_several", "facts_evidence", "facts_evidence_several")
_IN_CONTEXT = ("facts_check_in_context", "facts_evidence_in_context")
MOST_NEIGHBOURS = 20
"""The most units on each side that a checker is shown."""
_PROMPT_NAME = re.compile(r"[a-z][a-z0-9_]*_[a-z0-9_]+|\S+\.md")
"""A system message that is the name of a shipped prompt, or a file; any other is the text itself."""
_TEMPERATURE = 0.0


@dataclass(frozen=True, kw_only=True)
class ModelChecker(Checker):
    """A model asked about `per_call` claims at once; equal claims are one request, whoever made them.

    A request holds the claims and their passages, and nothing of the candidate or the question; of the answer
    `neighbours` units on each side of a claim, where that is not 0.
    """

    spec: Spec
    model: Spec
    prompt: str | None = None
    system: str | None = None
    neighbours: int = 0
    per_call: int = 1
    reads: Reads = verdict

    @property
    def files(self) -> tuple[Path, ...]:  # type: ignore[override]
        """The prompts."""
        names = [self.prompt, "facts_evidence"] if self.prompt else [*_SHIPPED_PROMPTS]
        names += _IN_CONTEXT if self.neighbours else ()
        if self.system and _PROMPT_NAME.fullmatch(self.system):
            names.append(self.system)
        return tuple(map(prompts.file_of, names))

    def prepare(self, *, passages: bool) -> None:
        """Raise `InputError` or `SpecError` for a prompt of one's own that does not fit."""
        self._system_messages()
        if self.neighbours and (self.prompt or self.per_call > 1):
            raise SpecError(
                f"{self.name}: neighbours shows the units around one fact, in a prompt of ours: leave out "
                f"{'prompt' if self.prompt else 'per_call'}, or neighbours."
            )
        if self.prompt is None:
            return
        variables = prompts.load(self.prompt).variables
        if not {"fact", "text"} & set(variables):
            raise SpecError(
                f"{self.name}: the prompt {self.prompt} has no {{{{ fact }}}} and no {{{{ text }}}}."
            )
        if self.per_call > 1:
            raise SpecError(
                f"{self.name}: the prompt {self.prompt} asks about one fact, and per_call is "
                f"{self.per_call}: leave out one of the two."
            )
        if passages != ("passages" in variables):
            lacks = "has no {{ passages }}, and a source is given" if passages else (
                "shows {{ passages }}, and no source is given"
            )  # fmt: skip
            raise SpecError(f"{self.name}: the prompt {self.prompt} {lacks}.")

    def calls(self, claims: Iterable[Claim]) -> tuple[CheckCall, ...]:
        """The calls, in an order that comes of the claims alone; those with a schema first, for `ask`."""
        pending = sorted({claim for claim in claims if self.immediate_verdict(claim) is None}, key=_place)
        with_passages = [claim for claim in pending if claim.passages is not None]
        without = [claim for claim in pending if claim.passages is None]
        batches = [batch for kind in (without, with_passages) for batch in _batches(kind, self.per_call)]
        return tuple(sorted(map(self._call, batches), key=lambda call: call.request.sampling.schema is None))

    def _call(self, claims: tuple[Claim, ...]) -> CheckCall:
        ask = _single_prompt if len(claims) == 1 else _joint_prompt
        text, schema = ask(claims, self.prompt)
        request = Request(
            messages=(*self._system_messages(), Message("user", text)),
            sampling=Sampling(temperature=_TEMPERATURE, schema=schema),
        )
        return CheckCall(claims, request, partial(self._verdicts, claims))

    def _verdicts(self, claims: tuple[Claim, ...], reply: str) -> tuple[Verdict, ...]:
        first = claims[0]
        if first.passages is not None:
            if len(claims) > 1:
                return replies.read_evidences([(c.text, c.passages or ()) for c in claims], reply)
            return (replies.read_evidence(first.passages, first.text, reply),)
        if len(claims) > 1:
            return replies.read_words(self.reads, [claim.text for claim in claims], reply)
        if self.reads is not verdict:  # a published reader gets the reply as it came
            return (replies.read_raw(self.reads, reply),)
        return (replies.read_word(self.reads, first.text, reply),)

    def _system_messages(self) -> tuple[Message, ...]:
        if not self.system:
            return ()
        named = _PROMPT_NAME.fullmatch(self.system)
        return (Message("system", prompts.load(self.system).text if named else self.system),)


def model_checker(spec: Spec, per_call: int, reads: Reads) -> ModelChecker:
    """The checker of a model's spec; `prompt` and `system` in it are the checker's. Raises `SpecError`."""
    settings: dict[str, Setting] = dict(spec.settings)
    reach = settings.pop("neighbours", 0)
    if isinstance(reach, bool) or not isinstance(reach, int) or not 0 <= reach <= MOST_NEIGHBOURS:
        raise SpecError(
            f"{spec.name}(neighbours=…): neighbours takes a whole number 0 to {MOST_NEIGHBOURS}, not {reach}."
        )
    extra: dict[str, Any] = {name: settings.pop(name, None) for name in ("prompt", "system")}
    for name, value in extra.items():
        if value is not None and not (isinstance(value, str) and value.strip()):
            raise SpecError(f"{spec.name}({name}=…): {name} takes text.")
    model = Spec(spec.name, settings)
    return ModelChecker(spec=spec, model=model, neighbours=reach, per_call=per_call, reads=reads, **extra)


def _place(claim: Claim) -> tuple[str, str, str, Neighbours]:
    """Where a claim stands among others: by a hash, so that neither an answer's order nor likeness shows."""
    digest = hashlib.sha256(claim.text.encode("utf-8", "surrogatepass")).hexdigest()
    return digest, claim.text, "\0".join(passage.quote for passage in claim.passages or ()), claim.neighbours


def _batches(claims: Sequence[Claim], n: int) -> Iterator[tuple[Claim, ...]]:
    return (tuple(claims[k : k + n]) for k in range(0, len(claims), n))


def _single_prompt(claims: tuple[Claim, ...], prompt: str | None) -> tuple[str, Mapping[str, Any] | None]:
    """The prompt about one claim, and the schema of the reply."""
    (claim,) = claims
    parts = {"fact": fenced("statement", claim.text), "text": claim.text}
    if any(claim.neighbours):
        return _in_context(claim, parts["fact"])
    if claim.passages is None:
        return _filled(prompt or "facts_check", ("statement",), parts), None
    if prompt and "passages" not in prompts.load(prompt).variables:
        prompt = None  # such as for what an answer must state, which the answer is the evidence of
    parts["passages"] = _passages(claim.passages)
    return _filled(prompt or "facts_evidence", ("statement", "passage"), parts), _EVIDENCE


def _in_context(claim: Claim, fact: str) -> tuple[str, Mapping[str, Any] | None]:
    """The prompt about a claim among the units around it, and the schema of the reply."""
    sides = zip(("before", "after"), claim.neighbours, strict=True)
    blocks = [fenced("context", "\n".join(units), place=side) for side, units in sides if units]
    parts = {"fact": fact, "context": "\n\n".join(blocks)}
    if claim.passages is None:
        return _filled("facts_check_in_context", ("statement", "context"), parts), None
    parts["passages"] = _passages(claim.passages)
    return _filled("facts_evidence_in_context", ("statement", "context", "passage"), parts), _EVIDENCE


def _joint_prompt(claims: tuple[Claim, ...], prompt: str | None) -> tuple[str, Mapping[str, Any]]:
    """The prompt about several claims, each with a number and its own passages."""
    blocks = []
    for number, claim in enumerate(claims, 1):
        blocks.append(fenced("statement", claim.text, number=str(number)))
        if claim.passages is not None:
            blocks.append(_passages(claim.passages, statement=str(number)))
    parts = {"fact": "\n\n".join(blocks)}
    if claims[0].passages is None:
        return _filled("facts_check_several", ("statement",), parts), _list_of(_WORD)
    return _filled("facts_evidence_several", ("statement", "passage"), parts), _list_of(_EVIDENCE)


def _passages(passages: Sequence[Evidence], **attributes: str) -> str:
    return "\n\n".join(
        fenced("passage", passage.quote, **attributes, number=str(number))
        for number, passage in enumerate(passages, 1)
    )


def _filled(name: str, tags: Sequence[str], parts: Mapping[str, str]) -> str:
    return prompts.load(name).fill(notice=notice(tags), **parts)


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_WORD = _object(verdict={"type": "string", "enum": ["true", "false", "unknown"]})
_EVIDENCE = _object(
    verdict={"type": "string", "enum": ["supported", "contradicted", "unverifiable"]},
    passage={"type": "integer"},
    quote={"type": "string"},
)


def _list_of(verdict_schema: Mapping[str, Any]) -> dict[str, Any]:
    entry = _object(number={"type": "integer"}, **verdict_schema["properties"])
    return _object(verdicts={"type": "array", "items": entry})
