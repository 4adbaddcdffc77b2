"""The design of an overall: its groups with their metrics and weights, fixed before it is computed.

It is written as a spec. `overall`: each format by the metric that fits it, all formats counting the same.
`overall(by=category)`: categories. `overall(weights=micro)`: every question counts the same.
`overall(groups=[closed:mcq, closed:true_false, open:short], weights=[closed:2, open:1])`: groups of formats.
`overall(metrics=[short:exact], metric=cliniqlink)`: short by exact, all else by cliniqlink where it can.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from vivavoce.core import specs
from vivavoce.core.errors import SelectionError, suggest
from vivavoce.core.numbers import finite

OVERALL = "overall"
"""The metric and the criterion of a mean over groups, and the name of its spec."""
By = Literal["format", "category"]
EQUAL = ("macro", "micro")
MOST = 1_000_000
"""The largest weight; the smallest is one divided by it, so that no share vanishes."""
_KEYS = ("by", "groups", "metric", "metrics", "weights")


@dataclass(frozen=True, slots=True, kw_only=True)
class OverallDesign:
    """What an overall is a mean of.

    `groups` are formats or categories by the name of the group; without any, each is its own. `metrics` are
    references by format; where none is stated, `metric` scores it if it can, else the metric that fits the
    format by default. `weights` are shares by group, which sum to 1; or macro, where each group counts the
    same; or micro, where each item does.
    """

    by: By = "format"
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    metrics: Mapping[str, str] = field(default_factory=dict)
    metric: str | None = None
    weights: str | Mapping[str, float] = "macro"

    def __str__(self) -> str:
        settings: dict[str, Any] = {"by": self.by}
        if self.groups:
            settings["groups"] = tuple(
                f"{name}:{part}" for name, parts in self.groups.items() for part in parts
            )
        if self.metrics:
            settings["metrics"] = tuple(f"{name}:{metric}" for name, metric in self.metrics.items())
        if self.metric:
            settings["metric"] = self.metric
        if isinstance(self.weights, str):
            settings["weights"] = self.weights
        else:
            settings["weights"] = tuple(f"{name}:{weight!r}" for name, weight in self.weights.items())
        return str(specs.Spec(OVERALL, settings))

    def group_of(self, part: str) -> str | None:
        """The group that a format or category is in; null for none."""
        if not self.groups:
            return part
        return next((name for name, parts in self.groups.items() if part in parts), None)

    def shares(self, names: Sequence[str]) -> dict[str, float]:
        """What each of these groups is of the overall. Raises `SelectionError` where weights do not fit."""
        if self.weights == "macro":
            return dict.fromkeys(names, 1 / len(names))
        weights = self.weights if isinstance(self.weights, Mapping) else {}
        if unknown := [name for name in weights if name not in names]:
            raise SelectionError(
                f"overall: no question is in the group {unknown[0]!r} that has a weight."
                f"{suggest(unknown[0], list(names))} Groups here: {', '.join(names)}."
            )
        if missing := [name for name in names if name not in weights]:
            raise SelectionError(
                f"overall: the group {missing[0]!r} has no weight; state one for every group."
            )
        return {name: weights[name] / sum(weights.values()) for name in names}


def is_overall(reference: str | None) -> bool:
    """Whether a reference names an overall."""
    text = (reference or "").strip()
    return text == OVERALL or text.startswith((f"{OVERALL}(", f"{OVERALL}:"))


def parse_design(text: str) -> OverallDesign:
    """The design that a spec writes. Raises `SelectionError` for one that cannot be, `SpecError` for none."""
    settings = specs.parse(text).settings
    for key in settings:
        if key not in _KEYS:
            raise SelectionError(f"overall has no setting {key!r}.{suggest(key, _KEYS)}")
    weights: Any = settings.get("weights", "macro")
    if isinstance(weights, tuple):
        weights = _pairs("weights", weights, last=True)
    groups: dict[str, list[str]] = {}
    for name, part in _entries("groups", settings.get("groups", ()), last=False):
        groups.setdefault(name, []).append(part)
    metrics = _pairs("metrics", settings.get("metrics", ()), last=False)
    metric = settings.get("metric")
    return checked_design(
        by=settings.get("by", "format"), groups=groups, metrics=metrics,
        metric=None if metric is None else _text(metric), weights=weights,
    )  # fmt: skip


def checked_design(
    *,
    by: Any = "format",
    groups: Mapping[str, Sequence[str]] = {},
    metrics: Mapping[str, str] = {},
    metric: str | None = None,
    weights: Any = "macro",
) -> OverallDesign:
    """The design of these entries.

    Raises `SelectionError` where a format or category is in two groups, a group holds nothing, or a weight is
    no number above 0.
    """
    if by not in get_args(By):
        raise SelectionError(f"overall, by: format or category, not {by!r}.")
    _check_groups(by, groups)
    parts_of = {name: tuple(parts) for name, parts in groups.items()}
    return OverallDesign(
        by=by, groups=parts_of, metrics=dict(metrics), metric=metric, weights=_weights(weights, groups)
    )


def _check_groups(by: str, groups: Mapping[str, Sequence[str]]) -> None:
    owner: dict[str, str] = {}
    for name, parts in groups.items():
        if not parts:
            raise SelectionError(f"overall, groups: {name!r} holds no {by}; name one or leave the group out.")
        for part in parts:
            if part in owner:
                place = f"twice in {name!r}" if owner[part] == name else f"in {owner[part]!r} and in {name!r}"
                raise SelectionError(f"overall, groups: {part!r} is {place}; a {by} is in one group.")
            owner[part] = name


def _weights(weights: Any, groups: Mapping[str, Sequence[str]]) -> str | dict[str, float]:
    if isinstance(weights, Mapping):
        weights = {str(name): _weight(str(name), weight) for name, weight in weights.items()}
        if groups and (unknown := [name for name in weights if name not in groups]):
            raise SelectionError(
                f"overall, weights: no group {unknown[0]!r}.{suggest(unknown[0], list(groups))}"
            )
    elif weights not in EQUAL:
        raise SelectionError(
            f"overall, weights: macro (each group counts the same), micro (each question does), or a number "
            f"for every group; not {weights!r}."
        )
    result: str | dict[str, float] = weights
    return result


def _weight(name: str, weight: Any) -> float:
    value = None if isinstance(weight, bool) else finite(weight)
    if value is None and isinstance(weight, str):
        try:
            value = float(weight)
        except ValueError:
            value = None
    if value is None or not 1 / MOST <= value <= MOST:  # NaN is outside too
        raise SelectionError(
            f"overall, weights: {name!r} needs a number above 0, at most {MOST:,}, not {weight!r}. To leave "
            "a group out, leave it out of the groups."
        )
    return value


def _pairs(key: str, entries: Any, *, last: bool) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for name, value in _entries(key, entries, last=last):
        if name in pairs:
            raise SelectionError(f"overall, {key}: {name!r} stands there twice.")
        pairs[name] = value
    return pairs


def _entries(key: str, entries: Any, *, last: bool) -> Iterable[tuple[str, str]]:
    """The entries `name:value` of a list; a category may hold a colon, and a metric too."""
    for entry in entries if isinstance(entries, tuple) else (entries,):
        text = _text(entry)
        name, colon, value = text.rpartition(":") if last else text.partition(":")
        if not (name and colon and value):
            raise SelectionError(f"overall, {key}: NAME:VALUE is needed, such as mcq:accuracy, not {text!r}.")
        yield name, value


def _text(value: Any) -> str:
    return str(value) if isinstance(value, str | specs.Spec) else specs.show(value)
