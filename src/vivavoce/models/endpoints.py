"""Endpoints: where models are reached, under which limits, at which price, with which key.

They come from `providers.yaml` and a file of the user's own. Keys come from the environment only, and are
struck out of everything that is stored.
"""

import os
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints
from urllib.parse import unquote_plus

from vivavoce.core import registry
from vivavoce.core.errors import ModelError, suggest
from vivavoce.core.text import one_line
from vivavoce.core.yaml_files import read_mapping
from vivavoce.models.ranges import RANGES
from vivavoce.models.rate_limit import Limits
from vivavoce.models.requests import FatalError

Price = tuple[float, float]
"""What a million tokens cost, input and output."""

DEFAULT_KIND = "openai"
"""The provider of an entry that names none."""
LONG_KEY = 16
"""Characters from which a key is struck out of answers too; a dummy such as EMPTY is a word."""
SHORTEST_KEY = 8
"""Characters from which the value of a variable counts as a key; a dummy such as EMPTY is a word."""
_LOOKS_LIKE_KEY = re.compile(
    r"\b(?:sk|pk|rk|key|hf|gh[opsu]|xox[bp])[-_][\w*-]{6,}|Bearer\s+\S+", re.IGNORECASE
)
# For responses, where HF-related and key-finding are words of medicine and not keys.
_SURELY_KEY = re.compile(
    r"(?<![\w/.-])(?:(?:sk[-_]|[pr]k_(?:live|test)_|gsk_|gh[opsu]_|hf_|xox[bp]-)(?=[\w-]*\d)|AKIA|AIza)[\w-]{16,}"
    r"|Bearer\s+(?=\S*\d)[\w.~+/=-]{16,}"
)
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FRAMING = frozenset({
    "host", "content-length", "content-type", "content-encoding", "transfer-encoding", "connection",
    "keep-alive", "te", "trailer", "upgrade", "expect", "accept-encoding", "proxy-connection",
    "proxy-authenticate", "proxy-authorization", "cookie", "range", "via", "date",
})  # fmt: skip
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SECRET_PARAMETER = re.compile(r"key|token|secret|sig|passw|pwd|credential", re.IGNORECASE)
_key_variables: set[str] = set()


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointConfig:
    """An entry of a providers file; its fields are those of the file and explained there."""

    name: str
    kind: str = DEFAULT_KIND
    base_url: str | None = None
    key: str | None = None
    key_header: str | None = None
    concurrency: int = 64
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    timeout: float = 300.0
    attempts: int = 6
    prices: Mapping[str, Price] = field(default_factory=dict)
    accept: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def variable(self) -> str:
        """The environment variable that overrides the base URL."""
        return f"{self.name.upper().replace('-', '_')}_BASE_URL"

    @property
    def limits(self) -> Limits:
        """The limits on requests to this endpoint."""
        return Limits(self.concurrency, self.requests_per_minute, self.tokens_per_minute, self.attempts)

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


def load_endpoints(file: Path | None = None) -> dict[str, EndpointConfig]:
    """The endpoints that ship, with those of `file` added or changed, and base URLs of the environment.

    Raises `ModelError` naming file, provider and setting where something cannot be used.
    """
    endpoints = _load_entries(Path(__file__).with_name("providers.yaml"), {})
    if file is not None:
        endpoints = _load_entries(file, endpoints)
    for name, endpoint in endpoints.items():
        base_url = os.environ.get(endpoint.variable)
        if base_url:
            endpoints[name] = replace(endpoint, base_url=base_url.strip().rstrip("/"))
    return endpoints


def _load_entries(file: Path, inherited: Mapping[str, EndpointConfig]) -> dict[str, EndpointConfig]:
    """The entries of `file` over the inherited ones, setting by setting."""
    endpoints = dict(inherited)
    names = [f.name for f in fields(EndpointConfig) if f.name != "name"]
    for name, settings in read_mapping(file, "providers", ModelError).items():
        place = f"{file}, {name}"
        if not isinstance(settings, dict):
            raise ModelError(f"{place}: settings are a mapping, such as {{base_url: …}}.")
        for key in settings:
            if key not in names:
                raise ModelError(f"{place}: no setting {key!r}.{suggest(str(key), names)}")
        typed = {key: _typed(place, key, value) for key, value in settings.items()}
        base = endpoints.get(name) or _default_endpoint(name, typed.get("kind"))
        endpoints[name] = replace(base, **typed)
    return endpoints


def _protocols() -> dict[str, Any]:
    """The registered providers that an entry may name as its `kind`."""
    protocols: dict[str, Any] = dict(registry.members("provider"))
    return {name: cls for name, cls in protocols.items() if cls.configured != "never"}


def _default_endpoint(name: str, kind: str | None) -> EndpointConfig:
    """An entry before its settings: the limits of its provider; without `kind` that of its own name."""
    protocols = _protocols()
    kind = kind or (name if name in protocols else DEFAULT_KIND)
    limits: Limits = protocols[kind].limits
    return EndpointConfig(name=name, kind=kind, **limits._asdict())


def _typed(place: str, key: str, value: Any) -> Any:
    """The value of a setting, checked. Raises `ModelError` naming `place` it stands."""
    if key in _READERS:
        return _READERS[key](place, key, value)
    if value is None:
        if "None" not in str(get_type_hints(EndpointConfig)[key]):
            raise _wrong(place, key, value)
        return None
    number = RANGES[key].parse(value)
    if number is None:
        raise ModelError(f"{place}, {key}: {RANGES[key]} is needed, not {_quoted(value)}.")
    return number


