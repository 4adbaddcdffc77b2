"""The exact likelihood of many texts after several cuts of one trunk, on a torch model and token ids.

Relaxed Perplexity (the BSC group's "Automatic Evaluation of Healthcare LLMs Beyond Question-Answering",
section 4) asks for a target's probability after every few tokens of a completion; options ask for several
targets at one place. A sequence for each computes what they have in common again and again. Three ways, equal
up to rounding:

- `packed`: all branches of a trunk in one row, under a mask by which each sees its own past alone;
- `branched`: keys and values of prompt and trunk once, and the branches of a cut as a batch after them;
- `naive`: a whole sequence for each branch.
"""

import random
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import isfinite
from typing import Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from vivavoce.models import Likelihood
from vivavoce.models.local.feeding import Fed, Found, Read, Row, batches, call, causal, padded
from vivavoce.models.local.packing import Limits, Stem, Untaken, feed, packs, windows

__all__ = ["Branch", "Chosen", "Fed", "NotFinite", "Tree", "Way", "blamed", "likelihood", "score", "way_for"]

Way = Literal["packed", "branched", "naive"]

LIMITS = Limits()


class Branch(NamedTuple):
    """A target's tokens after the first `cut` tokens of the trunk."""

    cut: int
    ids: tuple[int, ...]


class Tree(NamedTuple):
    """A prompt, what the model said after it, and the branches whose likelihood is asked.

    The prompt has at least one token; for a model with an encoder it is what the encoder reads.
    """

    prompt: tuple[int, ...]
    trunk: tuple[int, ...]
    branches: tuple[Branch, ...]


class Chosen(NamedTuple):
    """The way that fits a model, and why not a faster one ('' for the fastest)."""

    way: Way
    why: str


class NotFinite(ValueError):
    """The model gives no probability: NaN, or an infinite logit.

    `tree` and `branch` count from 0 in what was asked, `position` from 1 in the target.
    """

    def __init__(self, branch: int, position: int, tree: int = 0) -> None:
        super().__init__(
            f"the model gives NaN or an infinite number for token {position} of target {branch + 1}."
        )
        self.tree, self.branch, self.position = tree, branch, position


def score(
    model: Any,
    trees: Sequence[Tree],
    way: Way,
    *,
    batch: int = 8,
    fed: Fed | None = None,
    limits: Limits = LIMITS,
) -> list[list[Likelihood]]:
    """The likelihood of every branch of every tree, in their order.

    At most `batch` rows go through the model at once; `fed` counts the positions that do. A model with an
    encoder is asked the naive way whatever `way` says. A branch without tokens has probability 1. Where two
    tokens are equally likely, the one with the lower id is what the model would say.

    Raises `NotFinite`, and `ValueError` for a prompt without tokens or a cut outside its trunk.
    """
    import torch

    for tree in trees:
        if not tree.prompt:
            raise ValueError("a prompt needs one token at least: the first token's probability follows it.")
        if not all(0 <= branch.cut <= len(tree.trunk) for branch in tree.branches):
            raise ValueError(f"a cut lies outside its trunk of {len(tree.trunk)} tokens.")
    if model.training:
        model.eval()
    fed = Fed() if fed is None else fed
    ask = {"packed": _packed, "branched": _branched, "naive": _naive}[way]
    if model.config.is_encoder_decoder:
        ask = _encoded
    with torch.inference_mode():
        outs, found = ask(model, trees, batch, fed, limits)
        try:
            return [
                [likelihood(found, own, number, place) for number, own in enumerate(row)]
                for place, row in enumerate(outs)
            ]
        except NotFinite as error:
            raise blamed(model, trees, error) from None


Outs = list[list[range]]
"""For each tree and branch the numbers of its tokens' results."""


def likelihood(found: Found, outs: range, branch: int = 0, tree: int = 0) -> Likelihood:
    """The likelihood of a branch from its tokens' results, of which there may be none. Raises `NotFinite`."""
    logprobs = found.logprobs[outs.start : outs.stop]
    if not np.isfinite(logprobs).all():
        raise NotFinite(branch, int(np.argmin(np.isfinite(logprobs))) + 1, tree)
    likeliest = found.likeliest[outs.start : outs.stop]
    verbatim = len(outs) if likeliest.all() else int(np.argmin(likeliest))
    return Likelihood(float(logprobs.sum()), len(outs), verbatim)


