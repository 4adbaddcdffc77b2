"""The closed data sets: each layout that was published, and each fault that their files have."""

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.benchmarks.health.closed_layouts import (
    careqa_row,
    medmcqa_row,
    medqa_authors_row,
    medqa_hub_row,
    mmlu_cells,
    mmlu_row,
    prescription_row,
    pubmedqa_entry,
    write_csv,
    write_json,
    write_json_lines,
    write_parquet,
)

from vivavoce.benchmarks import Loaded, load, load_examples
from vivavoce.core.errors import InputError, SpecError
from vivavoce.core.records import Item
from vivavoce.formats import options
from vivavoce.run.catalogue import describe

HUB = "data/validation-00000-of-00001.parquet"
AUTHORS = "questions/US/4_options/phrases_no_exclude_test.jsonl"


def reasons(loaded: Loaded) -> list[str]:
    return [exclusion.reason for exclusion in loaded.exclusions]


def only(loaded: Loaded) -> Item:
    (item,) = loaded.items
    return item


# --- MedMCQA


def test_medmcqa_counts_from_0_in_the_hubs_files_and_from_1_in_the_authors(tmp_path: Path) -> None:
    write_parquet(tmp_path / "hub" / HUB, [medmcqa_row(base=0)])
    write_json_lines(tmp_path / "authors" / "dev.json", [medmcqa_row(base=1)])
    hub = only(load(f"medmcqa(data={tmp_path}/hub)"))
    assert ("Vitamin C",) == hub.answer
    assert ("row-1", "row-1", "Biochemistry", "mcq") == (hub.item, hub.group, hub.category, hub.format)
    assert {"choice_type": "single"} == hub.meta
    assert hub == only(load(f"medmcqa(data={tmp_path}/authors)"))


@pytest.mark.parametrize(("name", "base", "wrong"), [(HUB, 1, 4), ("dev.json", 0, 0)])
def test_medmcqa_of_the_other_base_is_refused(tmp_path: Path, name: str, base: int, wrong: int) -> None:
    rows = [medmcqa_row(k, base=base, cop=base + k) for k in range(4)]
    (write_parquet if name == HUB else write_json_lines)(tmp_path / name, rows)
    with pytest.raises(InputError, match=rf"cop holds {wrong}, and files of this layout count options from"):
        load(f"medmcqa(data={tmp_path})")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"opd": "Vitamin A"}, "two options are equal"),
        ({"opd": "Vitamin  A "}, "two options are equal"),
        ({"opd": None}, "opd is null"),
        ({"opd": ""}, "opd is empty"),
        ({"question": None}, "question is null"),
        ({"cop": -1}, "cop is not from 0 to 3"),
        ({"cop": 7}, "cop is not from 0 to 3"),
        ({"cop": None}, "cop is null"),
        ({"id": "row-1"}, "an earlier row bears the same id"),
    ],
)
def test_a_faulty_row_of_medmcqa_is_left_out(tmp_path: Path, change: dict[str, Any], why: str) -> None:
    write_parquet(tmp_path / HUB, [medmcqa_row(base=0), medmcqa_row(2, base=0) | change])
    loaded = load(f"medmcqa(data={tmp_path})")
    assert (["row-1"], [why]) == ([item.item for item in loaded.items], reasons(loaded))
    assert [(HUB.partition("/")[2], 2)] == [exclusion[:2] for exclusion in loaded.exclusions]


def test_a_key_may_be_a_float_as_parquet_writes_columns_with_nulls(tmp_path: Path) -> None:
    write_parquet(tmp_path / HUB, [medmcqa_row(base=0, cop=1.0), medmcqa_row(2, base=0, cop=float("nan"))])
    loaded = load(f"medmcqa(data={tmp_path})")
    assert ("Vitamin C",) == only(loaded).answer
    assert ["cop is null"] == reasons(loaded)


def test_the_test_split_of_medmcqa_is_never_taken_for_the_keyed_one(tmp_path: Path) -> None:
    write_parquet(tmp_path / "data/test-00000-of-00001.parquet", [medmcqa_row(base=0, cop=-1)])
    with pytest.raises(InputError, match=r"medmcqa: no data/validation-\*\.parquet or .*dev\.json in"):
        load(f"medmcqa(data={tmp_path})")


