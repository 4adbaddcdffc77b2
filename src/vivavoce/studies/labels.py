"""People's scores of some responses beside another rater's scores of all: labels, and how they were drawn.

Cases are drawn for labelling with probabilities that are known; what people said of them corrects the other
rater's figures (`stats.prediction_powered`). A response that the criterion's rule scores, because the
candidate was silent, needs no label: people's score of it is the rule's too. So a case of which all that is
compared is silent is labelled for certain, drawn or not.
"""

import hashlib
import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.records import Criterion
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.score_table import ITEM_KEY, RESPONSE, Labels, by_repeat, weights_of
from vivavoce.studies.text import cases, count

ALL_CERTAIN = (
    "every labelled question was certain to be drawn, so these labels tell of no other: a probability is "
    "that of being drawn, such as 0.25 where one case in four was"
)
CHOSEN_BY_HAND = (
    "how the labelled questions were chosen is not recorded: `viva panel make --task rate` draws them, "
    "--map probability=COLUMN imports what is known, and --labels-chosen-at-random is your word for it"
)


NO_LABELS = "people scored none of the cases as a whole"


class LabelledValues(NamedTuple):
    """A row per item: `observed`, `low` and `high` with failed scores at worst and best; `group`.

    Of wholly labelled cases also `people`, people's value, `judge`, the other rater's on the same repeats
    (null where its scores failed), `probability`, and `silent`, true for what a rule scored alone; null
    elsewhere. `people_low` and `people_high` are people's value; where a drawn case has no label, the worst
    and the best it could be, NaN on a side without a limit.
    """

    items: pl.DataFrame
    n_unlabelled: int = 0
    """Cases that were drawn and have no label of all that is compared: labels that failed."""

    @property
    def labelled(self) -> pl.DataFrame:
        """The items of labelled cases."""
        return self.items.filter(pl.col("people").is_not_null() & pl.col("observed").is_not_null())

    @property
    def n_labelled(self) -> int:
        """The items that people scored; silences are not among them."""
        return self.labelled.filter(~pl.col("silent")).height

    @property
    def of_people(self) -> pl.DataFrame:
        """The drawn items with people's values alone, each weighed by how many it stands for."""
        weight = pl.col("weight") if "weight" in self.items.columns else pl.lit(1.0)
        rows = self.items.filter(pl.col("people_low").is_not_null())
        return rows.with_columns(
            weight=weight / pl.col("probability"),
            **{column: pl.col(people) for column, people in _PEOPLES.items()},
        )

    def powered(
        self, low: float | None = None, high: float | None = None, column: str = "observed"
    ) -> stats.PredictionPowered:
        """The mean on people's scale, of what was observed or of a filling; on a scale with limits.

        A filling takes the rater's failed scores and the labels that did not come back at the same end.
        """
        rows, people = self.items.filter(pl.col(column).is_not_null()), _PEOPLES[column]
        # People scored some repeats of a labelled case, and the rater's scores of the same go with theirs.
        judge = pl.col("judge").fill_null(pl.col(column)) if column == "observed" else pl.col(column)
        labelled = rows[people].is_not_null()
        of_labelled = rows.filter(labelled)
        # Equal probabilities need no weighing, whatever constant stands for them.
        alike = of_labelled["probability"].n_unique() == 1
        return stats.prediction_powered(
            rows.select(pl.when(labelled).then(judge).otherwise(column)).to_series().to_numpy(),
            of_labelled[people].to_numpy(),
            labelled=np.flatnonzero(labelled.to_numpy()),
            groups=rows["group"].to_numpy(),
            weights=weights_of(rows),
            probabilities=None if alike else of_labelled["probability"].to_numpy(),
            low=low,
            high=high,
        )

    def has_end(self, side: str) -> bool:
        """Whether every failed score and every lost label has that end of the scale."""
        return not any(self.items[end].is_nan().any() for end in (side, _PEOPLES[side]))

    @property
    def is_bounded(self) -> bool:
        """Whether they have both ends."""
        return self.has_end("low") and self.has_end("high")


_PEOPLES = {"observed": "people", "low": "people_low", "high": "people_high"}
"""People's values that go with a rater's: as observed, and under the two fillings."""


