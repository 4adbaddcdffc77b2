"""BioRED: relations of abstracts as questions with eight options, and as extraction."""

import json
from pathlib import Path
from typing import Any

import pytest

from vivavoce.benchmarks import load
from vivavoce.core.errors import InputError
from vivavoce.formats import ask, key
from vivavoce.formats.relation import relations_of

DISEASE = "DiseaseOrPhenotypicFeature"
TITLE = "Aspirin and ulcers in mice."
BODY = "Acetylsalicylic acid (ASA) caused gastric ulcers and bound COX-1/2; ibuprofen did not."


def mention(text: str, identifier: str, kind: str) -> dict[str, Any]:
    return {
        "id": "0", "infons": {"identifier": identifier, "type": kind}, "text": text,
        "locations": [{"offset": 0, "length": len(text)}],
    }  # fmt: skip


def relation(number: int, kind: str, first: str, second: str, novel: str = "Novel") -> dict[str, Any]:
    infons = {"entity1": first, "entity2": second, "type": kind, "novel": novel}
    return {"id": f"R{number}", "infons": infons, "nodes": []}


def document(pmid: str, *relations: dict[str, Any]) -> dict[str, Any]:
    title = [
        mention("Aspirin", "D1", "ChemicalEntity"),
        mention("ulcers", "D2", DISEASE),
    ]
    body = [
        mention("Acetylsalicylic acid", "D1", "ChemicalEntity"),
        mention("ASA", "D1", "ChemicalEntity"),
        mention("gastric  ulcers", "D2", DISEASE),
        mention("COX-1/2", "5742,5743", "GeneOrGeneProduct"),
        mention("COX-2", "5743", "GeneOrGeneProduct"),
        mention("ibuprofen", "D3", "ChemicalEntity"),
    ]
    passages = [
        {"offset": 0, "text": TITLE, "annotations": title},
        {"offset": len(TITLE) + 1, "text": BODY, "annotations": body},
    ]
    return {"id": pmid, "infons": {}, "passages": passages, "relations": list(relations)}


DOCUMENTS = (
    document(
        "101",
        relation(0, "Positive_Correlation", "D1", "D2"),
        relation(1, "Bind", "5743", "D1", "No"),
        relation(2, "Association", "D3", "D2"),
        relation(3, "Negative_Correlation", "D2", "D3"),  # another type for one pair
        relation(4, "Bind", "D1", "5743", "No"),  # the same again, the other way round
        relation(5, "Cotreatment", "D1", "D9"),  # not in the text
        relation(6, "Inhibition", "D1", "D3"),  # no such type
    ),
    document("102", relation(0, "Comparison", "D1", "D3")),
    document("103"),
)


def folder(path: Path, documents: Any = DOCUMENTS) -> Path:
    text = json.dumps({"source": "x", "date": "y", "key": "z", "documents": documents})
    (path / "Test.BioC.JSON").write_text(text, encoding="utf-8")
    return path


def test_a_choice_names_both_entities_and_offers_the_eight_types(tmp_path: Path) -> None:
    loaded = load(f"biored(data={folder(tmp_path)})")
    assert ["101-R0", "101-R1", "102-R0"] == [item.item for item in loaded.items]
    first, second, third = loaded.items
    assert (8, ("Positive_Correlation",)) == (len(first.options), first.answer)
    assert 'How is "Aspirin" (ChemicalEntity) related to "ulcers"' in first.question
    assert f"{TITLE}\n{BODY}" == first.context
    assert {"101", "102"} == {item.group for item in loaded.items}
    # COX-1/2 stands for two genes: the one that is meant goes by its own name.
    assert '"COX-2" (GeneOrGeneProduct)' in second.question
    assert [True, False, True] == [item.meta["novel"] for item in (first, second, third)]
    assert len({item.options for item in loaded.items}) == 1


def test_what_is_no_single_choice_is_left_out_with_its_reason(tmp_path: Path) -> None:
    loaded = load(f"biored(data={folder(tmp_path)})")
    assert {
        "101-R2": "the pair has two types",
        "101-R3": "the pair has two types",
        "101-R4": "it repeats an earlier relation",
        "101-R5": "an entity of it is not in the text",
        "101-R6": "its type is none of the eight",
    } == {row.row: row.reason for row in loaded.exclusions}


