"""The exact likelihood of many texts after several cuts of one trunk, on a torch model and token ids.

Relaxed Perplexity (the BSC group's "Automatic Evaluation of Healthcare LLMs Beyond Question-Answering",
section 4) asks for a target's probability after every few tokens of a completion; options ask for several
targets at one place. A sequence for each computes what they have in common again and again. Three ways, equal
up to rounding, of which `way_choice` takes the cheapest for a batch:

- `packed`: all branches of a trunk in one row, under a mask by which each sees its own past alone;
- `branched`: keys and values of prompt and trunk once, and the branches of a cut as a batch after them;
- `naive`: a whole sequence for each branch.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from math import isfinite
from typing import Any, Literal, NamedTuple

import numpy as np

from vivavoce.models.local.forward import Read, Results, Row, TokenCounter, batches, call, causal, padded
from vivavoce.models.local.packing import Limits, Stem, packs
from vivavoce.models.local.passes import ForwardPasses, Passes, Shape
from vivavoce.models.requests import Likelihood

Way = Literal["packed", "branched", "naive"]

LIMITS = Limits()


class Branch(NamedTuple):
    """A target's tokens after the first `cut` tokens of the trunk."""

    cut: int
    ids: tuple[int, ...]


class Tree(NamedTuple):
    """A prompt, a trunk generated after it, and the branches whose likelihood is requested.

    The prompt has at least one token; for a model with an encoder it is what the encoder reads.
    """

    prompt: tuple[int, ...]
    trunk: tuple[int, ...]
    branches: tuple[Branch, ...]


class NotFinite(ValueError):
    """The model gives no probability: NaN, or an infinite logit.

    `tree` and `branch` count from 0 in the request, `position` from 1 in the target.
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
    fed: TokenCounter | None = None,
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
        _check_tree(tree)
    if model.training:
        model.eval()
    fed = TokenCounter() if fed is None else fed
    with torch.inference_mode():
        if model.config.is_encoder_decoder:
            outs, results = _score_encoder_decoder(model, trees, batch, fed)
        elif way == "naive":
            outs, results = _score_naive(model, trees, batch, fed)
        else:
            outs, results, groups = _shared(trees)
            _RUN[way](ForwardPasses(model, results, fed), groups, batch, limits)
        try:
            return [
                [likelihood(results, spans, number, place) for number, spans in enumerate(row)]
                for place, row in enumerate(outs)
            ]
        except NotFinite as error:
            raise locate_fault(model, trees, error) from None


def _check_tree(tree: Tree) -> None:
    if not tree.prompt:
        raise ValueError("a prompt needs one token at least: the first token's probability follows it.")
    if not all(0 <= branch.cut <= len(tree.trunk) for branch in tree.branches):
        raise ValueError(f"a cut lies outside its trunk of {len(tree.trunk)} tokens.")


Outs = list[list[range]]
"""For each tree and branch the numbers of its tokens' results."""
Groups = dict[tuple[int, ...], list[Stem]]
"""Trunks and their targets by prompt."""


def likelihood(results: Results, outs: range, branch: int = 0, tree: int = 0) -> Likelihood:
    """The likelihood of a branch from its tokens' results, which may be none. Raises `NotFinite`."""
    logprobs = results.logprobs[outs.start : outs.stop]
    if not np.isfinite(logprobs).all():
        raise NotFinite(branch, int(np.argmin(np.isfinite(logprobs))) + 1, tree)
    likeliest = results.likeliest[outs.start : outs.stop]
    verbatim = len(outs) if likeliest.all() else int(np.argmin(likeliest))
    return Likelihood(float(logprobs.sum()), len(outs), verbatim)


def locate_fault(model: Any, trees: Sequence[Tree], error: NotFinite) -> NotFinite:
    """The error with the place where it begins, if a branch alone, run no further than it is read, shows it.

    A NaN spoils its whole row: attention multiplies the value of a masked token by 0, and 0 times NaN is NaN.
    """

    def spoilt(tree: Tree, cut: int, ids: tuple[int, ...]) -> bool:
        results = Results(len(ids))
        if model.config.is_encoder_decoder:
            _, results = _score_encoder_decoder(
                model, [tree._replace(branches=(Branch(cut, ids),))], 1, TokenCounter()
            )
        elif ids:
            row = _full_row((*tree.prompt, *tree.trunk[:cut]), ids, range(len(ids)))
            causal(model, [Row(row.tokens[:-1], row.reads)], results, TokenCounter())
        return not all(map(isfinite, results.logprobs))

    for number, tree in enumerate(trees):
        for place, (cut, ids) in enumerate(tree.branches):
            if (number, place) >= (error.tree, error.branch) and spoilt(tree, cut, ids):
                ends = range(1, len(ids) + 1)
                first = bisect_left(ends, True, key=lambda end: spoilt(tree, cut, ids[:end]))
                return NotFinite(place, ends[first], number)
    return error


