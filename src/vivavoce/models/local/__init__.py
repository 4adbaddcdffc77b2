"""Models in this process: `hf/NAME`, a hub id or a folder, through torch and transformers.

Requests that wait are run in batches by one thread; the weights are loaded when the first of them comes. What
a request gets does not depend on what it was run with, but for rounding.
"""

import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from vivavoce.models import Broken, Drawn, Likelihood, Refused, Reply, Request, Sampling, Usage
from vivavoce.models.likely import spaced
from vivavoce.models.local.batching import Batches, Job, free, is_full
from vivavoce.models.local.drawing import Row, draw, search, shown
from vivavoce.models.local.loading import (
    SETTINGS,
    Settings,
    Source,
    configuration,
    context_of,
    fingerprint,
    quiet,
    settled,
    source,
    tokeniser,
    weights,
)
from vivavoce.models.local.scoring import Chosen, NotFinite, Tree, Way, score, way_for
from vivavoce.models.local.tokens import Tokens, fitted
from vivavoce.models.local.windows import rolling
from vivavoce.text import one_line

if TYPE_CHECKING:
    from vivavoce.models.local.batching import Outcome

__all__ = ["MOST_TOKENS", "SETTINGS", "Local", "connect"]

MOST_TOKENS = 512
"""Tokens of an answer at most, where `max_tokens` is not said; fewer where the context leaves fewer."""


class _Asked(NamedTuple):
    """A request in tokens: a row to draw, or a tree to score (`alone`: by a window that moves over it)."""

    request: Request
    put: "Row | Tree"
    truncated: int = 0
    alone: bool = False
    spaced: bool = False


def connect(name: str, model: str, settings: Mapping[str, Any]) -> "Local":
    """The model `model`, a folder or a hub id, under the candidate's name `name`.

    Reads its configuration and its tokeniser, not its weights. Raises `Broken` for settings that this machine
    cannot meet, a folder without a model, a hub id that cannot be had, and a chat template asked of a
    tokeniser without one.
    """
    own = settled(name, settings)
    at = source(name, model, own.revision)
    config, made = configuration(name, at), tokeniser(name, at, own.chat_template)
    context = context_of(name, config, made, own.context)
    if own.stride and context and own.stride > context:
        raise Broken(f"{name}: stride={own.stride} is more than the context of {context}.")
    templated = own.chat_template is not False and bool(getattr(made, "chat_template", None))
    try:
        with quiet():
            tokens = Tokens(
                made, templated=templated, encodes=bool(getattr(config, "is_encoder_decoder", False))
            )
    except Exception as error:  # a tokeniser's own code may raise whatever it likes
        raise Broken(f"{name}: its tokeniser cannot be used ({one_line(str(error), 160)}).") from error
    at = source(name, model, own.revision)  # what was fetched lies here now: the weights must go with it
    return Local(name, model, at, own, tokens, context)


