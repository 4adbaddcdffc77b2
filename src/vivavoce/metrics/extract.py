"""Extract: does an answer that should be cut out of the context stand there, and in the lines that tell?

An extract of Ranking over Scoring's proxy task of trial records is some lines of a section, joined by "**".
A model that is asked for one may shorten, mend or invent. Words are looked up in a suffix automaton (Blumer
et al. 1985), so that time grows with the length of context and answer, not with their product.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from vivavoce.core.records import Criterion, Item, Row, Value
from vivavoce.core.registry import metric
from vivavoce.language.scripts import WORD
from vivavoce.metrics import Metric, ScoringContext

LEAST_WORDS = 3
"""A shorter piece is an extract only where it is a whole line: "the patient" stands in any record."""
_BREAK = re.compile(r"[\r\n\v\f\x85\u2028\u2029]|(?<!\S)\*\*(?!\S)")
_MARKER = re.compile(r"\s{0,80}(?:[-*•·]|\d{1,2}[.)])\s")
_TOKEN = re.compile(rf"{WORD}(?:[.,]\d+)*|[^\s]")
_AROUND = frozenset("\"'.")
_SAME = str.maketrans("“”„«»‘’‚`‐‑–—−", '"""""' + "''''" + "-----")
_Words = tuple[str, ...]


@metric("extract", version=2)
class Extract(Metric):
    """Whether an answer is cut out of the item's context, 0 to 1, and whether out of the right lines.

    Pieces are parted by line ends and by `**` between spaces. `verbatim`: the share of the answer's words
    in pieces that stand within one line of the context. `evidence_precision`, `evidence_recall` and
    `evidence_f1`: the lines they stand in against the lines of the references. Case, spaces, kinds of
    quotes and dashes, a list marker before and quotes or a full stop around a piece are no difference. A
    piece of fewer than three words must be a whole line. Items without a context are set aside.
    """

    criteria = tuple(
        Criterion(criterion=name)
        for name in ("verbatim", "evidence_precision", "evidence_recall", "evidence_f1")
    )
    formats = ("argument", "short", "longform")
    needs = ()

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """Values in 0 to 1; `parts` of `verbatim` hold pieces and words, those of `evidence_f1` lines."""
        return [_values(row.item, row.reading.text) for row in rows]


def _values(item: Item, text: str) -> dict[str, Value]:
    lines = dict.fromkeys(_pieces(item.context or ""))
    if not lines:
        return _set_aside("the item has no context", *(c.criterion for c in Extract.criteria))
    gold = dict.fromkeys(piece for reference in item.references for piece in _pieces(reference))
    ordered = sorted(lines, key=lambda line: line not in gold)
    pieces = dict.fromkeys(_pieces(text))
    line_of = _standing(pieces, ordered)
    right = {number for number, line in enumerate(ordered) if line in gold}
    return {
        "verbatim": _verbatim(pieces, list(line_of)),
        **_evidence(set(line_of.values()), right, gold, lines),
    }


def _standing(pieces: Mapping[_Words, None], lines: Sequence[_Words]) -> dict[_Words, int]:
    """The pieces that are extracts, each with the number of its line."""
    places, whole_lines = _Places(lines), set(lines)
    long = (piece for piece in pieces if piece in whole_lines or _n_words(piece) >= LEAST_WORDS)
    return {piece: line for piece in long if (line := places.line_of(piece)) is not None}


def _verbatim(pieces: Mapping[_Words, None], standing: Sequence[_Words]) -> Value:
    n_words, n_standing = sum(map(_n_words, pieces)), sum(map(_n_words, standing))
    if not n_words:
        return Value(None, note="the answer has no words", status="set_aside")
    parts = {"pieces": len(pieces), "standing": len(standing), "words": n_words}
    return Value(n_standing / n_words, {name: float(n) for name, n in parts.items()})


def _evidence(
    cut: set[int], right: set[int], gold: Mapping[_Words, None], lines: Mapping[_Words, None]
) -> dict[str, Value]:
    names = ("evidence_precision", "evidence_recall", "evidence_f1")
    if not gold:
        return _set_aside("the item has no reference lines", *names)
    if not gold.keys() <= lines.keys():
        return _set_aside("a reference is no line of the context", *names)
    common = len(cut & right)
    parts = {"lines": float(len(cut)), "reference_lines": float(len(right)), "common": float(common)}
    precision = (
        Value(common / len(cut))
        if cut
        else Value(None, note="the answer holds no extract", status="set_aside")
    )
    f1 = Value(2 * common / (len(cut) + len(right)), parts)
    return dict(zip(names, (precision, Value(common / len(right)), f1), strict=True))


def _set_aside(reason: str, *names: str) -> dict[str, Value]:
    return {name: Value(None, note=reason, status="set_aside") for name in names}


def _pieces(text: str) -> Iterator[_Words]:
    """The words and signs of each piece that has a word."""
    for piece in _BREAK.split(text):
        marker = _MARKER.match(piece)
        tokens = _TOKEN.findall(piece[marker.end() if marker else 0 :].casefold().translate(_SAME))
        first, last = 0, len(tokens)
        while first < last and tokens[first] in _AROUND:
            first += 1
        while last > first and tokens[last - 1] in _AROUND:
            last -= 1
        if _n_words(tokens := tokens[first:last]):
            yield tuple(tokens)


def _n_words(tokens: Sequence[str]) -> int:
    return sum(token[0].isalnum() for token in tokens)


class _Places:
    """A suffix automaton over the lines: in which of them, the first, a run of words stands."""

    def __init__(self, lines: Sequence[_Words]) -> None:
        self._next: list[dict[str, int]] = [{}]
        self._link, self._length, self._line = [-1], [0], [-1]
        for number, line in enumerate(lines):
            last = 0
            for token in line:
                last = self._add(token, last, number)

    def line_of(self, piece: _Words) -> int | None:
        """The first line that holds the piece; null if none does."""
        state = 0
        for token in piece:
            if (following := self._next[state].get(token)) is None:
                return None
            state = following
        return self._line[state]

    def _add(self, token: str, last: int, line: int) -> int:
        """The state of the line's words up to this one."""
        earlier = self._next[last].get(token)
        if earlier is not None:  # an earlier line has these words
            return self._longest(last, token, earlier)
        new, state = self._state({}, 0, self._length[last] + 1, line), last
        while state >= 0 and token not in self._next[state]:
            self._next[state][token] = new
            state = self._link[state]
        if state >= 0:
            self._link[new] = self._longest(state, token, self._next[state][token])
        return new

    def _longest(self, state: int, token: str, following: int) -> int:
        """The state after this one whose longest words are by one longer: split off where there is none."""
        if self._length[following] == self._length[state] + 1:
            return following
        twin = self._state(
            dict(self._next[following]), self._link[following], self._length[state] + 1, self._line[following]
        )
        self._link[following] = twin
        while state >= 0 and self._next[state].get(token) == following:
            self._next[state][token] = twin
            state = self._link[state]
        return twin

    def _state(self, following: dict[str, int], link: int, length: int, line: int) -> int:
        self._next.append(following)
        self._link.append(link)
        self._length.append(length)
        self._line.append(line)
        return len(self._line) - 1
