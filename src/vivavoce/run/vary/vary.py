"""The verb: make, check, and store what is new; all of it or none."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from vivavoce import formats
from vivavoce.benchmarks import Loaded
from vivavoce.core import registry, specs
from vivavoce.core.errors import InputError
from vivavoce.core.records import Finding, Item, ItemKey, Response
from vivavoce.run.tables.stored_benchmarks import load_benchmark, store_loaded
from vivavoce.run.vary.vary_job import outcomes_by_workers
from vivavoce.run.workers.executor import Executor
from vivavoce.store import read
from vivavoce.store.forgotten import NOTE, forgotten_answers, is_forgotten
from vivavoce.store.generated import made_responses
from vivavoce.store.rater_texts import marked_passages
from vivavoce.store.runfile import RunFile
from vivavoce.store.view import with_view
from vivavoce.store.write import put_benchmark, put_candidates, put_provenance, put_responses
from vivavoce.variants import Outcome, ResponseKey, Stock, Variation
from vivavoce.variants.llm import about_twin, read_verdict

if TYPE_CHECKING:
    from vivavoce.models.engine.client import ModelClient
    from vivavoce.models.engine.counting_client import CountingClient


COUNTS = ("made", "there", "marked", "dropped", "skipped", "rows", "requests")
MAX_NAMES = 5
"""How many of those that failed a check are named."""


class Attempt(NamedTuple):
    """An outcome of a variation, by the spec that was asked for; `fate` is that of one with a reason."""

    variation: str
    outcome: Outcome
    fate: Literal["skipped", "dropped", "marked"] = "skipped"


def rows(attempts: Iterable[Attempt]) -> list[dict[str, Any]]:
    """A row for each variation and kind, in the order of the outcomes."""
    by_kind: dict[tuple[str, str], dict[str, Any]] = {}
    for variation, outcome, fate in attempts:
        row = by_kind.setdefault(
            (variation, outcome.what),
            {"variation": variation, "what": outcome.what, **dict.fromkeys(COUNTS, 0), "reasons": {}},
        )
        state = "there" if outcome.stored else "made" if outcome.records else fate
        row[state] += 1
        row["marked"] += fate == "marked"
        row["rows"] += 0 if outcome.stored else len(outcome.records)
        row["requests"] += outcome.requests
        if outcome.reason is not None and not outcome.stored:
            row["reasons"][outcome.reason] = row["reasons"].get(outcome.reason, 0) + 1
    return list(by_kind.values())


def sentence(rows: Sequence[Mapping[str, Any]], *, dry: bool) -> str:
    """What the rows come to; `dry` if nothing was to be made."""
    n = {name: sum(row[name] for row in rows) for name in COUNTS}
    if dry:
        requests = (
            f"; for the rest and for checks {n['requests']:,} requests would be sent" if n["requests"] else ""
        )
        return f"{n['rows']:,} rows could be made without asking a model{requests}. Nothing was stored."
    parts = [f"{n['rows']:,} rows were made"]
    parts += [f"{n['there']:,} were there already"] if n["there"] else []
    parts += [f"{n['marked']:,} failed a check and are marked"] if n["marked"] else []
    parts += [f"{n['dropped']:,} failed a check and were dropped"] if n["dropped"] else []
    parts += [f"{n['skipped']:,} could not be made"] if n["skipped"] else []
    return f"{'; '.join(parts)}."


def notes(attempts: Sequence[Attempt]) -> tuple[str, ...]:
    """Which failed a check, by reason; and by which words questions were kept out."""
    words: dict[str, Counter[str]] = {}
    failures: dict[tuple[str, str], list[str]] = {}
    for _, outcome, fate in attempts:
        if outcome.stored:
            continue
        if fate == "skipped" and outcome.detail:
            words.setdefault(outcome.what, Counter())[outcome.detail] += 1
        elif fate != "skipped" and outcome.reason:
            failures.setdefault((fate, outcome.reason), []).append(f"{outcome.name} ({outcome.what})")
    lines = []
    for (fate_name, reason), names in failures.items():
        more = f" and {len(names) - MAX_NAMES:,} more" if len(names) > MAX_NAMES else ""
        lines.append(f"{fate_name.capitalize()}: {reason}: {', '.join(names[:MAX_NAMES])}{more}.")
    for kind, counts in words.items():
        listed = ", ".join(f"{word} {n:,}" for word, n in counts.most_common())
        lines.append(f"Kept out of {kind}, by a word: {listed}.")
    return tuple(lines)


UNCHANGED_FIELDS = (
    *("group", "category", "format", "options", "answer", "references", "steps", "step", "false_answer"),
    *("must", "nice", "rubric", "source", "weight", "outer_groups"),
)
"""What a variant has of its base item, whatever was changed."""


def store_benchmark(run: RunFile, items: str) -> None:
    """Store the items of a benchmark of which the run holds none yet, so that they can be varied."""
    exam = with_view(run, load_benchmark, items)
    if run.exists:
        with run.reading() as db:
            if any(b.benchmark == exam.items[0].benchmark for b in read.benchmarks(db)):
                return
    with run.writing() as db:
        store_loaded(db, exam, exam.items)
        put_provenance(db, "vary", {"benchmark": exam.spec}, changed=len(exam.items))


def vary(
    run: RunFile,
    texts: Sequence[str],
    *,
    items: str | None = None,
    check: str | None = None,
    mark: bool = False,
    seed: int | None = None,
    desk: "ModelClient | None" = None,
    counting: "CountingClient | None" = None,
    executor: Executor | None = None,
) -> Finding:
    """Make what these specs of variations name, check it, and store what is new.

    `items` is a benchmark's spec that restricts what is varied. `check` is a model that is asked whether the
    right answer to each new item is still the same. What fails a check is dropped, or with `mark` kept and
    marked (`meta["check"]`). `seed` is for every variation that states none. Without a `desk` nobody is asked
    and nothing is stored: the rows say what could be made, and `counting` refuses a model that could not be
    asked. What asks no model is made through the
    `executor`, by default in this process.

    A row per variation and kind: `made` new, `there` already, `marked` (a part of made), `dropped`, `skipped`
    where nothing could be made, with the `reasons` of the last three and how often; `rows` new items and
    responses; `requests` that a model would be sent first. Raises `InputError` for what the run holds already
    from another spec, `SpecError` for a spec that names nothing.
    """
    if not texts:
        raise InputError('nothing to make: name a variation, such as "bias(type=recency)".')
    variations = [_build(text, seed) for text in texts]
    with_items = None if items is None else with_view(run, load_benchmark, items)
    stored, stock, gone = _stock(run, with_items)
    bases = {(i.benchmark, i.item): i for i in stock.bases}
    attempts = [
        Attempt(spec, _with_origin(_without_conversations(outcome), spec, bases))
        for spec, variation in zip(map(str, variations), variations, strict=True)
        for outcome in _with_forgotten(_outcomes(variation, stock, desk, executor), gone)
    ]
    attempts = _against_stored(attempts, stored)
    if counting is not None:
        _check_models(counting, variations, attempts)
    if check is not None:
        attempts = _check_by_model(attempts, bases, check, desk, counting)
    attempts = [_apply_check(attempt, mark=mark) for attempt in attempts]
    if desk is not None and any(
        attempt.outcome.records and not attempt.outcome.stored for attempt in attempts
    ):
        settings = {"variations": [str(v) for v in variations], "items": items, "check": check,
                    "mark": mark}  # fmt: skip
        with run.writing() as db:
            attempts = _against_stored(
                attempts, _stored_items(db)
            )  # another process may have made some of it since we looked
            new = [
                item_or_response
                for attempt in attempts
                if not attempt.outcome.stored
                for item_or_response in attempt.outcome.records
            ]
            _store(db, new)
            put_provenance(db, "vary", settings, changed=len(new))
    lines = rows(attempts)
    n_stored = sum(row["there"] for row in lines)
    unchecked = (
        (f"{n_stored:,} were there already and were not checked again by {check}.",)
        if check and n_stored
        else ()
    )
    return Finding(
        study="vary",
        rows=tuple(lines),
        text=sentence(lines, dry=desk is None),
        notes=(*unchecked, *notes(attempts)),
    )


def _check_models(
    counting: "CountingClient", variations: Sequence[Variation], attempts: Sequence[Attempt]
) -> None:
    """Raise a `VivaError` for a model that variations would ask, and that could not be asked."""
    asking = {attempt.variation for attempt in attempts if attempt.outcome.requests}
    for variation in variations:
        for model in variation.models_to_ask if str(variation) in asking else ():
            counting.check_asking(counting.candidate(model))


def _outcomes(
    variation: Variation, stock: Stock, desk: "ModelClient | None", executor: Executor | None
) -> Iterable[Outcome]:
    """What comes of a variation, in the order in which it makes it."""
    pieces = variation.shards(stock) if executor and executor.has_workers else ()
    if executor and pieces:
        return outcomes_by_workers(variation, pieces, executor)
    return variation.makes(stock, desk)


def _build(text: str, seed: int | None) -> Variation:
    spec = specs.parse(text) if isinstance(text, str) else text
    entry = registry.find("variation", spec.name)
    if seed is not None and "seed" not in spec.settings and any(f.name == "seed" for f in fields(entry.cls)):
        spec = specs.Spec(spec.name, {**spec.settings, "seed": seed})
    variation: Variation = registry.build("variation", spec)
    return variation


def _with_forgotten(outcomes: Iterable[Outcome], gone: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes with those of what was forgotten, of questions alone where variants of questions came."""
    tried = list(outcomes)
    of_items = any(isinstance(part, Item) for outcome in tried for part in outcome.records)
    return [*tried, *(outcome for outcome in gone if outcome.what == "questions" or not of_items)]


