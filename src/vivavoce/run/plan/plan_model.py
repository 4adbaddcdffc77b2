"""What the keys of a plan file take, as pydantic models: they check a file, and give editors its JSON schema.

The keys of a verb are the parameters of the method of `Run`, and so are the types of their values, as far as
YAML has them: a path is text.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from vivavoce.core.display import short
from vivavoce.core.errors import InputError, suggest
from vivavoce.run.run import Run

Text = Annotated[str, Field(pattern=r"\S")]
_WORDS: Mapping[Any, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a mapping",
}
BOUNDS = ("max_cost", "timeout_total")
PRIVACY = ("providers", "offline", "allow", "allow_phi")
_EXPONENT = re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+")


class PlanPart(BaseModel):
    """A mapping of a plan: every key known, and every value of its type as it stands."""

    model_config = ConfigDict(extra="forbid", strict=True)


def _parameters(method: Callable[..., Any], *, without: Sequence[str] = ()) -> dict[str, Any]:
    """The parameters of a method of `Run` as fields, each of which may be left out."""
    hints = get_type_hints(method)
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(method).parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            fields[name] = (list[Text] | None, None)
        elif name not in ("self", *without):
            fields[name] = (Union[*dict.fromkeys(_yaml_types(hints[name])), None], None)
    return fields


def _yaml_types(hint: Any) -> Iterator[Any]:
    """The types that YAML has for a hint."""
    if get_origin(hint) is Sequence:
        yield list[Text]
    elif hint is Path:
        yield str
    elif hint in _WORDS or get_origin(hint) is Literal:
        yield hint
    elif hint is not NoneType:
        for choice in get_args(hint):
            yield from _yaml_types(choice)


_COLLECT = _parameters(
    Run.collect,
    without=("progress", "logprobs", "for_", "dry_run", "benchmark", "models", "shard", "limits", "gpus"),
)
SETTINGS = tuple(name for name in _COLLECT if name not in (*PRIVACY, *BOUNDS))
Settings = create_model("Settings", __base__=PlanPart, **{name: _COLLECT[name] for name in SETTINGS})
Comparison = create_model("Comparison", __base__=PlanPart, **_parameters(Run.compare, without=("primary",)))
Report = create_model(
    "Report", __base__=PlanPart, **_parameters(Run.report_rows, without=("redact", "primary"))
)


class Overall(PlanPart):
    """The groups that the overall is a mean of, their metrics and their weights."""

    by: Literal["format", "category"] | None = Field(None, description="What the groups are made of.")
    groups: dict[str, list[Text]] | None = Field(
        None, description="Formats or categories by the name of their group; by default each is its own."
    )
    metrics: dict[str, Text] | None = Field(None, description="The metric that scores each format.")
    metric: Text | None = Field(None, description="A metric for every format that it scores.")
    weights: Literal["macro", "micro"] | dict[str, int | float] | None = Field(
        None, description="macro: each group counts the same; micro: each question; or a number by group."
    )


class PlanKeys(PlanPart):
    """A whole evaluation: `viva run FILE`."""

    run: str = Field(description="The run file, such as exam.viva.")
    plugins: list[Text] | None = Field(None, description="Python files with metrics, benchmarks, formats …")
    benchmarks: list[Text] | None = Field(None, description="Specs of benchmarks.")
    models: list[Text] | None = Field(None, description="Models and systems to evaluate.")
    settings: Settings | None = Field(None, description="Settings for every model.")  # type: ignore[valid-type]
    metrics: list[Text] | None = Field(None, description="Specs of metrics.")
    primary: Text | None = Field(
        None, description="The criterion that decides: a metric, metric:criterion, or overall."
    )
    overall: Overall | None = Field(None, description="Groups, metrics and weights of the overall.")
    compare: list[Comparison] | None = Field(None, description="Comparisons.")  # type: ignore[valid-type]
    studies: list[Text] | Literal["all"] | None = Field(None, description="Studies, or all that apply.")
    report: Report | bool | None = Field(None, description="Where the report goes.")  # type: ignore[valid-type]


_PLAN = create_model("Plan", __base__=PlanKeys, **{name: _COLLECT[name] for name in (*PRIVACY, *BOUNDS)})


def plan_schema() -> dict[str, Any]:
    """The JSON schema of a plan file, for editors."""
    schema = _PLAN.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def checked_plan(where: str, entries: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a plan file as they stand, without what is null.

    Raises `InputError` that names the file, the key and what it takes.
    """
    values: dict[str, Any] = _without_nulls(entries)
    try:
        _PLAN.model_validate(values)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        # Of a key that may be of several types, the fault farthest inside is of the type that was meant.
        first = [fault for fault in faults if fault["loc"][:1] == faults[0]["loc"][:1]]
        raise InputError(_sentence(where, values, max(first, key=lambda fault: len(fault["loc"])))) from None
    return values


