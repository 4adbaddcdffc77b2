"""Circular choices: when a judge, or its own words, would choose the rubric by which it is then believed."""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from vivavoce.errors import SpecError
from vivavoce.models.cards import ModelCard, card_of
from vivavoce.specs import Spec, parse, signed
from vivavoce.studies import Marks
from vivavoce.studies.examined import Examiner

__all__ = ["circles"]


def circles(marks: Marks, examiner: Examiner, names: str, known: Mapping[str, ModelCard]) -> Iterator[str]:
    """Sentences on the ways in which a choice among a judge's rubrics would go in a circle.

    `names` are the rubrics' and `known` the models' cards by name: the judge's family, and that of the model
    that worded a ceiling, as far as the ceiling's label tells.
    """
    import polars as pl

    if marks.people:
        yield (
            "If anybody worded a rubric with these labels before them, both halves have been seen, and no "
            "cut undoes that."
        )
    else:
        yield (
            "No labels were given (--labels METRIC), so nothing but the judge's own marks could choose among "
            f"{names}: by how high they put the ceiling, or by how they fit each other. That is a circle: "
            "the judge would choose the rubric by which it is then believed. No rubric is chosen here."
        )
    judge = str(signed(examiner.signature).spec.settings.get("model") or examiner.rater)
    own = marks.scores.filter(pl.col("role") == "ceiling")["candidate"].unique().sort()
    for ceiling in own:
        maker = _maker(ceiling, judge, known)
        if maker is None:
            yield f"Which model worded the ceiling {ceiling} is not known from this run."
        elif maker:
            yield (
                f"The ceiling {ceiling} was worded by a model of the judge's own family ({maker}): how high "
                "the judge puts it says as much of a liking for its own words as of the rubric."
            )


def _maker(ceiling: str, judge: str, known: Mapping[str, ModelCard]) -> str | None:
    """The model in a ceiling's label if it is of the judge's family, '' if it is of another, else null."""
    try:
        models = list(_models(parse(ceiling)))
    except SpecError:
        models = []
    words = [w for w in re.split(r"[^\w./:+~-]+", ceiling) if w]
    phrases = [*models, *words, *(f"{a} {b}" for a, b in pairwise(words)), ceiling]
    card = card_of(judge, known)
    bare = _bare(judge)
    seen = bool(models)
    for name in phrases:
        other = card_of(name, known)
        same_family = card is not None and other is not None and other.family == card.family
        # The name without its date is the same model: gpt-4o for gpt-4o-2024-08-06.
        same_model = any(c.isdigit() for c in name) and f"{bare}-".startswith(f"{_bare(name)}-")
        if same_model or (same_family and other is not None and other.family is not None):
            return name
        seen = seen or other is not None
    return "" if seen else None


def _bare(model: str) -> str:
    return model.casefold().rpartition("/")[2]


def _models(spec: Spec) -> Iterator[str]:
    """The models that a spec names, in itself or inside its settings."""
    for key, value in spec.settings.items():
        if isinstance(value, Spec):
            yield from _models(value)
        elif key in ("model", "by") and isinstance(value, str):
            yield value
