"""Who may hold a connection: how many in all and from an address, and how long a silent one may wait.

A connection waits while its request is not whole. When a limit is reached, the one that has waited longest
gives way to the next visitor, so that silent connections keep nobody out; one that is being answered never
does.
"""

import asyncio
import logging
import socket
import ssl
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from anyio.to_thread import current_default_thread_limiter
from uvicorn import Server
from uvicorn.config import Config

from vivavoce.core.text import printable
from vivavoce.web.timed_protocol import TimedProtocol

HANDSHAKE_S = 10
"""Seconds that a visitor has for the handshake of TLS."""
TICK_S = 0.25
"""Seconds between two looks for connections whose time is over."""
RETRY_S = 1.0
"""Seconds until the next try where the system gives no connection."""
MOST_THREADS = 40
WAITING_VISITORS = 1_024
"""Visitors that the system lets wait for a connection."""

log = logging.getLogger("vivavoce.web")


class Limits(NamedTuple):
    """Connections in all and from one address, and threads that answer requests."""

    connections: int
    per_address: int
    threads: int


class _Visitor(NamedTuple):
    """Whose connection it is, and the task in which it was begun."""

    address: str
    task: asyncio.Task[None]


def limits_for(n_files: int) -> Limits:
    """The limits where the process may open so many files: half for connections, a quarter for threads.

    A thread opens up to four: a run, what SQLite lays beside it, and a spare one.
    """
    connections = max(8, min(1_000, n_files // 2))
    return Limits(connections, max(8, connections * 3 // 4), max(1, min(MOST_THREADS, n_files // 16)))


def open_files_limit() -> int:
    """How many files this process may open; 512 where the system does not say (Windows)."""
    try:
        import resource
    except ImportError:
        return 512
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 65_536 if limit == resource.RLIM_INFINITY else limit


class Connections:
    """The visitors of a server; with `shared_address` all come through one proxy, which has no limit."""

    def __init__(self, limits: Limits, *, shared_address: bool) -> None:
        self._limits, self._shared_address = limits, shared_address
        self._protocols: dict[TimedProtocol, _Visitor] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(
        self,
        listener: socket.socket,
        new_protocol: Callable[[Callable[[TimedProtocol], None]], TimedProtocol],
        tls: ssl.SSLContext | None,
    ) -> None:
        """Accept visitors from now on. `new_protocol` gets what to call when its connection has ended."""
        self._start(self._accept(listener, new_protocol, tls))
        self._start(self._end_overdue())

    def close(self) -> None:
        """Accept nobody any more, and end handshakes that are under way."""
        for task in self._tasks:
            task.cancel()

    async def wait_closed(self) -> None:
        """Return when no task is left."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _accept(
        self,
        listener: socket.socket,
        new_protocol: Callable[[Callable[[TimedProtocol], None]], TimedProtocol],
        tls: ssl.SSLContext | None,
    ) -> None:
        loop = asyncio.get_running_loop()
        last_error = -60.0
        while True:
            try:
                await asyncio.sleep(0)  # what gave way is closed in the loop's next turn
                line, peer = await loop.sock_accept(listener)
            except OSError as error:
                if loop.time() - last_error > 60:
                    last_error = loop.time()
                    log.error(printable(f"no new connection for the moment: {error.strerror or error}"))
                self._give_way(self._protocols)
                await asyncio.sleep(RETRY_S)
                continue
            address = str(peer[0]) if isinstance(peer, tuple) else ""
            try:
                has_room = await self._make_room(address)
            except BaseException:
                line.close()
                raise
            if not has_room:
                line.close()
                continue
            protocol = new_protocol(self._forget)
            self._protocols[protocol] = _Visitor(address, self._start(self._connect(line, protocol, tls)))

    async def _make_room(self, address: str) -> bool:
        """Wait until there is room for a visitor; false where the address has all that it may have."""
        if not self._shared_address:
            same = [protocol for protocol, visitor in self._protocols.items() if visitor.address == address]
            if len(same) >= self._limits.per_address and not self._give_way(same):
                return False
        while len(self._protocols) >= self._limits.connections:
            if not self._give_way(self._protocols):
                await asyncio.sleep(TICK_S / 10)
        return True

    def _give_way(self, protocols: Iterable[TimedProtocol]) -> bool:
        """End the connection that has waited longest, of the address with the most; whether one could be."""
        n_open = Counter(visitor.address for visitor in self._protocols.values())
        waiting = [protocol for protocol in protocols if protocol.is_waiting]
        if not waiting:
            return False

        def order(protocol: TimedProtocol) -> tuple[int, float]:
            return -n_open[self._protocols[protocol].address], protocol.waiting_since

        first = min(waiting, key=order)
        task = self._protocols.pop(first).task
        if first.transport:
            first.abort()
        else:  # its handshake is not over
            task.cancel()
        return True

    async def _connect(
        self, line: socket.socket, protocol: TimedProtocol, tls: ssl.SSLContext | None
    ) -> None:
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: protocol, line, ssl=tls, ssl_handshake_timeout=HANDSHAKE_S if tls else None
            )
        except (OSError, asyncio.CancelledError):  # it went away, or was no TLS
            with suppress(OSError):
                line.close()
            self._forget(protocol)

    def _forget(self, protocol: TimedProtocol) -> None:
        self._protocols.pop(protocol, None)

    async def _end_overdue(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            for protocol in [*self._protocols]:
                protocol.end_if_overdue()


class LimitedServer(Server):
    """uvicorn's server behind `Connections`, on a socket that listens."""

    def __init__(self, config: Config, listener: socket.socket, *, shared_address: bool) -> None:
        super().__init__(config)
        self._listener, self._shared_address = listener, shared_address

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept visitors."""
        await super().startup([])
        limits = limits_for(open_files_limit())
        current_default_thread_limiter().total_tokens = limits.threads
        connections = Connections(limits, shared_address=self._shared_address)
        self._listener.setblocking(False)
        self._listener.listen(WAITING_VISITORS)

        def new_protocol(on_end: Callable[[TimedProtocol], None]) -> TimedProtocol:
            return TimedProtocol(self.config, self.server_state, self.lifespan.state, on_end)

        connections.begin(self._listener, new_protocol, self.config.ssl)
        self.servers = [connections]  # type: ignore[list-item]
