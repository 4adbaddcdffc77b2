"""stdout and stderr of any encoding: nothing that is printed ends a command, and JSON is the same to all."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len
from tests.studies.making import exam, marked, twins, write_lines

from vivavoce.cli.commands import NAMES

ENCODINGS = ("utf-8", "cp1252", "ascii")
COMMANDS = """
import json, sys
from vivavoce.cli import main

for words in map(json.loads, sys.stdin):
    sys.argv[1:] = words
    try:
        main()
    except SystemExit as end:
        print(f"\\x1e{end.code}\\x1f", end="", flush=True)
        print("\\x1e", end="", file=sys.stderr, flush=True)
"""
"""Runs each command that comes, in one process, and marks on both streams the end of what it printed."""
CANDIDATES = ("Modèle – ‘ü’", "模型一二三 ☃🩺", "µ≥½ …-2024-11-20(prompt=cot, temperature=0.7, top_p=0.95)")
JSON = """
list metrics · show accuracy · status RUN · status FOLDER · compare RUN · study RUN ranking · interim RUN
diff RUN RUN · plan-sample --share .1 · score RUN exact · import RUN ANSWERS --benchmark EXAM
status RUN --verify · vary RUN typos · export RUN json-to --format csv · copy RUN json.viva
"""
MORE = """
list · show sample · status RUN --full · status no–run….viva · compare RUN --full · study RUN gaps · panel RUN
retire RUN · report RUN --output report–ü.html · merge json.viva RUN · unknown–word · score RUN nichts…
reproduce nothing– · export RUN to --format csv · copy RUN copy–☃.viva · copy RUN copy–☃.viva · train RUN
build RUN · annotate missing– · shards plan–.yaml --of 2 · run plan–.yaml · view missing– · fetch nothing–
collect RUN EXAM --model nobody–/…
"""
WITH_JSON, WITHOUT = ([words.split() for words in re.split("[·\n]", text.strip())] for text in (JSON, MORE))
PRINTING = [*WITH_JSON, *WITHOUT, *([name, "--help"] for name in NAMES)]

Printed = list[tuple[str, str, str]]


def outputs(folder: Path, encoding: str) -> Printed:
    """The exit code, stdout and stderr of each command, read strictly in the encoding of both streams."""
    answers = {
        name: twins([round(0.1 * k + 0.05 * (i % 7), 2) for i in range(12)])
        for k, name in enumerate(CANDIDATES)
    }
    marked(folder, answers)
    spec = exam(folder, ["q00"], name="another")
    write_lines(folder / "answers.jsonl", [{"item": "q00", "candidate": "…weiß–☃", "text": "naïve – “yes”"}])
    (run,) = folder.glob("*.viva")
    places = {"RUN": run.name, "FOLDER": str(folder), "ANSWERS": "answers.jsonl", "EXAM": spec}
    calls = [[places.get(word, word) for word in words] for words in PRINTING]
    calls += [[*words, "--json"] for words in calls[: len(WITH_JSON)]]
    process = subprocess.run(
        [sys.executable, "-c", COMMANDS], cwd=folder, capture_output=True, check=False, timeout=100,
        env={**os.environ, "PYTHONIOENCODING": encoding, "COLUMNS": "80"},
        input="".join(f"{json.dumps(words)}\n" for words in calls).encode(),
    )  # fmt: skip
    stdout, stderr = process.stdout.decode(encoding), process.stderr.decode(encoding)
    ends = [part.rpartition("\x1e") for part in stdout.split("\x1f")[:-1]]
    parts = [(code, text, error) for (text, _, code), error in zip(ends, stderr.split("\x1e"), strict=False)]
    assert len(calls) == len(parts), stderr
    return parts


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Printed]:
    return {encoding: outputs(tmp_path_factory.mktemp("Ordner–ü"), encoding) for encoding in ENCODINGS}


@pytest.mark.parametrize("encoding", ENCODINGS[1:])
def test_a_command_ends_in_every_encoding_as_in_utf_8(printed: dict[str, Printed], encoding: str) -> None:
    assert set(NAMES) == {words[0] for words in PRINTING} & set(NAMES)
    for words, usual, plain in zip(PRINTING, printed["utf-8"], printed[encoding], strict=False):
        assert "fault of vivavoce" not in plain[2], words
        assert usual[0] == plain[0], (words, plain[2])
        assert bool(usual[1]) == bool(plain[1]), words


@pytest.mark.parametrize("encoding", ENCODINGS[1:])
def test_json_says_the_same_in_every_encoding(printed: dict[str, Printed], encoding: str) -> None:
    texts = [[text for _, text, _ in printed[name][len(PRINTING) :]] for name in ("utf-8", encoding)]
    filled = [(usual, plain) for usual, plain in zip(*texts, strict=True) if usual]
    assert len(filled) > 0.7 * len(WITH_JSON)
    for usual, plain in filled:
        assert plain.isascii()
        assert json.loads(usual)["schema"] == json.loads(plain)["schema"]
    compared = [json.loads(printings[4])["rows"] for printings in texts]
    assert compared[0] == compared[1]
    assert {*CANDIDATES, "…weiß–☃"} == {row[side] for row in compared[1] for side in "ab"}


def test_tables_keep_to_their_columns_in_ascii(printed: dict[str, Printed]) -> None:
    (text,) = [
        part[1]
        for words, part in zip(PRINTING, printed["ascii"], strict=False)
        if words == ["compare", "RUN"]
    ]
    lines = text.splitlines()
    rule = next(n for n, line in enumerate(lines) if line.startswith("--"))
    assert 80 >= max(map(cell_len, lines[rule - 1 : rule + 4]))
    starts = [n for n, sign in enumerate(lines[rule]) if sign == "-" and (not n or lines[rule][n - 1] == " ")]
    for line in lines[rule + 1 : rule + 4]:
        assert [] == [n for n in starts[1:] if line[n - 2 : n].strip()], line
