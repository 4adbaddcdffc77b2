"""The chapters of an EPUB: pages of HTML in an archive, in the order of its spine."""

import posixpath
import zipfile
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote

from vivavoce.core.text import one_line
from vivavoce.retrieval.documents import MOST_CHARACTERS, Document, Unusable
from vivavoce.retrieval.extraction import html_document

_MOST_BYTES = 200_000_000
"""Bytes of all members, unpacked; a larger archive is a bomb, or no book."""
_CONTAINER = "META-INF/container.xml"


def epub_document(path: Path, name: str) -> tuple[Document, str]:
    """The chapters of a book as pages, and how many of them have no text.

    Nothing is unpacked to where a member says: a member whose path leaves the archive refuses it. Raises
    `Unusable` for a file that is no EPUB, is encrypted, too large or without text.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            _check(archive)
            members = _spine(archive)
            texts, blank = _chapters(archive, members, name)
    except zipfile.BadZipFile as error:
        raise Unusable(f"it cannot be read as an EPUB ({one_line(str(error), 100)})") from None
    except (KeyError, NotImplementedError, RuntimeError) as error:  # a member that is missing or encrypted
        raise Unusable(f"it cannot be read as an EPUB ({one_line(str(error), 100)})") from None
    if not texts:
        raise Unusable("no chapter of it has a text")
    return Document(name, tuple(texts), paged=True), f"no text in {blank} of its files" if blank else ""


def _check(archive: zipfile.ZipFile) -> None:
    total = 0
    for member in archive.infolist():
        parts = member.filename.replace("\\", "/").split("/")
        if ".." in parts or member.filename.startswith(("/", "\\")) or ":" in parts[0]:
            raise Unusable(
                f"a path in it leaves the archive ({one_line(member.filename, 60)}): it is not read"
            )
        total += member.file_size
    if total > _MOST_BYTES:
        raise Unusable(f"its files have {total:,} bytes, and none over {_MOST_BYTES:,} is read")


def _spine(archive: zipfile.ZipFile) -> list[str]:
    """The members with chapters, in the order of reading."""
    container = _xml(archive.read(_CONTAINER))
    rootfile = container.find(".//{*}rootfile")
    package = unquote(rootfile.get("full-path", "")) if rootfile is not None else ""
    root = _xml(archive.read(package))
    folder = posixpath.dirname(package)
    hrefs = {part.get("id"): part.get("href", "") for part in root.iterfind(".//{*}manifest/{*}item")}
    order = [part.get("idref") for part in root.iterfind(".//{*}spine/{*}itemref")]
    names = [posixpath.normpath(posixpath.join(folder, unquote(hrefs[key]))) for key in order if key in hrefs]
    present = set(archive.namelist())
    return [name for name in names if name in present]


def _xml(raw: bytes) -> Any:
    etree = import_module("lxml.etree")
    if b"<!ENTITY" in raw:
        raise Unusable("it declares entities, which no book needs: it is not read")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        return etree.fromstring(raw, parser)
    except (etree.LxmlError, ValueError) as error:
        raise Unusable(f"it cannot be read as an EPUB ({one_line(str(error), 100)})") from None


def _chapters(archive: zipfile.ZipFile, members: list[str], name: str) -> tuple[list[str], int]:
    texts: list[str] = []
    blank = length = 0
    with TemporaryDirectory() as folder:
        page = Path(folder) / "chapter.xhtml"  # a name of ours, whatever the member is called
        for member in members:
            page.write_bytes(archive.read(member))
            try:
                document, _ = html_document(page, name)
            except Unusable:
                blank += 1
                continue
            texts += document.texts
            length += sum(map(len, document.texts))
            if length > MOST_CHARACTERS:
                raise Unusable(f"its text has more than {MOST_CHARACTERS:,} characters")
    return texts, blank
