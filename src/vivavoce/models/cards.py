"""Model cards: what is publicly known of a model, from a small YAML file; null means unknown."""

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from vivavoce.core.errors import ModelError, suggest
from vivavoce.core.records import ModelCard
from vivavoce.core.yaml_files import read_mapping


def cards(file: Path | None = None) -> dict[str, ModelCard]:
    """The cards we have by name, with those of `file` added or changed.

    A card of `file` that we have too changes only the fields it states; its `names` come to ours, and are
    taken from the card that had them. Raises `ModelError` naming file, card and field where something cannot
    be used.
    """
    return dict(_shipped()) if file is None else _load_cards(file, _shipped())


@cache
def _shipped() -> dict[str, ModelCard]:
    return _load_cards(Path(__file__).with_name("models.yaml"), {})


def card_of(candidate: str, all_cards: Mapping[str, ModelCard] | None = None) -> ModelCard | None:
    """The card of the model with this label, or null: nothing is guessed.

    A label fits a card if it is the card's name or one of its `names`; case does not count, and blanks and
    underscores are hyphens. Settings in brackets at the end (`gpt-4o(temperature=0)`) are left out. Parts
    before a slash are removed from the left until something fits: `hf/google/gemma-3-27b-it` is
    `gemma-3-27b-it`. Last, suffixes of quantisation are removed (`-GGUF`, `-AWQ`, `-FP8`, `-4bit`,
    `-Q4_K_M`): a quantised model has the card of the original. Prefixes never fit: `llama3` is not
    `llama3.1:70b`.
    """
    index = _index(tuple((_shipped() if all_cards is None else all_cards).values()))
    label = normal_label(candidate)
    bare = _SETTINGS.sub("", label)
    parts = [part for part in bare.split("/") if part]
    forms = [label, *([] if "(" in bare else ("/".join(parts[k:]) for k in range(len(parts))))]
    plain = [without_quantisation(form) for form in forms]
    return next((index[form] for form in (*forms, *plain) if form in index), None)


_SETTINGS = re.compile(r"(?<=[^\s(-])\(.*\)\Z", re.DOTALL)
_MARK = (
    r"gguf|ggml|awq|gptq|exl[23]|mlx|bnb|hqq|aqlm|nf4|fp4|mxfp4|nvfp4|fp8|fp16|bf16|f16|f32|int[2348]|[2-8]-?bit|"
    r"w[48]a(?:8|16)|ud|i?q[2-8](?:-(?:[01ksml]|xx?s|xl|nl))*"
)
_QUANTISED = re.compile(rf"(?:[-.](?:{_MARK})\b)+\Z")
_MONTH = re.compile(r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])\Z")


def without_quantisation(label: str) -> str:
    """A label in its normal form without the suffixes that say how a model is quantised."""
    return _QUANTISED.sub("", label)


def normal_label(label: str) -> str:
    """A label in small letters, with hyphens for blanks and underscores."""
    return re.sub(r"[\s_-]+", "-", label.strip().casefold())


@lru_cache(maxsize=4)
def _index(cards: tuple[ModelCard, ...]) -> dict[str, ModelCard]:
    """Every label in its normal form; the last part of a label counts where it is one card's alone."""
    owners: dict[str, set[ModelCard]] = {}
    for card in cards:
        for label in card.names:
            owners.setdefault(normal_label(label).rpartition("/")[2], set()).add(card)
    by_label = {normal_label(label): card for card in cards for label in (card.name, *card.names)}
    return {tail: card for tail, (card, *more) in owners.items() if not more} | by_label


def _load_cards(file: Path, inherited: Mapping[str, ModelCard]) -> dict[str, ModelCard]:
    """The cards of `file` over the inherited ones, field by field."""
    cards, owners = dict(inherited), dict[str, str]()
    for name, settings in read_mapping(file, "cards", ModelError).items():
        place = f"{file}, {name}"
        typed = _fields(place, settings)
        cards[name] = _merged(place, cards.get(name, ModelCard(name=name)), typed)
        for label in (name, *typed.get("names", ())):
            owner = owners.setdefault(normal_label(label), name)
            if owner != name:
                raise ModelError(
                    f"{place}: the name {label!r} is that of {owner} too. Give it to one of them."
                )
    for name, card in cards.items():
        for base in card.base or ():
            if base not in cards:
                raise ModelError(f"{file}, {name}, base: no card {base!r}.{suggest(base, list(cards))}")
        # A label that the file gives to another card is taken from the card that had it.
        own_names = tuple(label for label in card.names if owners.get(normal_label(label), name) == name)
        cards[name] = replace(card, names=own_names)
    return cards


def _fields(place: str, settings: Any) -> dict[str, Any]:
    """The stated fields of a card, checked. Raises `ModelError`."""
    if not isinstance(settings, dict):
        raise ModelError(f"{place}: a card is a mapping, such as {{family: Llama 3, parameters: 8}}.")
    names = [f.name for f in fields(ModelCard) if f.name != "name"]
    for key in settings:
        if key not in names:
            raise ModelError(f"{place}: a card has no field {key!r}.{suggest(str(key), names)}")
    return {key: _typed(f"{place}, {key}", key, value) for key, value in settings.items()}


def _merged(place: str, base: ModelCard, typed: Mapping[str, Any]) -> ModelCard:
    """The card with these fields changed, and their names added."""
    card = replace(base, **{**typed, "names": (*base.names, *typed.get("names", ()))})
    if card.active is not None and card.parameters is not None and card.active > card.parameters:
        raise ModelError(f"{place}: {card.active:g} active parameters are more than all {card.parameters:g}.")
    return card


def _typed(place: str, key: str, value: Any) -> Any:
    """The value of a field, checked. Raises `ModelError` naming `place` it stands."""
    if key == "names" or (key == "base" and value is not None):
        return _labels(place, value)
    if value is None:
        return None
    if key in ("parameters", "active"):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
            raise ModelError(f"{place}: billions of parameters, a number above 0, or null; not {value!r}.")
        return float(value)
    if key in ("open", "medical", "instructed"):
        if not isinstance(value, bool):
            raise ModelError(f"{place}: true, false or null is needed, not {value!r}.")
        return value
    return _month_or_text(place, key, value)


def _labels(place: str, value: Any) -> tuple[str, ...]:
    labels = [value] if isinstance(value, str) else value
    if not isinstance(labels, list) or not all(isinstance(label, str) and label.strip() for label in labels):
        raise ModelError(f"{place}: a list of names is needed, not {labels!r}.")
    return tuple(labels)


def _month_or_text(place: str, key: str, value: Any) -> str:
    if key in ("release", "cutoff"):
        if not isinstance(value, str) or not _MONTH.match(value):
            raise ModelError(f"{place}: year and month are needed, such as 2024-07, not {value!s}.")
        return value
    if not isinstance(value, str) or not value.strip():
        raise ModelError(f"{place}: text is needed, not {value!r}.")
    return value.strip()
