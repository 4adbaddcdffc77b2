"""ClinIQLink: seven files, seven formats, and gold that must be readable."""

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from vivavoce.benchmarks import load
from vivavoce.core.errors import InputError, SpecError
from vivavoce.core.records import Item, Located
from vivavoce.formats import ask, read_response

FORMATS = {
    "TF": "true_false", "MC": "mcq", "list": "list", "short": "short", "short_inverse": "short_inverse",
    "multi_hop": "multi_hop", "multi_hop_inverse": "multi_hop_inverse",
}  # fmt: skip
SOURCE = {"isbn": "1-2", "page": 7, "paragraph_id": "p1"}
ROWS: dict[str, dict[str, Any]] = {
    "TF": {"question": "Is it so?", "answer": "True"},
    "MC": {"question": "Which?", "options": ["a", "b"], "correct_answer": "b"},
    "list": {"question": "Which?", "options": ["a", "b", "c"], "answer": ["a", "c"]},
    "short": {"question": "What?", "answer": "This."},
    "short_inverse": {
        "question": "What?", "answer": "That.", "false_answer": "That.", "incorrect_explanation": "This.",
    },
    "multi_hop": {"question": "Why?", "answer": "So.", "reasoning": ["Step 1: One.", "Step 2: Two."]},
    "multi_hop_inverse": {
        "question": "Why?", "answer": "No.", "reasoning": ["Step 1: One.", "Step 2: Two."],
        "incorrect_reasoning_step": ["- Step 2 is the wrong one.", "- Explanation: It is three."],
    },
}  # fmt: skip


def sample(shared: Path) -> dict[str, Item]:
    return {i.item: i for i in load(f"cliniqlink(data={shared / 'data' / 'cliniqlink'})").items}


def written(folder: Path, name: str = "TF", *rows: Any) -> str:
    """The spec of a folder with one item in every file, and these rows in the file `name`."""
    for stem, row in ROWS.items():
        (folder / f"{stem}.json").write_text(json.dumps([row | {"source": SOURCE}]), encoding="utf-8")
    if rows:
        (folder / f"{name}.json").write_text(json.dumps(rows), encoding="utf-8")
    return f"cliniqlink(data='{folder}')"


def refused(spec: str) -> str:
    with pytest.raises(InputError) as error:
        load(spec)
    return str(error.value)


# The published sample


def test_the_sample_has_five_items_of_each_of_seven_formats(shared: Path) -> None:
    items = sample(shared)
    assert dict.fromkeys(FORMATS.values(), 5) == Counter(i.format for i in items.values())
    assert {f"{stem}-{k}" for stem in FORMATS for k in range(5)} == set(items)
    assert all(i.category is None and i.benchmark == "cliniqlink" for i in items.values())


def test_items_on_one_paragraph_belong_together(shared: Path) -> None:
    items = sample(shared)
    assert 35 == len({i.group for i in items.values()})
    assert "000-0000000000-p00-para31" == items["TF-0"].group == items["TF-0"].meta["paragraph_id"]


def test_the_wrong_answer_is_no_reference(shared: Path) -> None:
    items = sample(shared)
    dose = items["short_inverse-1"]
    assert "0.05 units per minute" == dose.false_answer
    assert dose.references[0].endswith("is 0.3 units per minute, not 0.05 units per minute.")
    assert () == dose.answer
    assert items["multi_hop_inverse-1"].false_answer == "It causes cycloplegia."


def test_the_wrong_steps_are_these(shared: Path) -> None:
    items = sample(shared)
    steps = [items[f"multi_hop_inverse-{k}"] for k in range(5)]
    assert [(3, 4), (4, 4), (5, 5), (3, 4), (5, 5)] == [(i.step, len(i.steps)) for i in steps]


def test_the_explanation_is_the_line_that_begins_with_the_word(shared: Path) -> None:
    """The step line of para15 holds the word too, and is what the published harness compares with."""
    item = sample(shared)["multi_hop_inverse-4"]
    assert "000-0000000000-p00-para15" == item.group
    assert item.references[0].startswith("While excessive strain might bring a pre-existing hernia")
    assert "Step 5" not in item.references[0]


