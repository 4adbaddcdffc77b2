"""What a benchmark consists of: sizes, lengths, vocabulary, categories, keys, negative questions."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each_case
from typer.testing import CliRunner

import vivavoce as viva
from vivavoce.benchmarks import Loaded
from vivavoce.benchmarks.contents import SEGMENT, contents, negative_word, words_of
from vivavoce.cli import app
from vivavoce.core.errors import InputError
from vivavoce.core.records import Card, Exclusion, Item

CARD = Card(name="own", description="d", source="s", revision_note="none", licence="l", citation="c")


def loaded(items: Sequence[Item], exclusions: Sequence[Exclusion] = (), access: Any = "open") -> Loaded:
    card = Card(
        name="own", description="d", source="s", revision_note="-", licence="l", citation="c", access=access
    )
    return Loaded("own", "own()@1", card, tuple(items), (), tuple(exclusions))


def mcq(name: str, key: str, options: Sequence[str] = ("a", "b", "c", "d"), **fields: Any) -> Item:
    fields = {"question": f"Which is {name}?"} | fields
    return Item(benchmark="own", item=name, format="mcq", options=tuple(options), answer=(key,), **fields)


def rows(what: str, of: Loaded) -> list[Any]:
    return [row for row in contents(of) if row.about == what]


def test_words_are_runs_of_letters_and_digits_with_what_stands_inside_them() -> None:
    assert ["x-ray", "of", "2.5", "mg", "don't", "1,000", "e.g"][:6] == words_of(
        "X-ray of 2.5 mg; don't 1,000"
    )
    assert ["pain", "fever", "end"] == words_of("pain,fever. End.")
    assert ["¿cuál"[1:], "niño"] == words_of("¿Cuál? niño")
    assert [] == words_of("—?! _ ")


def test_lengths_have_their_quartiles_and_the_id_of_the_longest() -> None:
    questions = ["one", "one two", "one two three", "one two three four", "one two three four five six"]
    items = [mcq(f"q{k}", "a", question=question) for k, question in enumerate(questions)]
    row = rows("length", loaded(items))[0]
    assert ("question", "words", 5) == (row.part, row.unit, row.texts)
    # By hand: of 1, 2, 3, 4 and 6.
    assert (3.2, 2.0, 3.0, 4.0, 6, "q4") == (
        row.mean, row.quartile_1, row.median, row.quartile_3, row.longest, row.longest_item
    )  # fmt: skip


def test_one_item_has_all_of_its_quartiles_at_its_length() -> None:
    row = rows("length", loaded([mcq("q1", "a", question="two words")]))[0]
    assert (2.0, 2.0, 2.0) == (row.quartile_1, row.median, row.quartile_3)


def test_the_vocabulary_does_not_shrink_as_a_text_is_repeated() -> None:
    text = " ".join(f"w{k}" for k in range(SEGMENT // 2)) + " same" * (SEGMENT // 2)
    once = rows("vocabulary", loaded([Item(benchmark="own", item="1", format="longform", question=text)]))[0]
    items = [Item(benchmark="own", item=str(k), format="longform", question=text) for k in range(7)]
    often = rows("vocabulary", loaded(items))[0]
    assert (SEGMENT, 501, 501.0) == (once.words, once.distinct, once.distinct_per_1000)
    assert (7 * SEGMENT, 501, 501.0) == (often.words, often.distinct, often.distinct_per_1000)


def test_too_few_words_have_no_vocabulary_of_a_thousand() -> None:
    row = rows("vocabulary", loaded([mcq("q1", "a")]))[0]
    assert (None, "fewer than 1,000 words") == (row.distinct_per_1000, row.reason)


def test_categories_are_counted_by_the_year_of_their_items() -> None:
    made = [("Biology", 2020), ("Biology", "2020"), ("Biology", 2021.0), ("Nursing", None), (None, "soon")]
    items = [
        mcq(f"q{k}", "a", category=category, meta={"year": year} if year else {})
        for k, (category, year) in enumerate(made)
    ]
    assert [
        ("Biology", None, 3), ("Biology", 2020, 2), ("Biology", 2021, 1), ("Nursing", None, 1),
        (None, None, 1),
    ] == [(row.category, row.year, row.items) for row in rows("category", loaded(items))]  # fmt: skip
    assert [] == rows("category", loaded([mcq("q1", "a")]))


def test_who_always_names_the_most_frequent_position_is_counted() -> None:
    items = [mcq(f"q{k}", key, [f"a{k}", f"b{k}"]) for k, key in enumerate(("b0", "b1", "a2", "b3"))]
    assert [("A", 1, 0.25), ("B", 3, 0.75)] == [
        (r.label, r.items, r.share) for r in rows("label", loaded(items))
    ]
    (guesser,) = rows("guesser", loaded(items))
    assert ("position", "B", 4, 0.75, 0.5) == (
        guesser.by, guesser.label, guesser.items, guesser.majority, guesser.chance
    )  # fmt: skip


def test_a_label_set_is_counted_by_label_also_where_it_is_shuffled() -> None:
    orders = (("yes", "no", "maybe"), ("maybe", "no", "yes"), ("no", "yes", "maybe"))
    items = [mcq(f"q{k}", "yes", options) for k, options in enumerate(orders)]
    found = {(row.by, row.label): row.items for row in rows("label", loaded(items))}
    assert {"yes": 3, "no": 0, "maybe": 0} == {name: n for (by, name), n in found.items() if by == "label"}
    assert {"A": 1, "B": 1, "C": 1} == {name: n for (by, name), n in found.items() if by == "position"}
    assert not [row for row in rows("label", loaded(items, access="credentialed")) if row.by == "label"]


def test_true_and_false_have_labels_and_no_positions() -> None:
    items = [
        Item(benchmark="own", item=f"q{k}", format="true_false", question="It is.", answer=(key,))
        for k, key in enumerate(("True", "True", "False"))
    ]
    assert {"label"} == {row.by for row in rows("label", loaded(items))}
    assert 2 / 3 == rows("guesser", loaded(items))[0].majority


def test_an_open_benchmark_has_no_guesser() -> None:
    items = [Item(benchmark="own", item="q", format="short", question="Why?", references=("so",))]
    assert [] == [*rows("guesser", loaded(items)), *rows("label", loaded(items))]


@each_case(
    ("question", "word"),
    [
        ("All of the following cause it, EXCEPT:", "except"),
        ("Malignant hyperthermia is not related to:", "not"),
        ("Which drug isn’t given?", "not"),
        ("Which statement is FALSE?", "false"),
        ("Señale la respuesta INCORRECTA:", "incorrect"),
        ("¿Cuál de las siguientes afirmaciones es falsa?", "false"),
        ("Son causas todas las siguientes, excepto:", "excepto"),
        ("¿Qué fármaco no se administra?", "no"),
        ("Which diagnosis is least likely?", "least"),
        ("She does not smoke. Which drug is given?", None),
        ("Which drug has no effect?", None),
        ("Which is the notch? Name the exceptional one.", None),
        ("", None),
        ("?!", None),
    ],
)
def test_the_sentence_that_asks_says_whether_a_question_is_negative(question: str, word: str | None) -> None:
    assert word == negative_word(question)


def test_negative_questions_are_a_share_of_all() -> None:
    items = [
        mcq("q1", "a", question="Which is not?"),
        mcq("q2", "a"),
        mcq("q3", "a", question="All, except?"),
    ]
    whole, *words = rows("negative", loaded(items))
    assert (None, 2, 2 / 3) == (whole.word, whole.items, whole.share)
    assert {("not", 1), ("except", 1)} == {(row.word, row.items) for row in words}


def test_rows_left_out_stand_beside_the_items() -> None:
    left_out = [Exclusion("f", 1, "the key is null"), Exclusion("f", 2, "the key is null")]
    assert [(None, 2, 3), ("the key is null", 2, 3)] == [
        (row.why, row.rows, row.of) for row in rows("left out", loaded([mcq("q1", "a")], left_out))
    ]


def test_no_text_of_an_item_stands_in_the_rows() -> None:
    secret = "Mr Smith of Elm Street"
    items = [
        Item(
            benchmark="own", item="q1", format="mcq", question=f"Who is {secret}?", options=(secret, "x"),
            answer=(secret,), context=secret, references=(secret,), steps=(secret,), meta={"note": secret},
        )
    ]  # fmt: skip
    assert "Smith" not in str(contents(loaded(items, access="credentialed")))


# The verb, in both faces


@pytest.fixture
def exam(tmp_path: Path) -> str:
    items = [
        {"id": f"q{k}", "format": "mcq", "question": "Which <b>?", "options": ["<i>", "b"], "answer": "b",
         "category": "<script>", "year": 2020 + k}
        for k in range(3)
    ]  # fmt: skip
    items.append(items[0] | {"id": "q9", "options": ["b", "b"]})
    (tmp_path / "exam.jsonl").write_text("\n".join(map(json.dumps, items)), encoding="utf-8")
    return f"jsonl(path='{tmp_path / 'exam.jsonl'}', faulty=exclude)"


def test_python_and_the_command_line_give_the_same_rows(exam: str) -> None:
    finding = viva.contents(exam)
    assert finding.text.startswith(
        "exam: 3 questions in 1 case. Who always names B (position) is right in 100.0%, who guesses in 50.0%."
    )
    result = CliRunner().invoke(app, ["show", exam, "--contents", "--json"])
    assert 0 == result.exit_code, result.output
    assert list(finding.rows) == json.loads(result.stdout)["rows"]
    table = CliRunner().invoke(app, ["show", exam, "--contents"]).stdout
    for words in ("Size", "Length", "Vocabulary", "Category", "Guesser", "Left out", "Johnson"):
        assert words in table


def test_charts_are_files_of_svg_that_hold_no_markup_of_the_exam(exam: str, tmp_path: Path) -> None:
    viva.contents(exam, plots=tmp_path / "charts")
    names = sorted(path.name for path in (tmp_path / "charts").iterdir())
    assert [
        "contents-categories-of-exam-by-year.svg",
        "contents-keys-of-exam-by-position.svg",
        "contents-length-of-the-texts-of-exam-in-words.svg",
        "contents-rows-of-exam-that-were-left-out.svg",
    ] == [name for name in names if "label" not in name]
    for name in names:
        text = (tmp_path / "charts" / name).read_text(encoding="utf-8")
        ET.fromstring(text)
        assert "<script>" not in text


def test_plots_alone_mean_contents(exam: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["show", exam, "--plots", str(tmp_path / "charts")])
    assert 0 == result.exit_code, result.output
    assert "Guesser" in result.stdout
    assert 4 <= len(list((tmp_path / "charts").iterdir()))


def test_a_benchmark_that_cannot_be_read_is_named() -> None:
    with pytest.raises(InputError, match=r"no file at nowhere\.jsonl"):
        viva.contents("jsonl(path=nowhere.jsonl)")
