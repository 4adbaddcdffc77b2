"""Requests of log-likelihoods: what a model is asked about an item, and the base class of their metrics.

A record of the replies is stored as the `logprobs` of a response of its own. Metrics are functions of it, and
several may share one. A name holds the settings that change what is asked, and no others.
"""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from vivavoce.core.errors import VivaError
from vivavoce.core.records import Item
from vivavoce.core.registry import build, member
from vivavoce.core.specs import Spec
from vivavoce.metrics import Metric
from vivavoce.models.replies import LONG_CERTAIN, are_certain
from vivavoce.models.requests import Continuations, Generation, Likelihood, Message, Reply, Request

LN2 = math.log(2)
ABOVE_ZERO = 1e-6
"""By so much per token a logarithm of a probability may be above 0: float32 adds up no better."""

PromptBuilder = Callable[[Item], tuple[Message, ...]]
"""The conversation that asks an item, with a candidate's own prompt, system message and examples."""


class LogprobRequests(ABC):
    """What a model is asked about one item: at most two rounds, the second from the replies to the first.

    It is pure: it makes requests, and a record of the replies.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """Its spec, as `given(after=question)`. Two of one name ask the same."""

    def sample(self, item: Item, prompt: PromptBuilder) -> Sequence[Request]:
        """The first round, such as responses to sample; nothing by default."""
        return ()

    @abstractmethod
    def score(self, item: Item, prompt: PromptBuilder, samples: Sequence[Reply]) -> Sequence[Request]:
        """The second round: requests of log-likelihoods."""

    @abstractmethod
    def to_record(self, item: Item, samples: Sequence[Reply], scores: Sequence[Reply]) -> Mapping[str, Any]:
        """What is stored of the replies, fit for JSON. It is what a metric finds in `row.reading.parsed`."""

    def most_calls(self, item: Item, prompt: PromptBuilder, branching: bool) -> int:
        """How many requests an item takes at most, before anything was asked."""
        requests = (*self.sample(item, prompt), *self.score(item, prompt, ()))
        return sum(len(to_model_requests(request, branching)) for request in requests)


class LogprobMetric(Metric):
    """A metric of log-likelihoods: it scores what a model assigns to texts, and no response in words."""

    @property
    @abstractmethod
    def logprob_requests(self) -> LogprobRequests | None:
        """What the model is asked. Several metrics may share one, by its name.

        Null where a metric scores log-likelihoods under other settings only, and words under these.
        """


def to_model_requests(request: Request, branching: bool) -> list[Request]:
    """A request as a model takes it: as it is, or one for each branch where it takes no `Continuations`."""
    return [request] if branching or request.branches is None else expand(request)


def expand(request: Request) -> list[Request]:
    """A request of branches as one for each cut and target, cut by cut.

    What stands before a target is spelt by the pieces of the trunk. Raises `ValueError` where it has none.
    """
    b = request.branches or Continuations(())
    pieces = b.trunk.pieces if b.trunk else ()
    if max(b.cuts, default=0) > len(pieces):
        raise ValueError(
            "the endpoint did not tell the tokens of what it said, so nothing can be put after them"
        )
    return [
        replace(request, branches=None, target=target, begun="".join(pieces[:cut]))
        for cut in b.cuts
        for target in b.targets
    ]


def merge(replies: Sequence[Reply]) -> Reply:
    """The replies to `expand` as the one to the request of branches."""
    likelihoods = tuple(likelihood for reply in replies for likelihood in reply.likelihoods)
    return replace(replies[0], likelihoods=likelihoods, truncated=max(reply.truncated for reply in replies))


def missing_reason(request: Request, reply: Reply) -> str | None:
    """What a reply lacks of what was requested; null if it is complete."""
    if request.kind == "generate":
        if not (request.sampling.logprobs or request.sampling.beams):
            return None
        if not reply.generations:
            return "the tokens of the answer were asked for, and none were told"
        logprobs = reply.generations[0].logprobs
        if len(logprobs) >= LONG_CERTAIN and are_certain(logprobs):
            return (
                "the endpoint gives every token of the answer the log-probability 0.0: its server reports "
                "them after its choice of a token, or computes none"
            )
        return None
    b = request.branches
    n = len(b.cuts) * len(b.targets) if b else 1
    if len(reply.likelihoods) == n:
        return None
    return f"{n} likelihoods were asked for, and {len(reply.likelihoods)} were told"


def requests_of(metric: Metric) -> LogprobRequests | None:
    """What a metric of log-likelihoods asks; null for one that scores words."""
    return metric.logprob_requests if isinstance(metric, LogprobMetric) else None


def scores_logprobs(spec: Spec) -> bool:
    """Whether the metric of this spec scores log-likelihoods.

    One that cannot be built, as a file it names is gone, does if its settings do not decide it.
    """
    if not issubclass(member("metric", spec.name) or object, LogprobMetric):
        return False
    try:
        return requests_of(build("metric", spec)) is not None
    except VivaError:
        return True


def finite(likelihood: Likelihood) -> float | None:
    """The log-probability, null where it is not finite: JSON has no infinity."""
    return likelihood.logprob if math.isfinite(likelihood.logprob) else None


_PLAIN = ("finish_reason", "model", "truncated", "tokeniser")


def reply_to_json(reply: Reply) -> str:
    """What metrics may need of a reply, as JSON: generations in tokens, and likelihoods."""
    record: dict[str, Any] = {name: value for name in _PLAIN if (value := getattr(reply, name))}
    if reply.spaced is not None:
        record["spaced"] = reply.spaced
    if reply.generations:
        record["drawn"] = [generation._asdict() for generation in reply.generations]
    if reply.likelihoods:
        record["likelihoods"] = reply.likelihoods
    return json.dumps(record, ensure_ascii=False)


def reply_from_json(text: str) -> Reply:
    """The reply of which `reply_to_json` wrote this."""
    record = json.loads(text)
    generations = tuple(
        Generation(**fields | {name: tuple(fields[name]) for name in ("ids", "pieces", "logprobs")})
        for fields in record.get("drawn", ())
    )
    return Reply(
        text=generations[0].text if generations else "",
        generations=generations,
        likelihoods=tuple(Likelihood(*fields) for fields in record.get("likelihoods", ())),
        **{name: record[name] for name in (*_PLAIN, "spaced") if name in record},
    )
