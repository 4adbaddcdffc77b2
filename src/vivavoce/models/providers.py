"""Providers: where models are reached, under which limits, at which price; from a small YAML file."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

from vivavoce.errors import ModelError, suggest
from vivavoce.models.keys import is_variable, name_variable
from vivavoce.models.yamls import read_mapping

__all__ = ["Provider", "providers"]

ProviderKind = Literal["openai", "completions", "anthropic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """How one provider is reached; the fields are those of the file and explained there."""

    name: str
    kind: ProviderKind = "openai"
    base_url: str | None = None
    key: str | None = None
    key_header: str | None = None
    concurrency: int = 64
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    timeout: float = 300.0
    attempts: int = 6
    prices: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    accept: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def variable(self) -> str:
        """The environment variable that overrides the base URL."""
        return f"{self.name.upper().replace('-', '_')}_BASE_URL"

    def secret(self) -> str | None:
        """The key, from the environment; null where none is needed; `ModelError` where it is not set."""
        if self.key is None:
            return None
        value = os.environ.get(self.key, "").strip()
        if value and (not value.isascii() or not value.isprintable() or " " in value):
            raise ModelError(
                f"{self.name}: the environment variable {self.key} holds blanks or characters that no key "
                "has; set it again."
            )
        if value:
            return value
        raise ModelError(
            f"{self.name} needs a key: set the environment variable {self.key}. Keys are read from there "
            "only."
        )


def providers(file: Path | None = None) -> dict[str, Provider]:
    """The providers we know, with those of `file` added or changed, and base URLs of the environment.

    Raises `ModelError` naming file, provider and setting where something cannot be used.
    """
    known = _read(Path(__file__).with_name("providers.yaml"), {})
    if file is not None:
        known = _read(file, known)
    return {
        name: replace(p, base_url=os.environ[p.variable].strip().rstrip("/"))
        if os.environ.get(p.variable)
        else p
        for name, p in known.items()
    }


def _read(file: Path, known: Mapping[str, Provider]) -> dict[str, Provider]:
    stated = read_mapping(file, "providers", ModelError)
    made = dict(known)
    for name, settings in stated.items():
        where = f"{file}, {name}"
        if not isinstance(settings, dict):
            raise ModelError(f"{where}: settings are a mapping, such as {{base_url: …}}.")
        names = [f.name for f in fields(Provider) if f.name != "name"]
        for key in settings:
            if key not in names:
                raise ModelError(f"{where}: no setting {key!r}.{suggest(str(key), names)}")
        typed = {key: _typed(where, key, value) for key, value in settings.items()}
        made[str(name)] = replace(made.get(str(name), Provider(name=str(name))), **typed)
    return made


def _typed(where: str, key: str, value: Any) -> Any:
    wrong = ModelError(
        f"{where}, {key}: {value!r} is not what this setting takes; see `viva show providers`."
    )
    if key == "kind":
        if value not in get_args(ProviderKind):
            raise ModelError(f"{where}, kind: {value!r}.{suggest(str(value), get_args(ProviderKind))}")
        return value
    if key == "prices":
        if not isinstance(value, dict):
            raise wrong
        return {str(model): _price(f"{where}, prices, {model}", pair) for model, pair in value.items()}
    if key == "accept":
        if not isinstance(value, dict):
            raise wrong
        return {str(model): tuple(names) if isinstance(names, list) else (str(names),)
                for model, names in value.items()}  # fmt: skip
    if value is None:
        if "None" not in str(get_type_hints(Provider)[key]):
            raise wrong
        return None
    if key == "key":
        if not isinstance(value, str) or not is_variable(value.strip()):
            raise ModelError(f"{where}: key takes the NAME of an environment variable that holds the key.")
        name_variable(value.strip())
        return value.strip()
    if key in ("base_url", "key_header"):
        if not isinstance(value, str) or not value.strip():
            raise wrong
        if key == "base_url" and not value.startswith(("http://", "https://")):
            raise ModelError(f"{where}, base_url: {value!r} must begin with http:// or https://.")
        return value.strip().rstrip("/") if key == "base_url" else value.strip()
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise ModelError(f"{where}, {key}: a number above 0 is needed, not {value!r}.")
    return float(value) if key == "timeout" else int(value)


def _price(where: str, pair: Any) -> tuple[float, float]:
    numbers = (
        isinstance(pair, list)
        and len(pair) == 2
        and all(isinstance(n, int | float) and not isinstance(n, bool) and n >= 0 for n in pair)
    )
    if not numbers:
        raise ModelError(
            f"{where}: a price is two numbers, [per million input tokens, per million output tokens], "
            f"not {pair!r}."
        )
    return float(pair[0]), float(pair[1])
