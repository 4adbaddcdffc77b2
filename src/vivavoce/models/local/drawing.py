"""Drawing answers: a batch goes through `generate` of transformers, each row draws with its own generator.

What a row draws depends on its question, its seed and its sampling, and not on the rows beside it. The
log-probability that is kept is that of the whole distribution at temperature 1, however a token was drawn.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from vivavoce.models import Drawn, Refused

__all__ = ["Row", "draw", "search", "shown"]


class Spells(Protocol):
    """What turns tokens into text."""

    @property
    def pad(self) -> int:
        """What fills up a batch."""
        ...

    def spelt(self, ids: Sequence[int]) -> str:
        """The text of tokens."""
        ...

    def pieces(self, ids: Sequence[int]) -> tuple[str, ...]:
        """What each of them adds to it."""
        ...


class Row(NamedTuple):
    """A question in tokens, and how its answer is drawn: `temperature` 0 takes the likeliest token, of equals
    the one with the lowest id; `top_p` draws from the fewest likeliest tokens that have so much together.
    The answer ends with a token that closes it, before a text in `stop`, or after `most` tokens.
    """

    question: tuple[int, ...]
    most: int
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    stop: tuple[str, ...] = ()


@dataclass(slots=True)
class _Said:
    """What a row has drawn so far."""

    row: Row
    chance: random.Random
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    ended: bool = False
    closing: float | None = None
    done: bool = False
    fault: str | None = None


class _Dice:
    """Draws a token for each row, and leaves it as the only one that can be taken; and says which rows are
    done, as a criterion. Called by transformers, with scores of shape (rows, vocabulary).
    """

    def __init__(
        self, rows: Sequence[Row], ends: frozenset[int], spells: Spells, halted: Callable[[], bool]
    ) -> None:
        self.said = [_Said(row, random.Random(row.seed)) for row in rows]
        self.ends, self.spells, self.halted = ends, spells, halted

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        import torch

        logits = scores.float()
        taken = _taken(logits, self.said)
        told = torch.log_softmax(logits, -1).gather(1, taken[:, None])[:, 0]
        broken = (logits.isnan() | (logits == torch.inf)).any(-1) | ~told.isfinite()
        chosen = [
            self._take(said, int(token), logprob, fault)
            for said, token, logprob, fault in zip(
                self.said, taken.tolist(), told.tolist(), broken.tolist(), strict=True
            )
        ]
        only = torch.full_like(scores, -torch.inf)
        return only.scatter_(1, torch.tensor(chosen, device=scores.device)[:, None], 0.0)

    def _take(self, said: _Said, token: int, logprob: float, fault: bool) -> int:
        if said.done:
            return self.spells.pad
        if fault:
            said.fault = f"the model's logits for token {len(said.ids) + 1} of the answer are no numbers"
            said.done = True
            return self.spells.pad
        if token in self.ends:
            said.ended = said.done = True
            said.closing = logprob
            return token
        said.ids.append(token)
        said.logprobs.append(logprob)
        said.done = len(said.ids) >= said.row.most
        if said.row.stop and _cut(self.spells.spelt(said.ids), said.row.stop) is not None:
            said.ended = said.done = True
        return token

    def finished(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        """Which rows are done: a tensor of truth values of shape (rows,)."""
        import torch

        done = [said.done or self.halted() for said in self.said]
        return torch.tensor(done, device=input_ids.device)


def _taken(logits: Any, said: Sequence[_Said]) -> Any:
    """The token each row takes: a tensor of shape (rows,)."""
    import torch

    size = logits.shape[-1]
    ids = torch.arange(size, device=logits.device)
    top = logits.max(-1, keepdim=True).values
    likeliest = torch.where(logits == top, ids, size - 1).amin(-1)
    if not any(one.row.temperature for one in said):
        return likeliest
    wide = torch.float32 if logits.device.type == "mps" else torch.float64  # mps has no float64

    def column(numbers: Sequence[float]) -> Any:
        return torch.tensor(numbers, dtype=wide, device=logits.device)[:, None]

    heat = column([one.row.temperature or 1.0 for one in said])
    most = column([one.row.top_p for one in said])
    # One number for each token, also of a row that is done, so that a row's numbers are its own.
    dart = column([one.chance.random() for one in said])
    shares, order = torch.softmax((logits - top).to(wide) / heat, -1).sort(
        dim=-1, descending=True, stable=True
    )
    upto = shares.cumsum(-1)
    kept = (upto - shares) < most
    kept[:, 0] = True
    whole = torch.where(kept, upto, 0.0).amax(-1, keepdim=True)
    place = ((upto <= dart * whole) & kept).sum(-1, keepdim=True).minimum(kept.sum(-1, keepdim=True) - 1)
    drawn = order.gather(1, place)[:, 0]
    warm = torch.tensor([one.row.temperature > 0 for one in said], device=logits.device)
    return torch.where(warm, drawn, likeliest)


def draw(
    model: Any,
    rows: Sequence[Row],
    ends: frozenset[int],
    spells: Spells,
    *,
    halted: Callable[[], bool] = lambda: False,
) -> "list[Drawn | Refused]":
    """An answer for each row, in order; `Refused` for a row whose logits are NaN or infinite.

    Text and `pieces` are left empty: `shown` fills them in. Once `halted` is true the answers end where they
    are.
    """
    transformers = import_module("transformers")

    dice = _Dice(rows, ends, spells, halted)
    model.generate(
        **_inputs(model, [row.question for row in rows], spells.pad),
        generation_config=transformers.GenerationConfig(
            max_new_tokens=max(row.most for row in rows),
            do_sample=False,
            num_beams=1,
            pad_token_id=spells.pad,
            use_cache=True,
        ),
        logits_processor=transformers.LogitsProcessorList([dice]),
        stopping_criteria=transformers.StoppingCriteriaList([dice.finished]),
    )
    return [
        Refused(said.fault)
        if said.fault
        else Drawn("", tuple(said.ids), (), tuple(said.logprobs), said.ended, said.closing)
        for said in dice.said
    ]


def search(
    model: Any,
    questions: Sequence[tuple[int, ...]],
    width: int,
    most: int,
    ends: frozenset[int],
    spells: Spells,
    *,
    halted: Callable[[], bool] = lambda: False,
) -> "list[list[Drawn] | Refused]":
    """The `width` answers of at most `most` tokens that a beam search finds likeliest for each question, the
    likeliest first, by the plain sum of log-probabilities: no penalty on length. The rest is as with `draw`.
    """
    import torch

    transformers = import_module("transformers")

    def stopped(input_ids: Any, scores: Any, **_: Any) -> Any:
        return torch.full((len(input_ids),), halted(), device=input_ids.device)

    told = model.generate(
        **_inputs(model, questions, spells.pad),
        generation_config=transformers.GenerationConfig(
            max_new_tokens=most,
            do_sample=False,
            num_beams=width,
            num_return_sequences=width,
            length_penalty=0.0,
            early_stopping=False,
            pad_token_id=spells.pad,
            eos_token_id=sorted(ends) or None,
            use_cache=True,
            return_dict_in_generate=True,
            output_scores=True,
        ),
        stopping_criteria=transformers.StoppingCriteriaList([stopped]),
    )
    numbers = model.compute_transition_scores(
        told.sequences, told.scores, told.beam_indices, normalize_logits=False
    )
    made = told.sequences[:, told.sequences.shape[1] - numbers.shape[1] :].tolist()
    beams = [_beam(ids, logprobs, ends) for ids, logprobs in zip(made, numbers.tolist(), strict=True)]
    return [_ranked(beams[k : k + width]) for k in range(0, len(beams), width)]


def _beam(ids: Sequence[int], logprobs: Sequence[float], ends: frozenset[int]) -> Drawn:
    """An answer without what closes it, and without what fills the row up after that."""
    last = next((k for k, token in enumerate(ids) if token in ends), None)
    closing = None if last is None else logprobs[last]
    return Drawn("", tuple(ids[:last]), (), tuple(logprobs[:last]), last is not None, closing)


def _ranked(beams: list[Drawn]) -> "list[Drawn] | Refused":
    if not all(abs(n) < float("inf") for beam in beams for n in (*beam.logprobs, beam.closing or 0.0)):
        return Refused("the model's logits for the answer are no numbers")
    return beams


def shown(drawn: Drawn, stop: Sequence[str], spells: Spells, *, pieces: bool) -> Drawn:
    """The answer with its text, cut before the first of the texts in `stop`; if asked with its `pieces`.

    Of the tokens those are kept that begin before the cut; the last piece is cut too, so that the pieces
    always add up to the text. What is cut has no `closing`: no token of the model's ended it.
    """
    text = spells.spelt(drawn.ids)
    cut = _cut(text, stop)
    if cut is None:
        return drawn._replace(text=text, pieces=spells.pieces(drawn.ids) if pieces else ())
    spelt, kept, length = spells.pieces(drawn.ids), [], 0
    for piece in spelt:
        if length >= cut:
            break
        kept.append(piece[: cut - length])
        length += len(piece)
    count = len(kept)
    return Drawn(text[:cut], drawn.ids[:count], tuple(kept) if pieces else (), drawn.logprobs[:count], True)


def _cut(text: str, stop: Sequence[str]) -> int | None:
    """Where the first of the stop texts begins; null where none is there."""
    found = [at for one in stop if one and (at := text.find(one)) >= 0]
    return min(found, default=None)


def _inputs(model: Any, questions: Sequence[tuple[int, ...]], pad: int) -> dict[str, Any]:
    """Token ids and mask, padded before the question; behind it for an encoder, whose places count from the
    left.
    """
    import torch

    longest, encodes = max(map(len, questions)), model.config.is_encoder_decoder
    ids, mask = [], []
    for one in questions:
        fill = longest - len(one)
        ids.append([*one, *[pad] * fill] if encodes else [*[pad] * fill, *one])
        mask.append([1] * len(one) + [0] * fill if encodes else [0] * fill + [1] * len(one))
    return {
        "input_ids": torch.tensor(ids, device=model.device),
        "attention_mask": torch.tensor(mask, device=model.device),
    }
