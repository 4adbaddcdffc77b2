"""Which code of a user's plugin gave the scores of a metric: the hash of its file, kept in provenance.

The version of a metric stands in its signature, and is raised by whoever writes it. Where that was forgotten,
the hash tells scores of two programs apart that bear one signature.
"""

import hashlib
import sqlite3
import sys
from collections.abc import Iterable, Iterator

from vivavoce.core import registry
from vivavoce.metrics import Metric
from vivavoce.store.damage import decoding
from vivavoce.store.runfile import RunFile
from vivavoce.store.stored_values import stored_object
from vivavoce.store.write import ScoreRow, put_provenance

VERB = "plugin metric"
"""The verb of provenance under which a run says by which code a metric of a plugin scored."""
_WHAT = "the code of a plugin's metric"


def remember_code(db: sqlite3.Connection, metric: Metric, scores: Iterable[ScoreRow]) -> None:
    """Store by which plugin file a metric gave these scores; the same once, and failed ones are of none."""
    code = _code_of(type(metric))
    if code is None or all(score.value.status == "failed" for score in scores):
        return
    body = {"signature": registry.signature(metric), "code": code}
    if code not in code_by_signature(db).get(body["signature"], ()):
        put_provenance(db, VERB, body, changed=0)


def _code_of(member: type) -> str | None:
    """The hash of the plugin files in which a class and its bases stand; null where they are in packages."""
    files = [str(getattr(sys.modules.get(base.__module__), "__file__", None)) for base in member.__mro__]
    hashes = [registry.plugins()[file] for file in dict.fromkeys(files) if file in registry.plugins()]
    if len(hashes) < 2:
        return hashes[0] if hashes else None
    return hashlib.sha256(" ".join(hashes).encode()).hexdigest()[:8]


def code_by_signature(db: sqlite3.Connection) -> dict[str, list[str]]:
    """By the signature of a plugin's metric the hashes of the code that scored by it, in their order."""
    rows = db.execute("SELECT body FROM provenance WHERE verb = ? ORDER BY provenance_id", (VERB,))
    bodies = [stored_object(body, _WHAT) for (body,) in rows]
    codes: dict[str, dict[str, None]] = {}
    with decoding(_WHAT):
        for body in bodies:
            codes.setdefault(body["signature"], {})[body["code"]] = None
    return {signature: list(hashes) for signature, hashes in codes.items()}


def changed_code(run: RunFile, metrics: Iterable[Metric]) -> Iterator[str]:
    """A sentence for each of the metrics whose scores in the run are of several programs."""
    with run.reading() as db:
        codes = code_by_signature(db)
    for metric in metrics:
        if len(hashes := codes.get(registry.signature(metric), [])) > 1:
            yield (
                f"{metric}: its plugin file has changed (hashes {', '.join(hashes)}) and its version has "
                "not, so that its scores may be of several programs: raise its version to score all anew."
            )
