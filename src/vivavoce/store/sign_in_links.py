"""Links that sign people in: one live link for each role and name, of which the run holds a hash alone.

A token has 256 random bits, so a plain SHA-256 of it says nothing about it: no slow hash is needed. Copies,
exports and merges hold no link.
"""

import hashlib
import secrets
import sqlite3
from typing import Literal, NamedTuple

SignInRole = Literal["rater", "organiser"]


class SignInLink(NamedTuple):
    """Whom a link signs in. `hash` tells it from the links that the same person had before."""

    role: SignInRole
    name: str
    hash: str


def draw_link(db: sqlite3.Connection, role: SignInRole, name: str) -> str:
    """A new token for a person; the link that they had before signs nobody in any more."""
    token = secrets.token_urlsafe(32)
    db.execute(
        "INSERT INTO sign_in_links (role, name, hash) VALUES (?, ?, ?) "
        "ON CONFLICT (role, name) DO UPDATE SET hash = excluded.hash, drawn_at = excluded.drawn_at",
        (role, name, _hash(token)),
    )
    return token


def find_link(db: sqlite3.Connection, token: str) -> SignInLink | None:
    """The live link with this token, null for a token that is foreign, renewed or revoked."""
    row = db.execute("SELECT role, name, hash FROM sign_in_links WHERE hash = ?", (_hash(token),)).fetchone()
    return row and SignInLink(*row)


def is_live(db: sqlite3.Connection, link: SignInLink) -> bool:
    """Whether a link that was found before still signs its person in."""
    return db.execute("SELECT 1 FROM sign_in_links WHERE hash = ?", (link.hash,)).fetchone() is not None


def live_links(db: sqlite3.Connection) -> list[SignInLink]:
    """All live links, by role and name."""
    return [
        SignInLink(*row) for row in db.execute("SELECT role, name, hash FROM sign_in_links ORDER BY 1, 2")
    ]


def revoke_link(db: sqlite3.Connection, role: SignInRole, name: str) -> bool:
    """End the link of a person; false if they had none."""
    return bool(db.execute("DELETE FROM sign_in_links WHERE (role, name) = (?, ?)", (role, name)).rowcount)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
