"""Likelihoods of a model in this process: what sharing what texts have in common saves, beside lm-eval.

First the statements of Relaxed Perplexity (a question of 120 tokens, 5 completions of 256, a target of 30
after every 8th token) in one sequence each, over keys and values that are kept, and packed. Then both ways of
sharing on batches of several shapes, the seconds that the measured cost of a pass expects of each, and the
way that it chooses. Then closed questions by full texts and by letters, references after their question, and
texts alone, beside the `hf` backend of lm-eval, which is given the same model object, the same texts, and as
many rows at once as ours has requests; ours go through `Local.loglikelihood`, as `collect` asks. The numbers
are compared before the times. The questions are CasiMedicos' (VIVA_SHARED; without it those of the sample
exam).

The model is a random Llama: 33 million parameters in float32 on one thread of a processor, and CPU time; with
--device cuda 1.2 billion in bfloat16, and the clock.
Usage: python bench/likelihood.py [--rounds 3] [--questions 32] [--batch 16] [--device cuda]
       [--only relaxed|ways|texts|letters|references|alone ...]
"""

import argparse
import asyncio
import json
import logging
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from vivavoce.benchmarks.sample import Sample
from vivavoce.core.text import label
from vivavoce.models.local import Local, connect
from vivavoce.models.local.pass_cost import measure_pass_cost
from vivavoce.models.local.scoring import Branch, TokenCounter, Tree, planned_passes, score
from vivavoce.models.local.way_choice import Sharing, cheapest_plan, cheapest_way, ways_for
from vivavoce.models.requests import Continuations, Message, Request

VOCABULARY, LEARNT = 32_000, 8_000
SIZES: dict[str, dict[str, Any]] = {
    "cpu": {"hidden_size": 512, "intermediate_size": 1408, "num_hidden_layers": 6, "num_attention_heads": 8,
            "num_key_value_heads": 2, "tie_word_embeddings": True},
    "cuda": {"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 18,
             "num_attention_heads": 32, "num_key_value_heads": 8, "tie_word_embeddings": True},
}  # fmt: skip
QUESTION, COMPLETION, TARGET, STRIDE, KEPT = 120, 256, 30, 8, 5
WAYS = ("naive", "branched", "packed")
SHARING: tuple[Sharing, ...] = ("packed", "branched")


class Question(NamedTuple):
    """A closed question, its options, and a text of some sentences that answers it."""

    asked: str
    options: tuple[str, ...]
    reference: str


class Pair(NamedTuple):
    """A text and what stands before it: '' for a text alone."""

    before: str
    text: str


class Part(NamedTuple):
    """The same likelihoods as requests of ours, and as pairs in the order of their branches."""

    name: str
    requests: list[Request]
    pairs: list[Pair]


