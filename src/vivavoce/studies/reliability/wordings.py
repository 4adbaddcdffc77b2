"""Scores of wordings: the edits `rephrase:k` of answers, beside the scores of the answers as given."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core import specs
from vivavoce.core.errors import VivaError
from vivavoce.core.records import Criterion
from vivavoce.studies.answers import Answers
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.score_table import ITEM, ITEM_KEY, RESPONSE, counted_value, repeats
from vivavoce.studies.text import and_so, count

EDIT = r"(?s)^(rephrase(?:@.+)?):(\d+)$"
"""An edit that says the same in other words: who wrote it, and the number of the wording."""


class Reworded(NamedTuple):
    """Scores of one criterion on one benchmark, by one rephraser.

    `after` has a row per wording: the columns of a response and of its item's group, `edit`, `number`, `y`,
    and `before`, the score of the answer as it was given, null where it has none. `passes` has a row per
    wording and pass. `unscored` are the candidates that have wordings and no score of any.
    """

    benchmark: str
    edits: str
    after: pl.DataFrame
    passes: pl.DataFrame
    n_failed: int
    unscored: tuple[str, ...]

    @property
    def numbers(self) -> list[int]:
        """The wordings there are."""
        return sorted(self.after["number"].unique())


def reworded(rows: pl.DataFrame, criterion: Criterion) -> Iterator[Reworded]:
    """The scores of wordings by benchmark and rephraser, from the score rows of one measure."""
    place = [*ITEM, "candidate", "repeat"]
    edited = rows.filter(pl.col("edit") != "")
    if not edited.height:
        return
    scored = (
        edited.with_columns(parts_of_edit=pl.col("edit").str.extract_groups(EDIT))
        .with_columns(
            edits=pl.col("parts_of_edit").struct.field("1"),
            number=pl.col("parts_of_edit").struct.field("2").cast(pl.Int64, strict=False),
            y=counted_value(criterion),
        )
        .filter(pl.col("number").is_not_null())
        .select(*place, "edits", "edit", "number", "pass_no", "y", "status")
        .sort("benchmark", "edits", *RESPONSE[1:], "number", "pass_no")
    )
    before = repeats(rows, criterion).select(*RESPONSE, before="y")
    for (benchmark, edits), part in scored.group_by("benchmark", "edits", maintain_order=True):
        passes = part.drop_nulls("y")
        after = (
            passes.group_by(*place, "edit", "number", maintain_order=True)
            .agg(exact_mean(pl.col("y")))
            .join(before, on=RESPONSE, how="left", maintain_order="left", validate="m:1")
        )
        n_failed = part.filter(pl.col("status") == "failed").height
        unscored = sorted({*part["candidate"]} - {*after["candidate"]})
        yield Reworded(str(benchmark), str(edits), after, passes, n_failed, tuple(unscored))


def wording_models(answers: Answers | None) -> dict[str, str]:
    """Who wrote the wordings, by `rephrase` or `rephrase@LABEL`: the models that origins name, or ''."""
    if answers is None:
        return {}
    edited = (
        answers("edit", "meta", edited=True)
        .with_columns(edits=pl.col("edit").str.extract(EDIT, 1))
        .filter(pl.col("edits").is_not_null())
        .select("edits", "meta")
        .unique(maintain_order=True)
    )
    models: dict[str, dict[str, None]] = {}
    for edits, meta in edited.iter_rows():
        models.setdefault(edits, {}).update({name: None for name in _models(meta)})
    return {edits: ", ".join(sorted(names)) for edits, names in models.items()}


def _models(meta: str | None) -> Iterator[str]:
    """The model that the origin of a wording names, if it names one."""
    origin = json.loads(meta or "{}").get("origin")
    if isinstance(origin, str):
        try:
            model = specs.parse(origin).settings.get("model")
        except VivaError:  # imported: an origin is any text
            return
        if model is not None:
            yield str(model)


def template_pairs(candidates: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Candidates that differ by `chat_template` alone: the one with the template, then the one without."""
    settings: dict[str, dict[bool, str]] = {}
    for name in candidates:
        try:
            spec = specs.parse(name)
        except VivaError:  # a label of a system, and no spec
            continue
        rest = {key: value for key, value in spec.settings.items() if key != "chat_template"}
        # A candidate that states nothing has its template: that is the default.
        template = spec.settings.get("chat_template", True) is not False
        settings.setdefault(str(specs.Spec(spec.name, rest)), {})[template] = name
    for pair in settings.values():
        if len(pair) == 2:
            yield pair[True], pair[False]


def as_wordings(after: pl.DataFrame) -> stats.Wordings:
    """The scores of wordings as statistics read them."""

    def codes(*names: str) -> np.ndarray[Any, Any]:
        return after.select(pl.struct(*names).rank("dense")).to_series().to_numpy().astype(int)

    return stats.wordings(
        after["y"].to_numpy(),
        codes(*RESPONSE),
        candidates=codes("candidate"),
        items=codes(*ITEM_KEY),
        groups=codes("group"),
    )


def tables_by_candidate(after: pl.DataFrame) -> tuple[Any, Any, Any]:
    """Candidates by items before and after, on the items that all have, and the items' groups."""
    cells = (
        after.drop_nulls("before")
        .group_by(*ITEM, "candidate", maintain_order=True)
        .agg(exact_mean(pl.col("y", "before")))
        .filter(pl.len().over(ITEM_KEY) == after["candidate"].n_unique())
        .sort("candidate", *ITEM)
    )
    shape = after["candidate"].n_unique(), -1
    groups = cells["group"].to_numpy()[: cells.height // shape[0]]
    return cells["before"].to_numpy().reshape(shape), cells["y"].to_numpy().reshape(shape), groups


def nothing_reworded(models: Mapping[str, str]) -> str:
    """What a finding says where no wording has a score; `models` are those of wordings."""
    if models:
        return "Answers were put in other words, and no wording has a score: `viva score` gives scores."
    return (
        'No answer was put in other words: `viva vary RUN "rephrase(model=…, k=6)"` does that, and `viva '
        "score` scores the wordings."
    )


def scaled_columns(figures: stats.WordingVariance) -> dict[str, Any]:
    """The published variance with its quartiles over prompts."""
    q1, median, q3 = figures.scaled_quartiles or (None, None, None)
    return {
        "variance_scaled_published": figures.scaled_published,
        "variance_q1": q1,
        "variance_median": median,
        "variance_q3": q3,
    }


def why_fewer(data: Reworded) -> Iterator[str]:
    """Which scores and candidates have no part in the figures."""
    if data.n_failed:
        yield f"{count(data.n_failed, 'score')} of wordings failed: score them again before deciding"
    if data.unscored:
        yield f"left out, having no scored wording: {and_so(data.unscored)}"
