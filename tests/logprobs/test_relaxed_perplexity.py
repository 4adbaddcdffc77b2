"""Relaxed Perplexity. Oracle: the formulas of appendix D as loops over a model of known probabilities."""

import itertools
import json
import math
import random
from dataclasses import replace

import numpy as np
import pytest
from tests.cases import each_case
from tests.logprobs.relaxed_model import FakeLetters, said

from vivavoce.core import registry
from vivavoce.core.errors import SpecError
from vivavoce.core.records import Item, Reading, Response, Row, Value
from vivavoce.metrics import ScoringContext
from vivavoce.models.requests import Generation, Reply
from vivavoce.studies.pooling import POOLS, unpoolable

ITEM = Item(benchmark="b", item="q1", format="longform", question="?", must=("ab",))
WAYS = list(
    itertools.product(("log_mean", "sum_log", "max"), ("mean", "sum", "weighted"), ("calibrated", "printed"))
)


def measure(n: int = 8, **settings) -> object:
    stated = ", ".join(f"{key}={value}" for key, value in {"n": n, **settings}.items())
    return registry.build("metric", f"relaxed_perplexity({stated})")


def marked(metric, told: dict, item: Item = ITEM) -> dict[str, Value]:
    """The values of what is read back from JSON, as from a run."""
    text = json.dumps(told)
    response = Response(benchmark="b", item=item.item, candidate="c", logprobs=text)
    (values,) = metric.values([Row(item, response, Reading("ok", json.loads(text)))], ScoringContext())
    return dict(values)


def told_by(model: FakeLetters, metric, item: Item, opened: list[Reply] | None = None) -> dict:
    probe = metric.logprob_requests
    opened = [model.answer(r) for r in probe.sample(item, said)] if opened is None else opened
    followed = [model.likely(r) for r in probe.score(item, said, opened)]
    return dict(probe.to_record(item, opened, followed))


def table(
    *kept: list[float | None], tokens: int = 1, text: str = "a", prefix=None, alike=None, kind="must"
) -> dict:
    """A record with one target: for each kept answer its log-probability by cut, all beginnings different."""
    alike = alike or [
        [None if x is None else (k if c else 0) for c, x in enumerate(r)] for k, r in enumerate(kept)
    ]
    prefix = prefix or [[None if x is None else 0.0 for x in row] for row in kept]
    rows = zip(kept, prefix, alike, strict=True)
    return {
        "targets": [{"kind": kind, "text": text, "tokens": tokens}],
        "samples": [],
        "cuts": [8 * c for c in range(len(kept[0]))],
        "kept": [
            {"prefix": p, "alike": a, "logprobs": [None if x is None else [x] for x in row]}
            for row, p, a in rows
        ],
        "tokeniser": None,
        "truncated": 0,
    }


def nats(told: dict, item: Item = ITEM, **settings) -> float:
    return marked(measure(**settings), told, item)["cross_entropy"].value


def chain(model: FakeLetters, text: str, before: str = "") -> float:
    """The probability of the text after what stands before it."""
    product = 1.0
    for i, letter in enumerate(text):
        product *= model.probability(letter, before + text[:i])
    return product


def printed(model, answers, target, *, n, stride, keep, over, prefixes, norm) -> tuple[float, float]:
    """RCE and RP by the formulas, in probabilities, for the distinct answers that are likeliest."""
    whole = {z: chain(model, z if len(z) == n else f"{z}.") for z in answers}
    ranked = sorted(whole, key=lambda z: -whole[z])
    at_places = []
    for i in range(0, n + 1, stride):
        beginnings = {z[:i] for z in ranked[:keep] if len(z) >= i}
        if not beginnings:
            continue
        branch = {z: chain(model, target, z) for z in beginnings}
        if prefixes == "sum":
            at_places.append(sum(branch.values()))
        elif prefixes == "mean":
            at_places.append(sum(branch.values()) / len(branch))
        else:
            weight = {z: chain(model, z) for z in beginnings}
            at_places.append(sum(branch[z] * weight[z] for z in branch) / sum(weight.values()))
    if over == "sum_log":
        rce = -sum(math.log(p) for p in at_places)
    else:
        rce = -math.log(max(at_places) if over == "max" else sum(at_places) / len(at_places))
    t = len(target)
    by = n + t if norm == "printed" else t * len(at_places) if over == "sum_log" else t
    return rce, math.exp(rce / by)


