"""HIVMedQA: its layout, its twins, and the paper's subset."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from vivavoce.benchmarks import load
from vivavoce.core.errors import InputError, SpecError

ROW = {
    "id": "c3q00", "question": "Which therapy?", "gold": "Start at once.", "category": "3",
    "paper_subset": True, "bias_type": None, "derived_from": None,
}  # fmt: skip


def written(folder: Path, *rows: dict[str, Any]) -> str:
    (folder / "questions.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    return f"hivmedqa(data={folder})"


def test_there_are_92_items_in_68_groups(hivmedqa: Path) -> None:
    items = load(f"hivmedqa(data={hivmedqa})").items
    assert (92, 68, 24) == (len(items), len({i.group for i in items}), sum(i.variant != "" for i in items))
    assert {"longform"} == {i.format for i in items}
    assert all(len(i.references) == 1 and i.alias for i in items)


def test_the_paper_used_63_items_in_42_groups(hivmedqa: Path) -> None:
    loaded = load(f"hivmedqa(data={hivmedqa}, subset=paper)")
    assert (63, 42, 29) == (len(loaded.items), len({i.group for i in loaded.items}), len(loaded.others))
    assert loaded.spec.endswith("subset=paper)")


def test_a_twin_is_a_variant_of_its_base_item(hivmedqa: Path) -> None:
    loaded = load(f"hivmedqa(data={hivmedqa})")
    items = {i.alias: i for i in loaded.items}
    twin = items["c5q00"]
    assert ("c3q00", "bias:recency", "c3q00") == (twin.item, twin.variant, twin.group)
    assert ("c3q00", "") == (items["c3q00"].item, items["c3q00"].variant)
    bases = {i.item for i in loaded.items if not i.variant}
    assert {i.item for i in loaded.items if i.variant} <= bases
    assert all(n <= 2 for n in Counter(i.item for i in loaded.items).values())


def test_category_may_be_null_and_the_rest_goes_to_meta(hivmedqa: Path) -> None:
    items = {i.alias: i for i in load(f"hivmedqa(data={hivmedqa})").items}
    assert None in {i.category for i in items.values()}
    assert isinstance(items["c3q18"].meta["gold_variants"], list | dict)
    assert not {"id", "question", "gold", "category"} & set(items["c3q18"].meta)
    json.dumps([dict(i.meta) for i in items.values()], allow_nan=False)


def test_gold_variants_written_as_text_are_read(tmp_path: Path) -> None:
    (item,) = load(written(tmp_path, ROW | {"gold_variants": "['a', {'b': None}]"})).items
    assert ["a", {"b": None}] == item.meta["gold_variants"]


def test_the_subset_is_all_or_paper(hivmedqa: Path) -> None:
    with pytest.raises(SpecError, match=r"subset takes all\|paper"):
        load(f"hivmedqa(data={hivmedqa}, subset=table2)")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"question": None}, "line 2: question must be text, not None."),
        ({"question": ""}, "line 2: question must be text, not ''."),
        ({"gold": ["a"]}, "line 2: gold must be text, not ['a']."),
        ({"id": 5}, "line 2: id must be text, not 5."),
        ({"category": 3}, "line 2: category must be text or null, not 3."),
        ({"derived_from": ["c3q00"]}, "line 2: derived_from must be text or null, not ['c3q00']."),
        ({"gold_variants": "[oops"}, "line 2: gold_variants is no Python literal."),
        ({"gold_variants": "open('x')"}, "line 2: gold_variants is no Python literal."),
        ({"id": "c3q00"}, "the id 'c3q00' stands there twice"),
    ],
)
def test_a_question_that_cannot_be_used_is_named(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as error:
        load(written(tmp_path, ROW, ROW | {"id": "c3q01"} | change))
    assert words in str(error.value)


def test_a_missing_field_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"questions\.jsonl, line 1: hivmedqa needs the field 'gold'\."):
        load(written(tmp_path, {k: v for k, v in ROW.items() if k != "gold"}))


def test_a_folder_without_questions_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"hivmedqa needs .*questions\.jsonl: data= names the folder"):
        load(f"hivmedqa(data={tmp_path})")
    with pytest.raises(SpecError, match=r"hivmedqa needs data=a path: write hivmedqa:data=…"):
        load("hivmedqa")
    with pytest.raises(InputError, match=r"cannot read a+/questions\.jsonl: File name too long"):
        load(f"hivmedqa(data={'a' * 5000})")
