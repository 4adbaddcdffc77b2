"""A hub of data sets on loopback, that cuts connections, changes files and refuses as it is told."""

import hashlib
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

COMMITS = {"main": "a" * 40, "old": "b" * 40}


@dataclass
class Hub:
    """What the hub holds and how it behaves. `files` are those of each commit; `seen` are its requests."""

    files: dict[str, dict[str, bytes]]
    name: str = "owner/exam"
    server: Any = None
    large: set[str] = field(default_factory=set)  # stored apart, with a SHA-256, on another host
    cuts: list[int] = field(default_factory=list)  # the next replies end after so many bytes
    status: dict[str, int] = field(default_factory=dict)  # by path: answered with this
    served: dict[str, bytes] = field(default_factory=dict)  # by path: other bytes than the listing says
    location: str = ""  # where large files are: default, this server under another name
    ranged: bool = True
    etag: str = '"{}"'
    seen: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    @property
    def fetched(self) -> list[str]:
        """The paths of the files that were asked for."""
        return [path for _, path, _ in self.seen if "/api/" not in path]

    def listing(self, commit: str) -> dict[str, Any]:
        siblings = []
        for name, content in self.files[commit].items():
            row: dict[str, Any] = {"rfilename": name, "size": len(content)}
            row["blobId"] = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            if name in self.large:
                digest = hashlib.sha256(content).hexdigest()
                row["lfs"] = {"sha256": digest, "size": len(content), "pointerSize": 130}
            siblings.append(row)
        return {"id": self.name, "sha": commit, "siblings": siblings}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        hub: Hub = self.server.hub  # type: ignore[attr-defined]
        path = unquote(urlsplit(self.path).path)
        hub.seen.append((self.headers["Host"], path, dict(self.headers)))
        if status := hub.status.get(path):
            codes = {403: "GatedRepo", 404: "RevisionNotFound"}
            self.answer(status, b"{}", {"X-Error-Code": codes.get(status, "")})
        elif path.startswith(f"/api/datasets/{hub.name}/"):
            revision = path.rpartition("/revision/")[2]
            commit = COMMITS.get(revision, revision)
            if commit not in hub.files:
                return self.answer(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
            self.answer(200, json.dumps(hub.listing(commit)).encode(), {"Content-Type": "application/json"})
        elif path.startswith(f"/datasets/{hub.name}/resolve/"):
            _, _, _, _, _, commit, name = path.split("/", 6)
            if name in hub.large:
                port = self.server.server_address[1]
                target = hub.location or f"http://localhost:{port}/far/{commit}/{name}?signature=secret"
                return self.answer(302, b"", {"Location": target})
            self.file(hub, path, hub.files[commit][name])
        elif path.startswith("/far/"):
            _, _, commit, name = path.split("/", 3)
            self.file(hub, path, hub.files[commit][name])
        elif path.startswith("/plain/"):
            self.file(hub, path, hub.files["plain"][path.removeprefix("/plain/")])
        else:
            self.answer(404, b"")

    def file(self, hub: Hub, path: str, content: bytes) -> None:
        content = hub.served.get(path, content)
        tag = hub.etag.format(hashlib.md5(content).hexdigest())
        headers = {"ETag": tag} if tag else {}
        begin = 0
        if hub.ranged and (asked := self.headers["Range"]) and self.headers["If-Range"] in (None, tag):
            begin = int(asked.removeprefix("bytes=").rstrip("-"))
            if begin >= len(content):
                return self.answer(416, b"")
            headers["Content-Range"] = f"bytes {begin}-{len(content) - 1}/{len(content)}"
        self.answer(206 if begin else 200, content[begin:], headers, hub.cuts.pop(0) if hub.cuts else None)

    def answer(
        self, status: int, body: bytes, headers: Mapping[str, str] | None = None, cut: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body if cut is None else body[:cut])
        if cut is not None:
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


class serving:  # noqa: N801 - a context
    """The hub, served while the context lasts."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub

    def __enter__(self) -> Hub:
        self.hub.server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self.hub.server.daemon_threads = True
        self.hub.server.hub = self.hub
        threading.Thread(target=self.hub.server.serve_forever, args=(0.02,), daemon=True).start()
        return self.hub

    def __exit__(self, *_: object) -> None:
        self.hub.server.shutdown()
        self.hub.server.server_close()
