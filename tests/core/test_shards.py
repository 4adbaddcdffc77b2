"""Shards: every case in one part, whole, wherever it stands in its file."""

import random
from typing import Any

import pytest
from tests.cases import each_case

from vivavoce.core.errors import InputError
from vivavoce.core.records import Item
from vivavoce.core.shards import MOST_SHARDS, Shard, exam_digest, part_of, shard_numbers


def item(name: str, **fields: Any) -> Item:
    return Item(
        **({"benchmark": "exam", "item": name, "format": "short", "question": f"What is {name}?"} | fields)
    )


ITEMS = [item(f"q{k}", group=f"case {k // 2}") for k in range(200)]


def test_every_item_is_in_one_shard_and_the_cases_stay_whole() -> None:
    parts = [part_of(ITEMS, Shard(k, 7)) for k in range(1, 8)]
    assert {i.item for i in ITEMS} == {i.item for part in parts for i in part}
    assert 200 == sum(map(len, parts))
    groups = [{i.group for i in part} for part in parts]
    assert 100 == sum(map(len, groups))
    assert all(15 <= len(part) <= 50 for part in parts)


def test_the_order_of_the_file_moves_nothing() -> None:
    shuffled = random.Random(1).sample(ITEMS, len(ITEMS))
    before = dict(zip([i.item for i in ITEMS], shard_numbers(ITEMS, 5), strict=True))
    assert before == dict(zip([i.item for i in shuffled], shard_numbers(shuffled, 5), strict=True))
    assert exam_digest(ITEMS) == exam_digest(shuffled)


def test_a_shard_divided_again_is_itself() -> None:
    part = part_of(ITEMS, Shard(2, 5))
    assert part == part_of(part, Shard(2, 5))
    assert () == part_of(part, Shard(3, 5))


def test_the_division_of_a_case_is_the_same_in_every_version() -> None:
    """Parts that machines with two versions drew must fit together."""
    assert [16, 6, 14, 10] == shard_numbers([item(f"q{k}") for k in range(4)], 16)


def test_equal_questions_turns_of_a_conversation_and_variants_stay_together() -> None:
    same = [item("a", question="Name the bone."), item("b", question="name the bone")]
    turns = [item("t1"), item("t2", follows="t1"), item("t3", follows="t2", group="late")]
    variants = [item("v"), item("v", variant="female", origin="demographic(kind=sex)", group="0")]
    for together in (same, turns, variants):
        for of in (2, 16, 1000):
            numbers = shard_numbers([*together, *ITEMS], of)[: len(together)]
            assert 1 == len(set(numbers))
    alone, joined = item("v"), variants
    assert shard_numbers([alone], 1000) == shard_numbers(joined, 1000)[:1]  # what a run made moves no case


def test_two_benchmarks_are_divided_each_by_itself() -> None:
    other = [item(f"q{k}", benchmark="other") for k in range(20)]
    ours = [item(f"q{k}") for k in range(20)]
    assert shard_numbers(ours, 9) * 2 == shard_numbers([*ours, *other], 9)


def test_no_items_and_one_shard() -> None:
    assert [] == shard_numbers([], 3)
    assert [1] * 200 == shard_numbers(ITEMS, 1)


@each_case(
    ("text", "words"),
    [
        ("17/16", "--shard 17/16: the parts are numbered from 1 to 16."),
        ("0/4", "--shard 0/4: the parts are numbered from 1 to 4."),
        ("a/b", "--shard a/b: write the number of the part and of all parts, such as 3/16."),
        ("3", "such as 3/16"),
        ("", "such as 3/16"),
        ("-1/4", "such as 3/16"),
        ("1.5/4", "such as 3/16"),
        ("1/0", f"there are 1 to {MOST_SHARDS:,} parts, not 0."),
        ("1/9999999", "there are 1 to 100,000 parts, not 9,999,999."),
        ("1/99999999999999999999", "such as 3/16"),
        ("٣/١٦", "such as 3/16"),
    ],
)
def test_what_is_no_shard_is_refused(text: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        Shard.parse(text)
    assert words in str(error.value)


def test_a_shard_reads_as_it_is_written() -> None:
    assert "3/16" == str(Shard.parse(" 3 / 16 "))


@pytest.mark.parametrize(
    "change", [{"question": "Another?"}, {"weight": 2.0}, {"group": "g"}, {"item": "q9"}]
)
def test_another_exam_has_another_digest(change: dict[str, Any]) -> None:
    assert exam_digest([item("q1")]) != exam_digest(
        [item(**({"name": "q1"} | {"name": change.pop("item", "q1")}), **change)]
    )
