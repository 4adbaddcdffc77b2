"""ROUGE beside rouge-score 0.1.2 on the same answers, plain and stemmed: ratio of CPU times with its spread,
and share identical.

Real answers come from HIVMedQA through VIVA_SHARED; without it, texts are drawn from a fixed vocabulary.
Both sides start cold in every round. rouge-score-rs 0.2.1, a port to Rust, gives the same bits and is no
engine of `rouge`: for one kind it takes half the time, but for three with the stemmer twice as much, as it
splits the answer anew for each. Usage: python bench/rouge.py [rounds]
"""

import gc
import json
import os
import random
import statistics
import sys
import time
from pathlib import Path

from rouge_score.rouge_scorer import RougeScorer

from vivavoce.core import registry
from vivavoce.core.records import Item, Reading, Response, Row
from vivavoce.language import stems
from vivavoce.metrics import ScoringContext, rouge, treebank, wordnet

NAMES = {1: "rouge1", 2: "rouge2", "L": "rougeL"}


def pairs() -> tuple[str, list[tuple[str, str]]]:
    folder = (
        Path(os.environ.get("VIVA_SHARED", Path(__file__).resolve().parents[2] / "shared")) / "data/hivmedqa"
    )
    if folder.is_dir():
        read = [folder / name for name in ("questions.jsonl", "responses.jsonl")]
        questions, answers = ([json.loads(x) for x in p.read_text("utf-8").splitlines()] for p in read)
        gold = {q["id"]: q["gold"] for q in questions}
        return "HIVMedQA's answers", [(gold[a["question_id"]], a["answer"]) for a in answers]
    rng = random.Random(1)
    words = [f"w{i}" for i in range(2000)]
    keys = [" ".join(rng.choices(words, k=60)) for _ in range(100)]
    return "made-up answers", [(rng.choice(keys), " ".join(rng.choices(words, k=200))) for _ in range(2000)]


def rows_of(texts: list[tuple[str, str]]) -> list[Row]:
    return [
        Row(
            Item(benchmark="b", item="q", format="longform", question="?", references=(reference,)),
            Response(benchmark="b", item="q", candidate="c", text=answer),
            Reading("ok", answer),
        )
        for reference, answer in texts
    ]


def ours(rows: list[Row], stemmer: str) -> list[tuple[float | None, ...]]:
    context = ScoringContext()
    specs = [f"rouge(n={n}, stemmer={stemmer})" for n in NAMES]
    columns = [registry.build("metric", spec).values(rows, context) for spec in specs]
    return [tuple(v["f1"].value for v in row) for row in zip(*columns, strict=True)]


def theirs(texts: list[tuple[str, str]], stemmer: str) -> list[tuple[float | None, ...]]:
    scorer = RougeScorer(list(NAMES.values()), use_stemmer=stemmer == "true")
    found = (scorer.score(reference, answer) for reference, answer in texts)
    return [tuple(score[name].fmeasure for name in NAMES.values()) for score in found]


def timed(function, *given):
    gc.collect()  # so that neither side pays for what the other left
    start = time.process_time()
    values = function(*given)
    return time.process_time() - start, values


def compared(ours, theirs, rounds: int) -> str:
    """The ratio of CPU times, theirs over ours, and the share of equal values."""
    ratios = []
    for _ in range(rounds + 1):  # the first imports and fills the memory, and is not counted
        for cache in (stems.stem, rouge._stem, wordnet.synonyms, wordnet._parts):
            cache.cache_clear()  # both sides start cold
        treebank._RUNS.clear()
        mine, a = timed(ours)
        other, b = timed(theirs)
        ratios.append(other / mine)
        same = sum(x == y for x, y in zip(a, b, strict=True)) / len(a)
    return (
        f"{statistics.median(ratios[1:]):.1f}x ({min(ratios[1:]):.1f} to {max(ratios[1:]):.1f}), "
        f"identical to the last bit: {same:.4f}"
    )


def main(rounds: int = 5) -> None:
    what, texts = pairs()
    rows = rows_of(texts)
    print(f"rouge(n=1), rouge(n=2), rouge(n=L) on {len(texts)} of {what}, {rounds} rounds")
    for stemmer in ("false", "true"):
        found = compared(lambda: ours(rows, stemmer), lambda: theirs(texts, stemmer), rounds)  # noqa: B023
        print(f"  rouge-score / vivavoce, CPU time, stemmer={stemmer}: {found}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