def test_the_training_split_of_medmcqa_gives_examples(tmp_path: Path) -> None:
    write_parquet(tmp_path / HUB, [medmcqa_row(base=0)])
    assert () == load_examples(f"medmcqa(data={tmp_path})")
    write_parquet(tmp_path / "data/train-00000-of-00001.parquet", [medmcqa_row(9, base=0)])
    assert ["row-9"] == [item.item for item in load_examples(f"medmcqa(data={tmp_path})")]


# --- MedQA


def test_medqa_is_the_same_in_both_layouts_but_for_id_and_category(tmp_path: Path) -> None:
    write_json_lines(tmp_path / "hub/test.json", [medqa_hub_row()])
    write_json_lines(tmp_path / "authors" / AUTHORS, [medqa_authors_row()])
    hub, authors = (only(load(f"medqa(data={tmp_path}/{name})")) for name in ("hub", "authors"))
    assert ("Vitamin K",) == hub.answer == authors.answer
    assert hub.hash == authors.hash
    assert ("test-00001", None) == (hub.item, hub.category)
    assert "step1" == authors.category
    assert 12 == len(authors.item)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"answer": "Naloxone"}, "answer and answer_idx name different options"),
        ({"answer_idx": "E"}, "answer_idx is no letter from A to D"),
        ({"answer_idx": ""}, "answer_idx is empty"),
        ({"options": {"A": "x", "B": "y", "C": "Vitamin K"}}, "options are not under A to D"),
        ({"options": None}, "options are not under A to D"),
        (
            {"options": {"A": "x", "B": "x", "C": "Vitamin K", "D": "y"}},
            "two options are equal",
        ),
        ({"question": " "}, "question is empty"),
    ],
)
def test_a_faulty_row_of_medqas_authors_is_left_out(tmp_path: Path, change: dict[str, Any], why: str) -> None:
    write_json_lines(tmp_path / AUTHORS, [medqa_authors_row(), medqa_authors_row(2) | change])
    loaded = load(f"medqa(data={tmp_path})")
    assert (1, [why]) == (len(loaded.items), reasons(loaded))


def test_medqas_hub_rows_are_checked_too(tmp_path: Path) -> None:
    rows = [medqa_hub_row(), medqa_hub_row(2, sent2="more"), medqa_hub_row(3, label="x")]
    write_json_lines(tmp_path / "test.json", rows)
    assert ["sent2 is not empty", "label is no whole number"] == reasons(load(f"medqa(data={tmp_path})"))
    write_json_lines(tmp_path / "test.json", [medqa_hub_row(k, label=k) for k in range(5)])
    with pytest.raises(InputError, match="label holds 4, and files of this layout count options from 0"):
        load(f"medqa(data={tmp_path})")


def test_medqas_examples_are_of_the_development_split_else_of_the_training_split(tmp_path: Path) -> None:
    write_json_lines(tmp_path / "test.json", [medqa_hub_row()])
    write_json_lines(tmp_path / "train.json", [medqa_hub_row(8)])
    assert ["test-00008"] == [item.item for item in load_examples(f"medqa(data={tmp_path})")]
    write_json_lines(tmp_path / "dev.json", [medqa_hub_row(9)])
    assert ["test-00009"] == [item.item for item in load_examples(f"medqa(data={tmp_path})")]


# --- PubMedQA


def test_the_published_questions_of_pubmedqa(shared: Path) -> None:
    """Labels of the sample as its ORIGIN.md counts them."""
    loaded = load(f"pubmedqa(data={shared}/data/suite/pubmedqa)")
    assert Counter(yes=16, no=12, maybe=7) == Counter(item.answer[0] for item in loaded.items)
    assert () == loaded.exclusions
    item = next(item for item in loaded.items if item.item == "9488747")
    assert ("yes", "no", "maybe") == item.options
    assert {"year": 1997} == item.meta
    assert item.context
    assert item.context.startswith("Apparent life-threatening events in infants are")


