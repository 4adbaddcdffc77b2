"""Batches of requests: what a run asked for in one, under ids that tell candidate, request and repeat.

The run keeps the settings of each batch and builds its requests again when results come. An id is a hash of
the request, so a reply can never be taken for the answer to another one.
"""

import hashlib
import json
import re
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.records import Item
from vivavoce.models.requests import Request
from vivavoce.run.exchange.rebuilt_requests import RebuiltRequests
from vivavoce.store import read
from vivavoce.store.write import put_provenance

VERB = "batch"
"""The verb of provenance under which a run keeps the settings of a batch."""
BATCH_ID = re.compile(r"viva-[0-9a-f]{40}")


class BatchSettings(NamedTuple):
    """A candidate's batch: which benchmark and repeats it is about, and how its model is reached.

    `price` is per million tokens, (input, output), null where it is not known. `accept` are further names
    under which the endpoint may answer.
    """

    benchmark: str
    candidate: str
    role: str
    repeats: int
    model: str
    endpoint: str
    price: tuple[float, float] | None
    accept: tuple[str, ...]


class BatchRequest(NamedTuple):
    """A request for an item in a repeat, under its id; items that are asked alike have one id."""

    custom_id: str
    item: Item
    repeat: int
    request: Request


def batch_requests(
    entry: read.Benchmark, items: Sequence[Item], settings: BatchSettings
) -> Iterator[BatchRequest]:
    """The requests of a batch: the first repeat of every item, then the second, and so on.

    Raises `VivaError` where one cannot be built: a prompt file, the data of examples or an item in them are
    gone.
    """
    rebuilt = RebuiltRequests(entry, tuple(items))
    for repeat in range(1, settings.repeats + 1):
        for item in items:
            try:
                request = rebuilt.request(item, settings.candidate, repeat)
            except KeyError:
                raise InputError(
                    f"{entry.spec} has no item {item.name!r} any more, so its examples cannot be drawn."
                ) from None
            yield BatchRequest(_id(settings, request.key, repeat), item, repeat, request)


def _id(settings: BatchSettings, key: str, repeat: int) -> str:
    text = json.dumps([settings.benchmark, settings.candidate, key, repeat], ensure_ascii=False)
    return f"viva-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:40]}"


def put_batch(db: sqlite3.Connection, settings: BatchSettings) -> None:
    """Keep the settings of a batch in the run, once."""
    if settings not in batches(db):
        put_provenance(db, VERB, settings._asdict(), changed=0)


def batches(db: sqlite3.Connection) -> list[BatchSettings]:
    """The batches of a run, the newest first."""
    stored: list[BatchSettings] = []
    row_names = BatchSettings._fields
    for row in reversed(read.provenance(db)):
        if row["verb"] == VERB and all(name in row for name in row_names):
            values: dict[str, Any] = {
                name: tuple(value) if isinstance(value := row[name], list) else value for name in row_names
            }
            stored.append(BatchSettings(**values))
    return stored