def with_labels(items: pl.DataFrame, by_item: pl.DataFrame, labels: Labels) -> LabelledValues | str:
    """The items of `LabelledValues` with `people`, `judge` and `probability` of `by_item` beside them.

    Or why people's scores cannot correct them.
    """
    if problem := _no_chance(items, labels):
        return problem
    joined = items.join(by_item, on=ITEM_KEY, how="left", validate="1:1", maintain_order="left")
    values = LabelledValues(_whole_cases(joined))
    compared = values.items.filter(_HAS_SCORES)
    by_people = compared.filter(pl.col("people").is_not_null() & ~pl.col("certain"))
    skipped = compared.filter(pl.col("people").is_null())
    n_unlabelled = skipped.filter(pl.col("people_low").is_not_null())["group"].n_unique()
    if problem := _no_draw(by_people, skipped, labels):
        return problem
    probability = pl.col("probability")
    if by_people["probability"].null_count():  # where every case is labelled nothing was chosen
        return LabelledValues(values.items.with_columns(probability=pl.lit(1.0)))
    weight = pl.col("weight") if "weight" in items.columns else pl.lit(1.0)
    weighed = by_people.drop_nulls("observed").with_columns(weight=weight / probability)
    effective = stats.effective_groups(weighed["group"].to_numpy(), weights=weights_of(weighed))
    if not stats.enough_groups(effective):
        return f"people scored {cases(weighed['group'].n_unique(), effective)}: too few to correct a judge"
    if labels.by_word and by_people["probability"].n_unique() == 1:
        # At random, but among what could be scored: silences had no need of a label.
        share = by_people.height / compared.filter(~pl.col("certain")).height
        alike = pl.when("certain").then(probability).otherwise(share)
        values = LabelledValues(values.items.with_columns(probability=alike))
    return values._replace(n_unlabelled=n_unlabelled)


def _no_draw(by_people: pl.DataFrame, skipped: pl.DataFrame, labels: Labels) -> str | None:
    """Why these items are no draw with known probabilities; `skipped` are those without labels."""
    probability = by_people["probability"]
    if not by_people["observed"].count():
        return NO_LABELS
    if probability.null_count() and skipped.height:
        return CHOSEN_BY_HAND
    if probability.min() == 1 and skipped.join(labels.draw, on=ITEM_KEY, how="anti").height:
        return ALL_CERTAIN
    if by_people.group_by("group").agg(pl.col("probability").n_unique())["probability"].max() != 1:
        return "questions of one case have several drawing probabilities: a case is drawn as a whole"
    return None


def _no_chance(items: pl.DataFrame, labels: Labels) -> str | None:
    """Why no label speaks for these items: some of them had no chance of one."""
    if labels.frame is None:
        return None
    unlabelled = items.drop_nulls("observed").join(labels.frame, on=ITEM_KEY, how="anti")
    if not unlabelled.height:
        return None
    first = unlabelled["item"].sort()[0]
    return (
        f"{count(unlabelled.height, 'question')} had no chance to be drawn for labelling, such as {first}: "
        "--items chooses those that had, or `viva panel make` draws again"
    )


_HAS_SCORES = pl.col("low").is_not_null()
"""Whether an item has values: not as observed if all its scores failed, but as filled."""


def _whole_cases(joined: pl.DataFrame) -> pl.DataFrame:
    """The items with labels of wholly labelled cases alone; `certain` are cases in which all is silent."""
    has_label, silent = pl.col("people").is_not_null(), pl.col("silent").fill_null(value=False)
    # A case that people scored in part is no draw of cases: it counts among those without labels.
    is_complete = (has_label | ~_HAS_SCORES).all().over("group")
    joined = joined.with_columns(
        silent=silent,
        certain=is_complete & (silent | ~_HAS_SCORES).all().over("group"),
        # A silence has the probability of what people scored in its case.
        probability=pl.col("probability").fill_null(pl.col("probability").max().over("group")),
    )
    share = pl.when(pl.col("certain")).then(1.0).otherwise("probability")
    # Drawn as a whole and labelled in part: what came back stays at its value in both fillings.
    counts = is_complete & has_label
    bounded = counts | (pl.col("drawn").any().over("group") & pl.col("people_low").is_not_null())
    return joined.with_columns(probability=share).with_columns(
        *(pl.when(counts).then(name).alias(name) for name in ("people", "judge")),
        *(pl.when(bounded).then(name).alias(name) for name in ("people_low", "people_high", "probability")),
    )


