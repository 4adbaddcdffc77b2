"""Requests to models and their replies, and the two primitives, `generate` and `loglikelihood`.

A model is named `provider/name(settings)`, such as `openai/gpt-4o(temperature=0.2)`; the provider says how it
is reached. A model makes one attempt: it returns a `Reply` or raises one of the three errors below. Waiting,
retries and cost are the engine's.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from vivavoce.core.conversations import Message as Message
from vivavoce.core.errors import ModelError
from vivavoce.core.prompts import Prompt

Kind = Literal["generate", "loglikelihood"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How a response is sampled. Null leaves a setting to the endpoint, and is not sent.

    `logprobs` requests the log-probability of each generated token, `beams` a beam search of that width,
    `schema` (a JSON schema of an object) structured output: chat and messages return the object's JSON, plain
    completions reject it. Seed and log-probabilities are not sent where an endpoint has none (Anthropic's
    messages have neither).
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    logprobs: bool = False
    schema: Mapping[str, Any] | None = None
    beams: int | None = None


class Generation(NamedTuple):
    """A response in tokens: their ids, spellings and log-probabilities.

    The probability is that of the whole distribution at temperature 1, however the token was sampled. Ids are
    empty where the endpoint gives none. `ended`: the model ended it by itself, before `max_tokens`; the
    closing token is not part of it, `closing` is its log-probability. That is null where the response did not
    end, where a stop string ended it, and where the endpoint does not give it.
    """

    text: str
    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    logprobs: tuple[float, ...]
    ended: bool
    closing: float | None = None


class Continuations(NamedTuple):
    """Texts whose probabilities are requested, each after several prefixes of a generation.

    `trunk` is the generation; each text follows its first `cuts` tokens, 0 being right after the question.
    """

    targets: tuple[str, ...]
    trunk: Generation | None = None
    cuts: tuple[int, ...] = (0,)


class Likelihood(NamedTuple):
    """The natural logarithm of a text's probability, summed over its tokens, and the number of tokens.

    `verbatim` counts its first tokens that greedy decoding would generate too; null where the endpoint does
    not give enough to know.
    """

    logprob: float
    tokens: int
    verbatim: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A conversation and how to sample; for a likelihood also the text whose probability is requested.

    A likelihood is that of one `target` after `begun`, what the model is taken to have said already; or, for
    a `branching` model, of all `branches` at once. Without messages it is the probability of the text alone.
    A target gets a blank before it unless it has one, or the text before it ends in one or is empty.

    `options`, `reference` and `draw`, the number a random choice follows from, are for baselines only and are
    never sent. They are part of the key: setting them for a real model makes equal questions differ.
    """

    messages: tuple[Message, ...]
    sampling: Sampling = field(default_factory=Sampling)
    kind: Kind = "generate"
    target: str | None = None
    begun: str = ""
    branches: Continuations | None = None
    options: tuple[str, ...] = ()
    reference: str | None = None
    draw: int | None = None
    _key: str = field(default="", init=False, repr=False, compare=False)

    def again(self, reply: str, complaint: str) -> "Request":
        """The request once more, with the reply that cannot be used and what is wrong with it."""
        return replace(self, messages=(*self.messages, *correction(reply, complaint)))

    @property
    def key(self) -> str:
        """First 32 hex digits of SHA-256 over the request: two requests with one key are the same."""
        if not self._key:
            object.__setattr__(self, "_key", self._digest())
        return self._key

    def _digest(self) -> str:
        s = self.sampling
        content: dict[str, Any] = {
            "kind": self.kind,
            "messages": self.messages,
            "target": self.target,
            "sampling": [s.temperature, s.top_p, s.max_tokens, s.seed, s.stop, s.logprobs, s.schema],
        }
        optional = {
            "options": self.options,
            "reference": self.reference,
            "draw": self.draw,
            "begun": self.begun,
            "branches": self.branches,
            "beams": s.beams,
        }
        content |= {name: value for name, value in optional.items() if value not in ((), None, "")}
        text = json.dumps(content, ensure_ascii=False, sort_keys=True, default=list)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    @property
    def characters(self) -> int:
        """How much text is sent."""
        texts = [m.content for m in self.messages] + [self.target or "", self.begun]
        if self.branches:
            texts += [*self.branches.targets, self.branches.trunk.text if self.branches.trunk else ""]
        return sum(map(len, texts))


class Usage(NamedTuple):
    """Tokens as the endpoint counts them; null where it does not say."""

    input: int | None = None
    output: int | None = None


_UNCOUNTED = Usage()


