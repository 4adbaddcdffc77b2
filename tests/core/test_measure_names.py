"""Names of metrics and measures for readers."""

import pytest

from vivavoce.core.measure_names import measure_name, metric_name

A = "judge(model=openai/gpt-4o, rubric=medgpt)"
B = "judge(model=mistral/large, rubric=medgpt)"


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("medgpt by openai/gpt-4o", A),
        ("medgpt by openai/gpt-4o(seed=1)", "judge(model=openai/gpt-4o(seed=1), rubric=medgpt)"),
        ("safety by fake/j1", "judge(model=fake/j1, rubric='my rubrics/safety.md')"),
        ("medgpt by m (temperature=0.5)", "judge(model=m, rubric=medgpt, temperature=0.5)"),
        ("medgpt", "judge(rubric=medgpt)"),
        ("judge by m", "judge(model=m)"),
        ("judge", "judge"),
        ("medgpt by a jury of openai/gpt-4o, mistral/large", f"jury(of=[{A}, {B}])"),
        ("medgpt by a jury of openai/gpt-4o, mistral/large (rule=mean)", f"jury(of=[{A}, {B}], rule=mean)"),
        (
            "jury of medgpt by openai/gpt-4o, own by m",
            f"jury(of=[{A}, judge(model=m, rubric=own.md)])",
        ),
        ("jury", "jury(of=[])"),
        ("rouge(n=L)", "rouge(n=L)"),
        ("rating(rubric=medgpt)", "rating(rubric=medgpt)"),
        ("overall", "overall"),
        ("no spec (", "no spec ("),
        ("", ""),
    ],
)
def test_a_metric_is_named_by_rubric_and_model(name: str, metric: str) -> None:
    assert name == metric_name(metric)
    assert name == metric_name(name)


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("medgpt by openai/gpt-4o: harm", (A, "harm", "openai/gpt-4o")),
        ("medgpt: harm by gpt-4o", ("judge(rubric=medgpt)", "harm", "gpt-4o")),
        ("medgpt by a jury of openai/gpt-4o, mistral/large: harm", (f"jury(of=[{A}, {B}])", "harm", "jury")),
        ("rouge(n=1): f1", ("rouge(n=1)", "f1", "")),
        ("exact", ("exact", "exact", "")),
        ("rating(rubric=medgpt): harm by Ann", ("rating(rubric=medgpt)", "harm", "Ann")),
        ("accuracy", ("accuracy", "", "")),
    ],
)
def test_a_measure_says_each_part_once(name: str, measure: tuple[str, str, str]) -> None:
    assert name == measure_name(*measure)
