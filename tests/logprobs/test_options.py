"""Options by likelihood: the harness's rules, ties, what is missing, and what hangs on the places alone."""

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import each_case
from tests.logprobs.choosing import DRUGS, by_content, by_place, examined, fake, marked, mcq, said, statement

from vivavoce.core.errors import SpecError
from vivavoce.core.records import Value
from vivavoce.core.registry import build, signature
from vivavoce.core.text import label

NORMS = ("raw", "byte", "token", "unconditional")


def kept(
    texts: Sequence[str], logprobs: Sequence[Any], alone: Sequence[float] = (), tokens: Sequence[int] = ()
) -> dict[str, Any]:
    """What is stored of one order."""
    order = {"shift": 0, "put": texts, "logprob": logprobs, "tokens": tokens or [1] * len(texts)}
    return {
        "orders": [order],
        "alone": dict(zip(texts, alone, strict=False)),
        "tokeniser": None,
        "truncated": 0,
    }


TRIMESTER = ("Yes", "No, never in pregnancy", "Only after the first trimester", "With folic acid 5 mg")
CLASSES = ("β-blocker", "ACE inhibitor", "α₂-agonist", "Diurétique de l'anse", "Nitrate")
GERMAN = ("ja", "nein, nur bei schwerer Hyperkaliämie (> 6,5 mmol/l)", "µg", "unklar")
DOSES = ("Aspirin 75 mg", "Warfarin")
# acc, acc_bytes and acc_mutual_info of lm-eval 0.4.13 (ConfigurableTask.process_results) for these options,
# key, log-probabilities and log-probabilities without context: all eight outcomes.
HARNESS = [
    (CLASSES, 2, [-10.874, -12.402, -8.224, -11.695, -6.352], [-9.532, -17.565, -7.402, -16.558, -10.952],
     (0, 0, 0)),
    (TRIMESTER, 2, [-3.605, -16.739, -12.083, -10.478], [-5.761, -17.999, -34.821, -12.855], (0, 1, 1)),
    (CLASSES, 4, [-8.149, -10.78, -11.974, -10.653, -6.392], [-9.645, -14.802, -9.155, -17.658, -11.727],
     (1, 0, 0)),
    (GERMAN, 1, [-2.542, -34.229, -2.876, -3.973], [-4.11, -36.146, -2.422, -7.196], (0, 1, 0)),
    (DOSES, 0, [-9.138, -10.52], [-20.853, -12.382], (1, 1, 1)),
    (DOSES, 1, [-8.66, -6.299], [-10.12, -13.897], (1, 0, 1)),
    (CLASSES, 1, [-8.291, -17.073, -9.094, -20.268, -9.94], [-10.539, -20.501, -11.264, -13.881, -5.433],
     (0, 0, 1)),
    (GERMAN, 2, [-2.578, -57.427, -1.752, -8.013], [-1.563, -60.805, -3.738, -8.681], (1, 1, 0)),
]  # fmt: skip


@each_case(("options", "key", "logprobs", "alone", "wanted"), HARNESS)
def test_the_harness_calls_the_same_answers_right(
    options: tuple[str, ...], key: int, logprobs: list[float], alone: list[float], wanted: tuple[int, ...]
) -> None:
    told = kept(options, logprobs, alone)
    found = [
        marked(f"options(norm={norm}, of=text)", mcq(options, key), told)["accuracy"].value
        for norm in ("raw", "byte", "unconditional")
    ]
    assert list(wanted) == found


@pytest.mark.parametrize(
    ("norm", "own", "other"),
    [
        ("raw", -6.0, -4.0),
        ("byte", -6.0 / 7, -4.0 / 4),  # "µg/min" is six characters and seven bytes
        ("token", -6.0 / 3, -4.0 / 1),
        ("unconditional", -6.0 + 9.0, -4.0 + 5.0),
    ],
)
def test_a_margin_worked_by_hand(norm: str, own: float, other: float) -> None:
    told = kept(("µg/min", "gram"), (-6.0, -4.0), (-9.0, -5.0), (3, 1))
    found = marked(f"options(norm={norm}, of=text)", mcq(("µg/min", "gram"), 0), told)
    assert found["margin"].value == pytest.approx(own - other)
    assert found["margin"].parts == pytest.approx({"key": own, "other": other})
    assert float(own > other) == found["accuracy"].value


