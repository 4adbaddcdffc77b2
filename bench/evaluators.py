"""Trained evaluators: texts through the encoder, and eight sources at once beside one and beside naive.

The eight published sources of CasiMedicos (VIVA_SHARED; without it made-up ones), an item once and not in
five rotations, scored by a random head over a BERT of 4 layers with random weights, then a part by MiniLM.
Naive is each option of each source anew, one text in a pass, nothing stored; the published layout does so for
five rows of an item. CPU time on one thread; a score includes loading, the store and its estimates.
Usage: python bench/evaluators.py [rounds [items [items by MiniLM]]]
"""

import json
import os
import random
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from embedding import minilm, random_bert, timed
from vivavoce.evaluators.checkpoint import LEXICAL, load_evaluator, save_evaluator
from vivavoce.evaluators.inputs import texts_of
from vivavoce.evaluators.lexical import Lexical
from vivavoce.evaluators.proxy_task import ProxyInput
from vivavoce.evaluators.trained import About
from vivavoce.run.run import Run, open_run

ROTATIONS, LONGEST = 5, 256

Task = tuple[str, tuple[str, ...], str]
"""Question, options, right option."""
Sources = dict[str, list[str]]
"""The arguments of each source, one for each item."""


def published(folder: Path, n: int) -> tuple[list[Task], Sources]:
    """Items and arguments: the argument is what follows the question that stands alone in No_Argument."""
    rows = {}
    for file in sorted(folder.glob("*.jsonl")):
        lines = file.read_text(encoding="utf-8").splitlines()[::ROTATIONS][:n]
        rows[file.stem] = [json.loads(line) for line in lines]
    (bare,) = (of_file for name, of_file in rows.items() if "No_Argument" in name)
    tasks = [
        (
            row["question"].strip(),
            tuple(o for o in row["options"].values() if o),
            row["options"][str(row["correct_option"])],
        )
        for row in bare
    ]
    questions = [row["question"] for row in bare]
    sources = {
        name: [row["question"][len(q) :].strip() for row, q in zip(of_file, questions, strict=True)]
        for name, of_file in rows.items()
    }
    return tasks, sources


def made(n: int) -> tuple[list[Task], Sources]:
    """The same design of made-up sentences."""
    rng = random.Random(1)
    words = [f"{a}{b}" for a in "bdfgklmnprst" for b in ("aro", "eni", "ula", "osis", "itis", "emia", "ine")]
    text = lambda size: " ".join(rng.choices(words, k=size))  # noqa: E731
    tasks = [
        (text(80), options, options[0]) for options in (tuple(text(8) for _ in range(5)) for _ in range(n))
    ]
    return tasks, {f"s{k}": [text(60) for _ in range(n)] for k in range(8)}


def run_of(folder: Path, tasks: list[Task], sources: Sources) -> Run:
    """A run that holds these arguments and no score."""
    folder.mkdir()
    exam = [
        {"id": f"q{k}", "format": "argument", "question": q, "options": options, "answer": [right]}
        for k, (q, options, right) in enumerate(tasks)
    ]
    answers = [
        {"item": f"q{k}", "candidate": name, "text": text or "No argument is given."}
        for name, texts in sources.items()
        for k, text in enumerate(texts)
    ]
    for name, lines in (("exam", exam), ("answers", answers)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    run = open_run(folder / "exam.viva")
    run.import_answers(folder / "answers.jsonl", benchmark=f"jsonl(path='{folder / 'exam.jsonl'}')")
    return run


def mixture(folder: Path, encoder: str) -> Path:
    """A mixture of one run: the encoder with a random head, and the untrained lexical evaluator."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    from vivavoce.evaluators.heads import EvaluatorModel, Head

    torch.manual_seed(0)
    model = AutoModel.from_pretrained(encoder)
    head = Head(model.config.hidden_size)
    about = About(kind="options", benchmark="casimedicos", mixture="mixture-1", longest=LONGEST)
    save_evaluator(
        folder / "run-1", EvaluatorModel(model, head), AutoTokenizer.from_pretrained(encoder), about
    )
    (folder / LEXICAL).write_text(Lexical.untrained().to_json(), encoding="utf-8")
    return folder


def compare(name: str, weights: Path, data: tuple[list[Task], Sources], rounds: int, work: Path) -> bool:
    """Score eight sources, one source, and all of them naively; print how they compare."""
    from vivavoce.evaluators import checkpoint

    tasks, sources = data
    spec = f"trained(weights='{weights}')"
    inputs = {
        source: [ProxyInput(q, options, text) for (q, options, _), text in zip(tasks, texts, strict=True)]
        for source, texts in sources.items()
    }
    distinct = {(i.question, o, i.argument) for of in inputs.values() for i in of for o in i.options}

    def score(label: str, chosen: Sources) -> tuple[float, Any]:
        run = run_of(work / label, tasks, chosen)
        checkpoint._loaded.cache_clear()  # each score loads, as a command does
        return timed(lambda: run.score(spec))

    def naive() -> None:
        for text in (text for of in inputs.values() for task in of for text in texts_of(task, "options")):
            evaluator.logits([text])

    evaluator = load_evaluator(weights / "run-1")
    to_one, to_naive, equal = [], [], True
    for k in range(rounds):
        together, finding = score(f"{name}-{k}-all", sources)
        (passes,) = finding.passes.values()
        equal = equal and passes == len(distinct)
        singles = [score(f"{name}-{k}-{s}", {s: texts})[0] for s, texts in sources.items()]
        alone, _ = timed(naive)
        to_one.append(together / statistics.mean(singles))
        to_naive.append(alone / together)
    n = sum(map(len, inputs.values()))
    print(f"{name}: {n} arguments of {len(sources)} sources to {len(tasks)} items, {rounds} rounds")
    print(f"  texts that passed the encoder: {passes}; distinct (item, option, argument): {len(distinct)}")
    print(f"  eight sources / the mean of one, CPU time: {spread(to_one)}")
    print(f"  one text at a time / vivavoce, CPU time: {spread(to_naive)}")
    rotated = [ROTATIONS * ratio for ratio in to_naive]
    print(f"  the same for {ROTATIONS} rotations, {ROTATIONS} times as much: {spread(rotated)}")
    return equal and max(to_one) < len(sources)


def spread(ratios: list[float]) -> str:
    return f"{statistics.median(ratios):.2f}x ({min(ratios):.2f} to {max(ratios):.2f})"


def main(rounds: int = 3, n: int = 119, by_minilm: int = 6) -> None:
    import torch

    torch.set_num_threads(1)
    shared = Path(os.environ.get("VIVA_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    real = shared / "data" / "casimedicos" / "tests"
    tasks, sources = published(real, n) if real.is_dir() else made(n)
    print("arguments of CasiMedicos" if real.is_dir() else "made-up sentences")
    part = tasks[:by_minilm], {name: texts[:by_minilm] for name, texts in sources.items()}
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        tiny = mixture(work / "tiny", str(random_bert(work / "bert")))
        results = [
            compare("random BERT", tiny, (tasks, sources), rounds, work),
            compare("MiniLM", mixture(work / "minilm", minilm()), part, rounds, work),
        ]
    print(
        f"budget: each distinct text once, under 8 times one source: {'kept' if all(results) else 'missed'}"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
