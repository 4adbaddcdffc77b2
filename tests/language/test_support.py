"""What is supported of a language follows from its data; a language that cannot be texts is not known."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cases import each_case
from tests.tools.loading import tool
from typer.testing import CliRunner

import vivavoce as viva
from vivavoce.cli import app
from vivavoce.language import languages as support
from vivavoce.language.languages import codes, language, language_row, language_sentence, text_language


@each_case(
    ("text", "script", "code"),
    [
        ("A man with fever and a new murmur. Which of these is the next step?", "Latin", "en"),
        ("¿Cuál es el tratamiento de primera línea para un paciente con fiebre?", "Latin", "es"),
        ("Welche Behandlung ist bei einem Patienten mit Fieber die richtige?", "Latin", "de"),
        ("Quel est le traitement de première intention chez un patient avec de la fièvre ?", "Latin", "fr"),
        ("患者最可能的诊断是什么？", "Han", "zh"),
        ("心不全を伴う患者に追加すべき薬はどれか。", "Hiragana", "ja"),
        ("रोगी के लिए सबसे अच्छी दवा कौन सी है?", "Devanagari", "hi"),
        ("ما الدواء المناسب لمريض السكري في هذه الحالة؟", "Arabic", "ar"),
        ("Metformin Empagliflozin Sitagliptin", "Latin", None),
        ("Metformin", "Latin", None),
        ("Mikä on potilaan todennäköisin diagnoosi?", "Latin", None),  # Finnish has no file
        ("ስለ በሽታው ምን ይላሉ", "Ethiopic", None),
        ("12 % 3 4", None, None),
        ("", None, None),
    ],
)
def test_a_language_is_told_by_its_script_or_its_words_or_is_not_known(text, script, code):
    texts = text_language([text])
    assert (script, code) == (texts.script, texts.language.code if texts.language else None)


def test_nothing_is_supported_that_no_list_holds():
    empty = support.support(replace(language("sv"), true=(), refusals=(), not_applicable=()))
    assert {"not known"} == {empty[name] for name in ("true_false", "refusal", "no_answer")}
    assert "not known" not in support.support(language("en")).values()


def test_the_sentence_of_an_unknown_language_says_what_counts_and_of_english_no_gap(monkeypatch):
    unknown = language_sentence(language_row("b", ["Metformin"]))
    assert (
        "Language of b: not known (Latin script). An option counts where the answer is the option" in unknown
    )
    monkeypatch.setattr(support, "language", lambda code: replace(language(code), refusals=()))
    gaps = language_sentence(language_row("b", ["患者最可能的诊断是什么？"]))
    assert "Language of b: Chinese (Han script). Not known in it: refusals." == gaps
    monkeypatch.undo()
    english = language_sentence(language_row("b", ["Which of these is the next step in the patient?"]))
    assert "Language of b: English (Latin script)." == english


def listed() -> list[dict[str, object]]:
    result = CliRunner().invoke(app, ["list", "languages", "--json"])
    return json.loads(result.stdout)["rows"]


def test_the_list_has_a_row_for_each_language_and_the_page_of_the_docs_the_same():
    rows = listed()
    assert list(codes()) == [row["name"] for row in rows]
    table = tool("docs").languages().splitlines()
    assert [list(row) for row in rows[:1]] == [table[0].strip("| ").split(" | ")]
    cells = [", ".join(value) if isinstance(value, list) else value for value in rows[7].values()]
    assert f"| {' | '.join(cells)} |" == table[9]
    page = Path(__file__).parents[2] / "docs/reference/languages.md"
    assert "<!-- languages -->" in page.read_text(encoding="utf-8")


def test_the_list_fits_80_columns_in_one_table_and_says_what_its_words_mean(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = CliRunner().invoke(app, ["list", "languages"]).stdout.splitlines()
    assert [] == [line for line in lines if len(line) > 80]
    assert ["code", "language", "scripts", "choice"] == lines[0].split()[:4]
    assert len(codes()) == sum(line.split()[0] in codes() for line in lines[2:] if line and line[0].islower())
    assert ["ja", "Japanese", "Kana,", "Han"] in [line.split()[:4] for line in lines]
    assert "Sentences end at . ! ? … and at ؟ (ar, fa), । (bn, hi), ; (el), 。 ！ ？ (ja, zh)." == lines[-1]


def exam(folder: Path) -> Path:
    items = [
        {
            "item": "1",
            "format": "short",
            "question": "患者最可能的诊断是什么？",
            "references": ["社区获得性肺炎"],
        },
        {"item": "2", "format": "short", "question": "哪种药物最合适？", "references": ["阿司匹林"]},
    ]
    answers = [{"item": item["item"], "candidate": "m", "text": item["references"][0]} for item in items]
    for name, rows in (("items", items), ("answers", answers)):
        lines = "\n".join(json.dumps({"benchmark": "zh", **row}, ensure_ascii=False) for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    run = folder / "run.viva"
    viva.open(run).import_answers(folder / "answers.jsonl", benchmark=f"jsonl:path={folder / 'items.jsonl'}")
    return run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return exam(tmp_path_factory.mktemp("zh"))


def test_score_says_first_which_language_it_found_and_what_it_cannot_do_there(run):
    lines = CliRunner().invoke(app, ["score", str(run), "token_f1", "bleu"]).stdout.splitlines()
    assert lines[2].startswith("Language of items: Chinese (Han script).")
    assert lines[3].startswith("bleu sets 2 questions aside: the references are in Han script")


def test_the_rows_say_the_same(run):
    result = CliRunner().invoke(app, ["score", str(run), "bleu", "--json"])
    row = json.loads(result.stdout)["languages"][0]
    assert ("items", "Han", "Chinese") == (row["benchmark"], row["script"], row["language"])
    assert row["sentences"][1].startswith("bleu sets 2 questions aside: the references are in Han script")
    assert viva.open(run).score("bleu").languages[0]["support"] == row["support"]