class PromptCut(NamedTuple):
    """The tokens that an endpoint counted of a prompt, and the characters that were sent to it."""

    tokens: int
    characters: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A model's reply. `text` is null only when the provider withheld it (`finish_reason='content_filter'`).

    Where a filter cut the response short, the text is what came before the cut.

    `logprobs` are natural logarithms: of the generated tokens, or for a likelihood of the target's tokens.
    `citations` are the sources that a whole system returned, unchanged. `generations` holds the response in
    its tokens where log-probabilities were requested: one, or with `beams` as many, the likeliest first.
    `likelihoods` are those requested: all targets after the first cut, then after the second, and so on.
    `spaced` says whether a blank was put before targets right after the question; null where that is unknown.
    `truncated` counts tokens of the question that were left out to fit the model's context, where its
    settings allow it. `tokeniser` identifies the tokeniser; null where it is unknown.

    `finish_reason` is stored as `stop`, `length`, `content_filter` or `tool_calls` where it means one of them
    (`core.endings`), and `raw_reason` keeps the endpoint's word where that is another. `reasoning_tokens`
    counts the tokens of thinking, as far as the endpoint does. The engine sets `prompt_cut` where the usage
    shows that the endpoint cut the prompt.
    """

    text: str | None
    reasoning: str | None = None
    finish_reason: str | None = None
    model: str | None = None
    usage: Usage = _UNCOUNTED
    logprobs: tuple[float, ...] | None = None
    citations: tuple[Any, ...] = ()
    generations: tuple[Generation, ...] = ()
    likelihoods: tuple[Likelihood, ...] = ()
    spaced: bool | None = None
    truncated: int = 0
    tokeniser: str | None = None
    raw_reason: str | None = None
    reasoning_tokens: int | None = None
    prompt_cut: PromptCut | None = None


class RetryableError(Exception):
    """Another attempt may succeed: the endpoint was busy, or the connection broke.

    `after` is the wait in seconds that it asked for; `throttled` says that it got too many requests at once,
    `lasting` that other requests will probably fail in the same way. `usage` is that of a reply that came and
    cannot be used, null where none came: the engine charges it, by an estimate where it has no counts.
    `at_once` asks to send the request again without a wait, because the model now puts it otherwise: the
    first time it is no attempt, but it takes its place in the rate limits.
    """

    def __init__(
        self,
        reason: str,
        *,
        after: float | None = None,
        throttled: bool = False,
        lasting: bool = False,
        usage: Usage | None = None,
        at_once: bool = False,
    ) -> None:
        super().__init__(reason)
        self.after, self.throttled, self.lasting = after, throttled, lasting
        self.usage, self.at_once = usage, at_once


class RejectedError(Exception):
    """The request will never succeed: it is too long, or malformed. Others may.

    `of_question` says that it is due to this question alone. A model whose first three requests are rejected
    otherwise, for one reason, is given up. `usage` is as in `RetryableError`.
    """

    def __init__(self, reason: str, *, of_question: bool = False, usage: Usage | None = None) -> None:
        super().__init__(reason)
        self.of_question, self.usage = of_question, usage


class FatalError(ModelError):
    """No request to this model can succeed: no key, no such model, no such host."""

    usage: Usage | None = None


@runtime_checkable
class HoldsWeights(Protocol):
    """A model that holds memory of this machine, from its first request until `release`.

    `facts` are what its results may depend on beside its settings: where it ran, and a hash of its files.
    """

    @property
    def facts(self) -> Mapping[str, Any]:
        """Fit for JSON."""
        ...

    def release(self) -> None:
        """Free the memory; a later request takes it again."""
        ...


class Model(Protocol):
    """A model or a whole system, ready to be asked.

    `name` is its canonical spec, under which its responses are stored. A model in this process may be
    `branching`: it takes `Request.branches`.
    """

    @property
    def name(self) -> str:
        """The canonical spec."""
        ...

    @property
    def endpoint(self) -> str:
        """What is shared with other models, and therefore limited together."""
        ...

    @property
    def place(self) -> str:
        """The host that receives the text, or '' where nothing leaves the process."""
        ...

    async def generate(self, request: Request) -> Reply:
        """One attempt. Raises `RetryableError`, `RejectedError` or `FatalError`."""
        ...

    async def loglikelihood(self, request: Request) -> Reply:
        """One attempt at the likelihood of `request.target`, or of its `branches` where the model is
        `branching`; `FatalError` where the endpoint has none.
        """
        ...

    async def close(self) -> None:
        """Close connections."""
        ...


def json_request(prompt: Prompt, fields: Mapping[str, Any], *, exact: bool, **parts: str) -> Request:
    """A request for one JSON object with these fields, each with its JSON type or its schema.

    `exact` asks at temperature 0; else the model draws as its endpoint does. `parts` fill the prompt.
    """
    schema = {
        "type": "object",
        "properties": {
            name: {"type": kind} if isinstance(kind, str) else kind for name, kind in fields.items()
        },
        "required": list(fields),
        "additionalProperties": False,
    }
    return Request(
        messages=(Message("user", prompt.fill(**parts)),),
        sampling=Sampling(temperature=0.0 if exact else None, schema=schema),
    )


TEXTS: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}}
"""The schema of a list of texts."""


def correction(reply: str, complaint: str) -> tuple[Message, Message]:
    """The two turns that ask once more: the reply that cannot be used, and what is wrong with it."""
    return Message("assistant", reply), Message("user", complaint)
