"""One call of a torch model: rows of token ids in, log-probabilities of chosen next tokens out.

A row has tokens, and says which next tokens are read at which of its places. Rows are padded on the right,
where a causal model does not look; only the places that are read go through the vocabulary matrix.
"""

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


Past = list[tuple[Any, Any]]
"""Keys and values of each layer: tensors of shape (rows, heads, tokens, width)."""

LOGITS = 1 << 28
"""Logits held at once, as far as the choice of a batch's rows can see to it: 1 GiB in float32."""
CHUNK = 1 << 24
"""Logits made into log-probabilities at once: 64 MiB in float32."""


@dataclass(slots=True)
class TokenCounter:
    """Token positions that went through the model, without padding; an encoder's count too."""

    tokens: int = 0


class Read(NamedTuple):
    """A request for the probability of `token` after the row's place `slot`, as result number `out`."""

    slot: int
    token: int
    out: int


@dataclass(slots=True)
class Results:
    """Results by number: the log-probability (NaN until read), and whether the token is the likeliest."""

    size: int
    logprobs: "NDArray[np.float64]" = field(init=False)
    likeliest: "NDArray[np.bool_]" = field(init=False)

    def __post_init__(self) -> None:
        self.logprobs = np.full(self.size, np.nan)
        self.likeliest = np.zeros(self.size, dtype=bool)


class Fit(Protocol):
    """A member of a batch."""

    @property
    def reads(self) -> Sequence[Read]:
        """What is read of it."""
        ...

    def __len__(self) -> int: ...


R = TypeVar("R", bound=Fit)


@dataclass(frozen=True, slots=True)
class Row:
    """Consecutive tokens, what is read where, and the row of a `Past` that they follow."""

    tokens: Sequence[int]
    reads: Sequence[Read] = ()
    after: int = 0

    def __len__(self) -> int:
        return len(self.tokens)


def batches(model: Any, rows: Iterable[R], batch: int) -> Iterator[list[R]]:
    """The rows in batches of at most `batch`, the longest first, fewer where their logits would not fit."""
    vocabulary = model.config.get_text_config().vocab_size
    batch_rows: list[R] = []
    logits = 0
    for row in sorted(rows, key=len, reverse=True):
        row_logits = len({target.slot for target in row.reads}) * vocabulary
        if batch_rows and (len(batch_rows) == batch or logits + row_logits > LOGITS):
            yield batch_rows
            batch_rows, logits = [], 0
        batch_rows.append(row)
        logits += row_logits
    if batch_rows:
        yield batch_rows


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
    model: Any,
    rows: Sequence[Row],
    results: Results,
    fed: TokenCounter,
    *,
    past: Past | None = None,
    keep: bool = False,
) -> Past | None:
    """Run rows that need no mask of their own, after `past` if given; returns keys and values if `keep`.

    `past` has one row for each of `rows`, or one for all, and no padding.
    """
    import torch

    ids, real = padded(model, [row.tokens for row in rows])
    inputs: dict[str, Any] = {"input_ids": ids, "use_cache": False}
    if past is not None or keep:
        inputs |= over(model, past or [], [row.after for row in rows])
    if past is not None:
        real = torch.cat([real.new_ones((len(rows), past[0][0].shape[-2])), real], dim=1)
    fed.tokens += sum(map(len, rows))
    output = call(model, {**inputs, "attention_mask": real}, [row.reads for row in rows], results)
    return [(layer[0], layer[1]) for layer in output[cache_name(model)]] if keep else None


def cache_name(model: Any) -> str:
    """What the model calls its keys and values: `cache` from transformers 5.24 on."""
    return "cache" if "cache" in inspect.signature(type(model).forward).parameters else "past_key_values"


def over(model: Any, past: Past, after: Sequence[int]) -> dict[str, Any]:
    """Arguments that put rows after `past`: row i after its row `after[i]`, or all after its only one.

    The cache gets no window and drops nothing: later rows may go back to where the window sees more.
    """
    import torch
    from transformers import DynamicCache

    cache: Any = DynamicCache()
    for number, (keys, values) in enumerate(past):
        if len(keys) == 1:
            rows = [tensor.expand(len(after), -1, -1, -1) for tensor in (keys, values)]
        else:
            index = torch.tensor(after, device=keys.device)
            rows = [tensor.index_select(0, index) for tensor in (keys, values)]
        cache.update(*rows, number)
    return {cache_name(model): cache, "use_cache": True}


def call(model: Any, inputs: Mapping[str, Any], reads: Sequence[Sequence[Read]], results: Results) -> Any:
    """Call the model and record the results that its rows ask for; returns the model's output."""
    slots_read = sorted(
        {(row, target.slot) for row, targets_of_row in enumerate(reads) for target in targets_of_row}
    ) or [(0, 0)]
    with _only_slots(model, slots_read) as taken:
        output = model(**inputs)
    logits = output.logits
    if taken:
        logits = logits[0]
    else:
        rows, slots = zip(*slots_read, strict=True)
        logits = logits[list(rows), list(slots)]
    place = {where: number for number, where in enumerate(slots_read)}
    _record_logprobs(
        logits,
        [
            (place[row, target.slot], target)
            for row, targets_of_row in enumerate(reads)
            for target in targets_of_row
        ],
        results,
    )
    return output


@contextmanager
def _only_slots(model: Any, slots_read: Sequence[tuple[int, int]]) -> Iterator[list[bool]]:
    """Let only the (row, slot) pairs that are read through the vocabulary matrix, as one row.

    The list that is yielded gets an entry if that happened. `logits_to_keep` of transformers keeps the same
    slots of every row, and has another name before 4.48.
    """
    head = getattr(model, "get_output_embeddings", lambda: None)()
    taken: list[bool] = []
    if head is None:
        yield taken
        return
    rows, slots = (list(indices) for indices in zip(*slots_read, strict=True))

    def select(_: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        taken.append(True)
        return (arguments[0][rows, slots].unsqueeze(0), *arguments[1:])

    hook = head.register_forward_pre_hook(select)
    try:
        yield taken
    finally:
        hook.remove()


def _record_logprobs(logits: Any, reads: Sequence[tuple[int, Read]], results: Results) -> None:
    """Record the log-probabilities: the softmax in float32 at least, some places at a time."""
    import torch

    if not reads:
        return
    places = torch.tensor([place for place, _ in reads], device=logits.device)
    tokens = torch.tensor([target.token for _, target in reads], device=logits.device)
    n_rows = max(1, CHUNK // logits.shape[-1])
    totals, best = [], []
    for begin in range(0, len(logits), n_rows):
        part = logits[begin : begin + n_rows]
        totals.append(part.to(torch.promote_types(part.dtype, torch.float32)).logsumexp(-1))
        best.append(part.argmax(-1))
    logprobs = logits[places, tokens].to(totals[0].dtype) - torch.cat(totals)[places]
    outs = [target.out for _, target in reads]
    results.logprobs[outs] = logprobs.double().cpu().numpy()
    results.likeliest[outs] = (torch.cat(best)[places] == tokens).cpu().numpy()