class Local:
    """A causal or encoder-decoder model in this process.

    Its chat template is used where its tokeniser has one and `chat_template` does not say otherwise.
    Temperature null or 0 takes the likeliest token; a draw without a seed is a fresh one. A stated
    `max_tokens` must fit the context beside the question; where it is not stated the answer takes what room
    there is, `MOST_TOKENS` at most; with `truncate` half the context is kept for it. Of the model's own
    habits of drawing none is followed, but for the tokens that close an answer. A tokeniser that does not
    give a text back serves for answers, not for likelihoods.
    """

    branching = True
    place = ""

    def __init__(
        self, name: str, model: str, at: Source, settings: Settings, tokens: Tokens, context: int | None
    ) -> None:
        self.name, self.model, self.settings = name, model, settings
        self.tokens, self.context = tokens, context
        self.endpoint = f"hf on {settings.device}"
        self._at = at
        self._loaded: tuple[Any, frozenset[int]] | None = None
        self._broken: str | None = None
        self._weights = fingerprint(at)
        self._way: Chosen | None = None
        self._dtype: str | None = None
        self._batches = Batches(self._prepared, self._run, settings.batch)

    async def generate(self, request: Request) -> Reply:
        """An answer, or with `beams` as many. Raises `Refused` for a schema, and for what does not fit."""
        if request.sampling.schema:
            raise Refused("a model in this process takes no schema: ask for the form in the question")
        return await self._batches.reply(request)

    async def loglikelihood(self, request: Request) -> Reply:
        """The likelihood of a target, or of all branches.

        A target without a question that is longer than the context is read by a window that moves over it.
        Raises `Broken` where the tokeniser changes texts; `Refused` for what does not fit, or has no number.
        """
        if self.tokens.fault:
            raise Broken(f"{self.name}: {self.tokens.fault}; its likelihoods would be those of other texts.")
        return await self._batches.reply(request)

    async def close(self) -> None:
        """End the thread. The weights stay for what may be asked next, until `release`."""
        await self._batches.close()

    def release(self) -> None:
        """Free the weights; a later request loads them again. It does not fail."""
        if self._loaded:
            self._loaded = None
            with suppress(RuntimeError):  # a GPU that has failed says so again to whoever comes next
                free()

    @property
    def facts(self) -> Mapping[str, Any]:
        """What a figure may hang on beside the settings: where it ran and in which way, with the reason."""
        from importlib.metadata import version

        way = self._way or Chosen("packed", "")
        told = {
            "weights": self._weights,
            "device": self.settings.device,
            "dtype": self._dtype,
            "tokeniser": self.tokens.mark,
        }
        asked = {"way": way.way, "why": way.why} if self._way else {}
        return told | asked | {name: version(name) for name in ("torch", "transformers")}

    def _model(self) -> tuple[Any, frozenset[int]]:
        """The model and what closes its answers; loaded once, as is the failure to."""
        if self._loaded is None and self._broken is None:
            try:
                self._loaded = weights(
                    self.name, self._at, self.settings, encodes=self.tokens.encodes, eos=self.tokens.eos
                )
                self._dtype = str(self._loaded[0].dtype).removeprefix("torch.")
            except Broken as error:
                self._broken = str(error)  # not itself: it would hold what was loaded until then
        if self._loaded is None:
            raise Broken(self._broken)
        return self._loaded

    def _prepared(self, request: Request) -> Job:
        with quiet():
            asked = self._row(request) if request.kind == "generate" else self._tree(request)
        if isinstance(asked.put, Row):
            width = request.sampling.beams or 1  # of one beam, the likeliest token each time
            kind = ("beams", width, asked.put.most) if width > 1 else ("draw", asked.put.most)
            return Job(kind, len(asked.put.question) + asked.put.most, asked)
        size = len(asked.put.prompt) + len(asked.put.trunk) + sum(len(ids) for _, ids in asked.put.branches)
        return Job(("rolling" if asked.alone else "score",), size, asked)

    def _row(self, request: Request) -> _Asked:
        s, question = request.sampling, self.tokens.question(request.messages).ids
        room = self.context
        if self.context is not None and not self.tokens.encodes:
            least = self.context // 2 if self.settings.truncate else 0
            room = max(self.context - len(question), least)
        most = s.max_tokens or max(1, min(MOST_TOKENS, MOST_TOKENS if room is None else room))
        if self.tokens.encodes and room is not None and most >= room:
            raise Refused(f"max_tokens={most} is more than the model's context of {room}")
        question, truncated = self._fitted(question, 0 if self.tokens.encodes else most)
        seed = secrets.randbits(64) if s.seed is None else s.seed
        heat = 0.0 if s.beams else s.temperature or 0.0
        row = Row(question, most, heat, 1.0 if s.top_p is None else s.top_p, seed, s.stop)
        return _Asked(request, row, truncated)

    def _tree(self, request: Request) -> _Asked:
        tree, before = self.tokens.tree(request), self.tokens.question(request.messages).before
        parted = spaced("A", before) != "A"
        deepest = max((cut + len(ids) for cut, ids in tree.branches), default=0)
        if self.tokens.encodes:
            if self.context is not None and deepest + 1 > self.context:
                raise Refused(f"{deepest} tokens of what is said do not fit the context of {self.context}")
            prompt, truncated = self._fitted(tree.prompt, 0)
            return _Asked(request, tree._replace(prompt=prompt), truncated, spaced=parted)
        long = self.context is not None and len(tree.prompt) + deepest > self.context
        if long and not request.messages and not tree.trunk and len(tree.branches) == 1:
            return _Asked(request, tree, alone=True)
        prompt, truncated = self._fitted(tree.prompt, deepest)
        return _Asked(request, tree._replace(prompt=prompt), truncated, spaced=parted)

    def _fitted(self, question: tuple[int, ...], more: int) -> tuple[tuple[int, ...], int]:
        keep = int(len(question) > 1 and question[0] == self.tokens.bos)
        return fitted(question, more, self.context, left=self.settings.truncate == "left", keep=keep)

    def _run(self, jobs: Sequence[Job]) -> "Sequence[Outcome]":
        """Answer a batch of one kind. Each refusal for its numbers is written here and in `drawing`."""
        import torch

        model, ends = self._model()
        asked: list[_Asked] = [job.what for job in jobs]
        with quiet(), torch.inference_mode():
            match jobs[0].kind:
                case ("draw", *_):
                    return self._drawn(model, ends, asked)
                case ("beams", int(width), int(most)):
                    return self._searched(model, ends, asked, width, most)
                case ("rolling",):
                    return [self._rolled(model, one) for one in asked]
            return self._scored(model, asked)

    def _drawn(self, model: Any, ends: frozenset[int], asked: Sequence[_Asked]) -> "list[Outcome]":
        rows = [one.put for one in asked if isinstance(one.put, Row)]
        made = draw(model, rows, ends, self.tokens, halted=self._batches.halted)
        return [
            one if isinstance(one, Refused) else self._answer(each, [one])
            for each, one in zip(asked, made, strict=True)
        ]

    def _searched(
        self, model: Any, ends: frozenset[int], asked: Sequence[_Asked], width: int, most: int
    ) -> "list[Outcome]":
        questions = [one.put.question for one in asked if isinstance(one.put, Row)]
        made = search(model, questions, width, most, ends, self.tokens, halted=self._batches.halted)
        return [
            one if isinstance(one, Refused) else self._answer(each, one)
            for each, one in zip(asked, made, strict=True)
        ]

    def _answer(self, asked: _Asked, made: Sequence[Drawn]) -> Reply:
        s: Sampling = asked.request.sampling
        told = bool(s.logprobs or s.beams)
        drawn = [shown(one, s.stop, self.tokens, pieces=told) for one in made]
        assert isinstance(asked.put, Row)
        return Reply(
            text=drawn[0].text,
            finish_reason="stop" if drawn[0].ended else "length",
            model=self.model,
            usage=Usage(len(asked.put.question), sum(len(one.ids) + one.ended for one in made)),
            logprobs=drawn[0].logprobs if told else None,
            drawn=tuple(drawn) if told else (),
            truncated=asked.truncated,
            tokeniser=self.tokens.mark,
        )

    def _scored(self, model: Any, asked: Sequence[_Asked]) -> "list[Outcome]":
        """Raises `Refused` for a tree without numbers; run alone, the others are answered."""
        trees = [one.put for one in asked if isinstance(one.put, Tree)]
        try:
            chosen = self.settings.way
            self._way = way_for(model) if chosen == "auto" else Chosen(cast("Way", chosen), "as asked")
            found = self._fed(model, trees, self._way.way)
        except NotFinite as error:
            raise self._numberless(asked[error.tree].request, error) from error
        return [self._told(one, likelihoods) for one, likelihoods in zip(asked, found, strict=True)]

    def _fed(self, model: Any, trees: Sequence[Tree], way: Way) -> list[list[Likelihood]]:
        """Score them; of one tree alone fewer rows at a time where memory is full."""
        batch = self.settings.batch
        while True:
            try:
                return score(model, trees, way, batch=batch)
            except Exception as error:
                if len(trees) > 1 or batch == 1 or not is_full(error):
                    raise
            free()  # outside the except block: what it held on to is free now
            batch //= 2

    def _rolled(self, model: Any, asked: _Asked) -> Reply:
        assert isinstance(asked.put, Tree)
        assert self.context is not None
        (prefix,), ((_, ids),) = asked.put.prompt, asked.put.branches
        stride = self.settings.stride or max(1, self.context // 2)
        try:
            found = rolling(model, ids, prefix, context=self.context, stride=stride)
        except NotFinite as error:
            raise self._numberless(asked.request, error) from error
        return self._told(asked, [found])

    def _numberless(self, request: Request, error: NotFinite) -> Refused:
        targets = request.branches.targets if request.branches else (request.target or "",)
        target = one_line(targets[error.branch % len(targets)], 60)
        return Refused(f"the model's logits are no numbers, at token {error.position} of {target!r}")

    def _told(self, asked: _Asked, likelihoods: Sequence[Likelihood]) -> Reply:
        assert isinstance(asked.put, Tree)
        prompt, trunk, branches = asked.put
        return Reply(
            text="",
            model=self.model,
            usage=Usage(len(prompt) + len(trunk) + sum(len(ids) for _, ids in branches), 0),
            likelihoods=tuple(likelihoods),
            spaced=asked.spaced,
            truncated=asked.truncated,
            tokeniser=self.tokens.mark,
        )
