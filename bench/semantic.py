"""cliniqlink beside one-by-one marking: texts that pass the encoder, and the ratio of CPU times, with spread.

2,000 open answers of 8 systems to 250 questions, made by seeded edits of ClinIQLink's sample (VIVA_SHARED;
without it of made-up sentences). One by one is how the published harness marks: six calls of the same encoder
for each answer, of the terms, the sentence and the paragraph of both texts, and nothing kept. It is measured
on other answers in each round and counted up; ours scores all of them, cold, in each round.
Usage: python bench/semantic.py [rounds [answers one by one]]
"""

import os
import random
import statistics
import sys
import time
from pathlib import Path

import numpy as np

from vivavoce.core import registry
from vivavoce.core.records import Item, Reading, Response, Row
from vivavoce.embeddings import encoder
from vivavoce.metrics import ScoringContext
from vivavoce.systems.cliniqlink.benchmark import ClinIQLink as Exam
from vivavoce.systems.cliniqlink.semantic import published
from vivavoce.systems.cliniqlink.semantic.layers import documents, rarity, side
from vivavoce.systems.cliniqlink.semantic.rules import PUBLISHED

SYSTEMS, QUESTIONS = 8, 250


def sentences() -> tuple[str, list[str]]:
    folder = Path(os.environ.get("VIVA_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    if (folder / "data/cliniqlink").is_dir():
        items = Exam(data=folder / "data/cliniqlink").items()
        return "ClinIQLink's sample", [text for item in items for text in (*item.references, *item.steps)]
    rng = random.Random(1)
    words = [f"{a}{b}" for a in "bdfgklmnprst" for b in ("aro", "eni", "ula", "osis", "itis", "emia", "ine")]
    return "made-up sentences", [" ".join(rng.choices(words, k=rng.randint(5, 60))) for _ in range(60)]


def edited(text: str, words: list[str], rng: random.Random, share: float) -> str:
    """The text with a share of its words left out, put elsewhere or replaced."""
    found = []
    for word in text.split():
        fate = rng.random()
        if fate < share:
            found += [] if fate < share / 3 else [rng.choice(words)] if fate < 2 * share / 3 else [word, word]
        else:
            found.append(word)
    return " ".join(found) or text


def rows_of(texts: list[str]) -> list[Row]:
    rng = random.Random(7)
    words = sorted({word for text in texts for word in text.split()})
    keys = [edited(rng.choice(texts), words, rng, 0.1) for _ in range(QUESTIONS)]
    rows = []
    for k, key in enumerate(keys):
        item = Item(benchmark="b", item=f"q{k}", format="short", question="?", references=(key,))
        for system in range(SYSTEMS):
            said = edited(key, words, rng, 0.1 + 0.1 * system)
            response = Response(benchmark="b", item=item.item, candidate=f"s{system}", text=said)
            rows.append(Row(item, response, Reading("ok", said)))
    return rows


class OneByOne:
    """Scores as the published harness does: every text of every answer, each time anew."""

    def __init__(self, model: encoder.Encoder, items: list[Item]) -> None:
        self.model = model
        terms = lambda text: side(text, PUBLISHED, model.tokens).terms  # noqa: E731
        self.weight = rarity(documents(items, PUBLISHED), terms, PUBLISHED)

    def mark(self, row: Row) -> float:
        """The published score of one answer."""
        pair = published.read_pair("short", {"answer": row.item.references[0]}, row.response.text or "")
        sides = tuple(side(text, PUBLISHED, self.model.tokens) for text in (pair.gold, pair.response))
        vectors = {}
        for one in sides:
            for texts in (list(one.terms), [one.content], [one.full_text]):
                vectors.update(zip(texts, self.model(texts), strict=True))
        marks = published.score_pair(pair, sides, vectors, self.weight, baseline=0.3)
        return min(marks["semantic_match_score"], 1.0)


def timed(function, *given):
    start = time.process_time()
    values = function(*given)
    return time.process_time() - start, values


def main(rounds: int = 3, alone: int = 60) -> None:
    import torch

    torch.set_num_threads(1)
    what, texts = sentences()
    rows = rows_of(texts)
    items = list({row.item.item: row.item for row in rows}.values())
    metric = registry.build("metric", "cliniqlink(rules=published, baseline=0.3)")
    model = encoder.load_encoder(metric.encoder)
    model(["warm"])
    naive = OneByOne(model, items)
    ratios, passes, apart = [], [], 0.0
    for k in range(rounds):
        before = model.passes
        mine, values = timed(metric.values, rows, ScoringContext(items=items))
        passes.append(model.passes - before)
        chosen = random.Random(k).sample(range(len(rows)), alone)
        before = model.passes
        other, theirs = timed(lambda: [naive.mark(rows[i]) for i in chosen])  # noqa: B023
        asked = (model.passes - before) / alone * len(rows)
        ratios.append(other / alone * len(rows) / mine)
        apart = max(
            apart,
            float(
                np.max(np.abs([values[i]["score"].value - v for i, v in zip(chosen, theirs, strict=True)]))
            ),
        )
    distinct = {
        text for row in rows for one in (row.item.references[0].strip(), row.response.text.lower())
        for s in [side(one, PUBLISHED, model.tokens)] for text in (*s.terms, s.content, s.full_text)
    }  # fmt: skip
    print(
        f"{metric} on {len(rows)} answers of {SYSTEMS} systems, edits of {what}, {rounds} rounds, one thread"
    )
    print(
        f"  texts that pass the encoder: {passes[0]}, distinct {len(distinct)}; one by one about {asked:.0f}"
    )
    print(
        f"  one by one / vivavoce, CPU time: {statistics.median(ratios):.1f}x ({min(ratios):.1f} to "
        f"{max(ratios):.1f}); {mine / len(rows) * 1000:.1f} ms an answer"
    )
    print(f"  largest difference of a score: {apart:.0e}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
