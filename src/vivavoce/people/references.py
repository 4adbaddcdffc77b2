"""The reference answer as raters see it: in the form that candidates were asked for."""

import re

from vivavoce import formats
from vivavoce.records import Item

__all__ = ["reference"]

_NUMBERED = re.compile(r"^\W*(?:step\s*#?\d{1,3}\s*[:.)–—-]|\d{1,3}[.):](?=\s))\s*", re.IGNORECASE)


def reference(item: Item) -> str:
    """The keyed answer of an item, under the labels of its prompt; empty for an item that has no key.

    A chain that is labelled and numbered otherwise than compliant answers are would be known by that.
    """
    key = formats.key(item)
    if item.format != "multi_hop" or not key.strip():
        return key
    said = item.references[0] if item.references else ", ".join(item.answer)
    steps = [" ".join(_NUMBERED.sub("", step).split()) for step in item.steps]
    chain = ["Reasoning:", *(f"{n}. {step}" for n, step in enumerate(steps, 1))] if steps else []
    return "\n".join((f"Final Answer: {said}", *chain))
