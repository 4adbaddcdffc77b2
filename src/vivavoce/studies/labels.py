"""People's scores of some responses beside another rater's scores of all: labels, and how they were drawn.

Cases are drawn for labelling with probabilities that are known; what people said of them corrects the other
rater's figures (`stats.prediction_powered`). A response that the criterion's rule scores, because the
candidate was silent, needs no label: people's score of it is the rule's too.
"""

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.records import Criterion
from vivavoce.studies.score_table import Labels, by_repeat, weights_of
from vivavoce.studies.text import cases, count

RESPONSE = ["benchmark", "item", "variant", "candidate", "repeat"]
_ITEM = ["benchmark", "item", "variant"]
CHOSEN_BY_HAND = (
    "how the labelled questions were chosen is not recorded: `viva panel make --task rate` draws them, "
    "--map probability=COLUMN imports what is known, and --labels-chosen-at-random is your word for it"
)


NO_LABELS = "people scored none of the cases as a whole"


class LabelledValues(NamedTuple):
    """A row per item: `d` as observed, `d_low` and `d_high` with failed scores at worst and best; `group`.

    Of wholly labelled cases also `people`, people's value, `judge`, the other rater's on the same repeats,
    and `probability`; null elsewhere.
    """

    items: pl.DataFrame
    n_unlabelled: int = 0
    """Cases that were drawn and have no label of all that is compared."""

    @property
    def labelled(self) -> pl.DataFrame:
        """The items of labelled cases."""
        return self.items.filter(pl.col("people").is_not_null() & pl.col("d").is_not_null())

    @property
    def of_people(self) -> pl.DataFrame:
        """The labelled items with people's values alone, each weighed by how many it stands for."""
        weight = pl.col("weight") if "weight" in self.items.columns else pl.lit(1.0)
        people = pl.col("people")
        return self.labelled.with_columns(
            d=people, d_low=people, d_high=people, weight=weight / pl.col("probability")
        )

    def powered(
        self, column: str = "d", *, low: float | None = None, high: float | None = None
    ) -> stats.PredictionPowered:
        """The mean on people's scale, the rater's values taken from this column; on a scale with limits."""
        rows = self.items.filter(pl.col(column).is_not_null())
        # People scored some repeats of a labelled case, and the rater's scores of the same go with theirs.
        judge = pl.col("judge").fill_null(pl.col(column)) if column == "d" else pl.col(column)
        labelled = rows["people"].is_not_null()
        of_labelled = rows.filter(labelled)
        # Equal probabilities need no weighing, whatever constant stands for them.
        alike = of_labelled["probability"].n_unique() == 1
        return stats.prediction_powered(
            rows.select(pl.when(labelled).then(judge).otherwise(column)).to_series().to_numpy(),
            of_labelled["people"].to_numpy(),
            labelled=np.flatnonzero(labelled.to_numpy()),
            groups=rows["group"].to_numpy(),
            weights=weights_of(rows),
            probabilities=None if alike else of_labelled["probability"].to_numpy(),
            low=low,
            high=high,
        )


def with_labels(items: pl.DataFrame, by_item: pl.DataFrame, labels: Labels) -> LabelledValues | str:
    """The items of `LabelledValues` with `people`, `judge` and `probability` of `by_item` beside them.

    Or why people's scores cannot correct them.
    """
    if labels.frame is not None:
        # No label speaks for a question that had no chance of one.
        outside = items.drop_nulls("d").join(labels.frame, on=_ITEM, how="anti")
        if outside.height:
            first = outside["item"].sort()[0]
            return (
                f"{count(outside.height, 'question')} had no chance to be drawn for labelling, such as "
                f"{first}: --items chooses those that had, or `viva panel make` draws again"
            )
    # A case that people scored in part is no draw of cases: it counts among those without labels.
    is_complete = (pl.col("people").is_not_null() | pl.col("d").is_null()).all().over("group")
    joined = items.join(by_item, on=_ITEM, how="left", validate="1:1", maintain_order="left")
    values = LabelledValues(
        joined.with_columns(pl.when(is_complete).then(c).alias(c) for c in ("people", "judge", "probability"))
    )
    skipped = values.items.filter(pl.col("people").is_null() & pl.col("d").is_not_null())
    n_unlabelled = skipped.join(labels.draw, on=_ITEM, how="semi")["group"].n_unique()
    rows = values.labelled
    if not rows.height:
        return NO_LABELS
    if rows["probability"].null_count():
        # Where every case is labelled nothing was chosen.
        if rows.height < items["d"].count():
            return CHOSEN_BY_HAND
        return LabelledValues(values.items.with_columns(probability=pl.lit(1.0)))
    if rows.group_by("group").agg(pl.col("probability").n_unique())["probability"].max() != 1:
        return "questions of one case have several drawing probabilities: a case is drawn as a whole"
    of_people = values.of_people
    effective = stats.effective_groups(of_people["group"].to_numpy(), weights=weights_of(of_people))
    if not stats.enough_groups(effective):
        return f"people scored {cases(rows['group'].n_unique(), effective)}: too few to correct a judge"
    return values._replace(n_unlabelled=n_unlabelled)


