"""A BLEURT checkpoint in PyTorch: an encoder of BERT's or RemBERT's shape, its pooler, and a linear head.

The input is `[CLS] reference [SEP] candidate [SEP]`, token types 0 and 1; where it is too long, the last
piece of the longer text goes until it fits, as in the published code (Sellam et al. 2020). The score is

    w . tanh(W h + b) + c,  h the last state of [CLS].

Configurations are of the types `bleurt` (the published conversions: RemBERT's shape if there is an
`embedding_size`, else BERT's), `bert` and `rembert`. No class is taken from the folder and no code run.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.core.errors import MetricError, ModelError
from vivavoce.core.json_text import read_json
from vivavoce.embeddings.encoder import BUDGET

LONGEST = 512
"""Word pieces of a pair that are read, marks included."""
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_PUT = (
    "put the files of a PyTorch conversion of BLEURT there: config.json, model.safetensors (or "
    "pytorch_model.bin), and tokenizer.json or vocab.txt"
)
_BERT, _REMBERT = ("BertConfig", "BertModel"), ("RemBertConfig", "RemBertModel")
_SHAPE = (
    *(
        "vocab_size",
        "hidden_size",
        "num_hidden_layers",
        "num_attention_heads",
        "intermediate_size",
        "hidden_act",
    ),
    *("max_position_embeddings", "type_vocab_size", "layer_norm_eps", "pad_token_id"),
)
"""Settings of a configuration that shape the model."""


class Pair(NamedTuple):
    """A reference and a candidate as the model reads them; `cut` word pieces are left out."""

    ids: tuple[int, ...]
    types: tuple[int, ...]
    cut: int


class BleurtModel:
    """A checkpoint in memory, from a folder. `passes` counts the pairs it has read."""

    def __init__(self, folder: Path, device: str | None = None, dtype: str = "auto") -> None:
        """Raises `MetricError` that says which file is missing, or what is wrong with one."""
        self.name, self.passes = str(folder), 0
        raw = _configuration(folder)
        try:
            self._torch: Any = import_module("torch")
            transformers = import_module("transformers")
            from vivavoce.models.local.foreign_text import inert_backend
            from vivavoce.models.local.loading import resolve_settings

            self.settings = resolve_settings(str(folder), {"device": device, "dtype": dtype})
        except (ImportError, ModelError) as error:
            raise MetricError(f"bleurt: {str(error).rstrip('.')}.") from None
        tokenizer = _tokenizer(folder)
        self._encoder, self._head = self._load(transformers, folder, raw)
        self.longest = min(LONGEST, int(raw.get("max_position_embeddings", LONGEST)))
        ids = [tokenizer.token_to_id(mark) for mark in ("[CLS]", "[SEP]")]
        if None in ids:
            raise MetricError(f"{folder}: its tokeniser has no [CLS] and [SEP], which BLEURT reads: {_PUT}.")
        self._cls, self._sep = ids
        self._tokenizer = inert_backend(tokenizer)

    def _load(self, transformers: Any, folder: Path, raw: Mapping[str, Any]) -> tuple[Any, Any]:
        """The encoder and the head, with the weights of the folder."""
        torch = self._torch
        config_name, model_name = _REMBERT if _is_rembert(raw) else _BERT
        shape = {name: raw[name] for name in _SHAPE if name in raw}
        if _is_rembert(raw):
            shape["input_embedding_size"] = raw.get("embedding_size") or raw.get("input_embedding_size")
        try:
            encoder = getattr(transformers, model_name)(getattr(transformers, config_name)(**shape))
            head = torch.nn.Linear(encoder.config.hidden_size, 1)
            states = dict(_renamed(_weights(folder, torch)))
            head.load_state_dict({k: states.pop(f"classifier.{k}") for k in ("weight", "bias")})
            missing, _ = encoder.load_state_dict(states, strict=False)
        except Exception as error:  # torch and transformers raise what they like on foreign files
            why = " ".join(str(error).split())[:200]
            raise MetricError(
                f"{folder} cannot be loaded as BLEURT ({type(error).__name__}: {why}): {_PUT}."
            ) from None
        if missing:
            raise MetricError(
                f"{folder}: its weights lack {missing[0]} and {len(missing) - 1} more, which would be "
                f"made up: {_PUT}."
            )
        dtype = states["embeddings.word_embeddings.weight"].dtype
        dtype = dtype if self.settings.dtype == "auto" else getattr(torch, self.settings.dtype)
        device = self.settings.device
        return encoder.eval().to(device, dtype), head.eval().to(device, dtype)

    def pair(self, reference: str, candidate: str) -> Pair:
        """What the model reads of a reference and a candidate."""
        a, b = (self._tokenizer.encode(t, add_special_tokens=False).ids for t in (reference, candidate))
        length = len(a) + len(b)
        while len(a) + len(b) > self.longest - 3:
            (a if len(a) > len(b) else b).pop()
        ids = (self._cls, *a, self._sep, *b, self._sep)
        types = (*[0] * (len(a) + 2), *[1] * (len(b) + 1))
        return Pair(ids, types, length - len(a) - len(b))

    def compare(self, texts: Sequence[tuple[str, str]]) -> list[tuple[float, int]]:
        """The score of each reference with its candidate, and how many word pieces were cut."""
        pairs = [self.pair(*both) for both in texts]
        return [(score, pair.cut) for score, pair in zip(self.scores(pairs), pairs, strict=True)]

    def scores(self, pairs: Sequence[Pair]) -> list[float]:
        """The score of each pair, in order; read in batches of like length.

        Raises `MetricError` where a score is no finite number.
        """
        scores: dict[int, float] = {}
        for batch in _batches(pairs):
            values = self._pass([pairs[k] for k in batch])
            scores |= zip(batch, values, strict=True)
        self.passes += len(pairs)
        return [scores[k] for k in range(len(pairs))]

    def _pass(self, pairs: Sequence[Pair]) -> list[float]:
        torch, longest = self._torch, max(len(pair.ids) for pair in pairs)

        def padded(rows: Sequence[Sequence[int]]) -> Any:
            filled = [[*row, *[0] * (longest - len(row))] for row in rows]
            return torch.tensor(filled, device=self.settings.device)

        with torch.inference_mode():
            states = self._encoder(
                input_ids=padded([pair.ids for pair in pairs]),
                token_type_ids=padded([pair.types for pair in pairs]),
                attention_mask=padded([[1] * len(pair.ids) for pair in pairs]),
            )
            values = self._head(states.pooler_output)[:, 0].float()
        if not bool(values.isfinite().all()):
            raise MetricError(
                f"{self.name} gives scores that are no numbers (NaN or infinite): its weights are broken, or "
                f"too large for dtype={self.settings.dtype}; take another copy, or dtype=float32."
            )
        return [float(value) for value in values.cpu()]


@cache
def load_bleurt(folder: Path, device: str | None, dtype: str) -> BleurtModel:
    """The checkpoint of a folder, once in a process. Raises `MetricError` if it cannot be loaded."""
    return BleurtModel(folder, device, dtype)


def _configuration(folder: Path) -> dict[str, Any]:
    """The config.json. Raises `MetricError` where a file is missing, or it is of another model."""
    if not (folder / "config.json").is_file():
        raise MetricError(f"{folder} has no config.json: {_PUT}.")
    try:
        raw = read_json((folder / "config.json").read_text(encoding="utf-8"))
        kind = raw.get("model_type")
    except (OSError, ValueError, AttributeError, RecursionError):
        raise MetricError(f"{folder}/config.json is no JSON object: {_PUT}.") from None
    if kind not in ("bleurt", "bert", "rembert"):
        raise MetricError(f"{folder} holds a model of the type {kind!r}, which is no BLEURT: {_PUT}.")
    return dict(raw)


def _is_rembert(raw: Mapping[str, Any]) -> bool:
    return raw["model_type"] == "rembert" or bool(raw.get("embedding_size"))


def _weights(folder: Path, torch: Any) -> dict[str, Any]:
    """The tensors by name; a pickle is read with `weights_only`, which runs nothing."""
    if (folder / WEIGHTS[0]).is_file():
        return dict(import_module("safetensors.torch").load_file(folder / WEIGHTS[0]))
    if (folder / WEIGHTS[1]).is_file():
        return dict(torch.load(folder / WEIGHTS[1], map_location="cpu", weights_only=True))
    raise FileNotFoundError(f"no {WEIGHTS[0]}")


def _renamed(states: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The tensors under the names of BERT and RemBERT, without the name of the model before them."""
    for name, tensor in states.items():
        model, _, remainder = name.partition(".")
        bare = remainder if model in ("bleurt", "bert", "rembert") else name
        yield bare.replace("encoder.embedding_projection.", "encoder.embedding_hidden_mapping_in."), tensor


