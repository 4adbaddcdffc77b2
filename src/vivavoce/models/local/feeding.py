"""One call of a torch model: rows of token ids in, the log-probabilities of chosen next tokens out.

A row says which tokens it has, and which next tokens are read at which of its places. Rows are padded on the
right, where a causal model does not look; only the places that are read go through the vocabulary's matrix.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Fed", "Found", "Past", "Read", "Row", "batches", "call", "causal", "over", "padded"]

Past = list[tuple[Any, Any]]
"""Keys and values of each layer: tensors of shape (rows, heads, tokens, width)."""

LOGITS = 1 << 28
"""Logits held at once, as far as the choice of a batch's rows can see to it: 1 GiB in float32."""
CHUNK = 1 << 24
"""Logits made into log-probabilities at once: 64 MiB in float32."""


@dataclass(slots=True)
class Fed:
    """How many token positions went through the model, padding left out; an encoder's count too."""

    tokens: int = 0


class Read(NamedTuple):
    """That the probability of `token`, next after the row's place `slot`, is result number `out`."""

    slot: int
    token: int
    out: int


@dataclass(slots=True)
class Found:
    """Results by number: the log-probability (NaN until read), and whether the token is the likeliest."""

    size: int
    logprobs: "NDArray[np.float64]" = field(init=False)
    likeliest: "NDArray[np.bool_]" = field(init=False)

    def __post_init__(self) -> None:
        self.logprobs = np.full(self.size, np.nan)
        self.likeliest = np.zeros(self.size, dtype=bool)


class Fit(Protocol):
    """What a batch is made of."""

    @property
    def reads(self) -> Sequence[Read]: ...
    def __len__(self) -> int: ...


R = TypeVar("R", bound=Fit)


@dataclass(frozen=True, slots=True)
class Row:
    """Tokens that follow one another, what is read where, and after which row of a `Past` they come."""

    tokens: Sequence[int]
    reads: Sequence[Read] = ()
    after: int = 0

    def __len__(self) -> int:
        return len(self.tokens)


def batches(model: Any, rows: Iterable[R], batch: int) -> Iterator[list[R]]:
    """The rows in batches of at most `batch`, the longest first, fewer where their logits would not fit."""
    vocabulary = model.config.get_text_config().vocab_size
    held: list[R] = []
    logits = 0
    for row in sorted(rows, key=len, reverse=True):
        wanted = len({read.slot for read in row.reads}) * vocabulary
        if held and (len(held) == batch or logits + wanted > LOGITS):
            yield held
            held, logits = [], 0
        held.append(row)
        logits += wanted
    if held:
        yield held


def padded(model: Any, rows: Iterable[Sequence[int]]) -> tuple[Any, Any]:
    """Token ids and, of the same shape, ones where they are no padding: two int64 tensors (rows, longest)."""
    import torch

    lists = [list(row) for row in rows]
    longest = max(map(len, lists))
    ids = [row + [0] * (longest - len(row)) for row in lists]
    real = [[1] * len(row) + [0] * (longest - len(row)) for row in lists]
    device = next(model.parameters()).device
    return torch.tensor(ids, device=device), torch.tensor(real, device=device)


def causal(
    model: Any, rows: Sequence[Row], found: Found, fed: Fed, *, past: Past | None = None, keep: bool = False
) -> Past | None:
    """Feed rows that need no mask of their own, after `past` if given; their keys and values, if to be kept.

    `past` has one row for each of `rows`, or one for all, and no padding.
    """
    import torch

    ids, real = padded(model, [row.tokens for row in rows])
    inputs: dict[str, Any] = {"input_ids": ids, "use_cache": False}
    if past is not None or keep:
        inputs |= over(past or [], [row.after for row in rows])
    if past is not None:
        real = torch.cat([real.new_ones((len(rows), past[0][0].shape[-2])), real], dim=1)
    fed.tokens += sum(map(len, rows))
    told = call(model, {**inputs, "attention_mask": real}, [row.reads for row in rows], found)
    return [(layer[0], layer[1]) for layer in told.past_key_values] if keep else None


def over(past: Past, after: Sequence[int]) -> dict[str, Any]:
    """The arguments that put rows after `past`: row i after its row `after[i]`, or all after its only one.

    The cache is told of no window and drops nothing: later rows may go back to where the window sees more.
    """
    import torch
    from transformers import DynamicCache

    cache: Any = DynamicCache()
    for number, (keys, values) in enumerate(past):
        if len(keys) == 1:
            rows = [one.expand(len(after), -1, -1, -1) for one in (keys, values)]
        else:
            index = torch.tensor(after, device=keys.device)
            rows = [one.index_select(0, index) for one in (keys, values)]
        cache.update(*rows, number)
    return {"past_key_values": cache, "use_cache": True}


def call(model: Any, inputs: Mapping[str, Any], reads: Sequence[Sequence[Read]], found: Found) -> Any:
    """Call the model and read what each of its rows is to tell; returns what it returned."""
    wanted = sorted({(row, read.slot) for row, those in enumerate(reads) for read in those}) or [(0, 0)]
    with _only(model, wanted) as taken:
        told = model(**inputs)
    logits = told.logits
    if taken:
        logits = logits[0]
    else:
        rows, slots = zip(*wanted, strict=True)
        logits = logits[list(rows), list(slots)]
    place = {where: number for number, where in enumerate(wanted)}
    _note(logits, [(place[row, read.slot], read) for row, those in enumerate(reads) for read in those], found)
    return told


@contextmanager
def _only(model: Any, wanted: Sequence[tuple[int, int]]) -> Iterator[list[bool]]:
    """Let only the wanted (row, slot) through the vocabulary's matrix, as one row; true is put in if it did.

    `logits_to_keep` of transformers keeps the same slots of every row, and has another name before 4.48.
    """
    head = getattr(model, "get_output_embeddings", lambda: None)()
    taken: list[bool] = []
    if head is None:
        yield taken
        return
    rows, slots = (list(one) for one in zip(*wanted, strict=True))

    def select(_: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
        taken.append(True)
        return (given[0][rows, slots].unsqueeze(0), *given[1:])

    hook = head.register_forward_pre_hook(select)
    try:
        yield taken
    finally:
        hook.remove()


def _note(logits: Any, reads: Sequence[tuple[int, Read]], found: Found) -> None:
    """Write down the log-probabilities: the softmax in float32 at least, some places at a time."""
    import torch

    if not reads:
        return
    at = torch.tensor([place for place, _ in reads], device=logits.device)
    tokens = torch.tensor([read.token for _, read in reads], device=logits.device)
    some = max(1, CHUNK // logits.shape[-1])
    totals, best = [], []
    for begin in range(0, len(logits), some):
        part = logits[begin : begin + some]
        totals.append(part.to(torch.promote_types(part.dtype, torch.float32)).logsumexp(-1))
        best.append(part.argmax(-1))
    logprobs = logits[at, tokens].to(totals[0].dtype) - torch.cat(totals)[at]
    outs = [read.out for _, read in reads]
    found.logprobs[outs] = logprobs.double().cpu().numpy()
    found.likeliest[outs] = (torch.cat(best)[at] == tokens).cpu().numpy()