def test_an_abstract_is_keyed_by_all_its_relations_under_all_names(tmp_path: Path) -> None:
    loaded = load(f"biored(data={folder(tmp_path)}, task=relations)")
    assert ["101", "102"] == [item.item for item in loaded.items]
    first, second = (relations_of(item) for item in loaded.items)
    assert ("Aspirin", "Acetylsalicylic acid", "ASA") == first[0].head
    assert (("ulcers", "gastric ulcers"), "Positive_Correlation", True) == (
        first[0].tail, first[0].type, first[0].novel
    )  # fmt: skip
    assert ("COX-2", "COX-1/2") == first[1].head
    assert 5 == len(first)
    assert "Aspirin | Comparison | ibuprofen | novel" == key(loaded.items[1])
    assert "- Drug_Interaction" in ask(loaded.items[0])
    reasons = {row.row: row.reason for row in loaded.exclusions}
    assert "it has no relation" == reasons["103"]
    assert len(second) == 1


def test_of_two_that_bear_one_name_nobody_could_be_asked(tmp_path: Path) -> None:
    twins = document("7", relation(0, "Bind", "5742", "5743"), relation(1, "Bind", "5742", "D1"))
    twins["passages"][1]["annotations"][4]["text"] = "COX-1/2"
    loaded = load(f"biored(data={folder(tmp_path, [twins])})")
    assert ["both entities bear one name"] == [row.reason for row in loaded.exclusions]


@pytest.mark.parametrize("text", ["[]", "{}", '{"documents": 3}', '{"documents": ["x"]}'])
def test_a_file_that_is_no_bioc_is_refused_in_one_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "Test.BioC.JSON").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"is no BioC JSON"):
        load(f"biored(data={tmp_path})")


@pytest.mark.parametrize("text", ["", "[" * 100_000, '{"documents": [{"id": "\\ud800"}]}', '{"x": NaN}'])
def test_a_file_that_is_no_json_is_refused_in_one_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "Test.BioC.JSON").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"Test\.BioC\.JSON: broken JSON \("):
        load(f"biored(data={tmp_path})")


@pytest.mark.parametrize("infons", [None, "Bind", ["Bind"], 3, True])
def test_infons_that_are_no_object_say_nothing(tmp_path: Path, infons: Any) -> None:
    odd = document("8", {"id": "R0", "infons": infons})
    unnamed = document("9", relation(0, "Bind", "D3", "D2"), relation(1, "Bind", "D1", "D2"))
    unnamed["passages"][1]["annotations"][5]["infons"] = infons
    loaded = load(f"biored(data={folder(tmp_path, [odd, unnamed])})")
    assert ["9-R1"] == [item.item for item in loaded.items]
    reasons = ["a relation lacks its type, an entity or novel", "an entity of it is not in the text"]
    assert reasons == [row.reason for row in loaded.exclusions]


@pytest.mark.parametrize("task", ["mcq", "relations"])
def test_an_abstract_that_stands_there_twice_is_asked_once(tmp_path: Path, task: str) -> None:
    loaded = load(f"biored(data={folder(tmp_path, DOCUMENTS[1:2] * 2)}, task={task})")
    assert 1 == len(loaded.items)
    assert ["an earlier row bears the same id"] == [row.reason for row in loaded.exclusions]


def test_both_tasks_stand_in_one_run_and_an_abstract_is_one_case(tmp_path: Path) -> None:
    choice, extraction = (load(f"biored(data={folder(tmp_path)}, task={t})") for t in ("mcq", "relations"))
    assert ({"biored"}, {"biored_relations"}) == tuple(
        {item.benchmark for item in loaded.items} for loaded in (choice, extraction)
    )
    assert (None, "biored") == (choice.card.groups_of, extraction.card.groups_of)
    assert {item.group for item in choice.items} == {item.group for item in extraction.items}
    assert {} == extraction.card.published, "the paper asked for no extraction"


def test_a_document_without_a_text_or_with_a_broken_relation_is_left_out(tmp_path: Path) -> None:
    broken = document("8", {"id": "R0", "infons": {"type": "Bind"}})
    documents = [*DOCUMENTS, broken, {"id": "9", "passages": []}, {"passages": 3}]
    loaded = load(f"biored(data={folder(tmp_path, documents)})")
    reasons = {row.row: row.reason for row in loaded.exclusions if isinstance(row.row, int)}
    assert {
        4: "a relation lacks its type, an entity or novel",
        5: "it has no text",
        6: "it has no id",
    } == reasons


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Test\.BioC\.JSON"):
        load(f"biored(data={tmp_path})")
