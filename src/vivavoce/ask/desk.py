"""The desk: what the program itself asks of models, on a run's account.

Judges, rephrasers and writers of dictionaries ask here. Every call is a row of the run's `calls` with its
reply. A reply that could be used is never asked for twice; one that could not is, once at a time.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Generic, NamedTuple, TypeVar

from vivavoce.ask.engine import ask
from vivavoce.ask.work import Answer, Job, Tally, Work, called
from vivavoce.errors import InputError, ModelError, SpecError
from vivavoce.models import Holding, Model, Reply, Request, Sampling
from vivavoce.models.named import Named, named
from vivavoce.models.providers import Provider, providers
from vivavoce.prompts import Unreadable
from vivavoce.specs import Spec
from vivavoce.store import RunFile
from vivavoce.store.calls import Call, put_call, told

__all__ = ["Desk", "Heard", "Unreadable"]

T = TypeVar("T")
Again = Callable[[int, str, str], Request]
"""Makes of a request's number, the reply and what is wrong with it the second request."""


class Heard(NamedTuple, Generic[T]):
    """What a request brought: a value, or the reason why there is none."""

    value: T | None
    reason: str | None


class _Said(NamedTuple):
    """What came: the reply's text, what was read of it or why nothing was.

    `taken` is false where the endpoint refused the request, null where it never came to an answer.
    """

    text: str | None
    value: Any = None
    reason: str | None = None
    taken: bool | None = True


class Desk:
    """Asks models for one verb, and keeps what comes; `release` ends it.

    `known` are the providers; null takes those of the environment. `check` hears of each model before its
    first request, and raises where it must not be sent to. `progress` hears the tally, how many requests
    there are, and what they are for. Raises `InputError` for a model without a price under `max_cost`.
    """

    def __init__(
        self,
        run: RunFile,
        *,
        known: Mapping[str, Provider] | None = None,
        max_cost: float | None = None,
        progress: Callable[[Tally, int, str], None] | None = None,
        check: Callable[[Named, Model], None] | None = None,
    ) -> None:
        self.run, self._known = run, providers() if known is None else known
        if max_cost is not None and not max_cost >= 0:  # NaN is no number either
            raise InputError(f"--max-cost {max_cost:g}: an amount of 0 or more is needed.")
        self._max_cost, self._progress, self._check = max_cost, progress, check
        self._checked: set[str] = set()
        self._here: dict[str, Any] = {}
        """By spec, the models of this process: what is loaded stays for the next requests."""
        self._schemas: dict[str, bool] = {}
        """By model, whether its endpoint takes a schema; unknown until one was answered or refused."""
        self.asked = Tally()

    def named(self, model: str | Spec) -> Named:
        """The model that a spec names. Raises `SpecError` or `ModelError` for what cannot be asked here."""
        who = named(str(model), self._known)
        if who.settings:
            raise SpecError(
                f"{model}: {', '.join(who.settings)} is for candidates; what a model is asked here stands in "
                "its rubric or prompt."
            )
        return who

    def ask(
        self,
        model: str | Spec,
        requests: Sequence[Request],
        read: Callable[[str], T] | Sequence[Callable[[str], T]],
        *,
        purpose: str,
        repeat: int = 1,
        again: Again | None = None,
    ) -> list[Heard[T]]:
        """Ask every request and read what comes, in their order.

        `read`, one for all or one for each, raises `Unreadable` for what cannot be used; `again` then makes
        the second and last request. Settings of the model's spec fill what a request leaves open. A schema
        that the endpoint refuses is left out. Equal requests are sent once, and none that the run has a
        usable reply to; `repeat` tells equal calls apart that are all to be made. Raises `ModelError` if the
        model cannot be asked or was given up: what came is kept, and costs nothing the next time.
        """
        who = self.named(model)
        readers = [read] * len(requests) if callable(read) else list(read)
        found = self._round(who, requests, readers, purpose, repeat)
        if again:
            poor = [k for k, said in enumerate(found) if said.reason and said.text is not None]
            second = [again(k, found[k].text or "", found[k].reason or "") for k in poor]
            better = self._round(who, second, [readers[k] for k in poor], purpose, repeat)
            for k, said in zip(poor, better, strict=True):
                why = said.reason and f"{found[k].reason}; asked again: {said.reason}"
                found[k] = said._replace(reason=why)
        return [Heard(said.value, said.reason) for said in found]

    def release(self) -> None:
        """Free what models of this process hold; what is asked after that loads them again."""
        for model in self._here.values():
            model.release()
        self._here.clear()

    def _connected(self, who: Named) -> Model:
        """The model; of those of this process the same one each time, and no two of them loaded at once."""
        spec = str(who.spec)
        model: Model = self._here.get(spec) or who.connect()
        if isinstance(model, Holding):
            for other in self._here.values():
                if other is not model:
                    other.release()
            self._here[spec] = model
        return model

    def _round(
        self,
        who: Named,
        requests: Sequence[Request],
        readers: Sequence[Callable[[str], Any]],
        purpose: str,
        repeat: int,
    ) -> list[_Said]:
        """What comes of each request; a first one alone finds out whether the endpoint takes a schema."""
        if not requests:
            return []
        drawn = [replace(r, sampling=_drawn(who.sampling, r.sampling)) for r in requests]
        asked = list(zip(drawn, readers, strict=True))
        found: dict[str, _Said] = {}
        if drawn[0].sampling.schema and not self._takes_schema(who, *asked[0], purpose, repeat, found):
            asked = [(_bare(request), read) for request, read in asked]
        self._send(who, asked, purpose, repeat, found)
        return [found[request.key] for request, _ in asked]

    def _takes_schema(
        self,
        who: Named,
        first: Request,
        read: Callable[[str], Any],
        purpose: str,
        repeat: int,
        found: dict[str, _Said],
    ) -> bool:
        """Whether the endpoint takes a schema; where that is not known, the first request finds it out."""
        endpoint = who.spec.name
        if endpoint not in self._schemas:
            bare = _bare(first)
            with self.run.reading() as db:
                if told(db, purpose, bare.key, str(who.spec), repeat) is not None:
                    return self._schemas.setdefault(endpoint, False)
            self._send(who, [(first, read)], purpose, repeat, found)
            taken = found[first.key].taken
            if taken is False:
                self._send(who, [(bare, read)], purpose, repeat, found)
                taken = found[bare.key].taken is False  # it is not the schema that is refused
            if taken is not None:
                self._schemas[endpoint] = taken
        return self._schemas.get(endpoint, True)

    def _send(
        self,
        who: Named,
        asked: Sequence[tuple[Request, Callable[[str], Any]]],
        purpose: str,
        repeat: int,
        found: dict[str, _Said],
    ) -> None:
        """Ask what has no outcome in `found` yet, by its key, and put it there."""
        once = {r.key: Job(r, repeat, read) for r, read in reversed(asked) if r.key not in found}
        jobs = list(once.values())[::-1]
        if not jobs:
            return
        model, price = self._connected(who), who.price
        if self._max_cost is not None and price is None:
            raise InputError(
                f"--max-cost: the price of {who.spec} is not known, so the limit could not be kept: put its "
                "price into a --providers file, or leave --max-cost out."
            )
        if self._check and model.name not in self._checked:
            self._check(who, model)
            self._checked.add(model.name)
        with self.run.connected() as db:

            def recall(model: Model, job: Job) -> Answer | None:
                known = told(db, purpose, job.request.key, model.name, job.repeat)
                return None if known is None else Answer(_reply(known), None, 0, 0.0, 0.0)

            def keep(model: Model, job: Job, answer: Answer) -> None:
                said = found[job.request.key] = _read(answer, job.tag)
                if answer.attempts:  # what was recalled is there already
                    with self.run.explained():
                        put_call(db, _call(model, job, answer, said, purpose))

            works = [Work(model, jobs, who.limits, price)]
            tell = self._progress
            heard = None if tell is None else (lambda t: tell(t, len(jobs), purpose))
            tally = ask(
                *(works, keep),
                recall=recall,
                max_cost=self._max_cost,
                spent=self.asked.cost + self.asked.guessed,
                progress=heard,
            )
        self._count(tally)
        if tally.interrupted:
            raise KeyboardInterrupt
        if model.name in tally.stopped:
            raise ModelError(
                f"{model.name} was not asked everything: {tally.stopped[model.name].rstrip('.')}. What came "
                "is kept; the same command goes on from there."
            )

    def _count(self, tally: Tally) -> None:
        t = self.asked
        for name in ("answered", "failed", "shared", "retries", "input_tokens", "output_tokens", "unpriced",
                     "cost", "guessed"):  # fmt: skip
            setattr(t, name, getattr(t, name) + getattr(tally, name))
        t.causes.update(tally.causes)
        for endpoint, n in tally.traffic.requests.items():
            t.traffic.requests[endpoint] = t.traffic.requests.get(endpoint, 0) + n
            sent = tally.traffic.characters[endpoint]
            t.traffic.characters[endpoint] = t.traffic.characters.get(endpoint, 0) + sent


