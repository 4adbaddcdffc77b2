"""A pandas frame of 30 mixed questions with the answers of two models, as people have such frames."""

from typing import Any

from tests.lazy import lazy_module

from vivavoce.benchmarks import load
from vivavoce.benchmarks.sample import CANDIDATES, recorded
from vivavoce.core.tables import read_lines

pd = lazy_module("pandas")

FORMATS = {"mcq": 10, "list": 6, "true_false": 6, "short": 8}
MODELS = CANDIDATES[::2]  # the best, and the one far behind


def mixed_frame() -> Any:
    """Two rows a question; keys of every kind in one column, options for some."""
    every = [item for item in load("sample").items if not item.variant]
    items = [item for name, n in FORMATS.items() for item in [i for i in every if i.format == name][:n]]
    with recorded() as path:
        texts = {(line.row["item"], line.row["candidate"]): line.row["text"] for line in read_lines(path)}
    return pd.DataFrame(
        {
            "ID": item.item,
            "Question": item.question,
            "Choices": list(item.options) or None,
            "Correct Answer": (list(item.answer) if len(item.answer) > 1 else item.answer[0])
            if item.answer else list(item.references),
            "Model": model,
            "Response": texts[item.item, model],
        }
        for model in MODELS
        for item in items
    )  # fmt: skip
