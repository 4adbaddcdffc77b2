"""The verb: make, check, and store what is new; all of it or none."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from vivavoce import formats, registry, specs
from vivavoce.benchmarks import Loaded, load
from vivavoce.errors import InputError
from vivavoce.records import Finding, Item, Response
from vivavoce.store import RunFile, read
from vivavoce.store.made import made_responses
from vivavoce.store.write import put_benchmark, put_candidates, put_provenance, put_responses
from vivavoce.vary.asking import about_twin, read_verdict
from vivavoce.vary.outcomes import Outcome, ResponseKey, Stock, Variation
from vivavoce.vary.told import Tried, notes, rows, sentence

if TYPE_CHECKING:
    from vivavoce.ask.desk import Desk

__all__ = ["bring", "vary"]

ItemKey = tuple[str, str, str]
"""Benchmark, base id, variant."""
KEPT = (
    *("group", "category", "format", "options", "answer", "references", "steps", "step", "false_answer"),
    *("must", "nice", "rubric", "source", "weight"),
)
"""What a variant has of its base item, whatever was changed."""


def bring(run: RunFile, items: str) -> None:
    """Store the items of a benchmark of which the run holds none yet, so that they can be varied."""
    exam = load(items)
    if run.exists:
        with run.reading() as db:
            if any(b.benchmark == exam.items[0].benchmark for b in read.benchmarks(db)):
                return
    with run.writing() as db:
        put_benchmark(db, exam.card, exam.items, spec=exam.spec, signature=exam.signature)
        put_provenance(db, "vary", {"benchmark": exam.spec}, changed=len(exam.items))


def vary(
    run: RunFile,
    wanted: Sequence[str],
    *,
    items: str | None = None,
    check: str | None = None,
    mark: bool = False,
    seed: int | None = None,
    desk: "Desk | None" = None,
) -> Finding:
    """Make what these specs of variations name, check it, and store what is new.

    `items` is a benchmark's spec that restricts what is varied. `check` is a model that is asked whether the
    right answer to each new item is still the same. What fails a check is dropped, or with `mark` kept and
    marked (`meta["check"]`). `seed` is for every variation that states none. Without a `desk` nobody is asked
    and nothing is stored: the rows say what could be made.

    A row per variation and kind: `made` new, `there` already, `marked` (a part of made), `dropped`, `skipped`
    where nothing could be made, with the `reasons` of the last three and how often; `rows` new items and
    responses; `requests` that a model would be sent first. Raises `InputError` for what the run holds already
    from another spec, `SpecError` for a spec that names nothing.
    """
    if not wanted:
        raise InputError('nothing to make: name a variation, such as "bias(type=recency)".')
    variations = [_built(text, seed) for text in wanted]
    with_items = None if items is None else load(items)
    here, stock = _stock(run, with_items)
    bases = {(i.benchmark, i.item): i for i in stock.bases}
    tried = [
        Tried(str(variation), _sealed(outcome, str(variation), bases))
        for variation in variations
        for outcome in variation.makes(stock, desk)
    ]
    tried = _settled(tried, here)
    if check is not None:
        tried = _asked(tried, bases, check, desk)
    tried = [_kept(one, mark=mark) for one in tried]
    if desk is not None and any(one.outcome.made and not one.outcome.there for one in tried):
        settings = {"variations": [str(v) for v in variations], "items": items, "check": check,
                    "mark": mark}  # fmt: skip
        with run.writing() as db:
            tried = _settled(tried, _held(db))  # another process may have made some of it since we looked
            new = [made for one in tried if not one.outcome.there for made in one.outcome.made]
            _put(db, new)
            put_provenance(db, "vary", settings, changed=len(new))
    lines = rows(tried)
    there = sum(row["there"] for row in lines)
    unchecked = (
        (f"{there:,} were there already and were not checked again by {check}.",) if check and there else ()
    )
    return Finding(
        study="vary",
        rows=tuple(lines),
        text=sentence(lines, dry=desk is None),
        notes=(*unchecked, *notes(tried)),
    )


def _built(text: str, seed: int | None) -> Variation:
    spec = specs.parse(text) if isinstance(text, str) else text
    entry = registry.find("variation", spec.name)
    if seed is not None and "seed" not in spec.settings and any(f.name == "seed" for f in fields(entry.cls)):
        spec = specs.Spec(spec.name, {**spec.settings, "seed": seed})
    made: Variation = registry.build("variation", spec)
    return made


def _stock(run: RunFile, exam: Loaded | None) -> tuple[dict[ItemKey, Item], Stock]:
    """All items of the run by key, and what of it is to be varied."""
    if not run.exists and exam is not None:  # nothing is stored yet, nor will be: a dry run
        return {}, Stock(exam.items)
    with run.reading() as db:
        here = _held(db)
        said = read.answers(db)
        roles = {one.candidate: one.role for one in read.candidates(db)}
        made = {ResponseKey(*key): origin for key, origin in made_responses(db).items()}
    chosen = here
    if exam is not None:
        keys = {(i.benchmark, i.item, i.variant): i for i in exam.items}
        if not any(benchmark == exam.items[0].benchmark for benchmark, *_ in here):
            return here, Stock(exam.items)
        changed = [k for k, i in keys.items() if k in here and here[k].hash != i.hash]
        if changed:
            raise InputError(
                f"--items {exam.spec}: {len(changed)} of these items are worded otherwise in this run: "
                f"{min(changed)[1]} …"
            )
        chosen = {k: i for k, i in here.items() if k in keys}
    own = [item for item in chosen.values() if item.origin is None]
    if not own:
        raise InputError(f"{run.path} holds none of the items to vary: name a benchmark with --items.")
    answers = [
        Response(**ResponseKey(*key)._asdict(), text=answer.text)
        for key, answer in said.items()
        if answer.text is not None and ResponseKey(*key) not in made
    ]
    return here, Stock(own, answers, roles, made)


def _key(item: Item) -> ItemKey:
    return (item.benchmark, item.item, item.variant)


def _held(db: sqlite3.Connection) -> dict[ItemKey, Item]:
    return {_key(item): item for item in read.stock(db).values()}


def _sealed(outcome: Outcome, variation: str, bases: Mapping[tuple[str, str], Item]) -> Outcome:
    """The outcome with origin and the hash of the base item in what was made, and nothing of its key changed.

    Raises `InputError` for a variation, such as a plugin's, that changes what it must not.
    """
    made: list[Item | Response] = []
    for one in outcome.made:
        if isinstance(one, Item):
            base = bases[one.benchmark, one.item]
            other = next((name for name in KEPT if getattr(one, name) != getattr(base, name)), None)
            if other is not None or not one.variant:
                what = other or "variant"
                raise InputError(
                    f"{variation} cannot be used: the {what} of what it makes of {base.name!r} is not as it "
                    "must be; a variant has a name of its own, and the key of its question."
                )
            origin = one.origin or variation
            one = replace(formats.check(one), origin=origin, meta={**one.meta, "base_hash": base.hash})
        made.append(one)
    return outcome._replace(made=tuple(made))


def _settled(tried: Sequence[Tried], here: Mapping[ItemKey, Item]) -> list[Tried]:
    """What the run holds already marked so; refuses another spec's, and leaves the exam's own alone."""
    settled: list[Tried] = []
    origins: dict[ItemKey, str | None] = {}
    for one in tried:
        items = [made for made in one.outcome.made if isinstance(made, Item)]
        own = next((i for i in items if _key(i) in here and here[_key(i)].origin is None), None)
        if own is not None:
            reason = f"the exam has its own {own.variant} twin"
            settled.append(one._replace(outcome=one.outcome._replace(made=(), reason=reason)))
            continue
        for item in items:
            there = here.get(_key(item))
            origin = there.origin if there else origins.setdefault(_key(item), item.origin)
            if origin != item.origin:
                raise InputError(
                    f"{item.name} is from {origin}, not from {item.origin}: one question has one such twin "
                    "in a run. Name the same spec, or use another run."
                )
            same_base = there is not None and there.meta.get("base_hash") == item.meta["base_hash"]
            if there is not None and same_base and there.hash != item.hash:
                raise InputError(
                    f"{item.name} was made by another version of vivavoce, in other words: what is made is "
                    "kept. Use another run."
                )
        known = bool(items) and all((t := here.get(_key(i))) is not None and t.hash == i.hash for i in items)
        settled.append(one._replace(outcome=one.outcome._replace(there=True)) if known else one)
    return settled


def _asked(
    tried: Sequence[Tried], bases: Mapping[tuple[str, str], Item], model: str, desk: "Desk | None"
) -> list[Tried]:
    """What a model says of the new items that passed every other check."""
    pairs = [
        (k, item)
        for k, one in enumerate(tried)
        if not one.outcome.there and one.outcome.reason is None
        for item in one.outcome.made
        if isinstance(item, Item) and item.hash != item.meta["base_hash"]
    ]
    outcomes = [one.outcome for one in tried]
    if desk is None:
        for k, _ in pairs:
            outcomes[k] = outcomes[k]._replace(requests=outcomes[k].requests + 1)
    else:
        requests = [about_twin(bases[item.benchmark, item.item], item) for _, item in pairs]
        heard = desk.ask(model, requests, read_verdict, purpose="vary check")
        for (k, item), said in zip(pairs, heard, strict=True):
            if outcomes[k].reason is not None:
                continue
            if said.value is None:
                outcomes[k] = outcomes[k]._replace(reason="the check brought no verdict", detail=said.reason)
            elif not said.value.same:
                why = "the model that checked says that the right answer changed"
                outcomes[k] = outcomes[k]._replace(reason=why, detail=f"{item.variant}: {said.value.why}")
        for k in {k for k, _ in pairs if outcomes[k].reason is None}:
            made = tuple(_with(one, check=None, checked_by=model) for one in outcomes[k].made)
            outcomes[k] = outcomes[k]._replace(made=made)
    return [one._replace(outcome=outcome) for one, outcome in zip(tried, outcomes, strict=True)]


def _with(made: Item | Response, **told: str | None) -> Any:
    """The same with more in `meta`; null takes out."""
    meta = {k: v for k, v in {**made.meta, **told}.items() if v is not None}
    return replace(made, meta=meta)


def _kept(one: Tried, *, mark: bool) -> Tried:
    """What failed a check without what was made, or with it, marked."""
    outcome = one.outcome
    if outcome.there or not outcome.made or outcome.reason is None:
        return one
    if not mark:
        return one._replace(outcome=outcome._replace(made=()), fate="dropped")
    said = outcome.reason if outcome.detail is None else f"{outcome.reason} ({outcome.detail})"
    return one._replace(
        outcome=outcome._replace(made=tuple(_with(m, check=said) for m in outcome.made)), fate="marked"
    )


def _put(db: sqlite3.Connection, made: Sequence[Item | Response]) -> None:
    items = [m for m in made if isinstance(m, Item)]
    responses = [m for m in made if isinstance(m, Response)]
    for known in read.benchmarks(db):
        new = [item for item in items if item.benchmark == known.benchmark]
        if new:  # a new version only of a twin whose base item has one: `_settled` refused all others
            put_benchmark(db, known.card, new, spec=known.spec, signature=known.signature, new_version=True)
    if not responses:
        return
    there = {one.candidate for one in read.candidates(db)}
    ceilings = {r.candidate for r in responses} - there
    candidates = put_candidates(db, dict.fromkeys(sorted(ceilings), "ceiling"))
    keys = {_key(item): key for key, item in read.stock(db).items()}
    for benchmark in sorted({r.benchmark for r in responses}):
        put_responses(
            db,
            [r for r in responses if r.benchmark == benchmark],
            items={(item, variant): key for (b, item, variant), key in keys.items() if b == benchmark},
            candidates=candidates,
        )
