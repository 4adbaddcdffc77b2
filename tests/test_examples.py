"""Examples and documents: every file under examples/ runs, every code block of the README does what it
says.
"""

import csv
import importlib.util
import json
import os
import re
import shlex
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests.absent import absent
from tests.demo_folder import python_demo_folder
from tests.scripts import run_script

from vivavoce.embeddings.encoder import PACKAGE


def shell(command: list[str], cwd: Path, **environment: str) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, "PATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert 0 == done.returncode, done.stderr
    return done.stdout


@pytest.fixture
def checkout(root, tmp_path) -> Path:
    """A folder with the examples, as a user stands in it."""
    (tmp_path / "examples").symlink_to(root / "examples")
    return tmp_path


def blocks(document: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL)


def test_the_readme_s_shell_block_runs(root, checkout):
    block, _ = blocks(root / "README.md", "sh")
    done = run_script(block, checkout)
    assert 0 == done.returncode, done.stderr
    assert "Model A (made up) is better" in " ".join(done.stdout.split())
    assert (checkout / "exam.html").stat().st_size > 10_000


def free_port() -> int:
    """A port that is free, and stays so: below those that systems give to whoever asks for any."""
    for port in range(20_000 + os.getpid() % 10_000, 32_000):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise AssertionError("no port is free")


def test_the_readme_s_fake_endpoint_is_asked_compared_and_reported(root, checkout):
    _, block = blocks(root / "README.md", "sh")
    port = str(free_port())  # whatever else listens here on the one that is written
    assert 2 == block.count("8642")
    done = run_script(block.replace("8642", port), checkout)
    assert 0 == done.returncode, done.stderr
    out = " ".join(done.stdout.split())
    assert "192 answers came" in out
    assert "vllm/fake" in out
    assert (checkout / "ward.html").stat().st_size > 10_000


def test_the_readme_s_python_block_runs(root, checkout):
    (block,) = blocks(root / "README.md", "python")
    out = shell([sys.executable, "-c", block], checkout)
    assert "Model A (made up) is better" in out
    assert "exam.html" in out


def test_the_readme_s_make_targets_exist(root):
    named = re.findall(r"\$ make (\w+)", (root / "README.md").read_text(encoding="utf-8"))
    made = set(re.findall(r"^(\w+):", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {"demo", "test"} <= set(named) <= made


def test_make_demo_is_viva_demo(root):
    recipe = (root / "Makefile").read_text(encoding="utf-8").partition("\ndemo:")[2].splitlines()[1]
    assert "\t$(VIVA) demo" == recipe


def test_the_python_demo_ends_in_a_report(tmp_path):
    folder, printed = python_demo_folder(tmp_path)
    assert "Model A (made up) is better" in printed
    assert (folder / "viva-demo" / "demo.html").is_file()


def test_the_plugin_example_marks(checkout, viva, monkeypatch):
    monkeypatch.chdir(checkout)
    viva(
        "import",
        "p.viva",
        "examples/demo/answers.jsonl",
        "--benchmark",
        "jsonl(path=examples/demo/exam.jsonl)",
    )
    plugin = ["--plugin", "examples/plugin_metric.py", "--json"]
    out = json.loads(viva("score", "p.viva", "brevity(words=1)", *plugin).stdout)
    values = {row["candidate"]: row["estimate"] for row in out["rows"]}
    assert {"Model A (made up)": pytest.approx(0), "Model B (made up)": pytest.approx(1 / 3)} == values


def test_the_hivmedqa_example_shows_the_figures_of_the_real_answers(root, checkout, hivmedqa):
    script = shlex.join([str(root / "examples" / "hivmedqa.sh"), str(hivmedqa), "hiv.viva"])
    done = run_script(script, checkout)
    assert 0 == done.returncode, done.stderr
    out = done.stdout
    decoder, at, shown = json.JSONDecoder(), 0, []
    while out[at:].lstrip().startswith("{"):
        at = out.index("{", at)
        value, at = decoder.raw_decode(out, at)
        shown.append(value)
    imported, scored, compared = shown
    (row,) = imported["rows"]
    assert (5060, 11, 92, 30) == tuple(row[k] for k in ("responses", "candidates", "items", "blank"))
    assert {"NVLM-70B", "Med42-70B"} == set(row["identical_repeats"])
    assert 33 == len(scored["rows"])
    assert {(92, 68)} == {(r["n_items"], r["n_groups"]) for r in scored["rows"]}
    assert {"ceiling"} == {r["role"] for r in scored["rows"] if r["candidate"] == "Rephrased Gold Answers"}
    (pair,) = compared["rows"]
    assert ("better", "a", 92, 68) == tuple(
        pair[k] for k in ("verdict_code", "favours", "n_items", "n_groups")
    )
    assert "On 63 questions (42 cases, 33.7 effective)" in out
    assert "Here: 92 questions (68 cases) of hivmedqa, answered by 11 candidates, scored by 3 metrics." in out
    page = (checkout / "hiv.html").read_text(encoding="utf-8")
    assert "All repeats of Med42-70B, NVLM-70B are the same text" in page
    assert "<unused95>" not in page.replace("&lt;unused95&gt;", "")


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"])
def test_links_inside_the_documents_lead_somewhere(root, name):
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", (root / name).read_text(encoding="utf-8")):
        assert (root / target).exists(), target


def test_an_exam_goes_from_passages_to_a_leaderboard(root, tmp_path):
    if importlib.util.find_spec(PACKAGE) is None:
        absent(f"the encoder of cliniqlink needs {PACKAGE}")
    folder = tmp_path / "exam"
    printed = shell([sys.executable, str(root / "examples" / "exam_to_board.py"), str(folder)], tmp_path)
    assert "84 parts after check" in printed
    assert "82 items are frozen" in printed
    assert 2 == printed.count("0 questions without an answer")
    assert re.search("team-1 and team-2 are not separated|team-2 and team-1 are not separated", printed)
    with (folder / "leaderboard.csv").open() as file:
        overall = [float(row["overall"]) for row in csv.DictReader(file)]
    scores = [json.loads((folder / f"output-{n}" / "scores.json").read_text())["overall"] for n in (1, 2)]
    assert sorted(scores) == pytest.approx(sorted(overall), abs=5e-4)
