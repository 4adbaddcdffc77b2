"""Completion offers names that a shell takes for one word, writes nothing, and never fails aloud."""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hostile import SHORT
from tests.studies.making import exam, write_lines
from typer.testing import CliRunner

from vivavoce import cli
from vivavoce.cli import completion
from vivavoce.core.errors import SpecError
from vivavoce.core.specs import parse, short_form
from vivavoce.run.run import Run, open_run

VIVA = "import sys; sys.argv[0] = 'viva'; from vivavoce import cli; cli.main()"
HOSTILE = (
    *(name for name in SHORT if "\x1b" not in name),
    "x; touch pwned",
    "$(touch pwned)",
    "\\$(touch pwned)",
    "`touch pwned`",
    "' ; touch pwned ; '",
    '" ; touch pwned ; "',
    "’; touch pwned; ’",
    "a && touch pwned",
    "a | touch pwned",
    "a > pwned",
    "*",
    "!!",
    "~root",
    "=ls",
    "%1",
    "-rf",
    "a:::b",
)
PLAIN = (
    "Model A (made up)",
    "Model B (made up)",
    "vllm/llama3:8b",
    "openai/gpt-4o(seed=1, top_p=0.5)",
    "模型",
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("completion")
    run = open_run(folder / "my run.viva")
    rows = [{"item": "q1", "candidate": name, "text": "yes"} for name in (*PLAIN, *HOSTILE)]
    run.import_answers(write_lines(folder / "a.jsonl", rows), benchmark=exam(folder, ["q1"]))
    run.score("rouge:n=1", "rougeL:stemmer=true", "exact")
    return run


def variables(words: list[str], shell: str) -> dict[str, str]:
    """What a shell sets when it asks for the last of these words."""
    typed = shlex.join(words[:-1]) + " " + words[-1]
    return {
        "_VIVA_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_ARGS": typed,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }


def completed(words: list[str], shell: str = "bash") -> list[str]:
    """What is offered for the last of these words, without an error or a warning."""
    result = CliRunner().invoke(cli.app, prog_name="viva", env=variables(words, shell))
    assert ("", 0) == (result.stderr, result.exit_code), result.exception
    return result.stdout.splitlines()


class Offered(NamedTuple):
    """What a process offers bash as the first candidate of `viva compare`, and the files before and after."""

    words: list[str]
    files_before: dict[str, tuple[int, bytes]]
    files_after: dict[str, tuple[int, bytes]]


@pytest.fixture(scope="module")
def candidates(run: Run) -> Offered:
    before = files_of(run.file.path.parent)
    done = subprocess.run(
        [sys.executable, "-c", VIVA],
        env=os.environ | variables(["viva", "compare", str(run.file.path), ""], "bash"),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "" == done.stderr
    return Offered(done.stdout.splitlines(), before, files_of(run.file.path.parent))


def files_of(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()}


def test_the_candidates_of_the_run_are_offered_as_words_of_bash(candidates: Offered) -> None:
    offered = [shlex.split(word) for word in candidates.words]
    assert {1} == {len(words) for words in offered}
    assert set(PLAIN) <= {name for (name,) in offered} <= {*PLAIN, *HOSTILE}


def test_what_is_typed_may_begin_in_quotes_and_in_any_case(run: Run) -> None:
    assert ["'Model B (made up)'"] == completed(["viva", "compare", str(run.file.path), "'model b"])


def test_bash_reads_each_offered_word_as_the_name_and_runs_nothing(
    candidates: Offered, tmp_path: Path
) -> None:
    for word in candidates.words:
        script = f'set -- {word}; printf \'%s\\n\' "$#" "$1"'
        done = subprocess.run(
            ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        count, name = done.stdout.splitlines()
        assert "1" == count
        assert name in (*PLAIN, *HOSTILE)
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_no_shell_is_offered_a_name_that_it_could_read_as_more(run: Run, shell: str) -> None:
    text = "\n".join(completed(["viva", "compare", str(run.file.path), ""], shell))
    assert "Model A" in text
    assert "touch" not in text
    assert not [name for name in ("!!", "`", "&&", "<", "$", "~root") if name in text]


@given(st.text(max_size=30))
def test_any_name_is_offered_as_one_word_or_not_at_all(name: str) -> None:
    for word in completion._offered([name], ""):
        assert [name] == shlex.split(word)
        assert not set(word.strip("'")) & set("$`\"\\;|&<>*?!#{}[]\n\r\t'’")


def test_the_metrics_of_the_run_are_offered_in_their_short_form(run: Run) -> None:
    offered = completed(["viva", "compare", str(run.file.path), "--metric", ""])
    assert ["exact", "rouge:n=1", "rouge:n=L,stemmer=true"] == sorted(offered)


def test_registered_names_are_offered(run: Run) -> None:
    path = str(run.file.path)
    assert ["rouge1", "rouge2", "rougeL", "rouge:n="] == sorted(
        completed(["viva", "score", path, "rou"]), key=lambda word: (":" in word, word)
    )
    assert ["ranking"] == completed(["viva", "study", path, "rank"])
    assert {"csv", "parquet", "run"} <= set(completed(["viva", "export", path, "out", "--format", ""]))
    assert "jsonl:path=" in completed(["viva", "collect", path, "js"])


def test_completion_leaves_no_file_and_no_change(candidates: Offered) -> None:
    assert candidates.files_before == candidates.files_after


def test_where_there_is_no_run_nothing_is_offered_or_said(tmp_path: Path) -> None:
    (tmp_path / "text.viva").write_text("no run")
    (tmp_path / "empty.viva").write_bytes(b"")
    for path in (tmp_path / "none.viva", tmp_path / "text.viva", tmp_path / "empty.viva", tmp_path):
        assert [] == [word for word in completed(["viva", "compare", str(path), ""]) if word]
    assert not (tmp_path / "none.viva").exists()


@given(st.text("ab:=,.()[]'1 ", max_size=12))
def test_the_short_form_of_a_spec_is_that_spec(text: str) -> None:
    try:
        spec = parse(text)
    except SpecError:
        return
    short = short_form(spec)
    assert short is None or spec == parse(short)
    assert short is None or not set(short) & set("()[]'\"")
