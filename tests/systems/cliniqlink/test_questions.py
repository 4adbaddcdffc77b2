"""The package of questions: nothing of the key is in it, and it can be asked but not scored."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.systems.cliniqlink.conftest import dump, exam, load

from vivavoce.benchmarks import load as loaded
from vivavoce.core.errors import InputError, MetricError, StoreError
from vivavoce.formats import ask, key
from vivavoce.run.run import open_run
from vivavoce.systems.cliniqlink.exporter import write_blank, write_questions


@pytest.fixture
def package(tmp_path: Path) -> Path:
    write_questions(exam(tmp_path / "data"), tmp_path / "questions")
    return tmp_path / "questions"


def refused(package: Path) -> str:
    with pytest.raises(InputError) as error:
        loaded(f"cliniqlink_questions(data='{package}')")
    return str(error.value)


def test_no_word_of_the_sample_s_gold_is_in_the_package(shared: Path, tmp_path: Path) -> None:
    data = shared / "data" / "cliniqlink"
    write_questions(f"cliniqlink(data={data})", tmp_path)
    gold = {
        "TF": ("answer",), "MC": ("correct_answer",), "list": ("answer",), "short": ("answer",),
        "short_inverse": ("incorrect_explanation",), "multi_hop": ("answer", "reasoning"),
        "multi_hop_inverse": ("incorrect_reasoning_step",),
    }  # fmt: skip
    for stem, fields in gold.items():
        written, rows = load(tmp_path / f"{stem}.json"), load(data / f"{stem}.json")
        assert [row["question"] for row in rows] == [row["question"] for row in written]
        assert not {*fields, "source"} & {key for row in written for key in row}
        for field in fields if stem not in ("TF", "MC", "list") else ():
            for row in rows:
                for text in row[field] if isinstance(row[field], list) else [row[field]]:
                    assert text not in json.dumps(written, ensure_ascii=False)


def test_what_is_shown_stays(package: Path) -> None:
    (inverse,) = load(package / "short_inverse.json")
    assert "That." == inverse["false_answer"]
    assert "Key." not in json.dumps(inverse)
    (chain,) = load(package / "multi_hop_inverse.json")
    assert ("No.", ["Step 1: One.", "Step 2: Two."]) == (chain["answer"], chain["reasoning"])


def test_every_item_has_the_id_of_the_exam_and_is_asked_in_the_same_words(
    shared: Path, tmp_path: Path
) -> None:
    spec = f"cliniqlink(data={shared / 'data' / 'cliniqlink'})"
    write_questions(spec, tmp_path)
    ours, theirs = loaded(spec).items, loaded(f"cliniqlink_questions(data='{tmp_path}')").items
    assert 35 == len(theirs)
    assert [(i.item, ask(i)) for i in ours] == [(i.item, ask(i)) for i in theirs]


def test_the_hash_does_not_tell_the_key(tmp_path: Path) -> None:
    """One over question and key would be found by trying True and False."""
    hashes = []
    for truth in ("True", "False"):
        spec = exam(tmp_path / truth, TF=[{"question": "Is it so?", "answer": truth}])
        write_questions(spec, tmp_path / f"q{truth}")
        hashes.append(load(tmp_path / f"q{truth}" / "TF.json")[0]["hash"])
    assert hashes[0] == hashes[1]


def test_items_of_a_package_have_no_key(package: Path) -> None:
    items = loaded(f"cliniqlink_questions(data='{package}')").items
    assert {""} == {key(item) for item in items}
    assert not any(item.answer or item.references or item.step for item in items)


def test_a_package_can_be_asked_and_not_marked(package: Path, tmp_path: Path) -> None:
    run = open_run(tmp_path / "r.viva")
    run.collect(f"cliniqlink_questions(data='{package}')", models=["baseline/random"], preset="published")
    for metric, field in (("accuracy", "answer"), ("list_f1", "answer"), ("rouge(n=L)", "references")):
        with pytest.raises(MetricError, match=f"needs {field}.*Nothing was scored"):
            run.score(metric)


def test_a_package_of_a_part_is_a_package(tmp_path: Path) -> None:
    exam(tmp_path / "data")
    write_questions(f"cliniqlink(data='{tmp_path / 'data'}', files=[TF, short])", tmp_path / "q")
    assert ["TF.json", "short.json"] == sorted(path.name for path in (tmp_path / "q").iterdir())
    assert 3 == len(loaded(f"cliniqlink_questions(data='{tmp_path / 'q'}')").items)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"question": "Is it otherwise?"}, "item 0: TF-0 is not what it was"),
        ({"hash": "0" * 16}, "its hash is"),
        ({"answer": "True"}, "TF.json, item 0 holds gold (answer)"),
        ({"id": ""}, "item 0: an id and a hash are needed"),
        ({"id": "TF-1"}, "'TF-1' stands there twice"),
        ({"question": " "}, "item 0: question must be a text"),
    ],
)
def test_a_package_that_was_changed_is_refused(package: Path, change: dict[str, Any], said: str) -> None:
    rows = load(package / "TF.json")
    dump(package / "TF.json", [rows[0] | change, *rows[1:]])
    assert said in refused(package)


def test_a_folder_without_a_package_says_how_one_is_written(tmp_path: Path) -> None:
    assert "`viva challenge questions" in refused(tmp_path)


def test_an_item_that_is_none_is_named(package: Path) -> None:
    dump(package / "MC.json", ["Which?"])
    assert "MC.json, item 0: a JSON object is needed, not str." in refused(package)


def test_writing_a_package_again_changes_nothing(package: Path, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in package.iterdir()}
    write_questions(f"cliniqlink(data='{tmp_path / 'data'}')", package)
    assert before == {path: path.read_bytes() for path in package.iterdir()}


def test_other_files_are_never_replaced(package: Path, tmp_path: Path) -> None:
    """The data with gold bear the names of a package's files."""
    before = (tmp_path / "data" / "MC.json").read_bytes()
    with pytest.raises(StoreError, match=r"TF\.json is there already and is another"):
        write_questions(f"cliniqlink(data='{tmp_path / 'data'}')", tmp_path / "data")
    assert before == (tmp_path / "data" / "MC.json").read_bytes()


def test_blank_results_that_were_filled_in_are_never_replaced(package: Path, tmp_path: Path) -> None:
    spec = f"cliniqlink_questions(data='{package}')"
    write_blank(spec, tmp_path / "blank")
    body = load(tmp_path / "blank" / "true_false.json")
    assert [None, None] == body["responses"]
    assert "Is it so?" in body["prompts"][0]
    dump(tmp_path / "blank" / "true_false.json", body | {"responses": ["True", "False"]})
    with pytest.raises(StoreError, match="give another folder"):
        write_blank(spec, tmp_path / "blank")


def test_an_exam_with_other_formats_has_no_such_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"sample holds questions of other formats \(8 longform\)"):
        write_questions("sample", tmp_path / "q")
    assert not (tmp_path / "q").exists()


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write to"):
        write_questions(exam(tmp_path / "data"), tmp_path / "file")
