"""Sessions of people who signed in: in memory alone. After a restart the links sign in again."""

import secrets
from collections.abc import Callable
from threading import Lock
from typing import NamedTuple

from vivavoce.store.sign_in_links import SignInLink

HOURS = 12
"""A session ends so long after its sign-in."""
MOST_PER_LINK = 10
"""A further sign-in ends the oldest session of the same link."""


class Session(NamedTuple):
    """A signed-in person: by which link, the token of their forms, and the clock's time at which it ends."""

    link: SignInLink
    csrf: str
    end: float


class Sessions:
    """All sessions of a server by their random ids. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._sessions, self._lock = clock, dict[str, Session](), Lock()

    def begin(self, link: SignInLink) -> str:
        """The id of a new session; ids are never taken from a browser."""
        identity = secrets.token_urlsafe(32)
        with self._lock:
            moment = self._clock()
            self._sessions = {key: session for key, session in self._sessions.items() if session.end > moment}
            of_link = [key for key, session in self._sessions.items() if session.link.hash == link.hash]
            for key in of_link[: len(of_link) + 1 - MOST_PER_LINK]:
                del self._sessions[key]
            self._sessions[identity] = Session(link, secrets.token_urlsafe(32), moment + HOURS * 3600)
        return identity

    def find(self, identity: str) -> Session | None:
        """The session with this id, null for one that ended or never was."""
        with self._lock:
            session = self._sessions.get(identity)
            return session if session and session.end > self._clock() else None

    def end(self, identity: str) -> None:
        """End a session; one that is not there is no error."""
        with self._lock:
            self._sessions.pop(identity, None)
