"""bertscore, moverscore and similarity beside scoring one answer at a time: passes, memory, CPU time.

11 candidates x 92 items x 5 repeats, the real answers of HIVMedQA (VIVA_SHARED; without it made-up sentences
of the same design), by a BERT of 4 layers with random weights and the tokeniser of MiniLM; then a part by
MiniLM itself, whose whole would take minutes. One at a time is how harnesses score: for each answer and each
metric both texts are encoded, alone. bert-score's own scorer, loaded once, is called for each answer beside
our bertscore alone. Both are measured on other answers in each round and counted up; ours scores all of a
run, cold, in each round.
Usage: python bench/embedding.py [rounds [answers one at a time [items by MiniLM]]]
"""

import json
import os
import random
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import vivavoce.metrics
from vivavoce.core import registry
from vivavoce.core.records import Item, Response, Row
from vivavoce.embeddings.encoder import Encoder, load_encoder, weight_files
from vivavoce.embeddings.encoding_cache import EncodingCache
from vivavoce.formats import read_response
from vivavoce.metrics import ScoringContext
from vivavoce.run.run import Run, open_run

CANDIDATES, ITEMS, REPEATS = 11, 92, 5
LAYER = 3

Answers = list[dict[str, Any]]


class Watched(EncodingCache):
    """A cache that can be looked at when its call has ended."""

    latest: "Watched"

    def __init__(self, *words: Any) -> None:
        super().__init__(*words)
        Watched.latest = self


def real_answers(folder: Path) -> tuple[list[dict[str, Any]], Answers]:
    """HIVMedQA's questions and answers, the rephrased gold among the candidates."""
    lines = (json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines())
    items = [{"item": line["id"], "references": [line["gold"]]} for line in lines]
    said = (json.loads(line) for line in (folder / "responses.jsonl").read_text("utf-8").splitlines())
    answers = [
        {
            "item": a["question_id"],
            "candidate": a["model"],
            "repeat": a["iteration"],
            "text": a["answer"],
        }
        for a in said
    ]
    return items, answers


def made_answers() -> tuple[list[dict[str, Any]], Answers]:
    """The same design of made-up sentences."""
    rng = random.Random(1)
    words = [f"{a}{b}" for a in "bdfgklmnprst" for b in ("aro", "eni", "ula", "osis", "itis", "emia", "ine")]
    text = lambda: " ".join(rng.choices(words, k=rng.randint(20, 120)))  # noqa: E731
    items = [{"item": str(k), "references": [text()]} for k in range(ITEMS)]
    answers = [
        {"item": str(k), "candidate": f"c{c}", "repeat": r, "text": text()}
        for k in range(ITEMS) for c in range(CANDIDATES) for r in range(1, REPEATS + 1)
    ]  # fmt: skip
    return items, answers


