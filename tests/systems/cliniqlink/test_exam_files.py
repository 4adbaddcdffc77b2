"""Any exam of the seven formats becomes the challenge's files, its questions and its competition."""

import json
from pathlib import Path

import pytest
from tests.building.conftest import write_lines
from tests.building.fake_writer import FakeWriter
from tests.building.test_cliniqlink import TOPICS, check, passage, write

import vivavoce as viva
from vivavoce.benchmarks import load
from vivavoce.core.errors import InputError, SelectionError
from vivavoce.core.records import Item, Message, Unit
from vivavoce.systems.cliniqlink.benchmark import PARTS
from vivavoce.systems.cliniqlink.exam_files import challenge_exam
from vivavoce.systems.cliniqlink.exporter import write_exam, write_questions
from vivavoce.systems.cliniqlink.submissions.bundle import write_bundle
from vivavoce.systems.cliniqlink.submissions.competition import read_competition

STEMS = [part.stem for part in PARTS]


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A folder with a run of two passages in seven formats, and the frozen exam."""
    folder = tmp_path_factory.mktemp("built")
    writer = FakeWriter([write, check])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VLLM_BASE_URL", writer.base_url)
        file = write_lines(folder / "p.jsonl", [{"id": t, "text": passage(t)} for t in TOPICS[:2]])
        run = viva.open(folder / "gp.viva")
        run.build("cliniqlink", from_=[file], model="vllm/m")
        run.build("freeze", to=str(folder / "frozen"))
    writer.close()
    return folder


def spec_of(built: Path) -> str:
    return f"jsonl(path={built / 'frozen' / 'exam.jsonl'})"


def content(items):
    """What the items ask, their keys and their cases, whatever they are called."""
    fields = (
        "format",
        "question",
        "options",
        "answer",
        "references",
        "steps",
        "step",
        "false_answer",
        "group",
    )
    return sorted(repr([getattr(item, name) for name in fields]) for item in items)


def test_a_frozen_exam_reads_back_from_the_seven_files_as_it_was(built, tmp_path):
    items = load(spec_of(built)).items
    files = write_exam(items, tmp_path / "exam", name="gp")
    assert STEMS == [file.path.stem for file in files]
    assert content(items) == content(load(f"cliniqlink(data={tmp_path / 'exam'})").items)


def test_the_run_itself_gives_the_same_files(built, tmp_path, viva):
    viva("export", built / "gp.viva", tmp_path / "a", "--format", "cliniqlink_exam")
    viva("challenge", "exam", f"jsonl:path={built / 'frozen' / 'exam.jsonl'}", "--to", tmp_path / "b")
    for stem in STEMS:
        rows = [json.loads((tmp_path / d / f"{stem}.json").read_text()) for d in "ab"]
        assert sorted(rows[0], key=str) == sorted(rows[1], key=str)


def test_questions_and_competition_of_a_frozen_exam_are_those_of_its_files(built, tmp_path):
    write_exam(load(spec_of(built)).items, tmp_path / "exam", name="gp")
    of_files = f"cliniqlink(data={tmp_path / 'exam'})"
    terms = read_competition("lab/x:1", "2026-12-01", None)
    for name, spec in (("a", spec_of(built)), ("b", of_files)):
        write_questions(spec, tmp_path / f"questions-{name}")
        write_bundle(spec, tmp_path / f"bundle-{name}", terms)
    for kind in ("questions", "bundle"):
        first, second = tmp_path / f"{kind}-a", tmp_path / f"{kind}-b"
        names = sorted(path.relative_to(first) for path in first.rglob("*") if path.is_file())
        assert names
        for name in names:
            assert (first / name).read_bytes() == (second / name).read_bytes(), name


def test_questions_hold_no_key_and_no_source(built, tmp_path):
    write_questions(spec_of(built), tmp_path / "q")
    text = "".join(path.read_text() for path in (tmp_path / "q").iterdir())
    for secret in ("correct_answer", "incorrect_explanation", "paragraph_id", "quote", "five half-lives."):
        assert secret not in text


def test_other_formats_are_left_out_and_counted_by_the_export_and_refused_by_a_bundle(tmp_path):
    rows = [
        {"id": "a", "question": "Which one?", "options": ["x", "y"], "answer": "x", "format": "mcq"},
        {"id": "b", "question": "Why?", "reference": "Because.", "format": "longform"},
    ]
    spec = f"jsonl(path={write_lines(tmp_path / 'q.jsonl', rows)})"
    (file,) = write_exam(load(spec).items, tmp_path / "exam", name="q")
    assert (1, {"longform": 1}) == (file.items, file.left_out)
    with pytest.raises(InputError, match=r"holds questions of other formats \(1 longform\)"):
        challenge_exam(spec)


@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        (Item(benchmark="b", item="i", format="longform", question="Why?"), "holds no question of"),
        (Item(benchmark="b", item="i", format="mcq", question="Which?", options=("x", "y")), "i has no key"),
    ],
)
def test_an_exam_that_the_files_cannot_hold_is_one_sentence(tmp_path, item, sentence):
    with pytest.raises(InputError, match=sentence):
        write_exam([item], tmp_path / "exam", name="q")
    assert not (tmp_path / "exam").exists()


def test_a_run_of_two_exams_is_asked_which(built, tmp_path):
    run = viva.open(tmp_path / "two.viva")
    for name in ("a", "b"):
        row = {"item": "1", "question": f"Is {name}?", "reference": "x", "text": "x", "candidate": "m"}
        run.import_answers(write_lines(tmp_path / f"{name}.jsonl", [row]))
    with pytest.raises(SelectionError, match=r"which exam is written: --set benchmark=NAME is one of"):
        run.export(tmp_path / "exam", format="cliniqlink_exam")


@pytest.mark.parametrize(
    ("fields", "lost"),
    [
        ({"format": "short", "context": "A boy of six."}, "a context"),
        ({"format": "short", "rubric": (Unit(unit="1", text="Names it."),)}, "a rubric"),
        ({"format": "short", "messages": (Message("user", "Hi"),)}, "the turns of a conversation"),
        ({"format": "short", "references": ("x", "or y")}, "several references"),
        ({"format": "short", "must": ("Names it.",)}, "statements that an answer must make"),
        ({"format": "short", "options": ("x", "y")}, "options"),
        ({"format": "mcq", "options": ("x", "y"), "answer": ("x",), "context": "A boy."}, "a context"),
    ],
)
def test_an_item_with_what_the_files_have_no_place_for_is_refused_by_name(tmp_path, fields, lost):
    item = Item(benchmark="b", item="i7", question="Which?", **{"references": ("x",), **fields})
    with pytest.raises(InputError, match=rf"q: i7 holds {lost}, and ClinIQLink's file for {item.format} has"):
        write_exam([item], tmp_path / "exam", name="q")
    assert not (tmp_path / "exam").exists()


def test_questions_are_not_written_without_the_context_that_they_are_asked_about(tmp_path):
    rows = [{"id": "i7", "question": "Which?", "references": ["x"], "format": "short", "context": "A boy."}]
    spec = f"jsonl(path={write_lines(tmp_path / 'q.jsonl', rows)})"
    with pytest.raises(InputError, match=r"i7 holds a context"):
        write_questions(spec, tmp_path / "q")
    assert not (tmp_path / "q").exists()


def test_a_closed_item_with_an_explanation_is_written_since_its_key_is_the_option(tmp_path):
    item = Item(
        benchmark="b", item="i", format="mcq", question="Which?", options=("x", "y"), answer=("y",),
        references=("since z",),
    )  # fmt: skip
    write_exam([item], tmp_path / "exam", name="q")
    (stored,) = load(f"cliniqlink(data={tmp_path / 'exam'},files=[MC])").items
    assert ("y",) == stored.answer


def test_a_redacted_run_is_no_exam(built, tmp_path):
    run = viva.open(built / "gp.viva")
    run.export(tmp_path / "redacted.viva", format="run", redact=True)
    with pytest.raises(InputError, match="is a redacted copy: its texts are gone, and an exam is texts"):
        viva.open(tmp_path / "redacted.viva").export(tmp_path / "exam", format="cliniqlink_exam")
    assert not (tmp_path / "exam").exists()
