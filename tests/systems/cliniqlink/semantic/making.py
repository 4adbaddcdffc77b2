"""What the tests of semantic scores share: the golden cases, the real encoder, and one made by hand."""

import json
import math
import re
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from tests.absent import absent

from vivavoce.core.errors import MetricError
from vivavoce.embeddings.encoder import Encoder, load_encoder, resolve_encoder


@cache
def golden(shared: Path) -> dict[str, Any]:
    """The cases that the published harness scored, its table of weights and its stop words."""
    folder = shared / "data" / "cliniqlink"
    cases = json.loads((folder / "golden.json").read_text("utf-8"))["cases"]
    return {"cases": cases} | json.loads((folder / "idf_sample.json").read_text("utf-8"))


@cache
def minilm() -> Encoder:
    """The real encoder from the installed package, on one thread: skips where it is absent."""
    try:
        made = load_encoder(resolve_encoder("package"))
    except (MetricError, ValueError) as error:
        absent(f"no encoder: {error}")
    made._torch.set_num_threads(1)
    return made


class Kept:
    """The real encoder, with what it has read: golden cases share most of their words.

    Texts of like length are read together: beside a paragraph a word costs as much as the paragraph.
    """

    def __init__(self) -> None:
        self.vectors: dict[str, Any] = {}

    def __call__(self, texts):
        new = sorted(set(texts) - self.vectors.keys(), key=lambda text: (_magnitude(text), text))
        for _, alike in groupby(new, _magnitude):
            batch = list(alike)
            self.vectors.update(zip(batch, minilm()(batch), strict=True))
        return np.stack([self.vectors[text] for text in texts])

    def tokens(self, text):
        return minilm().tokens(text)


KEPT = Kept()


def _magnitude(text: str) -> int:
    """Equal for texts of like length: none is twice as long as another, and 16 characters longer."""
    return (len(text) // 16).bit_length()


class FakeEncoder:
    """Vectors by hand: one dimension for each word of a text; `reads` keeps what it was given."""

    def __init__(self, words: str = "") -> None:
        self.dimension = {word: k for k, word in enumerate(words.split())}
        self.reads: list[str] = []

    def __call__(self, texts):
        self.reads += texts
        return np.stack([self._vector(text) for text in texts]).astype(np.float32)

    def tokens(self, text):
        return tuple(re.findall(r"\w+|[^\w\s]", text.lower()))

    def _vector(self, text):
        found = np.zeros(512)
        for word in self.tokens(text):
            found[self.dimension.setdefault(word, len(self.dimension))] += 1
        return found / (math.sqrt(float(found @ found)) or 1.0)