def test_only_the_questions_of_the_test_are_asked(tmp_path: Path) -> None:
    write_json(tmp_path / "data/ori_pqal.json", {"11": pubmedqa_entry(), "12": pubmedqa_entry(QUESTION="B?")})
    write_json(tmp_path / "data/test_ground_truth.json", {"12": "no"})
    item = only(load(f"pubmedqa(data={tmp_path})"))
    assert ("12", "B?", ("no",)) == (item.item, item.question, item.answer)
    assert "Made up: 40 wards drew lots.\nThe rates were 3.1 and 3.0." == item.context


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"final_decision": "yes"}, "the two files state different labels"),
        ({"final_decision": None}, "final_decision is null"),
        ({"final_decision": ""}, "final_decision is empty"),
        ({"QUESTION": None}, "QUESTION is null"),
        ({"CONTEXTS": []}, "CONTEXTS is empty"),
        ({"CONTEXTS": "text"}, "CONTEXTS is no list of texts"),
        ({"YEAR": "MMXI"}, "YEAR is no whole number"),
    ],
)
def test_a_faulty_entry_of_pubmedqa_is_left_out(tmp_path: Path, change: dict[str, Any], why: str) -> None:
    write_json(tmp_path / "ori_pqal.json", {"11": pubmedqa_entry(), "12": pubmedqa_entry(**change)})
    write_json(tmp_path / "test_ground_truth.json", {"11": "no", "12": "no"})
    loaded = load(f"pubmedqa(data={tmp_path})")
    assert (["11"], [why]) == ([item.item for item in loaded.items], reasons(loaded))


def test_labels_other_than_pubmedqas_and_missing_entries_are_left_out(tmp_path: Path) -> None:
    entries = {"11": pubmedqa_entry(), "12": pubmedqa_entry(final_decision="perhaps")}
    write_json(tmp_path / "ori_pqal.json", entries)
    write_json(tmp_path / "test_ground_truth.json", {"11": "no", "12": "perhaps", "13": "yes"})
    loaded = load(f"pubmedqa(data={tmp_path})")
    assert {
        ("13", "ori_pqal.json has no entry of this PMID"),
        ("12", "the label is not yes, no or maybe"),
    } == {exclusion[1:] for exclusion in loaded.exclusions}


@pytest.mark.parametrize("content", [[], {}, [1], "x"])
def test_a_pubmedqa_file_of_another_form_is_refused(tmp_path: Path, content: Any) -> None:
    write_json(tmp_path / "ori_pqal.json", content)
    write_json(tmp_path / "test_ground_truth.json", {"11": "no"})
    with pytest.raises(InputError, match=r"ori_pqal\.json: one JSON object is needed whose keys are PMIDs\."):
        load(f"pubmedqa(data={tmp_path})")


def test_pubmedqas_labels_lie_beside_it_or_the_folder_is_refused(tmp_path: Path) -> None:
    write_json(tmp_path / "data/ori_pqal.json", {"11": pubmedqa_entry()})
    with pytest.raises(InputError, match=r"pubmedqa: no data/test_ground_truth\.json or test_ground_truth\."):
        load(f"pubmedqa(data={tmp_path})")


# --- MMLU


def hub_mmlu(folder: Path, subject: str, *rows: dict[str, Any], split: str = "test") -> None:
    write_parquet(folder / subject / f"{split}-00000-of-00001.parquet", rows or [mmlu_row()])


def test_mmlu_is_the_same_in_both_layouts(tmp_path: Path) -> None:
    hub_mmlu(tmp_path / "hub", "anatomy")
    write_csv(tmp_path / "authors/data/test/anatomy_test.csv", [mmlu_cells()])
    hub, authors = (
        only(load(f"mmlu(data={tmp_path}/{name}, subject=anatomy)")) for name in ("hub", "authors")
    )
    assert hub == authors
    assert (("Humerus",), "anatomy") == (hub.answer, hub.category)
    assert hub.item.startswith("anatomy-")
    assert "Ulna, the" == hub.options[1]


def test_mmlu_asks_the_six_medical_subjects(tmp_path: Path) -> None:
    medical = (
        *("anatomy", "clinical_knowledge", "college_biology", "college_medicine"),
        *("medical_genetics", "professional_medicine"),
    )
    for subject in (*medical, "astronomy"):
        hub_mmlu(tmp_path, subject)
    loaded = load(f"mmlu(data={tmp_path})")
    assert list(medical) == [item.category for item in loaded.items]
    one = load(f"mmlu(data={tmp_path}, subject=anatomy)")
    assert (1, 5) == (len(one.items), len(one.others))
    assert "astronomy" == only(load(f"mmlu(data={tmp_path}, subject=astronomy)")).category