def _quoted(value: Any) -> str:
    """A value in a sentence, cut where it is long."""
    return one_line(repr(value), 60)


def _wrong(place: str, key: str, value: Any) -> ModelError:
    return ModelError(
        f"{place}, {key}: {_quoted(value)} is not what this setting takes; see `viva list providers`."
    )


def _kind(place: str, key: str, value: Any) -> str:
    protocols = list(_protocols())
    if value not in protocols:
        raise ModelError(f"{place}, kind: {value!r}.{suggest(str(value), protocols)}")
    return str(value)


def _prices(place: str, key: str, value: Any) -> dict[str, Price]:
    if not isinstance(value, dict):
        raise _wrong(place, key, value)
    return {str(model): _price(f"{place}, prices, {model}", pair) for model, pair in value.items()}


def _price(place: str, pair: Any) -> Price:
    if not is_price(pair):
        raise ModelError(
            f"{place}: a price is two numbers, [per million input tokens, per million output tokens], each "
            f"{RANGES['price']}, not {_quoted(pair)}."
        )
    return float(pair[0]), float(pair[1])


def is_price(pair: Any) -> bool:
    """True for two finite numbers, none below 0."""
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        return False
    return all(RANGES["price"].parse(n) is not None for n in pair)


def _accept(place: str, key: str, value: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise _wrong(place, key, value)
    accepted = {str(model): names if isinstance(names, list) else [names] for model, names in value.items()}
    for names in accepted.values():
        if not all(isinstance(name, str) for name in names):
            raise ModelError(f"{place}, accept: names are texts, not {_quoted(names)}.")
    return {model: tuple(names) for model, names in accepted.items()}


def _key(place: str, key: str, value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not is_variable(value.strip()):
        raise ModelError(f"{place}: key takes the NAME of an environment variable that holds the key.")
    _key_variables.add(value.strip())
    return value.strip()


def _base_url(place: str, key: str, value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        raise _wrong(place, key, value)
    url = value.strip()
    # Without what follows "?" and "#", which may hold a key.
    bare = _quoted(re.split(r"[?#]", url)[0])
    if "@" not in bare and not url.startswith(("http://", "https://")):
        raise ModelError(f"{place}, base_url: {bare} must begin with http:// or https://.")
    if not url.isprintable() or any(sign.isspace() for sign in url):
        raise ModelError(f"{place}, base_url: it holds a blank or a control character; take it out.")
    return url.rstrip("/")


def _key_header(place: str, key: str, value: Any) -> str | None:
    """The name of a header, a token of RFC 9110, 5.6.2, and none of those that frame a request."""
    if value is None:
        return None
    if not isinstance(value, str) or not _TOKEN.fullmatch(value):
        raise ModelError(
            f"{place}, key_header: {_quoted(value)} is no name of a header; it takes letters, digits and "
            "hyphens, such as api-key."
        )
    if value.lower() in _FRAMING:
        raise ModelError(f"{place}, key_header: {value} is a header of the connection, and carries no key.")
    return value


_READERS = {
    "kind": _kind,
    "prices": _prices,
    "accept": _accept,
    "key": _key,
    "base_url": _base_url,
    "key_header": _key_header,
}
"""Checks of settings that are not numbers."""


def is_variable(name: str) -> bool:
    """True if `name` can be an environment variable's, and does not look like a key itself."""
    return bool(_VARIABLE.fullmatch(name)) and not _SURELY_KEY.search(name)


def key_values() -> tuple[str, ...]:
    """The keys that are set now, in variables that an endpoint we know of names; longest first."""
    if not _key_variables:
        load_endpoints()
    values = {os.environ.get(name, "").strip() for name in _key_variables}
    # longest first, because one key may begin with another
    return tuple(sorted((v for v in values if len(v) >= SHORTEST_KEY), key=len, reverse=True))


def without_key(text: str, key: str) -> str:
    """`text` with `[key]` in place of a key, and of the key backwards, in base64 and in hexadecimal."""
    for form in _forms_of(key):
        text = text.replace(form, "[key]")
    return text


@cache
def _forms_of(key: str) -> tuple[str, ...]:
    """A key as an endpoint may send it back, the longest forms first; a short one only as it is."""
    if len(key) < LONG_KEY:
        return (key,)
    data = key.encode("utf-8", "surrogateescape")
    encoded = {data.hex(), data.hex().upper()}
    for offset in range(3):  # base64 takes three bytes at a time: what precedes a key shifts it
        start, end = -(-8 * offset // 6), (8 * (offset + len(data))) // 6
        for encode in (b64encode, urlsafe_b64encode):
            encoded.add(encode(bytes(offset) + data).decode()[start:end])
    return (*sorted(encoded, key=len, reverse=True), key, key[::-1])


def scrubbed(text: str, *, response: bool = False) -> str:
    """`text` with `[key]` in place of each key that is set, and of what looks like one.

    A response is a measurement, so there only what is surely a key is struck out.
    """
    for value in key_values():
        text = without_key(text, value)
    return (_SURELY_KEY if response else _LOOKS_LIKE_KEY).sub("[key]", text)


def refuse_key_in_url(url: str) -> None:
    """Raise `FatalError`, without repeating it, if a URL that names a candidate holds a key or a password."""
    parameters = [unquote_plus(p.partition("=")[0]) for p in re.split(r"[?#&;]", url)[1:]]
    if "@" in url.partition("?")[0] or any(map(_SECRET_PARAMETER.search, parameters)):
        raise FatalError(
            "the url of http(url=…) holds a user, password or key, and a candidate's name is stored: take it "
            "out, and write an entry in a --providers file, whose key comes from the environment."
        )