def test_prompts_number_the_steps_once(shared: Path) -> None:
    prompt = ask(sample(shared)["multi_hop_inverse-1"])
    assert "\nStep 4: Given that benztropine" in prompt
    assert [1, 1, 1, 1] == [prompt.count(f"Step {n}") for n in range(1, 5)]
    assert "It causes cycloplegia." in prompt


def test_a_perfect_answer_in_the_published_form_is_read_as_the_gold(shared: Path) -> None:
    for item in sample(shared).values():
        if item.format == "multi_hop_inverse":
            why = item.references[0]
            gold = f"Incorrect Reasoning Step: {item.step}\nIncorrect Reasoning Explanation: {why}"
            assert Located(item.step, why) == read_response(item, gold).parsed
        elif item.format == "multi_hop":
            answer = f"Final Answer: {item.references[0]}\n\nReasoning: " + "\n".join(item.steps)
            assert item.references[0] == read_response(item, answer).text
            assert [s.split(": ", 1)[1] for s in item.steps] == list(read_response(item, answer).parsed.steps)
        elif item.format == "short_inverse":
            assert (
                item.references[0] == read_response(item, f"Incorrect Explanation: {item.references[0]}").text
            )


# Files


def test_other_files_are_left_alone(shared: Path, tmp_path: Path) -> None:
    for path in (shared / "data" / "cliniqlink").glob("*.json"):
        shutil.copyfile(path, tmp_path / path.name)
    (tmp_path / "notes.json").write_text("{broken")
    assert sample(shared).keys() == {i.item for i in load(f"cliniqlink(data='{tmp_path}')").items}


def test_a_part_can_be_taken(tmp_path: Path) -> None:
    spec = written(tmp_path)
    for stem in ("short", "list"):
        (tmp_path / f"{stem}.json").unlink()
    words = (
        "list.json: data= names the folder of its seven files; for those that are there write "
        "files=[TF, MC, short_inverse, multi_hop, multi_hop_inverse]."
    )
    assert words in refused(spec)
    part = load(spec[:-1] + ", files=[MC, TF])")
    assert ["TF-0", "MC-0"] == [i.item for i in part.items]
    with pytest.raises(SpecError, match=r"files takes TF\|MC\|list"):
        load(spec[:-1] + ", files=[tf])")


def test_a_list_within_the_list_is_laid_out(tmp_path: Path) -> None:
    row = ROWS["TF"]
    spec = written(tmp_path, "TF", [row, row | {"question": "And so?"}], row | {"question": "Or so?"})
    names = [i.item for i in load(spec).items if i.format == "true_false"]
    assert ["TF-0", "TF-1", "TF-2"] == names


def test_an_item_without_a_source_is_a_group_of_its_own(tmp_path: Path) -> None:
    spec = written(tmp_path, "TF", ROWS["TF"], ROWS["TF"] | {"source": SOURCE})
    one, two = (i for i in load(spec).items if i.format == "true_false")
    assert ("TF-0", None, {}) == (one.group, one.source, one.meta)
    assert ("p1", "isbn 1-2, page 7") == (two.group, two.source)


def test_a_letter_may_be_the_key(tmp_path: Path) -> None:
    spec = written(tmp_path, "MC", ROWS["MC"] | {"correct_answer": "A"})
    assert ("a",) == next(i for i in load(spec).items if i.format == "mcq").answer


