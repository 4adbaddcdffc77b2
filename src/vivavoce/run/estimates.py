"""Estimates of a run: a mean with its interval for each candidate and criterion."""

from vivavoce.core.records import Finding, ItemKey
from vivavoce.run.tables.labels import labels_for
from vivavoce.run.tables.load import answers_of, load_items, select_items
from vivavoce.run.tables.named_scores import scores_by
from vivavoce.run.tables.requests import load_requests
from vivavoce.run.tables.stored_findings import judge_statuses
from vivavoce.store.view import View
from vivavoce.studies.answers import identical_answers
from vivavoce.studies.comparing.estimates import estimates
from vivavoce.studies.score_table import ScoreTable
from vivavoce.studies.thresholds import BadEnds, red_lines


def estimate_metric(
    view: View,
    metric: str | None = None,
    *,
    items: str | None = None,
    bad_ends: BadEnds | None = None,
    labels: str | None = None,
) -> Finding:
    """The estimates of the scores by what a user names, null for all, on the items of a benchmark's spec."""
    selected = select_items(view, items)
    return estimate_scores(view, scores_by(view, metric, selected), selected, bad_ends, labels)


def estimate_scores(
    view: View,
    scores: ScoreTable,
    items: set[ItemKey] | None,
    bad_ends: BadEnds | None = None,
    labels: str | None = None,
) -> Finding:
    """The estimates of these scores: means, on people's scale where labels reach, and bad ends asked for."""
    scores = scores._replace(
        labels=labels_for(view, scores, labels, items=items),
        statuses=judge_statuses(view),
        requests=load_requests(view, items),
    )
    if bad_ends and bad_ends.worst_at:
        scores = scores._replace(identical=identical_answers(answers_of(view, items)))
    lines = red_lines(bad_ends, lambda metric: scores_by(view, metric, items))
    return estimates(scores, load_items(view, items), bad_ends, lines)
