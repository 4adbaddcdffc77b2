"""The likelihood of a text that may be longer than the model's context, by windows that move along it."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from vivavoce.models import Likelihood
from vivavoce.models.local.feeding import Fed, Found, Read, Row, batches, causal
from vivavoce.models.local.scoring import Branch, NotFinite, Tree, blamed, likelihood

__all__ = ["Window", "rolling", "windows"]


class Window(NamedTuple):
    """What one call sees, and which tokens of the text it gives the probability of: those from `begin` on.

    `seen` ends before the last of them; the last `end - begin` places tell them, one each.
    """

    seen: tuple[int, ...]
    begin: int
    end: int


def windows(ids: Sequence[int], prefix: int, *, context: int, stride: int) -> Iterator[Window]:
    """Windows of at most `context` tokens, each token of the text told by exactly one of them.

    The first begins with the prefix token, which stands for the text's beginning, and tells as many tokens
    as the context holds; each further one tells the next `stride` (the last one fewer), and reaches back as
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
    fed: Fed | None = None,
) -> Likelihood:
    """The likelihood of a text of token ids, each token told once; a text without tokens has probability 1.

    `context` is how many tokens the model sees at once, prefix included; see `windows` for `stride`. The
    `verbatim` run counts over the windows' borders. `fed` counts the positions that go through the model.

    Raises `ValueError` for a model with an encoder, whose text has no beginning to follow, and
    `NotFinite`, with the position in the text.
    """
    import torch

    if model.config.is_encoder_decoder:
        raise ValueError("a model with an encoder gives no probability to a text alone.")
    if model.training:
        model.eval()
    fed = Fed() if fed is None else fed
    found = Found(len(ids))
    made = list(windows(ids, prefix_id, context=context, stride=stride))
    rows = []
    for seen, begin, end in made:
        first = len(seen) - (end - begin)
        rows.append(Row(seen, [Read(first + n - begin, ids[n], n) for n in range(begin, end)]))
    with torch.inference_mode():
        for some in batches(model, rows, batch):
            causal(model, some, found, fed)
        try:
            return likelihood(found, range(len(ids)))
        except NotFinite as error:
            seen, begin, end = next(one for one in made if one.end >= error.position)
            told = Branch(0, tuple(ids[begin:end]))
            alone = blamed(model, [Tree(seen[: len(seen) - (end - begin) + 1], (), (told,))], NotFinite(0, 1))
            raise NotFinite(0, begin + alone.position) from None
