"""JSON of others is read in one place, which takes no key twice; what we wrote ourselves is read as it is."""

import ast
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.cases import each_case
from tests.studies.making import exam

import vivavoce
from vivavoce.core import encodings, parquet_sizes
from vivavoce.core.errors import InputError
from vivavoce.core.json_stream import entries, lines, members
from vivavoce.core.json_text import Decoder, read_json, read_json_file
from vivavoce.core.tables import read_lines
from vivavoce.reading.fields import json_object
from vivavoce.run.run import open_run

SOURCE = Path(vivavoce.__file__).parent
READERS = {"core/json_text.py", "core/json_stream.py"}
OUR_OWN = {
    "a file of the package, or a word": """
        core/index.py core/endings.py language/languages.py reading/lexicon.py stats/__init__.py
        studies/audit/contrasts.py core/specs.py
    """,
    "a value of a run": """
        store/hashes.py store/stored_values.py store/recorded_texts.py store/earlier_turns.py
        store/read.py store/cases.py store/redacted.py store/answer_records.py store/write.py
        store/rater_texts.py people/panels.py people/stored_keys.py privacy/redaction.py
        store/forgotten.py store/forgetting.py run/forget.py run/compare/outcomes.py
        run/building/parts.py run/exchange/exports.py run/exchange/redacted_run.py
        run/exchange/sft.py run/score/checks.py logprobs/requests.py models/engine/client.py
        formats/relation.py report/explorer.py studies/comparing/confusion.py studies/pooling.py
        studies/reliability/wordings.py systems/ranking/study/confusion.py
        systems/ranking/study/leaks.py systems/healthbench/study/axes.py
    """,
    "what this or a library's process wrote a moment or a command ago": """
        retrieval/reader_process.py retrieval/index.py retrieval/index_cache.py run/train/fitting.py
        run/train/encoded_rows.py models/local/foreign_text.py models/local/tokens.py
        models/providers/systems.py run/train/training_file.py
    """,
    "a reply of a model, read by rules of its own": """
        judging/replies.py reading/fields.py language/replies.py models/http_client.py
    """,
}
EXCEPTIONS = {name for names in OUR_OWN.values() for name in names.split()}