def test_a_tie_is_shared_and_noted() -> None:
    found = marked("options", mcq(key=2), kept("ABCD", (-1.0, -2.0, -1.0, -1.0)))
    assert (pytest.approx(1 / 3), "3 options are equally likely") == (
        found["accuracy"].value, found["accuracy"].note,
    )  # fmt: skip
    assert 0.0 == found["margin"].value
    assert 0.0 == marked("options", mcq(key=1), kept("ABCD", (-1.0, -2.0, -1.0, -1.0)))["accuracy"].value


def test_rounding_breaks_no_tie_and_a_real_difference_does() -> None:
    near = marked("options", mcq(key=0), kept("ABCD", (-1.0, -1.0 + 1e-8, -5.0, -5.0)))
    far = marked("options", mcq(key=0), kept("ABCD", (-1.0, -1.0 + 1e-4, -5.0, -5.0)))
    assert (0.5, 0.0) == (near["accuracy"].value, far["accuracy"].value)


@pytest.mark.parametrize("spec", ["options", "options(rotate=true)"])
def test_an_option_without_a_probability_fails_every_criterion_and_is_named(spec: str) -> None:
    model = fake(by_place({"A": -1.0, "B": -math.inf, "C": -2.0, "D": -3.0}))
    note = "the model told no probability of the option 'B'"
    found = examined(spec, mcq(), model)
    assert {
        c.criterion: Value(None, note=note, status="failed") for c in build("metric", spec).criteria
    } == found


def test_an_option_unknown_without_the_question_fails_only_where_that_counts() -> None:
    told = kept("ABCD", (-1.0, -2.0, -3.0, -4.0), (-1.0, -1.0, -1.0))
    assert "failed" == marked("options(norm=unconditional)", mcq(), told)["accuracy"].status
    assert "ok" == marked("options", mcq(), told)["accuracy"].status


@pytest.mark.parametrize("of", ["letter", "text"])
@pytest.mark.parametrize(("key", "right"), [("True", 0.0), ("False", 1.0)])
def test_a_statement_is_marked_by_its_two_words(of: str, key: str, right: float) -> None:
    model = fake(by_place({"True": -2.0, "False": -1.5}))
    found = examined(f"options(of={of})", statement(key), model)
    assert (right, pytest.approx(right - 0.5)) == (found["accuracy"].value, found["margin"].value)


def test_tokens_cut_from_the_question_are_noted() -> None:
    told = kept("ABCD", (-1.0, -2.0, -3.0, -4.0)) | {"truncated": 12}
    assert "12 tokens of the question were left out to fit the model's context" == (
        marked("options", mcq(), told)["margin"].note
    )


def test_a_pick_that_goes_with_the_content_has_no_position_bias() -> None:
    model = fake(by_content(dict(zip(DRUGS, (-3.0, -1.0, -2.0, -4.0), strict=True))))
    found = examined("options(rotate=true)", mcq(key=1), model)
    assert {"options": 4, "pick_1": 1, "pick_2": 1, "pick_3": 1, "pick_4": 1} == found["position_bias"].parts
    assert (0.0, 0.0, 1.0, 1.0) == tuple(
        found[name].value for name in ("position_bias", "option_gap", "accuracy", "margin")
    )


def test_a_pick_that_goes_with_the_letter_is_right_in_one_order_of_k() -> None:
    model = fake(by_place({"A": -3.0, "B": -1.0, "C": -2.0, "D": -4.0}))
    found = examined("options(rotate=true)", mcq(key=1), model)
    assert (1.0, 0.25) == (found["position_bias"].value, found["accuracy"].value)
    assert {"options": 4, "pick_1": 0, "pick_2": 4, "pick_3": 0, "pick_4": 0} == found["position_bias"].parts
    halves = {"published": 1.0, "rotated": 0.0}
    assert halves == found["accuracy"].parts
    assert halves | {"options": 4.0, "place": 2.0} == found["option_gap"].parts
    assert 1.0 == found["option_gap"].value


