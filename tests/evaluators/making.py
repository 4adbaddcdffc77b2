"""Evaluators small enough to be made in a test: a random BERT with a random head."""

from pathlib import Path

from tests.embeddings.tiny_bert import LONGEST, tiny_bert

from vivavoce.evaluators.checkpoint import LEXICAL, save_evaluator
from vivavoce.evaluators.lexical import Lexical
from vivavoce.evaluators.proxy_task import ProxyInput
from vivavoce.evaluators.trained import About

INPUTS = (
    ProxyInput("the patient was given", ("iron daily", "aspirin 50 mg"), "iron for anaemia"),
    ProxyInput("the fever", ("no cough", "cough", "5 mg iron"), ""),
    ProxyInput("fever and cough?", ("aspirin", "iron"), "not aspirin, for the anaemia was iron"),
)


def tiny_run(
    folder: Path, *, seed: int = 0, kind="options", classes=(), pooling="mean", longest=LONGEST,
    mixture="mixture-1", benchmark="tiny",
) -> Path:  # fmt: skip
    """A folder with a run: a random BERT of that seed, its tokeniser and a random head."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    from vivavoce.evaluators.heads import EvaluatorModel, Head

    source = tiny_bert(folder.parent / f"{folder.name}-encoder", seed=seed)
    torch.manual_seed(seed)
    head = Head(16, n_classes=len(classes) if kind == "classes" else 0, pooling=pooling)
    torch.nn.init.normal_(head.linear.weight)
    about = About(
        kind=kind, benchmark=benchmark, mixture=mixture, longest=longest, classes=classes, pooling=pooling,
        seed=seed, dev_curve=(0.4, 0.5), n_cut=0,
    )  # fmt: skip
    model = EvaluatorModel(AutoModel.from_pretrained(source), head)
    save_evaluator(folder, model, AutoTokenizer.from_pretrained(source), about)
    return folder


def tiny_mixture(folder: Path, n_runs: int = 2, **settings) -> Path:
    """A folder of a mixture: its runs, and a lexical evaluator fitted on `INPUTS`."""
    for run in range(1, n_runs + 1):
        tiny_run(folder / f"run-{run}", seed=run, mixture=folder.name, **settings)
    lexical = Lexical.fit(INPUTS, (0, 1, 1), name=folder.name)
    (folder / LEXICAL).write_text(lexical.to_json(), encoding="utf-8")
    return folder
