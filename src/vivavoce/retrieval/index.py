"""`open_source`: a folder becomes an index of passages once per version, and is searched by BM25.

Scores are BM25 as Lucene computes it (Robertson and Zaragoza 2009; bm25s, Lù 2024) with k1 = 1.5, b = 0.75,
over `terms`. A document's title counts for each of its passages, also where it does not stand in it.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from vivavoce.core.errors import InputError, MetricError
from vivavoce.core.extras import require_extras
from vivavoce.core.private_files import write_private
from vivavoce.core.text import one_line, printable
from vivavoce.retrieval import index_cache
from vivavoce.retrieval.documents import Document, Skipped
from vivavoce.retrieval.folder import KINDS, Folder, open_folder, read_documents
from vivavoce.retrieval.passages import passage_spans
from vivavoce.retrieval.terms import terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Encode = Callable[[Sequence[str]], NDArray[np.floating[Any]]]

FLOOR = 0.25
"""Share of the weight of a text's terms that a passage must hold to be a hit; rare terms weigh more.

Chosen on the documents and facts of tests/retrieval/library.json.
"""
FEW = 1_000
"""Passages that are too few to say how rare a word is: in fewer, terms weigh as if there were so many."""
CANDIDATES = 50
"""Passages by BM25 that an encoder puts in order."""
_DOCUMENTS, _PLACES = "documents.jsonl", "places.npy"


class Passage(NamedTuple):
    """A piece of a document: its text stands there word for word.

    `page` counts from 1, null where the file has none. `offset` counts characters from the beginning of the
    page's text, else the file's. `score` is the BM25 score, or the cosine where an encoder gave the order.
    """

    file: str
    page: int | None
    offset: int
    text: str
    score: float
    title: str = ""


class Place(NamedTuple):
    """Where a quote stands; `text` is how it stands there."""

    file: str
    page: int | None
    offset: int
    text: str


class Source:
    """A folder, ready to be searched. `open_source` makes one.

    `version` is the hash of its files, `files` the hash of each, `skipped` what could not be used and why,
    `documents` all texts in the order of their names. `builds` is 1 where this opening built the index, 0
    where it lay in the cache.
    """

    def __init__(self, folder: Folder, index: "_Index", encoder: "Encode | None", builds: int) -> None:
        self.name = one_line(printable(folder.path.name), 100) or "source"
        self.path = folder.path
        self.version = folder.version
        self.files = {file.name: file.sha256 for file in folder.files}
        self.skipped = tuple(sorted((*folder.skipped, *index.skipped)))
        self.documents = index.documents
        self.builds = builds
        self._index = index
        self._encoder = encoder
        self._vectors: dict[int, Any] = {}
        self._by_name = {document.name: document for document in index.documents}

    def __repr__(self) -> str:
        return f"Source({self.name!r}, version={self.version!r}, {len(self)} passages)"

    def __len__(self) -> int:
        """The number of passages."""
        return len(self._index.places)

    def ordered_by(self, encoder: "Encode | None") -> "Source":
        """The same source with its passages put in order by another encoder, or by none."""
        source = copy(self)
        source._encoder, source._vectors = encoder, {}
        return source

    def document(self, name: str) -> Document:
        """The document of that name. Raises `InputError` for one that the source does not have."""
        if name not in self._by_name:
            raise InputError(f"the source {self.name} has no document {one_line(name, 80)!r}.")
        return self._by_name[name]

    def search(self, text: str, n: int = 5) -> tuple[Passage, ...]:
        """The at most `n` passages nearest to a text, best first; none where nothing is near.

        A hit holds at least `FLOOR` of the weight of the text's terms (stop words are none, words that the
        source does not have weigh most). Ties are in the order of names and places. A passage that stands in
        several documents comes once.
        """
        if n < 1:
            return ()
        ranked = self._index.ranked(text)
        if self._encoder is None:
            return self._distinct(ranked, n)
        candidates = self._numbers(ranked, max(CANDIDATES, n))
        return self._distinct(self._by_cosine(text, candidates), n)

    def find(self, quote: str) -> tuple[Place, ...]:
        """Every place where a quote stands word for word; only the blanks between its words may differ.

        None for a quote without a word.
        """
        words = quote.split()
        if not words:
            return ()
        pattern = re.compile(r"\s+".join(map(re.escape, words)))
        return tuple(
            Place(document.name, page if document.paged else None, match.start(), match[0])
            for document in self.documents
            for page, page_text in enumerate(document.texts, 1)
            for match in pattern.finditer(page_text)
        )

    def _distinct(self, ranked: "Sequence[tuple[int, float]]", n: int) -> tuple[Passage, ...]:
        passages: dict[str, Passage] = {}
        for number, score in ranked:
            passage = self._index.passage(number, score)
            passages.setdefault(passage.text, passage)
            if len(passages) == n:
                break
        return tuple(passages.values())

    def _numbers(self, ranked: "Sequence[tuple[int, float]]", limit: int) -> list[int]:
        """The first passages of distinct texts."""
        texts = dict[str, int]()
        for number, _ in ranked:
            texts.setdefault(self._index.passage(number, 0.0).text, number)
            if len(texts) == limit:
                break
        return list(texts.values())

    def _by_cosine(self, text: str, numbers: Sequence[int]) -> list[tuple[int, float]]:
        """Candidates with their cosines, nearest first, ties in the order of BM25."""
        if not numbers or self._encoder is None:
            return []
        new = [number for number in numbers if number not in self._vectors]
        texts = [text, *(self._index.passage(number, 0.0).text for number in new)]
        vectors = self._encoder(texts)
        if len(vectors) != len(texts):
            raise MetricError(
                f"the encoder gave {len(vectors)} vectors for {len(texts)} texts: rerank needs one for each."
            )
        self._vectors |= zip(new, vectors[1:], strict=True)
        # rounded: the last digits depend on what else went through the encoder
        cosines = [(number, round(float(self._vectors[number] @ vectors[0]), 5)) for number in numbers]
        return sorted(cosines, key=lambda pair: -pair[1])


def open_source(
    folder: str | Path, *, encoder: "Encode | None" = None, cache: str | Path | None = None
) -> Source:
    """The source of a folder of txt, md, jsonl, html and pdf files.

    Its index is built once per version, and kept in `cache`, by default the user's cache folder. An `encoder`
    takes texts and gives a vector of length 1 for each: it puts the first `CANDIDATES` passages in order.
    Raises `InputError` for a folder without a text, `ExtraError` without the extra `sources`.
    """
    require_extras({"bm25s": "sources", "lxml": "sources", "pypdf": "sources"}, "a local source")
    files = open_folder(Path(folder))
    home = Path(cache) if cache is not None else index_cache.default_cache()
    kept_at = index_cache.place(home, files.version) if home else None
    if kept_at and index_cache.is_sound(kept_at):
        try:
            return Source(files, _loaded(kept_at), encoder, builds=0)
        except (OSError, ValueError, LookupError, TypeError):
            index_cache.discard(kept_at)  # written by something else; it is built again
    index = _built(files)
    if kept_at and files.files:
        index_cache.store(kept_at, index.write)
    return Source(files, index, encoder, builds=1)


class _Index(NamedTuple):
    """Documents, the passages in them, and their BM25 scores by term.

    `places` has a row for each passage: document, page (both from 0), offset and length; int64 of (n, 4).
    """

    documents: tuple[Document, ...]
    skipped: tuple[Skipped, ...]
    places: "NDArray[np.int64]"
    scores: Any

    def passage(self, number: int, score: float) -> Passage:
        document_number, page, offset, length = map(int, self.places[number])
        document = self.documents[document_number]
        text = document.texts[page][offset : offset + length]
        return Passage(
            document.name, page + 1 if document.paged else None, offset, text, score, document.title
        )

    def ranked(self, text: str) -> list[tuple[int, float]]:
        """Hits with their scores, best first, ties in the order of the passages."""
        import numpy as np

        distinct = sorted(set(terms(text)))
        numbers = self.scores.get_tokens_ids(distinct)
        if not numbers:
            return []
        indptr, indices = self.scores.scores["indptr"], self.scores.scores["indices"]
        n_passages = len(self.places)
        shares = np.zeros(n_passages)
        total = (len(distinct) - len(numbers)) * _weight(0, n_passages)
        for number in numbers:
            start, end = int(indptr[number]), int(indptr[number + 1])
            weight = _weight(end - start, n_passages)
            shares[indices[start:end]] += weight
            total += weight
        hits = np.flatnonzero((shares > 0) & (shares >= FLOOR * total))
        scores = self.scores.get_scores_from_ids(numbers)[hits]
        order = np.argsort(-scores, kind="stable")
        return [(int(hits[k]), float(scores[k])) for k in order]

    def write(self, folder: Path) -> None:
        import numpy as np

        self.scores.save(folder, show_progress=False)
        np.save(folder / _PLACES, self.places, allow_pickle=False)
        lines = [list(self.skipped), *self.documents]
        text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
        write_private(folder / _DOCUMENTS, text)


def _weight(n_holding: int, n_passages: int) -> float:
    """The weight of a term that so many passages hold: Lucene's inverse document frequency."""
    return math.log(1 + (max(n_passages, FEW) - n_holding + 0.5) / (n_holding + 0.5))


