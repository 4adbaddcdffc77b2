"""Citations of an endpoint: whether each exists in a local source, and what it says of the fact.

Without a local source nobody knows whether a citation exists, and that is no 0. Who scores asks for a verdict
on each claim by `CitedChecker.calls`; of each reply it gives the citations to `looked_up`, with the open
source or null. `Lookup.exists` is then the value of the criterion *exists*, and the verdict of
`CitedChecker.support` on `Lookup.claim` that of *supports*, by `support_value`:

    lookup = looked_up(claim.text, citation_texts(result.citations), source)
    lookup.exists, lookup.reason                  # share of the citations that exist, or why it is not known
    checker.support.calls([lookup.claim])         # where it is not null, asked like any claim
    support_value(verdict)                        # 1, 0 or null
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

from vivavoce.core.evidence import Evidence
from vivavoce.core.text import is_blank, one_line, printable
from vivavoce.facts.checker import NO_PASSAGE, Claim
from vivavoce.facts.entailment import NEITHER
from vivavoce.facts.fact import Verdict
from vivavoce.facts.verdict_replies import UNDECIDED
from vivavoce.retrieval.documents import Document
from vivavoce.retrieval.index import Source

PASSAGES = 5
"""Passages of the cited documents that are shown with a fact."""
_DEPTH = 50
"""Passages of the source that are looked through for those of the cited documents."""
_LONGEST = 20_000
_MOST = 100
"""Characters of a citation's text, and citations of a reply, that are read."""
_TITLES = ("title", "document_title", "name", "file", "filename", "file_name", "source")
_ADDRESSES = ("url", "uri", "link", "href")
_QUOTES = ("cited_text", "quote", "quoted_text")
_SCHEME = re.compile(r"\A[a-z][a-z0-9+.-]*://(?:www\.)?", re.IGNORECASE)


class Citation(NamedTuple):
    """What a citation says of itself; '' where it does not say."""

    title: str = ""
    url: str = ""
    quote: str = ""

    @property
    def label(self) -> str:
        """Its address, title or words, on one short line."""
        return one_line(printable(self.url or self.title or self.quote), 80)


class Existence(NamedTuple):
    """Whether a citation exists; null where nobody knows. `reason` says how that is known, or why not.

    `files` are the documents that it names, `places` where its words stand.
    """

    exists: bool | None
    reason: str
    files: tuple[str, ...] = ()
    places: tuple[Evidence, ...] = ()


class Lookup(NamedTuple):
    """The citations of a reply, looked up.

    `exists` is the share of them that exist; null with a `reason` where that is not known. `claim` is the
    fact with passages of the documents that are cited; null where none was found.
    """

    exists: float | None
    reason: str | None
    claim: Claim | None = None
    citations: tuple[tuple[Citation, Existence], ...] = ()


def citation_texts(citations: Iterable[Any]) -> tuple[Citation, ...]:
    """The citations that an endpoint returned: addresses, titles, or objects with them; each once.

    An entry that says nothing of itself is left out.
    """
    entries = (_citation(entry) for entry in list(citations)[:_MOST])
    return tuple(dict.fromkeys(citation for citation in entries if not is_blank("".join(citation))))


def _citation(entry: Any) -> Citation:
    if isinstance(entry, str):
        text = entry.strip()[:_LONGEST]
        return Citation(url=text) if _SCHEME.match(text) else Citation(title=text)
    if not isinstance(entry, Mapping):
        return Citation()
    inner = entry.get("url_citation") or entry.get("file_citation")  # of OpenAI's annotations
    fields = {**entry, **(inner if isinstance(inner, Mapping) else {})}
    title, url, quote = (_first(fields, names) for names in (_TITLES, _ADDRESSES, _QUOTES))
    if not url and _SCHEME.match(title):
        title, url = "", title
    return Citation(title, url, quote)


def _first(fields: Mapping[str, Any], names: Sequence[str]) -> str:
    texts = (fields.get(name) for name in names)
    return next((t.strip()[:_LONGEST] for t in texts if isinstance(t, str) and not is_blank(t)), "")


def existence(citation: Citation, source: Source | None) -> Existence:
    """Whether a citation is in the local source: by its file name, title or address, or by its words.

    Null without a source: a citation that cannot be looked up is neither there nor invented.
    """
    if source is None:
        return Existence(None, "no local source to look it up in")
    files = tuple(document.name for document in source.documents if _names(citation, document))
    places = tuple(
        Evidence(source.name, source.version, place.file, place.page, place.offset, place.text)
        for place in (source.find(citation.quote) if citation.quote else ())
    )
    if files:
        return Existence(True, f"it names {one_line(', '.join(files), 80)}", files, places)
    if places:
        return Existence(True, f"its words stand in {places[0].file}", (), places)
    return Existence(False, f"{citation.label} is not in the source {source.name}")


def _names(citation: Citation, document: Document) -> bool:
    keys = {_key(text) for text in (citation.title, citation.url) if text} - {""}
    texts = [document.name, document.title, document.url]
    addressed = citation.url and not _SCHEME.match(citation.url)
    if addressed or not citation.url:  # a title may be a path to the file
        keys |= {_key(text.rpartition("/")[2]) for text in (citation.title, citation.url) if text} - {""}
        texts.append(document.name.rpartition("/")[2])
    return bool(keys & {_key(text) for text in texts if text})


def _key(text: str) -> str:
    """A name or an address without what does not matter in it: case, blanks, scheme, fragment, last slash."""
    if _SCHEME.match(text):
        text = unquote(_SCHEME.sub("", text).partition("#")[0]).rstrip("/")
    return " ".join(text.split()).casefold()


def looked_up(text: str, named: Sequence[Citation], source: Source | None) -> Lookup:
    """The citations of a reply about the fact `text`, looked up in the source."""
    if not named:
        return Lookup(None, "the reply cites nothing")
    results = [existence(citation, source) for citation in named]
    pairs = tuple(zip(named, results, strict=True))
    if source is None:
        return Lookup(None, results[0].reason, None, pairs)
    existing = [result for result in results if result.exists]
    absent = next((result.reason for result in results if not result.exists), None)
    return Lookup(len(existing) / len(results), absent, _claim(text, existing, source), pairs)


def _claim(text: str, existing: Sequence[Existence], source: Source) -> Claim | None:
    """The fact with the words that are cited, and the passages of the cited documents nearest to it."""
    if not existing:
        return None
    files = {name for result in existing for name in result.files}
    places = [place for result in existing for place in result.places]
    hits = [hit for hit in source.search(text, _DEPTH) if hit.file in files][:PASSAGES]
    nearest = [
        Evidence(source.name, source.version, hit.file, hit.page, hit.offset, hit.text) for hit in hits
    ]
    return Claim(text, tuple(dict.fromkeys((*places[:PASSAGES], *nearest))))


def support_value(verdict: Verdict) -> float | None:
    """1 if the cited documents support the fact, 0 if they do not; null where the verdict does not tell.

    A document that contradicts the fact does not support it, and neither does one that does not decide it.
    """
    if verdict.word == "supported":
        return 1.0
    silent = verdict.word == "unverifiable" and verdict.reason in (UNDECIDED, NEITHER, NO_PASSAGE.reason)
    return 0.0 if verdict.word == "contradicted" or silent else None