def test_picks_of_two_places_worked_by_hand() -> None:
    """Two of three orders pick A, one C: |2/3 - 1/3| + |0 - 1/3| + |1/3 - 1/3| = 2/3; half of it over 2/3."""
    order = {"put": "ABC", "tokens": [1, 1, 1]}
    # Option 0 stands first, last, and in the middle; the pick is A, A, C.
    told = {
        "orders": [
            {"shift": 0, **order, "logprob": [-1.0, -2.0, -3.0]},
            {"shift": 1, **order, "logprob": [-2.0, -1.0, -3.0]},
            {"shift": 2, **order, "logprob": [-3.0, -1.0, -2.0]},
        ]
    }
    found = marked("options(rotate=true)", mcq(DRUGS[:3], 0), told)
    assert {"options": 3, "pick_1": 2, "pick_2": 0, "pick_3": 1} == found["position_bias"].parts
    assert pytest.approx(0.5) == found["position_bias"].value
    assert pytest.approx(1 / 3) == found["accuracy"].value
    assert pytest.approx((1.0 - 1.0 - 2.0) / 3) == found["margin"].value
    assert {"published": 1.0, "rotated": 0.0, "options": 3.0, "place": 1.0} == found["option_gap"].parts


def test_options_all_alike_favour_no_place() -> None:
    found = examined("options(rotate=true)", mcq(), fake(lambda before, text: -1.0))
    assert (0.0, 0.25, 0.0) == tuple(
        found[name].value for name in ("position_bias", "accuracy", "option_gap")
    )
    assert 1.0 == (found["position_bias"].parts or {})["pick_3"]


@settings(deadline=None)
@given(
    worth=st.lists(st.floats(-50, -0.01), min_size=2, max_size=7, unique=True),
    order=st.randoms(use_true_random=False),
    of=st.sampled_from(["letter", "text"]),
)
def test_the_published_order_changes_nothing_where_the_content_decides(
    worth: list[float], order: Any, of: str
) -> None:
    texts = [f"drug {n}" for n in range(len(worth))]
    told = dict(zip(texts, worth, strict=True))
    first = mcq(texts, 0)
    shuffled = order.sample(texts, len(texts))
    second = mcq(shuffled, shuffled.index(texts[0]))
    found = [
        examined(f"options(rotate=true, of={of})", item, fake(by_content(told))) for item in (first, second)
    ]
    for name in ("accuracy", "margin", "position_bias", "option_gap"):
        assert found[0][name].value == pytest.approx(found[1][name].value)
    assert 0.0 == pytest.approx(found[0]["position_bias"].value)


@settings(deadline=None)
@given(
    k=st.integers(2, 30),
    norm=st.sampled_from(NORMS),
    numbers=st.randoms(use_true_random=False),
)
def test_every_value_lies_within_the_limits_of_its_criterion(k: int, norm: str, numbers: Any) -> None:
    model = fake(lambda before, text: -0.01 - numbers.random() * 9, lambda text: numbers.randint(1, 4))
    spec = f"options(norm={norm}, rotate=true)"
    found = examined(spec, mcq([f"drug {n}" for n in range(k)], k - 1), model, said(prompt="cue"))
    for c in build("metric", spec).criteria:
        value = found[c.criterion].value
        assert c.low is None or c.low <= value
        assert c.high is None or value <= c.high
    parts = found["position_bias"].parts
    assert k == parts["options"] == pytest.approx(sum(parts[f"pick_{j}"] for j in range(1, k + 1)))


def test_thirty_options_are_put_as_letters_and_pairs_of_letters() -> None:
    texts = [f"drug {n}" for n in range(30)]
    model = fake(by_place({label(n): -float(n + 1) for n in range(30)}))
    assert 1.0 == examined("options", mcq(texts, 0), model)["accuracy"].value
    found = examined("options(norm=byte)", mcq(texts, 26), fake(lambda before, text: -2.0))
    assert 1 / 4 == found["accuracy"].value, "AA to AD are two bytes each"


def test_norms_share_what_is_asked_unless_it_takes_the_options_alone() -> None:
    names = {
        build("metric", f"options(norm={norm})").logprob_requests.name for norm in ("raw", "byte", "token")
    }
    assert {"choices(of=letter)"} == names
    assert (
        "choices(of=letter, unconditional=true)"
        == build("metric", "options(norm=unconditional)").logprob_requests.name
    )


def test_rotations_are_of_multiple_choice_only() -> None:
    assert ("mcq",) == build("metric", "options(rotate=true)").formats
    assert "options(norm=raw, of=letter, rotate=false)@1" == signature(build("metric", "options"))


def test_a_norm_that_there_is_not_is_refused() -> None:
    with pytest.raises(SpecError, match=r"norm takes raw\|byte\|token\|unconditional"):
        build("metric", "options(norm=character)")
