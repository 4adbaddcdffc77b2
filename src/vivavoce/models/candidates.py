"""Candidates: the spec of a model or system, `provider/name(settings)`, and how it is reached."""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

from vivavoce.core import registry
from vivavoce.core.errors import InputError, ModelError, SpecError, suggest
from vivavoce.core.parts import MARKS, reasoning_marks
from vivavoce.core.records import Role
from vivavoce.core.specs import Spec, parse
from vivavoce.core.text import one_line
from vivavoce.models.endpoints import LONG_KEY, EndpointConfig, Price
from vivavoce.models.gpus import gpus_text, refuse_without_local
from vivavoce.models.providers import Provider
from vivavoce.models.ranges import RANGES
from vivavoce.models.rate_limit import Limits
from vivavoce.models.requests import Model, Sampling

SHARED_SETTINGS: Mapping[str, tuple[type, ...]] = {
    "temperature": (int, float),
    "top_p": (int, float),
    "max_tokens": (int,),
    "seed": (int,),
    "stop": (tuple, str),
    "system": (str,),
    "prompt": (str,),
    "shots": (int,),
    "chat_template": (bool,),
    "confidence": (bool,),
    MARKS: (tuple,),
}
"""Settings of any candidate, with the types each takes: its prompt, and how a response is sampled.

`system` is a text, a .md file, or the name of a shipped prompt; `prompt` is a .md file. With `confidence` a
last line is asked for that states one. `reasoning_marks` are the opening and the closing mark of the
model's thinking, where it is of no family that is known.
"""
_TYPE_WORDS = {int: "a whole number", float: "a number", str: "text", tuple: "a list", bool: "true|false"}
_SAMPLING_SETTINGS = frozenset(f.name for f in fields(Sampling))
_LOGPROB_ENDPOINTS = ("vllm",)
"""Entries of providers.yaml whose models usually return log-probabilities; of the others too few do."""


class CandidateConfig(NamedTuple):
    """A candidate: its canonical spec, role and settings, and the provider it is reached by.

    `endpoint` is the entry of a providers file that configures the provider, if one does. `options` are the
    provider's own settings, those of how it runs included, which are no part of the spec. Of the limits of an
    endpoint that so many `shards` share, each keeps its part. A local model has a process on each of `gpus`.
    """

    spec: Spec
    role: Role
    sampling: Sampling
    settings: Mapping[str, Any]
    provider: type[Provider]
    endpoint: EndpointConfig | None
    model: str
    options: Mapping[str, Any] = {}
    shards: int = 1
    gpus: tuple[int, ...] = ()

    @property
    def branching(self) -> bool:
        """Whether a request may hold several targets."""
        return self.provider.branching

    @property
    def metered(self) -> bool:
        """Whether its requests may be charged for; if not, an estimate of cost is 0."""
        return self.provider.configured != "never"

    @property
    def price(self) -> Price | None:
        """Cost of a million tokens, (input, output): 0 where nothing is sent, null where it is unknown."""
        if self.endpoint and self.model in self.endpoint.prices:
            return self.endpoint.prices[self.model]
        return self.provider.price_of(self.model)

    @property
    def limits(self) -> Limits:
        """The limits on requests to its endpoint, of which each shard keeps its part."""
        limits = self.endpoint.limits if self.endpoint else self.provider.limits
        if self.gpus:  # for each of them as many wait as for one
            limits = limits._replace(concurrency=len(self.gpus) * limits.concurrency)
        return limits.divided(self.shards) if self.shares_limits else limits

    @property
    def shares_limits(self) -> bool:
        """Whether shards have the limits in common: not those of a model that each has in its own process."""
        return self.provider.host != ""

    @property
    def with_label(self) -> "CandidateConfig":
        """The same under the name that people see: that of a model in a folder is without the path to it."""
        if not self.provider.takes_model:
            return self
        prefix = self.spec.name.partition("/")[0]
        return self._replace(spec=Spec(f"{prefix}/{self.provider.label(self.model)}", self.spec.settings))

    def on_gpus(self, gpus: tuple[int, ...]) -> "CandidateConfig":
        """The same with a process on each of these GPUs, if it is a local model.

        Raises `InputError` where its spec names a device of its own.
        """
        if not gpus or not self.provider.takes_gpus:
            return self
        if "device" in self.options:
            raise InputError(
                f"--gpus {gpus_text(gpus)}: {self.spec.name} states device={self.options['device']} itself: "
                "leave one of the two out."
            )
        return self._replace(gpus=gpus)

    def check_price(self) -> None:
        """Raise `InputError` where its price is not known, so that no limit of cost could be kept."""
        if self.price is None:
            raise InputError(
                f"--max-cost: the price of {self.spec} is not known, so the limit could not be kept: put its "
                "price into a --providers file, or leave --max-cost out."
            )

    def check_gpus(self) -> None:
        """Raise `InputError` where one of its GPUs is not there; `connect` would."""
        if self.gpus:
            self.provider.check_gpus(self.gpus)

    @property
    def unconnected(self) -> Provider:
        """Its provider, which says where the text would go; no key is needed."""
        options = {**self.options, "gpus": self.gpus} if self.gpus else self.options
        return self.provider(name=str(self.spec), model=self.model, options=options, config=self.endpoint)

    @property
    def states_host(self) -> bool:
        """Whether it is known before `connect` where the text goes."""
        return self.provider.host is not None or bool(self.endpoint and self.endpoint.base_url)

    def connect(self) -> Model:
        """The model, ready to be asked; inside an event loop."""
        return self.unconnected.connect()


