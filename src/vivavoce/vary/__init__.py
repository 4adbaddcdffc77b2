"""Variations: other framings of an item, and other wordings of an answer, each a new row with its origin.

A variation is a frozen dataclass registered with `@variation(name)`; its fields are the settings of its spec.
It has `makes(stock, desk)`, which gives an `Outcome` for everything it was tried on: what was made of it, or
the reason why nothing was. `vary` checks what was made and stores it; nothing is ever made twice.
"""

from vivavoce.vary.outcomes import Outcome, Stock, Variation
from vivavoce.vary.verb import bring, vary

__all__ = ["Outcome", "Stock", "Variation", "bring", "vary"]
