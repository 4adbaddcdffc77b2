"""Train the tiny language model that tests and benches use, on the glosses of WordNet 3.0.

    apt-get install wordnet-base && python tools/train_tiny.py FOLDER [--steps 300] [--seed 1]

FOLDER becomes a Llama-style model of 1.4 million parameters with its tokeniser, as transformers load it, a
model card, `recipe.json` and WordNet's licence. The corpus is what `data.noun` says of the body, of states,
substances and phenomena, a line for each: its words, a colon, its gloss; the licence lets it be passed on.
20 kB of lines are held out, the same ones whatever the seed.

One thread and seeds for everything: the same recipe gives the same weights on the same kind of processor.
300 steps take 80 seconds of one core and leave 2.57 bits a byte on the lines held out; before training it is
3.86, and for a model that only knows how often each byte occurs 4.37 (torch 2.13, transformers 5.23).
"""

import argparse
import hashlib
import json
import math
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

SOURCE = Path("/usr/share/wordnet")
LICENCE = Path(__file__).resolve().parents[1] / "src/vivavoce/metrics/wordnet/LICENSE"
TOPICS = {"08": "body", "19": "phenomenon", "26": "state", "27": "substance"}
"""WordNet's lexicographer files that are read, by number."""

BOS, EOS = "<s>", "</s>"

CARD = """# A tiny model of dictionary glosses

**Plumbing and regression tests only; word salad; no medical validity.** Never report its scores as the
quality of a model.

| | |
|---|---|
| corpus | WordNet 3.0, glosses of nouns of {topics}; SHA-256 {corpus} |
| licence of the corpus | LICENSE: WordNet 3.0, Copyright 2006 by Princeton University; may be passed on |
| model | Llama, {parameters:,} parameters, tied: {width} wide, {layers} layers, {heads} heads on {shared} |
| tokeniser | byte-level BPE of {vocabulary:,}, trained on the lines; {width_of_token:.2f} bytes a token |
| training | {steps} steps of {batch} x {length} tokens, AdamW, rate {rate}, seed {seed}, one thread |
| made with | torch {torch}, transformers {transformers} |
| held out | {held:,} bytes: {bits:.4f} bits a byte; untrained {untrained:.2f}, single bytes {single:.2f} |
| weights | SHA-256 {weights} |
"""


class Exists(Exception):
    """The folder holds something else."""


@dataclass(frozen=True)
class Recipe:
    """All that decides the weights."""

    corpus: str
    """SHA-256 of the lines, in order."""
    steps: int = 300
    seed: int = 1
    vocabulary: int = 1024
    width: int = 192
    layers: int = 3
    heads: int = 6
    shared: int = 2
    context: int = 2048
    batch: int = 8
    length: int = 256
    rate: float = 4e-3
    held: int = 20_000
    torch: str = version("torch")
    transformers: str = version("transformers")

    @property
    def key(self) -> str:
        """Names the recipe: 16 hex digits."""
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:16]


class Trained(NamedTuple):
    """A model, its tokeniser and what was found on the held-out lines, in bits a byte."""

    model: Any
    tokens: Any
    bits: float
    untrained: float
    single: float
    held: list[str]


def lines(source: Path = SOURCE) -> list[str]:
    """The corpus: `words: gloss` of each synset of the topics, in the file's order."""
    found = []
    with (source / "data.noun").open(encoding="ascii") as stream:
        for line in stream:
            if line.startswith("  "):  # the licence
                continue
            entry, _, gloss = line.partition(" | ")
            _, topic, _, number, *rest = entry.split()
            if topic in TOPICS:
                words = ", ".join(word.replace("_", " ") for word in rest[: 2 * int(number, 16) : 2])
                found.append(f"{words}: {gloss.strip()}")
    return found


def recipe(corpus: list[str], **settings: Any) -> Recipe:
    """The recipe for these lines."""
    return Recipe(hashlib.sha256("\n".join(corpus).encode()).hexdigest(), **settings)


