"""`viva train`: what it writes, resumes, refuses and says."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import vivavoce as viva
from vivavoce.cli import app
from vivavoce.core.errors import InputError
from vivavoce.evaluators.checkpoint import load_evaluator, read_about
from vivavoce.evaluators.lexical import load_lexical
from vivavoce.run.train import run_seed
from vivavoce.run.train.mixtures import draw_mixtures
from vivavoce.run.train.training_data import load_training_data

FAST = "corrected(epochs=3, patience=1, learning_rate=0.01)"
SHORT = "corrected(epochs=1, patience=1, learning_rate=0.01)"


def train(to: Path, encoder: Path | str, task: str = "small_task", **settings):
    settings = {"arguments": "none", "runs": 1, "recipe": FAST, **settings}
    return viva.train(task, to=to, encoder=str(encoder), device="cpu", **settings)


def weights(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in ("model.safetensors", "head.safetensors")}


def test_a_training_writes_evaluators_that_can_be_loaded(plugin: Path, encoder: Path, tmp_path: Path):
    finding = train(tmp_path / "e", encoder, arguments="mixture", mixtures=2, runs=1)
    assert ["trained"] * 4 == [row["state"] for row in finding.rows]
    lexical, run = finding.rows[:2]
    assert (None, 1, 40, 12, 0.25) == (
        lexical["run"],
        run["run"],
        run["n_train"],
        run["n_dev"],
        run["dev_guess"],
    )
    assert 160 == run["texts"]
    about = read_about(tmp_path / "e" / "mixture-1" / "run-1")
    assert run_seed(0, "mixture-1", 1) == about.seed == run["seed"]
    assert ("options", "mixture-1", "small_task") == (about.kind, about.mixture, about.benchmark)
    assert list(about.dev_curve) == run["dev_curve"]
    evaluator = load_evaluator(tmp_path / "e" / "mixture-1" / "run-1", "cpu")
    (mixture, *_) = draw_mixtures(load_training_data("small_task"), "mixture", _recipe(), seed=0)
    predictions = evaluator.predict([row.task for row in mixture.dev])
    right = [p.right(row.label) for p, row in zip(predictions, mixture.dev, strict=True)]
    assert pytest.approx(run["dev_accuracy"]) == sum(right) / len(right)
    assert load_lexical(tmp_path / "e" / "mixture-1" / "lexical.json").weights
    assert not list(tmp_path.rglob("checkpoints"))
    told = json.loads((tmp_path / "e" / "training.json").read_text())
    assert "for small_task only" in told["sentence"]
    assert {"a", "b", "c"} == set(told["mixtures"]["mixture-1"]["sources"])
    assert run["dev_accuracy"] == told["mixtures"]["mixture-1"]["runs"]["1"]["dev_accuracy"]


def _recipe():
    from vivavoce.core import registry

    return registry.build("recipe", FAST)


def test_a_second_training_with_the_same_seed_gives_the_same_weights(plugin, encoder, tmp_path: Path):
    import random

    import torch

    for folder in ("one", "two"):
        train(tmp_path / folder, encoder, recipe=SHORT)
        random.random(), torch.rand(1)  # what else the process draws changes nothing
    one, two = (weights(tmp_path / folder / "none" / "run-1") for folder in ("one", "two"))
    assert one == two
    train(tmp_path / "three", encoder, recipe=SHORT, seed=1)
    assert one != weights(tmp_path / "three" / "none" / "run-1")


def test_the_random_numbers_of_the_process_are_not_touched(plugin, encoder, tmp_path: Path):
    import random

    import numpy as np
    import torch

    def draws():
        return random.random(), float(np.random.rand()), float(torch.rand(1))

    random.seed(5), np.random.seed(5), torch.manual_seed(5)
    expected = draws()
    random.seed(5), np.random.seed(5), torch.manual_seed(5)
    train(tmp_path / "e", encoder, recipe=SHORT)
    assert expected == draws()


def test_early_stopping_fires(plugin, encoder, tmp_path: Path):
    """Without a learning rate to speak of no epoch is better than the first: 1 + patience of 30 epochs."""
    recipe = "corrected(epochs=30, patience=2, learning_rate=1e-9)"
    row = train(tmp_path / "e", encoder, recipe=recipe).rows[1]
    assert (3, 1, 15) == (row["epochs"], row["best_epoch"], row["steps"])


def test_the_epoch_of_the_best_dev_accuracy_is_kept(plugin, encoder, tmp_path: Path):
    recipe = "corrected(epochs=4, patience=3, learning_rate=0.03, batch=4)"
    row = train(tmp_path / "e", encoder, arguments="mixture", mixtures=1, recipe=recipe).rows[1]
    assert max(row["dev_curve"]) == row["dev_accuracy"] == row["dev_curve"][row["best_epoch"] - 1]


def test_a_whole_run_is_not_trained_again(plugin, encoder, tmp_path: Path):
    first = train(tmp_path / "e", encoder, recipe=SHORT).rows[1]
    before = (tmp_path / "e" / "none" / "run-1" / "model.safetensors").stat().st_mtime_ns
    moves = []
    settings = {"recipe": SHORT, "runs": 2, "progress": lambda *of: moves.append(of[0])}
    finding = train(tmp_path / "e", encoder, **settings)
    assert ["kept", "kept", "trained"] == [row["state"] for row in finding.rows]
    assert {"none run 2"} == set(moves)
    assert before == (tmp_path / "e" / "none" / "run-1" / "model.safetensors").stat().st_mtime_ns
    same = ("dev_accuracy", "dev_curve", "best_epoch", "epochs", "steps", "seed")
    assert [first[k] for k in same] == [finding.rows[1][k] for k in same]


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_killed_training_goes_on_from_its_last_epoch(plugin, encoder, tmp_path: Path, fork_server):
    """Killed in its third epoch of five steps; the weights are those of a training that nobody killed."""
    recipe = "corrected(epochs=4, patience=3, learning_rate=0.01)"
    with fork_server() as forked:
        process = forked("train_until_killed", plugin, tmp_path / "killed", encoder, recipe, 12)
        process.join(300)
    assert -9 == process.exitcode
    run = tmp_path / "killed" / "none" / "run-1"
    assert not (run / "evaluator.json").exists()
    dry = train(tmp_path / "killed", encoder, recipe=recipe, dry_run=True)
    assert ["kept", "to resume"] == [row["state"] for row in dry.rows]
    (tmp_path / "killed").rename(tmp_path / "moved")  # its place is no part of what is stored
    moves = []
    row = train(tmp_path / "moved", encoder, recipe=recipe, progress=lambda *of: moves.append(of[1])).rows[1]
    assert 11 == moves[0]
    whole = train(tmp_path / "whole", encoder, recipe=recipe).rows[1]
    assert whole["dev_curve"] == row["dev_curve"]
    assert weights(tmp_path / "whole" / "none" / "run-1") == weights(tmp_path / "moved" / "none" / "run-1")
    assert not list((tmp_path / "moved").rglob("checkpoints"))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"seed": 1}, "--seed 0, not 1"),
        ({"recipe": "corrected(epochs=1)"}, "--recipe corrected"),
        ({"task": "small_task:kind=published"}, "benchmark small_task, not small_task(kind=published)"),
        ({"arguments": "mixture"}, "--arguments none, not mixture"),
    ],
)
def test_another_training_in_the_same_folder_is_refused(plugin, tmp_path: Path, settings, words):
    train(tmp_path / "e", "lexical")
    with pytest.raises(InputError, match="holds a training with") as error:
        train(tmp_path / "e", "lexical", **settings)
    assert words in str(error.value)


def test_other_data_in_the_same_folder_is_refused(plugin, tmp_path: Path):
    train(tmp_path / "e", "lexical")
    file = tmp_path / "e" / "training.json"
    told = json.loads(file.read_text())
    told["mixtures"]["none"]["data_hash"] = "0" * 16
    file.write_text(json.dumps(told))
    with pytest.raises(InputError, match="holds a training with other data in none"):
        train(tmp_path / "e", "lexical")
    file.write_text("[]")
    with pytest.raises(InputError, match=r"training.json is no file of `viva train`"):
        train(tmp_path / "e", "lexical")


def test_a_dry_run_counts_and_writes_nothing(plugin, encoder, tmp_path: Path):
    finding = train(tmp_path / "e", encoder, arguments="mixture", mixtures=2, runs=2, dry_run=True)
    assert not (tmp_path / "e").exists()
    assert ["to train"] * 6 == [row["state"] for row in finding.rows]
    row = finding.rows[1]
    assert (15, 160) == (row["steps"], row["texts"])
    assert row["tokens"] > 160 * 3
    assert (
        f"4 runs to train: 60 steps and {sum(r['tokens'] * 3 for r in finding.rows if r['run']):,}"
        in finding.text
    )


def test_a_dry_run_loads_no_weights(plugin, encoder, tmp_path: Path):
    import shutil

    shutil.copytree(encoder, tmp_path / "bare")
    (tmp_path / "bare" / "model.safetensors").unlink()
    assert 160 == train(tmp_path / "e", tmp_path / "bare", dry_run=True).rows[1]["texts"]


def test_a_task_of_classes_gets_a_head_of_classes(plugin, encoder, tmp_path: Path):
    row = train(tmp_path / "e", encoder, "small_task:kind=classes", arguments="mixture", mixtures=1).rows[1]
    about = read_about(tmp_path / "e" / "mixture-1" / "run-1")
    assert ("classes", ("refuted", "supported")) == (about.kind, about.classes)
    assert 40 == row["texts"]


def test_the_published_recipe_trains_too_and_its_faults_are_said(plugin, encoder, tmp_path: Path):
    recipe = "published(epochs=1, max_tokens=12)"
    finding = train(tmp_path / "e", encoder, "small_task:kind=published", arguments="mixture", mixtures=1,
                    recipe=recipe)  # fmt: skip
    row = finding.rows[1]
    assert (200, 1000, 100) == (row["n_train"], row["texts"], row["steps"])
    assert row["cut"] > 0
    assert "Early stopping cannot fire" in str(finding)
    assert "lose their end, options too" in str(finding)


def test_leaks_blanks_and_items_left_out_are_said(plugin, tmp_path: Path):
    assert "2 asked items repeat a training item" in str(
        train(tmp_path / "a", "lexical", "small_task:kind=leak")
    )
    told = str(train(tmp_path / "b", "lexical", "small_task:kind=holes", arguments="mixture"))
    assert "13 of 52 items have no argument of that kind and were left out" in told
    assert "13 blank arguments count as none" in told


def test_candidates_of_a_run_are_sources(plugin, tmp_path: Path):
    items = [e.item for e in load_training_data("small_task:kind=bare").examples]
    answers = tmp_path / "answers.jsonl"
    rows = [{"item": i.item, "candidate": m, "response": f"{m}: {i.answer[0]}"} for i in items for m in "xy"]
    answers.write_text("\n".join(map(json.dumps, rows)))
    exam = tmp_path / "small_task.jsonl"
    exam.write_text(
        "\n".join(
            json.dumps({"id": i.item, "format": "argument", "question": i.question,
                        "options": i.options, "answer": i.answer}) for i in items
        )
    )  # fmt: skip
    run = viva.open(tmp_path / "args.viva")
    run.import_answers(str(answers), benchmark=f"jsonl(path={exam})")
    with_run = {"arguments": "mixture", "mixtures": 1, "run": tmp_path / "args.viva"}
    finding = train(tmp_path / "e", "lexical", "small_task:kind=bare", **with_run)
    told = json.loads((tmp_path / "e" / "training.json").read_text())
    assert {"x": 20, "y": 20} == told["mixtures"]["mixture-1"]["sources"]
    assert 1.0 == finding.rows[0]["dev_accuracy"]


def test_the_command_line_says_the_same(plugin, tmp_path: Path):
    words = [
        "train",
        "small_task",
        "--arguments",
        "mixture",
        "--to",
        str(tmp_path / "e"),
        "--encoder",
        "lexical",
    ]
    done = CliRunner().invoke(app, [*words, "--mixtures", "1", "--json"])
    assert 0 == done.exit_code, done.output
    answer = json.loads(done.stdout)
    assert "viva.train/1" == answer["schema"]
    assert {"mixture", "run", "state", "dev_accuracy", "dev_guess", "n_train"} <= set(answer["rows"][0])
    table = CliRunner().invoke(app, [*words, "--mixtures", "1"]).stdout
    assert "mixture-1" in table
    assert "for small_task only" in table
    assert "" == CliRunner().invoke(app, [*words, "--mixtures", "1", "--quiet"]).stdout


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"encoder": "no-such-folder"}, "encoder no-such-folder is neither auto, package"),
        ({"encoder": "lexical", "arguments": "experts"}, "--arguments takes none, expert or mixture"),
        ({"encoder": "lexical", "runs": 0}, "--runs 0"),
    ],
)
def test_a_setting_that_cannot_be_is_one_sentence(plugin, tmp_path: Path, settings, sentence):
    with pytest.raises(InputError, match=sentence):
        train(tmp_path / "e", **settings)


def test_a_gpu_that_is_not_there_is_one_sentence(plugin, encoder, tmp_path: Path):
    import torch

    from vivavoce.core.errors import ModelError

    device = f"cuda:{torch.cuda.device_count()}"
    with pytest.raises(ModelError, match=f"no GPU: device={device} is asked for"):
        viva.train("small_task", arguments="none", to=tmp_path / "e", encoder=str(encoder), device=device)


def test_without_the_extra_the_sentence_names_it(plugin, tmp_path: Path, monkeypatch):
    from vivavoce.core import extras
    from vivavoce.core.errors import ExtraError

    monkeypatch.setattr(extras, "_is_installed", lambda package: package != "accelerate")
    with pytest.raises(ExtraError, match=r'needs accelerate: pip install "vivavoce\[evaluators\]"'):
        train(tmp_path / "e", "auto")
    assert train(tmp_path / "e", "lexical").rows[0]["dev_guess"]
