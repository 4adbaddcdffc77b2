"""`training.json`: what the evaluators of a folder were trained on, and for which task only."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vivavoce.core.errors import InputError
from vivavoce.core.json_text import read_json
from vivavoce.core.private_files import private_folder, write_private

NAME = "training.json"
SCHEMA = "viva.training/1"
_WORDS = {
    "signature": "the data of the benchmark",
    "encoder_files": "the files of the encoder",
    "candidates_of": "--run",
    "benchmark": "benchmark",
}
"""How a sentence calls a setting that differs, where that is not its option."""


class TrainingFile:
    """The file of a folder: its settings, and by mixture the hash of the data and what each run brought."""

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        """Read it, if it is there. Raises `InputError` for a folder of another training."""
        self.path = folder / NAME
        self.mixtures: dict[str, dict[str, Any]] = {}
        self._settings = dict(settings)
        if self.path.exists():
            self._load()

    def _load(self) -> None:
        try:
            raw = read_json(self.path.read_text(encoding="utf-8"))
            earlier, mixtures = dict(raw["settings"]), dict(raw["mixtures"])
            complete = raw["schema"] == SCHEMA and all(
                isinstance(m["data_hash"], str) and isinstance(m["runs"], dict) for m in mixtures.values()
            )
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            complete = False
        if not complete:
            raise InputError(f"{self.path} is no file of `viva train`: give another folder with --to.")
        # as JSON has them: a tuple comes back as a list
        now = json.loads(json.dumps(self._settings))
        differing = [name for name in now if now[name] != earlier.get(name)]
        if differing:
            name = differing[0]
            raise self._mismatch(f"{_WORDS.get(name, f'--{name}')} {earlier.get(name)}, not {now[name]}")
        self.mixtures = mixtures

    def check_data(self, mixture: str, data_hash: str) -> None:
        """Raise `InputError` where a mixture was begun on other data."""
        earlier = self.mixtures.get(mixture)
        if earlier and earlier["data_hash"] != data_hash:
            raise self._mismatch(f"other data in {mixture} ({earlier['data_hash']}, not {data_hash})")

    def _mismatch(self, difference: str) -> InputError:
        return InputError(
            f"{self.path.parent} holds a training with {difference}: give another folder with --to, or "
            "repeat that command to go on."
        )

    def write(self, sentence: str, more: Mapping[str, Any]) -> None:
        """Write it. Raises `InputError` where the folder cannot be written."""
        text = {"schema": SCHEMA, "sentence": sentence, "settings": self._settings, **more}
        text["mixtures"] = self.mixtures
        try:
            private_folder(self.path.parent)
            write_private(self.path, json.dumps(text, indent=1, ensure_ascii=False) + "\n")
        except OSError as error:
            raise InputError(f"cannot write to {self.path.parent}: {error.strerror or error}.") from None
