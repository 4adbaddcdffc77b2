"""What a vary made, in rows and sentences."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from vivavoce.vary.outcomes import Outcome

__all__ = ["Tried", "notes", "rows", "sentence"]

COUNTS = ("made", "there", "marked", "dropped", "skipped", "rows", "requests")
SHOWN = 5
"""How many of those that failed a check are named."""


class Tried(NamedTuple):
    """An outcome of a variation, by the spec that was asked for; `fate` is that of one with a reason."""

    variation: str
    outcome: Outcome
    fate: Literal["skipped", "dropped", "marked"] = "skipped"


def rows(tried: Iterable[Tried]) -> list[dict[str, Any]]:
    """A row for each variation and kind, in the order of the outcomes."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for variation, o, fate in tried:
        row = found.setdefault(
            (variation, o.what),
            {"variation": variation, "what": o.what, **dict.fromkeys(COUNTS, 0), "reasons": {}},
        )
        state = "there" if o.there else "made" if o.made else fate
        row[state] += 1
        row["marked"] += fate == "marked"
        row["rows"] += 0 if o.there else len(o.made)
        row["requests"] += o.requests
        if o.reason is not None and not o.there:
            row["reasons"][o.reason] = row["reasons"].get(o.reason, 0) + 1
    return list(found.values())


def sentence(rows: Sequence[Mapping[str, Any]], *, dry: bool) -> str:
    """What the rows come to; `dry` if nothing was to be made."""
    n = {name: sum(row[name] for row in rows) for name in COUNTS}
    if dry:
        asked = (
            f"; for the rest and for checks {n['requests']:,} requests would be sent" if n["requests"] else ""
        )
        return f"{n['rows']:,} rows could be made without asking a model{asked}. Nothing was stored."
    parts = [f"{n['rows']:,} rows were made"]
    parts += [f"{n['there']:,} were there already"] if n["there"] else []
    parts += [f"{n['marked']:,} failed a check and are marked"] if n["marked"] else []
    parts += [f"{n['dropped']:,} failed a check and were dropped"] if n["dropped"] else []
    parts += [f"{n['skipped']:,} could not be made"] if n["skipped"] else []
    return f"{'; '.join(parts)}."


def notes(tried: Sequence[Tried]) -> tuple[str, ...]:
    """Which failed a check, by reason; and by which words questions were kept out."""
    words: dict[str, Counter[str]] = {}
    for _, o, fate in tried:
        if fate == "skipped" and not o.there and o.detail:
            words.setdefault(o.what, Counter())[o.detail] += 1
    named: dict[tuple[str, str], list[str]] = {}
    for _, o, fate in tried:
        if fate != "skipped" and not o.there and o.reason:
            named.setdefault((fate, o.reason), []).append(f"{o.name} ({o.what})")
    kept_out = (
        f"Kept out of {what}, by a word: {', '.join(f'{word} {n:,}' for word, n in found.most_common())}."
        for what, found in words.items()
    )
    failed = (
        f"{fate.capitalize()}: {reason}: {', '.join(names[:SHOWN])}"
        f"{f' and {len(names) - SHOWN:,} more' if len(names) > SHOWN else ''}."
        for (fate, reason), names in named.items()
    )
    return (*failed, *kept_out)
