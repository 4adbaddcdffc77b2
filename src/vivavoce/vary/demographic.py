"""Demographic twins: the same vignette of a person of another sex, age, ethnicity, name or insurance."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from vivavoce.errors import InputError
from vivavoce.models.yamls import read_mapping
from vivavoce.records import Item
from vivavoce.registry import variation
from vivavoce.specs import Spec
from vivavoce.vary.facts import changed, facts
from vivavoce.vary.outcomes import Outcome, Stock, drawn
from vivavoce.vary.sentences import at_place, place, sentence_starts
from vivavoce.vary.swaps import Sex, Unsure, sex_of, swapped

if TYPE_CHECKING:
    from vivavoce.ask.desk import Desk

__all__ = ["AGES", "KINDS", "Demographic", "shifted", "values"]

KINDS = ("age", "sex", "ethnicity", "name", "insurance")
AGES = (20, 35, 40, 45, 50, 55, 60, 65, 75, 80)
"""Where bands of age begin: ages at which guidelines often change. An age never leaves its band."""
FARTHEST = 4
"""Years that an age is moved by at most."""

DemographicKind = Literal["age", "sex", "ethnicity", "name", "insurance"]
_OPENING = re.compile(
    r"\bAn? (?P<age>\d{1,3})[- ]years?[- ]old (?P<between>(?:[a-z][a-z-]*,? ){0,3}?)"
    r"(?P<noun>woman|man|female|male|lady|gentleman|patient|person)\b"
)
"""How a vignette brings its patient in: "A 58-year-old previously healthy woman"."""
_OTHER_AGE = re.compile(
    r"\b(?:age|years?[- ]old|yo|y/o|months?[- ]old|weeks?[- ]old|days?[- ]old)\b", re.IGNORECASE
)


class _Change(NamedTuple):
    """A value's question and context, the piece that was put in ('' for a rewriting), and what to look at."""

    question: str
    context: str | None
    piece: str = ""
    check: str | None = None


class _KeptOut(Exception):
    """A word in an item that keeps it from a kind of twin."""


@variation("demographic")
class Demographic:
    """Twins of a vignette whose patient is of another sex, age, ethnicity, name or insurance.

    `kind` is one of age, sex, ethnicity, name, insurance, or a list of them; `seed` draws names and
    sentences. Every question gets one twin per value, the variants `demographic:KIND=VALUE`. What the exam
    says of the patient is rewritten (sex), moved by a few years within a band (age: younger and older), or a
    piece is put in, with a `neutral` value of the same form to compare with (ethnicity, name, insurance).
    Only vignettes of one adult are varied, and none where the detail may bear on the right answer.
    """

    kind: DemographicKind | tuple[DemographicKind, ...]
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.kind:
            raise ValueError("kind names no detail of a patient")

    def makes(self, stock: Stock, desk: "Desk | None") -> Iterator[Outcome]:
        """A twin for each base item, kind and value, or one reason for a base item and kind."""
        for kind in dict.fromkeys((self.kind,) if isinstance(self.kind, str) else self.kind):
            for item in stock.bases:
                yield from self._twins(item, kind)

    def _twins(self, item: Item, kind: DemographicKind) -> Iterator[Outcome]:
        try:
            changes = _changes(item, kind, self.seed)
        except Unsure as error:
            yield Outcome(f"demographic:{kind}", item.name, reason=str(error))
            return
        except _KeptOut as error:
            why = "what it speaks of may bear on the answer"
            yield Outcome(f"demographic:{kind}", item.name, reason=why, detail=str(error))
            return
        made, fault = [], None
        for value, change in changes.items():
            told: dict[str, Any] = {}
            if change.piece:
                told["sentence" if change.piece.endswith(".") else "word"] = change.piece
            if change.check:
                told["check"] = change.check
            twin = replace(
                item,
                variant=f"demographic:{kind}={value}",
                alias=None,
                question=change.question,
                context=change.context,
                origin=str(Spec("demographic", {"kind": kind, "seed": self.seed})),
                meta={k: v for k, v in item.meta.items() if k != "planted"} | told,
            )
            made.append(twin)
            fault = fault or _fault(item, twin, kind, change.piece)
        yield Outcome(f"demographic:{kind}", item.name, tuple(made), fault)


@cache
def _file() -> Mapping[str, Any]:
    return read_mapping(Path(__file__).with_name("demographics.yaml"), "values", InputError)


def values(kind: str) -> tuple[str, ...]:
    """The values of a kind, in the order in which their twins are made."""
    given = {"sex": ("female", "male"), "age": ("younger", "older")}
    return given.get(kind) or tuple(_file()[kind])


@cache
def _kept_out(kind: str) -> re.Pattern[str]:
    words = "|".join(_file()["kept_out"][kind])
    return re.compile(rf"(?<![^\W_])(?:{words})\w*", re.IGNORECASE)


def _texts(item: Item) -> str:
    beside = (*item.options, *item.answer, *item.references, *item.steps, item.false_answer or "")
    return "\n".join((item.context or "", item.question, *beside))


