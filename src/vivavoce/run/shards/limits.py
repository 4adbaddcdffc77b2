"""What a shard may do of the limits that all shards have in common, in rows and a sentence."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vivavoce.core.errors import InputError
from vivavoce.core.shards import Shard, ShardLimits
from vivavoce.models.candidates import CandidateConfig
from vivavoce.models.ranges import check_option
from vivavoce.models.rate_limit import Limits


def shards_sharing(shard: Shard | None, limits: ShardLimits) -> int:
    """Among how many the limits are divided. Raises `InputError` for a choice without a shard."""
    if limits not in ("divided", "whole"):
        raise InputError(f"--limits {limits}: divided or whole.")
    if shard is None and limits == "whole":
        raise InputError("--limits whole goes with --shard: without it the limits are whole.")
    return shard.of if shard and limits == "divided" else 1


def shard_cost(max_cost: float | None, shards: int) -> float | None:
    """The part of a limit of cost that each of so many shards keeps. Raises `InputError` for what is none."""
    check_option("max_cost", max_cost)
    return None if max_cost is None else max_cost / shards


def limits_rows(candidates: Iterable[CandidateConfig]) -> list[dict[str, Any]]:
    """By endpoint what this process may ask of it; nothing for what runs in the process itself."""
    limits = {c.endpoint.name if c.endpoint else c.spec.name: c.limits for c in candidates if c.shares_limits}
    return [{"endpoint": name, **_row(limit)} for name, limit in limits.items()]


def _row(limits: Limits) -> dict[str, int | None]:
    row = limits._asdict()
    del row["attempts"]
    return row


def limits_sentence(
    shard: Shard, rows: Sequence[Mapping[str, Any]], max_cost: float | None, undivided: Sequence[Limits]
) -> str:
    """What a shard may do, and whether one each is more than an endpoint takes; '' without limits."""
    parts = [f"{row['concurrency']:,} at once" + _rates(row) + f" at {row['endpoint']}" for row in rows]
    parts += [] if max_cost is None else [f"spend {max_cost:.4g}"]
    if not parts:
        return ""
    sentence = f"Shard {shard} may ask {', '.join(parts)}." if rows else f"Shard {shard} may {parts[0]}."
    if any(_passes(limits, shard.of) for limits in undivided):
        sentence += f" All {shard.of} together may pass the endpoint's limits, as each asks one at least."
    return sentence


def _rates(row: Mapping[str, Any]) -> str:
    rates = [("requests_per_minute", "requests"), ("tokens_per_minute", "tokens")]
    words = [f"{row[key]:,} {word} a minute" for key, word in rates if row[key] is not None]
    return f" ({', '.join(words)})" if words else ""


def _passes(limits: Limits, shards: int) -> bool:
    """Whether there are more shards than the endpoint takes at once."""
    numbers = (limits.concurrency, limits.requests_per_minute, limits.tokens_per_minute)
    return any(number is not None and number < shards for number in numbers)
