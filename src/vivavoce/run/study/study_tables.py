"""The scores of a run as each study gets them: with what it declares that it needs beside them."""

from collections.abc import Iterator

from vivavoce.run.study.contrasts import contrast_scores
from vivavoce.run.study.ratings import read_ratings
from vivavoce.run.tables.labels import labels_for, people_signatures
from vivavoce.run.tables.load import (
    RANK,
    answers_of,
    comparable_scores,
    load_items,
    load_scores,
    nothing_scored,
    refuse_retired,
    select_items,
    with_cards,
    with_generated,
)
from vivavoce.run.tables.reviews import read_reviews
from vivavoce.run.tables.unit_rows import with_units
from vivavoce.store import read
from vivavoce.store.generated import has_made_items
from vivavoce.store.view import View
from vivavoce.studies.answers import identical_answers
from vivavoce.studies.score_table import ScoreTable
from vivavoce.studies.study import Study


class StudyTables:
    """The scores of a run on some of its items, with what each study declares that it needs.

    Raises `SelectionError` where nothing was scored.
    """

    def __init__(self, view: View, items: str | None) -> None:
        self._view = view
        self._items = select_items(view, items)
        self._tables: dict[tuple[bool, bool], ScoreTable] = {}
        self._has_made_items = has_made_items(view.db)
        self._has_ranks = any(keyed.measure.criterion.pool == RANK for keyed in view.fetch(read.measures))
        if not self._scores(twins=False, ranks=False).scores.height:
            raise nothing_scored(view)
        self._answers = answers_of(view, self._items)
        self._identical = identical_answers(self._answers)
        cards = {b.benchmark: b.card for b in view.fetch(read.benchmarks)}
        self._released = {name: card.released for name, card in cards.items() if card.released}

    def of(self, study: Study, *, named: bool = True) -> ScoreTable:
        """The table for a study; one that was not named has no pairs scored that it would not use.

        Raises `SelectionError` where its `labels` are not the scores of people, or it names a measure that is
        retired, `ModelError` for a file of cards that cannot be used.
        """
        for reference in _measures_named(study):
            refuse_retired(self._view, reference)
        scores = self._scores(twins="twins" in study.needs, ranks="ranks" in study.needs)
        table = scores._replace(
            answers=self._answers,
            identical=self._identical,
            released=self._released,
            people=self._people(scores, getattr(study, "labels", None)),
        )
        if "labels" in study.needs:
            by_measure = labels_for(self._view, table, getattr(study, "labels", None), items=self._items)
            table = table._replace(labels=by_measure)
        if "cards" in study.needs:
            author = getattr(study, "reworded_by", None)
            table = with_cards(table, getattr(study, "cards", None), author)
        table = self._with_records(study, table)
        if kinds := {"units", "points"} & set(study.needs):
            table = with_units(self._view, table, self._items, facts="units" in kinds)
        if "contrasts" in study.needs and (named or study.applies_to(table)):
            table = table._replace(contrasts=contrast_scores(self._view, table.measures))
        return table if "any_tokeniser" in study.needs else comparable_scores(self._view, table)

    def _with_records(self, study: Study, table: ScoreTable) -> ScoreTable:
        """The table with what is no score: ratings from elsewhere, the items, reviews of the items."""
        if ratings := getattr(study, "ratings", None):
            table = table._replace(ratings=read_ratings(ratings))
        if "items" in study.needs:
            table = table._replace(items=load_items(self._view, self._items))
        if "reviews" in study.needs:
            table = table._replace(reviews=read_reviews(self._view, self._items))
        return table

    def _scores(self, *, twins: bool, ranks: bool) -> ScoreTable:
        """The scores, read once; studies share a table where the run has nothing that sets theirs apart."""
        twins, ranks = twins and self._has_made_items, ranks and self._has_ranks
        if (twins, ranks) not in self._tables:
            items = with_generated(self._view, self._items) if twins else self._items
            self._tables[twins, ranks] = load_scores(self._view, None, items, twins=twins, ranks=ranks)
        return self._tables[twins, ranks]

    def _people(self, scores: ScoreTable, labels: str | None) -> frozenset[int]:
        """The measures that hold people's scores, by the metric that the user names."""
        signatures = people_signatures(self._view, labels) if labels else frozenset()
        return frozenset(key for key, m in scores.measures.items() if m.signature in signatures)


def _measures_named(study: Study) -> Iterator[str]:
    """What the options of a study name as measures, beside the labels."""
    options = ("across", "correct", "trusted", *(("closed_by",) if getattr(study, "closed", ()) else ()))
    for value in (getattr(study, name, None) for name in options):
        if value:
            yield from map(str, value if isinstance(value, tuple) else (value,))
