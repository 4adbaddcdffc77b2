"""`check_variation`: our variations keep its rules, and one that breaks a rule is caught."""

from dataclasses import replace

import pytest

from vivavoce.core.records import Response
from vivavoce.testing import check_variation
from vivavoce.variants import Outcome, Stock, Variation
from vivavoce.variants.bias import Bias
from vivavoce.variants.control import Control
from vivavoce.variants.demographic import Demographic


@pytest.fixture
def stock(question):
    items = [question(f"q{k}", f"He takes {k} mg. What is it?", false_answer="rest") for k in range(6)]
    answers = [
        Response(benchmark="exam", item=i.item, candidate="A", text=f"It is a stone of {i.item} in 5 cases.")
        for i in items
    ]
    return Stock(items, answers, {"A": "candidate"})


@pytest.mark.parametrize(
    "variation", [Control(kind="all"), Bias(type=("recency", "authority")), Demographic(kind="sex")]
)
def test_ours_keep_the_rules(stock, variation):
    check_variation(variation, stock)


class _Careless(Variation):
    def __init__(self, fault):
        self.fault = fault

    def shards(self, stock):
        parts = stock.by_items(2)
        return [(self, part) for part in parts[::-1]] if self.fault == "shards" else []

    def makes(self, stock, client):
        for place, item in enumerate(stock.bases):
            name = {"place": f"shout {place}", "name": ""}.get(self.fault, "shout")
            if self.fault == "reason":
                yield Outcome("shout", item.name)
            elif self.fault == "origin":
                yield Outcome("shout", item.name, (replace(stock.answers[place], edit="shout"),))
            else:
                twin = replace(item, variant=name)
                yield Outcome("shout", item.name, (twin,) * (2 if self.fault == "twice" else 1))


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("place", "depends on the order"),
        ("name", "without a variant's name"),
        ("reason", "gives no reason"),
        ("origin", r"without meta\['origin'\]"),
        ("twice", "twice"),
        ("shards", "other outcomes in shards, or in another order"),
    ],
)
def test_a_fault_is_named(stock, fault, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_variation(_Careless(fault), stock)


def test_a_variation_without_fault_passes(stock):
    check_variation(_Careless("none"), stock)
