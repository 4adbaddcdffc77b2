"""HealthBench's files as published: three open sets in one layout, the Professional set in another."""

import json
from pathlib import Path
from typing import Any

import pytest

from vivavoce.benchmarks import load
from vivavoce.core.cases import cases_of
from vivavoce.core.conversations import Message
from vivavoce.core.errors import InputError

TALK = [
    {"role": "user", "content": "My baby cries a lot."},
    {"role": "assistant", "content": "How old is the baby?"},
    {"role": "user", "content": "Two months. May I give herbal tea?"},
]
OPEN = {
    "prompt_id": "p1",
    "prompt": TALK,
    "rubrics": [
        {"criterion": "Advises against the tea.", "points": 8, "tags": ["level:example", "axis:accuracy"]},
        {"criterion": "Advises herbal teas.", "points": -9, "tags": ["level:example", "axis:accuracy"]},
        {
            "criterion": "Asks what else is wrong.",
            "points": 3,
            "tags": ["level:cluster", "axis:context_awareness"],
        },
    ],
    "example_tags": ["theme:context_seeking", "physician_agreed_category:x"],
    "ideal_completions_data": {
        "ideal_completion": "No tea; see a doctor.",
        "ideal_completions_group": "Group 1",
    },
    "canary": "healthbench:1",
}
PROFESSIONAL = {
    "conversation": TALK,
    "rubric_items": [{"criterion_text": "Advises against the tea.", "points": 8}],
    "use_case": "consult",
    "type": "red_teaming",
    "difficulty": "difficult",
    "specialty": "paediatrics",
    "physician_response": "No.",
}


def written(folder: Path, *rows: dict[str, Any], name: str = "2025_oss_eval.jsonl") -> Path:
    file = folder / name
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_a_row_is_a_conversation_with_points_theme_and_axes(tmp_path: Path):
    (item,) = load(f"healthbench(data={written(tmp_path, OPEN)})").items
    assert ("healthbench", "p1", "context_seeking", "conversation") == (
        *(item.benchmark, item.item, item.category),
        item.format,
    )
    assert Message("user", "Two months. May I give herbal tea?") == item.messages[-1]
    assert [("r1", 8.0), ("r2", -9.0), ("r3", 3.0)] == [(unit.unit, unit.weight) for unit in item.rubric]
    assert {"r1": "accuracy", "r2": "accuracy", "r3": "context_awareness"} == item.meta["axes"]
    assert ("No tea; see a doctor.",) == item.references


def test_the_professional_set_has_its_own_layout_and_criterion(tmp_path: Path):
    loaded = load(f"healthbench(data={written(tmp_path, PROFESSIONAL)}, subset=professional)")
    (item,) = loaded.items
    assert ("healthbench_professional", "consult", ("No.",)) == (
        item.benchmark,
        item.category,
        item.references,
    )
    assert {"type": "red_teaming", "difficulty": "difficult", "specialty": "paediatrics"} == item.meta
    assert "judge:score_length_adjusted" == loaded.card.primary


@pytest.mark.parametrize(("row", "subset"), [(OPEN, "professional"), (PROFESSIONAL, "all")])
def test_a_file_of_another_layout_is_named(tmp_path: Path, row: dict[str, Any], subset: str):
    with pytest.raises(InputError, match=r"has the layout of HealthBench"):
        load(f"healthbench(data={written(tmp_path, row)}, subset={subset})")


def test_a_folder_is_searched_for_the_file_of_the_set(tmp_path: Path):
    written(tmp_path, OPEN)
    written(tmp_path, OPEN | {"prompt_id": "p2"}, name="hard_2025-05-08.jsonl")
    assert ["p2"] == [item.item for item in load(f"healthbench(data={tmp_path}, subset=hard)").items]
    with pytest.raises(InputError, match=r"no consensus_\*\.jsonl"):
        load(f"healthbench(data={tmp_path}, subset=consensus)")


def test_one_conversation_in_two_sets_is_one_case(tmp_path: Path):
    file = written(tmp_path, OPEN)
    items = [load(f"healthbench(data={file}, subset={subset})").items[0] for subset in ("all", "hard")]
    assert ["healthbench", "healthbench_hard"] == [item.benchmark for item in items]
    assert 1 == len(set(cases_of(items).labels))


def test_wrong_signs_are_named_on_the_card_and_stay_as_published(tmp_path: Path):
    loaded = load(f"healthbench(data={written(tmp_path, OPEN)})")
    assert "a7014ba7-dff8-41f8-9f51-8c39be0cdfd4" in loaded.card.faults[0]
    assert "287d7b73-d8d5-4727-a094-fd7d778fc019" in loaded.card.faults[0]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            {"rubrics": [{"criterion": "x", "points": -3}]},
            "no point is above 0, so there is nothing to reach",
        ),
        ({"rubrics": [{"criterion": "x", "points": 0}]}, "a point without a text or without points"),
        ({"rubrics": "x"}, "rubrics is no list"),
        ({"prompt": TALK[:2]}, "the last message is to be the user's, as a candidate answers it"),
    ],
)
def test_a_row_that_can_be_no_item_is_left_out_with_its_reason(tmp_path, change, reason):
    loaded = load(f"healthbench(data={written(tmp_path, OPEN, OPEN | {'prompt_id': 'p2'} | change)})")
    assert [reason] == [exclusion.reason for exclusion in loaded.exclusions]


def test_own_replies_ask_turn_by_turn(tmp_path: Path):
    items = load(f"healthbench(data={written(tmp_path, OPEN)}, replies=own)").items
    assert [("p1/1", None, 0), ("p1/2", "p1/1", 3)] == [(i.item, i.follows, len(i.rubric)) for i in items]
