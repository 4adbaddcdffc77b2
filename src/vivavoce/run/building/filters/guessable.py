"""Choices that a model answers without the question, and those that it answers without the options."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.core.prompts import Unreadable, load
from vivavoce.core.records import Item
from vivavoce.core.registry import step
from vivavoce.language.invariants import either_holds
from vivavoce.language.replies import text_of
from vivavoce.models.fencing import fenced
from vivavoce.models.requests import Request, json_request
from vivavoce.run.building.asking import Reply, ask_for
from vivavoce.run.building.filters.base import Decision, Filter
from vivavoce.run.building.step import Lab

# Beside this file, not among the shipped prompts: those ask candidates, and a user may name them.
_OPTIONS_ALONE = str(Path(__file__).with_name("options_alone.md"))
_WITHOUT_OPTIONS = str(Path(__file__).with_name("without_options.md"))


@step("guessable")
class Guessable(Filter):
    """Choices whose options alone give the key away to `model`, or which it answers without its options.

    Without the question a model is right in one of k by chance: the options are shown in `orders` orders, and
    a choice counts as guessed where it is right in all of them. A question that is answered without options
    is no worse for it: it can be asked openly, and its options test nothing.
    """

    model: str
    orders: int = 3
    prompts = (_OPTIONS_ALONE, _WITHOUT_OPTIONS)

    def __post_init__(self) -> None:
        if self.orders < 1:
            raise ValueError("orders: the options are shown at least once")

    def decisions(self, items: Sequence[Item], lab: Lab) -> Mapping[int, Decision]:
        """The choices that are guessed, and those that need no options."""
        places = [place for place, item in enumerate(items) if _is_choice(item)]
        choices = [items[place] for place in places]
        answers = ask_for(lab, self.model, list(map(_without_options, choices)), _read_answer)
        decisions = map(self._decision, choices, self._guesses(choices, lab), answers)
        return {place: d for place, d in zip(places, decisions, strict=True) if d is not None}

    def _guesses(self, items: Sequence[Item], lab: Lab) -> list[Sequence[Reply[str]]]:
        """For each choice the options that the model names without its question, one for each order."""
        views = [_View(item, turn) for item in items for turn in range(self.orders)]
        requests = [view.request() for view in views]
        replies = ask_for(lab, self.model, requests, [view.option for view in views])
        return [replies[k : k + self.orders] for k in range(0, len(replies), self.orders)]

    def _decision(self, item: Item, guesses: Sequence[Reply[str]], answer: Reply[str]) -> Decision | None:
        """What is wrong with a choice by these guesses and this answer; null for nothing."""
        key = item.answer[0]
        if all(guess.value == key for guess in guesses):
            detail = f"{self.model} names the key in {self.orders} of {self.orders} orders"
            return Decision("review", "its options give the key away", detail)
        if answer.value is not None and either_holds(answer.value, key):
            return Decision("review", "it is answered without its options", answer.value)
        if unknown := [reply for reply in (*guesses, answer) if reply.value is None]:
            failed = any(reply.failed for reply in unknown)
            return Decision("review", "no model said whether it can be guessed", failed=failed)
        return None


def _is_choice(item: Item) -> bool:
    return len(item.options) > 1 and len(item.answer) == 1


class _View(NamedTuple):
    """The options of a choice in one of its orders: turned by `turn` places from an alphabetical one."""

    item: Item
    turn: int

    @property
    def options(self) -> list[str]:
        """The options as they are shown; their own order could hint at the key."""
        options = sorted(self.item.options)
        turn = self.turn % len(options)
        return [*options[turn:], *options[:turn]]

    def request(self) -> Request:
        """Asks which of the options is right, without the question."""
        lines = "\n".join(f"{k}. {option}" for k, option in enumerate(self.options, 1))
        return json_request(
            load(_OPTIONS_ALONE), {"option": "string"}, exact=True, options=fenced("options", lines)
        )

    def option(self, fields: Mapping[str, Any]) -> str:
        """The option that was named."""
        word = str(fields.get("option")).strip().partition(".")[0]
        if not (word.isascii() and word.isdecimal() and 1 <= int(word) <= len(self.options)):
            raise Unreadable(f"'option' is no number from 1 to {len(self.options)}")
        return self.options[int(word) - 1]


def _without_options(item: Item) -> Request:
    question = "\n\n".join(filter(None, (item.context, item.question)))
    return json_request(
        load(_WITHOUT_OPTIONS), {"answer": "string"}, exact=True, question=fenced("question", question)
    )


def _read_answer(fields: Mapping[str, Any]) -> str:
    return text_of(fields, "answer")
