"""Recorded answers in: what is stored, what is refused and in which words, what a second import does."""

import json
import math
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import vivavoce as viva
from vivavoce.core.errors import InputError, SpecError, StoreError
from vivavoce.run.exchange.imported import Imported
from vivavoce.run.run import Run

EXAM = [
    {"id": "q1", "question": "What lowers a fever?", "format": "short", "answer": "Paracetamol"},
    {
        "id": "q1",
        "variant": "bias:recency",
        "alias": "c5q00",
        "question": "And now?",
        "format": "short",
        "answer": "x",
    },
    {"id": 3, "question": "What is HIV?", "format": "short", "answer": ["A virus", "A retrovirus"]},
    {"id": "Ärzt:in 4", "question": "Who?", "format": "short", "answer": "x"},
]


class Desk:
    """A run with the tiny exam, and answers files beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.exam(EXAM)
        self.run = viva.open(folder / "exam.viva")

    def exam(self, items: list[dict[str, Any]]) -> None:
        self.write("exam.jsonl", items)

    def write(self, name: str, rows: list[dict[str, Any]]) -> Path:
        path = self.folder / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    def take(self, *rows: dict[str, Any], **settings: Any) -> Imported:
        return self.file(self.write("answers.jsonl", list(rows)), **settings)

    def file(self, path: Path, **settings: Any) -> Imported:
        return self.run.import_answers(
            path, **{"benchmark": f"jsonl(path={self.folder}/exam.jsonl)"} | settings
        )


def row(**fields: Any) -> dict[str, Any]:
    return {"item": "q1", "candidate": "A", "text": "Paracetamol"} | fields


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def only(run: Run) -> dict[str, Any]:
    """The one response of a run."""
    (found,) = run.responses.to_dicts()
    return found


# What is stored


def test_an_answer_is_stored_under_its_item_as_it_stands(desk: Desk) -> None:
    text = " Paracetamol,\r\n\t“500 mg” \x01 \u2028 😀 "
    done = desk.take(
        row(text=text, repeat=2, edit="rephrase", reasoning="r", finish_reason="length", tokens=7,
            seconds=0.5, cost=0.001, error="e", unknown=[1])
    )  # fmt: skip
    assert done.benchmark.startswith("jsonl(path=")
    assert done._replace(benchmark="", benchmark_name="", row_counts={}) == Imported(
        1,
        1,
        1,
        0,
        0,
        0,
        1,
        0,
        0,
        (),
        questions=4,
        cases=3,
        near_repeated=0,
        left_out=("unknown",),
        encoding="utf-8",
        joined={"id": 1},
    )
    assert {
        "benchmark": "exam", "item": "q1", "variant": "", "alias": None, "group": "q1", "category": None,
        "format": "short", "candidate": "A", "role": "candidate", "repeat": 2, "edit": "rephrase",
        "probe": "", "status": "ok", "text": text, "final": text, "ending": "cut", "reasoning": "r",
        "finish_reason": "length", "tokens": 7, "seconds": 0.5, "cost": 0.001, "error": "e", "meta": "{}",
        "logprobs": None,
    } == only(desk.run)  # fmt: skip


@pytest.mark.parametrize(
    ("given", "item", "variant"),
    [
        ({"item": "q1"}, "q1", ""),
        ({"item": "q1", "variant": None}, "q1", ""),
        ({"item": "c5q00"}, "q1", "bias:recency"),
        ({"item": "q1", "variant": "bias:recency"}, "q1", "bias:recency"),
        ({"item": 3}, "3", ""),
        ({"item": "3"}, "3", ""),
        ({"item": "Ärzt:in 4"}, "Ärzt:in 4", ""),
        ({"item": "q1", "id": "answer-17"}, "q1", ""),
    ],
)
def test_an_item_is_found_by_id_or_published_id(
    desk: Desk, given: dict[str, Any], item: str, variant: str
) -> None:
    desk.take(row(**given))
    assert (item, variant) == (only(desk.run)["item"], only(desk.run)["variant"])


def test_id_stands_for_item(desk: Desk) -> None:
    desk.take({"id": "q1", "candidate": "A", "text": "x"})
    assert "q1" == only(desk.run)["item"]


def test_columns_are_mapped_and_set(desk: Desk) -> None:
    desk.take(
        {"question_id": "q1", "answer": "x", "iteration": "4", "model": "ignored"},
        map={"item": "question_id", "text": "answer", "repeat": "iteration"},
        set={"candidate": "openai/gpt-4o(temperature=0.2)", "edit": "negated"},
    )
    found = only(desk.run)
    assert ("openai/gpt-4o(temperature=0.2)", 4, "negated") == (
        found["candidate"],
        found["repeat"],
        found["edit"],
    )


def test_repeats_keep_their_numbers(desk: Desk) -> None:
    desk.take(*(row(repeat=k, text=str(k)) for k in (1, 2, 3, 4, 5)), row(item=3, repeat=7))
    assert {1, 2, 3, 4, 5, 7} == set(desk.run.responses["repeat"])


@pytest.mark.parametrize(
    ("given", "status", "text", "error"),
    [
        ({"text": "x"}, "ok", "x", None),
        ({"text": ""}, "ok", "", None),
        ({"text": "cut", "finish_reason": "length"}, "ok", "cut", None),
        ({"text": None}, "failed", None, None),
        ({"text": None, "error": "timeout"}, "failed", None, "timeout"),
        ({"text": None, "error": 503}, "failed", None, "503"),
        ({"text": "HTTP 503", "status": "failed"}, "failed", None, "HTTP 503"),
        ({"text": None, "status": "filtered"}, "filtered", None, None),
        ({"text": "…", "status": "filtered"}, "filtered", None, None),
        ({"text": "x", "status": ""}, "ok", "x", None),
    ],
)
def test_the_status_says_whether_text_arrived(
    desk: Desk, given: dict[str, Any], status: str, text: str | None, error: str | None
) -> None:
    done = desk.take(row(**given))
    found = only(desk.run)
    assert (status, text, error) == (found["status"], found["text"], found["error"])
    assert (status == "failed") == done.failed
    assert (text == "") == done.blank


def test_blank_answers_are_counted_and_kept(desk: Desk) -> None:
    done = desk.take(
        row(text=" \n…"), row(item=3, text=""), row(item=3, text="0", repeat=2), row(repeat=2, text=None)
    )
    assert (2, 1, 4) == (done.blank, done.failed, done.responses)


@pytest.mark.parametrize(
    ("value", "number"), [(2, 2), ("2", 2), (" 2 ", 2), (2.0, 2), ("2.0", 2), ("2e0", 2)]
)
def test_a_whole_number_may_be_written_in_several_ways(desk: Desk, value: object, number: int) -> None:
    desk.take(row(repeat=value, tokens=value))
    assert (number, number) == (only(desk.run)["repeat"], only(desk.run)["tokens"])


def test_the_largest_whole_number_is_kept(desk: Desk) -> None:
    desk.take(row(repeat=2**63 - 1, seconds="1e-3"))
    assert (2**63 - 1, 0.001) == (only(desk.run)["repeat"], only(desk.run)["seconds"])


def test_roles_are_given_and_kept(desk: Desk) -> None:
    desk.take(
        row(), row(candidate="gold"), row(candidate="noise"), role={"gold": "ceiling", "noise": "floor"}
    )
    desk.take(row(item=3), row(item=3, candidate="gold"))
    roles = dict(desk.run.responses.select("candidate", "role").iter_rows())
    assert {"A": "candidate", "gold": "ceiling", "noise": "floor"} == roles
    desk.take(row(candidate="gold"), role={"gold": "candidate"})
    assert "candidate" == dict(desk.run.responses.select("candidate", "role").iter_rows())["gold"]


def test_csv_and_parquet_give_the_same_as_jsonl(desk: Desk) -> None:
    rows = [
        row(text='a, "b"\nc', repeat=1),
        row(item="3", text="x", repeat=2),
        row(candidate="B", text="", repeat=1),
    ]
    frame = pl.DataFrame(rows)
    made = []
    for name in ("answers.csv", "answers.parquet", "answers.jsonl"):
        path = desk.folder / name
        {".csv": frame.write_csv, ".parquet": frame.write_parquet, ".jsonl": frame.write_ndjson}[path.suffix](
            path
        )
        desk.run = viva.open(desk.folder / f"{path.suffix[1:]}.viva")
        done = desk.file(path)._replace(benchmark="", benchmark_name="", delimiter=None, encoding=None)
        counts = {"rows": 3, "answers": 3}
        facts = {"questions": 4, "cases": 3, "near_repeated": 0, "row_counts": counts, "joined": {"id": 3}}
        assert Imported(3, 2, 2, 1, 0, 0, 3, 0, 0, (), **facts) == done
        made.append(desk.run.responses)
    assert made[0].equals(made[2])
    assert made[1].equals(made[2])


def test_the_responses_of_a_run_can_be_imported_into_another(desk: Desk) -> None:
    desk.take(row(), row(item="c5q00", repeat=2), row(item=3, text=None), row(candidate="B", text=""))
    first = desk.run.responses
    path = desk.folder / "export.parquet"
    first.write_parquet(path)
    desk.run = viva.open(desk.folder / "second.viva")
    desk.file(path)
    assert first.equals(desk.run.responses)


def test_a_file_whose_name_is_no_unicode_can_be_imported(desk: Desk) -> None:
    path = desk.write("answers.jsonl", [row()])
    odd = path.rename(path.with_name("\udcff.jsonl"))
    assert 1 == desk.file(odd).new


def test_an_import_leaves_its_record(desk: Desk) -> None:
    from vivavoce.core.file_hashes import file_hash
    from vivavoce.store import read

    path = desk.write("answers.jsonl", [{"qid": "q1", "text": "x"}])
    desk.file(path, map={"item": "qid"}, set={"candidate": "A"}, role={"A": "floor"})
    with desk.run.file.reading() as db:
        (record,) = read.provenance(db)
        (benchmark,) = read.benchmarks(db)
    assert "import" == record["verb"]
    assert ("answers.jsonl", file_hash(path)) == (record["file"], record["file_hash"])
    assert ({"item": "qid"}, {"candidate": "A"}, {"A": "floor"}) == (
        record["map"],
        record["set"],
        record["roles"],
    )
    assert (1, 0, 0, 0) == tuple(record[n] for n in ("new", "unchanged", "replaced", "skipped"))
    assert benchmark.signature == record["signature"]
    assert benchmark.signature.endswith("#" + file_hash(desk.folder / "exam.jsonl"))


# Imported again


def test_the_same_file_again_changes_nothing(desk: Desk) -> None:
    rows = [row(), row(item=3, text=None), row(item="c5q00", text="")]
    desk.take(*rows)
    before = desk.run.responses
    done = desk.take(*rows)
    assert (0, 3, 0) == (done.new, done.unchanged, done.replaced)
    assert before.equals(desk.run.responses)


def test_another_text_for_the_same_answer_is_refused_and_nothing_stored(desk: Desk) -> None:
    desk.take(row(), row(item="c5q00", text="x"))
    before = desk.run.responses
    words = (
        "A has another answer to q1 [bias:recency] (repeat 1) in this run already: answers are kept for "
        "ever. If these are further answers, give them other repeat numbers; if they correct the old, start "
        "a new run."
    )
    with pytest.raises(InputError, match=re.escape(words)):
        desk.take(row(item=3), row(item="c5q00", text="y"))
    assert before.equals(desk.run.responses)


def test_a_failed_answer_is_replaced_and_its_marks_go(desk: Desk) -> None:
    desk.take(row(text=None, error="timeout"), row(item=3, text="A virus"))
    desk.run.score("token_f1")
    assert ["failed", "ok"] == sorted(desk.run.scores["status"])
    done = desk.take(row(text="Paracetamol"), row(item=3, text="A virus"))
    assert (0, 1, 1) == (done.new, done.unchanged, done.replaced)
    assert ["ok"] == desk.run.scores["status"].to_list()
    assert None is desk.run.responses.filter(item="q1")["error"][0]
    desk.run.score("token_f1")
    assert [1.0, 1.0] == desk.run.scores["value"].to_list()


def test_a_failure_never_replaces_an_answer(desk: Desk) -> None:
    desk.take(row())
    assert 1 == desk.take(row(text=None)).unchanged
    assert "Paracetamol" == only(desk.run)["text"]


def test_a_filtered_answer_replaces_a_failed_one(desk: Desk) -> None:
    desk.take(row(text=None))
    assert 1 == desk.take(row(text=None, status="filtered")).replaced
    assert "filtered" == only(desk.run)["status"]


def test_a_changed_item_is_refused_unless_a_new_version_is_wanted(desk: Desk) -> None:
    desk.take(row(), row(item=3, text="A virus"))
    desk.run.score("token_f1")
    desk.exam([EXAM[0] | {"question": "What lowers fever?"}, *EXAM[1:]])
    words = (
        "1 of the exam items have changed since this run was made (q1): answers to the old wording are no "
        "answers to the new one. Use another run, or --new-version to go on with the new."
    )
    with pytest.raises(InputError, match=re.escape(words)):
        desk.take(row())
    assert 2 == len(desk.run.scores)
    done = desk.take(row(text="Ibuprofen"), new_version=True)
    assert 1 == done.new
    assert ["What lowers fever?"] == desk.run.items.filter(item="q1", variant="")["question"].to_list()
    assert {("q1", "Ibuprofen"), ("3", "A virus")} == set(
        desk.run.responses.select("item", "text").iter_rows()
    )
    assert ["3"] == desk.run.scores["item"].to_list()


def test_a_new_version_brings_its_signature(desk: Desk) -> None:
    from vivavoce.core.file_hashes import file_hash
    from vivavoce.store import read

    desk.take(row())
    desk.exam([EXAM[0] | {"question": "What lowers fever?"}, *EXAM[1:]])
    desk.take(row(), new_version=True)
    with desk.run.file.reading() as db:
        (benchmark,) = read.benchmarks(db)
    assert benchmark.signature.endswith(file_hash(desk.folder / "exam.jsonl"))


def test_group_and_category_follow_the_exam_without_a_new_version(desk: Desk) -> None:
    desk.take(row())
    desk.exam([EXAM[0] | {"group": "note 1", "category": "drugs", "level": 2}, *EXAM[1:]])
    assert 1 == desk.take(row()).unchanged
    (item,) = desk.run.items.filter(item="q1", variant="").to_dicts()
    assert ("note 1", "drugs", {"level": 2}) == (item["group"], item["category"], json.loads(item["meta"]))


def test_further_repeats_and_candidates_join_the_run(desk: Desk) -> None:
    desk.take(row())
    assert (2, 1) == desk.take(row(), row(repeat=2), row(candidate="B"))[6:8]
    assert 3 == len(desk.run.responses)


# Repeats that say the same


def test_repeats_that_all_say_the_same_are_pointed_out(desk: Desk) -> None:
    done = desk.take(
        row(repeat=1), row(repeat=2), row(item=3, repeat=1, text="a"), row(item=3, repeat=2, text="a"),
        row(candidate="B", repeat=1), row(candidate="B", repeat=2, text="else"),
        row(candidate="C"), row(candidate="C", item=3),
    )  # fmt: skip
    assert ("A",) == done.identical_repeats


# What is refused


@pytest.mark.parametrize(
    "field", ["item", "variant", "candidate", "edit", "reasoning", "finish_reason", "error"]
)
@pytest.mark.parametrize("value", [{"a": 1}, [1], [], {}], ids=str)
def test_a_text_that_is_no_text_is_named(desk: Desk, field: str, value: object) -> None:
    with pytest.raises(InputError, match=rf"answers\.jsonl, line 2: {field} must be text, not (dict|list): "):
        desk.take(row(repeat=2), row(**{field: value}))
    assert not desk.run.file.exists


@pytest.mark.parametrize("value", [5, 1.5, True, ["x"], {"x": 1}], ids=str)
def test_an_answer_that_is_no_text_is_named(desk: Desk, value: object) -> None:
    words = f"line 1: the answer is {type(value).__name__}, not text: "
    with pytest.raises(InputError, match=re.escape(words)):
        desk.take(row(text=value))


@pytest.mark.parametrize(
    "value", ["two", 1.5, "1.5", True, [1], 2**63, 10**30, -(2**63) - 1, "1_0", "nan", "1e999"]
)
def test_a_repeat_that_is_no_whole_number_is_named(desk: Desk, value: object) -> None:
    with pytest.raises(
        InputError, match=r"answers\.jsonl, line 1: repeat must be a whole number from 1, not "
    ):
        desk.take(row(repeat=value))


@pytest.mark.parametrize("value", ["fast", True, {}, "nan", "inf", 10**400, "9" * 5000])
def test_seconds_that_are_no_number_are_named(desk: Desk, value: object) -> None:
    with pytest.raises(
        InputError, match=r"answers\.jsonl, line 1: seconds must be a number from 0 to 31,622,400, not "
    ) as error:
        desk.take(row(seconds=value))
    assert len(str(error.value)) < 300 + len(str(desk.folder))


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([row(status="done")], "line 1: status 'done' is none of ok, filtered, failed."),
        ([row(status=["ok"])], "line 1: status ['ok'] is none of ok, filtered, failed."),
        ([row(status="ok", text=None)], "line 1: the status is ok but there is no text."),
        ([row(item="")], "line 1: the column 'item' is empty."),
        ([row(candidate=None)], "line 1: the column 'candidate' is empty."),
        (
            [{"item": "q1", "candidate": "A", "words": "x"}],
            "line 1: no column 'text' (there are item, candidate, words): --map text=COLUMN names it.",
        ),
        (
            [row(), {"item": "q1", "text": "x"}],
            "line 2: no column 'candidate' (there are item, text): --map candidate=COLUMN or --set "
            "candidate=NAME names it.",
        ),
        (
            [{"candidate": "A", "text": "x"}],
            "line 1: no column 'item' (there are candidate, text): --map item=",
        ),
        (
            [row(), row(text="x")],
            "line 2: a second answer of A to q1, repeat 1 (the first: ",
        ),
    ],
)
def test_a_row_that_cannot_be_used_is_named_with_its_line(
    desk: Desk, rows: list[dict[str, Any]], words: str
) -> None:
    with pytest.raises(InputError) as error:
        desk.take(*rows)
    assert f"{desk.folder / 'answers.jsonl'}, {words}" in str(error.value)
    assert not desk.run.file.exists


@pytest.mark.parametrize("edit", ["likelihood given(after=question)", "likelihood "])
def test_an_edit_is_not_named_as_what_probes_told(desk: Desk, edit: str) -> None:
    with pytest.raises(InputError, match=r"A, q1: the edit 'likelihood .*give the edit another name"):
        desk.take(row(), row(edit=edit))
    assert not desk.run.file.exists or desk.run.responses.is_empty()
    assert 1 == desk.take(row(edit="likelihoods")).new


def test_a_second_answer_names_the_first_and_the_remedy(desk: Desk) -> None:
    with pytest.raises(InputError, match=r"\(the first: .*answers\.jsonl, line 1\).* --map repeat=COLUMN"):
        desk.take(row(), row(text="x"))


def test_the_same_answer_twice_in_a_file_counts_once(desk: Desk) -> None:
    assert 1 == desk.take(row(), row()).responses


def test_rows_about_items_outside_the_benchmark_are_skipped_counted_and_named(desk: Desk) -> None:
    done = desk.take(row(), row(item="q11"), row(item="q11", repeat=2), row(variant="neutral"))
    assert (1, 3, ("q11", "q1 neutral")) == (done.responses, done.skipped, done.skipped_items)


def test_a_file_of_nothing_but_unknown_items_is_refused_with_the_nearest_name(desk: Desk) -> None:
    spec = f"jsonl(path={desk.folder}/exam.jsonl)"
    with pytest.raises(InputError) as error:
        desk.take(row(item="q11"), row(item="q11", repeat=2), row(variant="neutral"))
    assert (
        f"{desk.folder}/answers.jsonl holds 3 answers, all to items outside {spec}: q11, q1 neutral. Did you "
        "mean 'q1'? Nothing was imported."
    ) == str(error.value)
    assert not desk.run.file.exists


def test_a_variant_of_zero_is_not_the_base_item(desk: Desk) -> None:
    with pytest.raises(InputError, match=r"all to items outside .*: q1 0\."):
        desk.take(row(variant=0))


def test_many_unknown_items_are_cut_short(desk: Desk) -> None:
    with pytest.raises(InputError, match=r"holds 7 answers, .* x0, x1, x2, x3, x4 …"):
        desk.take(*(row(item=f"x{k}") for k in range(7)))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"map": {"txt": "text"}}, "answers have no field 'txt'. Did you mean 'text'?"),
        ({"set": {"model": "A"}}, "answers have no field 'model'."),
        ({"map": {"text": "txet"}}, "line 1: no column 'txet' to take text from. Did you mean 'text'?"),
        ({"role": {"a": "floor"}}, "--role names 'a', but "),
        ({"role": {"A": "boss"}}, "--role A=boss: a role is candidate, floor or ceiling."),
    ],
)
def test_a_setting_that_fits_nothing_is_named(desk: Desk, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as error:
        desk.take(row(), **settings)
    assert words in str(error.value)
    assert not desk.run.file.exists


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("jsonI(path=x)", "no benchmark named 'jsonI'. Did you mean 'jsonl'?"),
        ("rouge(n=1)", "no benchmark named 'rouge'."),
        ("jsonl(file=x)", "jsonl has no setting 'file'."),
        ("jsonl", "jsonl needs path=a path: write jsonl:path=…"),
        ("jsonl(path=x", "cannot read the spec"),
    ],
)
def test_a_benchmark_that_cannot_be_named_is_refused(desk: Desk, spec: str, words: str) -> None:
    with pytest.raises(SpecError) as error:
        desk.take(row(), benchmark=spec)
    assert words in str(error.value)


def test_a_broken_line_stops_the_whole_import(desk: Desk) -> None:
    path = desk.write("answers.jsonl", [row(), row(item=3)])
    path.write_text(path.read_text() + '{"item": "q1", "text\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"answers\.jsonl, line 3: broken JSON"):
        desk.file(path)
    assert not desk.run.file.exists


def test_half_a_character_is_named_with_its_line(desk: Desk) -> None:
    path = desk.folder / "answers.jsonl"
    path.write_text(r'{"item": "q1", "candidate": "A", "text": "ok \ud83d"}', encoding="utf-8")
    with pytest.raises(InputError, match=r"line 1: broken JSON \(a \\u escape gives half of a character\)"):
        desk.file(path)


def test_half_a_character_from_python_is_refused_and_nothing_stored(desk: Desk) -> None:
    with pytest.raises(
        StoreError, match=r"nothing of this step was written to .* holds half of a surrogate pair"
    ):
        desk.take({"item": "q1", "text": "x"}, set={"candidate": "\ud83d"})
    assert 0 == len(desk.run.responses)


def test_a_column_of_lists_is_no_text(desk: Desk) -> None:
    path = desk.folder / "answers.parquet"
    pl.DataFrame({"item": ["q1"], "candidate": ["A"], "text": [["a", "b"]]}).write_parquet(path)
    with pytest.raises(
        InputError, match=r"answers\.parquet, row 1: the answer is list, not text: \['a', 'b'\]\."
    ):
        desk.file(path)


def test_not_a_number_is_no_candidate(desk: Desk) -> None:
    path = desk.folder / "answers.parquet"
    pl.DataFrame({"item": ["q1"], "candidate": [math.nan], "text": ["x"]}).write_parquet(path)
    with pytest.raises(InputError, match=r"row 1: candidate must be text, not float: nan\."):
        desk.file(path)


# The real file

MAP = {"item": "question_id", "candidate": "model", "repeat": "iteration", "text": "answer"}


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory, hivmedqa: Path) -> tuple[Run, Imported]:
    run = viva.open(tmp_path_factory.mktemp("hiv") / "hiv.viva")
    spec = f"hivmedqa(data={hivmedqa})"
    return run, run.import_answers(hivmedqa / "responses.jsonl", benchmark=spec, map=MAP)


def test_the_recorded_hivmedqa_answers_are_counted_as_published(taken: tuple[Run, Imported]) -> None:
    run, done = taken
    assert (5060, 11, 92, 30, 0) == (done.responses, done.candidates, done.items, done.blank, done.skipped)
    assert {"NVLM-70B", "Med42-70B"} == {name.replace(" ", "-") for name in done.identical_repeats}
    assert {1, 2, 3, 4, 5} == set(run.responses["repeat"])
    assert 24 == run.items.filter(pl.col("variant") != "").height
    assert 68 == run.items["group"].n_unique()
    assert 24 * 55 == run.responses.filter(pl.col("variant").str.starts_with("bias:")).height


def test_answers_outside_the_selection_are_counted_and_skipped(
    tmp_path: Path, hivmedqa: Path, taken: tuple[Run, Imported]
) -> None:
    run = viva.open(tmp_path / "paper.viva")
    spec = f"hivmedqa(data={hivmedqa}, subset=paper)"
    done = run.import_answers(hivmedqa / "responses.jsonl", benchmark=spec, map=MAP)
    assert (63 * 55, 29 * 55, 63) == (done.responses, done.skipped, done.items)
    assert 42 == run.items["group"].n_unique()
    whole = run.import_answers(hivmedqa / "responses.jsonl", benchmark=f"hivmedqa(data={hivmedqa})", map=MAP)
    assert (29 * 55, 63 * 55, 0) == (whole.new, whole.unchanged, whole.skipped)
    assert taken[0].responses.equals(run.responses)


def test_only_answers_outside_the_selection_are_nothing_to_import(tmp_path: Path, hivmedqa: Path) -> None:
    from vivavoce.benchmarks import load

    other = load(f"hivmedqa(data={hivmedqa}, subset=paper)").others[0]
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(row(item=other.alias)), encoding="utf-8")
    run = viva.open(tmp_path / "x.viva")
    with pytest.raises(InputError, match=r"holds 1 answers, all to items outside .*: c2q03\. Nothing"):
        run.import_answers(path, benchmark=f"hivmedqa(data={hivmedqa}, subset=paper)")
    path.write_text(json.dumps(row(item="c9q99")), encoding="utf-8")
    with pytest.raises(InputError, match=r"all to items outside hivmedqa.*: c9q99\. Did you mean"):
        run.import_answers(path, benchmark=f"hivmedqa(data={hivmedqa}, subset=paper)")
