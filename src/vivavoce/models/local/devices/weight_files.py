"""The weights of a hub model, fetched before device processes start: those have no keys and no network."""

from collections.abc import Sequence
from pathlib import Path

from vivavoce.core.json_text import read_json
from vivavoce.models.local.loading import Source, load_error, quiet, require_network

_FORMATS = (("model", ".safetensors"), ("pytorch_model", ".bin"))
"""The files that transformers loads weights from, the first kind before the second."""


def fetch_weights(name: str, at: Source) -> None:
    """Fetch what the hub's cache lacks of a model's weights; a folder is left as it is.

    Raises `FatalError` where they cannot be fetched.
    """
    if at.folder is None or at.folder == at.where or _is_whole(Path(at.folder)):
        return
    require_network(name, at.where)
    from huggingface_hub import HfApi, hf_hub_download

    commit = Path(at.folder).name  # what is fetched must go with what is here
    try:
        with quiet():
            for file in weight_files(HfApi().list_repo_files(at.where, revision=commit)):
                hf_hub_download(at.where, file, revision=commit)
    except Exception as error:
        raise load_error(name, "weights", error) from error


def weight_files(files: Sequence[str]) -> list[str]:
    """The files of a repository that hold its weights, an index first; empty where none is known to."""
    for stem, suffix in _FORMATS:
        if f"{stem}{suffix}" in files:
            return [f"{stem}{suffix}"]
        index = f"{stem}{suffix}.index.json"
        if index in files:
            return [index, *(f for f in files if f.startswith(f"{stem}-") and f.endswith(suffix))]
    return []


def _is_whole(folder: Path) -> bool:
    """Whether a snapshot holds all weights."""
    for stem, suffix in _FORMATS:
        if (folder / f"{stem}{suffix}").is_file():
            return True
        index = folder / f"{stem}{suffix}.index.json"
        if index.is_file():
            files = read_json(index.read_text(encoding="utf-8"))["weight_map"].values()
            return all((folder / file).is_file() for file in set(files))
    return False