@each_case(("over", "prefixes", "norm"), WAYS)
def test_equals_the_printed_formulas_in_plain_probabilities(over, prefixes, norm):
    for seed, (n, stride, keep) in itertools.product(range(4), [(9, 2, 4), (8, 4, 1), (5, 1, 6)]):
        model = FakeLetters(seed)
        item = replace(ITEM, item=f"q{seed}", must=("abca",))
        metric = measure(n=n, stride=stride, samples=6, keep=keep, over=over, prefixes=prefixes, norm=norm)
        opened = [model.answer(r) for r in metric.logprob_requests.sample(item, said)]
        wanted = printed(
            model,
            [reply.text for reply in opened],
            "abca",
            n=n,
            stride=stride,
            keep=keep,
            over=over,
            prefixes=prefixes,
            norm=norm,
        )
        got = marked(metric, told_by(model, metric, item, opened), item)
        found = (got["cross_entropy"].value, got["relaxed_perplexity"].value)
        assert pytest.approx(wanted, rel=1e-12, abs=1e-12) == found


HAND = table(
    [math.log(0.5), math.log(0.25)],
    [math.log(0.5), math.log(0.75)],
    prefix=[[0.0, math.log(0.1)], [0.0, math.log(0.3)]],
)
"""Two answers that part after the question: 1/2 there, then 1/4 and 3/4 after beginnings of 0.1 and 0.3."""


@each_case(
    ("over", "prefixes", "probability"),
    [
        ("log_mean", "mean", (0.5 + 0.5) / 2),
        ("log_mean", "sum", (0.5 + 1.0) / 2),
        ("log_mean", "weighted", (0.5 + 0.625) / 2),
        ("sum_log", "mean", 0.5 * 0.5),
        ("sum_log", "sum", 0.5 * 1.0),
        ("sum_log", "weighted", 0.5 * 0.625),
        ("max", "mean", 0.5),
        ("max", "sum", 1.0),
        ("max", "weighted", 0.625),
    ],
)
def test_hand_worked_case_of_two_answers_and_two_places(over, prefixes, probability):
    got = marked(measure(over=over, prefixes=prefixes), HAND)
    rce = -math.log(probability)
    assert pytest.approx(rce) == got["cross_entropy"].value
    t = 2 if over == "sum_log" else 1
    assert pytest.approx(math.exp(rce / t)) == got["relaxed_perplexity"].value
    literal = marked(measure(over=over, prefixes=prefixes, norm="printed"), HAND)
    assert pytest.approx(math.exp(rce / (8 + 1))) == literal["relaxed_perplexity"].value


def test_bits_are_nats_over_the_bytes_of_the_statement():
    """1/2 for the three bytes of µg is 1/3 bit per byte; a sum over 2 places has twice the bytes."""
    told = table([math.log(0.5)] * 2, text="µg")
    assert pytest.approx(1 / 3) == marked(measure(), told)["bits_per_byte"].value
    assert {"numerator": 2.0, "denominator": 6.0} == marked(measure(over="sum_log"), told)[
        "bits_per_byte"
    ].parts


def test_the_pooled_figure_is_the_exponential_of_the_summed_nats_over_the_summed_norm():
    rows = [table([-2.0], tokens=2), table([-9.0], tokens=3)]
    marks = [marked(measure(), told)["pooled"] for told in rows]
    assert [math.exp(1.0), math.exp(3.0)] == [mark.value for mark in marks]
    sums = [[sum(mark.parts[name] for mark in marks) for name in ("numerator", "denominator")]]
    assert pytest.approx(11 / 5) == POOLS["exp_ratio"].figure(np.array(sums)).item()  # on the log scale
    assert all(unpoolable(c) is None for c in measure().criteria if c.pool != "mean")