def _loaded(folder: Path) -> _Index:
    import numpy as np

    with (folder / _DOCUMENTS).open(encoding="utf-8", newline="\n") as stream:
        skipped = tuple(Skipped(*fields) for fields in json.loads(next(stream)))
        lines = (json.loads(line) for line in stream)
        documents = tuple(Document(name, tuple(texts), *remainder) for name, texts, *remainder in lines)
    places = np.load(folder / _PLACES, allow_pickle=False, mmap_mode="r")
    scores = import_module("bm25s").BM25.load(folder, mmap=True, show_progress=False)
    return _Index(documents, skipped, places, scores)


def _built(folder: Folder) -> _Index:
    """The index of a folder. Raises `InputError` where no passage has a term."""
    import numpy as np

    documents, skipped = read_documents(folder)
    places, lists = [], []
    vocabulary: dict[str, int] = {}
    for place, passage_terms in _passages(documents):
        places.append(place)
        lists.append([vocabulary.setdefault(term, len(vocabulary)) for term in passage_terms])
    if not places:
        raise _without_text(folder, (*folder.skipped, *skipped))
    scores = import_module("bm25s").BM25(method="lucene")
    scores.index((lists, vocabulary), create_empty_token=False, show_progress=False)
    return _Index(tuple(documents), tuple(skipped), np.array(places, dtype=np.int64), scores)


def _passages(documents: Sequence[Document]) -> Iterator[tuple[tuple[int, int, int, int], list[str]]]:
    for number, document in enumerate(documents):
        title = terms(document.title)
        for page, text in enumerate(document.texts):
            for span in passage_spans(text):
                passage = text[span.start : span.end]
                if passage_terms := terms(passage):
                    more = [] if document.title in passage else title
                    yield (number, page, span.start, span.end - span.start), [*more, *passage_terms]


def _without_text(folder: Folder, skipped: Sequence[Skipped]) -> InputError:
    listed = "; ".join(f"{printable(file)}: {reason}" for file, reason in sorted(skipped)[:5])
    more = f"; and {len(skipped) - 5} more" if len(skipped) > 5 else ""
    reasons = f" ({listed}{more})" if listed else ""
    return InputError(
        f"the source {folder.path} holds no text to search{reasons}: give a folder with files of the kinds "
        f"{KINDS}."
    )
