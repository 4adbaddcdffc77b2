"""What a judge's reply says: never guessed, never an exception but `Unreadable`."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import each_case
from tests.lengths import length

from vivavoce.core.prompts import Unreadable
from vivavoce.core.records import Item, Unit
from vivavoce.judging.loading import load, shipped
from vivavoce.judging.rubric import Rubric

FIVE = ("comprehension", "reasoning", "knowledge_recall", "demographic_bias", "harm")
GOOD = dict(zip(FIVE, (4.0, 3.0, 4.5, 5.0, 2.0), strict=True))
BARE = json.dumps({"reason": "Fine.", **GOOD})
CORRECT = """---
name: c
version: 1
source: s
kind: mark
reference: false
criteria:
  - name: quality
    key: question 1
    ask: Is it good?
    scale: [0, 5]
---
{{ answer }} {{ criteria }} {{ form }}
"""
ITEM = Item(benchmark="b", item="i", format="short", question="?", references=("r",), rubric=())


def marks(text: str, name: str = "medgpt") -> Any:
    rubric = load(name)
    (ask,) = rubric.requests(ITEM, "an answer")
    return rubric.read_reply(text, ask)


def one(text: str, written: Callable[..., Rubric]) -> float:
    rubric = written(text=CORRECT)
    (ask,) = rubric.requests(ITEM, "an answer")
    return rubric.read_reply(text, ask)["quality"]


def with_harm(value: object) -> str:
    return json.dumps({"reason": "", **GOOD, "harm": value})


@each_case(
    "text",
    [
        BARE,
        json.dumps(GOOD),
        f"```json\n{BARE}\n```",
        f"```\n{BARE}\n```",
        f"Here is my evaluation:\n{BARE}",
        f"{BARE}\n\nI hope this helps: 5 of 5 stars.",
        f"Weighing {{it}} all, {{ }} I say\n\n```json\n{BARE}\n```\nDone.",
        f'<think>harm: 0, or {{"harm": 1}}?</think>{BARE}',
        f"harm: 0\n</think>\n{BARE}",
        json.dumps({"scores": GOOD, "reason": "Fine."}),
        json.dumps({"evaluation": {"marks": GOOD}}),
        json.dumps({k: str(v) for k, v in GOOD.items()}),
        json.dumps({k: f"{v:g}/5" for k, v in GOOD.items()}),
        json.dumps({k: f"**{v:g}**" for k, v in GOOD.items()}),
        json.dumps({k: f"{v:g} out of 5" for k, v in GOOD.items()}),
        json.dumps({k: {"score": v, "reason": "Because of 2 steps."} for k, v in GOOD.items()}),
        json.dumps({k.upper(): v for k, v in GOOD.items()}),
        json.dumps({k.replace("_", " ").title(): v for k, v in GOOD.items()}),
        json.dumps({k.replace("_", "-"): v for k, v in GOOD.items()}),
        json.dumps({f"{k}_score": v for k, v in GOOD.items()}),
        json.dumps({**GOOD, "overall score": 9, "confidence": "high"}),
        f"{BARE}\n{BARE}",
        f"{json.dumps(GOOD)}\nOnce more:\n{BARE}",
        "\n".join(f"{k}: {v:g}" for k, v in GOOD.items()),
        "\n".join(f"**{k}** (criterion): {v:g}" for k, v in GOOD.items()),
        "\n".join(f"- **{k.replace('_', ' ').title()}:** {v:g}/5" for k, v in GOOD.items()),
        "\n".join(f"{n}. {k} = {v:g}" for n, (k, v) in enumerate(GOOD.items(), 1)),
        "\n".join(f"### {k} score: {v:g}" for k, v in GOOD.items()),
        "\n".join(f"{k}: {v:g} - It names CD4 cells." for k, v in GOOD.items()),
        "| criterion | mark |\n|---|---|\n" + "\n".join(f"| {k} | {v:g} |" for k, v in GOOD.items()),
        "\n".join(f"{k}: The answer is discussed here.\n{k}: {v:g}" for k, v in GOOD.items()),
        BARE.replace("}", ",}").replace(", ", ",\n"),
        BARE.replace("Fine.", "Fine.\nharm: 0\nIndeed."),
    ],
)
def test_a_clear_reply_is_read(text: str) -> None:
    assert GOOD == marks(text)


@each_case(
    ("text", "why"),
    [
        ("", "empty reply"),
        ("  \n", "empty reply"),
        ("...", "empty reply"),
        ("<think>hm</think>", "empty reply"),
        (f"<think>{BARE}", "the reply ends within its thinking"),
        ("I'm sorry, but I can't help with that.", "the judge refused"),
        ("I’m sorry, I cannot do this.", "the judge refused"),
        ("As an AI, I have no view.", "the judge refused"),
        ("I cannot evaluate medical answers.\nharm: 0", "the judge refused"),
        ('{"reason": "I am unable to assess this."}', "the judge refused"),
        (with_harm("2-3"), "harm is '2-3', not one number"),
        (with_harm("2 - 3"), "harm is '2 - 3', not one number"),
        (with_harm("2–3"), "harm is '2–3', not one number"),
        (with_harm("2 to 3"), "not one number"),
        (with_harm("3 or 4"), "not one number"),
        (with_harm("3, or 4"), "not one number"),
        (with_harm("4 (maybe 3)"), "not one number"),
        (with_harm("4 (or three)"), "not one number"),
        (with_harm("4?"), "not one number"),
        (with_harm("~4"), "harm is '~4', no number"),
        (with_harm("about 4"), "no number"),
        (with_harm("four or five"), "no number"),
        (with_harm("four"), "no number"),
        (with_harm("4,5"), "not one number"),
        (with_harm("4.0.1"), "not one number"),
        (with_harm("4/10"), "harm is '4/10', but the scale ends at 5"),
        (with_harm("NaN"), "no number"),
        (with_harm(float("nan")), "no number"),
        (with_harm(float("inf")), "no number"),
        (with_harm(True), "harm is true, no number"),
        (with_harm(False), "harm is false, no number"),
        (with_harm(None), "harm is null, no number"),
        (with_harm([4]), "harm is a list, no number"),
        (with_harm({"reason": "none"}), "no value for harm"),
        (with_harm({"score": 4, "rating": 3}), "two values for harm"),
        (with_harm(6), "harm is out of range: 6 is not a number from 0 to 5"),
        (with_harm(-1), "harm is out of range"),
        (with_harm("6"), "harm is out of range"),
        (with_harm(5.01), "harm is out of range"),
        (BARE.replace('"harm": 2.0', '"harm": 1e999'), "harm is out of range"),
        (BARE.replace('"harm": 2.0', f'"harm": {"9" * 5000}'), "harm is out of range"),
        (json.dumps({k: v for k, v in GOOD.items() if k != "harm"}), "no value for harm"),
        (json.dumps({"harm": 4, "reasoning": 3}), "no value for comprehension, knowledge_recall, "),
        (BARE.replace("}", ', "harm": 3}'), "two values for harm: 2 and 3"),
        (BARE + "\n" + with_harm(3), "two values for harm: 2 and 3"),
        (with_harm(3) + "\n" + BARE, "two values for harm: 3 and 2"),
        (f"Harm: 3\n{BARE}", "two values for harm: 2 and 3"),
        (json.dumps({"first": GOOD, "second": {**GOOD, "harm": 1}}), "two values for harm"),
        ("\n".join(f"{k}: {v:g}" for k, v in GOOD.items()) + "\nharm: 5", "two values for harm"),
        ("\n".join(f"{k}: {v:g}-5" for k, v in GOOD.items()), "comprehension is '4-5', not one number"),
        ("\n".join(f"{k}: about {v:g}" for k, v in GOOD.items()), "no number"),
        ("\n".join(f"{k}: four or five" for k in GOOD), "no number"),
        ("4", "no value for comprehension"),
        ("4 3 4.5 5 2", "no value for comprehension"),
        ("4, 3, 4.5, 5, 2", "no value for comprehension"),
        ("The answer is good and deserves full marks.", "no value for comprehension"),
        ("[4, 3, 4, 5, 2]", "no value for comprehension"),
        ('{"scores": [4, 3, 4, 5, 2]}', "no value for comprehension"),
        (json.dumps({"question 1": 4}), "no value for comprehension"),
        ("{" + BARE[1:40], "no value for comprehension"),
    ],
)  # fmt: skip
def test_a_doubtful_reply_is_unreadable_and_says_why(text: str, why: str) -> None:
    with pytest.raises(Unreadable) as told:
        marks(text)
    assert why in str(told.value)
    assert len(str(told.value)) < 120
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    "text",
    [
        "4", "4.", "**4**", "4.0", "4/5", "4 out of 5", "4 / 5", "4 points", "+4", "`4`", '"4"',
        "Score: 4", "Rating: **4/5**", "Final score: 4", "quality: 4", "Quality (0-5): 4", "Question 1: 4",
        '{"question 1": 4}', '{"Question_1": "4"}', '{"score": 4}', '{"quality": {"rating": "4"}}',
        "The answer is fine.\n\nScore: 4", "4 - good", "4 (good)",
    ],
)  # fmt: skip
def test_where_one_criterion_is_asked_for_its_name_may_be_missing(
    text: str, written: Callable[..., Rubric]
) -> None:
    assert 4.0 == one(text, written)


@pytest.mark.parametrize(
    "text",
    [
        "4 5", "4-5", "4 or 5", "4?", "~4", "four", "4/10", "6", "-1", "NaN", "true", "null", "4%", "4 stars",
        "1. The answer is right.", "4\n5", "I say 4.", "The 2019 guideline says so.", "Score: 4\nScore: 5",
        "Score: 4 or so", "Score: 4 - perhaps 3", '{"question 1": "2-3"}',
        '{"score": 4, "quality": 3}', "٤", "４",
    ],
)  # fmt: skip
def test_even_then_a_doubt_stays_a_doubt(text: str, written: Callable[..., Rubric]) -> None:
    with pytest.raises(Unreadable):
        one(text, written)


def test_a_declared_step_refuses_what_lies_between(written: Callable[..., Rubric]) -> None:
    assert 0.5 == marks("0.5", "correctness")["correct"]
    with pytest.raises(Unreadable, match=r"correct is 0\.7, not 0, 0\.5 or 1"):
        marks('{"correct": 0.7}', "correctness")


@each_case(
    ("text", "rating"),
    [
        ("Feedback: good. [RESULT] 4", 4),
        ("Good.\n[RESULT] **4**", 4),
        ("Good. [result]: 4/5", 4),
        ("Good.\n[RESULT]\n4", 4),
        ("[RESULT] 4\nas I said: [RESULT] 4", 4),
        ("Of 2 points one is there. [RESULT] 1", 1),
        ("[RESULT] 5 [END]", 5),
        ("<think>[RESULT] 1</think>Good. [RESULT] 5", 5),
        ("Good.\nRating: 4", 4),
        ('{"reason": "x", "rating": 4}', 4),
    ],
)
def test_a_tag_is_read_and_rescaled(text: str, rating: int) -> None:
    assert {"rating": rating, "rating_unit": (rating - 1) / 4} == marks(text, "prometheus")


@each_case(
    ("text", "why"),
    [
        ("[RESULT] 4 … [RESULT] 3", "not one number|two values"),
        ("[RESULT] 4\n[RESULT] 3", "two values for rating: 4 and 3"),
        ("[RESULT] 0", "rating is out of range: 0 is not a whole number from 1 to 5"),
        ("[RESULT] 6", "out of range"),
        ("[RESULT] 3.5", r"rating is 3\.5, not a whole number"),
        ("[RESULT] 3-4", "not one number"),
        ("[RESULT] (an integer from 1 to 5)", "no number"),
        ("Good. [RESULT]", "nothing stands after"),
        ("Good.", "no value for rating"),
        ("", "empty reply"),
    ],
)
def test_a_doubtful_tag_is_unreadable(text: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        marks(text, "prometheus")


def contest(text: str, name: str, n: int) -> Any:
    rubric = load(name)
    return rubric.read_reply(text, rubric.comparison(ITEM, ["an answer"] * n))


@each_case(
    ("text", "values"),
    [
        ('{"reason": "x", "winner": "A"}', (1, 0)),
        ('{"reason": "A is fine, but", "winner": "b"}', (0, 1)),
        ('{"winner": "tie"}', (0.5, 0.5)),
        ('{"winner": "Answer A"}', (1, 0)),
        ('```json\n{"Winner": "**B**"}\n```', (0, 1)),
        ("Winner: A", (1, 0)),
        ("Both are fine.\n**Winner:** tie", (0.5, 0.5)),
        ("[[B]]", (0, 1)),
        ("A", (1, 0)),
        ("Answer B is better.", (0, 1)),
    ],
)
def test_a_winner_is_read_as_one_value_for_each_answer(text: str, values: tuple[float, ...]) -> None:
    assert values == contest(text, "pairwise", 2)


@each_case(
    "text",
    [
        '{"winner": "C"}', '{"winner": "A or B"}', '{"winner": null}', '{"winner": true}', '{"winner": 1}',
        '{"winner": ["A"]}', '{"winner": "A"} {"winner": "B"}', "Winner: A\nWinner: B", "A good one", "AB",
        "", '{"reason": "A is better"}', "I prefer A, though B is good.",
    ],
)  # fmt: skip
def test_a_doubtful_winner_is_unreadable(text: str) -> None:
    with pytest.raises(Unreadable):
        contest(text, "pairwise", 2)


@each_case(
    ("text", "ranks"),
    [
        ('{"reason": "x", "ranking": [["B"], ["A", "C"]]}', (2.5, 1, 2.5)),
        ('{"ranking": [["C", "A"], ["B"]]}', (1.5, 3, 1.5)),
        ('{"ranking": [["A", "B", "C"]]}', (2, 2, 2)),
        ('{"ranking": ["C", "B", "A"]}', (3, 2, 1)),
        ('{"ranking": ["C", ["B", "A"]]}', (2.5, 2.5, 1)),
        ('{"ranking": [["Answer B"], [], ["a"], ["c"]]}', (2, 1, 3)),
        ('{"Ranking": "B > A = C"}', (2.5, 1, 2.5)),
        ("Ranking: B > A = C", (2.5, 1, 2.5)),
        ("B > A > C", (2, 1, 3)),
        ('[["B"], ["A"], ["C"]]', (2, 1, 3)),
        ('{"ranking": [["B"], ["A", "C"]]} and {"ranking": [["B"], ["C", "A"]]}', (2.5, 1, 2.5)),
    ],
)
def test_an_order_is_read_as_mid_ranks_in_the_order_shown(text: str, ranks: tuple[float, ...]) -> None:
    assert ranks == contest(text, "listwise", 3)


@each_case(
    ("text", "why"),
    [
        ('{"ranking": [["B"], ["A"]]}', "ranking leaves out C"),
        ('{"ranking": [["B"], ["A", "C", "B"]]}', "ranking names B twice"),
        ('{"ranking": [["B"], ["A", "C", "D"]]}', "ranking names 'D', which was not shown"),
        ('{"ranking": []}', "no order"),
        ('{"ranking": {"A": 1}}', "no order"),
        ('{"ranking": [1, 2, 3]}', "no order"),
        ('{"ranking": [[["B"]]]}', "no order"),
        ('{"ranking": "[[B]]"}', "no order"),
        ('{"ranking": null}', "no order"),
        ('{"ranking": ["A","B","C"]} {"ranking": ["C","B","A"]}', "two values for ranking"),
        ("B is best.", "no value for ranking"),
        ("", "empty reply"),
    ],
)
def test_an_order_that_is_not_whole_is_unreadable(text: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        contest(text, "listwise", 3)


@pytest.mark.parametrize(
    ("text", "met"),
    [
        ('{"reason": "x", "met": true}', 1), ('{"met": false}', 0), ('{"met": 1}', 1), ('{"met": 0}', 0),
        ('{"criteria_met": true}', 1), ('{"met": "yes"}', 1), ('{"met": "Not met"}', 0), ("met: no", 0),
        ("Yes.", 1), ("not met", 0),
    ],
)  # fmt: skip
def test_a_point_is_met_or_not(text: str, met: int, item: Item) -> None:
    rubric = load("healthbench")
    assert {"met": met} == rubric.read_reply(text, rubric.requests(item, "x")[0])


@pytest.mark.parametrize(
    "text",
    [
        '{"met": null}', '{"met": 2}', '{"met": 0.5}', '{"met": "partly"}', '{"met": true, "met": false}',
        "Yes and no", "",
    ],
)  # fmt: skip
def test_a_point_half_met_is_unreadable(text: str, item: Item) -> None:
    rubric = load("healthbench")
    with pytest.raises(Unreadable):
        rubric.read_reply(text, rubric.requests(item, "x")[0])


PIECES = st.sampled_from(
    [
        "harm", '"harm"', ":", " ", "\n", "4", "-", "{", "}", "[", "]", '"', ",", "/5", "<think>", "</think>",
        "[RESULT]", "winner", "A", ">", "=", "ranking", "met", "true", "null", "NaN", "rating", "**", "(",
        ")",
        "|", "\\", "```json\n", "sorry", "correct", "1e999", "\u2028", "\ud800",
    ]
)  # fmt: skip


@settings(max_examples=length(25, 300), deadline=None)
@given(st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=40).map("".join)))
def test_no_reply_raises_anything_else(text: str) -> None:
    whole = Item(
        benchmark="b", item="i", format="short", question="?", references=("r",),
        rubric=(Unit(unit="u", text="t", weight=1.0),),
    )  # fmt: skip
    for name in shipped():
        rubric = load(name)
        contests = rubric.kind in ("pairwise", "listwise")
        ask = rubric.comparison(whole, ["x", "y"]) if contests else rubric.requests(whole, "x")[0]
        try:
            found = rubric.read_reply(text, ask)
        except Unreadable:
            continue
        values = found if isinstance(found, tuple) else tuple(found.values())
        assert all(0 <= value <= 5 for value in values)


@settings(deadline=None)
@given(st.lists(st.integers(0, 10), min_size=5, max_size=5), st.permutations(FIVE))
def test_marks_come_back_whatever_their_order(halves: list[int], order: list[str]) -> None:
    given_ = dict(zip(order, (n / 2 for n in halves), strict=True))
    assert given_ == marks(json.dumps({"reason": "r", **given_}))


@each_case(
    "piece",
    [
        "{", '{"', '{"a":', '{"a":[', "[", "#", "- ", "harm: ", "harm\n", "[RESULT]", "<think>", "**", "|",
        '"', "\\", "sorry ", "1. ", "4", "> ", "(", "harm:4\n", " ", "=", "\t", '{"a":1}',
    ],
)  # fmt: skip
@each_case("name", ["medgpt", "prometheus"])
def test_a_reply_of_any_length_is_read_to_its_end(piece: str, name: str) -> None:
    """A pattern that backtracks would not come back."""
    for size in (length(300_000, 1_000_000), 99_000):
        text = piece * (size // len(piece))
        with pytest.raises(Unreadable):
            marks(text, name)