def unlabelled_words(n: int) -> str:
    """The reason that a figure may lean, where cases were drawn and have no label."""
    return (
        f"{count(n, 'case')} drawn without a label of all that is compared: if people left out what is hard, "
        "the figure leans, and the bounds take both ends of the scale for them"
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
    """A row per drawn item and candidate: people's mean as `people`, the other rater's as `judge`.

    `judged` are the score rows of the other rater on one benchmark. Both means are over the repeats that
    people scored, `judge` null where all of it failed. `people_low` and `people_high` are people's mean, and
    where no label came back the ends of the scale (NaN without a limit). `probability` is that of the item's
    case, null where it is not known. `silent` is true where every repeat is: such an item needs no label and
    may lie outside the draw, where `drawn` is false.
    """
    answers = by_repeat(judged, criterion).select(*RESPONSE, judge="observed")
    scored = people_scores(labels)
    pairs = pl.concat([
        answers.join(scored, on=RESPONSE, validate="1:1").select(*RESPONSE, "judge", "label"),
        _silent(judged, answers, scored),
    ])  # fmt: skip
    # People's scores count where all of the other rater's failed, too: else what failed would go unseen.
    has_judge, place = pl.col("judge").is_not_null(), [*ITEM_KEY, "candidate"]
    by_item = (
        pairs.filter(pl.col("label").is_not_null() & (has_judge | ~has_judge.any().over(place)))
        .group_by(place)
        .agg(exact_mean(pl.col("judge")), people=pl.col("label").mean())
    )
    in_draw = _drawn_cases(labels, judged).select(*place, "probability", drawn=pl.lit(value=True))
    low, high = (math.nan if end is None else float(end) for end in (criterion.low, criterion.high))
    return (
        by_item.join(in_draw, on=place, how="full", coalesce=True, validate="1:1")
        .join(_all_silent(judged), on=place, how="left", validate="1:1")
        # A label outside the draw stands for nobody.
        .filter(pl.col("drawn") | pl.col("silent"))
        .with_columns(pl.col("silent", "drawn").fill_null(value=False))
        .with_columns(
            people_low=pl.col("people").fill_null(low), people_high=pl.col("people").fill_null(high)
        )
        .sort(place)
    )


def _drawn_cases(labels: Labels, judged: pl.DataFrame) -> pl.DataFrame:
    """The items and candidates of the cases that were drawn, each with its own or its case's probability."""
    items = judged.filter(pl.col("edit") == "").select(*ITEM_KEY, "candidate", "group").unique()
    in_draw = labels.draw.with_columns(drawn=pl.lit(value=True))
    joined = items.join(in_draw, on=ITEM_KEY, how="left", validate="m:1")
    # A case is drawn as a whole, so the other items of one that was drawn were drawn with it.
    of_case = pl.col("probability").max().over("group")
    return joined.filter(pl.col("drawn").any().over("group")).with_columns(
        pl.col("probability").fill_null(of_case)
    )


def people_scores(labels: Labels) -> pl.DataFrame:
    """People's mean of each response that they scored, as `label`; what was put to them again is no label."""
    first = labels.scores.filter(pl.col("pass_no") == 1)
    people = [
        by_repeat(first.filter(pl.col("measure_id") == key), measure.criterion)
        for key, measure in sorted(labels.measures.items())
    ]
    return pl.concat(people).group_by(RESPONSE).agg(label=exact_mean(pl.col("observed")))


_SILENT = pl.col("status").is_in(["unanswered", "unreadable"])


def _all_silent(judged: pl.DataFrame) -> pl.DataFrame:
    """The items and candidates of which every repeat is silent, as `silent`."""
    unedited = judged.filter(pl.col("edit") == "")
    return unedited.group_by(*ITEM_KEY, "candidate").agg(silent=_SILENT.all()).filter("silent")


def _silent(judged: pl.DataFrame, answers: pl.DataFrame, scored: pl.DataFrame) -> pl.DataFrame:
    """The first repeat of each item and candidate without labels that is silent, with the rule's score.

    Nobody is shown a silence, so its score by the rule is what people's would be.
    """
    first = (
        judged.filter((pl.col("edit") == "") & (pl.col("status") != "failed"))
        .sort("repeat")
        .unique([*ITEM_KEY, "candidate"], keep="first", maintain_order=True)
    )
    silent = first.filter(_SILENT).select(RESPONSE)
    return (
        silent.join(scored, on=[*ITEM_KEY, "candidate"], how="anti")
        .join(answers, on=RESPONSE, validate="1:1")
        .select(*RESPONSE, "judge", label="judge")
    )
