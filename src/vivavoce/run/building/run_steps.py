"""The verb: run the steps of a recipe, each once, and store what each kept and dropped."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from vivavoce import formats
from vivavoce.core import registry
from vivavoce.core.errors import InputError, SelectionError, suggest
from vivavoce.core.records import Finding, Item
from vivavoce.models.engine.client import ModelClient
from vivavoce.models.engine.counting_client import CountingClient
from vivavoce.run.building.counts import step_counts
from vivavoce.run.building.parts import Part, digest, name_of
from vivavoce.run.building.step import BuildRecipe, Lab, Step, StepResult
from vivavoce.run.building.stored_exam import (
    FREEZE,
    continued_steps,
    exam_parts,
    own_steps,
    parts_of,
    store_items,
    stored_parts,
    take_back,
)
from vivavoce.store.build_steps import StoredStep, put_step
from vivavoce.store.runfile import RunFile
from vivavoce.store.write import put_provenance


class BuiltStep(NamedTuple):
    """A step that was run, or is stored from an earlier time: its row, its notes, and the parts it left."""

    row: Mapping[str, Any]
    notes: Sequence[str]
    parts: Sequence[Part]
    is_stored: bool = False


UNKNOWN = ("n_written", "n_used", "n_out", "dropped", "failed", "review", "verdicts")
"""Counts of a step that a dry run cannot know: they follow from replies."""


class _Spent(NamedTuple):
    """What a client has spent so far."""

    requests: int
    unpriced: int
    cost: float

    def since(self, before: "_Spent") -> dict[str, Any]:
        """Requests and cost since then; the cost is null where a reply had no price."""
        is_priced = self.unpriced == before.unpriced
        cost = self.cost - before.cost if is_priced else None
        return {"requests": self.requests - before.requests, "cost": cost}


def _spent(client: ModelClient) -> _Spent:
    usage = client.usage
    return _Spent(usage.answered + usage.failed, usage.unpriced, usage.cost)


class _Recipe(NamedTuple):
    """A recipe with its name on a run, and what its steps are run with."""

    run: RunFile
    name: str
    client: ModelClient
    benchmark: str
    seed: int

    @property
    def is_dry(self) -> bool:
        """Whether requests are counted, and nothing is stored."""
        return isinstance(self.client, CountingClient)


def build(
    run: RunFile,
    name: str,
    recipe: BuildRecipe,
    client: ModelClient,
    *,
    benchmark: str,
    until: str | None = None,
    seed: int = 0,
) -> Finding:
    """Run the steps of a recipe in their order, up to `until`, and store each as it ends.

    A step whose settings and parts are those of last time is not run again; what stands behind the last step
    that was asked for is taken back. With a `CountingClient` nothing is stored: the first step whose replies
    the run lacks is counted, and no step after it. A row per step: `step n_in n_written n_used n_out dropped
    failed review reasons requests cost`; n_in + n_written = n_out + dropped + n_used, `failed` is a part of
    dropped and `review` one of n_out. Raises `InputError` for input that no step can use.
    """
    steps = _up_to(recipe.steps(), name, until)
    work = _Recipe(run, name, client, benchmark, seed)
    stored, parts = continued_steps(run, name) if recipe.continues else (own_steps(run, name), [])
    built = _run_steps(work, steps, stored, parts)
    if work.is_dry:
        text = _forecast(built[-1].row, list(steps)[len(built) :])
    else:
        _store(work, recipe, until, stored[len(built) :], built)
        text = _summary(built)
    return Finding(
        study="build",
        rows=tuple(dict(step.row) for step in built),
        text=text,
        notes=tuple(f"{step.row['step']}: {note}" for step in built for note in step.notes),
    )


def _up_to(steps: Mapping[str, Step], name: str, until: str | None) -> dict[str, Step]:
    """The steps up to one of them. Raises `SelectionError` for a step that the recipe does not have."""
    labels = list(steps)
    if until is None:
        return dict(steps)
    if until not in steps:
        listed = ", ".join(labels)
        raise SelectionError(f"--until {until}: {name} has the steps {listed}.{suggest(until, labels)}")
    return {label: steps[label] for label in labels[: labels.index(until) + 1]}


def _run_steps(
    work: _Recipe, steps: Mapping[str, Step], stored: Sequence[StoredStep], parts: Sequence[Part]
) -> list[BuiltStep]:
    """The steps one after the other; a dry run ends with the first that would ask."""
    built: list[BuiltStep] = []
    for label, step in steps.items():
        built.append(_run_step(work, label, step, stored[len(built) :], parts))
        parts = built[-1].parts
        if work.is_dry and built[-1].row["requests"]:
            break
    return built


def _run_step(
    work: _Recipe, label: str, step: Step, stored: Sequence[StoredStep], parts: Sequence[Part]
) -> BuiltStep:
    """The step as the run has it, or else run now; `stored` are the earlier steps from its place on."""
    signature = f"{registry.signature(step)} seed {work.seed}"
    if stored and _is_same(stored[0], label, signature, parts):
        facts = dict(stored[0].facts)
        notes = facts.pop("notes")
        return BuiltStep({**facts, "requests": 0}, notes, parts_of(work.run, stored[0]), is_stored=True)
    if not work.is_dry:
        take_back(work.run, stored)
    return _applied(work, label, step, signature, parts)


def _is_same(stored: StoredStep, label: str, signature: str, parts: Sequence[Part]) -> bool:
    """Whether a stored step is this one on these parts, and every reply came."""
    same = (stored.step, stored.signature, stored.input) == (label, signature, digest(parts))
    return same and not stored.facts["failed"]


def _applied(work: _Recipe, label: str, step: Step, signature: str, parts: Sequence[Part]) -> BuiltStep:
    """Run a step, check what it gives, and store it."""
    client, before = work.client, _spent(work.client)
    lab = Lab(work.benchmark, work.seed, client, f"build {work.name} {label}")
    result = _of_exam(step.apply(parts, lab), work.benchmark)
    _check(label, result)
    facts: dict[str, Any] = {"recipe": work.name, "step": label, "benchmark": work.benchmark}
    facts |= step_counts(parts, result)
    facts |= {"spec": str(registry.full_spec(step)), "writer": step.writer}
    if isinstance(client, CountingClient):
        estimate = client.estimate
        # What comes out is not known before the replies.
        unknown = dict.fromkeys(UNKNOWN) | {"reasons": {}} if estimate.calls else {}
        facts |= {**unknown, "requests": estimate.calls, "cost": estimate.cost}
        return BuiltStep(facts, result.notes, result.parts)
    facts |= _spent(client).since(before)
    with work.run.writing() as db:
        put_step(
            db, work.name, label, facts["spec"], signature, digest(parts),
            {**facts, "notes": list(result.notes)}, stored_parts(result),
        )  # fmt: skip
    return BuiltStep(facts, result.notes, result.parts)


def _of_exam(result: StepResult, benchmark: str) -> StepResult:
    """The result with the exam's name in every item."""

    def named(part: Part) -> Part:
        return replace(part, benchmark=benchmark) if isinstance(part, Item) else part

    dropped = [drop._replace(part=named(drop.part)) for drop in result.dropped]
    return result._replace(parts=[named(part) for part in result.parts], dropped=dropped)