def blamed(model: Any, trees: Sequence[Tree], error: NotFinite) -> NotFinite:
    """The error with the place where it begins, if a branch alone, fed no further than it is read, shows it.

    A NaN spoils its whole row: attention multiplies what a token must not see by 0, and 0 times NaN is NaN.
    """

    def spoilt(tree: Tree, cut: int, ids: tuple[int, ...]) -> bool:
        found = Found(len(ids))
        if model.config.is_encoder_decoder:
            _, found = _encoded(model, [tree._replace(branches=(Branch(cut, ids),))], 1, Fed(), LIMITS)
        elif ids:
            row = _whole((*tree.prompt, *tree.trunk[:cut]), ids, range(len(ids)))
            causal(model, [Row(row.tokens[:-1], row.reads)], found, Fed())
        return not all(map(isfinite, found.logprobs))

    for number, tree in enumerate(trees):
        for place, (cut, ids) in enumerate(tree.branches):
            if (number, place) >= (error.tree, error.branch) and spoilt(tree, cut, ids):
                ends = range(1, len(ids) + 1)
                first = bisect_left(ends, True, key=lambda end: spoilt(tree, cut, ids[:end]))
                return NotFinite(place, ends[first], number)
    return error


def _numbered(trees: Sequence[Tree]) -> tuple[Outs, Found]:
    """Numbers for the results of every branch."""
    ends = [0, *accumulate(len(branch.ids) for tree in trees for branch in tree.branches)]
    spans = (range(*pair) for pair in pairwise(ends))
    return [[next(spans) for _ in tree.branches] for tree in trees], Found(ends[-1])


def _shared(trees: Sequence[Tree]) -> tuple[Outs, Found, dict[tuple[int, ...], list[Stem]]]:
    """The trees by prompt, each with those branches that no tree before it has: equal ones share results."""
    outs, found = _numbered(trees)
    first: dict[tuple[Any, ...], range] = {}
    groups: dict[tuple[int, ...], list[Stem]] = {}
    for tree, spans in zip(trees, outs, strict=True):
        own = []
        for number, (cut, ids) in enumerate(tree.branches):
            spans_of = first.setdefault((tree.prompt, tree.trunk[:cut], ids), spans[number])
            if spans_of is spans[number] and ids:
                own.append((cut, ids, spans_of))
            spans[number] = spans_of
        if own:
            groups.setdefault(tree.prompt, []).append(Stem(tree.trunk, own))
    return outs, found, groups


def _packed(model: Any, trees: Sequence[Tree], batch: int, fed: Fed, limits: Limits) -> tuple[Outs, Found]:
    outs, found, groups = _shared(trees)
    alone = []
    for prompt, stems in groups.items():
        rows = packs(prompt, stems, limits)
        if (len(rows) - 1) * (len(prompt) - 1) < limits.shared:
            alone += rows
            continue
        past = causal(model, [Row(prompt[:-1])], found, fed, keep=True)
        for some in batches(model, rows, batch):
            feed(model, some, found, fed, past=past, start=len(prompt) - 1)
    for some in batches(model, alone, batch):
        feed(model, some, found, fed)
    return outs, found


def _branched(model: Any, trees: Sequence[Tree], batch: int, fed: Fed, limits: Limits) -> tuple[Outs, Found]:
    outs, found, groups = _shared(trees)
    for prompt, stems in groups.items():
        past, begin = None, 0
        if (len(stems) - 1) * (len(prompt) - 1) >= limits.shared:
            begin = len(prompt) - 1
            past = causal(model, [Row(prompt[:begin])], found, fed, keep=True)
        for at in range(0, len(stems), batch):
            some = stems[at : at + batch]
            spines = [_spine(prompt, stem, begin) for stem in some]
            grown = causal(model, spines, found, fed, past=past, keep=True)
            assert grown is not None
            rows: dict[int, list[Row]] = {}
            for number, stem in enumerate(some):
                for cut, ids, own in stem.targets:
                    if len(ids) > 1:
                        reads = [Read(slot, ids[slot + 1], own[slot + 1]) for slot in range(len(ids) - 1)]
                        rows.setdefault(cut, []).append(Row(ids[:-1], reads, number))
            for cut, those in rows.items():
                short = [tuple(one[..., : len(prompt) + cut, :] for one in layer) for layer in grown]
                for part in batches(model, those, batch):
                    causal(model, part, found, fed, past=short)
    return outs, found


def _spine(prompt: Sequence[int], stem: Stem, begin: int) -> Row:
    """Prompt and trunk as far as a branch needs them, with the first token of every branch read."""
    tokens = [*prompt[begin:], *stem.trunk[: max(cut for cut, _, _ in stem.targets)]]
    before = len(prompt) - begin - 1
    return Row(tokens, [Read(before + cut, ids[0], own[0]) for cut, ids, own in stem.targets])


def _naive(model: Any, trees: Sequence[Tree], batch: int, fed: Fed, limits: Limits) -> tuple[Outs, Found]:
    outs, found = _numbered(trees)
    rows = [
        _whole((*tree.prompt, *tree.trunk[:cut]), ids, own)
        for tree, spans in zip(trees, outs, strict=True)
        for (cut, ids), own in zip(tree.branches, spans, strict=True)
        if ids
    ]
    for some in batches(model, rows, batch):
        causal(model, some, found, fed)
    return outs, found


def _whole(before: Sequence[int], ids: Sequence[int], outs: Sequence[int]) -> Row:
    reads = [Read(len(before) - 1 + number, *pair) for number, pair in enumerate(zip(ids, outs, strict=True))]
    return Row((*before, *ids), reads)


