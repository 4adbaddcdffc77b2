"""The report's machine-readable twin: what stands on the page, as rows under their `section`."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

__all__ = ["as_rows"]

Row = dict[str, Any]
_DRAWN = {"figure", "figures"}


def as_rows(values: Mapping[str, Any]) -> list[Row]:
    """Rows of the page's variables (`variables.rows`); charts stand in it as their titles.

    A figure that is not there is null, and its row then has a `reason` where one is known; what is no
    number (NaN, infinite) becomes null too, and `reason` names the field.
    """
    return [_plain(section, row) for section, row in _rows(values)]


def _rows(v: Mapping[str, Any]) -> Iterator[tuple[str, Row]]:
    totals = {label.replace(" ", "_"): n for label, n in v["totals"]}
    yield (
        "run",
        {
            "name": v["name"],
            "version": v["version"],
            "items": v["selection"],
            **totals,
            "questions_told": v["n_told"],
        },
    )
    for lead in v["leads"]:
        reason = None if lead["words"] else "no candidate has an estimate"
        yield "answer", {**lead, "reason": reason}
    for board in v["boards"]:
        low, high = board.range
        shared = {"direction": board.direction, "if_unanswered": board.if_unanswered,
                  "range_low": low, "range_high": high, "stamp": board.stamp,
                  "saturated": board.saturated}  # fmt: skip
        places, stale = board.ranks or ({}, None)
        for row in board.rows:
            rank = places.get(row["candidate"])
            yield "leaderboard", {**row, **shared, "rank": rank, "rank_stale": stale}
    for name in ("coverage", "compliance"):
        yield from ((name, dict(row)) for row in v[name])
    for row in v["comparisons"]:
        yield "comparison", dict(row)
    for profile in v["profiles"]:
        shared = {k: x for k, x in profile.items() if k not in ("rows", "parts")}
        yield from (("profile", {**shared, **row}) for row in profile["rows"])
    yield from (("quartiles", dict(row)) for row in v["quartiles"])
    for name in ("matrix", "distributions", "against"):
        yield from (("chart", {"of": name, "title": f.title, "reason": f.sentence}) for f in v[name])
    for section in v["sections"]:
        kept = {k: section[k] for k in ("study", "made_at", "items", "elsewhere", "stale")}
        for line in (*section["said"], *section["further"], *_group_lines(section)):
            yield "sentence", {**kept, "text": line}
        for row in section["rows"]:
            yield "study", {**kept, **row}
    yield from (("examiner", dict(row)) for row in v["examiners"])
    explorer = v["explorer"]._asdict()
    yield "answers", {k: n for k, n in explorer.items() if k.startswith("n_")}
    yield from (("methods", {"text": paragraph}) for paragraph in v["methods"])
    for row in v["checklist"]:
        yield "checklist", {"part" if k == "section" else k: x for k, x in row.items()}
    for b in v["cards"]:
        yield "card", {"benchmark": b.benchmark, "spec": b.spec, "signature": b.signature, **asdict(b.card)}
    for name in ("contamination", "dates", "provenance"):
        yield from ((name, dict(row)) for row in v[name])
    yield from (("endpoint", dict(row)) for row in v["endpoints"])
    yield from (("identical repeats", {"candidate": name}) for name in v["identical"])
    yield from (("limitation", {"text": line}) for line in v["limitations"])


def _group_lines(section: Mapping[str, Any]) -> list[str]:
    return [group["said"] for group in section["groups"] if group["said"]]


def _plain(section: str, row: Row) -> Row:
    """The row as JSON can hold it."""
    wrong: list[str] = []
    made = {k: _value(x, k, wrong) for k, x in row.items() if k not in _DRAWN}
    if wrong:
        made["reason"] = "; ".join(filter(None, (made.get("reason"), f"no number: {', '.join(wrong)}")))
    return {"section": section, **made}


def _value(value: Any, name: str, wrong: list[str]) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        wrong.append(name)
        return None
    if isinstance(value, Mapping):
        return {str(k): _value(x, f"{name}.{k}", wrong) for k, x in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_value(x, name, wrong) for x in value]
    return value