class _Address(NamedTuple):
    """What the name in a spec stands for: a provider, the entry that configures it, and a model."""

    provider: type[Provider]
    endpoint: EndpointConfig | None
    model: str


def parse_candidate(
    text: str, endpoints: Mapping[str, EndpointConfig], **shared_settings: Any
) -> CandidateConfig:
    """The candidate that `text` names; `shared_settings` fill settings that `text` does not state.

    Raises `SpecError` for an unknown provider, system, baseline or setting, or a value of the wrong type.
    """
    spec = parse(text)
    _refuse_key(f"{text} {' '.join(map(str, shared_settings.values()))}", endpoints)
    provider, endpoint, model = _address(spec.name, endpoints)
    for name in provider.required:
        if name not in spec.settings:
            raise SpecError(f"{spec.name} needs {name}=…: write {spec.name}:{name}=…")
    provider.check(model, spec.settings)
    settings = dict(spec.settings)
    if provider.takes_shared_settings:
        shared = {key: value for key, value in shared_settings.items() if value is not None and value != ()}
        settings = shared | settings
    _check_settings(spec.name, settings, provider)
    options = _subset(settings, {*provider.settings, "chat_template"})
    settings = _subset(settings, settings.keys() - set(provider.running))
    name = spec.name
    if provider.takes_model:
        model = provider.normalised(model)
        name = f"{spec.name.partition('/')[0]}/{model}"
    return CandidateConfig(
        Spec(name, settings),
        provider.role_of(model),
        sampling_of(settings),
        _subset(settings, SHARED_SETTINGS.keys() - _SAMPLING_SETTINGS),
        provider,
        endpoint,
        model or name,
        options,
    )


def on_gpus(candidates: Sequence[CandidateConfig], gpus: tuple[int, ...]) -> tuple[CandidateConfig, ...]:
    """These candidates, the local models among them with a process on each GPU.

    Raises `InputError` where none of them is a local model, or one has a device of its own.
    """
    if gpus and not any(candidate.provider.takes_gpus for candidate in candidates):
        refuse_without_local(gpus, [candidate.spec.name for candidate in candidates])
    return tuple(candidate.on_gpus(gpus) for candidate in candidates)


def _subset(settings: Mapping[str, Any], keys: Collection[str]) -> dict[str, Any]:
    return {key: value for key, value in settings.items() if key in keys}


def sampling_of(settings: Mapping[str, Any]) -> Sampling:
    """How to sample by these settings; what they do not state is the endpoint's."""
    values = _subset(settings, _SAMPLING_SETTINGS)
    if isinstance(values.get("stop"), str):
        values["stop"] = (values["stop"],)
    return Sampling(**values)


def is_model_name(name: str) -> bool:
    """Whether a name in a spec has the form of a model's, `provider/model`, or is that of a system."""
    providers: Mapping[str, type[Provider]] = registry.members("provider")
    return "/" in name or (name in providers and not providers[name].takes_model)


