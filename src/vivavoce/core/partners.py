"""How an item of a built exam names its partner: the item that it was translated or reworded from."""

TRANSLATION_OF, REWORDED_FROM = "translation_of", "reworded_from"
"""The keys, in an item's `meta`, of the id of its original, and of its closed form."""
