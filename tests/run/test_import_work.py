"""What an import of answers does, counted: readings of its file, texts of its questions, hashes."""

import csv
import hashlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vivavoce.core import delimited, item_content, json_stream, records
from vivavoce.language import near_repeats
from vivavoce.run.exchange import sources
from vivavoce.run.run import open_run
from vivavoce.store import read

N = 120
"""Questions of the file; more than an import keeps in memory for their own sake."""
Count = Callable[..., Counter[str]]


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> Count:
    """Counts the calls of functions, each by its name."""

    def counted(*places: tuple[Any, str]) -> Counter[str]:
        calls: Counter[str] = Counter()
        for module, name in places:
            function = getattr(module, name)

            def call(*args: Any, _function: Any = function, _name: str = name, **options: Any) -> Any:
                calls[_name] += 1
                return _function(*args, **options)

            monkeypatch.setattr(module, name, call)
        return calls

    return counted


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "answers.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["question", "reference", "model", "response"])
        for n in range(N):
            for model in ("a", "b"):
                writer.writerow([f"What is the dose of drug {n}?", f"{n} mg", model, f"It is {n} mg."])
    return path


def test_a_small_file_is_read_once_and_a_large_one_anew_each_time(
    table: Path, tmp_path: Path, count: Count, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings = count((delimited, "delimited_rows"))
    small = open_run(tmp_path / "small.viva").import_answers(table)
    assert 1 == readings["delimited_rows"]
    monkeypatch.setattr("vivavoce.core.tables.FEW_BYTES", 100)
    monkeypatch.setattr(sources, "FEW_BYTES", 100)
    large = open_run(tmp_path / "large.viva").import_answers(table)
    assert 1 + 4 <= readings["delimited_rows"]
    assert small == large
    assert 2 * N == small.responses


def test_the_words_of_a_question_are_made_once(table: Path, tmp_path: Path, count: Count) -> None:
    texts = count((near_repeats, "content_text"), (item_content, "content_text"))
    open_run(tmp_path / "run.viva").import_answers(table)
    assert 2 * N == texts["content_text"]  # question and context


def test_the_hash_of_a_question_is_made_once(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: Counter[bytes] = Counter()

    class Counting:
        @staticmethod
        def sha256(text: bytes) -> Any:
            texts[text] += 1
            return hashlib.sha256(text)

    monkeypatch.setattr(records, "hashlib", Counting)
    open_run(tmp_path / "run.viva").import_answers(table)
    assert N == len(texts)
    assert {1} == set(texts.values())


def test_a_log_reads_its_lines_twice_and_no_item_of_the_run(
    shared: Path, tmp_path: Path, count: Count
) -> None:
    calls = count((json_stream, "_line"), (read, "items_by_id"))
    (log,) = sorted((shared / "data/peers/lm_eval/tiny").rglob("samples_viva_med_open*.jsonl"))
    open_run(tmp_path / "run.viva").import_logs(log)
    assert 2 * len(log.read_text().splitlines()) == calls["_line"]
    assert 0 == calls["items_by_id"]
