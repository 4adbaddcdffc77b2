"""Models in this process: `hf/NAME`, a hub id or a folder, through torch and transformers.

Waiting requests are run in batches by one thread; the first request loads the weights. A request's result
does not depend on the requests it was run with, but for rounding.
"""

import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from vivavoce.core.text import one_line
from vivavoce.models.local.batching import Batches, BatchWorker, Job, free_memory, is_out_of_memory
from vivavoce.models.local.generation import Row, draw, search, with_text
from vivavoce.models.local.loading import (
    Settings,
    Source,
    configuration,
    context_of,
    fingerprint,
    quiet,
    resolve_settings,
    source,
    tokeniser,
    weights,
)
from vivavoce.models.local.scoring import NotFinite, Tree, Way, rolling, score
from vivavoce.models.local.tokens import Tokens, fitted
from vivavoce.models.local.way_choice import Ways, cheapest_way, ways_for
from vivavoce.models.replies import with_space
from vivavoce.models.requests import (
    FatalError,
    Generation,
    Likelihood,
    RejectedError,
    Reply,
    Request,
    Sampling,
    Usage,
)

if TYPE_CHECKING:
    from vivavoce.models.local.batching import Outcome


DEFAULT_MAX_TOKENS = 512
"""Tokens of an answer at most, where `max_tokens` is not said; fewer where the context leaves fewer."""


class _Prepared(NamedTuple):
    """A request in tokens: a row to generate, or a tree to score (`alone`: by a moving window)."""

    request: Request
    work: "Row | Tree"
    truncated: int = 0
    alone: bool = False
    spaced: bool = False


def connect(name: str, model: str, settings: Mapping[str, Any]) -> "Local":
    """The model `model`, a folder or a hub id, under the candidate's name `name`.

    Reads its configuration and its tokeniser, not its weights. Raises `FatalError` for settings that this
    machine cannot meet, a folder without a model, a hub id that cannot be fetched, and `chat_template=true`
    for a tokeniser without one.
    """
    own_settings = resolve_settings(name, settings)
    origin = source(name, model, own_settings.revision)
    config, loaded_tokeniser = (
        configuration(name, origin),
        tokeniser(name, origin, own_settings.chat_template),
    )
    context = context_of(name, config, loaded_tokeniser, own_settings.context)
    if own_settings.stride and context and own_settings.stride > context:
        raise FatalError(f"{name}: stride={own_settings.stride} is more than the context of {context}.")
    templated = own_settings.chat_template is not False and bool(
        getattr(loaded_tokeniser, "chat_template", None)
    )
    try:
        with quiet():
            tokens = Tokens(
                loaded_tokeniser,
                templated=templated,
                encodes=bool(getattr(config, "is_encoder_decoder", False)),
            )
    except Exception as error:  # a tokeniser's own code may raise whatever it likes
        raise FatalError(f"{name}: its tokeniser cannot be used ({one_line(str(error), 160)}).") from error
    origin = source(
        name, model, own_settings.revision
    )  # what was fetched lies here now: the weights must go with it
    return Local(name, model, origin, own_settings, tokens, context)


