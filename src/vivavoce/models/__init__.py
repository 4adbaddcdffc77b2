"""Models: what can be asked, and the two ways of asking, `generate` and `loglikelihood`.

A model is named `provider/name(settings)`, such as `openai/gpt-4o(temperature=0.2)`; the provider says how it
is reached. A model asks once and says what came of it: a `Reply`, or one of the three errors below. Waiting,
trying again and paying are the engine's.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from vivavoce.errors import ModelError

__all__ = [
    "Branches",
    "Broken",
    "Drawn",
    "Holding",
    "Kind",
    "Likelihood",
    "Message",
    "Model",
    "Refused",
    "Reply",
    "Request",
    "Sampling",
    "Transient",
    "Usage",
]

Kind = Literal["generate", "loglikelihood"]


class Message(NamedTuple):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How an answer is drawn. Null leaves it to the endpoint, and is not sent.

    `logprobs` asks for the log-probability of each generated token, `beams` for a beam search of that width
    in place of a draw, `schema` (a JSON schema of an object) for
    structured output: chat and messages answer with the object's JSON, plain completions refuse it. Where an
    endpoint has no seed or no log-probabilities (Anthropic's messages have neither) they are not sent.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    logprobs: bool = False
    schema: Mapping[str, Any] | None = None
    beams: int | None = None


class Drawn(NamedTuple):
    """An answer in the tokens it was drawn in: their ids and spellings, the logarithm of each probability.

    The probability is that of the whole distribution at temperature 1, however the token was drawn. Ids are
    empty where the endpoint tells none. `ended`: the model closed it by itself, before `max_tokens`; the
    closing token is no part of it, `closing` its log-probability. That is null where the answer did not end,
    where a stop string ended it, and where the endpoint does not tell it.
    """

    text: str
    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    logprobs: tuple[float, ...]
    ended: bool
    closing: float | None = None


class Branches(NamedTuple):
    """Texts whose probabilities are asked, each after several beginnings of what the model said.

    `trunk` is what it said; each text is put after its first `cuts` tokens, 0 being right after the question.
    """

    targets: tuple[str, ...]
    trunk: Drawn | None = None
    cuts: tuple[int, ...] = (0,)


class Likelihood(NamedTuple):
    """The natural logarithm of a text's probability, summed over its tokens, and how many those are.

    `verbatim` is how many of its first tokens are what the model itself would say next, taking the likeliest
    token each time; null where the endpoint does not tell.
    """

    logprob: float
    tokens: int
    verbatim: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked: the conversation, how to draw; for a likelihood also the text whose probability counts.

    A likelihood is asked of one `target`, after `begun`, what the model is taken to have said already; or,
    of a model in this process (`Model.branching`), of all of `branches` at once. Without messages it is the
    probability of the text alone. A target gets a blank before it unless it has one, or what stands before
    it ends in one or is nothing.

    `options`, `reference` and `draw`, the number a draw follows from, are for baselines only and are sent to
    nobody. They belong to the key: whoever fills them for a real model asks equal questions twice.
    """

    messages: tuple[Message, ...]
    sampling: Sampling = field(default_factory=Sampling)
    kind: Kind = "generate"
    target: str | None = None
    begun: str = ""
    branches: Branches | None = None
    options: tuple[str, ...] = ()
    reference: str | None = None
    draw: int | None = None
    _key: str = field(default="", init=False, repr=False, compare=False)

    @property
    def key(self) -> str:
        """First 32 hex digits of SHA-256 over what is asked: two requests with one key are the same."""
        if not self._key:
            object.__setattr__(self, "_key", self._digest())
        return self._key

    def _digest(self) -> str:
        s = self.sampling
        asked: dict[str, Any] = {
            "kind": self.kind,
            "messages": self.messages,
            "target": self.target,
            "sampling": [s.temperature, s.top_p, s.max_tokens, s.seed, s.stop, s.logprobs, s.schema],
        }
        own = {
            "options": self.options,
            "reference": self.reference,
            "draw": self.draw,
            "begun": self.begun,
            "branches": self.branches,
            "beams": s.beams,
        }
        asked |= {name: value for name, value in own.items() if value not in ((), None, "")}
        text = json.dumps(asked, ensure_ascii=False, sort_keys=True, default=list)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    @property
    def characters(self) -> int:
        """How much text is sent."""
        said = [m.content for m in self.messages] + [self.target or "", self.begun]
        if self.branches:
            said += [*self.branches.targets, self.branches.trunk.text if self.branches.trunk else ""]
        return sum(map(len, said))


class Usage(NamedTuple):
    """Tokens as the endpoint counts them; null where it does not say."""

    input: int | None = None
    output: int | None = None


_UNCOUNTED = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back. `text` is null only when the provider withheld it (`finish_reason='content_filter'`).

    Where a filter cut the answer short, what had come until then is the text.

    `logprobs` are natural logarithms: of the generated tokens, or for a likelihood of the target's tokens.
    `citations` are the sources that a whole system returned, as it returned them. `drawn` is the answer in
    its tokens where log-probabilities were asked for: one, or with `beams` as many, the likeliest first.
    `likelihoods` are those asked for: all targets after the first cut, then after the second, and so on.
    `spaced` tells whether a blank was put before the targets that follow the question at once; null where the
    endpoint does not tell. `truncated` is how many tokens of the question were left out to fit the model's
    context, where its settings say that this may be. `tokeniser` tells tokenisers apart; null where it is not
    known.
    """

    text: str | None
    reasoning: str | None = None
    finish_reason: str | None = None
    model: str | None = None
    usage: Usage = _UNCOUNTED
    logprobs: tuple[float, ...] | None = None
    citations: tuple[Any, ...] = ()
    drawn: tuple[Drawn, ...] = ()
    likelihoods: tuple[Likelihood, ...] = ()
    spaced: bool | None = None
    truncated: int = 0
    tokeniser: str | None = None


class Transient(Exception):
    """Worth another attempt: the endpoint was busy, or the line broke. `after` is what it asked us to wait.

    `throttled` says that it was asked too much at once.
    """

    def __init__(self, why: str, *, after: float | None = None, throttled: bool = False) -> None:
        super().__init__(why)
        self.after, self.throttled = after, throttled


class Refused(Exception):
    """The request will never be answered: it is too long, or not well formed. Others may be."""


class Broken(ModelError):
    """No request to this model can be answered: no key, no such model, no such host."""


@runtime_checkable
class Holding(Protocol):
    """A model that holds memory of this machine, from its first request until `release`.

    `facts` are what its figures may hang on beside its settings: where it ran, and a hash of its files.
    """

    @property
    def facts(self) -> Mapping[str, Any]:
        """Fit for JSON."""
        ...

    def release(self) -> None:
        """Let the memory go; a later request takes it again."""
        ...


class Model(Protocol):
    """A model or a whole system.

    `name` is its canonical spec, under which its answers stand; `endpoint` names what is shared with other
    models and therefore limited together; `place` is the host, or '' where nothing leaves the process.
    A model in this process may be `branching`: it takes `Request.branches`.
    """

    name: str
    endpoint: str
    place: str

    async def generate(self, request: Request) -> Reply:
        """One attempt. Raises `Transient`, `Refused` or `Broken`."""
        ...

    async def loglikelihood(self, request: Request) -> Reply:
        """One attempt at the likelihood of `request.target`, or of its `branches` where the model is
        `branching`; `Broken` where the endpoint has none.
        """
        ...

    async def close(self) -> None:
        """Let connections go."""
        ...
