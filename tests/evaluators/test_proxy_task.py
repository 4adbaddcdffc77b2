"""What an evaluator is shown, and how its probabilities become right or wrong."""

import pytest

from vivavoce.core.records import Item
from vivavoce.evaluators.proxy_task import NO_ARGUMENT, Prediction, proxy_input

ITEM = Item(benchmark="b", item="q", format="argument", question="Which?", options=("x", "y"), answer=("x",))


def test_the_control_without_an_argument_is_the_task_alone():
    assert "" == proxy_input(ITEM, f" {NO_ARGUMENT}\n").argument
    assert "because" == proxy_input(ITEM, " because ").argument


@pytest.mark.parametrize(
    ("probabilities", "right"), [((0.7, 0.3), 1.0), ((0.3, 0.7), 0.0), ((0.5, 0.5), 0.5)]
)
def test_a_tie_is_shared_by_the_options_that_tie(probabilities: tuple[float, ...], right: float):
    assert right == Prediction(probabilities).right(0)
