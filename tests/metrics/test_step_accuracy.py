"""step_accuracy: 1 for the wrong step, 0 for another or none; no explanation shares no words with one."""

import pytest

from vivavoce.core import registry
from vivavoce.core.records import Item, Located, Reading, Response, Row, Value
from vivavoce.formats import read_response
from vivavoce.metrics import ScoringContext

ITEM = Item(
    benchmark="b", item="q", format="multi_hop_inverse", question="?", steps=("a", "b", "c", "d"), step=3,
    references=("Thrombin makes fibrin.",),
)  # fmt: skip
ANSWER = Response(benchmark="b", item="q", candidate="c", text="")


def mark(parsed: Located) -> Value:
    row = Row(ITEM, ANSWER, Reading("ok", parsed))
    (values,) = registry.build("metric", "step_accuracy").values([row], ScoringContext())
    return values["step_accuracy"]


@pytest.mark.parametrize(
    ("step", "value", "distance"), [(3, 1.0, 0.0), (2, 0.0, 1.0), (4, 0.0, 1.0), (1, 0.0, 2.0)]
)
def test_only_the_wrong_step_counts(step: int, value: float, distance: float) -> None:
    assert Value(value, {"distance": distance}) == mark(Located(step, "why"))


def test_a_step_that_is_not_named_is_a_miss_without_a_distance() -> None:
    """The published harness leaves it unpenalised, so that silence beats being off by one."""
    assert Value(0.0, None, "no step is named") == mark(Located(None, "why"))


def test_the_explanation_does_not_matter() -> None:
    assert mark(Located(3, "")) == mark(Located(3, "why"))


def test_it_marks_the_inverse_chains_that_have_a_step() -> None:
    made = registry.build("metric", "step_accuracy")
    assert (("multi_hop_inverse",), ("step",)) == (made.formats, made.needs)
    assert ["step_accuracy"] == [c.criterion for c in made.criteria]


def test_rows_keep_their_order() -> None:
    texts = ("Step 3", "Step 1", "Thrombin does it.")
    rows = [Row(ITEM, ANSWER, read_response(ITEM, text)) for text in texts]
    values = registry.build("metric", "step_accuracy").values(rows, ScoringContext())
    assert [1.0, 0.0, 0.0] == [v["step_accuracy"].value for v in values]


@pytest.mark.parametrize("spec", ["token_f1", "token_f1(tokens=squad)", "rouge(n=1)", "rouge(n=L)"])
def test_a_step_without_an_explanation_has_no_words_in_common_with_one(spec: str) -> None:
    made = registry.build("metric", spec)
    assert "multi_hop_inverse" in made.formats
    (values,) = made.values([Row(ITEM, ANSWER, read_response(ITEM, "Step 3"))], ScoringContext())
    assert 0.0 == values[made.criteria[0].criterion].value
