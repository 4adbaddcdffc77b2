"""The ways of scoring that are right on a model, and the cheapest of them for a batch.

Which are right is tried with small trees. Which is cheapest depends on the batch, the model and the device:
the passes of each way are counted beforehand, and what a pass costs is measured once. Packs need few passes
and compare many places; branches after a cache need many passes and compare few.
"""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

from vivavoce.models.local.batching import free_memory, is_out_of_memory
from vivavoce.models.local.packing import Limits, PackingUnsupported, attention_windows
from vivavoce.models.local.pass_cost import PassCost, measure_pass_cost
from vivavoce.models.local.passes import Shape
from vivavoce.models.local.scoring import Branch, NotFinite, Tree, Way, planned_passes, score

MEASURE_AFTER = 16_384
"""Places asked for where two ways are right before their cost is measured, which itself takes some 4,000."""

Sharing = Literal["packed", "branched"]


class Ways(NamedTuple):
    """The ways that are right on a model, and why not another one ('' if none is wrong)."""

    ways: tuple[Way, ...]
    why: str

    def __str__(self) -> str:
        return " or ".join(self.ways)


@dataclass
class _Profile:
    """A model's ways, the places asked for so far, and what a pass costs (null: not measured)."""

    ways: Ways
    places: int = 0
    cost: PassCost | None = None
    memory_full: bool = False


_PROFILES: "WeakKeyDictionary[Any, _Profile]" = WeakKeyDictionary()


def ways_for(model: Any) -> Ways:
    """The ways that are right on this very model, found once by scoring small trees in each way.

    Sums must agree to 1e-4 relative, 2e-2 where the model computes in 16 bits. A model without masks or
    caches (other positions, a state instead of keys, an attention without masks) fails here. `naive` is right
    on every model, and named where no other way is.
    """
    return _profile(model).ways


def cheapest_way(model: Any, trees: Sequence[Tree], *, batch: int) -> Way:
    """The way that costs least for these trees, of those that are right on the model.

    It is `packed` until so many places were asked for that measuring pays (`MEASURE_AFTER`), and where there
    is no memory to measure in.
    """
    profile = _profile(model)
    sharing: list[Sharing] = [way for way in ("packed", "branched") if way in profile.ways.ways]
    if len(sharing) < 2:
        return profile.ways.ways[0]
    plans = {way: planned_passes(model, trees, way, batch=batch) for way in sharing}
    profile.places += sum(shape.places for shape in plans["packed"])
    if profile.cost is None and not profile.memory_full and profile.places >= MEASURE_AFTER:
        profile.cost = _measured(model)
        profile.memory_full = profile.cost is None
    return "packed" if profile.cost is None else cheapest_plan(plans, profile.cost)


def cheapest_plan(plans: dict[Sharing, list[Shape]], cost: PassCost) -> Sharing:
    """The way whose passes take the shortest time together; of equals the first."""
    return min(plans, key=lambda way: cost.seconds(plans[way]))


def _measured(model: Any) -> PassCost | None:
    """On a processor in its own seconds, so that other programs do not count; null where memory is full."""
    on_cpu = next(model.parameters()).device.type == "cpu"
    try:
        return measure_pass_cost(model, time.process_time if on_cpu else time.perf_counter)
    except Exception as error:
        if not is_out_of_memory(error):
            raise
    free_memory()  # outside the except block: what it held on to is free now
    return None


def _profile(model: Any) -> _Profile:
    if model not in _PROFILES:
        _PROFILES[model] = _Profile(_right_ways(model))
    return _PROFILES[model]


def _right_ways(model: Any) -> Ways:
    if reason := _cannot_share(model):
        return Ways(("naive",), reason)
    trees = _samples(model.config.get_text_config().vocab_size)
    try:
        reference = [target.logprob for row in score(model, trees, "naive") for target in row]
    except NotFinite:
        return Ways(("naive",), "it gave NaN or an infinite number when it was tried")
    return _tried(model, trees, reference)


def _tried(model: Any, trees: Sequence[Tree], reference: Sequence[float]) -> Ways:
    """The ways of sharing that give the log-probabilities of the reference, else `naive`."""
    import torch

    tolerance = 1e-4 if model.dtype in (torch.float32, torch.float64) else 2e-2
    sharing: tuple[Way, ...] = ("packed", "branched")
    faults = {way: _fault(model, trees, way, reference, tolerance) for way in sharing}
    right = tuple(way for way in sharing if faults[way] is None)
    reason = "; ".join(f"not {way}: {fault}" for way, fault in faults.items() if fault is not None)
    return Ways(right or ("naive",), reason)


def _cannot_share(model: Any) -> str:
    """Why a model of this kind can share nothing; '' for one to be tried."""
    if model.config.is_encoder_decoder:
        return "it has an encoder"
    if _old_window(model):
        return "not all its layers see everything before, and it is not of transformers 5 or later"
    return ""


def _fault(
    model: Any, trees: Sequence[Tree], way: Way, reference: Sequence[float], tolerance: float
) -> str | None:
    """What is wrong with a way on this model; null if its log-probabilities are those of the reference."""
    import torch

    limits = Limits(joined=0, longest=12, shared=1)  # so small that every step of both ways is run
    try:
        logprobs = [target.logprob for row in score(model, trees, way, limits=limits) for target in row]
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
    tokens = tuple(draw.randrange(vocabulary) for _ in range(7))
    text = tokens * 4
    second_text = tuple(draw.randrange(vocabulary) for _ in range(5))
    cuts = (0, 2, 5, 8)
    branches = [Branch(cut, text[10 + cut : 15 + cut]) for cut in cuts]
    aside = [Branch(cut, (*second_text[: cut % 5], *tokens)) for cut in cuts]
    return [
        Tree(text[:10], text[10:18], (*branches, *aside)),
        Tree(text[:10], (*second_text, *second_text), tuple(Branch(cut, tokens[:5]) for cut in (3, 6, 9))),
        Tree(text[:6], (), (Branch(0, text[6:12]), Branch(0, second_text), Branch(0, second_text[:1]))),
    ]