@pytest.mark.parametrize(
    ("name", "rows", "words"),
    [
        ("MC", [ROWS["MC"], ROWS["MC"] | {"correct_answer": "d"}],
         "MC.json, item 1: cliniqlink, item 'MC-1': the key 'd' is no option."),
        ("list", [ROWS["list"] | {"answer": ["a", "B cell"]}],
         "list.json, item 0: cliniqlink, item 'list-0': the key 'B cell' is no option."),
        ("list", [ROWS["list"] | {"answer": "a"}],
         "list.json, item 0: answer must be a list of texts, not 'a'."),
        ("TF", ["x"], "TF.json, item 0: a JSON object is needed, not str."),
        ("TF", [{"question": "Is it?"}], "TF.json, item 0: the field 'answer' is missing."),
        ("TF", [{"question": "Is it?", "answer": "Perhaps"}], "true_false needs the answer True or False"),
        ("TF", [{"question": None, "answer": "True"}], "TF.json, item 0: question must be a text, not None."),
        ("TF", [ROWS["TF"] | {"source": "p1"}], "TF.json, item 0: source must be an object with isbn"),
        ("short_inverse", [{"question": "?x", "false_answer": "a", "explanation": "b"}],
         "the field 'incorrect_explanation' is missing. Did you mean 'explanation'?"),
        ("multi_hop_inverse", [ROWS["multi_hop_inverse"] | {"reasoning": ["One."]}],
         "multi_hop_inverse needs 2 or more steps, not 1."),
    ],
)  # fmt: skip
def test_an_item_that_cannot_be_used_is_named_with_file_and_place(
    tmp_path: Path, name: str, rows: list[Any], words: str
) -> None:
    assert words in refused(written(tmp_path, name, *rows))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "TF.json: broken JSON"),
        (b"{}", "TF.json: a JSON array of items is needed, not dict."),
        (b"[]", "TF.json holds no items."),
        (b"\xff\xff", "TF.json: broken JSON"),
        (b'[{"question": "\\ud800", "answer": "True"}]', "TF.json: broken JSON"),
        (b"[NaN]", "TF.json: broken JSON (NaN is no JSON number; write null"),
        (b"[" * 100_000, "TF.json: broken JSON"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, content: bytes, words: str) -> None:
    spec = written(tmp_path)
    (tmp_path / "TF.json").write_bytes(content)
    assert words in refused(spec)


# The wrong step of a chain


def gold(folder: Path, value: Any) -> tuple[int | None, tuple[str, ...]]:
    row = ROWS["multi_hop_inverse"] | {"incorrect_reasoning_step": value}
    item = next(i for i in load(written(folder, "multi_hop_inverse", row)).items if i.steps and i.step)
    return item.step, item.references


@pytest.mark.parametrize(
    "value",
    [
        ["- Step 2 is wrong.", "- Explanation: It is three."],
        "- Step 2 is wrong.\n- Explanation: It is three.",
        "Step 2\nExplanation: It is three.",
        ["- Step 2 needs an explanation: it fails.", "- **Explanation:** It is three."],
        ["Step 2 contradicts step 1.", "Explanation: It is three."],
        ["Step 2 is wrong.\nExplanation: It is three."],
    ],
)
def test_gold_is_read_in_the_forms_it_is_published_in(tmp_path: Path, value: Any) -> None:
    assert (2, ("It is three.",)) == gold(tmp_path, value)


def test_an_explanation_may_go_on_and_name_other_steps(tmp_path: Path) -> None:
    value = ["Step 2 is wrong.", "Explanation: It is three,", "as step 1 says."]
    assert (2, ("It is three,\nas step 1 says.",)) == gold(tmp_path, value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (["Step 2 is wrong.", "It is three."], "has no line that begins with 'Explanation:'"),
        (["It is wrong.", "Explanation: It is three."], "must name one step before its explanation"),
        (["Step 1 is wrong.", "Step 2 is wrong.", "Explanation: x"], "as in 'Step 3', not 1, 2."),
        (["Step 2 is wrong.", "Explanation: "], "has an empty explanation"),
        (["Step 3 is wrong.", "Explanation: x"], "the wrong step is number 3, but the steps are 1 to 2."),
        (None, "incorrect_reasoning_step must be texts, not None"),
        ([2, "Explanation: x"], "incorrect_reasoning_step must be texts"),
    ],
)
def test_gold_that_cannot_be_read_is_an_error_with_file_and_place(
    tmp_path: Path, value: Any, words: str
) -> None:
    with pytest.raises(InputError) as error:
        gold(tmp_path, value)
    assert words in str(error.value)
    assert "multi_hop_inverse.json, item 0: " in str(error.value)
