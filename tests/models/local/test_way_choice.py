"""Which way scores a batch: passes are counted, their cost is measured once, and no number changes."""

import itertools
import random

import pytest
from tests.cases import each_case
from tests.lazy import lazy_module
from tests.models.local.families import VOCABULARY, family

from vivavoce.models.local import way_choice
from vivavoce.models.local.pass_cost import PassCost, measure_pass_cost
from vivavoce.models.local.passes import Shape
from vivavoce.models.local.scoring import Branch, Tree, planned_passes, score

torch = lazy_module("torch")

SHARING = ("packed", "branched")
CPU = PassCost(call_s=1e-2, place_s=4e-4, pair_s=1.6e-7)
"""As measured on one core with 33 million parameters."""
GPU = PassCost(call_s=2e-2, place_s=8e-6, pair_s=1e-9)
"""The shape of a GPU's: a launch costs as much as thousands of places."""


def drawn(seed):
    draw = random.Random(seed)
    return lambda count: tuple(draw.randrange(3, VOCABULARY) for _ in range(count))


def relaxed(kept=5, said=256, target=30, stride=8):
    """What Relaxed Perplexity asks of one question."""
    ids = drawn(1)
    prompt, text = ids(120), ids(target)
    cuts = range(0, said + 1, stride)
    return [Tree(prompt, ids(said), tuple(Branch(cut, text) for cut in cuts)) for _ in range(kept)]


def options(questions=16):
    ids = drawn(2)
    return [
        Tree(ids(60 + 5 * n), (), tuple(Branch(0, ids(4 + k)) for k in range(4))) for n in range(questions)
    ]


def letters(questions=16):
    ids = drawn(3)
    return [
        Tree(ids(60 + 5 * n), (), tuple(Branch(0, (10 + k,)) for k in range(4))) for n in range(questions)
    ]


def plans(trees, model=None):
    return {way: planned_passes(model or family("llama"), trees, way, batch=16) for way in SHARING}


def shapes_seen(model, run):
    """The rows and places of each pass of a model while something runs."""
    seen = []
    hook = model.get_input_embeddings().register_forward_pre_hook(
        lambda _, given: seen.append(tuple(given[0].shape))
    )
    try:
        run()
    finally:
        hook.remove()
    return seen


@pytest.fixture
def measured(monkeypatch):
    """`measured(cost)` has every measurement give that cost, and lists the models that were measured."""

    def stub(cost):
        models = []

        def fake_measure(model, clock):
            models.append(model)
            if isinstance(cost, Exception):
                raise cost
            return cost

        monkeypatch.setattr(way_choice, "measure_pass_cost", fake_measure)
        return models

    return stub


@each_case("trees", [relaxed(2, 64), options(5), letters(5), relaxed(1, 4), options(1)])
@each_case("way", SHARING)
def test_the_planned_passes_are_those_that_the_model_sees(way, trees):
    model = family("llama")
    planned = planned_passes(model, trees, way, batch=3)
    seen = shapes_seen(model, lambda: score(model, trees, way, batch=3))
    assert seen == [(shape.rows, shape.length) for shape in planned]


def test_planning_runs_nothing():
    model = family("llama")
    assert [] == shapes_seen(model, lambda: plans(relaxed(), model))


def test_a_pack_compares_more_pairs_and_branches_take_more_passes():
    found = plans(relaxed())
    packed, branched = found["packed"], found["branched"]
    assert (2, 35) == (len(packed), len(branched))
    assert sum(s.pairs for s in packed) > 3 * sum(s.pairs for s in branched)
    assert sum(s.places for s in branched) <= sum(s.places for s in packed) <= 6_700


def test_pairs_count_what_lies_before():
    assert (12, 12 * (10 + 4)) == (Shape(3, 4, 10).places, Shape(3, 4, 10).pairs)