def test_an_answer_that_ended_counts_only_where_it_was_alive():
    told = table([-1.0, -2.0, -3.0], [-1.0, -4.0, None])
    places = [math.exp(-1), (math.exp(-2) + math.exp(-4)) / 2, math.exp(-3)]
    assert pytest.approx(-math.log(sum(places) / 3)) == nats(told)


def test_places_that_no_answer_reaches_are_left_out():
    short, long = table([-1.0, -2.0]), table([-1.0, -2.0, None, None])
    for over in ("log_mean", "sum_log", "max"):
        assert nats(short, over=over) == nats(long, over=over)
    assert 2 == marked(measure(), long)["cross_entropy"].parts["positions"]


def test_an_empty_answer_leaves_the_place_after_the_question():
    model, metric = FakeLetters(3), measure(samples=2, keep=2)
    told = told_by(model, metric, ITEM, [Reply(text="", generations=(Generation("", (), (), (), True),))] * 2)
    got = marked(metric, told)["cross_entropy"]
    assert pytest.approx(-math.log(chain(model, "ab"))) == got.value
    assert (1, 1) == (got.parts["positions"], got.parts["kept"])


def test_equal_answers_count_once():
    model, metric = FakeLetters(3), measure(n=4, stride=2, samples=4, keep=3)
    once = [Reply(text=text, generations=(model.drawn(text),)) for text in ("abcd", "dcba")]
    twice = [once[0], once[1], once[0], once[0]]
    assert marked(metric, told_by(model, metric, ITEM, once)) == marked(
        metric, told_by(model, metric, ITEM, twice)
    )


def test_the_order_of_the_samples_changes_nothing():
    model, metric = FakeLetters(5), measure(n=6, stride=2)
    opened = [model.answer(request) for request in metric.logprob_requests.sample(ITEM, said)]
    wanted = marked(metric, told_by(model, metric, ITEM, opened))
    for seed in range(5):
        shuffled = random.Random(seed).sample(opened, len(opened))
        assert wanted == marked(metric, told_by(model, metric, ITEM, shuffled))


def test_five_and_ten_kept_answers_compare_by_the_mean_and_not_by_the_sum():
    """All make the statement as likely: the sum falls by log 2 at each of 4 places but the first."""
    five, ten = (table(*[[-3.0] * 4] * kept) for kept in (5, 10))
    for over in ("log_mean", "sum_log", "max"):
        assert pytest.approx(nats(five, over=over)) == nats(ten, over=over)
    fall = nats(five, over="sum_log", prefixes="sum") - nats(ten, over="sum_log", prefixes="sum")
    assert pytest.approx(3 * math.log(2)) == fall


def test_a_wider_stride_looks_better_under_the_printed_norm_only():
    every, second = table([-3.0] * 5, tokens=2), table([-3.0] * 3, tokens=2)

    def value(told, norm):
        return marked(measure(n=32, over="sum_log", norm=norm), told)["relaxed_perplexity"].value

    assert value(second, "printed") < value(every, "printed")
    assert pytest.approx(value(second, "calibrated")) == value(every, "calibrated")


def joint(*tables: dict) -> dict:
    """Records of one target each as one record of them all."""
    kept = [dict(row) for row in tables[0]["kept"]]
    for k, row in enumerate(kept):
        row["logprobs"] = [
            None if cut is None else [t["kept"][k]["logprobs"][c][0] for t in tables]
            for c, cut in enumerate(row["logprobs"])
        ]
    return {**tables[0], "targets": [t["targets"][0] for t in tables], "kept": kept}


def test_of_several_statements_the_mean_counts_and_what_is_nice_counts_apart():
    told = joint(
        table([-2.0], tokens=1), table([-4.0], tokens=4, text="abc"), table([-8.0], tokens=2, kind="nice")
    )
    got = marked(measure(), told)
    assert pytest.approx(3.0) == got["cross_entropy"].value
    assert pytest.approx((math.exp(2) + math.exp(1)) / 2) == got["relaxed_perplexity"].value
    assert {"numerator": 3.0, "denominator": 2.5} == got["pooled"].parts
    assert pytest.approx(3.0 / math.log(2) / 2) == got["bits_per_byte"].value
    nice = marked(measure(statements="nice"), told)
    assert (8.0, math.exp(4)) == (nice["cross_entropy"].value, nice["relaxed_perplexity"].value)


