"""Circular choices: when a judge, or its own words, would choose the rubric by which it is then believed."""

import re
from collections.abc import Iterator
from itertools import pairwise

from vivavoce.errors import SpecError
from vivavoce.specs import Spec, parse
from vivavoce.studies import Marks
from vivavoce.studies.examined import Examiner, examiners, model_of

__all__ = ["circles", "models_named"]


def models_named(marks: Marks) -> frozenset[str]:
    """Names under which `marks.cards` tells of the models that mark, and that may have worded a ceiling.

    Of a ceiling that is anything in its label that may name a model: most of it names none.
    """
    judges = (model_of(examiner) for examiner in examiners(marks))
    ceilings = (name for ceiling in _ceilings(marks) for name in _phrases(ceiling))
    return frozenset(filter(None, (*judges, *ceilings)))


def _ceilings(marks: Marks) -> list[str]:
    own = marks.scores.filter(marks.scores["role"] == "ceiling")["candidate"]
    return own.unique().sort().to_list()


def circles(marks: Marks, examiner: Examiner, names: str) -> Iterator[str]:
    """Sentences on the ways in which a choice among a judge's rubrics would go in a circle.

    `names` are the rubrics'. Families are those of `marks.cards` under `models_named`: the judge's, and that
    of the model that worded a ceiling, as far as the ceiling's label tells.
    """
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
    for ceiling in _ceilings(marks):
        maker = _maker(ceiling, model_of(examiner), marks)
        if maker is None:
            yield f"Which model worded the ceiling {ceiling} is not known from this run."
        elif maker:
            yield (
                f"The ceiling {ceiling} was worded by a model of the judge's own family ({maker}): how high "
                "the judge puts it says as much of a liking for its own words as of the rubric."
            )


def _maker(ceiling: str, judge: str, marks: Marks) -> str | None:
    """The model in a ceiling's label if it is of the judge's family, '' if it is of another, else null."""
    known = marks.cards or {}
    card = known.get(judge)
    bare = _bare(judge)
    seen = bool(_stated(ceiling))
    for name in _phrases(ceiling):
        other = known.get(name)
        same_family = card is not None and other is not None and other.family == card.family
        # The name without its date is the same model: gpt-4o for gpt-4o-2024-08-06.
        same_model = any(c.isdigit() for c in name) and f"{bare}-".startswith(f"{_bare(name)}-")
        if same_model or (same_family and other is not None and other.family is not None):
            return name
        seen = seen or other is not None
    return "" if seen else None


def _phrases(ceiling: str) -> list[str]:
    """Whatever in a ceiling's label may name a model, what states it first."""
    words = [w for w in re.split(r"[^\w./:+~-]+", ceiling) if w]
    return [*_stated(ceiling), *words, *(f"{a} {b}" for a, b in pairwise(words)), ceiling]


def _stated(ceiling: str) -> list[str]:
    """The models that a label states, being a spec."""
    try:
        return list(_models(parse(ceiling)))
    except SpecError:
        return []


def _bare(model: str) -> str:
    return model.casefold().rpartition("/")[2]


def _models(spec: Spec) -> Iterator[str]:
    """The models that a spec names, in itself or inside its settings."""
    for key, value in spec.settings.items():
        if isinstance(value, Spec):
            yield from _models(value)
        elif key in ("model", "by") and isinstance(value, str):
            yield value
