"""The exam under construction as the run holds it: its steps, and its items as a benchmark."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from vivavoce.core import registry
from vivavoce.core.errors import InputError
from vivavoce.core.records import Card, Item
from vivavoce.core.specs import Spec
from vivavoce.run.building.counts import step_counts
from vivavoce.run.building.parts import WRITTEN_BY, Part, digest, digest_of, from_json, to_json
from vivavoce.run.building.step import StepResult, items_of
from vivavoce.store import read
from vivavoce.store.build_steps import (
    Fate,
    StoredPart,
    StoredStep,
    build_parts,
    build_steps,
    put_step,
    remove_steps,
    renew_benchmark,
)
from vivavoce.store.damage import decoding
from vivavoce.store.forgotten import forgotten_names
from vivavoce.store.runfile import RunFile
from vivavoce.store.write import put_benchmark

FREEZE = "freeze"
"""The recipe whose step is no part of the exam under construction: it says what was left out of its files."""


def exam_name(run: RunFile) -> str | None:
    """The name of the exam under construction; null where there is none."""
    if not run.exists:
        return None
    with run.reading() as db:
        steps = [step for step in build_steps(db) if step.recipe != FREEZE]
    return str(steps[0].facts["benchmark"]) if steps else None


def own_steps(run: RunFile, name: str) -> list[StoredStep]:
    """The stored steps of the recipe that began the exam. Raises `InputError` where another one began it."""
    if not run.exists:
        return []
    with run.reading() as db:
        steps = [step for step in build_steps(db) if step.recipe != FREEZE]
    if steps and steps[0].recipe != name:
        raise InputError(
            f"{run.path} holds an exam by the recipe {steps[0].recipe}: build {name} in another run."
        )
    return [step for step in steps if step.recipe == name]


def continued_steps(run: RunFile, name: str) -> tuple[list[StoredStep], list[Part]]:
    """The stored steps of a recipe that goes on with the exam, and the parts that it goes on with.

    Raises `InputError` where the run holds no exam.
    """
    exam, parts = exam_parts(run, (name, FREEZE))
    if not exam:
        raise InputError(f"{run.path} holds no exam under construction: name one with --from.")
    with run.reading() as db:
        steps = [step for step in build_steps(db) if step.recipe == name and step.key > exam[-1].key]
    return steps, parts


def exam_parts(run: RunFile, without: Sequence[str]) -> tuple[list[StoredStep], list[Part]]:
    """The steps of all recipes but these, and the parts that the last of them left."""
    if not run.exists:
        return [], []
    with run.reading() as db:
        steps = [step for step in build_steps(db) if step.recipe not in without]
    return steps, parts_of(run, steps[-1]) if steps else []


def parts_of(run: RunFile, step: StoredStep) -> list[Part]:
    """The parts that a step left; questions that the run was told to forget are none of them."""
    with run.reading() as db:
        bodies = [part.body for part in build_parts(db, step.key, "kept")]
        gone = forgotten_names(db, str(step.facts.get("benchmark", "")))
        with decoding("a part of a build"):
            parts = list(map(from_json, bodies))
    return [part for part in parts if not isinstance(part, Item) or part.item not in gone]


def take_back(run: RunFile, steps: Sequence[StoredStep]) -> None:
    """Remove these steps, and all that came after the first of them."""
    if steps:
        with run.writing() as db:
            remove_steps(db, [step.key for step in build_steps(db) if step.key >= steps[0].key])


def stored_parts(result: StepResult) -> Iterator[tuple[str, StoredPart]]:
    """The parts of a result as they are stored, each with the hash of its text."""
    for part in result.parts:
        yield digest_of(part), StoredPart(to_json(part), "kept")
    for drop in result.dropped:
        fate: Fate = "failed" if drop.failed else "dropped"
        yield digest_of(drop.part), StoredPart(to_json(drop.part), fate, drop.reason, drop.detail)


def store_single_step(
    run: RunFile, recipe: str, spec: str, parts: Sequence[Part], result: StepResult
) -> StoredStep:
    """Store what a recipe of one step made of the exam, in the place of the last time."""
    facts = {"recipe": recipe, "step": recipe, **step_counts(parts, result), "spec": spec, "writer": None}
    facts |= {"requests": 0, "cost": 0.0, "notes": []}
    with run.writing() as db:
        remove_steps(db, [step.key for step in build_steps(db) if step.recipe == recipe])
        key = put_step(db, recipe, recipe, spec, spec, digest(parts), facts, stored_parts(result))
    return StoredStep(key, recipe, recipe, spec, spec, digest(parts), facts)


def store_items(run: RunFile, card: Card, parts: Sequence[Part]) -> None:
    """Store the items as the benchmark that the card names, `table(name=…)`; those that are gone leave it."""
    items = items_of(parts)
    card = replace(card, writers=_writers(items))
    table = registry.build("benchmark", Spec("table", {"name": card.name}))
    signature = f"{registry.signature(table)}#{digest(items)[:8]}"
    names = {(item.item, item.variant) for item in items}
    with run.writing() as db:
        stored = [item for item in read.items_by_id(db).values() if item.benchmark == card.name]
        places = [(item.item, item.variant) for item in stored if item.origin is None]
        if items:
            put_benchmark(db, card, items, spec=str(table), signature=signature, new_version=True)
        withdrawn = [place for place in places if place not in names]
        renew_benchmark(db, card, signature=signature, withdrawn=withdrawn)


def _writers(items: Sequence[Item]) -> tuple[str, ...]:
    """The models that wrote or translated these items, in the order of the items."""
    return tuple(dict.fromkeys(model for item in items for model in item.meta.get(WRITTEN_BY, ())))
