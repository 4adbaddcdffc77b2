"""Models' cards: what is publicly known of a model, from a small YAML file; null is not known, no guess."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from vivavoce.errors import ModelError, suggest
from vivavoce.models.yamls import read_mapping

__all__ = ["ModelCard", "card_of", "cards"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """What is known of one model; the fields are those of the file and explained there."""

    name: str
    family: str | None = None
    parameters: float | None = None
    active: float | None = None
    open: bool | None = None
    medical: bool | None = None
    instructed: bool | None = None
    base: tuple[str, ...] | None = None
    release: str | None = None
    cutoff: str | None = None
    names: tuple[str, ...] = ()


def cards(file: Path | None = None) -> dict[str, ModelCard]:
    """The cards we have by name, with those of `file` added or changed.

    A card of `file` that we have too changes only the fields it states; its `names` come to ours, and are
    taken from the card that had them. Raises `ModelError` naming file, card and field where something cannot
    be used.
    """
    known = _read(Path(__file__).with_name("models.yaml"), {})
    return known if file is None else _read(file, known)


def card_of(candidate: str, known: Mapping[str, ModelCard] | None = None) -> ModelCard | None:
    """The card of the model that answers under this label, or null: nothing is guessed.

    A label fits a card if it is the card's name or one of its `names`; case does not count, and blanks and
    underscores are hyphens. Settings in brackets at the end (`gpt-4o(temperature=0)`) are left out. What
    stands before a slash is taken off from the left until something fits: `hf/google/gemma-3-27b-it` is
    `gemma-3-27b-it`. Last, marks of quantisation at the end are taken off (`-GGUF`, `-AWQ`, `-FP8`, `-4bit`,
    `-Q4_K_M`): a quantised model has the card of what was quantised. Beginnings never fit: `llama3` is not
    `llama3.1:70b`.
    """
    index = _index(cards() if known is None else known)
    label = _normal(candidate)
    bare = _SETTINGS.sub("", label)
    forms = [label, *([] if "(" in bare else _tails(bare))]
    plain = [_QUANTISED.sub("", form) for form in forms]
    return next((index[form] for form in (*forms, *plain) if form in index), None)


_SETTINGS = re.compile(r"(?<=[^\s(-])\(.*\)\Z", re.DOTALL)
_MARK = (
    r"gguf|ggml|awq|gptq|exl[23]|mlx|bnb|hqq|aqlm|nf4|fp4|mxfp4|nvfp4|fp8|fp16|bf16|int[2348]|[2-8]-?bit|"
    r"w[48]a(?:8|16)|i?q[2-8](?:-(?:[01ksml]|xx?s|nl))*"
)
_QUANTISED = re.compile(rf"(?:[-.](?:{_MARK})\b)+\Z")
_MONTH = re.compile(r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])\Z")


def _normal(label: str) -> str:
    return re.sub(r"[\s_-]+", "-", label.strip().casefold())


def _tails(label: str) -> Iterator[str]:
    """`a/b/c`, `b/c`, `c`."""
    parts = [part for part in label.split("/") if part]
    return ("/".join(parts[k:]) for k in range(len(parts)))


def _index(known: Mapping[str, ModelCard]) -> dict[str, ModelCard]:
    """Every label in its normal form; the last part of a label counts where it is one card's alone."""
    tails: dict[str, set[str]] = {}
    for card in known.values():
        for label in card.names:
            tails.setdefault(_normal(label).rpartition("/")[2], set()).add(card.name)
    stated = {_normal(label): card for card in known.values() for label in (card.name, *card.names)}
    return {tail: known[min(owners)] for tail, owners in tails.items() if len(owners) == 1} | stated


def _read(file: Path, known: Mapping[str, ModelCard]) -> dict[str, ModelCard]:
    stated = read_mapping(file, "cards", ModelError)
    made = dict(known)
    taken: dict[str, str] = {}
    for name, settings in stated.items():
        where = f"{file}, {name}"
        if not isinstance(settings, dict):
            raise ModelError(f"{where}: a card is a mapping, such as {{family: Llama 3, parameters: 8}}.")
        own = [f.name for f in fields(ModelCard) if f.name != "name"]
        for key in settings:
            if key not in own:
                raise ModelError(f"{where}: a card has no field {key!r}.{suggest(str(key), own)}")
        typed = {key: _typed(f"{where}, {key}", key, value) for key, value in settings.items()}
        had = made.get(name, ModelCard(name=name))
        card = replace(had, **typed | {"names": (*had.names, *typed.get("names", ()))})
        if card.active is not None and card.parameters is not None and card.active > card.parameters:
            raise ModelError(
                f"{where}: {card.active:g} active parameters are more than all {card.parameters:g}."
            )
        made[name] = card
        for label in (name, *typed.get("names", ())):
            other = taken.setdefault(_normal(label), name)
            if other != name:
                raise ModelError(
                    f"{where}: the name {label!r} is that of {other} too. Give it to one of them."
                )
    for name, card in made.items():
        for base in card.base or ():
            if base not in made:
                raise ModelError(f"{file}, {name}, base: no card {base!r}.{suggest(base, list(made))}")
        kept = tuple(label for label in card.names if taken.get(_normal(label), name) == name)
        made[name] = replace(card, names=kept)
    return made


def _typed(where: str, key: str, value: Any) -> Any:
    if key in ("names", "base") and isinstance(value, str):
        value = [value]
    if key == "names" or (key == "base" and value is not None):
        if not isinstance(value, list) or not all(isinstance(one, str) and one.strip() for one in value):
            raise ModelError(f"{where}: a list of names is needed, not {value!r}.")
        return tuple(value)
    if value is None:
        return None
    if key in ("parameters", "active"):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
            raise ModelError(f"{where}: billions of parameters, a number above 0, or null; not {value!r}.")
        return float(value)
    if key in ("open", "medical", "instructed"):
        if not isinstance(value, bool):
            raise ModelError(f"{where}: true, false or null is needed, not {value!r}.")
        return value
    if key in ("release", "cutoff"):
        if not isinstance(value, str) or not _MONTH.match(value):
            raise ModelError(f"{where}: year and month are needed, such as 2024-07, not {value!s}.")
        return value
    if not isinstance(value, str) or not value.strip():
        raise ModelError(f"{where}: text is needed, not {value!r}.")
    return value.strip()
