"""Steps of DAHL's recipe, and its rules for questions as a filter that every recipe can use."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from vivavoce.core.records import Item
from vivavoce.core.registry import step
from vivavoce.run.building.filters.base import Decision, Filter
from vivavoce.run.building.step import Lab
from vivavoce.systems.dahl.filters import RULES, decide

_LABEL = re.compile(r"\A\s*Q\d*:\s*")


@step("standalone")
class Standalone(Filter):
    """Questions that cannot be answered without the text they were written from, by the rules of DAHL.

    DAHL, section 3.2.2 and appendices A and B. The rules are of English; questions that name another language
    (`meta["language"]`) are results.
    """

    def decisions(self, items: Sequence[Item], lab: Lab) -> Mapping[int, Decision]:
        """The items that a rule hits, with what it says."""
        decisions = {}
        for place, item in enumerate(items):
            if item.meta.get("language", "en") != "en":
                continue
            verdict, rules = decide(item.question)
            if verdict != "keep":
                decisions[place] = Decision(verdict, RULES[rules[0]], ", ".join(rules))
        return decisions

    def repaired(self, item: Item) -> Item:
        """The item without the label that its question begins with."""
        return replace(item, question=_LABEL.sub("", item.question))
