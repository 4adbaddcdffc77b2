"""What an evaluator is shown, and how its probabilities become right or wrong."""

from dataclasses import replace

import pytest

from vivavoce.core.records import Item
from vivavoce.evaluators.proxy_task import (
    EXTRACT,
    NO_ARGUMENT,
    Prediction,
    proxy_input,
    text_without_argument,
)

ITEM = Item(benchmark="b", item="q", format="argument", question="Which?", options=("x", "y"), answer=("x",))


def test_the_control_without_an_argument_is_the_task_alone():
    assert "" == proxy_input(ITEM, f" {NO_ARGUMENT}\n").argument
    assert "because" == proxy_input(ITEM, " because ").argument


def test_an_extract_is_read_without_the_context_that_it_was_cut_out_of():
    explained = replace(ITEM, context="line 1\nline 2")
    assert "line 1\nline 2\nWhich?" == proxy_input(explained, "line 2").question
    extracted = replace(explained, meta={"argument": EXTRACT})
    assert ("Which?", "line 2") == (
        proxy_input(extracted, "line 2").question,
        proxy_input(extracted, "line 2").argument,
    )
    assert "Which?" == proxy_input(extracted, NO_ARGUMENT).question
    # an evaluator of no arguments reads the context in their place
    assert ("line 1\nline 2", "") == (text_without_argument(extracted), text_without_argument(explained))


@pytest.mark.parametrize(
    ("probabilities", "right"), [((0.7, 0.3), 1.0), ((0.3, 0.7), 0.0), ((0.5, 0.5), 0.5)]
)
def test_a_tie_is_shared_by_the_options_that_tie(probabilities: tuple[float, ...], right: float):
    assert right == Prediction(probabilities).right(0)
