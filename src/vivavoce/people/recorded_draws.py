"""The chance of each case to be labelled, over all draws that the panels of a run have made."""

import sqlite3
from collections.abc import Iterable, Mapping

from vivavoce.core.errors import InputError
from vivavoce.core.records import ItemKey
from vivavoce.people.case_draw import CaseDraw
from vivavoce.people.key import Key
from vivavoce.store.label_draws import LabelDraw, put_label_draw, read_label_draws


def record_draw(
    db: sqlite3.Connection,
    key: Key,
    probabilities: Mapping[ItemKey, float],
    earlier: Iterable[Key],
) -> None:
    """Store with what chance the case of each item has been drawn, by this panel and the `earlier` ones.

    Draws with one seed from the same cases are nested: the larger one counts. Those with several seeds are
    independent: a case is labelled if any of them drew it. Raises `InputError` where the chance would not be
    known: one seed over other cases, or another draw of other candidates.
    """
    draw = key.draw
    if draw is None:
        return
    draws = [(old.seed, old.draw) for old in earlier if old.metric == key.metric and old.draw]
    for seed, old in draws:
        _refuse_unlike(key, draw, seed, old)
    sample = frozenset(question.place for question in key.questions)
    if draw.goal:
        # Totals already; there are none where an earlier draw is given to more raters.
        if probabilities:
            put_label_draw(db, LabelDraw(key.metric, probabilities, sample, "panel"))
        return
    nested = max((old.probability for seed, old in draws if seed == key.seed and not old.goal), default=0.0)
    if draw.probability <= nested:  # drawn before, by this panel or a larger one
        return
    stored = read_label_draws(db).get(key.metric)
    earlier_totals = stored.probabilities if stored else {}
    totals = {
        place: _total(earlier_totals.get(place, 0.0), nested, probability)
        for place, probability in probabilities.items()
    }
    put_label_draw(db, LabelDraw(key.metric, totals, sample, "panel"))


def _total(earlier: float, nested: float, probability: float) -> float:
    """The chance of a case in all draws: of those `earlier`, `nested` is of a smaller draw with this seed."""
    independent = max(0.0, 1 - (1 - earlier) / (1 - nested))
    return independent + probability - independent * probability


def _refuse_unlike(key: Key, draw: CaseDraw, seed: int, old: CaseDraw) -> None:
    """Raise `InputError` where two draws do not go together."""
    same_seed = seed == key.seed and not (draw.goal or old.goal)
    if same_seed and old.frame != draw.frame:
        raise InputError(
            f"--seed {seed} has drawn questions for {key.metric} before, when others could be drawn (by "
            "--items, --candidates or what the run held): another --seed keeps the chance of each known."
        )
    small, large = sorted((old, draw), key=lambda draw: draw.n)
    nested = same_seed and (small.n == large.n or set(small.candidates) <= set(large.candidates))
    if set(old.candidates) != set(draw.candidates) and not nested:
        raise InputError(
            f"{key.metric} has labels drawn for {', '.join(old.candidates)}: other --candidates get the same "
            f"questions, with --seed {seed} and the --n of that panel, or their chance would differ between "
            "candidates."
        )
