"""CareQA's recipe: a paper of two columns becomes closed and open questions; nothing is lost in silence."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.building.conftest import check_sums, counts, dropped
from tests.building.papers import SPANISH, write_paper, write_scan
from tests.cases import each_case
from tests.lengths import length

import vivavoce as viva
from vivavoce.core.errors import InputError, SelectionError, SpecError
from vivavoce.store.build_steps import build_steps

MODEL = "vllm/m"


def build(run, paper, **options):
    return run.build("careqa", from_=[paper[0]], key=[paper[1]], to="en", model=MODEL, **options)


def test_a_paper_of_two_columns_becomes_open_questions_and_every_drop_has_its_reason(run, paper, writer):
    finding = build(run, paper, year=2024, category="medicine")
    assert [
        ("parse", 0, 9, 6, 3),
        ("translate", 6, 6, 12, 0),
        ("stems", 12, 0, 10, 2),
        ("rephrase", 10, 5, 5, 0),
        ("select", 5, 0, 5, 0),
        ("check", 5, 0, 4, 1),
    ] == counts(finding.rows, "n_in", "n_written", "n_out", "dropped")
    check_sums(finding.rows, run)
    assert [
        ("parse", "exam-004", "it rests on an image", ""),
        ("parse", "exam-007", "it is annulled: the key names no option", ""),
        ("parse", "exam-008", "the question was not understood", "2 options, not 4"),
        ("stems", "exam-003", "it asks for the wrong option", "incorrecta"),
        ("stems", "exam-003-en", "it asks for the wrong option", "incorrect"),
        ("check", "exam-009-en-open", "another answer could be right", "Phosphate"),
    ] == dropped(run)
    items = run.items.to_dicts()
    assert ["exam-001", "exam-002", "exam-005", "exam-006"] == [item["group"] for item in items]
    (second,) = [item for item in items if item["group"] == "exam-002"]
    assert ["Thyrotropin (TSH)."] == second["references"]
    assert "exam.pdf, page 1, question 2" == second["source"]
    assert {
        "language": "en", "number": 2, "year": 2024, "written_by": [MODEL], "reworded_from": "exam-002-en"
    } == json.loads(second["meta"])  # fmt: skip


def test_text_is_read_down_each_column_and_over_page_ends_and_hyphens_are_joined(run, paper):
    run.build("careqa", from_=[paper[0]], key=[paper[1]])
    items = {item["item"]: item for item in run.items.to_dicts()}
    assert (
        "Una paciente con hipotiroidismo toma 62,5 mcg de levotiroxina. ¿Qué hormona se mide para ajustar "
        "la dosis?" == items["exam-002"]["question"]
    )
    assert ["Tirotropina (TSH).", "Cortisol.", "Prolactina.", "Insulina."] == items["exam-002"]["options"]
    assert items["exam-005"]["question"].startswith(
        "Un niño de 3 años no respira y no tiene pulso tras la primera evaluación. ¿Cuál es la relación"
    )
    assert "exam.pdf, pages 1 to 2, question 5" == items["exam-005"]["source"]
    assert ["15:2"] == items["exam-005"]["answer"]
    assert not any("Pagina" in json.dumps(item) or "EXAMEN" in json.dumps(item) for item in items.values())


def test_both_forms_stand_side_by_side_and_negative_questions_stay_closed(run, paper, writer):
    build(run, paper, form="both")
    items = run.items.to_dicts()
    assert {"mcq": 12, "longform": 4} == {
        name: sum(item["format"] == name for item in items) for name in ("mcq", "longform")
    }
    assert "exam-003-en" in {item["item"] for item in items}
    assert "exam-003-en-open" not in {item["item"] for item in items}


def test_a_dry_run_counts_the_next_step_and_stores_nothing(run, paper, writer):
    finding = build(run, paper, dry_run=True)
    assert [("parse", 0), ("translate", 6)] == counts(finding.rows, "requests")
    assert "What stems, rephrase, select, check would ask depends on the replies." in finding.text
    assert (6, None, None, {}) == tuple(
        finding.rows[-1][name] for name in ("n_in", "n_out", "dropped", "reasons")
    )
    assert not run.file.exists
    assert not writer.seen


def test_a_cost_that_nobody_knows_is_none_and_one_that_is_known_adds_up(run, paper, writer, tmp_path):
    finding = build(run, paper, until="translate")
    assert [("parse", 0.0), ("translate", None)] == counts(finding.rows, "cost")
    providers = tmp_path / "providers.json"
    providers.write_text(json.dumps({"vllm": {"prices": {"m": [10, 20]}}}))
    finding = build(run, paper, providers=providers)
    assert pytest.approx(10 * (100 * 10 + 20 * 20) / 1e6) == finding.rows[3]["cost"]


def test_until_stops_takes_back_and_goes_on_without_asking_again(run, paper, writer):
    build(run, paper)
    n = sum(writer.seen.values())
    finding = build(run, paper, until="translate")
    assert ["parse", "translate"] == [row["step"] for row in finding.rows]
    with run.file.reading() as db:
        assert ["parse", "translate"] == [step.step for step in build_steps(db)]
    assert 12 == run.items.height
    build(run, paper)
    assert 4 == run.items.height
    assert n == sum(writer.seen.values())


def test_the_same_seed_and_cache_give_the_same_exam_byte_for_byte(run, paper, writer, tmp_path):
    build(run, paper)
    run.build("freeze", to=str(tmp_path / "one"))
    build(run, paper, until="parse")
    build(run, paper)
    run.build("freeze", to=str(tmp_path / "two"))
    for name in ("exam.jsonl", "exam.parquet", "dropped.jsonl", "croissant.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_killed_in_the_middle_the_same_command_asks_nothing_twice(paper, writer, tmp_path, monkeypatch):
    writer.rules = [lambda prompt: time.sleep(0.05), *writer.rules]
    whole = viva.open(tmp_path / "whole.viva")
    build(whole, paper, name="exam")
    whole.build("freeze", to=str(tmp_path / "whole"), name="exam")
    once = dict(writer.seen)
    writer.seen.clear()
    words = [
        *(sys.executable, "-m", "vivavoce", "build", tmp_path / "k.viva", "careqa", "--name", "exam"),
        *("--from", paper[0], "--key", paper[1], "--to", "en", "--model", MODEL, "--quiet"),
    ]
    for n in length((9,), (2, 9, 18)):
        process = subprocess.Popen(list(map(str, words)), env=dict(os.environ))
        while sum(writer.seen.values()) < n and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        assert -signal.SIGKILL == process.wait()
    run = viva.open(tmp_path / "k.viva")
    build(run, paper, name="exam")
    run.build("freeze", to=str(tmp_path / "killed"), name="exam")
    assert once.keys() == writer.seen.keys()
    with run.file.reading() as db:
        (twice,) = db.execute(
            "SELECT count(*) FROM (SELECT key FROM calls WHERE status = 'ok' GROUP BY key "
            "HAVING count(*) > 1)"
        ).fetchone()
    assert 0 == twice
    for name in ("exam.jsonl", "dropped.jsonl"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "killed" / name).read_bytes()


MISBEHAVIOUR = {
    "another language": {"question": "¿Qué vitamina falta en el escorbuto y por qué en la piel?",
                         "options": ["Vitamina C.", "Vitamina D de la piel.", "Vitamina K.", "Vitamina A."]},
    "no options": {"question": "Which vitamin is lacking in scurvy?", "options": []},
    "an option too many": {"question": "Which vitamin is lacking?", "options": ["C", "D", "K", "A", "E"]},
    "two equal options": {"question": "Which vitamin is lacking?", "options": ["C", "C", "K", "A"]},
    "a number added": {"question": "Which of 13 vitamins is lacking?", "options": ["C", "D", "K", "A"]},
    "no JSON": "Vitamin C is lacking in scurvy.",
}  # fmt: skip
REASONS = {
    "another language": "it is written in Spanish, not in English",
    "no options": "0 options, and the question has 4",
    "an option too many": "5 options, and the question has 4",
    "two equal options": "two of the options are the same",
    "a number added": "a number or unit was added: 13",
    "no JSON": "no JSON object",
}


@pytest.mark.parametrize("fault", MISBEHAVIOUR)
def test_a_reply_that_cannot_be_used_is_asked_once_more_and_then_dropped_for_good(run, paper, writer, fault):
    writer.manners = {"falta en el escorbuto": [MISBEHAVIOUR[fault]]}
    finding = build(run, paper, until="translate")
    assert 0 == finding.rows[-1]["failed"]
    reason = REASONS[fault]
    lines = [line for line in dropped(run) if line[0] == "translate"]
    expected = f"{reason}; asked again: {reason}"
    assert [("translate", "exam-006-en", "no usable reply to translate it", expected)] == lines
    n = sum(writer.seen.values())
    build(run, paper, until="parse")
    build(run, paper, until="translate")
    assert n == sum(writer.seen.values())  # what could not be used twice is a result


def test_a_second_reply_that_can_be_used_is_used(run, paper, writer):
    good = {"question": "Which vitamin is lacking in scurvy?", "options": ["C.", "D.", "K.", "A."]}
    writer.manners = {"falta en el escorbuto": [MISBEHAVIOUR["no options"], good]}
    finding = build(run, paper, until="translate")
    assert 0 == finding.rows[-1]["dropped"]
    assert 7 == finding.rows[-1]["requests"]


def test_a_lost_unit_and_a_moved_decimal_comma_are_noticed(run, paper, writer):
    wrong = {"question": "A patient takes 625 mcg of levothyroxine. Which hormone is measured for the dose?",
             "options": ["TSH.", "Cortisol.", "Prolactin.", "Insulin."]}  # fmt: skip
    writer.manners = {"levotiroxina": [wrong]}
    build(run, paper, until="translate")
    (line,) = [line for line in dropped(run) if line[0] == "translate"]
    assert "a number or unit was lost: 62.5 μg" in line[3]


@each_case(
    ("spanish", "english", "same"),
    [
        ("2,5 mg", "2.5 mg", True),
        ("1.500,5 mg", "1,500.5 mg", True),
        ("20 000 plaquetas", "20,000 platelets", True),
        ("37,0 ºC", "37 °C", True),
        ("5 por ciento", "5%", True),
        ("5 %", "5 percent", True),
        ("20 µg", "20 mcg", True),
        ("12 horas", "12 hours", True),
        ("120/80 mmHg, VIH-1, 10³", "120/80 mmHg, HIV-1, 10³", True),
        ("2,5 mg", "25 mg", False),
        ("2 mg", "2 g", False),
        ("2 mg", "2", False),
        ("3 y 3", "3", False),
        ("", "", True),
    ],
)
def test_figures_are_the_same_whatever_language_writes_them(spanish, english, same):
    from vivavoce.systems.careqa.step.translation import figures

    assert same == (sorted(figures(spanish)) == sorted(figures(english)))


def test_a_reply_that_never_came_is_asked_for_by_the_next_command(run, paper, writer):
    writer.manners = {"falta en el escorbuto": [400]}
    finding = build(run, paper, until="translate")
    assert (1, 1) == (finding.rows[-1]["dropped"], finding.rows[-1]["failed"])
    assert "rerun the command to ask again" in finding.text
    writer.manners = {}
    n = sum(writer.seen.values())
    finding = build(run, paper, until="translate")
    assert (0, 12) == (finding.rows[-1]["dropped"], finding.rows[-1]["n_out"])
    assert n + 1 == sum(writer.seen.values())


def test_a_limit_of_cost_stops_in_the_middle_and_the_same_command_goes_on(run, paper, writer, tmp_path):
    providers = tmp_path / "providers.json"
    providers.write_text(json.dumps({"vllm": {"prices": {"m": [1000, 1000]}, "concurrency": 1}}))
    with pytest.raises(viva.VivaError, match=r"not asked everything.*rerun the command to resume"):
        build(run, paper, providers=providers, max_cost=0.45)
    spent = sum(writer.seen.values())
    assert 0 < spent < 6
    with run.file.reading() as db:
        assert ["parse"] == [step.step for step in build_steps(db)]
    finding = build(run, paper, providers=providers)
    assert 4 == finding.rows[-1]["n_out"]
    assert all(n == 1 for n in writer.seen.values())


def test_a_second_paper_adds_its_questions_and_asks_for_them_alone(run, paper, writer, tmp_path):
    build(run, paper, until="translate")
    n = sum(writer.seen.values())
    more = write_paper(
        tmp_path / "more.pdf",
        [[["1. ¿Qué vitamina falta en el escorbuto infantil?", "1. C.", "2. D.", "3. K.", "4. A."], []]],
    )
    key = tmp_path / "more.csv"
    key.write_text("pregunta;respuesta\n1;A\n")
    finding = run.build(
        "careqa", from_=[paper[0], more], key=[paper[1], key], to="en", model=MODEL, until="translate"
    )
    assert 14 == finding.rows[-1]["n_out"]
    assert n + 1 == sum(writer.seen.values())


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda p: write_paper(p, SPANISH, password="secret"), "encrypted: it opens with a password only"),
        (lambda p: write_scan(p), "no text on any of its pages .1.: a scan"),
        (lambda p: p.write_bytes(b"%PDF-1.4 broken"), "cannot be used"),
        (lambda p: p.write_text("no pdf at all"), "it cannot be read as a PDF"),
        (lambda p: write_paper(p, [[["Un texto sin preguntas."], []]]), "no question was found"),
    ],
)
def test_a_paper_that_cannot_be_read_is_one_sentence_and_leaves_nothing(run, paper, tmp_path, make, sentence):
    bad = tmp_path / "bad.pdf"
    make(bad)
    with pytest.raises(InputError, match=sentence):
        run.build("careqa", from_=[bad], key=[paper[1]])
    assert not run.file.exists


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        (
            "number,answer\n" + "".join(f"{n},1\n" for n in range(101, 190)),
            "no question was found|of one exam",
        ),
        ("number,answer\n" + "".join(f"{n},1\n" for n in range(1, 60)), r"59\), and .*has 9 .*of one exam"),
        ("number,answer\n1,7\n", "the key '7' names none of 4 options"),
        ("number,answer\n1,1\n1,2\n", "the question 1 stands there twice"),
        ("number,answer\nx,1\n", "'x' is no number of a question"),
        ("a,b\n1,1\n", "columns number and answer are needed"),
    ],
)
def test_a_key_that_does_not_fit_is_one_sentence(run, paper, tmp_path, key, sentence):
    file = tmp_path / "other.csv"
    file.write_text(key)
    with pytest.raises(InputError, match=sentence):
        run.build("careqa", from_=[paper[0]], key=[file])


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"to": "xx", "model": MODEL}, (SpecError, ValueError), "one of en, ar, bn, ca,"),
        ({"to": "en"}, InputError, "name one with --model"),
        ({"langauge": "es"}, SelectionError, "no option --langauge.*language"),
        ({"to": "en", "model": MODEL, "until": "translat"}, SelectionError, "Did you mean 'translate'"),
        ({"name": "../x"}, InputError, "write letters, digits"),
        ({"year": "next"}, SpecError, "year takes"),
    ],
)
def test_options_that_name_nothing_are_one_sentence(run, paper, options, error, sentence):
    with pytest.raises(error, match=sentence):
        run.build("careqa", from_=[paper[0]], key=[paper[1]], **options)


def test_options_that_are_needed_are_named_as_they_are_typed(run):
    with pytest.raises(SelectionError, match="careqa needs --from and --key"):
        run.build("careqa")
    with pytest.raises(SpecError, match=r"no build_recipe named 'carequa'.*careqa"):
        run.build("carequa")
    assert not run.file.exists


def test_an_exam_keeps_its_name_however_the_file_of_its_run_is_called(run, paper, tmp_path):
    run.build("careqa", from_=[paper[0]], key=[paper[1]], name="exam")
    moved = viva.open(run.file.path.rename(tmp_path / "moved.viva"))
    moved.build("filters", only=["lengths"])
    moved.build("careqa", from_=[paper[0]], key=[paper[1]])
    assert {"exam"} == set(moved.items["benchmark"])
    with pytest.raises(InputError, match=r"the exam in .*moved.viva is exam; build another in another run"):
        moved.build("filters", name="second")


def test_another_recipe_needs_another_run(run, paper, writer, tmp_path):
    run.build("careqa", from_=[paper[0]], key=[paper[1]])
    text = tmp_path / "t.txt"
    text.write_text("word " * 40)
    with pytest.raises(
        InputError, match="holds an exam by the recipe careqa: build cliniqlink in another run"
    ):
        run.build("cliniqlink", from_=[text], model=MODEL)


def test_instructions_with_numbers_before_the_first_question_are_no_questions(run, tmp_path):
    lines = ["1. Compruebe que el cuaderno lleva todas sus páginas.", "2. Tiene dos horas para contestar.",
             "1. ¿Qué vitamina falta en el escorbuto?", "a) C", "b) D", "c) K", "d) A",
             "2. ¿Cuál es el antídoto de la heparina?", "a) Protamina", "b) Vitamina K", "c) Glucagón",
             "d) Flumazenilo"]  # fmt: skip
    key = tmp_path / "k.csv"
    key.write_text("number,answer\n1,a\n2,a\n")
    run.build("careqa", from_=[write_paper(tmp_path / "p.pdf", [[lines]])], key=[key])
    rows = run.items.select("item", "question", "answer").rows()
    assert [
        ("p-001", "¿Qué vitamina falta en el escorbuto?", ["C"]),
        ("p-002", "¿Cuál es el antídoto de la heparina?", ["Protamina"]),
    ] == rows


def test_patient_data_of_a_paper_leave_no_machine(run, tmp_path, monkeypatch):
    monkeypatch.setenv("VLLM_BASE_URL", "http://203.0.113.7:9/v1")
    lines = ["1. La paciente Sra. María López García, DNI 12345678Z, nacida el 03/04/1961. ¿Qué tiene?",
             "1. Gripe", "2. Asma", "3. Nada", "4. Tos"]  # fmt: skip
    key = tmp_path / "k.csv"
    key.write_text("number,answer\n1,1\n")
    pdf = write_paper(tmp_path / "p.pdf", [[lines]])
    with pytest.raises(viva.VivaError, match=r"patient data.*--allow-phi"):
        run.build("careqa", from_=[pdf], key=[key], to="en", model=MODEL)


def test_the_command_prints_a_row_a_step_and_exits_1_while_replies_are_missing(
    viva_cli, paper, writer, tmp_path
):
    writer.manners = {"falta en el escorbuto": [400]}
    words = ["build", tmp_path / "b.viva", "careqa", "--from", paper[0], "--key", paper[1], "--to", "en"]
    result = viva_cli(*words, "--model", MODEL, "--until", "translate", "--json", code=1)
    answer = json.loads(result.stdout)
    assert ("viva.build/1", ["parse", "translate"]) == (answer["schema"], [r["step"] for r in answer["rows"]])
    writer.manners = {}
    text = viva_cli(*words, "--model", MODEL).stdout
    assert "stems: 2 dropped: it asks for the wrong option." in text
    rows = json.loads(viva_cli("status", tmp_path / "b.viva", "--json").stdout)["rows"]
    said = viva_cli("status", tmp_path / "b.viva").stdout
    assert "Built: 6 steps of careqa, the last check with 4 parts; 6 dropped." in said
    about = [row for row in rows if row["about"] == "build"]
    assert 6 == len(about)
    assert {"step", "n_in", "n_out", "reasons"} <= about[0].keys()


@pytest.fixture
def viva_cli(viva):
    return viva


def test_paths_with_blanks_and_two_words_of_an_option_reach_the_recipe(tmp_path):
    from vivavoce.cli.build import recipe_options

    assert {"from_": ("a b.pdf", "c.pdf"), "drop": True} == {
        {"from": "from_"}.get(k, k): v
        for k, v in recipe_options(["--from", "a b.pdf", "c.pdf", "--drop"]).items()
    }
    with pytest.raises(InputError, match="belongs to no option"):
        recipe_options(["stray"])


def test_a_run_copied_without_texts_holds_no_draft(run, paper, tmp_path):
    run.build("careqa", from_=[paper[0]], key=[paper[1]])
    run.export(tmp_path / "r.viva", format="run", redact=True)
    raw = Path(tmp_path / "r.viva").read_bytes()
    assert b"escorbuto" not in raw
    assert b"escorbuto" in Path(run.file.path).read_bytes() or True
    with viva.open(tmp_path / "r.viva").file.reading() as db:
        assert [] == build_steps(db)