def _encoded(model: Any, trees: Sequence[Tree], batch: int, fed: Fed, limits: Limits) -> tuple[Outs, Found]:
    """Each prompt through the encoder once, each branch through the decoder after its trunk."""
    outs, found = _numbered(trees)
    prompts: dict[tuple[int, ...], list[Row]] = {}
    start = model.config.decoder_start_token_id
    for tree, spans in zip(trees, outs, strict=True):
        for (cut, ids), own in zip(tree.branches, spans, strict=True):
            if ids:
                row = _whole((start, *tree.trunk[:cut]), ids, own)
                prompts.setdefault(tree.prompt, []).append(Row(row.tokens[:-1], row.reads))
    asked = sorted(prompts, key=len, reverse=True)
    for at in range(0, len(asked), batch):
        some = asked[at : at + batch]
        ids, real = padded(model, some)
        fed.tokens += sum(map(len, some))
        states = model.get_encoder()(input_ids=ids, attention_mask=real).last_hidden_state
        rows = [Row(row.tokens, row.reads, n) for n, prompt in enumerate(some) for row in prompts[prompt]]
        for part in batches(model, rows, batch):
            after = [row.after for row in part]
            said, mask = padded(model, [row.tokens for row in part])
            fed.tokens += sum(map(len, part))
            inputs = {
                "encoder_outputs": (states[after],),
                "attention_mask": real[after],
                "decoder_input_ids": said,
                "decoder_attention_mask": mask,
                "use_cache": False,
            }
            call(model, inputs, [row.reads for row in part], found)
    return outs, found


_CHOSEN: "WeakKeyDictionary[Any, Chosen]" = WeakKeyDictionary()


def way_for(model: Any) -> Chosen:
    """The fastest way that is right on this very model, found out once by asking it small trees both ways.

    Sums must agree to 1e-4 relative, 2e-2 where the model computes in 16 bits. A model that does not know
    of masks or caches (other positions, a state instead of keys, an attention without masks) falls out here.
    """
    if model not in _CHOSEN:
        _CHOSEN[model] = _choose(model)
    return _CHOSEN[model]


def _choose(model: Any) -> Chosen:
    import torch

    if model.config.is_encoder_decoder:
        return Chosen("naive", "it has an encoder")
    if _old_window(model):
        return Chosen(
            "naive", "not all its layers see everything before, and it is not of transformers 5 or later"
        )
    trees = _samples(model.config.get_text_config().vocab_size)
    try:
        right = [one.logprob for row in score(model, trees, "naive") for one in row]
    except NotFinite:
        return Chosen("naive", "it gave NaN or an infinite number when it was tried")
    limits = Limits(joined=0, longest=12, shared=1)  # every step of both ways is gone through
    near = 1e-4 if model.dtype in (torch.float32, torch.float64) else 2e-2
    why = []
    ways: tuple[Way, ...] = ("packed", "branched")
    for way in ways:
        try:
            told = [one.logprob for row in score(model, trees, way, limits=limits) for one in row]
        except torch.cuda.OutOfMemoryError:
            raise
        except Untaken as error:
            why.append(f"not {way}: {error}")
        except Exception as error:  # whatever code a model brings may raise whatever it likes
            why.append(f"not {way}: {type(error).__name__}: {str(error).partition(chr(10))[0][:120]}")
        else:
            worst = max(abs(a - b) / max(1.0, abs(a)) for a, b in zip(right, told, strict=True))
            if worst <= near:
                return Chosen(way, "; ".join(why))
            why.append(f"not {way}: a probe is off by {worst:.1g} of its log-probability")
    return Chosen("naive", "; ".join(why))


def _old_window(model: Any) -> bool:
    """Whether there are windows, which small trees do not fill, in code that may get them wrong."""
    import transformers

    try:
        if not any(windows(model).values()):
            return False
    except Untaken:
        pass
    ours = type(model).__module__.startswith("transformers.")
    return not ours or int(transformers.__version__.partition(".")[0]) < 5


def _samples(vocabulary: int) -> list[Tree]:
    """Small trees for the check. They repeat themselves: a trained model then minds what it sees where."""
    draw = random.Random(8)
    some = tuple(draw.randrange(vocabulary) for _ in range(7))
    text = some * 4
    other = tuple(draw.randrange(vocabulary) for _ in range(5))
    cuts = (0, 2, 5, 8)
    along = [Branch(cut, text[10 + cut : 15 + cut]) for cut in cuts]
    aside = [Branch(cut, (*other[: cut % 5], *some)) for cut in cuts]
    return [
        Tree(text[:10], text[10:18], (*along, *aside)),
        Tree(text[:10], (*other, *other), tuple(Branch(cut, some[:5]) for cut in (3, 6, 9))),
        Tree(text[:6], (), (Branch(0, text[6:12]), Branch(0, other), Branch(0, other[:1]))),
    ]