def _check(label: str, result: StepResult) -> None:
    """Raise `InputError` where two parts have one id, or an item can stand in no exam."""
    names = Counter(name_of(part) for part in result.parts)
    if twice := [name for name, n in names.items() if n > 1]:
        raise InputError(f"{label}: the id {twice[0]!r} stands there twice; every part needs one of its own.")
    for part in result.parts:
        if isinstance(part, Item):
            formats.check(part)


def _store(
    work: _Recipe,
    recipe: BuildRecipe,
    until: str | None,
    later: Sequence[StoredStep],
    built: Sequence[BuiltStep],
) -> None:
    """Store the exam that the steps come to, and take back those behind them.

    Steps of a recipe that went on with the exam still hold where nothing before them has changed.
    """
    take_back(work.run, later)
    _, parts = exam_parts(work.run, (FREEZE,))
    store_items(work.run, recipe.card(work.benchmark), parts)
    if changed := sum(not step.is_stored for step in built):
        body = {"recipe": str(recipe), "until": until, "seed": work.seed, "items": work.benchmark}
        with work.run.writing() as db:
            put_provenance(db, "build", body, changed=changed)


def _forecast(last: Mapping[str, Any], uncounted: Sequence[str]) -> str:
    """What a dry run comes to."""
    if not last["requests"]:
        return "No request would be sent. Nothing was stored."
    text = f"{last['requests']:,} requests would be sent by {last['step']}. Nothing was stored."
    behind = f" What {', '.join(uncounted)} would ask depends on the replies." if uncounted else ""
    return text + behind


def _summary(built: Sequence[BuiltStep]) -> str:
    """What the steps come to."""
    last = built[-1].row
    dropped = sum(step.row["dropped"] for step in built)
    text = f"{last['n_out']:,} parts after {last['step']}; {dropped:,} were dropped, each with its reason."
    if last["review"]:
        text += f" {last['review']:,} wait for a person."
    if failed := sum(step.row["failed"] for step in built):
        text += f" No model gave a usable reply about {failed:,}: rerun the command to ask again."
    return text