def run_of(folder: Path, items: list[dict[str, Any]], answers: Answers) -> Run:
    """A run that holds these answers and no score."""
    folder.mkdir()
    asked = [{**item, "format": "longform", "question": "Why?"} for item in items]
    for name, lines in (("exam", asked), ("answers", answers)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    run = open_run(folder / "exam.viva")
    run.import_answers(folder / "answers.jsonl", benchmark=f"jsonl(path='{folder / 'exam.jsonl'}')")
    return run


def random_bert(folder: Path) -> Path:
    """A BERT of 4 layers and 128 dimensions with random weights, and the tokeniser of MiniLM."""
    import torch
    from transformers import AutoTokenizer, BertConfig, BertModel

    torch.manual_seed(0)
    tokeniser = AutoTokenizer.from_pretrained(minilm())
    tokeniser.save_pretrained(folder)
    shape = {"hidden_size": 128, "num_hidden_layers": 4, "num_attention_heads": 2, "intermediate_size": 512}
    BertModel(BertConfig(vocab_size=len(tokeniser), **shape)).save_pretrained(folder)
    return folder


def minilm() -> str:
    (file,) = weight_files("package")
    return str(file.parent)


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    value = function()
    return time.process_time() - start, value


def specs_of(folder: str) -> tuple[str, ...]:
    return (
        f"bertscore(encoder='{folder}', layers={LAYER})",
        f"moverscore(encoder='{folder}', idf=false)",
        f"similarity(encoder='{folder}')",
    )


class OneByOne(ScoringContext):
    """A context that keeps nothing: each text of each call is encoded alone."""

    def encode(self, encoder: Encoder, groups: Any, layers: Any = ()) -> Any:
        """Each text in a pass of its own."""
        for group in groups:
            yield [encoder.states([text], tuple(layers))[0] for text in group]


def row_of(answer: dict[str, Any], reference: str) -> Row:
    """The answer as a metric gets it."""
    item = Item(
        benchmark="b", item=answer["item"], format="longform", question="Why?", references=(reference,)
    )
    response = Response(benchmark="b", item=item.item, candidate=answer["candidate"], text=answer["text"])
    return Row(item, response, read_response(item, answer["text"]))


def scored(specs: tuple[str, ...], answers: Answers, references: dict[str, str]) -> list[float]:
    """The first criterion of each metric for each answer, one answer and one metric at a time."""
    context, values = OneByOne(), []
    metrics = [registry.build("metric", spec) for spec in specs]
    for answer in answers:
        row = row_of(answer, references[answer["item"]])
        for metric in metrics:
            (value,) = metric.values([row], context)
            values.append(value[metric.criteria[0].criterion].value)
    return values


def bert_scorer(folder: str) -> Callable[[Answers, dict[str, str]], list[float]]:
    """bert-score's own scorer, one call for each answer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from bert_score import BERTScorer

        scorer = BERTScorer(model_type=folder, num_layers=LAYER, device="cpu")
    return lambda answers, references: [
        float(scorer.score([a["text"]], [references[a["item"]]])[2][0]) for a in answers
    ]


def ratios_of(pairs: list[tuple[float, float]]) -> str:
    ratios = [other / ours for ours, other in pairs]
    return f"{statistics.median(ratios):.1f}x ({min(ratios):.1f} to {max(ratios):.1f})"


def compare(name: str, folder: str, data: tuple[Any, Answers], rounds: int, alone: int, work: Path) -> None:
    """Score a run, and a part of it one at a time, and print how they compare."""
    items, answers = data
    references = {item["item"]: item["references"][0] for item in items}
    specs = specs_of(folder)
    encoder, theirs = load_encoder(folder), bert_scorer(folder)
    encoder(["warm"])
    run = run_of(work / name, items, answers)
    rows = [(a, row_of(a, references[a["item"]])) for a in answers]
    readable = [a for a, row in rows if row.reading.status == "ok"]
    distinct = {row.reading.text.strip() for _, row in rows if row.reading.status == "ok"}
    distinct |= {text.strip() for text in references.values()}
    together, single, apart = [], [], 0.0
    for k in range(rounds):
        # evenly over the lengths, or the sample's would be most of the spread
        step = max(1, len(readable) // alone)
        chosen = sorted(readable, key=lambda a: len(a["text"]))[(k * step // rounds) % step :: step]
        share = len(chosen) / len(readable)
        copies = [work / f"{name}-{k}-{part}.viva" for part in range(2)]
        for copy in copies:
            run.copy(copy)
        ours, finding = timed(lambda: open_run(copies[0]).score(*specs))  # noqa: B023
        peak = Watched.latest.peak
        alone_ours, _ = timed(lambda: open_run(copies[1]).score(specs[0]))  # noqa: B023
        naive, values = timed(lambda: scored(specs, chosen, references))  # noqa: B023
        scorer, f1 = timed(lambda: theirs(chosen, references))  # noqa: B023
        together.append((ours, naive / share))
        single.append((alone_ours, scorer / share))
        apart = max(apart, *(abs(a - b) for a, b in zip(values[::3], f1, strict=True)))
    (passes,) = finding.passes.values()
    print(f"{name}: {len(answers)} answers to {len(items)} items, {rounds} rounds, one thread")
    print(f"  texts that passed the encoder: {passes}; distinct texts: {len(distinct)}")
    limit = ScoringContext.MAX_BYTES
    print(f"  kept at most: {peak / 2**20:.0f} MiB of {limit / 2**20:.0f} MiB")
    print(f"  one at a time / vivavoce, three metrics, CPU time: {ratios_of(together)}")
    print(f"  bert-score one at a time / vivavoce, bertscore alone, CPU time: {ratios_of(single)}")
    print(f"  {ours / len(answers) * 1000:.1f} ms an answer; largest difference to bert-score: {apart:.0e}")
    assert passes == len(distinct), (passes, len(distinct))
    assert peak <= limit


def main(rounds: int = 3, alone: int = 60, by_minilm: int = 4) -> None:
    import torch

    torch.set_num_threads(1)
    vivavoce.metrics.EncodingCache = Watched  # type: ignore[misc]
    shared = Path(os.environ.get("VIVA_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    real = shared / "data" / "hivmedqa"
    items, answers = real_answers(real) if real.is_dir() else made_answers()
    print("answers of HIVMedQA" if real.is_dir() else "made-up sentences")
    few = {item["item"] for item in items[:by_minilm]}
    part = items[:by_minilm], [a for a in answers if a["item"] in few]
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        tiny = str(random_bert(work / "bert"))
        compare("random BERT", tiny, (items, answers), rounds, alone, work)
        compare("MiniLM", minilm(), part, rounds, min(alone, 20), work)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
