"""Ray, started on this machine or reached at an address. It prints nothing and leaves nothing behind.

Ray's own statistics and its dashboard stay off. The Ray that is started here listens on the loopback address,
its processes get no keys, and they end, and its folder of logs is removed, however this process ends.
"""

import logging
import os
import re
import signal
import socket
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from vivavoce.core.errors import InputError, MetricError
from vivavoce.core.extras import import_extra, require_extras
from vivavoce.core.net import is_local, is_offline
from vivavoce.core.text import one_line
from vivavoce.models.worker_process import STARTING, THREADS, secret_variables
from vivavoce.run.workers.ray_caretaker import VARIABLE, caretaker
from vivavoce.run.workers.worker_count import n_cores, ray_host

OBJECT_STORE = 512 * 2**20
"""Bytes of shared memory for what is on its way; Ray writes what exceeds them to its folder."""
STARTS = 3
"""How often Ray is started: it gives itself half a minute, which is short where all cores are busy."""
SLOW = re.compile(r"timed out during startup|Initialization failure from server")
"""What Ray says where it, or the process that it starts for a client, took too long."""
REACH_S = 10.0
"""Seconds within which a port must answer; Ray itself then takes up to half a minute to greet."""
LONGEST_FOLDER = 20
"""Characters of a folder in which Ray can name its sockets, which may have 103, of which it adds up to 84."""

_VARIABLES = {
    **THREADS,
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": "^",  # what Ray would print of each worker that ends
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # else it warns that this will be the default
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # else a Ray that starts here listens on the network
}


@dataclass(frozen=True)
class RaySession:
    """Ray as this process is connected to it: its cores and GPUs, and the options that place work.

    `is_own` if it was started here, for this process alone.
    """

    ray: Any
    where: str
    is_own: bool
    n_cores: int
    n_gpus: int
    placement: Mapping[str, Any]

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """What Ray raises where it cannot go on."""
        return (self.ray.exceptions.RayError, ConnectionError)

    @property
    def worker_ends(self) -> tuple[type[Exception], ...]:
        """What Ray raises where a worker has ended, or its machine."""
        names = (
            *("WorkerCrashedError", "OutOfMemoryError", "NodeDiedError", "LocalRayletDiedError"),
            *("RayActorError", "ObjectLostError"),
        )
        return tuple(getattr(self.ray.exceptions, name) for name in names)

    def exit_words(self, error: Exception) -> str:
        """How a worker ended."""
        exceptions = self.ray.exceptions
        if isinstance(error, exceptions.NodeDiedError | exceptions.LocalRayletDiedError):
            return "lost with its machine"
        return "killed or crashed, as where memory runs out"

    def look_after(self) -> None:
        """Raise `MetricError` where no machine of Ray is alive any more."""
        try:
            nodes = [node for node in self.ray.nodes() if node["Alive"]]
            if self.is_own and nodes:  # Ray notices only after some seconds that it has ended
                place = nodes[0]["NodeManagerAddress"], nodes[0]["NodeManagerPort"]
                socket.create_connection(place, REACH_S).close()
        except ConnectionRefusedError:
            raise self.ended(None) from None
        except self.errors as error:
            raise self.ended(error) from None
        if not nodes:
            raise self.ended(None)

    def ended(self, error: Exception | None) -> MetricError:
        """The error that says that Ray cannot go on."""
        reason = f" ({type(error).__name__}: {one_line(str(error), 120)})" if error else ""
        return MetricError(
            f"Ray {self.where} ended while its workers computed{reason}: what was stored is safe; rerun the "
            "command to resume."
        )


@contextmanager
def connect(address: str, check: Callable[[str], None] | None = None) -> Iterator[RaySession]:
    """Ray at an address, `ray` for one that is started here and ends with the block.

    `check` is asked about a host away from this machine whose workers would get shards. Raises `ExtraError`
    where Ray is not installed, `InputError` where it cannot be started or reached.
    """
    host = ray_host(address)
    require_extras({"ray": "ray"} | ({"grpc": "ray"} if host else {}), f"--workers {address}")
    with _same_environment():
        with _environment(_VARIABLES), _silence():
            ray = import_extra("ray", extra="ray", user=f"--workers {address}")
        if ray.is_initialized():
            raise InputError(
                f"--workers {address}: this process uses Ray already; call ray.shutdown() first."
            )
        with _reached(ray, address, host) if host else _started(ray):
            yield _session(ray, address, host, check)


@contextmanager
def _started(ray: Any) -> Iterator[None]:
    """Ray on this machine, in a folder of its own."""
    folder = os.path.realpath(tempfile.mkdtemp(prefix="viva-ray-", dir=_short_folder()))
    settings = {
        "address": "local", "num_cpus": n_cores(), "include_dashboard": False, "log_to_driver": False,
        "configure_logging": False, "object_store_memory": OBJECT_STORE,
        "_temp_dir": os.path.join(folder, "r"),  # which Ray opens to all users of the machine
        "_node_ip_address": "127.0.0.1",
    }  # fmt: skip
    with ExitStack() as exits:
        try:
            exits.enter_context(caretaker(folder))
            exits.enter_context(_shutdown(ray))
            _init(ray, {**_VARIABLES, VARIABLE: folder}, settings)
        except Exception as error:
            raise InputError(
                f"--workers ray: Ray could not be started on this machine ({_words(error)}): state a "
                "number of --workers instead."
            ) from None
        yield