def readings(tree: ast.AST) -> bool:
    """Whether a module decodes JSON by itself."""
    names = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    imported = {
        alias.name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    return bool(
        names & {"json.loads", "json.load", "json.JSONDecoder"} or imported & {"orjson", "ujson", "ijson"}
    )


def test_json_is_decoded_in_one_place_and_where_we_wrote_it() -> None:
    decoding = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if readings(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert set() == decoding - READERS - EXCEPTIONS
    assert set() == EXCEPTIONS - decoding, "no exception stays behind"


TWICE = ('{"a": 1, "a": 2}', '[{"b": {"a": 1, "c": 1, "a": 1}}]', '{"x": [], "": 1, "": 2}')


@each_case("text", TWICE)
def test_a_key_twice_is_refused_by_every_reader(tmp_path: Path, text: str) -> None:
    file = tmp_path / "rows.json"
    file.write_text(text)
    readers: list[Any] = [
        lambda: read_json(text), lambda: read_json(text, nan=True), lambda: read_json(text, nan_is_null=True),
        lambda: json.loads(text, cls=Decoder), lambda: read_json_file(file), lambda: list(lines(file)),
        lambda: list(members(file) if text[0] == "{" else entries(file)), lambda: list(read_lines(file)),
    ]  # fmt: skip
    for reader in readers:
        with pytest.raises((ValueError, InputError), match=r"the key '(a|)' stands there twice"):
            reader()


def test_the_sentence_names_file_line_and_key(tmp_path: Path) -> None:
    rows, document = tmp_path / "rows.jsonl", tmp_path / "exam.json"
    rows.write_text('{"item": "q1"}\n{"item": "q2", "text": "a", "text": "b"}\n')
    with pytest.raises(InputError, match=r"rows\.jsonl, line 2: .*the key 'text' stands there twice"):
        list(read_lines(rows))
    document.write_text('[\n{"item": "q1"},\n{"item": "q2",\n "answer": "A",\n "answer": "B"}]')
    with pytest.raises(InputError, match=r"exam\.json, line 3: .*the key 'answer' stands there twice"):
        list(read_lines(document))
    with pytest.raises(InputError, match=r"exam\.json: .*the key 'answer' stands there twice: line 3"):
        read_json_file(document)


@each_case(
    ("text", "value"),
    [
        ('{"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]}', {"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]}),
        ('{"a": "{\\"k\\": 1, \\"k\\": 2}", "A": 2, "a ": 3}', {"a": '{"k": 1, "k": 2}', "A": 2, "a ": 3}),
        ("{}", {}),
    ],
)
def test_a_key_in_another_object_or_a_text_is_another_key(text: str, value: object) -> None:
    assert value == read_json(text) == json.loads(text, cls=Decoder)


def test_an_answer_that_names_its_choice_twice_has_both() -> None:
    assert {"answer": ["A", "B", "A"]} == json_object('{"answer": "A", "answer": "B", "answer": "A"}')
    assert {"answer": "A", "why": ["x", ["y"]]} == json_object(
        '{"answer": "A", "answer": "A", "why": "x", "why": ["y"]}'
    )
    assert json_object("{'answer': 'A', 'answer': 'B'}") is None


@each_case("text", [r'"a\u0000"', r'{"a": ["\\\u0000"]}', r'{"\u0000": 1}'])
def test_a_nul_is_refused_as_in_csv(text: str) -> None:
    with pytest.raises(ValueError, match="gives a NUL"):
        read_json(text)


def test_a_backslash_before_u0000_is_no_nul() -> None:
    assert "\\u0000" == read_json(r'"\\u0000"')


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_a_line_that_is_too_long_is_named(tmp_path: Path, monkeypatch: Any, encoding: str) -> None:
    monkeypatch.setattr(encodings, "LONGEST_LINE", 100)
    file = tmp_path / "rows.txt"
    file.write_text("short\n" + "x" * 99 + "\n", encoding=encoding)
    assert 2 == len(list(encodings.text_lines(file, encoding)))
    file.write_text("short\n" + "x" * 101 + "\n", encoding=encoding)
    with pytest.raises(InputError, match=r"rows\.txt, line 2: it has more than 100 bytes"):
        list(encodings.text_lines(file, encoding))


ROW = {"item": "q1", "candidate": "A", "text": "x"}


@each_case(
    ("field", "value", "words"),
    [
        ("seconds", 1e308, "seconds must be a number from 0 to 31,622,400, not"),
        ("seconds", -1, "seconds must be a number from 0 to 31,622,400, not"),
        ("cost", 1e308, "cost must be a number from 0 to 1,000,000,000, not"),
        ("cost", "1e40", "cost must be a number from 0 to 1,000,000,000, not"),
        ("tokens", 10**15, "tokens must be a whole number from 0 to 1,000,000,000, not"),
    ],
)
def test_a_number_that_measures_nothing_is_refused(
    tmp_path: Path, field: str, value: Any, words: str
) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text(json.dumps({**ROW, field: value}))
    with pytest.raises(InputError, match=rf"answers\.jsonl, line 1: {words}"):
        open_run(tmp_path / "run.viva").import_answers(file, benchmark=exam(tmp_path, ["q1"]))


def test_decimals_of_a_parquet_file_are_numbers(tmp_path: Path) -> None:
    numbers = {"seconds": [Decimal("1.50")], "cost": [Decimal("0.01")], "tokens": [Decimal(5)]}
    pl.DataFrame({name: [text] for name, text in ROW.items()} | numbers).write_parquet(tmp_path / "a.parquet")
    run = open_run(tmp_path / "run.viva")
    run.import_answers(tmp_path / "a.parquet", benchmark=exam(tmp_path, ["q1"]))
    assert [(1.5, 0.01, 5)] == run.responses.select("seconds", "cost", "tokens").rows()


@pytest.mark.parametrize(("n_rows", "length"), [(3, 4_000_000), (400_000, 1)])
def test_a_parquet_file_that_unpacks_to_far_more_than_its_size_is_not_read(
    tmp_path: Path, monkeypatch: Any, n_rows: int, length: int
) -> None:
    monkeypatch.setattr(parquet_sizes, "ALWAYS_BYTES", 1 << 20)
    monkeypatch.setattr(parquet_sizes, "ALWAYS_ROWS", 1_000)
    file = tmp_path / "bomb.parquet"
    pl.select(item=pl.repeat("q1", n_rows), text=pl.lit("x" * length)).write_parquet(file)
    assert file.stat().st_size < 20_000
    with pytest.raises(InputError, match=r"bomb\.parquet has .* bytes, and unpacks to "):
        list(read_lines(file))


def test_a_parquet_file_of_texts_that_repeat_is_read(tmp_path: Path) -> None:
    pl.DataFrame({"item": ["q1"] * 20_000, "text": ["the same answer " * 20] * 20_000}).write_parquet(
        tmp_path / "a.parquet"
    )
    assert 20_000 == sum(1 for _ in read_lines(tmp_path / "a.parquet"))
