"""Recipes of the core: filters for any questions, and the freeze of an exam."""

from collections.abc import Mapping

from vivavoce.core import registry
from vivavoce.core.errors import SelectionError, suggest
from vivavoce.core.registry import build_recipe
from vivavoce.core.specs import Setting, Spec, parse_many
from vivavoce.run.building.filters.base import Filter
from vivavoce.run.building.questions import Questions
from vivavoce.run.building.step import BuildRecipe, Step


@build_recipe("filters")
class Filters(BuildRecipe):
    """What filters find in questions: in those of `from`, or in the exam under construction.

    Every filter that needs no setting, or the `only` ones that are named, such as
    "duplicates(threshold=0.9)". `against` names published benchmarks for the filter `overlap`, `model` one
    for `guessable`. Filters report; those of `drop`, or all of them, also act: they drop what they would
    drop, and repair what they can.
    """

    from_: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    model: str = ""
    drop: tuple[str, ...] = ()

    @property
    def continues(self) -> bool:  # type: ignore[override]
        """Without questions of its own it goes on with the exam under construction."""
        return not self.from_

    def steps(self) -> Mapping[str, Step]:
        """The questions, if any are named, and the filters in the order of their names."""
        first: dict[str, Step] = {"questions": Questions(files=self.from_)} if self.from_ else {}
        return first | filter_steps(self.only, against=self.against, model=self.model, drop=self.drop)


def filter_steps(
    only: tuple[str, ...] = (), *, against: tuple[str, ...] = (), model: str = "", drop: tuple[str, ...] = ()
) -> dict[str, Step]:
    """Filters by name: the `only` ones, or all that these settings are enough for; those of `drop` act.

    Raises `SelectionError` for a name that is no filter, or is not among those that run.
    """
    registered = {e.name: e for e in registry.entries("step") if issubclass(e.cls, Filter)}
    offered: dict[str, Setting] = {}
    offered |= {"against": against} if against else {}
    offered |= {"model": model} if model else {}
    steps: dict[str, Step] = {}
    for spec in _named(only, list(registered)):
        complete = _complete(registered[spec.name], spec, offered, act=spec.name in drop or "all" in drop)
        if only or _is_complete(registered[spec.name], complete):
            steps[spec.name] = registry.build("step", complete)
    _refuse_absent(drop, [*steps, "all"])
    return steps


def _refuse_absent(drop: tuple[str, ...], names: list[str]) -> None:
    """Raise `SelectionError` where a filter is to act that does not run."""
    for name in drop:
        if name not in names:
            raise SelectionError(f"--drop {name}: no such filter runs here.{suggest(name, names)}")


def _named(only: tuple[str, ...], names: list[str]) -> list[Spec]:
    """The specs of these filters, of all where none is named. Raises `SelectionError` for no filter."""
    specs = parse_many(only) if only else [Spec(name, {}) for name in names]
    for spec in specs:
        if spec.name not in names:
            raise SelectionError(f"no filter named {spec.name!r}.{suggest(spec.name, names)}")
    return specs


def _complete(entry: registry.Entry, spec: Spec, offered: Mapping[str, Setting], *, act: bool) -> Spec:
    """The spec with the settings that are offered and that the filter has."""
    settings = {name: value for name, value in offered.items() if name in registry.settings(entry)}
    return Spec(spec.name, settings | ({"act": True} if act else {}) | dict(spec.settings))


def _is_complete(entry: registry.Entry, spec: Spec) -> bool:
    """Whether every setting without a default is stated."""
    return registry.settings(entry).keys() <= spec.settings.keys() | registry.defaults(entry).keys()
