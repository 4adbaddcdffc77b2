"""How far a server is open: this machine alone, a proxy before it, or TLS of its own."""

import re
from pathlib import Path
from typing import NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.web.hosts import LOOPBACK, is_loopback

_HEADER = re.compile(r"[A-Za-z0-9-]{1,60}")
_FORWARDED = re.compile(r"(?:^|;)\s*for=([^;]+)", re.IGNORECASE)
EVERY_INTERFACE = ("0.0.0.0", "::")


class Exposure(NamedTuple):
    """Where a server answers. `public_name` is the name in the addresses of those who open it from elsewhere.

    Behind a proxy, which ends TLS, the last address in its header is the visitor's: `proxy_header`, or
    X-Forwarded-For.
    """

    host: str = "127.0.0.1"
    behind_proxy: bool = False
    certificate: Path | None = None
    certificate_key: Path | None = None
    public_name: str | None = None
    proxy_header: str | None = None

    def check(self) -> None:
        """Raise `InputError` where texts could be read on their way, or where nobody knows our name."""
        if not is_loopback(self.host) and not (self.behind_proxy or self.certificate):
            raise InputError(
                f"--host {self.host} can be reached from other machines, and what raters write would be read "
                "on its way: give a --certificate, or let a proxy end TLS and say --behind-proxy."
            )
        self._check_files()
        self._check_name()

    def _check_files(self) -> None:
        if self.certificate_key and not self.certificate:
            raise InputError("--certificate-key goes with --certificate.")
        for option, file in (
            ("--certificate", self.certificate),
            ("--certificate-key", self.certificate_key),
        ):
            if file and not file.is_file():
                raise InputError(f"{option} {file}: no such file.")

    def _check_name(self) -> None:
        if self.proxy_header is not None and not self.behind_proxy:
            raise InputError("--proxy-header goes with --behind-proxy: without a proxy a visitor writes it.")
        if self.proxy_header is not None and not _HEADER.fullmatch(self.proxy_header):
            raise InputError(f"--proxy-header {self.proxy_header!r} is no header, such as X-Real-IP.")
        if self.public_name and not _is_name(self.public_name):
            raise InputError(
                f"--public-name {self.public_name!r} is no name of a host, such as exam.example.org."
            )
        if (self.behind_proxy or self.host in EVERY_INTERFACE) and not self.public_name:
            raise InputError(
                "--public-name says by which name raters reach the server, such as exam.example.org: another "
                "name in a request is refused."
            )

    @property
    def address_header(self) -> str | None:
        """The header in which a proxy names the visitor's address; null without a proxy."""
        return (self.proxy_header or "X-Forwarded-For") if self.behind_proxy else None

    @property
    def encrypted(self) -> bool:
        """Whether browsers reach the server by TLS."""
        return self.behind_proxy or self.certificate is not None

    @property
    def names(self) -> frozenset[str]:
        """The names under which the server answers."""
        return LOOPBACK | {(self.public_name or self.host).strip("[]").lower()}

    def address(self, port: int) -> str:
        """Where people open the server, without the slash at its end."""
        if self.behind_proxy:
            return f"https://{self.public_name}"
        name = self.public_name or (f"[{self.host}]" if ":" in self.host else self.host)
        return f"{'https' if self.certificate else 'http'}://{name}:{port}"


def forwarded_address(entry: str) -> str:
    """The address in an entry of a proxy's header, also as `for="[2001:db8::1]:443"` of RFC 7239."""
    if match := _FORWARDED.search(entry):
        entry = match[1]
    entry = entry.strip(' "')
    if entry.startswith("["):
        entry = entry[1:].partition("]")[0]
    elif entry.count(":") == 1:
        entry = entry.partition(":")[0]
    return entry[:100]


def _is_name(text: str) -> bool:
    return (
        len(text) <= 253
        and text.isascii()
        and all(part and part.replace("-", "").isalnum() for part in text.split("."))
    )
