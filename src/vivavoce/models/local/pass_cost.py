"""What a forward pass costs on a model and its device, from three passes that are timed.

A pass takes a fixed time, a time for each place, and one for each pair that attention compares. The second
and third pass have equally many places, once in short rows and once in a single long one.
"""

import random
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from vivavoce.models.local.forward import Read, Results, Row, TokenCounter, causal
from vivavoce.models.local.packing import Pack, feed
from vivavoce.models.local.passes import Shape

PLACES = 1024
"""Places of the larger passes."""
SHORT = 16
"""Tokens of a short row: few enough for the context of any model."""
TURNS = 2
"""Times that each pass is timed; the shortest counts."""


class PassCost(NamedTuple):
    """Seconds of a pass, of each of its places, and of each pair of places; none is negative."""

    call_s: float
    place_s: float
    pair_s: float

    def seconds(self, shapes: Sequence[Shape]) -> float:
        """The seconds that passes of these shapes take together."""
        return sum(self.call_s + self.place_s * s.places + self.pair_s * s.pairs for s in shapes)


def measure_pass_cost(model: Any, clock: Callable[[], float] = time.perf_counter) -> PassCost:
    """Time passes of random tokens: about 2,000 places, each twice, by a clock in seconds."""
    import torch

    with torch.inference_mode():
        (small, small_s), (large, large_s), (wide, wide_s) = _timed(_passes(model), clock)
    place_s = max(0.0, (large_s - small_s) / (large.places - small.places))
    call_s = max(0.0, small_s - place_s * small.places)
    wider_s = wide_s - large_s - place_s * (wide.places - large.places)
    return PassCost(call_s, place_s, max(0.0, wider_s / (wide.pairs - large.pairs)))


class _Pass(NamedTuple):
    """A pass and its shape. It ends when its results are on this machine's side of the device."""

    shape: Shape
    run: Callable[[], object]


def _timed(passes: Sequence[_Pass], clock: Callable[[], float]) -> list[tuple[Shape, float]]:
    """Each shape with the shortest of its times, the passes in turn, after a run that loads what is lazy."""
    shortest = [float("inf")] * len(passes)
    passes[0].run()
    for _ in range(TURNS):
        for number, run_pass in enumerate(passes):
            start = clock()
            run_pass.run()
            shortest[number] = min(shortest[number], clock() - start)
    return [(run_pass.shape, seconds) for run_pass, seconds in zip(passes, shortest, strict=True)]


def _passes(model: Any) -> list[_Pass]:
    """A few rows after a past, as `branched` runs them; then packs: many short ones, and a long one."""
    draw = random.Random(4)
    vocabulary = model.config.get_text_config().vocab_size
    n = PLACES // SHORT
    first, *branches = [[draw.randrange(vocabulary) for _ in range(SHORT)] for _ in range(n)]
    short, long = [_pack(first[:1], [branch]) for branch in branches], [_pack(first[:1], branches)]
    rows = [Row(branch[:-1], [Read(SHORT - 2, branch[-1], 0)]) for branch in branches[:4]]
    results, fed = Results(n), TokenCounter()
    past = causal(model, [Row(first[:1])], results, fed, keep=True)
    return [
        _Pass(Shape(len(rows), SHORT - 1, 1), lambda: causal(model, rows, results, fed, past=past)),
        _Pass(Shape(len(short), max(map(len, short))), lambda: feed(model, short, results, fed)),
        _Pass(Shape(1, len(long[0])), lambda: feed(model, long, results, fed)),
    ]


def _pack(prompt: Sequence[int], branches: Sequence[Sequence[int]]) -> Pack:
    """A pack of branches of which the last token is read."""
    pack = Pack(prompt)
    for number, branch in enumerate(branches):
        pack.add(branch[:-1], branch[-1:], [number])
    return pack
