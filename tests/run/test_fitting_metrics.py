"""Which metrics score a run when nobody names one."""

from vivavoce.core.records import Item
from vivavoce.run.tables.fitting_metrics import fitting_metrics


def item(format: str, name: str = "q1", **fields: object) -> Item:
    return Item(benchmark="exam", item=name, format=format, question="Which?", **fields)  # type: ignore[arg-type]


def test_each_format_brings_its_metric():
    mixed = [
        item("mcq", "a", answer=("x",)), item("true_false", "b", answer=("True",)),
        item("list", "c", answer=("x",)), item("short", "d", references=("x",)),
        item("multi_hop_inverse", "e", references=("x",), step=1),
    ]  # fmt: skip

    assert fitting_metrics(mixed) == ("token_f1", "accuracy", "exact", "list_f1", "step_accuracy")
    assert fitting_metrics(mixed[:2]) == ("accuracy",)


def test_no_items_and_a_format_nobody_scores_bring_no_metric():
    assert fitting_metrics([]) == ()
    assert fitting_metrics([item("of_a_plugin")]) == ()


def test_a_metric_that_needs_references_stays_out_where_one_question_has_none():
    answered, open_ = item("short", "a", references=("x",)), item("longform", "b")

    assert fitting_metrics([answered]) == ("token_f1", "exact")
    assert fitting_metrics([answered, open_]) == ("exact",)
    assert fitting_metrics([open_]) == ()


def test_the_metric_of_most_questions_comes_first():
    """What is stored first leads a report."""
    choices = [item("mcq", f"c{k}", answer=("x",)) for k in range(3)]
    short = [item("short", f"s{k}", references=("x",)) for k in range(2)]

    assert fitting_metrics([*short, *choices]) == ("accuracy", "token_f1", "exact")
    assert fitting_metrics(short) == ("token_f1", "exact")