def test_a_missing_subject_of_mmlu_is_named(tmp_path: Path) -> None:
    hub_mmlu(tmp_path, "anatomy")
    with pytest.raises(InputError, match=r"mmlu: no clinical_knowledge/test-\*\.parquet or data/test/clin"):
        load(f"mmlu(data={tmp_path})")
    for wrong in ("../anatomy", "Anatomy", "anatomy/"):
        with pytest.raises(SpecError, match="is no subject of MMLU"):
            load(f"mmlu(data={tmp_path}, subject={wrong})")


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([["question", "A", "B", "C", "D", "answer"], mmlu_cells()], "its first row is no question"),
        ([mmlu_cells(letter=2)], "its first row is no question"),
        ([mmlu_cells(), mmlu_cells(2, letter="2")], "line 2: the key is a number"),
        ([["", *mmlu_cells()]], "its first row is no question"),
    ],
)
def test_a_mirror_of_mmlu_in_another_layout_is_refused(tmp_path: Path, rows: Any, why: str) -> None:
    write_csv(tmp_path / "test/anatomy_test.csv", rows)
    with pytest.raises(InputError, match=rf"anatomy_test\.csv.*{why}"):
        load(f"mmlu(data={tmp_path}, subject=anatomy)")


def test_blank_lines_of_mmlus_csv_are_no_rows_and_a_blank_file_is_refused(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "test/anatomy_test.csv", [mmlu_cells(), [], mmlu_cells(2), []])
    assert 2 == len(load(f"mmlu(data={tmp_path}, subject=anatomy)").items)
    path.write_text("\n\n")
    with pytest.raises(InputError, match=r"anatomy_test\.csv is empty: it holds no rows\."):
        load(f"mmlu(data={tmp_path}, subject=anatomy)")


def test_mmlu_of_another_base_is_refused(tmp_path: Path) -> None:
    hub_mmlu(tmp_path, "anatomy", *(mmlu_row(k, answer=k) for k in range(1, 5)))
    with pytest.raises(InputError, match="answer holds 4, and files of this layout count options from 0"):
        load(f"mmlu(data={tmp_path}, subject=anatomy)")


def test_faulty_rows_of_mmlus_csv_are_left_out(tmp_path: Path) -> None:
    rows = [
        mmlu_cells(),
        [*mmlu_cells(2)[:5], "E"],
        [*mmlu_cells(3)[:5], ""],
        [*mmlu_cells(4)[:4], "C"],
        ["Which?", "x", "x", "y", "z", "A"],
        ["", "v", "x", "y", "z", "A"],
        mmlu_cells(),
        mmlu_cells(7),
        mmlu_cells(7, letter="A"),
    ]
    write_csv(tmp_path / "test/anatomy_test.csv", rows, bom=True, end="\r\n")
    loaded = load(f"mmlu(data={tmp_path}, subject=anatomy)")
    assert 'Which bone of the arm, "the upper", is the longest? (1)' == only(loaded).question
    assert [
        "the key is no letter from A to D",
        "answer is empty",
        "the row has not six fields",
        "two options are equal",
        "question is empty",
        "it repeats an earlier row",
        "rows with one question have different keys",
        "rows with one question have different keys",
    ] == reasons(loaded)


def test_faulty_rows_of_mmlus_parquet_are_left_out(tmp_path: Path) -> None:
    rows = [
        mmlu_row(),
        mmlu_row(2, choices=["a", "b"]),
        mmlu_row(3, choices=None),
        mmlu_row(4, choices=["a", "b", "c", None]),
        mmlu_row(5, answer=None),
    ]
    hub_mmlu(tmp_path, "anatomy", *rows)
    loaded = load(f"mmlu(data={tmp_path}, subject=anatomy)")
    assert 1 == len(loaded.items)
    assert [
        "there are not four choices",
        "choices is null",
        "choices is no list of texts",
        "answer is null",
    ] == reasons(loaded)


def test_mmlus_development_split_gives_examples_of_each_subject(tmp_path: Path) -> None:
    hub_mmlu(tmp_path, "anatomy")
    hub_mmlu(tmp_path, "anatomy", *(mmlu_row(k) for k in range(11, 16)), split="dev")
    examples = load_examples(f"mmlu(data={tmp_path}, subject=anatomy)")
    assert ["anatomy"] * 5 == [item.category for item in examples]