def _tokenizer(folder: Path) -> Any:
    """The tokeniser, without its own cutting and padding. Raises `MetricError` where there is none."""
    tokenizers = import_module("tokenizers")
    try:
        if (folder / "tokenizer.json").is_file():
            tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
            tokenizer.no_truncation()
            tokenizer.no_padding()
            return tokenizer
        if (folder / "vocab.txt").is_file():
            settings = folder / "tokenizer_config.json"
            written = read_json(settings.read_text(encoding="utf-8")) if settings.is_file() else {}
            lowercase = bool(written.get("do_lower_case", True))
            return tokenizers.BertWordPieceTokenizer(str(folder / "vocab.txt"), lowercase=lowercase)
    except Exception as error:  # the library raises a bare Exception for a file it cannot read
        raise MetricError(f"{folder}: its tokeniser cannot be read ({error}): {_PUT}.") from None
    sentences = any((folder / name).is_file() for name in ("spm.model", "sent_piece.model"))
    how = (
        "; with sentencepiece installed, transformers.DebertaV2Tokenizer.from_pretrained(DIR)"
        ".save_pretrained(DIR) writes tokenizer.json from spm.model"
    )
    raise MetricError(f"{folder} has no tokenizer.json and no vocab.txt: {_PUT}{how if sentences else ''}.")


def _batches(pairs: Sequence[Pair]) -> Iterator[list[int]]:
    """Positions from short to long, as many together as the budget holds at the length of the longest."""
    batch: list[int] = []
    for k in sorted(range(len(pairs)), key=lambda k: len(pairs[k].ids)):
        if batch and (len(batch) + 1) * len(pairs[k].ids) > BUDGET:
            yield batch
            batch = []
        batch.append(k)
    if batch:
        yield batch