def test_of_references_the_likeliest_by_the_byte_counts_and_of_equals_the_first():
    per_byte = joint(table([-2.0], kind="reference"), table([-3.0], kind="reference", text="ab"))
    assert 3.0 == nats(per_byte)
    equals = joint(table([-2.0], kind="reference"), table([-4.0], kind="reference", text="ab"))
    assert 2.0 == nats(equals)


def test_only_items_with_such_statements_are_marked():
    bare = Item(benchmark="b", item="q", format="longform", question="?")
    marks = {"must": measure().applies_to, "nice": measure(statements="nice").applies_to}
    for kind, own in {"must": {"must", "references"}, "nice": {"nice"}}.items():
        for field in ("must", "nice", "references"):
            assert (field in own) is marks[kind](replace(bare, **{field: ("x",)}))
    assert not marks["must"](bare)
    assert not marks["must"](replace(bare, must=(" ",)))


def test_what_the_samples_left_to_chance_is_the_jackknifes_error():
    """Without either of two answers 1 and 3 nats are left: sqrt(1/2 (1 + 1)) = 1."""
    told = table([-1.0], [-3.0], alike=[[0], [1]])
    assert pytest.approx(1.0) == marked(measure(), told)["cross_entropy"].parts["mc_se"]
    alike = table([-1.0], [-1.0], alike=[[0], [0]])
    assert 0.0 == marked(measure(), alike)["cross_entropy"].parts["mc_se"]


def test_leaving_an_answer_out_keeps_the_beginning_it_shares():
    told = table([-1.0, -2.0], [-1.0, -2.0], [-1.0, -5.0], alike=[[0, 0], [0, 0], [0, 2]])
    parts = marked(measure(over="sum_log"), told)["cross_entropy"].parts
    mixed = 1 - math.log((math.exp(-2) + math.exp(-5)) / 2)
    left = [mixed, mixed, 3.0]
    mean = sum(left) / 3
    assert pytest.approx(math.sqrt(2 / 3 * sum((x - mean) ** 2 for x in left))) == parts["mc_se"]
    assert 1.5 == parts["beginnings"]


def test_one_answer_has_no_error_to_state():
    assert "mc_se" not in marked(measure(), table([-1.0, -2.0]))["cross_entropy"].parts


def test_a_sum_of_probabilities_may_pass_one_and_says_so_in_its_range():
    told = table([-0.1, -0.1], [-0.1, -0.1])
    assert nats(told, prefixes="sum") < 0 < nats(told)
    bounds = {c.criterion: c.low for c in measure(prefixes="sum").criteria}
    assert {"cross_entropy": None, "relaxed_perplexity": 0.0, "pooled": 0.0, "bits_per_byte": None} == bounds
    bounds = {c.criterion: c.low for c in measure().criteria}
    assert {"cross_entropy": 0.0, "relaxed_perplexity": 1.0, "pooled": 1.0, "bits_per_byte": 0.0} == bounds


def test_certainty_is_no_nats_and_a_perplexity_of_one():
    got = marked(measure(), table([0.0, 1e-9], [0.0, 0.0]))
    assert (0.0, 1.0, 0.0) == tuple(
        got[c].value for c in ("cross_entropy", "relaxed_perplexity", "bits_per_byte")
    )


def test_a_perplexity_too_large_for_a_number_is_cut_and_said_to_be():
    got = marked(measure(), table([-800.0]))
    assert (800.0, None) == (got["cross_entropy"].value, got["cross_entropy"].note)
    assert 1e308 < got["relaxed_perplexity"].value < math.inf
    assert "exponential of 800" in got["relaxed_perplexity"].note
    assert {"numerator": 800.0, "denominator": 1.0} == got["pooled"].parts