# --- CareQA


def careqa(folder: Path, *rows: dict[str, Any], language: str = "en") -> str:
    write_json(folder / f"CareQA_{language}.json", list(rows) or [careqa_row()])
    return f"careqa(data={folder}, language={language})"


def test_careqa_counts_from_1_and_shares_its_groups_between_languages(tmp_path: Path) -> None:
    english, spanish = load(careqa(tmp_path)), load(careqa(tmp_path, language="es"))
    item = only(english)
    assert ("Acetylcysteine.",) == item.answer
    assert ("Nursing", {"year": 2024, "exam_id": "1"}) == (item.category, item.meta)
    assert item.item == item.group == only(spanish).group
    assert ("careqa", "careqa_es") == (item.benchmark, only(spanish).benchmark)
    assert (None, "careqa") == (english.card.groups_of, spanish.card.groups_of)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"question": None}, "question is null"),
        ({"op2": "Naloxone."}, "two options are equal"),
        ({"op2": None}, "op2 is null"),
        ({"cop": 5}, "cop is not from 1 to 4"),
        ({"cop": None}, "cop is null"),
        ({"year": "soon"}, "year is no whole number"),
        ({"category": ["Nursing"]}, "category is no text"),
        ({"unique_id": None}, "unique_id is null"),
        ({"unique_id": careqa_row()["unique_id"]}, "an earlier row bears the same id"),
    ],
)
def test_a_faulty_row_of_careqa_is_left_out(tmp_path: Path, change: dict[str, Any], why: str) -> None:
    loaded = load(careqa(tmp_path, careqa_row(), careqa_row(2) | change))
    assert (1, [why]) == (len(loaded.items), reasons(loaded))


def test_careqa_that_counts_from_0_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cop holds 0, and files of this layout count options from 1"):
        load(careqa(tmp_path, careqa_row(), careqa_row(2, cop=0)))


def test_careqa_without_a_column_is_refused(tmp_path: Path) -> None:
    row = careqa_row()
    del row["op4"]
    with pytest.raises(InputError, match=r"CareQA_en\.json: no column 'op4'\."):
        load(careqa(tmp_path, row))


def test_a_year_written_as_a_float_is_a_year(tmp_path: Path) -> None:
    assert 2024 == only(load(careqa(tmp_path, careqa_row(year=2024.0)))).meta["year"]


def test_text_in_any_script_stays_as_it_is(tmp_path: Path) -> None:
    row = careqa_row(
        question="¿Qué fármaco…? \u00a0μg/día «niños» 喘息 \U0001fac1", op1="Ácido\u202fascórbico."
    )
    item = only(load(careqa(tmp_path, row, language="es")))
    assert (row["question"], row["op1"]) == (item.question, item.options[0])


# --- Medical abstracts


def test_the_published_abstracts(shared: Path) -> None:
    """Three abstracts of the sample come twice, under different labels."""
    loaded = load(f"medical_abstracts(data={shared}/data/suite/medical_abstracts)")
    assert () == loaded.exclusions
    groups = Counter(item.group for item in loaded.items)
    assert [2, 2, 2] == [n for n in groups.values() if n > 1]
    for group in (name for name, n in groups.items() if n > 1):
        first, second = (item for item in loaded.items if item.group == group)
        assert (group, f"{group}-2") == (first.item, second.item)
        assert first.context == second.context
        assert first.answer != second.answer
    assert 5 == len(loaded.items[0].options)
    assert any("The train split does not lie in the folder" in fault for fault in loaded.card.faults)


LABELS = [["condition_label", "condition_name"], [1, "neoplasms"], [2, "digestive system diseases"]]


def abstracts(folder: Path, labels: Any = LABELS, **splits: Any) -> str:
    write_csv(folder / "medical_tc_labels.csv", labels)
    for split, rows in splits.items():
        write_csv(folder / f"medical_tc_{split}.csv", [["condition_label", "medical_abstract"], *rows])
    return f"medical_abstracts(data={folder})"


