"""A fake Ray: its workers are two threads of this process, which end where a test says so."""

import pickle
import socket
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any


class RayError(Exception):
    pass


EXCEPTIONS = {
    name: type(name, (RayError,), {})
    for name in (
        *("WorkerCrashedError", "OutOfMemoryError", "NodeDiedError", "LocalRayletDiedError"),
        *("RayActorError", "ObjectLostError", "RayTaskError"),
    )
} | {"RayError": RayError}


def node(host: str = "127.0.0.1", name: str = "", cores: int = 2, gpus: int = 0) -> dict[str, Any]:
    """A machine as Ray names it; without a name this one."""
    resources = {"CPU": float(cores), "GPU": float(gpus), "memory": 1.0}
    return {
        "Alive": True, "NodeID": f"id-{host}", "NodeManagerAddress": host,
        "NodeManagerHostname": name or socket.gethostname(),
        "Resources": {what: n for what, n in resources.items() if n},
    }  # fmt: skip


class Ref:
    """What a call comes to, or a stored object."""

    def __init__(self, future: "Future[Any]") -> None:
        self._future = future

    def future(self) -> "Future[Any]":
        return self._future


class FakeRay(ModuleType):
    """`ray`, with machines; `death` says of a shard's work how its worker ends, or null."""

    def __init__(self, nodes: Iterable[dict[str, Any]] = ()) -> None:
        super().__init__("ray")
        self.__spec__ = ModuleSpec("ray", None)
        self.exceptions = SimpleNamespace(**EXCEPTIONS)
        affinity = lambda node_id, soft: (node_id, soft)  # noqa: E731
        self.util = SimpleNamespace(
            scheduling_strategies=SimpleNamespace(NodeAffinitySchedulingStrategy=affinity)
        )
        self.raylet = socket.create_server(("127.0.0.1", 0))
        """What answers at the port of a machine as long as its raylet lives."""
        self.machines = list(nodes) or [node()]
        for machine in self.machines:
            machine["NodeManagerPort"] = self.raylet.getsockname()[1]
        self.init_errors: list[Exception] = []
        self.inits: list[dict[str, Any]] = []
        self.death: Callable[[Any], Exception | None] = lambda work: None
        self.options: list[dict[str, Any]] = []
        self.sent: list[Any] = []
        self.actors: list[_Actor] = []
        self.killed: list[_Actor] = []
        self.cancelled: list[Ref] = []
        self.initialized = False
        self.puts = 0
        self._threads = ThreadPoolExecutor(2)

    def init(self, address: str, **settings: Any) -> None:
        self.inits.append({"address": address, **settings})
        if self.init_errors:
            raise self.init_errors.pop(0)
        self.initialized = True

    def end(self) -> None:
        """End its threads, before whoever asks for `ray` gets another one, and its raylet."""
        for threads in (self._threads, *(actor.thread for actor in self.actors)):
            threads.shutdown(cancel_futures=True)
        self.raylet.close()

    def is_initialized(self) -> bool:
        return self.initialized

    def shutdown(self) -> None:
        self.initialized = False

    def nodes(self) -> list[dict[str, Any]]:
        return self.machines

    def put(self, value: Any) -> Ref:
        self.puts += 1
        future: Future[Any] = Future()
        future.set_result(value)
        return Ref(future)

    def get(self, ref: Ref) -> Any:
        return ref.future().result()

    def cancel(self, ref: Ref, force: bool) -> None:
        self.cancelled.append(ref)

    def kill(self, actor: "_Actor") -> None:
        self.killed.append(actor)

    def remote(self, called: Any) -> "_Remote":
        return _Remote(self, called)

    def call(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """What a worker does."""
        work = pickle.loads(arguments[5]) if len(arguments) > 5 else None
        self.sent.append(work)
        if work is not None and (error := self.death(work)):
            raise error
        return function(*arguments)

    def submit(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Ref:
        return Ref(self._threads.submit(self.call, function, arguments))

    def times_sent(self) -> Counter[int]:
        """How often each number was sent."""
        return Counter(work["number"] for work in self.sent if work is not None)


class _Remote:
    def __init__(self, ray: FakeRay, called: Any) -> None:
        self._ray, self._called = ray, called

    def options(self, **options: Any) -> "_Remote":
        self._ray.options.append(options)
        return self

    def remote(self, *arguments: Any) -> Any:
        if isinstance(self._called, type):
            actor = _Actor(self._ray, self._called())
            self._ray.actors.append(actor)
            return actor
        return self._ray.submit(self._called, arguments)


class _Actor:
    """An actor: a thread, which is dead for all that it was sent once it has ended."""

    def __init__(self, ray: FakeRay, instance: Any) -> None:
        self._ray, self._instance = ray, instance
        self.thread = ThreadPoolExecutor(1)
        self._dead = False
        self.call = SimpleNamespace(remote=self._remote)
        self.numbers: list[int] = []

    def _remote(self, *arguments: Any) -> Ref:
        return Ref(self.thread.submit(self._run, arguments))

    def _run(self, arguments: tuple[Any, ...]) -> Any:
        if self._dead:
            raise EXCEPTIONS["RayActorError"]("dead")
        if len(arguments) > 5:
            self.numbers.append(pickle.loads(arguments[5])["number"])
        try:
            return self._ray.call(self._instance.call, arguments)
        except RayError:
            self._dead = True
            raise
