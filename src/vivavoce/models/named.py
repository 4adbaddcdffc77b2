"""A candidate's spec to a model: `provider/name(settings)`, a system, or a baseline."""

import os
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.errors import ModelError, SpecError, suggest
from vivavoce.models import Model, Sampling
from vivavoce.models.gate import Limits
from vivavoce.models.keys import keyless
from vivavoce.models.providers import Provider
from vivavoce.models.wire import LONG_KEY
from vivavoce.records import Role
from vivavoce.specs import Spec, parse

__all__ = ["ASKED", "Named", "named"]

ASKED = {
    "temperature": (int, float),
    "top_p": (int, float),
    "max_tokens": (int,),
    "seed": (int,),
    "stop": (tuple, str),
    "system": (str,),
    "prompt": (str,),
    "shots": (int,),
    "chat_template": (bool,),
}
"""Settings of any candidate, and what each takes: how it is asked, and how its answer is drawn.

`system` is a text, a .md file, or a shipped prompt such as system_hivmedqa; `prompt` is a .md file.
"""
_RANGES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "temperature": (lambda n: n >= 0, "0 or more"),
    "top_p": (lambda n: 0 < n <= 1, "more than 0 and at most 1"),
    "max_tokens": (lambda n: n >= 1, "1 or more"),
    "shots": (lambda n: n >= 0, "0 or more"),
}
_OWN = {"callable": ("path",), "http": ("url",), "replay": ("path",)}
HERE = "hf"
"""What a model in this process is named by, before its hub id or folder."""
TELLING = (f"{HERE}/", "vllm/")
"""How the names of candidates begin that may tell probabilities."""
RUNNING = ("batch", "device", "way")
"""Settings that say how a model runs here and change its answers by rounding alone: no part of its name."""
AT_ONCE = 256
"""Requests that wait for a model in this process: what runs together is chosen from them by length."""


class Named(NamedTuple):
    """A candidate: its canonical spec, the part it plays, its settings, and where it is reached.

    `running` says how a model of this process runs, which is no part of its name.
    """

    spec: Spec
    role: Role
    sampling: Sampling
    settings: Mapping[str, Any]
    provider: Provider | None
    model: str
    running: Mapping[str, Any] = {}

    @property
    def local(self) -> bool:
        """Whether the model runs in this process: it then takes branches, and one is asked at a time."""
        return self.spec.name.startswith(f"{HERE}/")

    @property
    def price(self) -> tuple[float, float] | None:
        """What a million tokens cost, in and out: nothing where nobody is asked, null where it is unknown."""
        if self.provider is None:
            return (0.0, 0.0) if self.local or self.spec.name.startswith(("baseline/", "replay")) else None
        return self.provider.prices.get(self.model)

    @property
    def limits(self) -> Limits:
        """What its endpoint may be asked."""
        p = self.provider
        if self.local:
            return Limits(concurrency=AT_ONCE, attempts=1)
        if p is None:
            return Limits(concurrency=32)
        return Limits(p.concurrency, p.requests_per_minute, p.tokens_per_minute, p.attempts)

    def connect(self) -> Model:
        """The model, ready to be asked; inside an event loop."""
        name, settings = str(self.spec), self.spec.settings
        if self.provider:
            from vivavoce.models.api import connect

            return connect(name, self.model, self.provider)
        if self.local:
            from vivavoce.models import local

            return local.connect(name, self.model, {**settings, **self.running})
        if self.spec.name.startswith("baseline/"):
            from vivavoce.models.baseline import Baseline

            return Baseline(name, self.model)
        from vivavoce.models import system

        if self.spec.name == "callable":
            return system.Function(name, str(settings["path"]))
        if self.spec.name == "http":
            return system.HTTP(name, str(settings["url"]))
        return system.Replay(name, Path(str(settings["path"])))


def named(text: str, known: Mapping[str, Provider], **asked: Any) -> Named:
    """The candidate that `text` names; `asked` are settings for it that `text` does not state itself.

    Raises `SpecError` for an unknown provider, system, baseline or setting, or a value of the wrong type.
    """
    from vivavoce.models.baseline import BASELINES
    from vivavoce.models.local.loading import SETTINGS

    stated = parse(text)
    _refuse_key(f"{text} {' '.join(map(str, asked.values()))}", known)
    kind, slash, model = stated.name.partition("/")
    own = _OWN.get(stated.name, ())
    takes: dict[str, tuple[type, ...]] = {**ASKED, **(SETTINGS if kind == HERE else {})}
    others = [*(f"{name}/…" for name in (HERE, *known)), "baseline/…", *_OWN]
    if not own and kind != "baseline" and (kind not in (HERE, *known) or not model):
        if not slash or not model:
            raise SpecError(
                f"{stated.name!r} names no model: write provider/model, such as openai/gpt-4o."
                f"{suggest(kind, others)}"
            )
        raise ModelError(
            f"no provider {kind!r}.{suggest(kind, list(known))} Another is one entry in a --providers file."
        )
    if kind == "baseline" and model not in BASELINES:
        raise SpecError(f"no baseline {model!r}.{suggest(model, list(BASELINES))}")
    for name in own:
        if name not in stated.settings:
            raise SpecError(f"{stated.name} needs {name}=…: write {stated.name}({name}=…).")
    if stated.name == "http":
        keyless(str(stated.settings["url"]))
    given = {key: value for key, value in asked.items() if value is not None and value != ()}
    settings = {**({} if kind == "baseline" else given), **stated.settings}
    for key, value in settings.items():
        if key in own:
            continue
        if key not in takes:
            raise SpecError(f"{stated.name} has no setting {key!r}.{suggest(key, [*own, *takes])}")
        if not isinstance(value, takes[key]) or (isinstance(value, bool) and bool not in takes[key]):
            words = {
                int: "a whole number",
                float: "a number",
                str: "text",
                tuple: "a list",
                bool: "true|false",
            }
            raise SpecError(
                f"{stated.name}: {key} takes {' or '.join(words[t] for t in takes[key])}, not {value!r}."
            )
        if key in _RANGES and not _RANGES[key][0](value):
            raise SpecError(f"{stated.name}: {key} takes {_RANGES[key][1]}, not {value!r}.")
    stop = settings.get("stop", ())
    sampled = {f.name for f in fields(Sampling)}
    drawn = {k: v for k, v in settings.items() if k in sampled} | {
        "stop": (stop,) if isinstance(stop, str) else stop
    }
    name, running = stated.name, {}
    if kind == HERE:  # one folder, however it is written
        model = os.path.normpath(model)
        name, running = f"{HERE}/{model}", {k: settings.pop(k) for k in RUNNING if k in settings}
    return Named(
        Spec(name, settings),
        BASELINES[model] if kind == "baseline" else "candidate",  # type: ignore[arg-type]
        Sampling(**drawn),
        {k: v for k, v in settings.items() if k in ASKED and k not in sampled},
        None if own or kind in ("baseline", HERE) else known[kind],
        model or stated.name,
        running,
    )


def _refuse_key(text: str, known: Mapping[str, Provider]) -> None:
    """Raise `SpecError`, without repeating it, if what names a candidate holds a key that is set."""
    for variable in {p.key for p in known.values() if p.key}:
        key = os.environ.get(variable, "").strip()
        if len(key) >= LONG_KEY and key in text:
            raise SpecError(
                f"the key in {variable} stands in a model's name or settings, which are stored: take it out; "
                "it is read from there only."
            )