def _changes(item: Item, kind: DemographicKind, seed: int) -> dict[str, _Change]:
    """The changed texts by value. Raises `Unsure` where the item gets no twins of this kind."""
    if found := _kept_out(kind).search(_texts(item)):
        raise _KeptOut(found[0].casefold())
    make: Callable[[Item, int], dict[str, _Change]] = {
        "sex": _sexes, "age": _ages, "ethnicity": _ethnicities, "name": _names, "insurance": _insurances
    }[kind]  # fmt: skip
    return make(item, seed)


def _sexes(item: Item, seed: int) -> dict[str, _Change]:
    if sex_of(item.context or "", item.question) is None:
        raise Unsure("no sex is stated")
    beside = (*item.options, *item.answer, *item.references, *item.steps, item.false_answer or "")
    if sex_of(*beside) is not None:
        raise Unsure("its key or options name the sex")
    sides: tuple[Sex, Sex] = ("female", "male")
    return {
        side: _Change(swapped(item.question, side), item.context and swapped(item.context, side))
        for side in sides
    }


def _opening(item: Item) -> re.Match[str]:
    """Where the one adult of a vignette is brought in, in the question's first sentence."""
    text = item.question
    found = _OPENING.search(text)
    if found is None or found.start() != 0:
        raise Unsure("it does not begin with a patient and an age")
    if len(_OPENING.findall(f"{item.context or ''}\n{text}")) > 1:
        raise Unsure("it speaks of several patients")
    if not AGES[0] <= int(found["age"]) < AGES[-1]:
        raise Unsure(f"its patient is not of {AGES[0]} to {AGES[-1] - 1} years")
    return found


def shifted(age: int) -> tuple[int, int] | None:
    """The ages farthest from `age` within four years and its band; null where one of them is `age` itself."""
    low = max((edge for edge in AGES if edge <= age), default=age)
    high = min((edge for edge in AGES if edge > age), default=age + 1) - 1
    younger, older = max(low, age - FARTHEST), min(high, age + FARTHEST)
    return (younger, older) if younger < age < older else None


def _ages(item: Item, seed: int) -> dict[str, _Change]:
    found = _opening(item)
    if _OTHER_AGE.search(_texts(item).replace(found[0], "", 1)):
        raise Unsure("it speaks of age elsewhere")
    moved = shifted(int(found["age"]))
    if moved is None:
        raise Unsure("its age lies at the edge of a band")
    start, end = found.span("age")
    return {
        side: _Change(
            f"{item.question[:start]}{age}{item.question[end:]}",
            item.context,
            check=f"the age was moved from {found['age']} to {age}: have the key looked at",
        )
        for side, age in zip(("younger", "older"), moved, strict=True)
    }


def _ethnicities(item: Item, seed: int) -> dict[str, _Change]:
    at = _opening(item).start("noun")
    return {
        value: _Change(at_place(item.question, at, word), item.context, word)
        for value, (word,) in _file()["ethnicity"].items()
    }


def _told(item: Item, sentences: Mapping[str, str]) -> dict[str, _Change]:
    """Each sentence after the first of the question."""
    _opening(item)
    if isinstance(no_place := place(item), str):
        raise Unsure(no_place)
    starts = sentence_starts(item.question)
    if len(starts) < 2:
        raise Unsure("its patient and its question are one sentence")
    return {
        value: _Change(at_place(item.question, starts[1], sentence), item.context, sentence)
        for value, sentence in sentences.items()
    }


def _insurances(item: Item, seed: int) -> dict[str, _Change]:
    stated = _file()["insurance"]
    k = drawn(item, "insurance", seed, min(map(len, stated.values())))
    return _told(item, {value: sentences[k] for value, sentences in stated.items()})


def _names(item: Item, seed: int) -> dict[str, _Change]:
    sex = sex_of(item.context or "", item.question)
    if sex is None:
        raise Unsure("no sex is stated")
    stated = {value: by_sex[sex] for value, by_sex in _file()["name"].items()}
    said = {}
    for value, names in stated.items():
        name = names[drawn(item, f"name {value}", seed, len(names))]
        said[value] = name if name.endswith(".") else f"The patient's name is {name}."
    return _told(item, said)


def _fault(base: Item, twin: Item, kind: str, piece: str) -> str | None:
    """What else was changed than the detail: a number, a unit or a negation; null if nothing was."""
    before = f"{base.context or ''}\n{base.question}"
    after = f"{twin.context or ''}\n{twin.question}"
    if piece:
        after = after.replace(f"{piece} ", "", 1)
    if kind == "age":
        old, new = facts(before), facts(after)
        apart = [k for k, (a, b) in enumerate(zip(old.numbers, new.numbers, strict=False)) if a != b]
        same = len(old.numbers) == len(new.numbers) and len(apart) == 1 and old.negations == new.negations
        return None if same else "more than the age changed"
    return changed(before, after, ordered=True)