def test_both_splits_of_the_abstracts_are_asked_or_one(tmp_path: Path) -> None:
    spec = abstracts(tmp_path, train=[[1, "A growth."], [2, "An ulcer."]], test=[[2, "A growth."]])
    loaded = load(spec)
    assert ["train", "train", "test"] == [item.meta["split"] for item in loaded.items]
    assert loaded.items[0].group == loaded.items[2].group
    test = load(spec.replace(")", ", split=test)"))
    assert [loaded.items[2]] == list(test.items)
    (tmp_path / "medical_tc_train.csv").unlink()
    with pytest.raises(InputError, match=r"medical_abstracts: no medical_tc_train\.csv in"):
        load(spec.replace(")", ", split=train)"))


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ([3, "A growth."], "the label has no name"),
        (["", "A growth."], "condition_label is null"),
        (["x", "A growth."], "condition_label is no whole number"),
        ([1, " "], "medical_abstract is empty"),
        ([1, "An ulcer."], "it repeats an earlier row"),
    ],
)
def test_a_faulty_row_of_the_abstracts_is_left_out(tmp_path: Path, row: list[Any], why: str) -> None:
    loaded = load(abstracts(tmp_path, test=[[1, "An ulcer."], row]))
    assert (1, [why]) == (len(loaded.items), reasons(loaded))


def test_the_table_of_labels_must_be_sound(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"labels\.csv: a label or its name stands there twice\."):
        load(abstracts(tmp_path, [*LABELS, [2, "other"]], test=[[1, "A."]]))
    with pytest.raises(InputError, match=r"labels\.csv: a label or its name stands there twice\."):
        load(abstracts(tmp_path, [*LABELS, [3, "neoplasms "]], test=[[1, "A."]]))
    with pytest.raises(InputError, match=r"medical_tc_labels\.csv, row 3: condition_name is empty\."):
        load(abstracts(tmp_path, [*LABELS[:2], [2, ""]], test=[[1, "A."]]))


# --- Medical transcriptions


def transcriptions(folder: Path, *rows: list[Any]) -> str:
    header = ["", "description", "medical_specialty", "sample_name", "transcription", "keywords"]
    write_csv(folder / "mtsamples.csv", [header, *rows])
    return f"medical_transcriptions(data={folder})"


def report(number: int, specialty: str = " Urology", text: str = "A stone, 4 mm.") -> list[Any]:
    return [number, "A note.", specialty, " Stone ", text, "urology, stone"]


def test_all_specialties_of_the_transcriptions_are_options_without_their_blank(tmp_path: Path) -> None:
    rows = [report(0), report(1, " Surgery"), report(2, " Radiology", "A film."), report(3, text="")]
    rows += [report("x"), report(5, "")]  # type: ignore[arg-type]
    loaded = load(transcriptions(tmp_path, *rows))
    assert {("Radiology", "Surgery", "Urology")} == {item.options for item in loaded.items}
    assert ["0", "1", "2"] == [item.item for item in loaded.items]
    assert [("Urology",), ("Surgery",), ("Radiology",)] == [item.answer for item in loaded.items]
    assert loaded.items[0].group == loaded.items[1].group != loaded.items[2].group
    assert [
        "transcription is empty",
        "the row number is no whole number",
        "medical_specialty is empty",
    ] == reasons(loaded)


def test_five_thousand_reports_load_without_a_look_at_each_pair_of_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: Counter[str] = Counter()
    plain = options._plain

    def counted(option: str) -> str:
        looks[option] += 1
        return plain(option)

    monkeypatch.setattr(options, "_plain", counted)
    rng = random.Random(0)
    words = [f"word{k}" for k in range(500)]
    rows = [report(k, f" Specialty {k % 40:02}", " ".join(rng.choices(words, k=400))) for k in range(4999)]
    spec = transcriptions(tmp_path, *rows)
    loaded = load(spec)
    assert 4999 == len(loaded.items)
    assert 40 == len(loaded.items[0].options)
    assert 0 < looks.total() <= 2 * 40 * 4999  # an item is checked when it is made, and with its benchmark


# --- Prescriptions


def prescriptions(folder: Path, *rows: dict[str, Any], level: str = "easy") -> str:
    write_parquet(folder / "data/train-00000-of-00001.parquet", rows)
    return f"prescription(data={folder}, level={level})"


def drug(line: str) -> str:
    return line.partition(",")[0]


