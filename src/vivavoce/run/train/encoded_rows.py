"""Training rows as tokens: what a run reads in an epoch, counted before any weight is loaded."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.embeddings.encoder import folder_of, resolve_encoder
from vivavoce.evaluators.inputs import InputReader, Kind, TextIds, padded, texts_of
from vivavoce.models.local import loading
from vivavoce.run.train.mixtures import Mixture, Row
from vivavoce.run.train.recipe import Recipe

_NO_LIMIT = 1 << 20


class EncoderFiles(NamedTuple):
    """An encoder whose weights are not loaded. `longest` tokens of a text are read."""

    name: str
    at: loading.Source
    config: Any
    tokenizer: Any
    longest: int


class EncodedRow(NamedTuple):
    """A row as tokens: a text for each option, or one for a head of classes. `label` counts those."""

    texts: tuple[tuple[int, ...], ...]
    label: int


class EncodedMixture(NamedTuple):
    """The rows of both splits as tokens. `n_cut` texts of the train rows were cut."""

    train: tuple[EncodedRow, ...]
    dev: tuple[EncodedRow, ...]
    n_cut: int

    @property
    def texts(self) -> int:
        """Texts that an epoch trains on."""
        return sum(len(row.texts) for row in self.train)

    @property
    def tokens(self) -> int:
        """Tokens that an epoch trains on, without filling."""
        return sum(len(text) for row in self.train for text in row.texts)


def find_encoder(encoder: str, recipe: Recipe) -> EncoderFiles:
    """The files of an encoder: configuration and tokeniser are read, no weights.

    Raises `InputError` for a name that leads to no encoder, `ModelError` for files that cannot be read.
    """
    try:
        name = resolve_encoder(encoder)
    except ValueError as error:
        raise InputError(f"--{str(error).replace('encoder=', 'encoder ')}.") from None
    place = str(folder_of(name) or name)
    at = loading.source(name, place, None)
    config, tokenizer = loading.configuration(name, at), loading.tokeniser(name, at, None)
    context = loading.context_of(name, config, tokenizer, None)
    limit = loading.longest_input(_without_weights(config), tokenizer, context)
    return EncoderFiles(name, at, config, tokenizer, min(recipe.max_tokens, limit or recipe.max_tokens))


def _without_weights(config: Any) -> Any:
    """The model of a configuration, of which no weight is in memory."""
    import torch
    from transformers import AutoModel

    with torch.device("meta"), loading.quiet():
        return AutoModel.from_config(config)


def encode(mixture: Mixture, files: EncoderFiles, classes: Sequence[str], recipe: Recipe) -> EncodedMixture:
    """The rows of a mixture as tokens. Raises `InputError` for an option without room for a question."""
    longest = _NO_LIMIT if recipe.cut == "end" else files.longest
    reader = InputReader(files.tokenizer, longest)
    encoded, n_cut = {}, 0
    for row in dict.fromkeys((*mixture.train, *mixture.dev)):
        encoded[row], n_cut_texts = _encode(row, reader, files.longest, classes, recipe)
        n_cut += n_cut_texts * mixture.train.count(row)
    return EncodedMixture(
        tuple(encoded[row] for row in mixture.train), tuple(encoded[row] for row in mixture.dev), n_cut
    )


def _encode(
    row: Row, reader: InputReader, longest: int, classes: Sequence[str], recipe: Recipe
) -> tuple[EncodedRow, int]:
    """A row as tokens, and how many of its texts were cut."""
    kind: Kind = "classes" if classes else "options"
    task, label = row.task, row.label
    if classes:
        label = classes.index(task.options[label])
    elif recipe.padded_options > len(task.options):
        missing = recipe.padded_options - len(task.options)
        task = task._replace(options=(*task.options, *[""] * missing))
    texts = [_at_most(reader.tokens(text), longest) for text in texts_of(task, kind)]
    return EncodedRow(tuple(text.ids for text in texts), label), sum(text.n_cut > 0 for text in texts)


def _at_most(text: TextIds, longest: int) -> TextIds:
    """The text without its end where it is too long; the last mark stays."""
    if len(text.ids) <= longest:
        return text
    return TextIds((*text.ids[: longest - 1], text.ids[-1]), text.n_cut + len(text.ids) - longest)


def batch_of(rows: Sequence[EncodedRow], padding: int) -> dict[str, Any]:
    """Rows as tensors: their texts one after the other, how many each has, and the labels."""
    import torch

    ids, mask = padded([text for row in rows for text in row.texts], padding)
    return {
        "input_ids": torch.tensor(ids),
        "attention_mask": torch.tensor(mask),
        "n_texts": torch.tensor([len(row.texts) for row in rows]),
        "labels": torch.tensor([row.label for row in rows]),
    }


def is_state(file: Path) -> bool:
    """Whether a file holds a whole JSON object: the last thing that is written of a checkpoint."""
    try:
        return isinstance(json.loads(file.read_text(encoding="utf-8")), dict)
    except (OSError, ValueError):
        return False
