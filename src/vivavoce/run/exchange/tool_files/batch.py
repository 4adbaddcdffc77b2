"""Files of requests for the OpenAI Batch API: what candidates have still to be asked.

`viva import RUN RESULTS --from openai-batch` stores what comes back as `viva collect` would have.
"""

import sqlite3
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from vivavoce.core.errors import EgressError, InputError
from vivavoce.core.net import is_local
from vivavoce.core.private_files import new_bytes
from vivavoce.core.records import Item, ItemKey
from vivavoce.core.registry import exporter
from vivavoce.core.specs import Spec, parse
from vivavoce.models.candidates import CandidateConfig, parse_candidate
from vivavoce.models.endpoints import EndpointConfig, load_endpoints
from vivavoce.models.engine.egress import refuse_patients, refuse_text
from vivavoce.models.http_client import endpoint_of, host_of
from vivavoce.models.providers.openai import OpenAIProvider, accepted_names, chat_payload
from vivavoce.models.ranges import check_option
from vivavoce.run.collect import reworded
from vivavoce.run.exchange.batches import BatchRequest, BatchSettings, batch_requests, put_batch
from vivavoce.run.exchange.exporters import Exporter
from vivavoce.run.exchange.rebuilt_requests import RebuiltRequests
from vivavoce.run.exchange.tool_files.asked import file_slug
from vivavoce.run.exchange.tool_files.files import ExportedFiles, FileWritten, exported_files, json_text
from vivavoce.run.tables.load import select_items
from vivavoce.run.tables.run_tables import RunTables
from vivavoce.run.tables.stored_benchmarks import load_benchmark, store_loaded
from vivavoce.store import read
from vivavoce.store.asked import asked_last, unanswered
from vivavoce.store.redacted import refuse_redacted
from vivavoce.store.runfile import RunFile
from vivavoce.store.view import with_view

MOST_LINES, MOST_BYTES = 50_000, 200_000_000
"""The largest file that the Batch API takes."""
_URL = "/v1/chat/completions"
_ABOUT = """
Requests for the OpenAI Batch API, one file at least for each candidate: what it has still to be asked.
A file has at most 50,000 lines and 200 MB. Upload each as a batch of /v1/chat/completions, then
`viva import RUN RESULTS… --from openai-batch` with the files of results and of errors.
"""


class _Plan(NamedTuple):
    """What is to be asked of a candidate on a benchmark."""

    entry: read.Benchmark
    items: tuple[Item, ...]
    settings: BatchSettings


