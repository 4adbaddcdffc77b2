"""Tokens are no common measure: what is counted in them compares only candidates of one tokeniser."""

from collections.abc import Collection
from typing import NamedTuple

from vivavoce import registry, specs
from vivavoce.store import RunFile
from vivavoce.store.read import tokenisers
from vivavoce.studies import Marks

__all__ = ["Comparable", "comparable"]


class Comparable(NamedTuple):
    """Marks without what cannot be compared, and a line for what was left out."""

    marks: Marks
    notes: tuple[str, ...]


def comparable(run: RunFile, marks: Marks, candidates: Collection[str] | None = None) -> Comparable:
    """Leave out criteria by token where candidates, null for all, have several tokenisers, or unknown ones.

    A metric names such criteria as `per_token`; what it has by byte stays. Of endpoints it is mostly not
    known.
    """
    gone: dict[str, list[str]] = {}
    keys = []
    for key, probe in marks.probes.items():
        m = marks.measures[key]
        metric = registry.build("metric", specs.signed(m.signature).spec)
        if m.criterion.criterion not in getattr(metric, "per_token", ()):
            continue
        with run.reading() as db:
            known = tokenisers(db, probe)
        own = [known[name] for name in known if candidates is None or name in candidates]
        if len(own) > 1 and (None in own or len(set(own)) > 1):
            gone.setdefault(m.metric, []).append(m.criterion.criterion)
            keys.append(key)
    if not keys:
        return Comparable(marks, ())
    scores = marks.scores.filter(~marks.scores["measure_id"].is_in(keys))
    measures = {key: m for key, m in marks.measures.items() if key not in keys}
    notes = tuple(
        f"{metric}: {' and '.join(criteria)} left out, being counted in tokens: the candidates' tokenisers "
        "differ or are not known, so only what is counted by byte compares them."
        for metric, criteria in gone.items()
    )
    return Comparable(marks._replace(scores=scores, measures=measures), notes)