def unlabelled_words(n: int) -> str:
    """The reason that a figure may lean, where cases were drawn and have no label."""
    return (
        f"{count(n, 'case')} drawn without a label of all that is compared: if people left out what is hard, "
        "the figure leans"
    )


def labels_digest(labels: Mapping[int, Labels | str]) -> str | None:
    """A hash of the labels that correct a comparison, whatever the order of their rows; null without any."""
    contents = []
    for of_people in (part for part in labels.values() if isinstance(part, Labels)):
        # By rater: what a measure is called inside a run file is another in a copy.
        raters = {key: f"{m.signature} {m.rater}" for key, m in of_people.measures.items()}
        rows = of_people.scores.select(*RESPONSE, "pass_no", "status", "value", "measure_id").rows()
        contents += [(*row[:-1], raters[row[-1]]) for row in rows] + of_people.draw.rows()
    if not contents:
        return None
    return hashlib.sha256("\n".join(sorted(map(repr, contents))).encode("utf-8", "replace")).hexdigest()[:16]


def labels_by_item(labels: Labels, judged: pl.DataFrame, criterion: Criterion) -> pl.DataFrame:
    """A row per labelled item and candidate: people's mean as `label`, the other rater's as `judge`.

    `judged` are the score rows of the other rater on one benchmark. Both means are over the repeats that
    people scored. `probability` is that of the item's case. Items outside the draw have no row.
    """
    answers = by_repeat(judged, criterion).select(*RESPONSE, judge="observed")
    scored = people_scores(labels)
    pairs = pl.concat([
        answers.join(scored, on=RESPONSE, validate="1:1").select(*RESPONSE, "judge", "label"),
        _silent(judged, answers, scored),
    ])  # fmt: skip
    # The draw is joined last: a label outside it stands for nobody.
    return (
        pairs.filter(pl.col("judge").is_not_null() & pl.col("label").is_not_null())
        .group_by(*_ITEM, "candidate")
        .agg(pl.col("judge", "label").mean())
        .join(labels.draw, on=_ITEM, validate="m:1")
        .sort(*_ITEM, "candidate")
    )


def people_scores(labels: Labels) -> pl.DataFrame:
    """People's mean of each response that they scored, as `label`."""
    people = [
        by_repeat(labels.scores.filter(pl.col("measure_id") == key), measure.criterion)
        for key, measure in sorted(labels.measures.items())
    ]
    return pl.concat(people).group_by(RESPONSE).agg(label=pl.col("observed").mean())


def _silent(judged: pl.DataFrame, answers: pl.DataFrame, scored: pl.DataFrame) -> pl.DataFrame:
    """The first repeat of each item and candidate without labels that is silent, with the rule's score.

    Nobody is shown a silence, so its score by the rule is what people's would be.
    """
    first = (
        judged.filter((pl.col("edit") == "") & (pl.col("status") != "failed"))
        .sort("repeat")
        .unique([*_ITEM, "candidate"], keep="first", maintain_order=True)
    )
    silent = first.filter(pl.col("status").is_in(["unanswered", "unreadable"])).select(RESPONSE)
    return (
        silent.join(scored, on=[*_ITEM, "candidate"], how="anti")
        .join(answers, on=RESPONSE, validate="1:1")
        .select(*RESPONSE, "judge", label="judge")
    )