def _numbered(trees: Sequence[Tree]) -> tuple[Outs, Results]:
    """Numbers for the results of every branch."""
    ends = [0, *accumulate(len(branch.ids) for tree in trees for branch in tree.branches)]
    spans = (range(*pair) for pair in pairwise(ends))
    return [[next(spans) for _ in tree.branches] for tree in trees], Results(ends[-1])


def _shared(trees: Sequence[Tree]) -> tuple[Outs, Results, Groups]:
    """The trees by prompt, each with those branches that no tree before it has: equal ones share results."""
    outs, results = _numbered(trees)
    first: dict[tuple[Any, ...], range] = {}
    groups: Groups = {}
    for tree, spans in zip(trees, outs, strict=True):
        targets = []
        for number, (cut, ids) in enumerate(tree.branches):
            spans_of = first.setdefault((tree.prompt, tree.trunk[:cut], ids), spans[number])
            if spans_of is spans[number] and ids:
                targets.append((cut, ids, spans_of))
            spans[number] = spans_of
        if targets:
            groups.setdefault(tree.prompt, []).append(Stem(tree.trunk, targets))
    return outs, results, groups


def planned_passes(
    model: Any, trees: Sequence[Tree], way: Literal["packed", "branched"], *, batch: int = 8
) -> list[Shape]:
    """The passes that `score` would run for these trees, without running one."""
    passes = Passes(model)
    _RUN[way](passes, _shared(trees)[2], batch, LIMITS)
    return passes.shapes


def _run_packed(passes: Passes, groups: Groups, batch: int, limits: Limits) -> None:
    unpacked = []
    for prompt, stems in groups.items():
        rows = packs(prompt, stems, limits)
        if (len(rows) - 1) * (len(prompt) - 1) < limits.shared:
            unpacked += rows
            continue
        past = passes.causal([Row(prompt[:-1])], keep=True)
        for rows_of_batch in passes.batches(rows, batch):
            passes.packed(rows_of_batch, past=past, start=len(prompt) - 1)
    for rows_of_batch in passes.batches(unpacked, batch):
        passes.packed(rows_of_batch)


def _run_branched(passes: Passes, groups: Groups, batch: int, limits: Limits) -> None:
    for prompt, stems in groups.items():
        past, begin = None, 0
        if (len(stems) - 1) * (len(prompt) - 1) >= limits.shared:
            begin = len(prompt) - 1
            past = passes.causal([Row(prompt[:begin])], keep=True)
        for start in range(0, len(stems), batch):
            stems_of_batch = stems[start : start + batch]
            spines = [_spine(prompt, stem, begin) for stem in stems_of_batch]
            grown = passes.causal(spines, past=past, keep=True)
            for cut, rows in _branch_rows(stems_of_batch).items():
                # Keys and values up to the cut: a branch must not see the trunk beyond it.
                short = passes.shortened(grown, len(prompt) + cut)
                for part in passes.batches(rows, batch):
                    passes.causal(part, past=short)


_RUN = {"packed": _run_packed, "branched": _run_branched}


def _branch_rows(stems: Sequence[Stem]) -> dict[int, list[Row]]:
    """By cut the branches after their first token, which the spine reads."""
    rows: dict[int, list[Row]] = {}
    for number, stem in enumerate(stems):
        for cut, ids, spans in stem.targets:
            if len(ids) > 1:
                reads = [Read(slot, ids[slot + 1], spans[slot + 1]) for slot in range(len(ids) - 1)]
                rows.setdefault(cut, []).append(Row(ids[:-1], reads, number))
    return rows


def _spine(prompt: Sequence[int], stem: Stem, begin: int) -> Row:
    """Prompt and trunk as far as a branch needs them, with the first token of every branch read."""
    tokens = [*prompt[begin:], *stem.trunk[: max(cut for cut, _, _ in stem.targets)]]
    n_context = len(prompt) - begin - 1
    return Row(tokens, [Read(n_context + cut, ids[0], spans[0]) for cut, ids, spans in stem.targets])


def _score_naive(model: Any, trees: Sequence[Tree], batch: int, fed: TokenCounter) -> tuple[Outs, Results]:
    outs, results = _numbered(trees)
    rows = [
        _full_row((*tree.prompt, *tree.trunk[:cut]), ids, span)
        for tree, spans in zip(trees, outs, strict=True)
        for (cut, ids), span in zip(tree.branches, spans, strict=True)
        if ids
    ]
    for rows_of_batch in batches(model, rows, batch):
        causal(model, rows_of_batch, results, fed)
    return outs, results


def _full_row(before: Sequence[int], ids: Sequence[int], outs: Sequence[int]) -> Row:
    reads = [Read(len(before) - 1 + number, *pair) for number, pair in enumerate(zip(ids, outs, strict=True))]
    return Row((*before, *ids), reads)


