"""Retire a measure of a run: it is taken out of all that the run says, until that is undone."""

from collections.abc import Sequence

from vivavoce.core.errors import InputError, SelectionError
from vivavoce.core.records import Finding
from vivavoce.core.text import one_line
from vivavoce.run.tables.load import measures_meant, one_source
from vivavoce.store import read
from vivavoce.store.read import KeyedMeasure
from vivavoce.store.retirement import measure_words, put_restorations, put_retirements
from vivavoce.store.run_counts import scores_by_measure
from vivavoce.store.view import View
from vivavoce.store.write import put_provenance
from vivavoce.studies.text import count


def retire_measure(view: View, measure: str, *, rater: str | None, undo: bool) -> Finding:
    """Retire the measures that a name and a rater select, or undo it; a row for each.

    One that is retired already stays so. Raises `SelectionError` for a name that selects none, or several
    metrics, and where there is nothing to undo.
    """
    chosen = _of_rater(_named(view, measure), rater)
    retired = {entry.key for entry in view.fetch(read.retired_measures)}
    changed = [keyed for keyed in chosen if (keyed.key in retired) == undo]
    if undo and not changed:
        raise SelectionError(f"{_words(chosen)} is not retired in this run: {_retired_here(view)}.")
    if changed:
        _put(view, changed, undo=undo)
    rows = _rows(view, chosen, changed)
    return Finding(study="retire", rows=rows, text=_text(chosen, changed, rows, undo=undo))


def _put(view: View, changed: Sequence[KeyedMeasure], *, undo: bool) -> None:
    """Store that measures are retired, or count again: scores are another state of the run then."""
    n_scores = view.fetch(scores_by_measure)
    measures = [keyed.measure for keyed in changed]
    with view.writing() as db:
        (put_restorations if undo else put_retirements)(db, measures)
        body = {"undo": undo, "measures": [measure_words(m) for m in measures]}
        put_provenance(db, "retire", body, changed=sum(n_scores.get(keyed.key, 0) for keyed in changed))


def _named(view: View, reference: str) -> list[KeyedMeasure]:
    """The measures of one metric that a user names, retired or not."""
    stored = view.fetch(read.stored_measures)
    if not stored:
        raise SelectionError("nothing has been scored in this run yet: there is no measure to retire.")
    if not reference.strip():
        raise InputError("name the measure to retire, such as METRIC or METRIC:CRITERION.")
    named = measures_meant(reference, stored)
    metrics = _metrics(named)
    if len(metrics) != 1:
        problem = "fits several metrics" if metrics else "fits nothing that scored this run"
        names = one_line(", ".join(metrics or _metrics(stored)), 300)
        raise SelectionError(f"{reference!r} {problem}: name one of {names}.")
    if any(keyed.measure.signature != reference for keyed in named):
        one_source(metrics[0], [keyed.measure for keyed in named])
    return named


def _metrics(keyed_measures: Sequence[KeyedMeasure]) -> list[str]:
    return list(dict.fromkeys(keyed.measure.metric for keyed in keyed_measures))


def _of_rater(named: Sequence[KeyedMeasure], rater: str | None) -> list[KeyedMeasure]:
    """Those of the measures that a rater gave; null for all."""
    chosen = [keyed for keyed in named if rater in (None, keyed.measure.rater)]
    if not chosen:
        raters = ", ".join(map(repr, dict.fromkeys(keyed.measure.rater for keyed in named)))
        metric = named[0].measure.metric
        raise SelectionError(f"{metric} has no scores by the rater {rater!r}: its raters are {raters}.")
    return chosen


def _rows(
    view: View, chosen: Sequence[KeyedMeasure], changed: Sequence[KeyedMeasure]
) -> tuple[dict[str, object], ...]:
    """The measures as they are now; `since` is null for one that counts."""
    retired = {entry.key: entry.made_at for entry in view.fetch(read.retired_measures)}
    n_scores = view.fetch(scores_by_measure)
    return tuple(
        {
            "metric": keyed.measure.metric,
            "criterion": keyed.measure.criterion.criterion,
            "rater": keyed.measure.rater,
            "signature": keyed.measure.signature,
            "scores": n_scores.get(keyed.key, 0),
            "retired": keyed.key in retired,
            "since": retired.get(keyed.key),
            "changed": keyed in changed,
        }
        for keyed in chosen
    )


def _text(
    chosen: Sequence[KeyedMeasure],
    changed: Sequence[KeyedMeasure],
    rows: Sequence[dict[str, object]],
    *,
    undo: bool,
) -> str:
    """What changed, in a sentence."""
    n = sum(int(str(row["scores"])) for row in rows if row["changed"])
    if not changed:
        return f"{_words(chosen)} is retired already: nothing changed."
    if undo:
        return f"{_words(changed)} counts again, with {count(n, 'score')}."
    return (
        f"{_words(changed)} is retired: its {count(n, 'score')} no longer count in any estimate, comparison, "
        "study or report. Nothing is deleted, and --undo lets it count again."
    )


MOST_NAMED = 6


def _words(chosen: Sequence[KeyedMeasure]) -> str:
    """Measures as the subject of a sentence."""
    names = [measure_words(keyed.measure) for keyed in chosen]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"


def _retired_here(view: View) -> str:
    """Which measures are retired, as the end of a sentence."""
    names = [measure_words(entry.measure) for entry in view.fetch(read.retired_measures)]
    return f"retired are {one_line(', '.join(names), 200)}" if names else "no measure is"