def _stock(run: RunFile, exam: Loaded | None) -> tuple[dict[ItemKey, Item], Stock, list[Outcome]]:
    """All items of the run by key, what of it is to be varied, and what of it was forgotten."""
    if not run.exists and exam is not None:  # nothing is stored yet, nor will be: a dry run
        return {}, Stock(exam.items), []
    with run.reading() as db:
        stored = _stored_items(db)
        responses = read.stored_responses(db)
        answers_gone = forgotten_answers(db)
        roles = {candidate.candidate: candidate.role for candidate in read.candidates(db)}
        origins = {ResponseKey(*key): origin for key, origin in made_responses(db).items()}
        marked = {ResponseKey(*key): passages for key, passages in marked_passages(db).items()}
    chosen = stored
    if exam is not None:
        keys = set(map(_key, exam.items))
        if not any(benchmark == exam.items[0].benchmark for benchmark, *_ in stored):
            return stored, Stock(exam.items), []
        chosen = {k: i for k, i in stored.items() if k in keys}
    bases = [item for item in chosen.values() if item.origin is None]
    if not bases:
        raise InputError(f"{run.path} holds none of the items to vary: name a benchmark with --items.")
    answers = [
        Response(**ResponseKey(*key)._asdict(), text=answer.text, final=answer.final, ending=answer.ending)
        for key, answer in responses.items()
        if answer.text is not None and origins.get(ResponseKey(*key)) is None and not ResponseKey(*key).edit
        and key[:5] not in answers_gone
    ]  # fmt: skip
    gone = _gone(chosen, [key for key in answers_gone if origins.get(ResponseKey(*key, "")) is None])
    bases = [item for item in bases if not is_forgotten(item.meta)]
    return stored, Stock(bases, answers, roles, origins, marked), gone