def test_easy_prescriptions_have_wrong_lines_of_other_medicines(tmp_path: Path) -> None:
    loaded = load(prescriptions(tmp_path, *(prescription_row(k) for k in range(8))))
    assert 8 == len(loaded.items)
    for k, item in enumerate(loaded.items):
        assert f"A patient presents with: Acid reflux ({k}). What would you prescribe?" == item.question
        assert 4 == len(set(map(drug, item.options)))
        mine = {f"Pan {k}0", f"Pan {k}1"}
        assert [drug(item.answer[0])] == [drug(option) for option in item.options if drug(option) in mine]
    assert "Pan 30, before breakfast, 4 days" in {text for item in loaded.items for text in item.options}


def test_the_options_of_a_prescription_are_drawn_once(tmp_path: Path) -> None:
    """In any order of the rows, and most of them also where a row is added."""
    rows = [prescription_row(k) for k in range(30)]
    first = {item.item: item for item in load(prescriptions(tmp_path / "a", *rows)).items}
    again = load(prescriptions(tmp_path / "b", *reversed(rows))).items
    assert {name: item.options for name, item in first.items()} == {i.item: i.options for i in again}
    more = load(prescriptions(tmp_path / "c", *rows, prescription_row(99))).items
    assert sum(item.item in first and first[item.item].options == item.options for item in more) > 20
    assert {item.options.index(item.answer[0]) for item in again} == {0, 1, 2, 3}


@pytest.mark.parametrize("medicines", [1, 2, 3, 5])
def test_hard_prescriptions_change_frequency_and_duration(tmp_path: Path, medicines: int) -> None:
    rows = [prescription_row(k, medicines=medicines) for k in range(20)]
    loaded = load(prescriptions(tmp_path, *rows, level="hard"))
    assert 20 == len(loaded.items)
    for k, item in enumerate(loaded.items):
        names = {f"Pan {k}{m}" for m in range(medicines)}
        assert names >= set(map(drug, item.options))
        assert 4 == len(set(item.options))
    assert {"prescription_hard"} == {item.benchmark for item in loaded.items}
    assert "prescription" == loaded.card.groups_of


@pytest.mark.parametrize(
    ("form", "question"),
    [
        ({"procedure": {"chief_complaints": "Cough", "diagnosis": "Asthma"}}, "Cough. Diagnosis: Asthma"),
        ({"procedure": {"chief_complaints": "NA", "diagnosis": "Asthma"}}, "Asthma"),
        ({"procedure": {"chief_complaints": "Cough"}}, "Cough"),
        ({"procedure": {}, "prescription_details": {"disease_diagnosis": "Asthma"}}, "Asthma"),
        ({"procedure": None, "Symptoms/Complaints": ["Cough", "NA", "Fever"]}, "Cough, Fever"),
    ],
)
def test_every_kind_of_form_states_its_diagnosis(tmp_path: Path, form: dict[str, Any], question: str) -> None:
    loaded = load(
        prescriptions(tmp_path, *(prescription_row(k) for k in range(4)), prescription_row(9, **form))
    )
    assert f"A patient presents with: {question}. What would you prescribe?" == loaded.items[-1].question


@pytest.mark.parametrize(
    ("entries", "line"),
    [
        ({"medicine_details": [{"medicine_name": "Pan", "medicine_dosage": "40 MG"}]}, "Pan, 40 mg"),
        ({"medicine_details": [{"medicine_name": "Pan", "course_duration": "5 Days"}]}, "Pan, 5 days"),
        (
            {"medicine_details": [], "Medicines Prescribed": [{"Name": "Pan", "Duration": "5 Days"}]},
            "Pan, 5 days",
        ),
        (
            {"medicine_details": [], "Medicines Prescribed": [{"Name": "Pan", "Dosage": "1-0-1"}]},
            "Pan, 1-0-1",
        ),
    ],
)
def test_every_kind_of_form_states_its_medicines(tmp_path: Path, entries: dict[str, Any], line: str) -> None:
    rows = [*(prescription_row(k) for k in range(4)), prescription_row(9, **entries)]
    assert (line,) == load(prescriptions(tmp_path, *rows)).items[-1].answer