def split(corpus: list[str], held: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """The lines to learn from, shuffled, and those kept out of it: the first `held` bytes after shuffling.

    The seed is not that of the weights, so that models of different seeds are compared on the same lines.
    """
    shuffled = random.Random(seed).sample(corpus, len(corpus))
    size, n = 0, 0
    while size < held:
        size += len(shuffled[n].encode()) + 1
        n += 1
    return shuffled[n:], shuffled[:n]


def single_bytes(learnt: list[str], held: list[str]) -> float:
    """Bits a byte of a model that knows how often each byte occurs, one added to every count."""
    counts = Counter("\n".join([*learnt, ""]).encode())
    total = sum(counts.values()) + 256
    text = "\n".join([*held, ""]).encode()
    return -sum(math.log2((counts[byte] + 1) / total) for byte in text) / len(text)


def tokeniser(text: list[str], vocabulary: int, context: int) -> Any:
    """A byte-level BPE tokeniser that puts BOS before every text."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokens = Tokenizer(models.BPE())
    tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokens.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens.train_from_iterator(
        text,
        trainers.BpeTrainer(
            vocab_size=vocabulary,
            special_tokens=[BOS, EOS],
            initial_alphabet=alphabet,
            show_progress=False,
        ),
    )
    tokens.post_processor = processors.TemplateProcessing(single=f"{BOS} $A", special_tokens=[(BOS, 0)])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokens,
        bos_token=BOS,
        eos_token=EOS,
        clean_up_tokenization_spaces=False,
        model_max_length=context,
    )


def untrained(recipe: Recipe) -> Any:
    """The model before the first step."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(recipe.seed)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=recipe.vocabulary,
            hidden_size=recipe.width,
            intermediate_size=8 * recipe.width // 3,
            num_hidden_layers=recipe.layers,
            num_attention_heads=recipe.heads,
            num_key_value_heads=recipe.shared,
            max_position_embeddings=recipe.context,
            tie_word_embeddings=True,
            bos_token_id=0,
            eos_token_id=1,
        )
    )


def stream(tokens: Any, text: list[str]) -> Any:
    """All lines in a row, each between BOS and EOS, as token ids; EOS stands for the line's end."""
    import torch

    return torch.tensor([i for ids in tokens(text)["input_ids"] for i in (*ids, tokens.eos_token_id)])


def losses(model: Any, ids: Any) -> Any:
    """Nats of each token of each row given those before it; nothing is asked of BOS, which always comes."""
    from torch.nn.functional import cross_entropy

    said = model(input_ids=ids[:, :-1], use_cache=False).logits
    aim = ids[:, 1:].masked_fill(ids[:, 1:] == 0, -100)
    return cross_entropy(said.flatten(0, 1), aim.flatten(), reduction="none")


def bits_per_byte(model: Any, tokens: Any, text: list[str], length: int) -> float:
    """Each token scored once, in windows of `length`; bytes are those of the lines and their ends."""
    import torch

    ids = stream(tokens, text)
    with torch.no_grad():
        nats = sum(
            float(losses(model, ids[None, max(start - 1, 0) : start + length]).sum())
            for start in range(0, len(ids), length)
        )
    return nats / math.log(2) / sum(len(line.encode()) + 1 for line in text)