def _gone(chosen: Mapping[ItemKey, Item], answers: Iterable[tuple[Any, ...]]) -> list[Outcome]:
    """What of the chosen questions was forgotten, and of these answers, where the question was not."""
    items = [item for item in chosen.values() if item.origin is None and is_forgotten(item.meta)]
    answered = [item for key in sorted(answers) if (item := chosen.get(key[:3])) and item not in items]
    return [
        *(Outcome("questions", item.name, reason=NOTE) for item in items),
        *(Outcome("answers", item.name, reason=NOTE) for item in answered),
    ]


def _key(item: Item) -> ItemKey:
    return (item.benchmark, item.item, item.variant)


def _stored_items(db: sqlite3.Connection) -> dict[ItemKey, Item]:
    return {_key(item): item for item in read.items_by_id(db).values()}


def _without_conversations(outcome: Outcome) -> Outcome:
    """The outcome, without a variant of a conversation: its messages are asked as they stand."""
    if any(isinstance(part, Item) and part.messages for part in outcome.records):
        return outcome._replace(records=(), reason="the messages of a conversation are asked as they stand")
    return outcome


def _with_origin(outcome: Outcome, variation: str, bases: Mapping[tuple[str, str], Item]) -> Outcome:
    """The outcome with origin and the hash of the base item in what was made, and nothing of its key changed.

    Raises `InputError` for a variation, such as a plugin's, that changes what it must not.
    """
    sealed: list[Item | Response] = []
    for part in outcome.records:
        if isinstance(part, Item):
            base = bases[part.benchmark, part.item]
            changed = next(
                (name for name in UNCHANGED_FIELDS if getattr(part, name) != getattr(base, name)), None
            )
            if changed is not None or not part.variant:
                what = changed or "variant"
                raise InputError(
                    f"{variation} cannot be used: the {what} of what it makes of {base.name!r} is not as it "
                    "must be; a variant has a name of its own, and the key of its question."
                )
            origin = part.origin or variation
            part = replace(formats.check(part), origin=origin, meta={**part.meta, "base_hash": base.hash})
        sealed.append(part)
    return outcome._replace(records=tuple(sealed))


