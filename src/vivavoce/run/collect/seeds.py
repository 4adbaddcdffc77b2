"""Seeds made of what is asked."""

import hashlib

from vivavoce.core.records import Item


def seed_of(item: Item, purpose: str, repeat: int, base: int = 0) -> int:
    """A seed from what is asked, never from its position."""
    text = f"{item.benchmark}|{item.item}|{item.variant}|{purpose}|{repeat}|{base}"
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:4], "big") >> 1
