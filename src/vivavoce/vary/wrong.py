"""The wrong answer that a biased twin suggests: where it is taken from, and what it must not be."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from vivavoce.records import Item
from vivavoce.vary.asking import for_planted, read_text
from vivavoce.vary.facts import either_holds
from vivavoce.vary.outcomes import drawn

if TYPE_CHECKING:
    from vivavoce.ask.desk import Desk
    from vivavoce.specs import Spec

__all__ = ["CLOSED", "ItemKey", "Wrong", "keyed", "wrong_answers"]

CLOSED = ("mcq", "list")
ItemKey = tuple[str, str]
"""Benchmark and base id."""


class Wrong(NamedTuple):
    """A wrong answer to plant, or the reason why there is none.

    `asked` if a model wrote it; `requests` is how many would have to be sent to get one.
    """

    text: str | None
    reason: str | None = None
    asked: bool = False
    requests: int = 0


def keyed(item: Item, planted: str) -> bool:
    """True if an answer is the keyed one: one holds the words of the other, case and accents aside.

    So "HIV" cannot be planted where the key is "HIV-associated nephropathy". That is strict: a reference that
    only mentions the wrong answer refuses it too.
    """
    return any(either_holds(planted, key) for key in (*item.answer, *item.references))


def wrong_answers(
    bases: Sequence[Item],
    suggested: Mapping[ItemKey, str],
    *,
    seed: int,
    model: "str | Spec | None" = None,
    desk: "Desk | None" = None,
) -> dict[ItemKey, Wrong]:
    """The wrong answer to plant in each base item, or why there is none.

    In this order: the one that the exam names (`meta["planted"]` of the item, or what a twin of the exam
    itself suggests, in `suggested`); in a closed format a wrong option, drawn by the item's ids and the seed;
    the item's `false_answer`; what `model` writes, if one is named. None of them is, holds or is held by the
    keyed answer.
    """
    found: dict[ItemKey, Wrong] = {}
    unknown = []
    for item in bases:
        one = _known(item, suggested.get((item.benchmark, item.item)), seed)
        if one is None:
            unknown.append(item)
        found[item.benchmark, item.item] = one or (
            Wrong(None, "no wrong answer is known; planted=MODEL has one written")
            if model is None
            else Wrong(None, "a model writes the wrong answer first", requests=1)
        )
    if unknown and model is not None and desk is not None:
        heard = desk.ask(
            model, [for_planted(item) for item in unknown], read_text("answer"), purpose="vary planted"
        )
        for item, said in zip(unknown, heard, strict=True):
            found[item.benchmark, item.item] = _written(item, said.value, said.reason)
    return found


def _written(item: Item, text: str | None, why: str | None) -> Wrong:
    if text is None:
        return Wrong(None, f"no wrong answer was written: {why}")
    if keyed(item, text):
        return Wrong(None, "the wrong answer that was written holds the keyed one, or is held by it")
    return Wrong(text, asked=True)


def _known(item: Item, suggested: str | None, seed: int) -> Wrong | None:
    """A wrong answer that needs no model; null where one would."""
    if item.format == "true_false":
        other = {"True": "False", "False": "True"}.get("".join(item.answer))
        return Wrong(other, None if other else "it has no key")
    stated = item.meta.get("planted") or suggested
    if item.format in CLOSED:
        fit = sorted(o for o in item.options if o not in item.answer and not keyed(item, o))
        if stated in fit:
            return Wrong(str(stated))
        if not fit:
            return Wrong(None, "every wrong option holds the keyed one's words, or is held by them")
        return Wrong(fit[drawn(item, "planted", seed, len(fit))])
    for text in (stated, item.false_answer):
        if isinstance(text, str) and text.strip():
            if keyed(item, text):
                return Wrong(None, "the exam's wrong answer holds the keyed one, or is held by it")
            return Wrong(text.strip())
    return None
