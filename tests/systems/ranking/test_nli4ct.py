"""NLI4CT: statements on one trial, the lines of their section, and the marked ones joined as an extract."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.systems.ranking import nli4ct_files as files

from vivavoce.benchmarks import Loaded, TrainingItem, load
from vivavoce.core import registry
from vivavoce.core.errors import InputError
from vivavoce.core.records import Item
from vivavoce.systems.ranking.benchmark.nli4ct import JOINER

OPTIONS = ("entailment", "contradiction")


def loaded(folder: Path, settings: str = "") -> Loaded:
    return load(f"nli4ct(data='{folder}'{settings})")


def trained(folder: Path) -> list[TrainingItem]:
    return list(registry.build("benchmark", f"nli4ct(data='{folder}')").training())


def asked(folder: Path, **changes: Any) -> Loaded:
    """The test with a statement that is in order, and one with these changes."""
    rows = {"fine": files.statement(), "faulty": files.statement(**changes)}
    return loaded(files.written(folder, {"Gold_test": rows}))


def of_label(items: list[Item]) -> tuple[int, ...]:
    counts = Counter(item.answer[0] for item in items)
    return tuple(counts[option] for option in OPTIONS)


def test_1035_and_140_and_229_statements_on_one_trial_stay_with_their_labels(tmp_path: Path) -> None:
    files.written(tmp_path, files.many())
    splits = {split: loaded(tmp_path, f", split={split}").items for split in ("train", "dev", "test")}
    assert {"train": (533, 502), "dev": (70, 70), "test": (115, 114)} == {
        split: of_label(list(items)) for split, items in splits.items()
    }
    assert {"train": {"nli4ct_train"}, "dev": {"nli4ct_dev"}, "test": {"nli4ct"}} == {
        split: {item.benchmark for item in items} for split, items in splits.items()
    }
    assert {OPTIONS} == {item.options for items in splits.values() for item in items}
    in_training = trained(tmp_path)
    assert {"train": 1035, "dev": 140} == Counter(t.split for t in in_training)
    assert [t.item.hash for t in in_training] == [i.hash for s in ("train", "dev") for i in splits[s]]


def test_the_section_is_the_context_and_the_marked_lines_are_the_reference(tmp_path: Path) -> None:
    first, second = loaded(files.written(tmp_path)).items
    assert ("g1", files.TRIAL, "Eligibility") == (first.item, first.group, first.category)
    assert "A woman of 74 years can take part in the primary trial." == first.question
    assert "\n".join(files.TRIALS[files.TRIAL]["Eligibility"]) == first.context
    assert ("Inclusion Criteria: ** Adults from 18 to 70 years",) == first.references
    assert ("Falls 2/40 (5.00%)",) == second.references
    assert (("contradiction",), ("entailment",)) == (first.answer, second.answer)


def test_every_piece_of_the_reference_stands_in_the_section(tmp_path: Path) -> None:
    for item in loaded(files.written(tmp_path)).items:
        lines = [line.strip() for line in (item.context or "").split("\n")]
        assert item.references[0].split(JOINER)
        assert all(piece in lines for piece in item.references[0].split(JOINER))


def test_statements_that_compare_two_trials_are_not_asked_and_not_counted(tmp_path: Path) -> None:
    test = loaded(files.written(tmp_path))
    assert ["g1", "g3"] == [item.item for item in test.items]
    assert () == test.exclusions


def test_the_folder_or_the_one_that_holds_it_is_named(tmp_path: Path) -> None:
    outer, inner = loaded(files.written(tmp_path)), loaded(tmp_path / "Complete_dataset")
    assert [item.hash for item in outer.items] == [item.hash for item in inner.items]


def test_a_byte_order_mark_and_crlf_change_nothing(tmp_path: Path) -> None:
    plain = loaded(files.written(tmp_path / "a")).items
    other = loaded(files.written(tmp_path / "b", mark=b"\xef\xbb\xbf", end="\r\n")).items
    assert [item.hash for item in plain] == [item.hash for item in other]


def test_what_macos_put_beside_the_files_changes_nothing(tmp_path: Path) -> None:
    files.written(tmp_path)
    before = loaded(tmp_path)
    for file in sorted((tmp_path / "__MACOSX").rglob("._*")):
        file.unlink()
    after = loaded(tmp_path)
    assert (before.signature, before.items) == (after.signature, after.items)


def test_another_record_of_a_trial_is_another_exam(tmp_path: Path) -> None:
    before = loaded(files.written(tmp_path)).signature
    file = tmp_path / "Complete_dataset" / "CT json" / f"{files.TRIAL}.json"
    files.write_json(file, files.TRIALS[files.TRIAL] | {"Intervention": ["Running"]})
    assert before != loaded(tmp_path).signature


def test_the_marked_lines_are_the_argument_of_experts_in_training(tmp_path: Path) -> None:
    first, second, third = trained(files.written(tmp_path))
    assert [("t1", "train"), ("t2", "train"), ("d1", "dev")] == [
        (t.item.item, t.split) for t in (first, second, third)
    ]
    assert {"expert": ("Inclusion Criteria: ** Adults from 18 to 70 years",)} == first.arguments


def test_a_statement_without_a_marked_line_has_no_reference_and_no_argument(tmp_path: Path) -> None:
    for k, marked in enumerate(([], [0])):
        trials = {files.TRIAL: files.TRIALS[files.TRIAL] | {"Eligibility": [" ", "Adults"]}}
        row = {"s": files.statement(Primary_evidence_index=marked)}
        folder = files.written(tmp_path / str(k), {"train": row, "dev": row, "Gold_test": row}, trials)
        assert () == loaded(folder).items[0].references
        assert [{}, {}] == [t.arguments for t in trained(folder)]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"Primary_id": "NCT00000009"}, "the record of its trial is not there"),
        ({"Primary_id": "../Gold_test"}, "the record of its trial is not there"),
        ({"Primary_id": None}, "Primary_id is null"),
        ({"Primary_evidence_index": [0, 4]}, "Primary_evidence_index names no lines of the section"),
        ({"Primary_evidence_index": [-1]}, "Primary_evidence_index names no lines of the section"),
        ({"Primary_evidence_index": [True]}, "Primary_evidence_index names no lines of the section"),
        ({"Primary_evidence_index": None}, "Primary_evidence_index names no lines of the section"),
        ({"Label": None}, "Label is null"),
        ({"Label": "Neutral"}, "Label is neither Entailment nor Contradiction"),
        ({"Statement": " "}, "Statement is empty"),
        ({"Section_id": "Costs"}, "Section_id names no section of a trial"),
        ({"Section_id": "Results", "Primary_id": files.OTHER}, "the section of its trial is empty"),
    ],
)
def test_a_statement_that_can_be_no_item_is_left_out_with_its_reason(
    tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    test = asked(tmp_path, **changes)
    assert ["fine"] == [item.item for item in test.items]
    assert [("Gold_test.json", "faulty", reason)] == [(e.file, e.row, e.reason) for e in test.exclusions]


@pytest.mark.parametrize("record", [[], {"Eligibility": "Adults"}, {"Eligibility": [1, 2]}, {}])
def test_a_record_of_another_layout_leaves_its_statements_out(tmp_path: Path, record: Any) -> None:
    rows = {"fine": files.SAFE, "faulty": files.statement(Primary_id=files.OTHER)}
    folder = files.written(tmp_path, {"Gold_test": rows}, {**files.TRIALS, files.OTHER: record})
    test = loaded(folder)
    assert (["fine"], ["faulty"]) == ([i.item for i in test.items], [e.row for e in test.exclusions])


def test_a_test_without_labels_is_refused_with_the_reason(tmp_path: Path) -> None:
    """As one would put test.json in the place of Gold_test.json."""
    files.written(tmp_path, {"Gold_test": files.STATEMENTS["test"]})
    with pytest.raises(InputError, match=r"all of its 1 rows were left out: .*Label is null"):
        loaded(tmp_path)


def test_test_json_is_not_taken_for_the_test(tmp_path: Path) -> None:
    files.written(tmp_path, {"test": files.STATEMENTS["test"]})
    with pytest.raises(InputError, match=r"no Gold_test\.json or Complete_dataset/Gold_test\.json in "):
        loaded(tmp_path)


def test_a_folder_without_the_trials_is_one_sentence(tmp_path: Path) -> None:
    files.written(tmp_path, trials={})
    with pytest.raises(InputError, match=r'nli4ct: no folder "CT json" in .*: the records of the trials'):
        loaded(tmp_path)


@pytest.mark.parametrize("content", [[], {"a": "b"}, "text"])
def test_statements_of_another_layout_are_one_sentence(tmp_path: Path, content: Any) -> None:
    files.written(tmp_path)
    files.write_json(tmp_path / "Complete_dataset" / "Gold_test.json", content)
    with pytest.raises(InputError, match=r"Gold_test\.json: a JSON object is needed that has an object for"):
        loaded(tmp_path)


def test_a_broken_record_of_a_trial_is_named(tmp_path: Path) -> None:
    files.written(tmp_path)
    (tmp_path / "Complete_dataset" / "CT json" / f"{files.TRIAL}.json").write_text("{")
    with pytest.raises(InputError, match=rf"{files.TRIAL}\.json: broken JSON"):
        loaded(tmp_path)