def _against_stored(attempts: Sequence[Attempt], stored: Mapping[ItemKey, Item]) -> list[Attempt]:
    """The attempts, those that the run holds already marked so; variants of the benchmark itself are left
    alone.

    Raises `InputError` for a variant that is stored under another spec, or in other words.
    """
    checked: list[Attempt] = []
    origins: dict[ItemKey, str | None] = {}
    for attempt in attempts:
        items = [record for record in attempt.outcome.records if isinstance(record, Item)]
        published = next((i for i in items if _key(i) in stored and stored[_key(i)].origin is None), None)
        if published is not None:
            reason = f"the exam has its own {published.variant} twin"
            outcome = attempt.outcome._replace(records=(), reason=reason)
            checked.append(attempt._replace(outcome=outcome))
            continue
        for item in items:
            earlier = stored.get(_key(item))
            origin = earlier.origin if earlier else origins.setdefault(_key(item), item.origin)
            _refuse_other_variant(item, earlier, origin)
        if items and all(_key(i) in stored and stored[_key(i)].hash == i.hash for i in items):
            attempt = attempt._replace(outcome=attempt.outcome._replace(stored=True))
        checked.append(attempt)
    return checked


def _refuse_other_variant(item: Item, earlier: Item | None, origin: str | None) -> None:
    if origin != item.origin:
        raise InputError(
            f"{item.name} is from {origin}, not from {item.origin}: one question has one such twin "
            "in a run. Name the same spec, or use another run."
        )
    same_base = earlier is not None and earlier.meta.get("base_hash") == item.meta["base_hash"]
    if earlier is not None and same_base and earlier.hash != item.hash:
        raise InputError(
            f"{item.name} was made by another version of vivavoce, in other words: what is made is "
            "kept. Use another run."
        )