@each_case(
    ("trees", "cost", "way"),
    [
        (relaxed(), CPU, "branched"),
        (relaxed(), GPU, "packed"),
        (relaxed(3, 64, 8), CPU, "packed"),
        (options(), CPU, "packed"),
        (options(), GPU, "packed"),
        (letters(), CPU, "branched"),  # a call each, and no padding
        (letters(), GPU, "packed"),
        (options(), PassCost(0.0, 0.0, 0.0), "packed"),
    ],
)
def test_the_cheapest_plan_depends_on_the_batch_and_on_the_device(trees, cost, way):
    assert way == way_choice.cheapest_plan(plans(trees), cost)


def test_costs_are_solved_from_the_three_timed_passes():
    """A fake clock stands still but in a pass, which takes what the cost says of its shape."""
    model, now = family("llama"), [0.0]
    true = PassCost(call_s=3.0, place_s=0.25, pair_s=0.001)

    def passed(_, given):
        rows, length = given[0].shape
        before = 1 if (rows, length) == (4, 15) else 0
        now[0] += true.seconds([Shape(rows, length, before)])

    model.get_input_embeddings().register_forward_pre_hook(passed)
    found = measure_pass_cost(model, lambda: now[0])
    assert found == pytest.approx(true, rel=0.08)  # short rows are taken to have no pairs


@pytest.mark.parametrize("times", [itertools.repeat(0.0), itertools.count(0.0, 1.0), [5.0, 1.0] * 6])
def test_no_cost_is_negative_whatever_a_clock_says(times):
    found = measure_pass_cost(family("gpt2"), iter(times).__next__)
    assert min(found) >= 0


def test_measuring_feeds_few_places_once(monkeypatch):
    model, trees = family("llama"), options(8)
    monkeypatch.setattr(way_choice, "MEASURE_AFTER", 1)
    way_choice.ways_for(model)
    first = shapes_seen(model, lambda: way_choice.cheapest_way(model, trees, batch=8))
    assert 3_500 < sum(rows * length for rows, length in first) < 4_500
    assert [] == shapes_seen(model, lambda: way_choice.cheapest_way(model, trees, batch=8))


def test_nothing_is_measured_before_it_pays_or_where_one_way_alone_is_right(measured):
    models = measured(CPU)
    few, many = family("llama"), family("llama", 1)
    assert "packed" == way_choice.cheapest_way(few, relaxed(), batch=16)
    assert [] == models
    ways = [way_choice.cheapest_way(many, relaxed(), batch=16) for _ in range(4)]
    assert ["packed", "packed", "branched", "branched"] == ways  # 6,184 places each, of 16,384
    assert [many] == models
    encoder = family("t5")
    assert {"naive"} == {way_choice.cheapest_way(encoder, relaxed(), batch=16) for _ in range(4)}
    assert [many] == models


def test_without_memory_to_measure_in_it_stays_packed_and_is_not_tried_again(measured, monkeypatch):
    monkeypatch.setattr(way_choice, "MEASURE_AFTER", 1)
    models = measured(torch.cuda.OutOfMemoryError("CUDA out of memory"))
    model = family("llama")
    assert ["packed"] * 2 == [way_choice.cheapest_way(model, relaxed(), batch=16) for _ in range(2)]
    assert [model] == models


def test_another_failure_of_measuring_is_raised(measured, monkeypatch):
    monkeypatch.setattr(way_choice, "MEASURE_AFTER", 1)
    measured(RuntimeError("the device fell off"))
    with pytest.raises(RuntimeError, match="fell off"):
        way_choice.cheapest_way(family("llama"), relaxed(), batch=16)


@pytest.mark.parametrize("trees", [relaxed(2, 64), options(4), letters(4)])
def test_the_choice_changes_no_number(trees):
    model = family("llama")
    packed, branched = ([x for row in score(model, trees, way) for x in row] for way in SHARING)
    assert [x.logprob for x in packed] == pytest.approx([x.logprob for x in branched], rel=1e-5)
    assert [x[1:] for x in packed] == [x[1:] for x in branched]
