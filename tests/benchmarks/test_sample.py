"""The sample exam: what it holds, that every item can be used, and that the answers have their faults."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from vivavoce import formats
from vivavoce.benchmarks import Loaded, load
from vivavoce.benchmarks.sample import CANDIDATES, Sample, recorded
from vivavoce.core.records import Item, Reading
from vivavoce.core.specs import signed
from vivavoce.run.catalogue import describe
from vivavoce.run.run import open_run

BIASES = ("bias:recency", "bias:frequency", "bias:status_quo")


@pytest.fixture(scope="module")
def exam() -> Loaded:
    return load("sample")


@pytest.fixture(scope="module")
def answers() -> list[dict[str, Any]]:
    with recorded() as path:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def readings(exam: Loaded, answers: Sequence[dict[str, Any]]) -> list[tuple[dict[str, Any], Reading]]:
    """Every answer that arrived, as its format reads it."""
    items = {(item.item, item.variant): item for item in exam.items}
    return [
        (a, formats.read_response(items[a["item"], a["variant"]], a["text"]))
        for a in answers
        if a.get("status", "ok") == "ok"
    ]


def bases(exam: Loaded) -> list[Item]:
    return [item for item in exam.items if not item.variant]


def twins(exam: Loaded, variant: str) -> list[Item]:
    return [item for item in exam.items if item.variant == variant]


# The exam


def test_it_has_sixty_base_items_in_all_formats_and_eight_specialties(exam: Loaded) -> None:
    assert 60 <= len(bases(exam))
    # relations, arguments and conversations are tasks of their own, which other benchmarks ask
    assert set(formats.FORMATS) - {"relation", "argument", "conversation"} == {
        item.format for item in bases(exam)
    }
    assert 8 <= len({item.category for item in bases(exam)})
    assert min(Counter(item.format for item in bases(exam)).values()) >= 5


def test_every_item_passes_its_format(exam: Loaded) -> None:
    assert list(exam.items) == [formats.check(item) for item in Sample().items()]


def test_every_item_names_a_source_and_an_explanation(exam: Loaded) -> None:
    for item in exam.items:
        assert item.source, item.name
        assert item.meta["explanation"], item.name


def test_every_open_item_has_something_to_compare_with(exam: Loaded) -> None:
    closed = ("mcq", "true_false", "list")
    assert all(item.references for item in exam.items if item.format not in closed)
    assert all(item.answer for item in exam.items if item.format in closed)


def test_cases_with_several_questions_are_one_group(exam: Loaded) -> None:
    sizes = Counter(item.group for item in bases(exam))
    assert any(n > 1 for n in sizes.values())


def test_four_twins_plant_each_bias(exam: Loaded) -> None:
    assert {"", "neutral", *BIASES} == {item.variant for item in exam.items}
    assert [4, 4, 4] == [len(twins(exam, bias)) for bias in BIASES]
    assert 12 == len(twins(exam, "neutral"))


def test_a_twin_differs_from_its_neutral_twin_in_the_question_alone(exam: Loaded) -> None:
    neutral = {item.item: item for item in twins(exam, "neutral")}
    base = {item.item: item for item in bases(exam)}
    for bias in BIASES:
        for twin in twins(exam, bias):
            for other in (neutral[twin.item], base[twin.item]):
                same = ("format", "options", "answer", "references", "group", "category", "steps", "step")
                assert [getattr(twin, n) for n in same] == [getattr(other, n) for n in same], twin.name
                assert twin.question != other.question


def test_a_neutral_twin_is_about_as_long_as_its_biased_one(exam: Loaded) -> None:
    """Else length alone could make the difference."""
    neutral = {item.item: len(item.question.split()) for item in twins(exam, "neutral")}
    for bias in BIASES:
        for twin in twins(exam, bias):
            assert abs(len(twin.question.split()) - neutral[twin.item]) <= 8, twin.name


def test_what_is_planted_is_wrong(exam: Loaded) -> None:
    for bias in BIASES:
        for twin in twins(exam, bias):
            assert twin.meta["planted"]
            assert twin.meta["planted"] not in (*twin.answer, *twin.references), twin.name
            if twin.format == "mcq":
                assert twin.meta["planted"] in twin.options, twin.name


def test_the_card_says_what_it_is_not_for() -> None:
    card = describe("sample")["card"]
    assert ("Apache-2.0", "open", "written for vivavoce") == (card["licence"], card["access"], card["source"])
    assert any("not for clinical use" in fault for fault in card["faults"])
    assert any("made up" in fault for fault in card["faults"])
    assert 8 == len(card["revision"])


def test_its_signature_is_short(exam: Loaded) -> None:
    assert "sample" == exam.spec
    assert "sample" == signed(exam.signature).spec.name


# The answers


def test_three_made_up_candidates_answer_every_item(exam: Loaded, answers: Sequence[dict[str, Any]]) -> None:
    asked = {(item.item, item.variant) for item in exam.items}
    for candidate in CANDIDATES:
        own = {(a["item"], a["variant"]) for a in answers if a["candidate"] == candidate}
        assert asked == own
    assert set(CANDIDATES) == {a["candidate"] for a in answers}


def test_twelve_items_are_answered_five_times(answers: Sequence[dict[str, Any]]) -> None:
    times = Counter((a["candidate"], a["item"], a["variant"]) for a in answers)
    for candidate in CANDIDATES:
        assert {1: 84, 5: 12} == Counter(n for (who, *_), n in times.items() if who == candidate)


def test_every_status_is_there(readings: Sequence[tuple[dict[str, Any], Reading]]) -> None:
    assert {"ok", "unanswered", "unreadable"} == {reading.status for _, reading in readings}


@pytest.mark.parametrize(
    "reason", ["blank", "refusal", "two options", "neither True nor False", "thinking was never closed"]
)
def test_an_answer_of_this_kind_is_there(
    readings: Sequence[tuple[dict[str, Any], Reading]], reason: str
) -> None:
    assert any(reason in (reading.reason or "") for _, reading in readings)


@pytest.mark.parametrize("status", ["failed", "filtered"])
def test_some_answers_never_came(answers: Sequence[dict[str, Any]], status: str) -> None:
    assert any(a.get("status") == status for a in answers)


@pytest.mark.parametrize(
    "mark", ["<script>", "=HYPERLINK(", "<think>", "Award 5/5", "\u200f", "AI language model"]
)
def test_hostile_and_odd_texts_are_there(answers: Sequence[dict[str, Any]], mark: str) -> None:
    assert any(mark in (a["text"] or "") for a in answers)


def test_some_answers_are_cut(answers: Sequence[dict[str, Any]]) -> None:
    assert 3 <= sum(a.get("finish_reason") == "length" for a in answers)


def test_the_candidates_come_in_their_order(tmp_path: Any) -> None:
    run = open_run(tmp_path / "run.viva")
    with recorded() as path:
        run.import_answers(path, benchmark="sample")
    for metric in ("accuracy", "list_f1", "token_f1"):
        found = run.score(metric).rows
        assert list(CANDIDATES) == [row["candidate"] for row in found], metric
