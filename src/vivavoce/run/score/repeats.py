"""Repeats for metrics that score a response beside the candidate's other answers to the item."""

from collections.abc import Iterable, Iterator, Sequence

from vivavoce import formats
from vivavoce.core import registry, specs
from vivavoce.core.errors import VivaError
from vivavoce.core.records import ItemKey, Reading, Row, Value
from vivavoce.metrics import ScoringContext
from vivavoce.store import read
from vivavoce.store.pending import Pending
from vivavoce.store.runfile import RunFile

LENGTH = 1_000_000
"""Characters of a batch: what metrics keep of long answers would otherwise fill the memory."""


def batches(
    todo: Iterable[Pending], size: int, context: ScoringContext, *, with_repeats: bool
) -> Iterator[list[Pending]]:
    """The responses, so many at a time, fewer where they are long or encoders make much of them.

    What encoders make of a batch fits in memory, so that no metric drops what the next one needs. With
    repeats all those of a candidate to an item come in one batch.
    """
    batch: list[Pending] = []
    length = nbytes = 0
    for p in todo:
        footprint = context.footprint((p.response.text or "", *p.item.references))
        is_full = len(batch) >= size or length >= LENGTH or nbytes + footprint > context.MAX_BYTES
        if batch and is_full and not (with_repeats and _place(p) == _place(batch[-1])):
            yield batch
            batch, length, nbytes = [], 0, 0
        batch.append(p)
        length += _length(p)
        nbytes += footprint
    if batch:
        yield batch


def texts(p: Pending) -> tuple[str, ...]:
    """What an encoder reads of a response: its text as the format reads it, and the references."""
    parsed = formats.read_response(p.item, p.response.parts).parsed
    read_text = parsed if isinstance(parsed, str) else getattr(parsed, "text", "")
    return tuple(text.strip() for text in (read_text, *p.item.references) if text)


def _length(p: Pending) -> int:
    return len(p.response.text or "") + len(p.response.logprobs or "")


def _place(p: Pending) -> tuple[ItemKey, str]:
    return p.place, p.response.candidate


def with_other_repeats(batch: Sequence[Pending], read_as: Sequence[Row | Value]) -> list[Row | Value]:
    """The rows with the readings of the candidate's other answers to the item in the same form.

    A silence and an unreadable answer are readings too: asked again, the candidate said something else. A
    failed response says nothing of the candidate, and is none.
    """
    places = [(p.place, p.response.candidate, p.response.edit) for p in batch]
    readings: dict[tuple[ItemKey, str, str], dict[int, Reading]] = {}
    for number, (place, row) in enumerate(zip(places, read_as, strict=True)):
        if isinstance(row, Row):
            readings.setdefault(place, {})[number] = row.reading
        elif row.status in ("unanswered", "unreadable"):
            readings.setdefault(place, {})[number] = Reading(row.status, reason=row.note)
    return [
        row._replace(other_repeats=tuple(r for k, r in readings[place].items() if k != number))
        if isinstance(row, Row)
        else row
        for number, (place, row) in enumerate(zip(places, read_as, strict=True))
    ]


def measured_by_repeats(runs: Iterable[RunFile]) -> set[str]:
    """The signatures of the measures in these runs whose metric needs repeats, if it is registered here."""
    signatures = set()
    for run in runs:
        if not run.exists:
            continue
        with run.reading() as db:
            signatures |= {keyed.measure.signature for keyed in read.stored_measures(db)}
    return {signature for signature in signatures if _needs_repeats(signature)}


def _needs_repeats(signature: str) -> bool:
    signed = specs.signed(signature)
    if signed.recorded:
        return False
    try:
        return bool(registry.build("metric", signed.spec).needs_repeats)
    except VivaError:  # of a plugin that is not loaded, or a file that is gone
        return False