@exporter("batch")
class Batch(Exporter):
    """Requests that are still to be made, as the OpenAI Batch API takes them.

    Without a `candidate`, what the run's collects left unasked; with one, its items in so many `repeats`, by
    default as often as a collect asked. `benchmark` brings items into a run that has none of it.
    """

    candidate: str | None = None
    repeats: int | None = None
    benchmark: str | None = None
    providers: Path | None = None
    limit_name: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"
    allow_phi: bool = False
    items: str | None = None
    redact: bool = False
    skips_credentialed: ClassVar[bool] = True

    def write(self, run: RunTables, to: Path) -> tuple[FileWritten, ...]:
        """Write the files, and keep in the run what they ask.

        Raises `InputError` where nothing is to be asked, a candidate is not reached by chat completions, or
        was asked in other words before; `EgressError` for what looks like patient data.
        """
        if self.redact:
            raise InputError("a request is texts, and --redact hides them: export batch without it.")
        check_option("repeats", self.repeats)
        file = run.file
        if self.benchmark:
            loaded = with_view(file, load_benchmark, self.benchmark)
            with file.writing() as db:
                store_loaded(db, loaded, loaded.items)
        chosen = with_view(file, select_items, self.items)
        with exported_files(to, file, _ABOUT) as files:
            plans = [plan for plan in self._plans(file, chosen, files)]
            written = [plan for plan in plans if self._write_requests(file, plan, files)]
            if not written:
                why = "; ".join(f"{n:,} {reason}" for reason, n in files.counts.items())
                raise InputError(
                    f"{file.path}: nothing is left to be asked in a batch{f' ({why})' if why else ''}: --set "
                    "candidate=openai/MODEL names who is to be asked."
                )
            with file.writing() as db:
                for plan in written:
                    put_batch(db, plan.settings)
        return files.written

    def _plans(self, run: RunFile, chosen: set[ItemKey] | None, files: ExportedFiles) -> Iterator[_Plan]:
        """What is to be asked of each candidate; the items of credentialed benchmarks are counted."""
        with run.reading() as db:
            refuse_redacted(db, "a request is texts")
            entries, stored = read.benchmarks(db), read.items_by_id(db).values()
            collects = _collects(db)
        endpoints = load_endpoints(self.providers)
        named = _name_of(run, self.benchmark) if self.benchmark else None
        for entry in entries:
            items = _items_to_ask(entry, stored, chosen, files)
            if not items or named not in (None, entry.benchmark):
                continue
            for label, repeats in self._repeats(entry, collects, endpoints).items():
                if settings := self._settings(entry, label, repeats, endpoints, files):
                    yield _Plan(entry, items, settings)

    def _settings(
        self, entry: read.Benchmark, label: str, repeats: int, endpoints: Mapping[str, EndpointConfig],
        files: ExportedFiles,
    ) -> BatchSettings | None:  # fmt: skip
        """The batch of a candidate; null, and counted, for one that no chat completions are asked of.

        Raises `InputError` where the user named that one.
        """
        config = _config(label, endpoints)
        if issubclass(config.provider, OpenAIProvider) and config.endpoint:
            return _settings(entry, label, repeats, config, config.endpoint)
        if self.candidate:
            raise InputError(f"{label} is not reached by chat completions, and a batch is of those.")
        files.left_out["candidates: not reached by chat completions"] += 1
        return None

    def _repeats(
        self, entry: read.Benchmark, collects: list[dict[str, Any]], endpoints: Mapping[str, EndpointConfig]
    ) -> dict[str, int]:
        """Who is to be asked, by label, and how often."""
        repeats: dict[str, int] = {}
        for row in collects:
            if row.get("benchmark") == entry.spec:
                for label in row.get("candidates") or ():
                    repeats[label] = max(repeats.get(label, 1), int(row.get("repeats") or 1))
        if self.candidate:
            label = str(parse(self.candidate))
            if label not in repeats:
                label = str(parse_candidate(self.candidate, endpoints).with_label.spec)
            repeats = {label: repeats.get(label, 1)}
        return {label: self.repeats or n for label, n in repeats.items()}

    def _write_requests(self, run: RunFile, plan: _Plan, files: ExportedFiles) -> bool:
        """Write the requests of a candidate; whether there is one."""
        self._check(run, plan)
        candidate, repeats = plan.settings.candidate, range(1, plan.settings.repeats + 1)
        with run.reading() as db:
            open_repeats = {
                (item.item, item.variant, repeat)
                for repeat in repeats
                for item in unanswered(db, plan.items, candidate, repeat=repeat)
            }
        pending = (
            entry
            for entry in batch_requests(plan.entry, plan.items, plan.settings)
            if (entry.item.item, entry.item.variant, entry.repeat) in open_repeats
        )
        stem = f"{file_slug(plan.entry.benchmark)}-{file_slug(plan.settings.candidate)}"
        number, stem = 0, files.unused(stem, "-001.jsonl")
        for lines in _parts(self._line(plan, entry) for entry in _once(pending)):
            number += 1
            name, n = f"{stem}-{number:03}.jsonl", 0
            with new_bytes(files.new(name)) as stream:
                for line in lines:
                    stream.write(line)
                    n += 1
            files.add(name, n, plan.entry.benchmark, plan.settings.candidate)
        return bool(number)

    def _check(self, run: RunFile, plan: _Plan) -> None:
        """Raise a `VivaError` for items that may not leave, or a candidate that was asked otherwise."""
        settings, rebuilt = plan.settings, RebuiltRequests(plan.entry, plan.items)
        items = {(item.item, item.variant): item for item in plan.items}
        last = asked_last(run, plan.entry.benchmark, settings.candidate)
        item = items.get((last.item, last.variant)) if last else None
        if last and item and rebuilt.request(item, settings.candidate, last.repeat).key != last.key:
            raise reworded(settings.candidate, item)
        place = host_of(settings.endpoint)
        if self.allow_phi or is_local(place):
            return
        of_candidate = rebuilt.settings(settings.candidate)
        try:
            for source, text in rebuilt.builder(of_candidate).shared_texts(of_candidate):
                refuse_text(f"the {source} for {settings.candidate}", [text], place)
            refuse_patients(plan.items, [place])
        except EgressError as error:
            raise EgressError(str(error).replace("--allow-phi", "--set allow_phi=true")) from None

    def _line(self, plan: _Plan, entry: BatchRequest) -> bytes:
        body = chat_payload(plan.settings.model, entry.request, self.limit_name)
        row = {"custom_id": entry.custom_id, "method": "POST", "url": _URL, "body": body}
        return f"{json_text(row)}\n".encode("utf-8", "replace")


