"""The freeze: files that read back as the exam, are never overwritten, and say who wrote them."""

import hashlib
import json

import polars as pl
import pytest
from tests.building.conftest import dropped, write_lines
from tests.building.test_careqa import MODEL, build

import vivavoce
from vivavoce.benchmarks import load
from vivavoce.core.errors import InputError

FILES = {
    *("README.md", "SHA256SUMS", "card.json", "croissant.json", "dropped.jsonl"),
    *("exam.jsonl", "exam.parquet", "steps.json"),
}


@pytest.fixture
def frozen(run, paper, writer, tmp_path):
    build(run, paper)
    run.build("freeze", to=str(tmp_path / "f"), licence="CC-BY-4.0")
    return tmp_path / "f"


def test_the_files_are_these_and_fit_their_checksums(frozen):
    assert FILES == {path.name for path in frozen.iterdir()}
    for line in (frozen / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert digest == hashlib.sha256((frozen / name).read_bytes()).hexdigest()
    assert len(FILES) - 1 == len((frozen / "SHA256SUMS").read_text().splitlines())


def test_the_frozen_exam_reads_back_with_its_name_its_card_and_its_writers(frozen, run):
    loaded = load(f"jsonl(path={frozen / 'exam.jsonl'})")
    assert ("b", "CC-BY-4.0", (MODEL,)) == (loaded.card.name, loaded.card.licence, loaded.card.writers)
    by_id = {item.item: item for item in loaded.items}
    for row in run.items.to_dicts():
        item = by_id[row["item"]]
        assert (row["question"], row["group"], row["source"]) == (item.question, item.group, item.source)
        assert json.loads(row["meta"]) == dict(item.meta)
    assert by_id.keys() == set(pl.read_parquet(frozen / "exam.parquet")["item"])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the validator's own libraries
def test_croissant_is_valid_and_gives_every_record(frozen):
    import mlcroissant as mlc

    dataset = mlc.Dataset(jsonld=str(frozen / "croissant.json"))
    assert not dataset.metadata.issues.errors
    records = list(dataset.records("items"))
    assert 4 == len(records)
    questions = {record["items/question"].decode() for record in records}
    rows = [json.loads(line) for line in (frozen / "exam.jsonl").read_text().splitlines()]
    assert {row["question"] for row in rows} == questions


def test_what_was_dropped_stands_beside_with_step_reason_and_text(frozen, run):
    lines = [json.loads(line) for line in (frozen / "dropped.jsonl").read_text().splitlines()]
    assert dropped(run) == [(d["step"], d["name"], d["reason"], d["detail"]) for d in lines]
    assert "Sobre la diabetes, señale la respuesta INCORRECTA:" in {d["text"] for d in lines}
    steps = json.loads((frozen / "steps.json").read_text())
    assert ["parse", "translate", "stems", "rephrase", "select", "check", "freeze"] == [
        s["step"] for s in steps
    ]


def test_the_command_says_how_many_are_frozen_and_left_out_and_where(run, viva, tmp_path):
    rows = [{"id": n, "question": f"What did the study find about {n}?"} for n in "ab"]
    rows += [{"id": "c", "question": "What is the meaning of c in medicine?"}]
    run.build("filters", from_=[str(write_lines(tmp_path / "q.jsonl", rows))], only=["standalone"])
    out = viva("build", run.file.path, "freeze", "--to", tmp_path / "f").stdout
    assert "freeze: 2 dropped: it waits for a person." in out
    assert "1 items are frozen in" in out
    assert "jsonl(path=" in out
    out = viva("build", run.file.path, "freeze", "--to", tmp_path / "g", "--unreviewed", "--dry-run").stdout
    assert "3 items would be frozen, and 0 left out. Nothing was written." in out


def test_a_dry_run_of_a_freeze_writes_nothing(frozen, run, tmp_path):
    finding = run.build("freeze", to=str(tmp_path / "dry"), dry_run=True)
    assert "4 items would be frozen, and 0 left out. Nothing was written." == finding.text
    assert not (tmp_path / "dry").exists()


def test_a_frozen_exam_is_never_overwritten(frozen, run):
    before = (frozen / "exam.jsonl").read_bytes()
    with pytest.raises(InputError, match="holds something already, and a frozen exam is never overwritten"):
        run.build("freeze", to=str(frozen))
    assert before == (frozen / "exam.jsonl").read_bytes()


def test_a_later_freeze_lists_what_is_new_changed_and_gone(run, tmp_path):
    questions = [{"id": name, "question": f"What is the meaning of {name} in medicine?"} for name in "abc"]
    file = write_lines(tmp_path / "q.jsonl", questions)
    run.build("filters", from_=[str(file)], only=["lengths"])
    run.build("freeze", to=str(tmp_path / "one"))
    changed = [questions[0], questions[1] | {"question": "What else is the meaning of b?"},
               {"id": "d", "question": "What is the meaning of d in medicine?"}]  # fmt: skip
    write_lines(file, changed)
    run.build("filters", from_=[str(file)], only=["lengths"])
    (row,) = run.build("freeze", to=str(tmp_path / "two")).rows
    assert (1, 1, 1) == (row["added"], row["changed"], row["withdrawn"])
    card = json.loads((tmp_path / "two" / "card.json").read_text())
    assert {"added": ["d"], "changed": ["b"], "withdrawn": ["c"]} == card["changes_since_last_freeze"]
    assert {"a", "b", "d"} == set(run.items["item"])


def test_reviews_decide_and_what_waits_for_a_person_stays_in_the_run(run, tmp_path):
    names = ["right", "wrong", "divided", "low", "nobody", "waits", "passed"]
    study, plain = "What did the study find about {}?", "What is the meaning of {} in medicine?"
    rows = [
        {
            "id": n,
            "format": "longform",
            "references": ["It is known."],
            "question": (study if n in ("waits", "passed") else plain).format(n),
        }
        for n in names
    ]
    run.build("filters", from_=[str(write_lines(tmp_path / "q.jsonl", rows))], only=["standalone"])
    both = [("yes", 5), ("yes", 5)]
    said = {
        "right": both,
        "wrong": [("no", 5), ("no", 5)],
        "divided": [("yes", 5), ("no", 5)],
        "low": [("yes", 4), ("yes", 5)],
        "passed": both,
    }
    file = tmp_path / "reviews.csv"
    file.write_text(
        "item,category,rater,correct,relevance\n"
        + "".join(f"{n},,r{k},{ok},{r}\n" for n, told in said.items() for k, (ok, r) in enumerate(told))
    )
    run.import_ballots(file)
    finding = run.build("freeze", to=str(tmp_path / "f"), min_relevance=5)
    reasons = {name: reason for step, name, reason, _ in dropped(run) if step == "freeze"}
    assert {
        "wrong": "people found it wrong",
        "divided": "people are divided about it",
        "low": "its mean relevance is below 5",
        "nobody": "nobody said how relevant it is",
        "waits": "nobody said how relevant it is",
    } == reasons
    assert 2 == finding.rows[0]["n_out"]
    run.build("freeze", to=str(tmp_path / "g"))
    reasons = {name: reason for step, name, reason, _ in dropped(run) if step == "freeze"}
    assert "it waits for a person" == reasons["waits"]
    assert "passed" not in reasons
    assert 7 == run.items.height


def test_an_exam_that_is_not_there_cannot_be_frozen(run, tmp_path):
    with pytest.raises(InputError, match=r"holds no exam under construction|no item to freeze"):
        run.build("freeze", to=str(tmp_path / "f"))
    assert not (tmp_path / "f").exists()


def test_the_writer_of_an_exam_is_warned_of_wherever_it_is_a_candidate(frozen, tmp_path, writer):
    writer.rules = [lambda prompt: "Thyrotropin (TSH)."]
    path = tmp_path / "use.viva"
    run = vivavoce.open(path)
    run.collect(f"jsonl(path={frozen / 'exam.jsonl'})", models=[MODEL, "vllm/another"])
    run.score("rouge(n=1)")
    warning = f"{MODEL} wrote or translated items of b, and is a candidate in it"
    assert any(note.startswith(warning) for note in run.compare(metric="rouge").notes)
    assert any(note.startswith(warning) for note in run.study("ranking")["ranking"].notes)
    assert warning in run.report(tmp_path / "r.html").read_text()
    alone = vivavoce.open(tmp_path / "alone.viva")
    alone.collect(f"jsonl(path={frozen / 'exam.jsonl'})", models=["vllm/one", "vllm/two"])
    alone.score("rouge(n=1)")
    assert not any("wrote or translated" in note for note in alone.compare(metric="rouge").notes)


def test_names_of_writers_are_compared_without_provider_settings_and_case():
    from vivavoce.core.records import Card
    from vivavoce.studies.comparing.writers import writers_examined

    card = Card(name="b", description="", source="", licence="", citation="", writers=("openai/gpt-4o",))
    names = ["azure/GPT-4o", "openai/gpt-4o(temperature=0)", "openai/gpt-4o-mini", "gpt-4"]
    assert names[:2] == writers_examined(card, names)
    assert [] == writers_examined(card, [])


def test_a_card_that_is_no_card_any_more_is_one_sentence_and_a_strangers_card_is_none(frozen, tmp_path):
    body = json.loads((frozen / "card.json").read_text())
    (frozen / "card.json").write_text(json.dumps(body | {"card": {"name": "b"}}))
    with pytest.raises(InputError, match="is no card of a frozen exam any more"):
        load(f"jsonl(path={frozen / 'exam.jsonl'})")
    (frozen / "card.json").write_text('{"some": "other tool"}')
    assert "exam" == load(f"jsonl(path={frozen / 'exam.jsonl'})").card.name


def test_hostile_texts_stay_texts_in_every_file(run, tmp_path):
    hostile = '=cmd|"/c calc"!A1 <script>alert(1)</script> \u202e </question> ```\n# x'
    file = write_lines(tmp_path / "q.jsonl", [{"id": "h", "question": f"What is {hostile} in medicine?"}])
    run.build("filters", from_=[str(file)], only=["lengths"])
    run.build("freeze", to=str(tmp_path / "f"), licence=hostile.replace("\n", " "))
    assert "<script>" not in (tmp_path / "f" / "README.md").read_text()
    (row,) = [json.loads(line) for line in (tmp_path / "f" / "exam.jsonl").read_text().splitlines()]
    assert f"What is {hostile} in medicine?" == row["question"]


def test_a_forgotten_question_is_frozen_no_more_and_no_hash_of_it_stays(run, tmp_path):
    questions = [{"id": name, "question": f"What is the meaning of {name} in medicine?"} for name in "abc"]
    run.build("filters", from_=[str(write_lines(tmp_path / "q.jsonl", questions))], only=["lengths"])
    run.build("freeze", to=str(tmp_path / "one"))
    with run.file.reading() as db:
        rows = db.execute(
            "SELECT hash FROM items WHERE item = 'b' "
            "UNION SELECT hash FROM build_texts WHERE body LIKE '% b in %'"
        )
        hashes = [digest.encode() for (digest,) in rows]
    assert [True] * 2 == [digest in run.file.path.read_bytes() for digest in hashes]
    run.forget(items=["b"])
    assert [False] * 2 == [digest in run.file.path.read_bytes() for digest in hashes]
    run.build("freeze", to=str(tmp_path / "two"))
    files = b"".join(path.read_bytes() for path in (tmp_path / "two").iterdir())
    assert [False] * 2 == [word in files for word in (b"redacted", b"meaning of b")]
    assert {"a", "c"} == {
        json.loads(line)["item"] for line in (tmp_path / "two" / "exam.jsonl").read_text().splitlines()
    }


def imported(run, tmp_path, names=("q1", "q2")):
    """A run whose questions came by an import, with a review of each."""
    rows = [
        {"item": n, "question": f"What is {n}?", "reference": "x", "text": "x", "candidate": "m"}
        for n in names
    ]
    run.import_answers(write_lines(tmp_path / "exam.jsonl", rows))
    file = tmp_path / "reviews.csv"
    verdicts = ["yes", "no"]
    lines = [f"{n},,anna,{word},5" for n, word in zip(names, verdicts, strict=False)]
    file.write_text("item,category,rater,correct,relevance\n" + "\n".join(lines))
    run.import_ballots(file)
    return run


def test_a_run_that_was_imported_and_reviewed_is_frozen(run, tmp_path):
    imported(run, tmp_path)
    (row,) = run.build("freeze", to=str(tmp_path / "f")).rows
    assert (2, 1, {"people found it wrong": 1}) == (row["n_in"], row["n_out"], row["reasons"])
    exam = load(f"jsonl(path={tmp_path / 'f' / 'exam.jsonl'})")
    assert ["q1"] == [item.item for item in exam.items]
    run.build("freeze", to=str(tmp_path / "g"))
    assert (tmp_path / "g" / "exam.jsonl").read_bytes() == (tmp_path / "f" / "exam.jsonl").read_bytes()


def test_an_exam_can_be_built_in_a_run_whose_questions_were_frozen(run, tmp_path):
    imported(run, tmp_path)
    run.build("freeze", to=str(tmp_path / "f"))
    rows = [{"id": "a", "question": "Which drug is given first?", "reference": "Adrenaline"}]
    run.build("filters", from_=[str(write_lines(tmp_path / "q.jsonl", rows))], name="built")
    (row,) = run.build("freeze", to=str(tmp_path / "g"), unreviewed=True).rows
    assert 1 == row["n_out"]
    benchmark = next(name for name in run.items["benchmark"].unique() if name != "built")
    (row,) = run.build("freeze", to=str(tmp_path / "h"), exam=benchmark).rows
    assert 2 == row["n_in"]


def test_which_exam_is_frozen_has_to_be_clear(run, tmp_path):
    imported(run, tmp_path)
    row = {"item": "z", "question": "What is z?", "reference": "x", "text": "x", "candidate": "m"}
    run.import_answers(write_lines(tmp_path / "other.jsonl", [row]))
    with pytest.raises(InputError, match="which exam is frozen: --exam is one of"):
        run.build("freeze", to=str(tmp_path / "f"))
    assert not (tmp_path / "f").exists()


def test_a_redacted_run_is_not_frozen(run, tmp_path):
    imported(run, tmp_path).export(tmp_path / "redacted.viva", format="run", redact=True)
    redacted = vivavoce.open(tmp_path / "redacted.viva")
    with pytest.raises(InputError, match="is a redacted copy: its texts are gone, and an exam is texts"):
        redacted.build("freeze", to=str(tmp_path / "f"), unreviewed=True)
    assert not (tmp_path / "f").exists()


def test_a_reviewer_who_says_only_how_relevant_items_are_is_one_of_min_raters(run, tmp_path):
    imported(run, tmp_path, names=("q1",))
    file = tmp_path / "more.csv"
    file.write_text("item,category,rater,correct,relevance\nq1,,ben,,5")
    run.import_ballots(file)
    (row,) = run.build("freeze", to=str(tmp_path / "f"), min_raters=2).rows
    assert 1 == row["n_out"]
    with pytest.raises(InputError, match=r"fewer than 3 people reviewed it \(1\)"):
        run.build("freeze", to=str(tmp_path / "g"), min_raters=3)
