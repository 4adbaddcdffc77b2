"""Bias twins: a sentence that suggests a wrong answer, and a neutral twin of the same length and place."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from vivavoce.records import Item
from vivavoce.registry import variation
from vivavoce.specs import Setting, Spec
from vivavoce.vary.facts import changed
from vivavoce.vary.outcomes import Outcome, Stock
from vivavoce.vary.sentences import at_place, neutral_like, pair, place, put_in
from vivavoce.vary.wrong import ItemKey, Wrong, wrong_answers

if TYPE_CHECKING:
    from vivavoce.ask.desk import Desk

__all__ = ["Bias"]

BiasType = Literal[
    "recency", "frequency", "status_quo", "anchoring", "confirmation", "authority", "false_premise"
]


@variation("bias")
class Bias:
    """Twins of a question with a sentence that suggests a wrong answer, each with a neutral twin.

    `type` is one of recency, frequency, status_quo, anchoring, confirmation, authority, false_premise, or a
    list of them. `seed` draws the wrong option and the sentence; `planted` is a model that writes a wrong
    answer where an open question has none. The items are the variants `bias:TYPE` and `neutral:TYPE`. A
    biased twin that the exam itself brings gets the neutral one alone, where it has none.
    """

    type: BiasType | tuple[BiasType, ...]
    seed: int = 0
    planted: str | Spec | None = None

    def __post_init__(self) -> None:
        if not self.type:
            raise ValueError("type names no kind of bias")

    def makes(self, stock: Stock, desk: "Desk | None") -> Iterator[Outcome]:
        """A pair of twins for each base item and type."""
        wrong = wrong_answers(
            stock.bases, _suggested(stock.items), seed=self.seed, model=self.planted, desk=desk
        )
        there = {(i.benchmark, i.item, i.variant): i for i in stock.items}
        for kind in dict.fromkeys((self.type,) if isinstance(self.type, str) else self.type):
            for item in stock.bases:
                own = there.get((item.benchmark, item.item, f"bias:{kind}"))
                if own is None:
                    yield self._twins(item, kind, wrong[item.benchmark, item.item])
                elif any((item.benchmark, item.item, v) in there for v in ("neutral", f"neutral:{kind}")):
                    yield Outcome(f"bias:{kind}", item.name, reason="the exam has its own twins")
                else:
                    yield self._neutral(item, own)

    def _neutral(self, item: Item, own: Item) -> Outcome:
        """The neutral twin that a biased twin of the exam lacks."""
        what = f"neutral:{own.variant.removeprefix('bias:')}"
        found = put_in(item.question, own.question)
        if found is None:
            return Outcome(what, item.name, reason="the exam's own twin differs by more than a sentence")
        at, biased = found
        sentence = neutral_like(item, biased, self.seed)
        if sentence is None:
            return Outcome(what, item.name, reason="no neutral sentence is as long as the exam's biased one")
        settings: dict[str, Setting] = {"type": what.removeprefix("neutral:"), "seed": self.seed}
        told = {"sentence": sentence, "twin_of": own.variant}
        return self._made(what, item, at, settings, {what: told})

    def _twins(self, item: Item, kind: str, wrong: Wrong) -> Outcome:
        what = f"bias:{kind}"
        if wrong.text is None:
            return Outcome(what, item.name, reason=wrong.reason, requests=wrong.requests)
        at = place(item)
        if isinstance(at, str):
            return Outcome(what, item.name, reason=at)
        said = pair(item, kind, wrong.text, self.seed)
        if isinstance(said, str):
            return Outcome(what, item.name, reason=said)
        settings: dict[str, Setting] = {"type": kind, "seed": self.seed}
        if wrong.asked:
            settings["planted"] = self.planted
        biased = {"planted": wrong.text, "sentence": said.biased, "neutral_sentence": said.neutral}
        neutral = {"sentence": said.neutral, "twin_of": what}
        return self._made(what, item, at, settings, {what: biased, f"neutral:{kind}": neutral})

    def _made(
        self,
        what: str,
        item: Item,
        at: int,
        settings: Mapping[str, Setting],
        twins: Mapping[str, Mapping[str, str]],
    ) -> Outcome:
        """Twins by variant, each with the sentence that its part of `meta` names."""
        beside = {k: v for k, v in item.meta.items() if k != "planted"}
        made = tuple(
            replace(
                item,
                variant=variant,
                alias=None,
                question=at_place(item.question, at, told["sentence"]),
                origin=str(Spec("bias", settings)),
                meta={**beside, **told},
            )
            for variant, told in twins.items()
        )
        bare = [twin.question.replace(f"{twin.meta['sentence']} ", "", 1) for twin in made]
        fault = next(filter(None, (changed(item.question, text, ordered=True) for text in bare)), None)
        return Outcome(what, item.name, made, fault)


def _suggested(items: Iterable[Item]) -> dict[ItemKey, str]:
    """What twins of the exam itself plant, by base item: a question has one wrong answer in all its twins."""
    return {
        (item.benchmark, item.item): planted
        for item in items
        if item.origin is None and isinstance(planted := item.meta.get("planted"), str)
    }
