"""Packs: the branches of a trunk as one row, each token seeing only what comes before it on its own branch.

A pack is a trie over a prompt. A token's position is its depth, so that branches begin where they are cut
off, not where they stand in the row; a sliding window is measured in depths for the same reason.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vivavoce.models.local.feeding import Fed, Found, Past, Read, call, over

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Limits", "Pack", "Stem", "Untaken", "feed", "packs", "windows"]


class Limits(NamedTuple):
    """Where a pack ends, in tokens after the prompt: a pack's attention is square in its length.

    Up to `joined` several trunks of one prompt share a pack; up to `longest` the branches of one trunk do.
    A prompt has a call of its own where that saves `shared` tokens.
    """

    joined: int = 512
    longest: int = 1536
    shared: int = 64


class Untaken(Exception):
    """The model cannot be given packs."""


class Stem(NamedTuple):
    """A trunk and what is asked along it: for each target its cut, its ids, and the results of its tokens."""

    trunk: Sequence[int]
    targets: Sequence[tuple[int, Sequence[int], Sequence[int]]]


class Pack:
    """A trie of token sequences that begin with the prompt, in an order in which parents come first."""

    def __init__(self, prompt: Sequence[int]) -> None:
        self.tokens = list(prompt)
        self.parents = list(range(-1, len(prompt) - 1))
        self.depths = list(range(len(prompt)))
        self.reads: list[Read] = []
        self._tip = len(prompt) - 1
        self._children: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return len(self.tokens)

    def missing(self, path: Sequence[int]) -> int:
        """How many tokens of a path from the prompt on are not there yet."""
        node = self._tip
        for there, token in enumerate(path):
            if (node, token) not in self._children:
                return len(path) - there
            node = self._children[node, token]
        return 0

    def add(self, before: Sequence[int], target: Sequence[int], outs: Sequence[int]) -> None:
        """Put the target after the prompt and `before`. Its last token is read, and need not be fed."""
        node = self._tip
        for token in before:
            node = self._child(node, token)
        for number, (token, out) in enumerate(zip(target, outs, strict=True)):
            self.reads.append(Read(node, token, out))
            if number + 1 < len(target):
                node = self._child(node, token)

    def _child(self, node: int, token: int) -> int:
        child = self._children.setdefault((node, token), len(self.tokens))
        if child == len(self.tokens):
            self.tokens.append(token)
            self.parents.append(node)
            self.depths.append(self.depths[node] + 1)
        return child

    def seen(self) -> "NDArray[np.bool_]":
        """What each token sees, itself and its ancestors: an array of shape (tokens, tokens)."""
        seen = np.eye(len(self), dtype=bool)
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                seen[node] |= seen[parent]
        return seen


def packs(prompt: Sequence[int], stems: Iterable[Stem], limits: Limits) -> list[Pack]:
    """The stems of one prompt in as few packs as the limits allow, in their order."""
    made = [Pack(prompt)]
    for stem in stems:
        last = max((cut for cut, _, _ in stem.targets), default=0)
        own = last + sum(len(ids) - 1 for _, ids, _ in stem.targets)
        if len(made[-1]) > len(prompt) and len(made[-1]) - len(prompt) + own > limits.joined:
            made.append(Pack(prompt))
        for cut, ids, outs in stem.targets:
            path = [*stem.trunk[:cut], *ids[:-1]]
            grown = len(made[-1]) - len(prompt)
            if grown and grown + made[-1].missing(path) > limits.longest:
                made.append(Pack(prompt))
            made[-1].add(stem.trunk[:cut], ids, outs)
    return made


def feed(
    model: Any, rows: Sequence[Pack], found: Found, fed: Fed, *, past: Past | None = None, start: int = 0
) -> None:
    """Feed packs in one call, without their first `start` tokens, which `past` (of one row) holds."""
    import torch

    longest = max(map(len, rows))
    seen = np.zeros((len(rows), longest - start, longest), dtype=bool)
    depths = np.zeros((len(rows), longest), dtype=np.int64)
    ids = np.zeros((len(rows), longest), dtype=np.int64)
    for row, pack in enumerate(rows):
        seen[row, : len(pack) - start, : len(pack)] = pack.seen()[start:]
        depths[row, : len(pack)] = pack.depths
        ids[row, : len(pack)] = pack.tokens
    device = next(model.parameters()).device
    inputs: dict[str, Any] = {
        "input_ids": torch.from_numpy(ids[:, start:]).to(device),
        "position_ids": torch.from_numpy(depths[:, start:]).to(device),
        "attention_mask": _masks(model, torch.from_numpy(seen), torch.from_numpy(depths), start, device),
        "use_cache": False,
    }
    if past is not None:
        inputs |= over(past, [0] * len(rows))
    fed.tokens += sum(len(pack) - start for pack in rows)
    reads = [[Read(read.slot - start, read.token, read.out) for read in pack.reads] for pack in rows]
    call(model, inputs, reads, found)


def windows(model: Any) -> dict[str, int | None]:
    """The kinds of a model's attention layers, and how far each sees (null: everything before).

    Raises `Untaken` for kinds that are neither full nor a sliding window.
    """
    config = model.config.get_text_config()
    window = getattr(config, "sliding_window", None)
    if not getattr(config, "use_sliding_window", True):
        window = None
    kinds = set(getattr(config, "layer_types", None) or ["sliding_attention" if window else "full_attention"])
    kinds |= {"local"} & set(getattr(config, "attention_layers", ()))  # GPT-Neo's own, by place in the row
    if other := sorted(kinds - {"full_attention", "sliding_attention"}):
        raise Untaken(f"it has layers of the kind {other[0]}")
    return {kind: window if kind == "sliding_attention" else None for kind in sorted(kinds)}


def _masks(model: Any, seen: Any, depths: Any, start: int, device: Any) -> Any:
    """What is added to the attention's scores, (rows, 1, fed, all): of one kind of layer, or by kind."""
    import torch

    masks = {}
    for kind, window in windows(model).items():
        near = seen
        if window is not None:
            near = seen & (depths[:, start:, None] - depths[:, None, :] < window)
        hidden = torch.finfo(model.dtype).min
        near = near.to(device)[:, None]
        masks[kind] = torch.zeros(near.shape, dtype=model.dtype, device=device).masked_fill_(~near, hidden)
    return masks if len(masks) > 1 else next(iter(masks.values()))