def _name_of(run: RunFile, spec: str) -> str:
    return with_view(run, load_benchmark, spec).items[0].benchmark


def _collects(db: sqlite3.Connection) -> list[dict[str, Any]]:
    """What collects of answers in words asked."""
    return [row for row in read.provenance(db) if row["verb"] == "collect" and not row.get("for")]


def _items_to_ask(
    entry: read.Benchmark, stored: Collection[Item], chosen: set[ItemKey] | None, files: ExportedFiles
) -> tuple[Item, ...]:
    """The items of a benchmark that a batch may ask; the others are counted."""
    items = [item for item in stored if _is_chosen(item, entry.benchmark, chosen)]
    if entry.card.access == "credentialed":
        files.left_out["questions: of a credentialed benchmark"] += len(items)
        return ()
    later = [item for item in items if item.follows is not None]
    files.left_out["questions: later turns, which wait for the answers before them"] += len(later)
    return tuple(item for item in items if item.follows is None)


def _is_chosen(item: Item, benchmark: str, chosen: set[ItemKey] | None) -> bool:
    """Whether an item is of a benchmark, and among the chosen ones."""
    is_named = chosen is None or (item.benchmark, item.item, item.variant) in chosen
    return is_named and item.benchmark == benchmark


def _config(label: str, endpoints: Mapping[str, EndpointConfig]) -> CandidateConfig:
    """The candidate of a label; what a preset stands for is no setting of its provider."""
    spec = parse(label)
    settings = {name: value for name, value in spec.settings.items() if name != "preset"}
    return parse_candidate(str(Spec(spec.name, settings)), endpoints)


def _settings(
    entry: read.Benchmark, label: str, repeats: int, config: CandidateConfig, endpoint: EndpointConfig
) -> BatchSettings:
    if endpoint.base_url is None:
        raise InputError(f"{endpoint.name} has no base URL: set {endpoint.variable}, or base_url in a file.")
    return BatchSettings(
        benchmark=entry.benchmark,
        candidate=label,
        role=config.role,
        repeats=repeats,
        model=config.model,
        endpoint=endpoint_of(endpoint.base_url),
        price=config.price,
        accept=accepted_names(endpoint, config.model),
    )


def _once(requests: Iterator[BatchRequest]) -> Iterator[BatchRequest]:
    """Each id once: items that are asked alike share a reply."""
    ids: set[str] = set()
    for entry in requests:
        if entry.custom_id not in ids:
            ids.add(entry.custom_id)
            yield entry


def _parts(lines: Iterator[bytes]) -> Iterator[Iterator[bytes]]:
    """The lines in as many parts as the limits ask for; each part is read before the next one."""
    first = next(lines, None)

    def part() -> Iterator[bytes]:
        nonlocal first
        n = size = 0
        while first is not None and n < MOST_LINES and size + len(first) <= MOST_BYTES:
            line = first
            n, size = n + 1, size + len(line)
            first = next(lines, None)
            yield line

    while first is not None:
        if len(first) > MOST_BYTES:
            raise InputError(f"a request has {len(first):,} bytes, and a batch takes {MOST_BYTES:,} at most.")
        yield part()