class Local:
    """A causal or encoder-decoder model in this process.

    Its chat template is used where its tokeniser has one and `chat_template` does not say otherwise.
    Temperature null or 0 takes the likeliest token; a draw without a seed is a fresh one. A stated
    `max_tokens` must fit the context beside the question; where it is not stated the response takes the room
    there is, `DEFAULT_MAX_TOKENS` at most; with `truncate` half the context is kept for it. The model's own
    generation settings are ignored, except the tokens that end a response. A tokeniser that does not give a
    text back serves for responses, not for likelihoods.
    """

    branching = True
    place = ""

    def __init__(
        self, name: str, model: str, at: Source, settings: Settings, tokens: Tokens, context: int | None
    ) -> None:
        self.name, self.model, self.settings = name, model, settings
        self.tokens, self.context = tokens, context
        self.endpoint = f"hf on {settings.device}"
        self.at = at
        self._loaded: tuple[Any, frozenset[int]] | None = None
        self._broken: str | None = None
        self._weights = fingerprint(at)
        self._ways: Ways | None = None
        self._dtype: str | None = None
        self._worker = BatchWorker(self._prepare, self._run, settings.batch)
        self._batches: Batches = self._worker

    async def generate(self, request: Request) -> Reply:
        """A response, or with `beams` as many. Raises `RejectedError` for a schema, or if it does not fit."""
        if request.sampling.schema:
            raise RejectedError("a model in this process takes no schema: ask for the form in the question")
        return await self._batches.reply(request)

    async def loglikelihood(self, request: Request) -> Reply:
        """The likelihood of a target, or of all branches.

        A target without a question that is longer than the context is read by a window that moves over it.
        Raises `FatalError` where the tokeniser changes texts; `RejectedError` for what does not fit, or has
        no number.
        """
        if self.tokens.fault:
            raise FatalError(
                f"{self.name}: {self.tokens.fault}; its likelihoods would be those of other texts."
            )
        return await self._batches.reply(request)

    async def close(self) -> None:
        """End the thread. The weights stay for later requests, until `release`."""
        await self._batches.close()

    def release(self) -> None:
        """Free the weights; a later request loads them again. It does not fail."""
        if self._loaded:
            self._loaded = None
            with suppress(RuntimeError):  # a GPU that has failed says so again to whoever comes next
                free_memory()

    def load(self) -> None:
        """Load the weights now. Raises `FatalError` where they cannot be."""
        self._model()

    def outcomes(self, jobs: Sequence[Job]) -> "list[Outcome]":
        """What prepared requests of one kind come to, longest first, run in this thread."""
        return [outcome for _, outcome in self._worker.outcomes(jobs)]

    @property
    def facts(self) -> Mapping[str, Any]:
        """What results may depend on beside the settings: where the model ran, and the ways that are right.

        Which of these scored a batch is a matter of time, and stands nowhere.
        """
        from importlib.metadata import version

        facts = {
            "model": self.model,
            "weights": self._weights,
            "device": self.settings.device,
            "dtype": self._dtype,
            "tokeniser": self.tokens.mark,
        }
        choice = {"way": str(self._ways), "why": self._ways.why} if self._ways else {}
        return facts | choice | {name: version(name) for name in ("torch", "transformers")}

    def _model(self) -> tuple[Any, frozenset[int]]:
        """The model and what closes its answers; loaded once, as is the failure to."""
        if self._loaded is None and self._broken is None:
            try:
                self._loaded = weights(
                    self.name, self.at, self.settings, encodes=self.tokens.encodes, eos=self.tokens.eos
                )
                self._dtype = str(self._loaded[0].dtype).removeprefix("torch.")
            except FatalError as error:
                self._broken = str(error)  # not itself: it would hold what was loaded until then
        if self._loaded is None:
            raise FatalError(self._broken)
        return self._loaded

    def _prepare(self, request: Request) -> Job:
        with quiet():
            prepared = (
                self._prepare_generation(request)
                if request.kind == "generate"
                else self._prepare_scoring(request)
            )
        if isinstance(prepared.work, Row):
            width = request.sampling.beams or 1  # of one beam, the likeliest token each time
            kind = ("beams", width, prepared.work.most) if width > 1 else ("draw", prepared.work.most)
            return Job(kind, len(prepared.work.question) + prepared.work.most, prepared)
        size = (
            len(prepared.work.prompt)
            + len(prepared.work.trunk)
            + sum(len(ids) for _, ids in prepared.work.branches)
        )
        return Job(("rolling" if prepared.alone else "score",), size, prepared)

    def _prepare_generation(self, request: Request) -> _Prepared:
        s, question = request.sampling, self.tokens.question(request.messages).ids
        max_tokens = s.max_tokens or self._default_max_tokens(len(question))
        if self.tokens.encodes and self.context is not None and max_tokens >= self.context:
            raise RejectedError(f"max_tokens={max_tokens} is more than the model's context of {self.context}")
        question, truncated = self._fit(question, 0 if self.tokens.encodes else max_tokens)
        seed = secrets.randbits(64) if s.seed is None else s.seed
        temperature = 0.0 if s.beams else s.temperature or 0.0
        top_p = 1.0 if s.top_p is None else s.top_p
        return _Prepared(request, Row(question, max_tokens, temperature, top_p, seed, s.stop), truncated)

    def _default_max_tokens(self, question: int) -> int:
        """Tokens of a response whose length is not stated: what the context leaves beside the question."""
        room = self.context
        if room is None:
            return DEFAULT_MAX_TOKENS
        if not self.tokens.encodes:
            room = max(room - question, room // 2 if self.settings.truncate else 0)
        return max(1, min(DEFAULT_MAX_TOKENS, room))

    def _prepare_scoring(self, request: Request) -> _Prepared:
        tree, prefix = self.tokens.tree(request), self.tokens.question(request.messages).before
        parted = with_space("A", prefix) != "A"
        deepest = max((cut + len(ids) for cut, ids in tree.branches), default=0)
        if self.tokens.encodes:
            if self.context is not None and deepest + 1 > self.context:
                raise RejectedError(
                    f"{deepest} tokens of what is said do not fit the context of {self.context}"
                )
            prompt, truncated = self._fit(tree.prompt, 0)
            return _Prepared(request, tree._replace(prompt=prompt), truncated, spaced=parted)
        long = self.context is not None and len(tree.prompt) + deepest > self.context
        if long and not request.messages and not tree.trunk and len(tree.branches) == 1:
            return _Prepared(request, tree, alone=True)
        prompt, truncated = self._fit(tree.prompt, deepest)
        return _Prepared(request, tree._replace(prompt=prompt), truncated, spaced=parted)

    def _fit(self, question: tuple[int, ...], n_more: int) -> tuple[tuple[int, ...], int]:
        keep = int(len(question) > 1 and question[0] == self.tokens.bos)
        return fitted(
            question, n_more, self.context, truncate_left=self.settings.truncate == "left", keep=keep
        )

    def _run(self, jobs: Sequence[Job]) -> "Sequence[Outcome]":
        """Answer a batch of one kind. Each refusal for its numbers is written here and in `drawing`."""
        import torch

        model, ends = self._model()
        prepared: list[_Prepared] = [job.payload for job in jobs]
        with quiet(), torch.inference_mode():
            match jobs[0].kind:
                case ("draw", *_):
                    return self._sample(model, ends, prepared)
                case ("beams", int(width), int(most)):
                    return self._beam_search(model, ends, prepared, width, most)
                case ("rolling",):
                    return [self._score_rolling(model, each) for each in prepared]
            return self._score(model, prepared)

    def _sample(self, model: Any, ends: frozenset[int], prepared: Sequence[_Prepared]) -> "list[Outcome]":
        rows = [outcome.work for outcome in prepared if isinstance(outcome.work, Row)]
        outcomes = draw(model, rows, ends, self.tokens, halted=self._worker.halted)
        return [
            outcome if isinstance(outcome, RejectedError) else self._generation_reply(job, [outcome])
            for job, outcome in zip(prepared, outcomes, strict=True)
        ]

    def _beam_search(
        self, model: Any, ends: frozenset[int], prepared: Sequence[_Prepared], width: int, most: int
    ) -> "list[Outcome]":
        questions = [outcome.work.question for outcome in prepared if isinstance(outcome.work, Row)]
        outcomes = search(model, questions, width, most, ends, self.tokens, halted=self._worker.halted)
        return [
            outcome if isinstance(outcome, RejectedError) else self._generation_reply(job, outcome)
            for job, outcome in zip(prepared, outcomes, strict=True)
        ]

    def _generation_reply(self, prepared: _Prepared, generations: Sequence[Generation]) -> Reply:
        s: Sampling = prepared.request.sampling
        with_logprobs = bool(s.logprobs or s.beams)
        finished = [
            with_text(generation, s.stop, self.tokens, pieces=with_logprobs) for generation in generations
        ]
        assert isinstance(prepared.work, Row)
        return Reply(
            text=finished[0].text,
            finish_reason="stop" if finished[0].ended else "length",
            model=self.model,
            usage=Usage(
                len(prepared.work.question),
                sum(len(generation.ids) + generation.ended for generation in generations),
            ),
            logprobs=finished[0].logprobs if with_logprobs else None,
            generations=tuple(finished) if with_logprobs else (),
            truncated=prepared.truncated,
            tokeniser=self.tokens.mark,
        )

    def _score(self, model: Any, prepared: Sequence[_Prepared]) -> "list[Outcome]":
        """Raises `RejectedError` for a tree without numbers; run alone, the others are answered."""
        trees = [job.work for job in prepared if isinstance(job.work, Tree)]
        try:
            chosen = self.settings.way
            if chosen == "auto":
                self._ways = ways_for(model)
                way = cheapest_way(model, trees, batch=self.settings.batch)
            else:
                way = cast("Way", chosen)
                self._ways = Ways((way,), "as asked")
            scores = self._score_in_memory(model, trees, way)
        except NotFinite as error:
            raise self._not_finite(prepared[error.tree].request, error) from error
        return [
            self._likelihood_reply(job, likelihoods)
            for job, likelihoods in zip(prepared, scores, strict=True)
        ]

    def _score_in_memory(self, model: Any, trees: Sequence[Tree], way: Way) -> list[list[Likelihood]]:
        """Score them; of one tree alone fewer rows at a time where memory is full."""
        batch = self.settings.batch
        while True:
            try:
                return score(model, trees, way, batch=batch)
            except Exception as error:
                if len(trees) > 1 or batch == 1 or not is_out_of_memory(error):
                    raise
            free_memory()  # outside the except block: what it held on to is free now
            batch //= 2

    def _score_rolling(self, model: Any, prepared: _Prepared) -> Reply:
        assert isinstance(prepared.work, Tree)
        assert self.context is not None
        (prefix,), ((_, ids),) = prepared.work.prompt, prepared.work.branches
        stride = self.settings.stride or max(1, self.context // 2)
        try:
            likelihood = rolling(model, ids, prefix, context=self.context, stride=stride)
        except NotFinite as error:
            raise self._not_finite(prepared.request, error) from error
        return self._likelihood_reply(prepared, [likelihood])

    def _not_finite(self, request: Request, error: NotFinite) -> RejectedError:
        targets = request.branches.targets if request.branches else (request.target or "",)
        target = one_line(targets[error.branch % len(targets)], 60)
        return RejectedError(f"the model's logits are no numbers, at token {error.position} of {target!r}")

    def _likelihood_reply(self, prepared: _Prepared, likelihoods: Sequence[Likelihood]) -> Reply:
        assert isinstance(prepared.work, Tree)
        prompt, trunk, branches = prepared.work
        return Reply(
            text="",
            model=self.model,
            usage=Usage(len(prompt) + len(trunk) + sum(len(ids) for _, ids in branches), 0),
            likelihoods=tuple(likelihoods),
            spaced=prepared.spaced,
            truncated=prepared.truncated,
            tokeniser=self.tokens.mark,
        )
