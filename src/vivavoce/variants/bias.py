"""Bias twins: a sentence that suggests a wrong answer, and a neutral twin of the same length and place.

The wrong answer comes from the options, other items or a model; whatever may be right is refused.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from vivavoce.core.records import Item
from vivavoce.core.registry import variation
from vivavoce.core.specs import Setting, Spec
from vivavoce.formats import format_of
from vivavoce.language.invariants import changed, either_holds
from vivavoce.variants import Outcome, Stock, Variation, seeded_choice
from vivavoce.variants.llm import for_planted, text_reader
from vivavoce.variants.sentences import at_place, neutral_like, pair, place, put_in

if TYPE_CHECKING:
    from vivavoce.core.specs import Spec
    from vivavoce.models.engine.client import ModelClient


ItemKey = tuple[str, str]
"""Benchmark and base id."""


class WrongAnswer(NamedTuple):
    """A wrong answer to plant, or the reason why there is none.

    `from_model` if a model wrote it; `requests` is how many would have to be sent to get one.
    """

    text: str | None
    reason: str | None = None
    from_model: bool = False
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
    client: "ModelClient | None" = None,
) -> dict[ItemKey, WrongAnswer]:
    """The wrong answer to plant in each base item, or why there is none.

    In this order: the one that the exam names (`meta["planted"]` of the item, or what a twin of the exam
    itself suggests, in `suggested`); in a closed format a wrong option, drawn by the item's ids and the seed;
    the item's `false_answer`; what `model` writes, if one is named. None of them is, holds or is held by the
    keyed answer.
    """
    answers: dict[ItemKey, WrongAnswer] = {}
    unknown = []
    for item in bases:
        answer = _without_model(item, suggested.get((item.benchmark, item.item)), seed)
        if answer is None:
            unknown.append(item)
        answers[item.benchmark, item.item] = answer or (
            WrongAnswer(None, "no wrong answer is known; planted=MODEL has one written")
            if model is None
            else WrongAnswer(None, "a model writes the wrong answer first", requests=1)
        )
    if unknown and model is not None and client is not None:
        answers |= _written_by(model, unknown, client)
    return answers


def _written_by(
    model: str | Spec, items: Sequence[Item], client: "ModelClient"
) -> dict[ItemKey, WrongAnswer]:
    requests = [for_planted(item) for item in items]
    readers = [text_reader(request, "answer") for request in requests]
    results = client.ask(model, requests, readers, purpose="vary planted")
    return {
        (item.benchmark, item.item): _written(item, result.value, result.reason)
        for item, result in zip(items, results, strict=True)
    }


def _written(item: Item, text: str | None, reason: str | None) -> WrongAnswer:
    if text is None:
        return WrongAnswer(None, f"no wrong answer was written: {reason}")
    if keyed(item, text):
        return WrongAnswer(None, "the wrong answer that was written holds the keyed one, or is held by it")
    return WrongAnswer(text, from_model=True)


def _without_model(item: Item, suggested: str | None, seed: int) -> WrongAnswer | None:
    """A wrong answer that needs no model; null where one would."""
    if format_of(item).fixed_options:
        opposite = {"True": "False", "False": "True"}.get("".join(item.answer))
        return WrongAnswer(opposite, None if opposite else "it has no key")
    named = item.meta.get("planted") or suggested
    if not format_of(item).open_text:
        return _wrong_option(item, named, seed)
    for text in (named, item.false_answer):
        if isinstance(text, str) and text.strip():
            if keyed(item, text):
                return WrongAnswer(None, "the exam's wrong answer holds the keyed one, or is held by it")
            return WrongAnswer(text.strip())
    return None


def _wrong_option(item: Item, named: object, seed: int) -> WrongAnswer:
    fit = sorted(o for o in item.options if o not in item.answer and not keyed(item, o))
    if not fit:
        return WrongAnswer(None, "every wrong option holds the keyed one's words, or is held by them")
    if named in fit:
        return WrongAnswer(str(named))
    return WrongAnswer(fit[seeded_choice(item, "planted", seed, len(fit))])


BiasType = Literal[
    "recency", "frequency", "status_quo", "anchoring", "confirmation", "authority", "false_premise"
]


@variation("bias")
class Bias(Variation):
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

    @property
    def _kinds(self) -> tuple[BiasType, ...]:
        """Each type once."""
        return tuple(dict.fromkeys((self.type,) if isinstance(self.type, str) else self.type))

    @property
    def models_to_ask(self) -> "tuple[str | Spec, ...]":
        """The model that writes wrong answers, if one is named."""
        return () if self.planted is None else (self.planted,)

    def shards(self, stock: Stock) -> "list[tuple[Variation, Stock]]":
        """Some base items for one type at a time; none where a model writes wrong answers."""
        if self.planted is not None:
            return []
        return [(replace(self, type=kind), part) for kind in self._kinds for part in stock.by_items()]

    def makes(self, stock: Stock, client: "ModelClient | None") -> Iterator[Outcome]:
        """A pair of twins for each base item and type."""
        wrong = wrong_answers(
            stock.bases, _suggested(stock.items), seed=self.seed, model=self.planted, client=client
        )
        by_key = {(i.benchmark, i.item, i.variant): i for i in stock.items}
        for kind in self._kinds:
            for item in stock.bases:
                twin = by_key.get((item.benchmark, item.item, f"bias:{kind}"))
                if twin is None:
                    yield self._twins(item, kind, wrong[item.benchmark, item.item])
                elif any((item.benchmark, item.item, v) in by_key for v in ("neutral", f"neutral:{kind}")):
                    yield Outcome(f"bias:{kind}", item.name, reason="the exam has its own twins")
                else:
                    yield self._neutral(item, twin)

    def _neutral(self, item: Item, twin: Item) -> Outcome:
        """The neutral twin that a biased twin of the exam lacks."""
        subject = f"neutral:{twin.variant.removeprefix('bias:')}"
        insertion = put_in(item.question, twin.question)
        if insertion is None:
            return Outcome(subject, item.name, reason="the exam's own twin differs by more than a sentence")
        position, biased = insertion
        sentence = neutral_like(item, biased, self.seed)
        if sentence is None:
            return Outcome(
                subject, item.name, reason="no neutral sentence is as long as the exam's biased one"
            )
        settings: dict[str, Setting] = {"type": subject.removeprefix("neutral:"), "seed": self.seed}
        about = {"sentence": sentence, "twin_of": twin.variant}
        return self._outcome(subject, item, position, settings, {subject: about})

    def _twins(self, item: Item, kind: str, wrong: WrongAnswer) -> Outcome:
        subject = f"bias:{kind}"
        if wrong.text is None:
            return Outcome(subject, item.name, reason=wrong.reason, requests=wrong.requests)
        position = place(item)
        if isinstance(position, str):
            return Outcome(subject, item.name, reason=position)
        sentences = pair(item, kind, wrong.text, self.seed)
        if isinstance(sentences, str):
            return Outcome(subject, item.name, reason=sentences)
        settings: dict[str, Setting] = {"type": kind, "seed": self.seed}
        if wrong.from_model:
            settings["planted"] = self.planted
        biased = {"planted": wrong.text, "sentence": sentences.biased, "neutral_sentence": sentences.neutral}
        neutral = {"sentence": sentences.neutral, "twin_of": subject}
        return self._outcome(subject, item, position, settings, {subject: biased, f"neutral:{kind}": neutral})

    def _outcome(
        self,
        subject: str,
        item: Item,
        position: int,
        settings: Mapping[str, Setting],
        twins: Mapping[str, Mapping[str, str]],
    ) -> Outcome:
        """Twins by variant, each with the sentence that its part of `meta` names."""
        meta = {k: v for k, v in item.meta.items() if k != "planted"}
        items = tuple(
            replace(
                item,
                variant=variant,
                alias=None,
                question=at_place(item.question, position, about["sentence"]),
                origin=str(Spec("bias", settings)),
                meta={**meta, **about},
            )
            for variant, about in twins.items()
        )
        bare = [twin.question.replace(f"{twin.meta['sentence']} ", "", 1) for twin in items]
        fault = next(filter(None, (changed(item.question, text, ordered=True) for text in bare)), None)
        return Outcome(subject, item.name, items, fault)


def _suggested(items: Iterable[Item]) -> dict[ItemKey, str]:
    """What twins of the exam itself plant, by base item: a question has one wrong answer in all its twins."""
    return {
        (item.benchmark, item.item): planted
        for item in items
        if item.origin is None and isinstance(planted := item.meta.get("planted"), str)
    }