@pytest.mark.parametrize(
    ("results", "why"),
    [
        (None, "results is null"),
        ("", "results is empty"),
        ("[1, 2]", "results is no dict"),
        ("{'a': open('x')}", "results is no Python literal"),
        ("__import__('os').system('true')", "results is no Python literal"),
        ("{'a': 1", "results is no Python literal"),
        ("{1:" * 51 + "0" + "}" * 51, "results is too long or too deep"),
        ("{'a': '" + "x" * 100_001 + "'}", "results is too long or too deep"),
        ("{'a': " + "9" * 5000 + "}", "results is no Python literal"),
        (r"{'a': '\d'}", "it states no diagnosis"),
        ("-" * 90_000 + "1", "results is no Python literal"),
        (repr({"procedure": {"chief_complaints_diagnosis": "NA"}}), "it states no diagnosis"),
        (repr({"procedure": {"chief_complaints_diagnosis": "Cough"}}), "it states no medicine with its use"),
        (
            repr(
                {
                    "procedure": {"chief_complaints_diagnosis": "Cough"},
                    "medicine_details": [{"medicine_name": "Pan", "medicine_frequency": "NA"}, "x", None],
                }
            ),
            "it states no medicine with its use",
        ),
        (
            prescription_row(9, procedure={"chief_complaints_diagnosis": "खांसी"})["results"],
            "it is partly in an Indian script",
        ),
    ],
)
def test_a_faulty_form_is_left_out_and_nothing_in_it_is_run(tmp_path: Path, results: Any, why: str) -> None:
    loaded = load(prescriptions(tmp_path, *(prescription_row(k) for k in range(4)), {"results": results}))
    assert (4, [why]) == (len(loaded.items), reasons(loaded))


def test_a_few_prescriptions_cannot_lend_wrong_options(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there are too few other medicines"):
        load(prescriptions(tmp_path, prescription_row(1), prescription_row(2, medicines=1)))


# --- All of them

WRITERS: dict[str, Callable[[Path], object]] = {
    "medmcqa": lambda folder: write_parquet(folder / HUB, [medmcqa_row(base=0)]),
    "medqa": lambda folder: write_json_lines(folder / "test.json", [medqa_hub_row()]),
    "pubmedqa": lambda folder: (
        write_json(folder / "ori_pqal.json", {"11": pubmedqa_entry()}),
        write_json(folder / "test_ground_truth.json", {"11": "no"}),
    ),
    "mmlu:subject=anatomy": lambda folder: hub_mmlu(folder, "anatomy"),
    "careqa": careqa,
    "careqa:language=es": lambda folder: careqa(folder, language="es"),
    "medical_abstracts": lambda folder: abstracts(folder, test=[[1, "A growth."]]),
    "medical_transcriptions": lambda folder: transcriptions(folder, report(0), report(1, " Surgery", "Cut.")),
    "prescription": lambda folder: prescriptions(folder, *(prescription_row(k) for k in range(4))),
    "prescription:level=hard": lambda folder: prescriptions(folder, *(prescription_row(k) for k in range(4))),
}


@pytest.fixture(params=WRITERS)
def loaded(request: pytest.FixtureRequest, tmp_path: Path) -> Loaded:
    WRITERS[request.param](tmp_path)
    name, _, setting = request.param.partition(":")
    return load(f"{name}(data={tmp_path}{', ' * bool(setting)}{setting})")


def test_every_card_says_what_a_reader_needs(loaded: Loaded) -> None:
    card = loaded.card
    assert loaded.items[0].benchmark == card.name
    assert card.revision or card.revision_note
    assert card.faults
    assert "accuracy" == card.primary
    assert (0, 256, ("\n\n",), False) == tuple(
        card.published[name] for name in ("temperature", "max_tokens", "stop", "chat_template")
    )


def test_an_unrelated_folder_is_refused_in_one_sentence(tmp_path: Path) -> None:
    for spec in WRITERS:
        name, _, setting = spec.partition(":")
        with pytest.raises(InputError) as error:
            load(f"{name}(data={tmp_path}{', ' * bool(setting)}{setting})")
        assert str(error.value).endswith("data= names the folder that holds it.")
        assert "\n" not in str(error.value)


def test_a_card_can_be_shown_before_its_files_are_there(tmp_path: Path) -> None:
    for spec in WRITERS:
        name, _, setting = spec.partition(":")
        facts = describe(f"{name}(data={tmp_path}{', ' * bool(setting)}{setting})")
        assert facts["card"]["licence"]
        assert "its questions cannot be read" in facts["reason"]
