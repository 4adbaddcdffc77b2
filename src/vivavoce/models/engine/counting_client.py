"""A client that asks nobody: it counts what would be asked, and gives the replies that the run has."""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vivavoce.core.prompts import Unreadable
from vivavoce.core.specs import Spec
from vivavoce.models.candidates import CandidateConfig
from vivavoce.models.endpoints import EndpointConfig
from vivavoce.models.engine.client import (
    Batch,
    CallResult,
    ModelClient,
    Parser,
    SecondRequest,
    T,
    call_result,
    merged,
    reply_from_json,
    without_schema,
)
from vivavoce.models.requests import Model, Request
from vivavoce.store.calls import stored_reply
from vivavoce.store.runfile import RunFile


@dataclass
class CallEstimate:
    """Calls that would be made, and what they may cost.

    Tokens are characters / 4, which is rough; `output_tokens` is the most that limits allow, null without
    one; `cost` is null without a price or a limit. `stored` are requests that the run has a reply to. A reply
    that cannot be parsed is asked for once more, which nobody can count before.
    """

    calls: int = 0
    stored: int = 0
    input_tokens: int = 0
    output_tokens: int | None = 0
    cost: float | None = 0.0

    def add(self, request: Request, candidate: CandidateConfig) -> None:
        """Count a call."""
        n_input, limit, rates = request.characters // 4, request.sampling.max_tokens, candidate.price
        self.calls += 1
        self.input_tokens += n_input
        if limit is None or self.output_tokens is None:
            self.output_tokens = None
        else:
            self.output_tokens += limit
        if not candidate.metered or self.cost is None:
            return
        if rates is None or limit is None:
            self.cost = None
        else:
            self.cost += (n_input * rates[0] + limit * rates[1]) / 1e6


class CountingClient(ModelClient):
    """Counts in `estimate` what metrics ask; equal requests are one call, as the real client makes it.

    It refuses what the real client would before a request: under `max_cost` a model without a price, and what
    `check` refuses, where it is known without a key to which host a model's requests go.
    """

    def __init__(
        self,
        run: RunFile,
        endpoints: Mapping[str, EndpointConfig] | None = None,
        max_cost: float | None = None,
        check: Callable[[CandidateConfig, Model], None] | None = None,
    ) -> None:
        super().__init__(run, endpoints=endpoints, max_cost=max_cost, check=check)
        self.estimate = CallEstimate()
        self._requests: set[tuple[str, str, str, int]] = set()

    def ask(
        self,
        model: str | Spec,
        requests: Sequence[Request],
        parse: Parser[T] | Sequence[Parser[T]],
        *,
        purpose: str,
        repeat: int = 1,
        again: SecondRequest | None = None,
    ) -> list[CallResult[T]]:
        """The results of requests that the run has replies to; others are counted and have none."""
        candidate = self.candidate(model)
        parsers = [parse] * len(requests) if callable(parse) else list(parse)
        batch = Batch(candidate, list(zip(requests, parsers, strict=True)), purpose, repeat)
        old_replies = self.old_replies(batch, again)
        results = []
        with self.run.reading() as db:
            for k, (request, parser) in enumerate(batch.requests):
                sampled = replace(request, sampling=merged(candidate.sampling, request.sampling))
                # An endpoint that rejects the schema was asked without it.
                keys = dict.fromkeys((sampled.key, without_schema(sampled).key))
                reply = self._usable(db, batch, keys)
                old_reply = None if reply else next(filter(None, map(old_replies.get, keys)), None)
                reply = old_reply or reply
                place = (purpose, sampled.key, str(candidate.spec), repeat)
                if place not in self._requests:
                    self._requests.add(place)
                    self._count_request(sampled, candidate, is_stored=reply is not None)
                result = _result(reply, parser)
                if old_reply and again:
                    second = again(k, _text(old_reply), result.reason or "")
                    (result,) = self.ask(model, [second], [parser], purpose=purpose, repeat=repeat)
                results.append(result)
        return results

    def check_asking(self, candidate: CandidateConfig) -> None:
        """Raise a `VivaError` where the real client would not ask the model."""
        self.check_price(candidate)
        name = str(candidate.spec)
        if self._check and candidate.states_host and name not in self._checked:
            self._check(candidate, candidate.unconnected)
            self._checked.add(name)

    @staticmethod
    def _usable(db: sqlite3.Connection, batch: Batch, keys: Iterable[str]) -> str | None:
        place = (str(batch.candidate.spec), batch.repeat)
        replies = (stored_reply(db, batch.purpose, key, *place) for key in keys)
        return next((reply for reply in replies if reply is not None), None)

    def _count_request(self, request: Request, candidate: CandidateConfig, *, is_stored: bool) -> None:
        if is_stored:
            self.estimate.stored += 1
        else:
            self.check_asking(candidate)
            self.estimate.add(request, candidate)


def _text(stored: str) -> str:
    return reply_from_json(stored).text or ""


def _result(stored: str | None, parser: Parser[Any]) -> CallResult[Any]:
    reply = None if stored is None else reply_from_json(stored)
    if reply is None or reply.text is None:
        return CallResult(None, "nobody is asked in a dry run")
    try:
        return call_result(reply, parser(reply.text), None)
    except Unreadable as error:
        return call_result(reply, None, str(error))
