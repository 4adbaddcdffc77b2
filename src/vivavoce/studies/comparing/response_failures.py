"""How answers fail before they are right or wrong: empty, silent, unreadable, naming what is no option.

Everything is read from the rows of marks: the status of an answer and the note of what could not be used.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from vivavoce.core.records import Measure
from vivavoce.core.specs import signed
from vivavoce.studies.score_table import MISSING, counted_value, item_of

RATES = ("empty", "unanswered", "readable", "invented", "by_text", "by_letter", "by_both")
OF_OPTIONS = {"mcq": "multiple_choice", "list": "list"}
"""Formats whose answers are options, and how the parts of marks name them."""
FORMS = {"by_text": "full", "by_letter": "letter", "by_both": "mixed"}
"""How an answer names its options, and how the parts of marks by cliniqlink(rules=published) name that."""
NO_OPTION = "names no option|no option has the letter|^no option: "
"""What the note of a mark says where an answer brought something that is not among the options."""
ANSWER = ("item", "variant", "repeat")


class Share(NamedTuple):
    """So many of so many."""

    n: int
    of: int

    @property
    def value(self) -> float | None:
        """The share; null of nothing."""
        return self.n / self.of if self.of else None


class Answering(NamedTuple):
    """A candidate's answers of one format, or of several; a share is null where nothing tells it.

    `empty` and `unanswered` (empty, refused or withheld) are of the answers that arrived, `readable` and
    `invented` (names what is no option, of multiple choice and lists) of those that were given. `by_text`,
    `by_letter` and `by_both` say of those that were read how they named an option that there is.
    `step_found` is the mean by step_accuracy.
    """

    format: str
    n_answers: int
    n_failed: int
    empty: Share | None
    unanswered: Share | None
    readable: Share | None
    invented: Share | None
    by_text: Share | None
    by_letter: Share | None
    by_both: Share | None
    step_found: float | None

    @property
    def columns(self) -> dict[str, Any]:
        """The figures as columns of a finding."""
        shares = {name: getattr(self, name) for name in RATES}
        return {
            "n_answers": self.n_answers,
            "n_failed": self.n_failed,
            **{name: share.value if share else None for name, share in shares.items()},
            "step_found": self.step_found,
        }


def bare(measure: Measure) -> str:
    """The metric's name without its settings."""
    return measure.metric.split("(")[0]


def answering(
    rows: pl.DataFrame, texts: pl.DataFrame | None, measures: Mapping[int, Measure], *, form: str, by: int
) -> Answering:
    """How the answers of one candidate in one format came, from all its rows of that format.

    `by` is the measure whose statuses count. Marks that were recorded elsewhere tell nothing of silence and
    form: whoever gave them read the answers their own way. `texts` are the responses with `blank`, if
    at hand.
    """
    scores = rows.filter(pl.col("measure_id") == by).unique(ANSWER, maintain_order=True)
    n = dict.fromkeys(("ok", *MISSING), 0) | dict(scores.group_by("status").len().iter_rows())
    n_read = n["ok"] + n["set_aside"]
    n_given = n_read + n["unreadable"]
    scored_in_run = not signed(measures[by].signature).recorded
    # A response that failed has no text, which is not an empty one.
    blank = None if texts is None else texts["blank"].drop_nulls()
    return Answering(
        format=form,
        n_answers=scores.height,
        n_failed=n["failed"],
        empty=None if blank is None else Share(int(blank.sum()), len(blank)),
        unanswered=Share(n["unanswered"], scores.height - n["failed"]) if scored_in_run else None,
        readable=Share(n_read, n_given) if scored_in_run else None,
        invented=_invented(rows, measures, form, n_given) if scored_in_run else None,
        **{name: _named(scores, form, part) for name, part in FORMS.items()},
        step_found=_step_found(rows, measures) if form == "multi_hop_inverse" else None,
    )


def _invented(rows: pl.DataFrame, measures: Mapping[int, Measure], form: str, n_given: int) -> Share | None:
    """The share of answers that name what is no option; null where no measure notes that."""
    if form not in OF_OPTIONS or (form != "mcq" and not _strays_noted(rows, measures)):
        return None
    noted = rows.filter(pl.col("note").str.contains(NO_OPTION))
    return Share(noted.select(ANSWER).n_unique() if noted.height else 0, n_given)


def together(parts: Sequence[Answering]) -> Answering:
    """The answers of several formats as one: shares of all answers, null where a format has none."""

    def pooled(name: str) -> Share | None:
        every = name in ("empty", "unanswered", "readable")
        shares = [getattr(p, name) for p in parts if every or p.format in OF_OPTIONS]
        # A sum over some of the formats would pass for the rate of all.
        if not shares or None in shares:
            return None
        return Share(sum(s.n for s in shares), sum(s.of for s in shares))

    return Answering(
        format="",
        n_answers=sum(p.n_answers for p in parts),
        n_failed=sum(p.n_failed for p in parts),
        **{name: pooled(name) for name in RATES},
        step_found=next((p.step_found for p in parts if p.step_found is not None), None),
    )


def _strays_noted(rows: pl.DataFrame, measures: Mapping[int, Measure]) -> bool:
    """Whether some measure of lists says in its notes which entries are no option."""
    own_measures = [measures[key] for key in rows["measure_id"].unique()]
    return any(
        bare(m) == "list_f1" or (bare(m) == "cliniqlink" and "rules=published" not in m.metric)
        for m in own_measures
    )


def _named(scores: pl.DataFrame, form: str, part: str) -> Share | None:
    """How many answers named their options in this form; null where the parts of marks do not tell."""
    if form not in OF_OPTIONS:
        return None
    scores = scores.filter(pl.col("status") == "ok")
    path = f"$.{OF_OPTIONS[form]}_{part}_match"
    values = scores.select(pl.col("parts").str.json_path_match(path).cast(pl.Float64))["parts"].drop_nulls()
    # If some marks lack the part, the share would be one of the rest alone.
    return Share(int(values.sum()), len(values)) if len(values) == scores.height else None


def _by_name(rows: pl.DataFrame, measures: Mapping[int, Measure], name: str) -> int | None:
    """The measure of that metric among the rows, of several versions the newest; null without one."""
    keys = [key for key in rows["measure_id"].unique().sort() if bare(measures[key]) == name]
    return keys[-1] if keys else None


def _step_found(rows: pl.DataFrame, measures: Mapping[int, Measure]) -> float | None:
    """The share of wrong steps that were found, by question."""
    key = _by_name(rows, measures, "step_accuracy")
    if key is None:
        return None
    scores = rows.filter(pl.col("measure_id") == key)
    values = (
        scores.select(*item_of(scores), y=counted_value(measures[key].criterion))
        .group_by(item_of(scores))
        .mean()
    )
    observed = values.drop_nulls("y")
    return float(observed["y"].mean()) if observed.height else None  # type: ignore[arg-type]
