"""The verbs of a run that have to do with people: packets out, ballots and reviews in."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from vivavoce.core.errors import InputError, SelectionError
from vivavoce.core.records import Finding
from vivavoce.core.specs import require_separate
from vivavoce.store.runfile import RunFile

if TYPE_CHECKING:
    from vivavoce.people.packets import PacketsWritten
    from vivavoce.people.storing.put_ballot import BallotsStored
    from vivavoce.people.storing.store_annotations import AnnotationsStored
    from vivavoce.people.storing.store_reviews import ReviewsStored


class PanelVerbs:
    """Packets and ballots of one run file."""

    file: RunFile

    def import_ballots(
        self,
        file: str | Path,
        *,
        task: Literal["review", "translation", "rewording"] = "review",
        again: bool = False,
    ) -> "ReviewsStored":
        """Store what people said elsewhere of items: reviews, one a row; all of them or none.

        Columns are `item`, `category`, `rater`, `correct` (yes or no) and `relevance` (1 to 5), and where
        there are any `comment`, `dispute`, `proposed_edit` and `difficulty`. In place of `relevance` a
        `translation` has `numbers` and `negations`, a `rewording` `complete` and `only` (yes or no). The
        same file again changes nothing; reviews that the run holds by another rater are refused, unless
        `again`.
        """
        from vivavoce.people.storing.store_reviews import import_reviews
        from vivavoce.people.tasks import REVIEW_TASKS

        if task not in REVIEW_TASKS:
            listed = ", ".join(REVIEW_TASKS)
            raise InputError(f"ballots of the task {task!r} are no table; tables hold {listed}.")
        return import_reviews(self.file, Path(file), task=REVIEW_TASKS[task](), same_allowed=again)

    def import_annotations(
        self,
        *files: str | Path,
        reader: str | None = None,
        raters: Mapping[str, str] | None = None,
        partial: bool = False,
        replace: bool = False,
        again: bool = False,
    ) -> "AnnotationsStored":
        """Store what people said in an annotation tool of tasks that `export` wrote; all of it or none.

        The files are exports of Label Studio or Argilla (`reader`, by default told by their content).
        `raters` gives names by the ids of the tool, such as `{"1": "anna"}`; without one a rater is `user
        ID`. What was cancelled is named and left out. The same files again change nothing. `partial` takes
        annotations that are half filled, `replace` those that say otherwise than before, and `again` those
        that the run holds by another rater; all are refused without it.
        """
        from vivavoce.people.storing.store_annotations import store_annotations
        from vivavoce.run.exchange.recognise import annotated_files

        annotated = annotated_files([Path(file) for file in files], reader)
        if not annotated:
            raise SelectionError("name the files that an annotation tool exported, with tasks of this run.")
        return store_annotations(
            self.file, annotated, names=raters, partial=partial, replace=replace, same_allowed=again
        )

    def make_panel(
        self, raters: Sequence[str] = (), to: str | Path | None = None, *, items: str | None = None,
        candidates: Sequence[str] = (), n: int | None = None, seed: int = 1, criterion: str | None = None,
        task: Literal["rank", "rate"] = "rank", rubric: str | None = None, for_: str | None = None,
        metric: str | None = None, margin: float | None = None, dry_run: bool = False,
    ) -> "PacketsWritten | Finding":  # fmt: skip
        """Write for each rater a blinded packet, a page and a sheet, to the folder `to`; the key stays here.

        About `n` questions (30 to rank, 60 to rate) are drawn by `seed`, of those that `items` selects, with
        the answers of `candidates` (by default all). To `rank`, `criterion` says by what; the reference
        answer stands among the answers. To `rate`, each answer gets a value by every criterion of a
        `rubric`; whole cases are drawn, and their chance is kept. `for_`, such as "compare A B" or "score A",
        draws cases not drawn before, where a label tells most by the scores of the judge `metric`. Its
        `dry_run` writes nothing and finds how many labels it takes, to tell `margin` where one is given.
        """
        from vivavoce.run.people.label_panel import Labelling, make_panel

        require_separate("candidates", candidates)
        return make_panel(
            self.file, raters, to, items=items, candidates=candidates, n=n, seed=seed, criterion=criterion,
            task=task, rubric=rubric, labelling=Labelling(for_, metric, margin, dry_run),
        )  # fmt: skip

    def read_panel(
        self, *files: str | Path, partial: bool = False, replace: bool = False
    ) -> "tuple[BallotsStored, ...]":
        """Store the ballots that raters sent back; all of them or none.

        Ranks are of the measure `panel(id=…)`, ratings of `rating(rubric=…)`. `partial` leaves out what is
        not filled in, instead of refusing the file. `replace` lets a ballot take the place of an earlier one
        that said otherwise; both are noted.
        """
        from vivavoce.people.storing.store_ballots import store_ballots

        return store_ballots(self.file, [Path(file) for file in files], partial=partial, replace=replace)
