"""A process that reads PDF and HTML files: a file that loops, eats memory or crashes ends it, not us.

It is given no key of the environment, and what it prints goes nowhere. As a module it is the process itself.
"""

import json
import logging
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Event, Timer
from types import TracebackType
from typing import IO, Any, cast

from vivavoce.core.extras import require_extras
from vivavoce.retrieval.documents import Document, Unusable

SECONDS = 60.0
"""For one file."""
SECONDS_PER_BYTE = 1e-5
"""Beyond that: a textbook of 20 MB has four minutes."""
MOST_MEMORY = 1 << 30
"""Bytes of the process, where the system can limit them."""
READERS = {".pdf": "pdf", ".html": "html", ".htm": "html", ".xhtml": "html"}
"""The kinds of files that it reads, by their ends."""
_PACKAGES = {
    "pdf": {"pypdf": "sources"},
    "html": {"lxml": "sources"},
    "columns": {"pdfplumber": "build"},
    "epub": {"lxml": "build"},
    "jats": {"lxml": "build"},
}
_VARIABLES = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


class FileReader:
    """Reads files in another process, started with the first file and again after each that ended it."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> "FileReader":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def document(self, path: Path, name: str, kind: str = "") -> tuple[Document, str]:
        """The document, and what is wrong with parts of it. Raises `Unusable`, `ExtraError`.

        `kind` is that of the file's end unless it is stated: `columns` is a PDF read by the places of its
        words, `jats` an article of PubMed Central, `epub` a book.
        """
        kind = kind or READERS[path.suffix.lower()]
        require_extras(
            _PACKAGES[kind], "an article in XML" if kind == "jats" else f"a {path.suffix[1:].upper()} file"
        )
        process = self._process = self._process or _started()
        requests, replies = cast(IO[str], process.stdin), cast(IO[str], process.stdout)
        seconds = self.seconds + SECONDS_PER_BYTE * path.stat().st_size
        late = Event()

        def give_up() -> None:
            late.set()
            process.kill()

        timer = Timer(seconds, give_up)
        timer.start()
        try:
            requests.write(json.dumps([kind, str(path), name]) + "\n")
            requests.flush()
            line = replies.readline()
        except OSError:
            line = ""
        finally:
            timer.cancel()
            timer.join()  # what it has begun is done: it ends no process that reads the next file
        if late.is_set() or not line.endswith("\n"):
            self._end()
        if not line.endswith("\n"):
            slow = f"reading it takes longer than {seconds:.0f} seconds"
            raise Unusable(slow if late.is_set() else "reading it ended the program that read it")
        reply: dict[str, Any] = json.loads(line)
        if "document" not in reply:
            raise Unusable(reply["reason"])
        fields = reply["document"]
        return Document(fields[0], tuple(fields[1]), *fields[2:]), reply["reason"]

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _started() -> "subprocess.Popen[str]":
    variables = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
    variables |= {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen(
        # -P: a module in the folder where the user stands is not ours
        [sys.executable, "-P", "-m", "vivavoce.retrieval.reader_process"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True, encoding="utf-8", env=variables,
    )  # fmt: skip


def _limit_memory() -> None:
    with suppress(ImportError, OSError, ValueError):  # Windows has no such limit, and macOS may refuse
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        limit = MOST_MEMORY if hard == resource.RLIM_INFINITY else min(MOST_MEMORY, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def _reply(kind: str, path: Path, name: str) -> dict[str, Any]:
    from vivavoce.retrieval.columns import columns_document
    from vivavoce.retrieval.epub import epub_document
    from vivavoce.retrieval.extraction import html_document, pdf_document
    from vivavoce.retrieval.jats import jats_document

    readers = {
        "pdf": pdf_document, "html": html_document, "columns": columns_document, "epub": epub_document,
        "jats": jats_document,
    }  # fmt: skip
    try:
        document, reason = readers[kind](path, name)
    except Unusable as error:
        return {"reason": str(error)}
    except MemoryError:
        return {"reason": "reading it takes too much memory"}
    except RecursionError:
        return {"reason": "it is nested too deeply"}
    except OSError as error:
        return {"reason": f"it cannot be read: {error.strerror or error}"}
    return {"document": document, "reason": reason}


def main() -> None:
    """Read a line with a file, write a line with its document, until the lines end."""
    logging.disable()  # pypdf warns of each oddity
    _limit_memory()
    with os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as replies:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no reply
        for line in sys.stdin:
            kind, path, name = json.loads(line)
            replies.write(json.dumps(_reply(kind, Path(path), name)) + "\n")
            replies.flush()


if __name__ == "__main__":
    main()
