"""Serving an app on this machine until Ctrl-C."""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from vivavoce.core.errors import InputError
from vivavoce.core.extras import import_extra, require_extras
from vivavoce.web.hosts import is_loopback

if TYPE_CHECKING:
    from vivavoce.web.guard import App

PACKAGES = {"starlette": "web", "uvicorn": "web", "python_multipart": "web"}
GRACE_S = 2
"""Seconds that answers which are under way have to end after Ctrl-C."""


def serve(
    app: "App",
    *,
    host: str = "127.0.0.1",
    port: int,
    announce: Callable[[str], None],
    certificate: Path | None = None,
    key: Path | None = None,
    exposed: bool = False,
    behind_proxy: bool = False,
) -> None:
    """Answer requests until Ctrl-C; `announce` gets the address once it can be opened.

    Port 0 takes a free one. `exposed` lets a host beyond loopback pass: the caller has then made sure of TLS.
    `behind_proxy` says that all visitors come from the address of a proxy, which is then not limited.
    Raises `InputError` for another host without it, and for a port that cannot be taken.
    """
    if not (exposed or is_loopback(host)):
        raise InputError(
            f"--host {host} can be reached from other machines: only 127.0.0.1 and ::1 are open."
        )
    uvicorn = import_extra("uvicorn", extra="web", user="a page in the browser")
    from vivavoce.web.connections import LimitedServer

    listener = _listener(host, port)
    try:
        settings = uvicorn.Config(
            app, http="h11", ws="none", lifespan="off", access_log=False, log_level="error",
            server_header=False, proxy_headers=False, timeout_graceful_shutdown=GRACE_S,
            ssl_certfile=certificate, ssl_keyfile=key,
        )  # fmt: skip
        name = f"[{host}]" if ":" in host else host
        scheme = "https" if certificate else "http"
        announce(f"{scheme}://{name}:{listener.getsockname()[1]}/")
        LimitedServer(settings, listener, shared_address=behind_proxy).run()
    except KeyboardInterrupt:  # uvicorn has ended by now, and raises it again
        pass
    finally:
        listener.close()


def require_web(user: str) -> None:
    """Raise `ExtraError` where the extra `web` is not installed; `user` begins its sentence."""
    require_extras(PACKAGES, user)


def _listener(host: str, port: int) -> socket.socket:
    """A socket that listens. Raises `InputError` where the port is in use or needs other rights."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host.strip("[]"), port))
        listener.listen(128)
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"cannot listen on port {port} of {host} ({reason}): name another with --port."
        ) from error
    return listener