def test_very_small_probabilities_do_not_vanish():
    assert pytest.approx(5000 - math.log((1 + math.exp(-3)) / 2)) == nats(
        table([-5000.0], [-5003.0], alike=[[0], [1]])
    )


def test_a_cut_question_is_noted():
    assert "7 tokens" in marked(measure(), {**table([-1.0]), "truncated": 7})["cross_entropy"].note


def test_that_the_ends_were_not_told_is_noted_where_answers_were_left_out_for_it():
    def note(*samples, times=1, truncated=0):
        told = {**table([-1.0]), "samples": list(samples), "truncated": truncated}
        told["kept"][0]["times"] = times
        return marked(measure(), told)["cross_entropy"].note

    closed, untold, cut = ({"ended": e, "closing": c} for e, c in [(True, -1.0), (True, None), (False, None)])
    assert "the end is not told of 2 of the answers that ended" in note(untold, closed, untold, cut)
    assert "is not told of 1 of" in note({"ended": True}, cut)  # of before it was stored
    assert note(closed, cut) is None
    assert note(untold, untold, times=2) is None  # all are kept, however they rank
    assert "7 tokens of the question were left out; " in note(untold, untold, truncated=7)


def test_a_sum_of_logarithms_and_the_printed_norm_favour_short_answers_and_the_others_do_not():
    """Five nats at each of 1, 9 and 33 places, for a statement of 8 tokens, as the settings' text has it."""

    lengths = [table([-5.0] * places, tokens=8) for places in (1, 9, 33)]

    def values(criterion, **settings):
        return [marked(measure(n=256, **settings), told)[criterion].value for told in lengths]

    assert [5.0, 45.0, 165.0] == values("cross_entropy", over="sum_log")
    literal = values("relaxed_perplexity", over="sum_log", norm="printed")
    assert [1.02, 1.19, 1.87] == [round(value, 2) for value in literal]
    assert pytest.approx([math.exp(5 / 8)] * 3) == values("relaxed_perplexity", over="sum_log")
    for over in ("log_mean", "max"):
        assert pytest.approx([5.0] * 3) == values("cross_entropy", over=over)
    said_so = type(measure()).__doc__
    assert all(figure in said_so for figure in ("5, 45, 165", "1, 9, 33 places", "1.02, 1.19, 1.87"))


@each_case(
    ("change", "why"),
    [
        ({"kept": []}, "do not fit"),
        ({"cuts": [0, 8]}, "do not fit"),
        ({"targets": []}, "not what the probe"),
        ({"kept": [{"prefix": [0.0], "alike": [None], "logprobs": [None]}]}, "do not fit"),
        ({"kept": [{"prefix": [0.0], "alike": [0], "logprobs": [["x"]]}]}, "not what the probe"),
        ({"kept": [{"prefix": [0.0], "alike": [10**40], "logprobs": [[-1.0]]}]}, "not what the probe"),
        ({"kept": [{"prefix": [0.0], "alike": [0]}]}, "'logprobs'"),
        ({"kept": [{"prefix": [0.0], "alike": [0], "logprobs": [[0.5]]}]}, "above 0"),
    ],
)
def test_a_record_that_is_no_such_thing_fails_with_a_reason(change, why):
    got = marked(measure(), {**table([-1.0]), **change})
    assert {"failed"} == {value.status for value in got.values()}
    assert all(why in value.note and value.value is None for value in got.values())


def test_the_length_of_an_answer_must_be_given():
    with pytest.raises(SpecError, match="needs n=a whole number"):
        registry.build("metric", "relaxed_perplexity")


@pytest.mark.parametrize("wrong", ["n=0", "n=8, keep=11", "n=8, top_p=0", "n=8, over=all"])
def test_a_setting_that_means_nothing_is_refused(wrong):
    with pytest.raises(SpecError, match="relaxed_perplexity"):
        registry.build("metric", f"relaxed_perplexity({wrong})")


def test_ways_of_summing_share_what_was_asked():
    names = {measure(over=o, prefixes=p, norm=n).logprob_requests.name for o, p, n in WAYS}
    assert {measure(statements="nice").logprob_requests.name} == names
    assert measure(stride=16).logprob_requests.name not in names