def steps(model: Any, ids: Any, recipe: Recipe) -> Iterator[float]:
    """Train, a step for each value asked for: its mean loss. The rate rises, then falls to nothing."""
    import torch

    drawing = torch.Generator().manual_seed(recipe.seed)
    adam = torch.optim.AdamW(model.parameters(), lr=recipe.rate, betas=(0.9, 0.95), weight_decay=0.1)
    rising = max(recipe.steps // 10, 1)
    for step in range(recipe.steps):
        share = min((step + 1) / rising, (recipe.steps - step) / (recipe.steps - rising or 1))
        for group in adam.param_groups:
            group["lr"] = recipe.rate * share
        starts = torch.randint(len(ids) - recipe.length, (recipe.batch,), generator=drawing)
        loss = losses(model, torch.stack([ids[s : s + recipe.length + 1] for s in starts.tolist()])).mean()
        adam.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        yield loss.item()


def train(corpus: list[str], recipe: Recipe, progress: bool = False) -> Trained:
    """The model that the recipe describes. Torch is left with the threads it had."""
    import torch

    learnt, held = split(corpus, recipe.held)
    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.set_num_threads(1)
        try:
            tokens = tokeniser(learnt, recipe.vocabulary, recipe.context)
            model = untrained(recipe)
            before = bits_per_byte(model, tokens, held, recipe.length)
            for step, loss in enumerate(steps(model, stream(tokens, learnt), recipe), 1):
                if progress and (step % 20 == 0 or step == recipe.steps):
                    print(f"step {step} of {recipe.steps}: {loss:.3f} nats a token", file=sys.stderr)
            model.eval()
            after = bits_per_byte(model, tokens, held, recipe.length)
        finally:
            torch.set_num_threads(threads)
    return Trained(model, tokens, after, before, single_bytes(learnt, held), held)


def digest(model: Any) -> str:
    """SHA-256 of the weights, by name."""
    found = hashlib.sha256()
    for name, weights in sorted(model.state_dict().items()):
        found.update(name.encode())
        found.update(weights.contiguous().numpy().tobytes())
    return found.hexdigest()


def card(trained: Trained, recipe: Recipe) -> str:
    """The model card."""
    size = sum(len(line.encode()) + 1 for line in trained.held)
    return CARD.format(
        **asdict(recipe) | {"held": size},
        topics=", ".join(sorted(TOPICS.values())),
        parameters=trained.model.num_parameters(),
        width_of_token=size / len(stream(trained.tokens, trained.held)),
        bits=trained.bits,
        untrained=trained.untrained,
        single=trained.single,
        weights=digest(trained.model),
    )


def make(folder: Path, corpus: list[str], recipe: Recipe, progress: bool = False) -> bool:
    """Train into the folder, whole or not at all; false where the same recipe made it already.

    Two that make it at once both train, and the one that ends first is kept. Raises `Exists`.
    """
    made = json.dumps(asdict(recipe), indent=1) + "\n"
    if folder.exists():
        found = folder / "recipe.json"
        if not found.is_file() or made != found.read_text("utf-8"):
            raise Exists(f"{folder} exists and was not made by this recipe: name another folder")
        return False
    trained = train(corpus, recipe, progress)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as beside:
        part = Path(beside) / "model"
        trained.model.save_pretrained(part)
        trained.tokens.save_pretrained(part)
        (part / "recipe.json").write_text(made, "utf-8")
        (part / "README.md").write_text(card(trained, recipe), "utf-8")
        (part / "LICENSE").write_bytes(LICENCE.read_bytes())
        try:
            part.rename(folder)
        except OSError:
            if not folder.exists():
                raise
            return make(folder, corpus, recipe)  # somebody else's, by now
    return True


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=Recipe.steps)
    parser.add_argument("--seed", type=int, default=Recipe.seed)
    parser.add_argument("--source", type=Path, default=SOURCE, help="WordNet's files")
    given = parser.parse_args(arguments)
    if not (given.source / "data.noun").is_file():
        parser.error(f"no data.noun in {given.source}: apt-get install wordnet-base, or name --source")
    corpus = lines(given.source)
    try:
        made = make(given.folder, corpus, recipe(corpus, steps=given.steps, seed=given.seed), progress=True)
    except Exists as error:
        parser.error(str(error))
    print((given.folder / "README.md").read_text("utf-8"))
    if not made:
        print(f"{given.folder} was there already", file=sys.stderr)


if __name__ == "__main__":
    main()