def questions(most: int) -> tuple[str, list[Question], list[str]]:
    """What they are, some of them drawn by a seed, and texts for the tokeniser to learn from."""
    folder = Path(os.environ.get("VIVA_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    found, what = [], "CasiMedicos"
    for file in sorted((folder / "data/casimedicos").glob("en.*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            entry = json.loads(line)
            asked, _, reason = entry["question"].partition("  ")
            options = tuple(text.strip() for text in entry["options"].values() if (text or "").strip())
            found.append(Question(asked.strip(), options, reason.strip()))
    if not found:
        what = "the sample exam"
        items = [item for item in Sample().items() if item.options]
        found = [Question(i.question, i.options, str(i.meta["explanation"])) for i in items]
    texts = [" ".join((q.asked, *q.options, q.reference)) for q in found]
    whole = [q for q in dict.fromkeys(found) if len(q.options) > 1 and len(q.reference) > 100]
    return what, random.Random(3).sample(whole, min(most, len(whole))), texts


def parts(asked: Sequence[Question]) -> list[Part]:
    """The four comparisons."""
    made = []
    open_ = [f"Question: {q.asked}\nAnswer:" for q in asked]
    shown = [
        "\n".join([f"Question: {q.asked}", *(f"{label(k)}. {o}" for k, o in enumerate(q.options)), "Answer:"])
        for q in asked
    ]
    letters = [tuple(label(k) for k in range(len(q.options))) for q in asked]
    for name, befores, targets in (
        ("texts", open_, [q.options for q in asked]),
        ("letters", shown, letters),
        ("references", open_, [(q.reference,) for q in asked]),
        ("alone", [""] * len(asked), [(q.reference,) for q in asked]),
    ):
        requests = [
            Request(messages=(Message("user", before),) if before else (), kind="loglikelihood",
                    branches=Continuations(texts))
            for before, texts in zip(befores, targets, strict=True)
        ]  # fmt: skip
        pairs = [Pair(b, t) for b, texts in zip(befores, targets, strict=True) for t in texts]
        made.append(Part(name, requests, pairs))
    return made


def write(folder: Path, texts: list[str], device: str) -> None:
    """A random Llama and a tokeniser trained on the texts, without BOS: lm-eval puts it twice before a text
    alone, and would be told another number there.
    """
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokens = Tokenizer(models.BPE())
    tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokens.decoder = decoders.ByteLevel()
    tokens.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=LEARNT, special_tokens=["</s>"], show_progress=False,
            initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        ),
    )  # fmt: skip
    PreTrainedTokenizerFast(tokenizer_object=tokens, eos_token="</s>").save_pretrained(folder)
    torch.manual_seed(5)
    size = SIZES["cpu" if device == "cpu" else "cuda"]
    config = LlamaConfig(
        vocab_size=VOCABULARY, max_position_embeddings=4096, bos_token_id=None, eos_token_id=0, **size
    )
    with torch.device(device):
        model = LlamaForCausalLM(config)
    (model if device == "cpu" else model.to(torch.bfloat16)).save_pretrained(folder)


class Bench:
    """A model, what is fed to it, and the clock that fits its device."""

    def __init__(self, model: Any, device: str, rounds: int, batch: int) -> None:
        self.model, self.device, self.rounds, self.batch = model, device, rounds, batch
        self.places = 0
        model.register_forward_pre_hook(self._count, with_kwargs=True)

    def _count(self, _: Any, args: tuple[Any, ...], given: dict[str, Any]) -> None:
        self.places += (given["input_ids"] if "input_ids" in given else args[0]).numel()

    def now(self) -> float:
        """Seconds of this process on a processor; of the clock elsewhere, when all that was asked is done."""
        if self.device == "cpu":
            return time.process_time()
        import torch

        torch.cuda.synchronize()
        return time.perf_counter()

    def measured(self, arms: dict[str, Callable[[], Any]]) -> tuple[dict[str, list[float]], dict[str, int]]:
        """Seconds of each arm in each round, the arms in turn and the order reversed every other round; and
        the places that an arm feeds to the model, padding included.
        """
        took: dict[str, list[float]] = {name: [] for name in arms}
        fed = {}
        for turn in range(self.rounds):
            for name in list(arms)[:: -1 if turn % 2 else 1]:
                before, start = self.places, self.now()
                arms[name]()
                took[name].append(self.now() - start)
                fed[name] = self.places - before
        return took, fed


def told(took: dict[str, list[float]], fed: dict[str, int], base: str) -> None:
    """A line for each arm: its time, how many times less it is than that of the base, and the places fed."""
    for name, seconds in took.items():
        ratios = [theirs / ours for theirs, ours in zip(took[base], seconds, strict=True)]
        spread = f"{statistics.median(ratios):.2f}x ({min(ratios):.2f} to {max(ratios):.2f})"
        beside = "" if name == base else f"; {base} / {name}: {spread}"
        print(f"    {name:9} {statistics.median(seconds):7.2f} s, {fed[name]:7,} places{beside}", flush=True)


def apart(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The largest relative difference."""
    return max(abs(a - b) / abs(b) for a, b in zip(ours, theirs, strict=True))


def relaxed_trees(n: int, completion: int, target: int, seed: int = 2) -> list[Tree]:
    """What Relaxed Perplexity asks of one item: a target along so many completions of so many tokens."""
    draw = random.Random(seed)
    some = lambda n: tuple(draw.randrange(VOCABULARY) for _ in range(n))  # noqa: E731
    prompt, ids = some(QUESTION), some(target)
    cuts = range(0, completion + 1, STRIDE)
    return [Tree(prompt, some(completion), tuple(Branch(cut, ids) for cut in cuts)) for _ in range(n)]


def relaxed(bench: Bench) -> None:
    """Naive, branched and packed on one item."""
    cuts = range(0, COMPLETION + 1, STRIDE)
    trees = relaxed_trees(KEPT, COMPLETION, TARGET)
    sums, counts = {}, {}
    for way in WAYS:
        fed = TokenCounter()
        found = score(bench.model, trees, way, batch=bench.batch, fed=fed)
        sums[way], counts[way] = [one.logprob for row in found for one in row], fed.tokens
    print(
        f"  relaxed perplexity, one item: {KEPT} completions, {len(cuts)} places in each; tokens fed "
        + ", ".join(f"{way} {counts[way]:,}" for way in WAYS)
        + f"; largest relative difference {max(apart(sums[way], sums['naive']) for way in WAYS):.0e}"
    )
    arms = {way: lambda way=way: score(bench.model, trees, way, batch=bench.batch) for way in WAYS}
    told(*bench.measured(arms), "naive")


def ways(bench: Bench, batches: dict[str, list[Tree]]) -> None:
    """Packed and branched on a batch of each shape, beside what the measured cost expects."""
    start = bench.now()
    cost = measure_pass_cost(bench.model, bench.now)
    print(
        f"  the cost of a pass, measured in {bench.now() - start:.2f} s: {cost.call_s * 1e3:.2f} ms, "
        f"{cost.place_s * 1e6:.1f} us a place, {cost.pair_s * 1e9:.2f} ns a pair"
    )
    for name, trees in batches.items():
        plans = {way: planned_passes(bench.model, trees, way, batch=bench.batch) for way in SHARING}
        expected = ", ".join(f"{way} {cost.seconds(plan):.2f} s" for way, plan in plans.items())
        print(f"  {name}: expected {expected}; chosen: {cheapest_plan(plans, cost)}")
        arms = {way: partial(score, bench.model, trees, way, batch=bench.batch) for way in SHARING}
        told(*bench.measured(arms), "packed")


def shapes_of_batches(asked: Sequence[Part], local: Local, batch: int) -> dict[str, list[Tree]]:
    """A batch of each shape: long and short completions, and the first requests of some parts."""
    shapes = {
        "long completions": relaxed_trees(KEPT, COMPLETION, TARGET),
        "short completions": relaxed_trees(3, 64, 8) + relaxed_trees(3, 64, 8, seed=3),
    }
    firsts = {p.name: p.requests[:batch] for p in asked if p.name != "alone"}
    return shapes | {name: [local.tokens.tree(one) for one in some] for name, some in firsts.items()}


def beside(part: Part, bench: Bench, local: Local, runner: asyncio.Runner, peer: Any) -> None:
    """Ours and lm-eval's on the same texts."""
    from lm_eval.api.instance import Instance

    alone = part.name == "alone"
    asked = [
        Instance(
            request_type="loglikelihood_rolling" if alone else "loglikelihood",
            doc={},
            arguments=(pair.text,) if alone else (pair.before, f" {pair.text}"),
            idx=0,
        )
        for pair in part.pairs
    ]

    async def gathered() -> list[float]:
        replies = await asyncio.gather(*map(local.loglikelihood, part.requests))
        return [one.logprob for reply in replies for one in reply.likelihoods]

    def ours() -> list[float]:
        return runner.run(gathered())

    def theirs() -> list[float]:
        if alone:
            with open(os.devnull, "w") as nowhere, redirect_stderr(nowhere):  # its inner bar has no switch
                return peer.loglikelihood_rolling(asked, disable_tqdm=True)
        return [logprob for logprob, _ in peer.loglikelihood(asked, disable_tqdm=True)]

    print(
        f"  {part.name}: {len(part.requests)} requests, {len(part.pairs)} texts; largest relative difference "
        f"{apart(ours(), theirs()):.0e}"
    )
    told(*bench.measured({"lm-eval": theirs, "vivavoce": ours}), "lm-eval")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--questions", type=int, default=32)
    parser.add_argument("--batch", type=int, default=16, help="rows, or requests of ours, at once")
    parser.add_argument("--device", default="cpu")
    parser.add_argument(
        "--only",
        nargs="*",
        choices=["relaxed", "ways", "texts", "letters", "references", "alone"],
        default=(),
    )
    given = parser.parse_args()
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(1)
    what, asked, texts = questions(given.questions)
    with TemporaryDirectory() as made, asyncio.Runner() as runner:
        write(Path(made), texts, given.device)
        name = f"hf/{made}"
        local = connect(name, made, {"device": given.device, "batch": given.batch})
        model, _ = local._model()
        bench = Bench(model, given.device, given.rounds, given.batch)
        size = f"{model.num_parameters() / 1e6:,.0f} million parameters in {str(model.dtype)[6:]}"
        print(
            f"a random Llama of {size} on {given.device}, {given.rounds} rounds, batches of {given.batch};\n"
            f"  {len(asked)} questions of {what}; collect takes the way {ways_for(model)}"
        )
        for _ in range(3):  # so many places that their cost is measured now, and within no timed arm
            cheapest_way(model, relaxed_trees(KEPT, COMPLETION, TARGET), batch=given.batch)
        with torch.inference_mode():
            if not given.only or "relaxed" in given.only:
                relaxed(bench)
            if not given.only or "ways" in given.only:
                ways(bench, shapes_of_batches(parts(asked), local, given.batch))
        wanted = [p for p in parts(asked) if not given.only or p.name in given.only]
        if wanted and (peer := _peer(model, local, given.batch, given.device)):
            for part in wanted:
                beside(part, bench, local, runner, peer)
        runner.run(local.close())


def _peer(model: Any, local: Local, batch: int, device: str) -> Any:
    """lm-eval's backend on the same model; null, and a line that says what to install, where it is not."""
    try:
        from lm_eval.models.huggingface import HFLM
    except ImportError:
        print('  beside lm-eval: not measured; pip install "lm_eval==0.4.13"', file=sys.stderr)
        return None
    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    return HFLM(pretrained=model, tokenizer=local.tokens._made, batch_size=batch, device=device)


if __name__ == "__main__":
    main()