def _drawn(stated: Sampling, wanted: Sampling) -> Sampling:
    """How a reply is drawn: what the model's spec states, else what the request wants."""
    own = {f.name: v for f in fields(stated) if (v := getattr(stated, f.name)) not in (None, (), False)}
    return replace(wanted, **own)


def _bare(request: Request) -> Request:
    return replace(request, sampling=replace(request.sampling, schema=None))


def _read(answer: Answer, read: Callable[[str], Any]) -> _Said:
    if answer.reply is None:
        why = answer.error or "no reply"
        return _Said(None, reason=why, taken=False if answer.refused else None)
    text = answer.reply.text
    if text is None:
        return _Said(None, reason="the reply was withheld by the provider's content filter")
    try:
        return _Said(text, read(text))
    except Unreadable as error:
        cut = " (the reply was cut at its greatest length)" if answer.reply.finish_reason == "length" else ""
        return _Said(text, reason=f"{error}{cut}")


def _call(model: Model, job: Job, answer: Answer, said: _Said, purpose: str) -> Call:
    """The call with its reply; one whose reply cannot be used has failed."""
    reply = answer.reply
    kept = reply and {"text": reply.text, "finish_reason": reply.finish_reason, "model": reply.model}
    return called(
        *(model, job, answer),
        purpose=purpose,
        status="ok" if said.reason is None else "failed",
        error=said.reason,
        reply=json.dumps(kept, ensure_ascii=False) if kept else None,
    )


def _reply(known: str) -> Reply:
    """A reply as `_call` kept it."""
    kept: Mapping[str, Any] = json.loads(known)
    return Reply(text=kept["text"], finish_reason=kept["finish_reason"], model=kept["model"])
