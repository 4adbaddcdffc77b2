"""The open sets of the healthcare suite: what is asked, what is the reference, and what is left out."""

import csv
import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.cases import each_case
from tests.lengths import length
from tests.small_suite import small_suite

from vivavoce import formats
from vivavoce.benchmarks import load
from vivavoce.core import registry
from vivavoce.core.errors import EgressError, InputError, SpecError
from vivavoce.core.prompts import load as load_prompt
from vivavoce.core.records import Item
from vivavoce.core.text import LONGEST

OPEN = (
    *("careqa_open", "meddialog_raw", "mediqa2019", "medtext", "mts_dialog", "aci_bench", "olaph"),
    *("mimic_iii", "meddialog_qsumm"),
)
FOLDERS = {name: name for name in OPEN} | {"careqa_open": "careqa"}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    small_suite.main(tmp_path)
    return tmp_path


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def by_id(spec: str) -> dict[str, Item]:
    return {item.item: item for item in load(spec).items}


def reasons(spec: str) -> dict[str, int]:
    return dict(Counter(exclusion.reason for exclusion in load(spec).exclusions))


def write_rows(path: Path, rows: list[dict[str, Any]], encoding: str = "utf-8") -> Path:
    """The rows as csv, json, jsonl or parquet; the folder they lie in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        pl.DataFrame(rows).write_parquet(path)
    elif path.suffix == ".csv":
        with path.open("w", encoding=encoding, newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows), encoding=encoding)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding=encoding)
    return path.parent


@pytest.mark.parametrize("name", OPEN)
def test_every_open_set_is_read_from_its_layout(suite: Path, name: str) -> None:
    loaded = load(f"{name}(data={suite / FOLDERS[name]})")
    assert {(name, "longform")} == {(item.benchmark, item.format) for item in loaded.items}
    assert name == loaded.card.name
    for item in loaded.items:
        assert item.references[0] not in formats.ask(item)
        assert (item.context or item.question) in formats.ask(item)


@pytest.mark.parametrize("name", OPEN)
def test_the_prompt_of_the_published_figures_ends_in_what_is_asked_without_a_cue(
    suite: Path, name: str
) -> None:
    loaded = load(f"{name}(data={suite / FOLDERS[name]})")
    published = loaded.card.published
    assert (0, 256, False) == tuple(published[k] for k in ("temperature", "max_tokens", "chat_template"))
    assert ["\n\n"] == list(published["stop"])
    prompt = load_prompt(published["prompt"])
    item = loaded.items[0]
    text = prompt.fill(question=item.question, context=item.context or "")
    assert text.startswith("Instructions: ")
    assert (item.context or item.question) in text
    assert ("context" in prompt.variables) == bool(item.context)
    assert not text.endswith(":")
    if name != "mimic_iii":
        assert text.endswith(f"\n{item.context or item.question}")


@pytest.mark.parametrize("name", OPEN)
def test_a_folder_without_the_files_is_refused_by_what_it_lacks(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=rf"^{name}: no .* in .*: data= names the folder that holds it\.$"):
        load(f"{name}(data={tmp_path})")
    with pytest.raises(SpecError, match=f"{name} needs data="):
        load(name)


@pytest.mark.parametrize(
    ("name", "file", "columns"),
    [
        ("careqa_open", "CareQA_en_open.json", ("question", "answer")),
        ("meddialog_raw", "english-train.json", ("description", "utterances")),
        ("medtext", "medtext_2.csv", ("Prompt", "Completion")),
        ("mts_dialog", "MTS-Dialog-TrainingSet.csv", ("ID", "section_header", "section_text", "dialogue")),
        ("aci_bench", "valid.csv", ("dataset", "encounter_id", "dialogue", "note")),
        ("mimic_iii", "test.csv", ("extractive_notes_summ",)),
        ("meddialog_qsumm", "test.jsonl", ("src", "tgt")),
    ],
)
def test_a_missing_column_is_one_sentence_that_names_it(
    tmp_path: Path, name: str, file: str, columns: tuple[str, ...]
) -> None:
    for missing in columns:
        present = [column for column in columns if column != missing] or ["other"]
        write_rows(tmp_path / file, [dict.fromkeys(present, "x")])
        with pytest.raises(InputError, match=rf"{file}: no column '{missing}'\."):
            load(f"{name}(data={tmp_path})")


def test_careqa_open_shares_its_groups_with_careqa(suite: Path) -> None:
    loaded = load(f"careqa_open(data={suite / 'careqa'})")
    item = loaded.items[1]
    assert ("made-up-2", "made-up-2", "nursing", 2022) == (
        *(item.item, item.group, item.category),
        item.meta["year"],
    )
    assert ("Naloxone reverses the effect of opioids.",) == item.references
    assert "careqa" == loaded.card.groups_of


def test_careqa_open_without_ids_takes_the_question_for_one(tmp_path: Path) -> None:
    rows = [{"question": "Which vitamin?", "answer": "C."}, {"question": None, "answer": "Beta cells."}]
    spec = f"careqa_open(data={write_rows(tmp_path / 'CareQA_en_open.json', rows)})"
    (item,) = load(spec).items
    assert (sha("Which vitamin?"), None, {"row": 1}) == (item.item, item.category, item.meta)
    assert {"question is null": 1} == reasons(spec)


def test_a_number_for_an_id_in_json_is_its_digits(tmp_path: Path) -> None:
    rows = [{"question": f"Which? {k}", "answer": "C.", "unique_id": k, "year": 2021} for k in (7, 8)]
    items = by_id(f"careqa_open(data={write_rows(tmp_path / 'CareQA_en_open.json', rows)})")
    assert ["7", "8"] == list(items)


TURNS = ["patient: It hurts: what now?", "doctor: Rest it: two days.", "doctor: Then come."]


@pytest.mark.parametrize(
    "utterances",
    [
        TURNS,
        ["Doctor : Rest it: two days.", "Patient : It hurts."],
        {"speaker": ["patient", "doctor"], "utterance": ["It hurts: what now?", "Rest it: two days."]},
        {"speaker": [0, 1], "utterance": ["It hurts: what now?", "Rest it: two days."]},
        [{"speaker": "patient", "utterance": "It hurts."}, {"speaker": 1, "utterance": "Rest it: two days."}],
    ],
)
def test_the_doctors_first_turn_is_the_reference_in_either_layout(tmp_path: Path, utterances: Any) -> None:
    rows = [{"description": "It hurts.", "utterances": utterances}]
    (item,) = load(f"meddialog_raw(data={write_rows(tmp_path / 'english-train.json', rows)})").items
    assert (sha("It hurts."), "It hurts.") == (item.item, item.question)
    assert ("Rest it: two days.",) == item.references


@pytest.mark.parametrize(
    ("utterances", "reason"),
    [
        (["patient: It hurts."], "no turn of a doctor"),
        ([], "no turn of a doctor"),
        (["patient: It hurts.", "doctor: "], "the reference is empty"),
        (["patient: It hurts.", "doctor: It hurts. "], "the reference is what is asked"),
        (["nurse: Hello."], "a turn names neither patient nor doctor"),
        ([None], "a turn names neither patient nor doctor"),
        ("doctor: Rest.", "utterances is no list of turns"),
        ({"speaker": ["doctor"], "utterance": []}, "no turn of a doctor"),
        ({"speaker": ["doctor"]}, "utterances is no list of turns"),
        ({"speaker": [5], "utterance": ["Rest."]}, "a turn names neither patient nor doctor"),
        (None, "utterances is no list of turns"),
    ],
)
def test_a_dialogue_without_an_answer_is_left_out(tmp_path: Path, utterances: Any, reason: str) -> None:
    rows = [
        {"description": "It hurts.", "utterances": utterances},
        {"description": "It itches.", "utterances": TURNS},
    ]
    spec = f"meddialog_raw(data={write_rows(tmp_path / 'english-train.json', rows)})"
    assert {reason: 1} == reasons(spec)
    assert 1 == len(load(spec).items)


def test_the_best_answer_is_the_one_that_people_ranked_first(suite: Path) -> None:
    best = by_id(f"mediqa2019(data={suite / 'mediqa2019'})")
    first = by_id(f"mediqa2019(data={suite / 'mediqa2019'}, reference=first)")
    assert ["1", "2", "3"] == list(best)
    assert best["1"].references[0].startswith("Raise the head of the bed")
    assert {"answers": 2, "reference": ["1_Answer2"], "rank": 1, "score": ["4"]} == best["1"].meta
    assert first["1"].references[0].startswith("Do not eat")
    assert (2, 3) == (first["1"].meta["rank"], first["3"].meta["rank"])
    assert best["2"].references == first["2"].references


def mediqa(tmp_path: Path, *questions: tuple[str, str], head: str = "", encoding: str = "utf-8") -> str:
    """A file with questions, each a QID and the XML of its answers."""
    parts = [
        f'<Question QID="{qid}"><QuestionText>What helps?</QuestionText><AnswerList>{answers}</AnswerList>'
        "</Question>"
        for qid, answers in questions
    ]
    text = f'<?xml version="1.0" encoding="{encoding}"?>{head}<Set>{"".join(parts)}</Set>'
    (tmp_path / "MEDIQA2019-Task3-QA-TestSet-wLabels.xml").write_text(text, encoding=encoding)
    return f"mediqa2019(data={tmp_path})"


def answer(text: str, rank: str | None = "1") -> str:
    ranked = f' ReferenceRank="{rank}"' if rank is not None else ""
    return f'<Answer AID="a"{ranked}><AnswerText>{text}</AnswerText></Answer>'


def test_answers_that_share_the_first_rank_are_all_references(tmp_path: Path) -> None:
    spec = mediqa(tmp_path, ("1", answer("Rest.") + answer("No.", "2") + answer("Water &amp; rest.")))
    (item,) = load(spec).items
    assert ("Rest.", "Water & rest.") == item.references


def test_a_question_without_a_first_rank_is_left_out_and_counted(tmp_path: Path) -> None:
    questions = [
        ("1", answer("Rest.")),
        ("2", answer("Rest.", "2") + answer("Water.", "x")),
        ("3", ""),
        ("4", answer(" ")),
        ("5", answer("What helps?")),
    ]
    spec = mediqa(tmp_path, *questions)
    assert {
        "no answer of ReferenceRank 1": 1,
        "no answer is listed": 1,
        "the reference is empty": 1,
        "the reference is what is asked": 1,
    } == reasons(spec)
    assert ["1", "2"] == list(by_id(f"mediqa2019(data={tmp_path}, reference=first)"))


def test_the_set_without_labels_has_no_best_answer(tmp_path: Path) -> None:
    spec = mediqa(tmp_path, ("1", answer("Rest.", None)))
    with pytest.raises(InputError, match=r"no answer has a ReferenceRank: this is the set without labels\."):
        load(spec)
    assert 1 == len(load(f"mediqa2019(data={tmp_path}, reference=first)").items)


BOMB = "<!DOCTYPE s [<!ENTITY a 'aaaaaaaaaa'>" + "".join(
    f"<!ENTITY {b} '{f'&{a};' * 10}'>" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    "head",
    [
        f"{BOMB}]>",
        '<!DOCTYPE s [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE s SYSTEM "http://127.0.0.1:9/s.dtd">',
        '<!DOCTYPE s [<!ENTITY % p SYSTEM "http://127.0.0.1:9/p"> %p;]>',
    ],
)
def test_no_entity_is_expanded_and_nothing_is_fetched(
    tmp_path: Path, head: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr("socket.socket.connect", refuse)
    spec = mediqa(tmp_path, ("1", answer("&i;&x;")), head=head)
    with pytest.raises(InputError, match="declares a document type, and the published file has none"):
        load(spec)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_xml_may_begin_with_a_byte_order_mark(tmp_path: Path, encoding: str) -> None:
    text = f'<Set><Question QID="1"><QuestionText>Größe?</QuestionText><AnswerList>{answer("2 µm")}'
    path = tmp_path / "MEDIQA_Task3_QA" / "MEDIQA2019-Task3-QA-TestSet-wLabels.xml"
    path.parent.mkdir()
    path.write_text(f"{text}</AnswerList></Question></Set>", encoding=encoding)
    (item,) = load(f"mediqa2019(data={tmp_path})").items
    assert ("Größe?", ("2 µm",)) == (item.question, item.references)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<Set>",
        b"<Set>&undeclared;</Set>",
        b"<Set>\0</Set>",
        b"<Set>\xff\xfe</Set>",
        b'<?xml version="1.0" encoding="klingon"?><Set></Set>',
        b'<?xml version="1.0" encoding="idna"?><Set></Set>',
        b"<Set></Set>",
    ],
)
def test_what_is_no_such_xml_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "MEDIQA2019-Task3-QA-TestSet-wLabels.xml").write_bytes(content)
    with pytest.raises(InputError, match=r"wLabels\.xml (cannot be read as XML|holds no Question)") as error:
        load(f"mediqa2019(data={tmp_path})")
    assert "\n" not in str(error.value)


def test_a_file_far_larger_than_the_published_one_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "MEDIQA2019-Task3-QA-TestSet-wLabels.xml"
    with path.open("wb") as stream:
        stream.truncate((16 << 20) + 1)
    with pytest.raises(InputError, match="has over 16 MB, the published file 3: it is another"):
        load(f"mediqa2019(data={tmp_path})")


def test_elements_inside_one_another_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "MEDIQA2019-Task3-QA-TestSet-wLabels.xml"
    path.write_text("<a>" * 200_000 + "</a>" * 200_000, encoding="utf-8")
    with pytest.raises(InputError, match="holds no Question"):
        load(f"mediqa2019(data={tmp_path})")


def test_the_records_of_medtext_are_named_by_their_text(suite: Path) -> None:
    items = load(f"medtext(data={suite / 'medtext'})").items
    rows = small_suite.MEDTEXT
    assert [sha(row["Prompt"]) for row in rows] == [item.item for item in items]
    assert [(row["Completion"],) for row in rows] == [item.references for item in items]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_table_may_begin_with_a_byte_order_mark(tmp_path: Path, encoding: str) -> None:
    rows = [{"Prompt": "Größe?", "Completion": "2 µm."}]
    folder = write_rows(tmp_path / "medtext_2.csv", rows, encoding)
    assert "Größe?" == load(f"medtext(data={folder})").items[0].question


def test_rows_without_a_usable_text_are_left_out_and_counted(tmp_path: Path) -> None:
    texts = [
        ("A man has a rash.", "Eczema."),
        ("", "Eczema."),
        (" \t\r\n ", "Eczema."),
        ("A woman has a rash.", ""),
        ("A child has a rash.", "  \u200b "),
        ("A boy has a rash.", "A boy has a rash."),
        ("A girl has a rash. " + "x" * LONGEST, "Eczema."),
        ("A baby has a rash.", "x" * (LONGEST + 1)),
        ("A man has a rash.", "Eczema."),
    ]
    rows = [{"Prompt": prompt, "Completion": completion} for prompt, completion in texts]
    spec = f"medtext(data={write_rows(tmp_path / 'medtext_2.csv', rows)})"
    assert 1 == len(load(spec).items)
    assert {
        "Prompt is empty": 2,
        "Completion is empty": 2,
        "the reference is what is asked": 1,
        "Prompt has over 1,000,000 characters": 1,
        "Completion has over 1,000,000 characters": 1,
        "it repeats an earlier row": 1,
    } == reasons(spec)


def test_a_dialogue_of_many_megabytes_is_left_out(tmp_path: Path) -> None:
    n_words = length(200_000, 3_600_000)
    rows = [
        {"dataset": "aci", "encounter_id": f"D{k}", "dialogue": text, "note": "A note."}
        for k, text in enumerate(("[doctor] hello", "[doctor] well " * n_words))
    ]
    spec = f"aci_bench(data={write_rows(tmp_path / 'valid.csv', rows)})"
    assert (tmp_path / "valid.csv").stat().st_size > length(2_500_000, 50_000_000)
    assert {"dialogue has over 1,000,000 characters": 1} == reasons(spec)


def test_line_ends_of_conversations_stay_as_they_are(suite: Path) -> None:
    items = by_id(f"mts_dialog(data={suite / 'mts_dialog'})")
    assert ("Removal of the gallbladder.\r\nNo other surgery.",) == items["2"].references
    assert "surgery?\r\nPatient" in (items["2"].context or "")
    with_line_feeds = Item(
        benchmark="mts_dialog", item="2", format="longform", question=items["2"].question,
        context=(items["2"].context or "").replace("\r\n", "\n"), references=items["2"].references,
    )  # fmt: skip
    assert items["2"].hash != with_line_feeds.hash


def test_a_split_is_a_file_of_its_own_and_numbers_its_rows_from_0(shared: Path) -> None:
    data = shared / "data" / "suite" / "mts_dialog"
    loaded = {
        split: load(f"mts_dialog(data={data}, split={split})") for split in ("train", "validation", "test1")
    }
    assert {"train": 25, "validation": 10, "test1": 15} == {k: len(v.items) for k, v in loaded.items()}
    for split, benchmark in loaded.items():
        assert [str(k) for k in range(len(benchmark.items))] == [item.item for item in benchmark.items]
        assert {split} == {item.meta["split"] for item in benchmark.items}
        assert () == benchmark.exclusions
    item = loaded["train"].items[0]
    assert ("GENHX", "0") == (item.category, item.group)
    assert "\r\nPatient: I came in for a refill" in (item.context or "")
    with pytest.raises(InputError, match="MTS-Dialog-TestSet-2-MEDIQA-Sum-2023"):
        load(f"mts_dialog(data={data}, split=test2)")
    with pytest.raises(SpecError, match=r"split takes train\|validation\|test1\|test2"):
        load(f"mts_dialog(data={data}, split=test)")


def test_two_splits_of_mts_dialog_in_one_run_are_refused_in_one_sentence(
    shared: Path, tmp_path: Path, viva: Any
) -> None:
    data, run = shared / "data" / "suite" / "mts_dialog", tmp_path / "mts.viva"
    viva("collect", run, f"mts_dialog(data={data}, split=train)", "--model", "baseline/echo")
    with pytest.raises(InputError, match=r"15 of the mts_dialog items have changed .* Use another run"):
        viva("collect", run, f"mts_dialog(data={data}, split=test1)", "--model", "baseline/echo")


def test_the_csv_file_of_aci_bench_and_its_json_twin_give_the_same_items(shared: Path) -> None:
    data = shared / "data" / "suite" / "aci_bench"
    table = load(f"aci_bench(data={data})")
    twin = load(f"aci_bench(data={data / 'data' / 'challenge_data_json'})")
    assert table.items == twin.items
    assert (6, ()) == (len(table.items), table.exclusions)
    item = table.items[0]
    assert ("D2N068", "virtassist", {"split": "valid"}) == (item.item, item.category, item.meta)
    assert (item.context or "").startswith("[doctor] hi , brian")
    assert item.references[0].startswith("CHIEF COMPLAINT\n\nFollow-up")


def test_a_json_object_without_the_list_of_rows_is_refused(tmp_path: Path) -> None:
    for content in ('{"rows": []}', '{"data": [1]}', "{", '{"data": {"src": "a"}}'):
        (tmp_path / "valid.json").write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match=r"valid\.json"):
            load(f"aci_bench(data={tmp_path})")


def test_equal_questions_of_olaph_share_a_group(suite: Path) -> None:
    items = load(f"olaph(data={suite / 'olaph'})").items
    cold = [item for item in items if item.question == "Can I catch a cold from cold air?"]
    assert 2 == len({item.item for item in cold})
    assert {sha("Can I catch a cold from cold air?")} == {item.group for item in cold}
    assert ["live_qa", "kqa_golden"] == [item.category for item in cold]
    assert (("Colds are due to viruses.",), ("Cold air may irritate the nose.",)) == (
        cold[0].must,
        cold[0].nice,
    )
    assert () == cold[1].nice
    assert (5, 4) == (len(items), len({item.group for item in items}))


def test_olaph_needs_all_five_files_and_their_statements(suite: Path) -> None:
    data = suite / "olaph" / "MedLFQA"
    row = json.dumps({"Question": "How?", "Free_form_answer": "So.", "Must_have": [" "], "Nice_to_have": []})
    more = json.dumps({"Question": "Why?", "Free_form_answer": "So.", "Must_have": None, "Nice_to_have": []})
    (data / "live_qa_test_MedLFQA.jsonl").write_text(f"{row}\n{more}\n", encoding="utf-8")
    left_out = reasons(f"olaph(data={data})")
    assert 1 == left_out.pop("Must_have is null")
    assert 1 == sum(
        count for reason, count in left_out.items() if "a statement under must is blank" in reason
    )
    (data / "kqa_golden_test_MedLFQA.jsonl").unlink()
    with pytest.raises(InputError, match=r"olaph: no kqa_golden_test_MedLFQA\.jsonl or MedLFQA/kqa_golden"):
        load(f"olaph(data={data})")


NOTES = {
    "both": (
        "FINDINGS: The lungs are clear. IMPRESSION: No acute disease.",
        "The lungs are clear.",
        "No acute disease.",
    ),
    "turned": (
        "Impressions - None: fine\nfinding The lungs are clear",
        "The lungs are clear",
        "- None: fine",
    ),
    "parted": (
        "FINDINGS: The lungs are clear.     Other note. IMPRESSION: No disease.     More.",
        "The lungs are clear.",
        "No disease.",
    ),
}


@pytest.mark.parametrize("name", NOTES)
def test_the_mended_rule_cuts_behind_both_headings(tmp_path: Path, name: str) -> None:
    text, findings, impression = NOTES[name]
    folder = write_rows(tmp_path / "test.csv", [{"extractive_notes_summ": text}])
    (item,) = load(f"mimic_iii(data={folder})").items
    assert (findings, (impression,)) == (item.context, item.references)
    assert sha(text) == item.item


def test_the_mended_rule_leaves_out_and_counts_what_lacks_a_section(tmp_path: Path) -> None:
    texts = [
        "FINDINGS: Clear lungs. IMPRESSION: No disease.",
        "FINDINGS: Clear lungs.",
        "IMPRESSION: No disease.",
        "FINDINGS: Clear lungs. IMPRESSION: None",
        "FINDINGS: ok. IMPRESSION: No disease.",
        "The patient slept.",
        "",
    ]
    rows = [{"extractive_notes_summ": text, "hadm_id": k} for k, text in enumerate(texts)]
    spec = f"mimic_iii(data={write_rows(tmp_path / 'test.csv', rows)})"
    assert ["0"] == list(by_id(spec))
    assert {
        "no heading IMPRESSION": 2,
        "no heading FINDINGS": 1,
        "the section IMPRESSION has under 5 characters": 1,
        "the section FINDINGS has under 5 characters": 1,
        "extractive_notes_summ is empty": 1,
    } == reasons(spec)


@pytest.mark.parametrize(
    ("text", "findings", "impression"),
    [
        # Worked by hand from the released task: slices from the heading, -1 where there is none.
        ("FINDINGS: Clear. IMPRESSION: No disease.", "FINDINGS: Clear. ", "IMPRESSION: No disease."),
        ("IMPRESSION: Fine. FINDINGS: Clear.", "FINDINGS: Clear.", "IMPRESSION: Fine. "),
        ("Before. IMPRESSION: Fine.", "Before. ", "IMPRESSION: Fine."),
        ("An impression of findings.", "findings.", "impression of "),
        ("FINDINGS:     Clear. IMPRESSION: Fine.", "FINDINGS:", "IMPRESSION: Fine."),
        ("IMPRESSION: Fine.", None, "IMPRESSION: Fine."),
    ],
)
def test_the_released_rule_is_that_of_the_released_task(
    tmp_path: Path, text: str, findings: str | None, impression: str
) -> None:
    folder = write_rows(tmp_path / "test.csv", [{"extractive_notes_summ": text}])
    (item,) = load(f"mimic_iii(data={folder}, rule=released)").items
    assert (findings, (impression,)) == (item.context or None, item.references)


@pytest.mark.parametrize("text", ["Neither heading.", "FINDINGS: Clear lungs."])
def test_the_released_rule_scores_no_reference_of_under_5_characters(tmp_path: Path, text: str) -> None:
    rows = [{"extractive_notes_summ": text}, {"extractive_notes_summ": "Findings: a. Impression: b."}]
    spec = f"mimic_iii(data={write_rows(tmp_path / 'test.csv', rows)}, rule=released)"
    assert {"the impression has under 5 characters": 1} == reasons(spec)


def test_admissions_of_one_patient_are_one_case(suite: Path, tmp_path: Path) -> None:
    rows = [
        {"subject_id": 7, "hadm_id": hadm, "extractive_notes_summ": f"{NOTES['both'][0]} {hadm}"}
        for hadm in (70, 71)
    ]
    folder = write_rows(tmp_path / "parquet" / "data" / "test-00000-of-00001.parquet", rows)
    items = load(f"mimic_iii(data={folder.parent})").items
    assert [("70", "7"), ("71", "7")] == [(item.item, item.group) for item in items]


def test_mimic_iii_is_credentialed_and_its_notes_stay_out_of_meta(suite: Path) -> None:
    loaded = load(f"mimic_iii(data={suite / 'mimic_iii'})")
    assert "credentialed" == loaded.card.access
    assert [{"row": 2}, {"row": 3}] == [item.meta for item in loaded.items]
    assert [("test.csv", 4, "no heading IMPRESSION")] == list(loaded.exclusions)


def test_credentialed_items_go_to_named_hosts_only(
    suite: Path, tmp_path: Path, viva: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "made-up")
    spec = f"mimic_iii(data={suite / 'mimic_iii'})"
    with pytest.raises(EgressError, match=r"is credentialed: its items go only to endpoints that you name"):
        viva("collect", tmp_path / "m.viva", spec, "--model", "openai/gpt-4o")


@pytest.mark.parametrize("file", ["icliniq/test-00000-of-00001.parquet", "icliniq/test.json", "test.jsonl"])
def test_question_summaries_are_read_from_every_layout_of_theirs(tmp_path: Path, file: str) -> None:
    rows = [{"id": 5, "src": "Patient: It hurts. What now?", "tgt": "What helps against pain?"}]
    write_rows(tmp_path / file, rows)
    (item,) = load(f"meddialog_qsumm(data={tmp_path})").items
    assert (sha(rows[0]["src"]), rows[0]["src"]) == (item.item, item.context)
    assert ("What helps against pain?",) == item.references
    if file.endswith(".json"):
        (tmp_path / file).write_text(json.dumps({"data": rows}), encoding="utf-8")
        assert (item,) == load(f"meddialog_qsumm(data={tmp_path})").items


def test_half_a_character_in_json_is_refused_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "test.jsonl").write_text('{"src": "a \\ud800", "tgt": "b"}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"test\.jsonl, line 1: broken JSON .*half of a character"):
        load(f"meddialog_qsumm(data={tmp_path})")


@each_case("name", OPEN)
def test_a_card_says_licence_faults_and_how_to_get_the_files(name: str) -> None:
    cls = registry.members("benchmark")[name]
    card = cls.card
    assert card.licence
    assert card.citation
    assert card.revision or card.revision_note
    assert len(card.faults) >= 2
    assert all(fault.endswith(".") for fault in card.faults)
    assert any("in our words" in fault or "a guess" in fault for fault in card.faults)
    assert cls.download is not None
    assert cls.download.hub or cls.download.url or cls.download.by_hand