def _short_folder() -> str | None:
    """Where Ray's folder lies: where temporary files do, unless that name is too long for Ray."""
    folder = tempfile.gettempdir()
    return "/tmp" if len(folder) > LONGEST_FOLDER and os.path.isdir("/tmp") else None


@contextmanager
def _reached(ray: Any, address: str, host: str) -> Iterator[None]:
    """Ray at an address."""
    port = int(address.rpartition(":")[2])
    with _shutdown(ray):
        try:
            if not is_offline() or is_local(host):  # else only Ray's own connection is let through
                socket.create_connection((host.strip("[]"), port), REACH_S).close()
            variables = {name: value for name, value in _VARIABLES.items() if name not in THREADS}
            _init(ray, variables, {"address": address, "log_to_driver": False})
        except Exception as error:
            raise InputError(
                f"--workers {address}: Ray cannot be reached there ({_words(error)}): start it with `ray "
                "start --head --ray-client-server-port=PORT`, with the same versions of Ray and Python."
            ) from None
        yield


def _init(ray: Any, variables: Mapping[str, str], settings: Mapping[str, Any]) -> None:
    """Start Ray, or connect to it; where it took too long to start, once more."""
    for attempts_left in reversed(range(STARTS)):
        try:
            with _environment(variables), _same_signals(), _silence():
                ray.init(**settings)
            return
        except Exception as error:
            ray.shutdown()
            if not attempts_left or not SLOW.search(str(error)):
                raise


@contextmanager
def _shutdown(ray: Any) -> Iterator[None]:
    """Leave Ray at the end, and end it if it was started here."""
    try:
        yield
    finally:
        with suppress(Exception):  # it has ended before
            ray.shutdown()


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {one_line(str(error), 200)}".rstrip(".: ")


def _session(ray: Any, address: str, host: str | None, check: Callable[[str], None] | None) -> RaySession:
    """The session, when its machines have been checked."""
    nodes = [node for node in ray.nodes() if node["Alive"]]
    n_cores, n_gpus = (int(sum(node["Resources"].get(what, 0) for node in nodes)) for what in ("CPU", "GPU"))
    if host is None:
        _refuse_network([node["NodeManagerAddress"] for node in nodes])
        return RaySession(ray, "on this machine", True, max(1, n_cores), n_gpus, {})
    elsewhere = _elsewhere(host, nodes)
    if elsewhere and check:
        check(elsewhere)
    placement = {}
    if not elsewhere:  # a machine that joins later has not been checked
        affinity = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
        placement = {"scheduling_strategy": affinity(nodes[0]["NodeID"], soft=False)}
    return RaySession(ray, f"at {address}", False, max(1, n_cores), n_gpus, placement)


def _refuse_network(addresses: Sequence[str]) -> None:
    """Refuse a Ray of our own that listens beyond this machine."""
    beyond = [address for address in addresses if not is_local(address)]
    if beyond:
        raise InputError(
            f"--workers ray: Ray would listen at {beyond[0]}, where other machines reach it, because this "
            "process imported it earlier: set RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0 before `import ray`."
        )


def _elsewhere(host: str, nodes: Sequence[Mapping[str, Any]]) -> str | None:
    """The host of an address, or of a machine behind it, that is not this one; null where all are."""
    if not is_local(host):
        return host
    others = [node for node in nodes if not _is_here(node)]
    if others:
        return str(others[0]["NodeManagerHostname"] or others[0]["NodeManagerAddress"])
    return None if len(nodes) == 1 and nodes[0]["Resources"].get("CPU") else host


def _is_here(node: Mapping[str, Any]) -> bool:
    """Whether a machine of Ray is this one: it has our name, and an address that we could listen on."""
    address = node["NodeManagerAddress"]
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return bool(node["NodeManagerHostname"] == socket.gethostname())


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """The environment that Ray starts its processes with: these variables beside ours, and no secrets.

    Ray copies `os.environ`, so that is what changes meanwhile.
    """
    with STARTING:
        before, secret = dict(os.environ), secret_variables()
        for name in secret:
            del os.environ[name]
        os.environ.update(variables)
        try:
            yield
        finally:
            for name in variables.keys() | secret:
                os.environ.pop(name, None)
                if name in before:
                    os.environ[name] = before[name]


@contextmanager
def _silence() -> Iterator[None]:
    """Keep what Ray logs and warns of off the terminal: what matters comes as an error."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


@contextmanager
def _same_environment() -> Iterator[None]:
    """Undo what Ray changes in the environment of this process."""
    before = {name: value for name, value in os.environ.items() if _is_rays(name)}
    try:
        yield
    finally:
        for name in [name for name in os.environ if _is_rays(name)]:
            del os.environ[name]
        os.environ.update(before)


def _is_rays(name: str) -> bool:
    return name.startswith("RAY_") or name == "PYTHONBREAKPOINT"


@contextmanager
def _same_signals() -> Iterator[None]:
    """Undo what Ray does when this process is asked to end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