def _score_encoder_decoder(
    model: Any, trees: Sequence[Tree], batch: int, fed: TokenCounter
) -> tuple[Outs, Results]:
    """Each prompt through the encoder once, each branch through the decoder after its trunk."""
    outs, results = _numbered(trees)
    prompts = _decoder_rows(trees, outs, model.config.decoder_start_token_id)
    longest_first = sorted(prompts, key=len, reverse=True)
    for start in range(0, len(longest_first), batch):
        rows_of_batch = longest_first[start : start + batch]
        ids, real = padded(model, rows_of_batch)
        fed.tokens += sum(map(len, rows_of_batch))
        states = model.get_encoder()(input_ids=ids, attention_mask=real).last_hidden_state
        rows = [
            Row(row.tokens, row.reads, n) for n, prompt in enumerate(rows_of_batch) for row in prompts[prompt]
        ]
        for part in batches(model, rows, batch):
            after = [row.after for row in part]
            decoder_ids, mask = padded(model, [row.tokens for row in part])
            fed.tokens += sum(map(len, part))
            inputs = {
                "encoder_outputs": (states[after],),
                "attention_mask": real[after],
                "decoder_input_ids": decoder_ids,
                "decoder_attention_mask": mask,
                "use_cache": False,
            }
            call(model, inputs, [row.reads for row in part], results)
    return outs, results


def _decoder_rows(trees: Sequence[Tree], outs: Outs, start: int) -> dict[tuple[int, ...], list[Row]]:
    """By prompt what the decoder reads: the start token, the trunk and the branch without its last token."""
    rows: dict[tuple[int, ...], list[Row]] = {}
    for tree, spans in zip(trees, outs, strict=True):
        for (cut, ids), span in zip(tree.branches, spans, strict=True):
            if ids:
                row = _full_row((start, *tree.trunk[:cut]), ids, span)
                rows.setdefault(tree.prompt, []).append(Row(row.tokens[:-1], row.reads))
    return rows


class Window(NamedTuple):
    """The tokens of one call, and which tokens of the text it scores: those from `begin` on.

    `ids` ends before the last of them; the last `end - begin` places tell them, one each.
    """

    ids: tuple[int, ...]
    begin: int
    end: int


def rolling_windows(ids: Sequence[int], prefix: int, *, context: int, stride: int) -> Iterator[Window]:
    """Windows of at most `context` tokens; each token of the text is scored in exactly one of them.

    The first begins with the prefix token, which stands for the text's beginning, and scores as many tokens
    as the context holds; each further one scores the next `stride` (the last one fewer), and reaches back as
    far as the context allows, so that each token follows at least `context - stride + 1` others. A stride as
    long as the context gives windows that share one token: `get_rolling_token_windows(…, context_len=1)` of
    lm-eval 0.4.13, which is equal to this for `context_len = context - stride + 1`.

    Raises `ValueError` for a stride outside 1 to `context`.
    """
    if not 1 <= stride <= context:
        raise ValueError(f"the stride must be from 1 to the context's {context} tokens, not {stride}.")
    text = (prefix, *ids)
    begin, end = 0, min(context, len(ids))
    while begin < end:
        yield Window(tuple(text[max(0, end - context) : end]), begin, end)
        begin, end = end, min(end + stride, len(ids))


def rolling(
    model: Any,
    ids: Sequence[int],
    prefix_id: int,
    *,
    context: int,
    stride: int,
    batch: int = 8,
    fed: TokenCounter | None = None,
) -> Likelihood:
    """The likelihood of a text of token ids, each token scored once; a text without tokens has probability 1.

    `context` is how many tokens the model takes at once, prefix included; `rolling_windows` explains
    `stride`. The `verbatim` run counts over the windows' borders. `fed` counts the positions that go through
    the model.

    Raises `ValueError` for a model with an encoder, which gives no probability to a text alone, and
    `NotFinite`, with the position in the text.
    """
    import torch

    if model.config.is_encoder_decoder:
        raise ValueError("a model with an encoder gives no probability to a text alone.")
    if model.training:
        model.eval()
    fed = TokenCounter() if fed is None else fed
    results = Results(len(ids))
    all_windows = list(rolling_windows(ids, prefix_id, context=context, stride=stride))
    rows = []
    for visible, begin, end in all_windows:
        first = len(visible) - (end - begin)
        rows.append(Row(visible, [Read(first + n - begin, ids[n], n) for n in range(begin, end)]))
    with torch.inference_mode():
        for rows_of_batch in batches(model, rows, batch):
            causal(model, rows_of_batch, results, fed)
        try:
            return likelihood(results, range(len(ids)))
        except NotFinite as error:
            visible, begin, end = next(window for window in all_windows if window.end >= error.position)
            branch = Branch(0, tuple(ids[begin:end]))
            blame = locate_fault(
                model, [Tree(visible[: len(visible) - (end - begin) + 1], (), (branch,))], NotFinite(0, 1)
            )
            raise NotFinite(0, begin + blame.position) from None
