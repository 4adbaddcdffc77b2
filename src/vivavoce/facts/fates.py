"""What becomes of the units that a splitter gave: each comes back, in order, with its fate."""

from collections.abc import Sequence

from vivavoce.core.text import is_blank
from vivavoce.facts.fact import Answer, Fact
from vivavoce.facts.splitters import NoClaim

MOST = 200
"""Units of an answer that are checked: an answer of 256 tokens has about 30."""


def settle(units: Sequence[str], answer: Answer, *, most: int = MOST) -> tuple[Fact, ...]:
    """Every unit with its fate, numbered from 1 in the order in which they came."""
    facts: list[Fact] = []
    checked = 0
    for number, text in enumerate(units, 1):
        if is_blank(text):
            facts.append(Fact(number, text, "empty", "it holds no word"))
        elif isinstance(text, NoClaim):
            facts.append(Fact(number, str(text), "no_claim", text.why))
        elif checked >= most:
            facts.append(Fact(number, text, "surplus", f"beyond the {most} units of an answer"))
        else:
            checked += 1
            facts.append(Fact(number, text))
    return tuple(facts)
