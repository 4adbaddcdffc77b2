"""What is asked: an item with a candidate's settings becomes a conversation."""

import hashlib
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from vivavoce import formats
from vivavoce.errors import InputError
from vivavoce.models import Message, Request
from vivavoce.models.named import Named
from vivavoce.prompts import Prompt
from vivavoce.prompts import load as prompt
from vivavoce.records import Item

__all__ = ["Asking", "todo"]

_FILE = re.compile(r"system_\w+|\S+\.md")
"""A system message that is the name of a shipped prompt, or a file."""


class Asking:
    """What candidates are asked about the items of a benchmark. Prompt files are read once, when needed.

    Settings of a candidate that matter here: `system`, a text, a .md file, or the name of a shipped prompt
    that begins with system_; `prompt`, a .md file with `{{ question }}` and, where items have them,
    `{{ options }}`, `{{ steps }}` and `{{ false_answer }}`; and `shots`, so many other items with their keys,
    of the same format and another group, drawn by the item's id.
    """

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = items
        self._prompts: dict[str, Prompt] = {}
        self._solved: dict[str, list[tuple[Item, str]]] | None = None
        self._sizes: Counter[tuple[str, str]] = Counter()

    def check(self, items: Sequence[Item], candidate: Named) -> None:
        """Raise `InputError` where an item could not be asked: no such prompt, too few examples."""
        settings = candidate.settings
        self._system(settings)
        if settings.get("prompt"):
            told = self._prompt(str(settings["prompt"]))
            if "question" not in told.variables:
                raise InputError(
                    f"the prompt {told.name!r} never says {{{{ question }}}}: put it where the question goes."
                )
        shots = int(settings.get("shots") or 0)
        for item in items if shots else ():
            self._examples(item, shots)
        self._question(items[0], settings)

    def request(self, item: Item, candidate: Named, repeat: int) -> Request:
        """What a candidate is asked in a repeat; a seed of its own makes one for each item and repeat.

        Only a baseline sees options, key and draw: for a model, items worded alike are one question.
        """
        sampling = candidate.sampling
        if sampling.seed is not None:
            sampling = replace(sampling, seed=_number(item, "answer", repeat, sampling.seed))
        messages = self.messages(item, candidate.settings)
        if not candidate.spec.name.startswith("baseline/"):
            return Request(messages=messages, sampling=sampling)
        return Request(
            messages=messages,
            sampling=sampling,
            options=item.options or (("True", "False") if item.format == "true_false" else ()),
            reference=formats.key(item),
            draw=_number(item, "draw", repeat),
        )

    def messages(self, item: Item, settings: Mapping[str, Any]) -> tuple[Message, ...]:
        """The conversation that asks an item: system, examples, question.

        Raises `InputError` where there are too few examples to draw from.
        """
        system, shots = self._system(settings), int(settings.get("shots") or 0)
        said = [Message("system", system)] if system else []
        for example, answer in self._examples(item, shots) if shots else ():
            said += [Message("user", self._question(example, settings)), Message("assistant", answer)]
        return (*said, Message("user", self._question(item, settings)))

    def own(self, settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """What is sent along with every item: the setting it comes from, and its text."""
        if settings.get("system"):
            yield "--system text", self._system(settings)
        if settings.get("prompt"):
            yield "--prompt file", self._prompt(str(settings["prompt"])).text

    def _prompt(self, name: str) -> Prompt:
        if name not in self._prompts:
            self._prompts[name] = prompt(name)
        return self._prompts[name]

    def _system(self, settings: Mapping[str, Any]) -> str:
        stated = str(settings.get("system") or "")
        return self._prompt(stated).text if _FILE.fullmatch(stated) else stated

    def _question(self, item: Item, settings: Mapping[str, Any]) -> str:
        if not settings.get("prompt"):
            return formats.ask(item)
        return self._prompt(str(settings["prompt"])).fill(
            question=f"{item.context}\n\n{item.question}" if item.context else item.question,
            options="\n".join(f"{formats.label(k)}. {text}" for k, text in enumerate(item.options)),
            steps="\n".join(f"{k}. {text}" for k, text in enumerate(item.steps, 1)),
            false_answer=item.false_answer or "",
        )

    def _examples(self, item: Item, shots: int) -> list[tuple[Item, str]]:
        if self._solved is None:
            self._solved = {}
            for other in self._items:
                answer = formats.key(other)
                if answer and not other.variant:
                    self._solved.setdefault(other.format, []).append((other, answer))
                    self._sizes[other.format, other.group] += 1
        there, own = self._solved.get(item.format, []), self._sizes[item.format, item.group]
        if len(there) - own < shots:
            raise InputError(
                f"{item.benchmark}, item {item.name!r}: {shots} examples are asked for, and only "
                f"{len(there) - own} other {item.format} items could serve: lower --shots."
            )
        # As many more are drawn as may have to be left out: the rest is as random as without these.
        drawn = random.Random(_number(item, "shots", 0)).sample(there, shots + own)
        return [solved for solved in drawn if solved[0].group != item.group][:shots]


def _number(item: Item, purpose: str, repeat: int, base: int = 0) -> int:
    """A seed from what is asked, never from its position."""
    text = f"{item.benchmark}|{item.item}|{item.variant}|{purpose}|{repeat}|{base}"
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:4], "big") >> 1


def todo(items: Sequence[Item], repeats: int, done: set[tuple[str, str, int]]) -> Iterator[tuple[Item, int]]:
    """What is not answered yet: the first repeat of every item, then the second, and so on."""
    for repeat in range(1, repeats + 1):
        for item in items:
            if (item.item, item.variant, repeat) not in done:
                yield item, repeat
