"""Labels of a run: which people's scores correct which measures, and how their cases were drawn."""

from collections import Counter
from collections.abc import Mapping, Sequence

import polars as pl

from vivavoce.core import specs
from vivavoce.core.errors import SelectionError
from vivavoce.core.records import ItemKey, Measure
from vivavoce.run.tables.load import load_scores, select_signatures
from vivavoce.store import read
from vivavoce.store.cases import cases_by_item
from vivavoce.store.label_draws import LabelDraw, put_label_draw, read_label_draws
from vivavoce.store.view import View
from vivavoce.studies.rater_scores import declared_unlike, is_people
from vivavoce.studies.score_table import ITEM_KEY, Labels, ScoreTable
from vivavoce.studies.text import count

WORD = "the user's word"
"""The source of a draw of which the run knows no more than what a user said."""
_PLACE = dict.fromkeys(ITEM_KEY, pl.String)
_DRAW = {**_PLACE, "probability": pl.Float64}


def people_signatures(view: View, labels: str) -> frozenset[str]:
    """The signatures of the people's scores that a user names.

    Raises `SelectionError` where these are not the scores of people.
    """
    signatures = select_signatures(view, labels) or ()
    for signature in map(specs.signed, signatures):
        spec = signature.spec
        if not signature.recorded or spec.name in ("judge", "jury") or "model" in spec.settings:
            raise SelectionError(
                f"--labels {labels}: these are no scores by people. People's scores come in with `viva "
                "import --scores --measure NAME`, under a name that is not judge."
            )
    return frozenset(signatures)


def labels_for(
    view: View,
    table: ScoreTable,
    labels: str | None,
    *,
    draws: Mapping[str, LabelDraw] | None = None,
    items: set[ItemKey] | None = None,
    candidates: Sequence[str] | None = None,
) -> dict[int, Labels | str]:
    """By measure of the table people's scores of the same criterion, or why they cannot correct it.

    Without `labels`, the metric that holds them, the only people's scores of a criterion are taken; a measure
    that nobody scored has no entry. `draws` says how the labelled cases were chosen, by default as the run
    knows it.
    """
    signatures = _signatures(view) if labels is None else people_signatures(view, labels)
    if not signatures:
        return {}
    people = load_scores(view, signatures, items, candidates)
    draws = view.fetch(read_label_draws) if draws is None else draws
    by_measure = {
        key: _labels_of(measure, people, draws, labels)
        for key, measure in table.measures.items()
        if measure.signature not in signatures
    }
    return {key: of_people for key, of_people in by_measure.items() if of_people}


def left_out_labels(labels: Mapping[int, Labels | str]) -> tuple[str, ...]:
    """Lines on questions that people scored and of which nobody knows how they were chosen."""
    lines: dict[str, None] = {}
    for of_people in labels.values():
        if isinstance(of_people, Labels):
            unknown = of_people.scores.select(ITEM_KEY).unique().join(of_people.draw, on=ITEM_KEY, how="anti")
            if n := unknown.height:
                what = f"{count(n, 'question')} that people scored without a known chance to be drawn"
                lines[f"{of_people.metric}: {what} left out."] = None
    return tuple(lines)


def _signatures(view: View) -> frozenset[str]:
    """Of all people's scores in the run."""
    measures = [keyed.measure for keyed in view.fetch(read.measures)]
    return frozenset(m.signature for m in measures if is_people(m))


def _labels_of(
    measure: Measure, people: ScoreTable, draws: Mapping[str, LabelDraw], labels: str | None
) -> Labels | str | None:
    """People's scores of the criterion of a measure, or why they cannot correct it; null without any."""
    name = measure.criterion.criterion
    same = {key: m for key, m in people.measures.items() if m.criterion.criterion == name}
    if not same and labels is None:
        return None
    return _mismatch(measure, list(same.values()), labels) or _labels(people, same, draws)


def _mismatch(measure: Measure, people: Sequence[Measure], labels: str | None) -> str | None:
    """Why these people's scores cannot correct a measure; null where they can."""
    name = measure.criterion.criterion
    if not people:
        return f"{labels} holds no scores of {name}"
    if len(metrics := sorted({m.metric for m in people})) > 1:
        return f"{' and '.join(metrics)} both hold people's scores of {name}: --labels names one"
    return next(filter(None, (declared_unlike(m.criterion, measure.criterion) for m in people)), None)


def _labels(people: ScoreTable, measures: Mapping[int, Measure], draws: Mapping[str, LabelDraw]) -> Labels:
    """The scores by these measures, with the draw of their cases."""
    scores = people.scores.filter(pl.col("measure_id").is_in(list(measures)))
    metric = next(iter(measures.values())).metric
    draw = draws.get(metric)
    if draw is None:
        items = scores.select(ITEM_KEY).unique().sort(ITEM_KEY)
        return Labels(metric, scores, measures, items.with_columns(probability=pl.lit(None, pl.Float64)))
    rows = [(*key, probability) for key, probability in sorted(draw.probabilities.items())]
    items = pl.DataFrame(rows, _DRAW, orient="row")
    sampled = items.join(pl.DataFrame(sorted(draw.items), _PLACE, orient="row"), on=ITEM_KEY, how="semi")
    # An import states the probabilities of labelled cases alone, and those of all others are not known.
    frame = items if sampled.height < items.height else None
    return Labels(metric, scores, measures, sampled, by_word=WORD in draw.source, frame=frame)


def draws_by_word(view: View, labels: str | None, *, is_given: bool) -> list[LabelDraw]:
    """The user's word that labels were drawn at random, if given, for metrics without a known draw.

    Given again, the word is of the labels that came since, too.
    """
    if not is_given:
        return []
    signatures = _signatures(view) if labels is None else people_signatures(view, labels)
    if not signatures:
        return []
    people = load_scores(view, signatures)
    by_benchmark = Counter(benchmark for benchmark, *_ in cases_by_item(view.db))
    unknown = {m.metric for m in people.measures.values()} - _recorded(view.fetch(read_label_draws))
    draws = []
    for metric in sorted(unknown):
        keys = [key for key, m in people.measures.items() if m.metric == metric]
        rows = people.scores.filter(pl.col("measure_id").is_in(keys)).select(ITEM_KEY).unique()
        places = frozenset(rows.iter_rows())
        labelled = Counter(benchmark for benchmark, *_ in places)
        probabilities = {place: labelled[place[0]] / by_benchmark[place[0]] for place in places}
        draws.append(LabelDraw(metric, probabilities, places, WORD))
    return draws


def _recorded(draws: Mapping[str, LabelDraw]) -> set[str]:
    """The metrics of whose draws the run knows more than a user's word."""
    return {metric for metric, draw in draws.items() if draw.source != WORD}


def store_word(view: View, draws: Sequence[LabelDraw]) -> None:
    """Store the user's word on how labels were drawn: from now on the run holds it. No word opens nothing."""
    if not draws:
        return
    with view.writing() as db:
        recorded = _recorded(read_label_draws(db))
        for draw in draws:
            if draw.metric not in recorded:
                put_label_draw(db, draw)