def _address(name: str, endpoints: Mapping[str, EndpointConfig]) -> _Address:
    """What `provider/model`, or the name of a system, stands for. Raises a `VivaError` for an unknown one."""
    providers: Mapping[str, type[Provider]] = registry.members("provider")
    if name in providers and not providers[name].takes_model:
        return _Address(providers[name], None, "")
    prefix, _, model = name.partition("/")
    direct = _direct(providers)
    if model and prefix in endpoints and (prefix not in direct or direct[prefix].configured != "never"):
        endpoint = endpoints[prefix]
        return _Address(providers[endpoint.kind], endpoint, model)
    if prefix in direct and (model or prefix == "baseline"):
        return _Address(direct[prefix], None, model)
    raise _unknown_name(name, endpoints, providers)


def _direct(providers: Mapping[str, type[Provider]]) -> dict[str, type[Provider]]:
    """The providers that `NAME/MODEL` names without an entry of a providers file."""
    return {
        name: provider
        for name, provider in providers.items()
        if provider.takes_model and provider.configured != "required"
    }


def _unknown_name(
    name: str, endpoints: Mapping[str, EndpointConfig], providers: Mapping[str, type[Provider]]
) -> SpecError | ModelError:
    """The error for a name without a model, or of an unknown provider, with near names."""
    prefix, _, model = name.partition("/")
    direct = _direct(providers)
    if not model:
        systems = [p for p, provider in providers.items() if not provider.takes_model]
        names = [*(f"{p}/…" for p in (*direct, *endpoints)), *systems]
        return SpecError(
            f"{name!r} names no model: write provider/model, such as openai/gpt-4o.{suggest(prefix, names)}"
        )
    names = [*endpoints, *(p for p, provider in direct.items() if provider.configured != "never")]
    return ModelError(
        f"no provider {prefix!r}.{suggest(prefix, names)} Another is one entry in a --providers file."
    )


def _check_settings(name: str, settings: Mapping[str, Any], provider: type[Provider]) -> None:
    """Raise `SpecError` for a setting that the candidate does not take, or a value it cannot have."""
    takes = {**provider.settings, **SHARED_SETTINGS}
    for key, value in settings.items():
        if key not in takes:
            raise SpecError(f"{name} has no setting {key!r}.{suggest(key, list(takes))}")
        types = takes[key]
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            words = " or ".join(_TYPE_WORDS.get(t, t.__name__) for t in types)
            raise SpecError(f"{name}: {key} takes {words}, not {value!r}.")
        if key in SHARED_SETTINGS and key in RANGES and RANGES[key].parse(value) is None:
            raise SpecError(f"{name}: {key} takes {RANGES[key]}, not {one_line(repr(value), 60)}.")
    try:
        reasoning_marks(settings.get(MARKS), f"{name}: {MARKS}")
    except InputError as error:
        raise SpecError(str(error)) from None


def _refuse_key(text: str, endpoints: Mapping[str, EndpointConfig]) -> None:
    """Raise `SpecError`, without repeating it, if what names a candidate holds a key that is set."""
    for variable in {e.key for e in endpoints.values() if e.key}:
        key = os.environ.get(variable, "").strip()
        if len(key) >= LONG_KEY and key in text:
            raise SpecError(
                f"the key in {variable} stands in a model's name or settings, which are stored: take it out; "
                "it is read from there only."
            )


def local_name(name: str) -> bool:
    """Whether a name in a spec is that of a local model, which runs on GPUs of this machine."""
    prefix, _, model = name.partition("/")
    provider: type[Provider] | None = registry.member("provider", prefix)
    return bool(model) and provider is not None and provider.takes_gpus


def shown_name(name: str) -> str:
    """The name `provider/model` as a candidate's label shows it."""
    prefix, slash, model = name.partition("/")
    provider: type[Provider] | None = _direct(registry.members("provider")).get(prefix)
    return f"{prefix}/{provider.label(model)}" if slash and provider else name


def may_return_logprobs(candidate: str) -> bool:
    """Whether a candidate of this name may return log-probabilities, as far as its provider tells."""
    prefix, slash, _ = candidate.partition("/")
    provider: type[Provider] | None = registry.member("provider", prefix)
    if not slash or provider is None:
        return bool(slash) and prefix in _LOGPROB_ENDPOINTS
    return provider.configured != "required" and provider.returns_logprobs