def _check_by_model(
    attempts: Sequence[Attempt],
    bases: Mapping[tuple[str, str], Item],
    model: str,
    desk: "ModelClient | None",
    counting: "CountingClient | None",
) -> list[Attempt]:
    """What a model says of the new items that passed every other check."""
    pairs = [
        (k, item)
        for k, attempt in enumerate(attempts)
        if not attempt.outcome.stored and attempt.outcome.reason is None
        for item in attempt.outcome.records
        if isinstance(item, Item) and item.hash != item.meta["base_hash"]
    ]
    outcomes = [attempt.outcome for attempt in attempts]
    if desk is None:
        _count_checks(outcomes, [k for k, _ in pairs], model, counting)
    else:
        requests = [about_twin(bases[item.benchmark, item.item], item) for _, item in pairs]
        readers = [partial(read_verdict, request=request) for request in requests]
        verdicts = desk.ask(model, requests, readers, purpose="vary check")
        for (k, item), verdict in zip(pairs, verdicts, strict=True):
            if outcomes[k].reason is not None:
                continue
            if verdict.value is None:
                outcomes[k] = outcomes[k]._replace(
                    reason="the check brought no verdict", detail=verdict.reason
                )
            elif not verdict.value.same:
                reason = "the model that checked says that the right answer changed"
                outcomes[k] = outcomes[k]._replace(
                    reason=reason, detail=f"{item.variant}: {verdict.value.why}"
                )
        for k in {k for k, _ in pairs if outcomes[k].reason is None}:
            annotated = tuple(_with_meta(part, check=None, checked_by=model) for part in outcomes[k].records)
            outcomes[k] = outcomes[k]._replace(records=annotated)
    return [trial._replace(outcome=outcome) for trial, outcome in zip(attempts, outcomes, strict=True)]


def _count_checks(
    outcomes: list[Outcome], numbers: Sequence[int], model: str, counting: "CountingClient | None"
) -> None:
    """Add the requests of a check to outcomes of these numbers. Raises a `VivaError` as asking would."""
    if counting:
        candidate = counting.candidate(model)
        if numbers:
            counting.check_asking(candidate)
    for k in numbers:
        outcomes[k] = outcomes[k]._replace(requests=outcomes[k].requests + 1)


def _with_meta(part: Item | Response, **entries: str | None) -> Any:
    """The same with more in `meta`; null takes out."""
    meta = {k: v for k, v in {**part.meta, **entries}.items() if v is not None}
    return replace(part, meta=meta)


def _apply_check(attempt: Attempt, *, mark: bool) -> Attempt:
    """What failed a check without what was made, or with it, marked."""
    outcome = attempt.outcome
    if outcome.stored or not outcome.records or outcome.reason is None:
        return attempt
    if not mark:
        return attempt._replace(outcome=outcome._replace(records=()), fate="dropped")
    note = outcome.reason if outcome.detail is None else f"{outcome.reason} ({outcome.detail})"
    return attempt._replace(
        outcome=outcome._replace(records=tuple(_with_meta(m, check=note) for m in outcome.records)),
        fate="marked",
    )


def _store(db: sqlite3.Connection, parts: Sequence[Item | Response]) -> None:
    items = [m for m in parts if isinstance(m, Item)]
    responses = [m for m in parts if isinstance(m, Response)]
    for benchmark_row in read.benchmarks(db):
        new = [item for item in items if item.benchmark == benchmark_row.benchmark]
        if new:  # a new version only of a twin whose base item has one: `_against_stored` refused all others
            put_benchmark(
                db,
                benchmark_row.card,
                new,
                spec=benchmark_row.spec,
                signature=benchmark_row.signature,
                new_version=True,
            )
    if not responses:
        return
    candidates_stored = {row.candidate for row in read.candidates(db)}
    ceilings = {r.candidate for r in responses} - candidates_stored
    candidates = put_candidates(db, dict.fromkeys(sorted(ceilings), "ceiling"))
    keys = {_key(item): key for key, item in read.items_by_id(db).items()}
    for benchmark in sorted({r.benchmark for r in responses}):
        put_responses(
            db,
            [r for r in responses if r.benchmark == benchmark],
            items={(item, variant): key for (b, item, variant), key in keys.items() if b == benchmark},
            candidates=candidates,
        )
