"""Generation: a batch goes through `generate` of transformers, each row samples with its own generator.

A row's tokens depend on its question, its seed and its sampling, and not on the rows beside it. The recorded
log-probability is that of the whole distribution at temperature 1, however a token was sampled.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from vivavoce.models.requests import Generation, RejectedError


class Detokeniser(Protocol):
    """Turns tokens into text."""

    @property
    def pad(self) -> int:
        """What fills up a batch."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """The text of tokens."""
        ...

    def pieces(self, ids: Sequence[int]) -> tuple[str, ...]:
        """What each of them adds to it."""
        ...


class Row(NamedTuple):
    """A question in tokens, and how its response is sampled.

    `temperature` 0 takes the likeliest token, of equals the one with the lowest id; `top_p` samples from the
    fewest likeliest tokens that have so much probability together. The response ends with a closing token,
    before a text in `stop`, or after `most` tokens.
    """

    question: tuple[int, ...]
    most: int
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    stop: tuple[str, ...] = ()


@dataclass(slots=True)
class _Progress:
    """What a row has generated so far."""

    row: Row
    chance: random.Random
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    ended: bool = False
    closing: float | None = None
    done: bool = False
    fault: str | None = None


class _Sampler:
    """Picks a token for each row and masks the others; also the stopping criterion.

    Called by transformers, with scores of shape (rows, vocabulary).
    """

    def __init__(
        self, rows: Sequence[Row], ends: frozenset[int], detokeniser: Detokeniser, halted: Callable[[], bool]
    ) -> None:
        self.progress = [_Progress(row, random.Random(row.seed)) for row in rows]
        self.ends, self.detokeniser, self.halted = ends, detokeniser, halted

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        import torch

        logits = scores.float()
        tokens = _next_tokens(logits, self.progress)
        logprobs = torch.log_softmax(logits, -1).gather(1, tokens[:, None])[:, 0]
        broken = (logits.isnan() | (logits == torch.inf)).any(-1) | ~logprobs.isfinite()
        chosen = [
            self._take(progress, int(token), logprob, fault)
            for progress, token, logprob, fault in zip(
                self.progress, tokens.tolist(), logprobs.tolist(), broken.tolist(), strict=True
            )
        ]
        masked = torch.full_like(scores, -torch.inf)
        return masked.scatter_(1, torch.tensor(chosen, device=scores.device)[:, None], 0.0)

    def _take(self, progress: _Progress, token: int, logprob: float, fault: bool) -> int:
        if progress.done:
            return self.detokeniser.pad
        if fault:
            progress.fault = (
                f"the model's logits for token {len(progress.ids) + 1} of the answer are no numbers"
            )
            progress.done = True
            return self.detokeniser.pad
        if token in self.ends:
            progress.ended = progress.done = True
            progress.closing = logprob
            return token
        progress.ids.append(token)
        progress.logprobs.append(logprob)
        progress.done = len(progress.ids) >= progress.row.most
        if (
            progress.row.stop
            and _stop_position(self.detokeniser.decode(progress.ids), progress.row.stop) is not None
        ):
            progress.ended = progress.done = True
        return token

    def finished(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        """Which rows are done: a tensor of truth values of shape (rows,)."""
        import torch

        done = [progress.done or self.halted() for progress in self.progress]
        return torch.tensor(done, device=input_ids.device)


def _next_tokens(logits: Any, progress: Sequence[_Progress]) -> Any:
    """The token each row takes: a tensor of shape (rows,)."""
    import torch

    size = logits.shape[-1]
    ids = torch.arange(size, device=logits.device)
    top = logits.max(-1, keepdim=True).values
    likeliest = torch.where(logits == top, ids, size - 1).amin(-1)
    if not any(entry.row.temperature for entry in progress):
        return likeliest
    wide = torch.float32 if logits.device.type == "mps" else torch.float64  # mps has no float64

    def column(numbers: Sequence[float]) -> Any:
        return torch.tensor(numbers, dtype=wide, device=logits.device)[:, None]

    heat = column([entry.row.temperature or 1.0 for entry in progress])
    top_p = column([entry.row.top_p for entry in progress])
    # One number for each token, also of a row that is done, so that a row's numbers are its own.
    dart = column([entry.chance.random() for entry in progress])
    shares, order = torch.softmax((logits - top).to(wide) / heat, -1).sort(
        dim=-1, descending=True, stable=True
    )
    upto = shares.cumsum(-1)
    nucleus = (upto - shares) < top_p
    nucleus[:, 0] = True
    nucleus_mass = torch.where(nucleus, upto, 0.0).amax(-1, keepdim=True)
    place = (
        ((upto <= dart * nucleus_mass) & nucleus)
        .sum(-1, keepdim=True)
        .minimum(nucleus.sum(-1, keepdim=True) - 1)
    )
    sampled = order.gather(1, place)[:, 0]
    warm = torch.tensor([entry.row.temperature > 0 for entry in progress], device=logits.device)
    return torch.where(warm, sampled, likeliest)


def draw(
    model: Any,
    rows: Sequence[Row],
    ends: frozenset[int],
    detokeniser: Detokeniser,
    *,
    halted: Callable[[], bool] = lambda: False,
) -> "list[Generation | RejectedError]":
    """A response for each row, in order; `RejectedError` for a row whose logits are NaN or infinite.

    Text and `pieces` are empty until `with_text` fills them in. Once `halted` is true the responses end where
    they are.
    """
    transformers = import_module("transformers")

    sampler = _Sampler(rows, ends, detokeniser, halted)
    model.generate(
        **_inputs(model, [row.question for row in rows], detokeniser.pad),
        generation_config=transformers.GenerationConfig(
            max_new_tokens=max(row.most for row in rows),
            do_sample=False,
            num_beams=1,
            pad_token_id=detokeniser.pad,
            use_cache=True,
        ),
        logits_processor=transformers.LogitsProcessorList([sampler]),
        stopping_criteria=transformers.StoppingCriteriaList([sampler.finished]),
    )
    return [
        RejectedError(progress.fault)
        if progress.fault
        else Generation(
            "", tuple(progress.ids), (), tuple(progress.logprobs), progress.ended, progress.closing
        )
        for progress in sampler.progress
    ]


def search(
    model: Any,
    questions: Sequence[tuple[int, ...]],
    width: int,
    most: int,
    ends: frozenset[int],
    detokeniser: Detokeniser,
    *,
    halted: Callable[[], bool] = lambda: False,
) -> "list[list[Generation] | RejectedError]":
    """The `width` likeliest responses of at most `most` tokens that a beam search finds for each question.

    The likeliest comes first, by the plain sum of log-probabilities: no length penalty. The rest is as in
    `draw`.
    """
    import torch

    transformers = import_module("transformers")

    def stopped(input_ids: Any, scores: Any, **_: Any) -> Any:
        return torch.full((len(input_ids),), halted(), device=input_ids.device)

    output = model.generate(
        **_inputs(model, questions, detokeniser.pad),
        generation_config=transformers.GenerationConfig(
            max_new_tokens=most,
            do_sample=False,
            num_beams=width,
            num_return_sequences=width,
            length_penalty=0.0,
            early_stopping=False,
            pad_token_id=detokeniser.pad,
            eos_token_id=sorted(ends) or None,
            use_cache=True,
            return_dict_in_generate=True,
            output_scores=True,
        ),
        stopping_criteria=transformers.StoppingCriteriaList([stopped]),
    )
    numbers = model.compute_transition_scores(
        output.sequences, output.scores, output.beam_indices, normalize_logits=False
    )
    sequences = output.sequences[:, output.sequences.shape[1] - numbers.shape[1] :].tolist()
    beams = [_beam(ids, logprobs, ends) for ids, logprobs in zip(sequences, numbers.tolist(), strict=True)]
    return [_ranked(beams[k : k + width]) for k in range(0, len(beams), width)]


def _beam(ids: Sequence[int], logprobs: Sequence[float], ends: frozenset[int]) -> Generation:
    """A response without its closing token, and without the padding after that."""
    last = next((k for k, token in enumerate(ids) if token in ends), None)
    closing = None if last is None else logprobs[last]
    return Generation("", tuple(ids[:last]), (), tuple(logprobs[:last]), last is not None, closing)


def _ranked(beams: list[Generation]) -> "list[Generation] | RejectedError":
    if not all(abs(n) < float("inf") for beam in beams for n in (*beam.logprobs, beam.closing or 0.0)):
        return RejectedError("the model's logits for the answer are no numbers")
    return beams


def with_text(
    generation: Generation, stop: Sequence[str], detokeniser: Detokeniser, *, pieces: bool
) -> Generation:
    """The response with its text, cut before the first text in `stop`; if requested with its `pieces`.

    Tokens that begin before the cut are kept; the last piece is cut too, so that the pieces always add up to
    the text. A response that is cut has no `closing`: no token of the model's ended it.
    """
    text = detokeniser.decode(generation.ids)
    cut = _stop_position(text, stop)
    if cut is None:
        return generation._replace(text=text, pieces=detokeniser.pieces(generation.ids) if pieces else ())
    spelt, kept_pieces, length = detokeniser.pieces(generation.ids), [], 0
    for piece in spelt:
        if length >= cut:
            break
        kept_pieces.append(piece[: cut - length])
        length += len(piece)
    count = len(kept_pieces)
    return Generation(
        text[:cut],
        generation.ids[:count],
        tuple(kept_pieces) if pieces else (),
        generation.logprobs[:count],
        True,
    )


def _stop_position(text: str, stop: Sequence[str]) -> int | None:
    """Where the first of the stop texts begins; null where none does."""
    starts = [start for stop_text in stop if stop_text and (start := text.find(stop_text)) >= 0]
    return min(starts, default=None)


def _inputs(model: Any, questions: Sequence[tuple[int, ...]], pad: int) -> dict[str, Any]:
    """Token ids and mask, padded before the question; behind it for an encoder, whose places count from the
    left.
    """
    import torch

    longest, encodes = max(map(len, questions)), model.config.is_encoder_decoder
    ids, mask = [], []
    for question in questions:
        fill = longest - len(question)
        ids.append([*question, *[pad] * fill] if encodes else [*[pad] * fill, *question])
        mask.append([1] * len(question) + [0] * fill if encodes else [0] * fill + [1] * len(question))
    return {
        "input_ids": torch.tensor(ids, device=model.device),
        "attention_mask": torch.tensor(mask, device=model.device),
    }
