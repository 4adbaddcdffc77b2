"""The fastest way of scoring that is right on a model, found by asking it small trees."""

import random
from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from vivavoce.models.local.packing import Limits, PackingUnsupported, attention_windows
from vivavoce.models.local.scoring import Branch, NotFinite, Tree, Way, score


class WayChoice(NamedTuple):
    """The way that fits a model, and why not a faster one ('' for the fastest)."""

    way: Way
    why: str


_WAY_BY_MODEL: "WeakKeyDictionary[Any, WayChoice]" = WeakKeyDictionary()


def way_for(model: Any) -> WayChoice:
    """The fastest way that is right on this very model, found once by scoring small trees in each way.

    Sums must agree to 1e-4 relative, 2e-2 where the model computes in 16 bits. A model without masks or
    caches (other positions, a state instead of keys, an attention without masks) fails here.
    """
    if model not in _WAY_BY_MODEL:
        _WAY_BY_MODEL[model] = _choose_way(model)
    return _WAY_BY_MODEL[model]


def _choose_way(model: Any) -> WayChoice:
    import torch

    if model.config.is_encoder_decoder:
        return WayChoice("naive", "it has an encoder")
    if _old_window(model):
        return WayChoice(
            "naive", "not all its layers see everything before, and it is not of transformers 5 or later"
        )
    trees = _samples(model.config.get_text_config().vocab_size)
    try:
        reference = [each.logprob for row in score(model, trees, "naive") for each in row]
    except NotFinite:
        return WayChoice("naive", "it gave NaN or an infinite number when it was tried")
    tolerance = 1e-4 if model.dtype in (torch.float32, torch.float64) else 2e-2
    reasons: list[str] = []
    ways: tuple[Way, ...] = ("packed", "branched")
    for way in ways:
        fault = _fault(model, trees, way, reference, tolerance)
        if fault is None:
            return WayChoice(way, "; ".join(reasons))
        reasons.append(f"not {way}: {fault}")
    return WayChoice("naive", "; ".join(reasons))


def _fault(
    model: Any, trees: Sequence[Tree], way: Way, reference: Sequence[float], tolerance: float
) -> str | None:
    """What is wrong with a way on this model; null if its log-probabilities are those of the reference."""
    import torch

    limits = Limits(joined=0, longest=12, shared=1)  # so small that every step of both ways is run
    try:
        logprobs = [each.logprob for row in score(model, trees, way, limits=limits) for each in row]
    except torch.cuda.OutOfMemoryError:
        raise
    except PackingUnsupported as error:
        return str(error)
    except Exception as error:  # third-party model code may raise whatever it likes
        return f"{type(error).__name__}: {str(error).partition(chr(10))[0][:120]}"
    worst = max(abs(a - b) / max(1.0, abs(a)) for a, b in zip(reference, logprobs, strict=True))
    return None if worst <= tolerance else f"a probe is off by {worst:.1g} of its log-probability"


def _old_window(model: Any) -> bool:
    """Whether there are windows, which small trees do not fill, in code that may get them wrong."""
    import transformers

    try:
        if not any(attention_windows(model).values()):
            return False
    except PackingUnsupported:
        pass
    from_transformers = type(model).__module__.startswith("transformers.")
    return not from_transformers or int(transformers.__version__.partition(".")[0]) < 5


def _samples(vocabulary: int) -> list[Tree]:
    """Small trees for the check. They repeat themselves, so that attention matters to a trained model."""
    draw = random.Random(8)
    some = tuple(draw.randrange(vocabulary) for _ in range(7))
    text = some * 4
    second_text = tuple(draw.randrange(vocabulary) for _ in range(5))
    cuts = (0, 2, 5, 8)
    along = [Branch(cut, text[10 + cut : 15 + cut]) for cut in cuts]
    aside = [Branch(cut, (*second_text[: cut % 5], *some)) for cut in cuts]
    return [
        Tree(text[:10], text[10:18], (*along, *aside)),
        Tree(text[:10], (*second_text, *second_text), tuple(Branch(cut, some[:5]) for cut in (3, 6, 9))),
        Tree(text[:6], (), (Branch(0, text[6:12]), Branch(0, second_text), Branch(0, second_text[:1]))),
    ]
