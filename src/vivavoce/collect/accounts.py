"""The account of a collect in the run's provenance: what was asked of whom, and what left this machine."""

import sqlite3
from collections.abc import Mapping
from typing import Any, NamedTuple

from vivavoce.ask import Tally
from vivavoce.ask.egress import Privacy
from vivavoce.collect.orders import Order
from vivavoce.net import is_offline
from vivavoce.store import RunFile
from vivavoce.store.write import put_finding, put_provenance

__all__ = ["Begun", "begin", "close"]


class Begun(NamedTuple):
    """Rows that stand for a collect until it closes: of provenance, and of findings if it is a look."""

    step: int
    look: int | None


def begin(
    run: RunFile, wanted: Order, privacy: Privacy, total: int, models: Mapping[str, Mapping[str, Any]]
) -> Begun:
    """Keep, before the first request, what is about to be asked of whom and on whose word.

    A collect that is killed, or finds the disk full, leaves this. It counts all its requests as changes: some
    came, and findings made before must not pass for fresh.
    """
    told = {**_told(wanted, privacy, total), "models": models, "state": "begun"}
    with run.writing() as db:
        put_provenance(db, "collect", told, changed=total)
        step = _last(db)
        seen = db.execute("SELECT 1 FROM findings LIMIT 1").fetchone() is not None
        if not (seen and total):
            return Begun(step, None)
        put_finding(db, "collect", {**wanted.settings, "requests": total, "state": "begun"}, ())
        return Begun(step, _last(db))


def _last(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT last_insert_rowid()").fetchone()[0])


def _told(wanted: Order, privacy: Privacy, total: int) -> Mapping[str, Any]:
    return {
        **wanted.settings,
        "offline": is_offline(),
        "allow": list(privacy.allow),
        "allow_phi": privacy.allow_phi,
        "requests": total,
    }


def close(
    run: RunFile,
    wanted: Order,
    privacy: Privacy,
    tally: Tally,
    total: int,
    begun: Begun,
    models: Mapping[str, Mapping[str, Any]],
) -> bool:
    """What was asked of whom, what left this machine and how `models` here ran, into the run's provenance.

    It takes the place of what stood there when the collect began, so that one collect is one step. True if
    answers came after findings had been made from this run: that is a look at it, and kept as one.
    """
    sent = [
        {"endpoint": endpoint, "requests": n, "characters": tally.traffic.characters[endpoint]}
        for endpoint, n in tally.traffic.requests.items()
    ]
    told = {
        **_told(wanted, privacy, total),
        "answered": tally.answered,
        "failed": tally.failed,
        "left": tally.left if wanted.probes else total - tally.done,
        "cost": None if tally.unpriced else tally.cost,
        "sent": sent,
        "models": models,
    }
    with run.writing() as db:
        db.execute("DELETE FROM provenance WHERE provenance_id = ?", (begun.step,))
        db.execute("DELETE FROM findings WHERE finding_id = ?", (begun.look,))
        put_provenance(db, "collect", told, changed=tally.done)
        seen = db.execute("SELECT 1 FROM findings LIMIT 1").fetchone() is not None
        if seen and tally.answered:
            put_finding(db, "collect", {**wanted.settings, "answered": tally.answered}, ())
    return seen and tally.answered > 0
