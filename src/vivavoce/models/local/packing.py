"""Packs: the branches of a trunk as one row, each token attending only to its own branch before it.

A pack is a trie over a prompt. A token's position is its depth, so that branches begin where they fork, not
where they stand in the row; a sliding window is measured in depths for the same reason.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vivavoce.models.local.forward import Past, Read, Results, TokenCounter, call, over

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Limits(NamedTuple):
    """The size of a pack, in tokens after the prompt: its attention is quadratic in its length.

    Up to `joined` several trunks of one prompt share a pack; up to `longest` the branches of one trunk do. A
    prompt gets a call of its own where that saves `shared` tokens.
    """

    joined: int = 512
    longest: int = 1536
    shared: int = 64


class PackingUnsupported(Exception):
    """The model cannot run packs."""


class Stem(NamedTuple):
    """A trunk and its targets: for each its cut, its ids, and the numbers of its tokens' results."""

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
        """How many tokens of a path from the prompt on are not in the trie yet."""
        node = self._tip
        for depth, token in enumerate(path):
            if (node, token) not in self._children:
                return len(path) - depth
            node = self._children[node, token]
        return 0

    def add(self, before: Sequence[int], target: Sequence[int], outs: Sequence[int]) -> None:
        """Put the target after the prompt and `before`. Its last token is read, and need not be run."""
        node = self._tip
        for token in before:
            node = self._child(node, token)
        for number, (token, scored) in enumerate(zip(target, outs, strict=True)):
            self.reads.append(Read(node, token, scored))
            if number + 1 < len(target):
                node = self._child(node, token)

    def _child(self, node: int, token: int) -> int:
        child = self._children.setdefault((node, token), len(self.tokens))
        if child == len(self.tokens):
            self.tokens.append(token)
            self.parents.append(node)
            self.depths.append(self.depths[node] + 1)
        return child

    def visibility(self) -> "NDArray[np.bool_]":
        """What each token attends to, itself and its ancestors: an array of shape (tokens, tokens)."""
        visible = np.eye(len(self), dtype=bool)
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                visible[node] |= visible[parent]
        return visible


def packs(prompt: Sequence[int], stems: Iterable[Stem], limits: Limits) -> list[Pack]:
    """The stems of one prompt in as few packs as the limits allow, in their order."""
    packed = [Pack(prompt)]
    for stem in stems:
        last = max((cut for cut, _, _ in stem.targets), default=0)
        own_tokens = last + sum(len(ids) - 1 for _, ids, _ in stem.targets)
        if len(packed[-1]) > len(prompt) and len(packed[-1]) - len(prompt) + own_tokens > limits.joined:
            packed.append(Pack(prompt))
        for cut, ids, outs in stem.targets:
            path = [*stem.trunk[:cut], *ids[:-1]]
            grown = len(packed[-1]) - len(prompt)
            if grown and grown + packed[-1].missing(path) > limits.longest:
                packed.append(Pack(prompt))
            packed[-1].add(stem.trunk[:cut], ids, outs)
    return packed


def feed(
    model: Any,
    rows: Sequence[Pack],
    results: Results,
    fed: TokenCounter,
    *,
    past: Past | None = None,
    start: int = 0,
) -> None:
    """Run packs in one call, without their first `start` tokens, which `past` (of one row) holds."""
    import torch

    longest = max(map(len, rows))
    visible = np.zeros((len(rows), longest - start, longest), dtype=bool)
    depths = np.zeros((len(rows), longest), dtype=np.int64)
    ids = np.zeros((len(rows), longest), dtype=np.int64)
    for row, pack in enumerate(rows):
        visible[row, : len(pack) - start, : len(pack)] = pack.visibility()[start:]
        depths[row, : len(pack)] = pack.depths
        ids[row, : len(pack)] = pack.tokens
    device = next(model.parameters()).device
    inputs: dict[str, Any] = {
        "input_ids": torch.from_numpy(ids[:, start:]).to(device),
        "position_ids": torch.from_numpy(depths[:, start:]).to(device),
        "attention_mask": _masks(model, torch.from_numpy(visible), torch.from_numpy(depths), start, device),
        "use_cache": False,
    }
    if past is not None:
        inputs |= over(model, past, [0] * len(rows))
    fed.tokens += sum(len(pack) - start for pack in rows)
    reads = [[Read(target.slot - start, target.token, target.out) for target in pack.reads] for pack in rows]
    call(model, inputs, reads, results)


def attention_windows(model: Any) -> dict[str, int | None]:
    """The kinds of a model's attention layers, and how far each looks back (null: over everything before).

    Raises `PackingUnsupported` for kinds that are neither full nor a sliding window.
    """
    config = model.config.get_text_config()
    window = getattr(config, "sliding_window", None)
    if not getattr(config, "use_sliding_window", True):
        window = None
    kinds = set(getattr(config, "layer_types", None) or ["sliding_attention" if window else "full_attention"])
    kinds |= {"local"} & set(getattr(config, "attention_layers", ()))  # GPT-Neo's own, by place in the row
    if unknown := sorted(kinds - {"full_attention", "sliding_attention"}):
        raise PackingUnsupported(f"it has layers of the kind {unknown[0]}")
    return {kind: window if kind == "sliding_attention" else None for kind in sorted(kinds)}


def _masks(model: Any, visible: Any, depths: Any, start: int, device: Any) -> Any:
    """The mask to add to attention scores, (rows, 1, run, all): one, or one for each kind of layer."""
    import torch

    masks = {}
    for kind, window in attention_windows(model).items():
        in_window = visible
        if window is not None:
            in_window = visible & (depths[:, start:, None] - depths[:, None, :] < window)
        hidden = torch.finfo(model.dtype).min
        in_window = in_window.to(device)[:, None]
        masks[kind] = torch.zeros(in_window.shape, dtype=model.dtype, device=device).masked_fill_(
            ~in_window, hidden
        )
    return masks if len(masks) > 1 else next(iter(masks.values()))
