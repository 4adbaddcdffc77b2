"""Which candidates a comparison is of: those that were named, else all but floors and ceilings."""

from collections.abc import Sequence

from vivavoce.core.errors import SelectionError
from vivavoce.core.records import ItemKey
from vivavoce.run.compare.assistance import helped_people
from vivavoce.run.tables.load import load_items
from vivavoce.store import read
from vivavoce.store.candidate_names import candidate_labels, match_candidate
from vivavoce.store.view import View
from vivavoce.studies.comparing.pairs import ALL_SHOWN
from vivavoce.studies.pooling import as_means
from vivavoce.studies.score_table import ScoreTable
from vivavoce.studies.text import HEADLINES, listed


def compared_names(
    view: View, candidates: Sequence[str], against: str | None, *, assisted: bool
) -> tuple[list[str], str | None]:
    """The labels of the candidates to compare, and of `against`, which alone stands for all others too.

    Without a name they are all candidates but floors and ceilings; `assisted` compares people without names.
    """
    if assisted:
        if candidates or against:
            raise SelectionError("--assisted compares people with help and without: it takes no candidates.")
        return helped_people(view), None
    labels = candidate_labels(view)
    reference = None if against is None else match_candidate(against, labels)
    names = [match_candidate(name, labels) for name in candidates]
    names = names or unnamed_candidates(view)
    if reference and reference not in names:
        names.append(reference)
    if len(dict.fromkeys(names)) < max(2, len(names)):
        raise SelectionError(f"compare takes two or more different candidates. Known: {', '.join(labels)}.")
    return names, reference


def unnamed_candidates(view: View) -> list[str]:
    """All candidates without floors and ceilings."""
    return [c.candidate for c in view.fetch(read.candidates) if c.role == "candidate"]


def best_first(view: View, table: ScoreTable, items: set[ItemKey] | None, names: Sequence[str]) -> list[str]:
    """The candidates in the order of their estimates, those without one last; two keep theirs."""
    if len(names) == 2:
        return list(names)
    from vivavoce.studies.comparing.estimates import estimates

    rows = estimates(table._replace(measures=as_means(table.measures)), load_items(view, items)).rows
    order = {row["candidate"]: place for place, row in enumerate(rows) if row["view"] in HEADLINES}
    return sorted(names, key=lambda name: (order.get(name, len(order)), name))


def with_unnamed(view: View, table: ScoreTable, names: Sequence[str]) -> ScoreTable:
    """The table with a note on the floors and ceilings that a comparison without names leaves out."""
    bounds = [c.candidate for c in view.fetch(read.candidates) if c.role != "candidate"]
    notes = (
        [f"Left out: {listed(bounds)} (floor or ceiling). Name them to compare with them."] if bounds else []
    )
    if len(names) > ALL_SHOWN:
        notes.append(
            f"{names[0]}, which has the best estimate, is shown against the others; all pairs are tested and "
            "corrected together, and --json has them."
        )
    return table._replace(notes=(*table.notes, *notes))