def _without_nulls(entries: Any) -> Any:
    """Mappings without the keys that are null, inside others too: such a key is not stated."""
    if isinstance(entries, Mapping):
        return {key: _without_nulls(value) for key, value in entries.items() if value is not None}
    return [_without_nulls(entry) for entry in entries] if isinstance(entries, list) else entries


def _place(fault: Any) -> Sequence[Any]:
    """The keys and positions that lead to a fault; of a key that is no text, to its mapping."""
    place: Sequence[Any] = fault["loc"]
    return place[:-2] if place[-1] == "[key]" else place


def _sentence(place: str, values: Any, fault: Any) -> str:
    """What is wrong with a plan, and where: pydantic's account of it in our words."""
    hint: Any = _PLAN
    for part in _place(fault):
        keys = _keys_of(hint)
        if isinstance(part, int):
            place, hint, values = f"{place} {part + 1}", _entry_of(hint), values[part]
        elif fault["type"] == "missing" and part in keys:
            return f"{place}: the key {part} is missing; it names the run file, such as run: exam.viva."
        elif isinstance(values, Mapping) and part in values:
            if keys and part not in keys:
                return f"{place}: no key {part!r}.{suggest(str(part), list(keys))}"
            place, hint, values = f"{place}, {part}", keys.get(part, _entry_of(hint)), values[part]
    if fault["loc"][-1] == "[key]":
        return f"{place}: a name is text, not {short(fault['input'])}.{_advice(fault['input'])}"
    return f"{place}: {_needed(hint)} is needed, not {short(values)}.{_advice(values)}"


def _choices(hint: Any) -> list[Any]:
    """The types that a hint allows, without null, and without what is said of them."""
    if get_origin(hint) is Annotated:
        return _choices(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return [choice for arg in get_args(hint) for choice in _choices(arg)]
    return [] if hint is NoneType else [hint]


def _keys_of(hint: Any) -> dict[str, Any]:
    """The keys of a mapping with the types of their values; none where names are free."""
    models = [c for c in _choices(hint) if isinstance(c, type) and issubclass(c, BaseModel)]
    return {name: field.annotation for model in models for name, field in model.model_fields.items()}


def _entry_of(hint: Any) -> Any:
    """The type of the entries of a list or mapping; anything where it has none."""
    inner = [get_args(c)[-1] for c in _choices(hint) if get_origin(c) in (list, dict)]
    return inner[0] if inner else Any


def _needed(hint: Any) -> str:
    """What a key takes, in words."""
    words = []
    for choice in _choices(hint):
        if get_origin(choice) is Literal:
            words += [str(value) for value in get_args(choice)]
        else:
            words.append(_WORDS.get(get_origin(choice) or choice, "a mapping"))
    if _WORDS[float] in words:
        words = [word for word in words if word != _WORDS[int]]
    return " or ".join(dict.fromkeys(words))


def _advice(value: Any) -> str:
    """How YAML came to read this, where that is not what a person would have meant."""
    if isinstance(value, bool):
        return " YAML reads yes, no, on and off as true or false: text stands in quotes."
    if isinstance(value, dict | date):
        return " Put quotes around text with a colon, brackets or a date."
    if isinstance(value, str) and _EXPONENT.fullmatch(value):
        return " YAML reads a power of ten as a number only with a point and a sign: 1.0e+3."
    return ""
