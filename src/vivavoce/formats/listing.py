"""A list: every option that is right, in any order and in most of the ways people write lists.

What is no option is stray: it costs precision, not the item.
"""

import itertools
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, NamedTuple

from vivavoce.formats import words
from vivavoce.formats.base import Format, fault, unanswered, unreadable, voiced
from vivavoce.formats.choice import Choice
from vivavoce.formats.claims import Said, joined
from vivavoce.formats.cues import Cue, cues, retracts
from vivavoce.formats.markup import spoken_for, ticked, untabled
from vivavoce.formats.match import Mention, Options, options_of
from vivavoce.formats.options import as_keyed, checked_options, prompt
from vivavoce.formats.refusal import abstains, refuses
from vivavoce.formats.structured import values
from vivavoce.formats.tokens import CLAUSE, COMMA, LINE, NONE, SENTENCE
from vivavoce.records import Item, Reading

__all__ = ["FORMAT"]

_SEPARATORS = frozenset({"and", "&", "+", "/", "plus", "y", "et", "und", "和", "及"})
_EDGES = " \t\n*_`\"'“”‘’.,;:!·•-–—"
_ENTRY_WORDS = 8
_AROUND = words.LIGHT | words.JOINERS | words.RETRACTING | {"but"}
_LETTER_JOINERS = frozenset({"e", "o", "y"})


class _Piece(NamedTuple):
    """An entry: what it names, or the text of a stray; `loose` marks prose, which is neither."""

    names: tuple[int, ...] = ()
    stray: str = ""
    loose: bool = False


class _Listed(NamedTuple):
    """What a stretch of an answer lists. `strict`: entries stand by themselves, so that strays count."""

    names: tuple[int, ...] = ()
    stray: tuple[str, ...] = ()
    strict: bool = False
    reason: str | None = None


class _List(Choice):
    """The reader of a list."""

    def said(self, i: int, j: int, *, claimed: bool = False) -> list[Said]:
        """What tokens i to j-1 say. A semicolon divides a letter from the entry after it: "A; Cough"."""
        found: list[Said] = []
        for s in super().said(i, j, claimed=claimed):
            at = s.mention.i
            which = self.options.labels.get(self.doc.surface(at, at + 1))
            divided = s.mention.by == "both" and not s.names and ";" in self.doc.gap(at + 1)
            if not divided or which is None:
                found.append(s)
                continue
            found.append(Said(Mention(at, at + 1, (which,), "label"), s.verdict))
            found += [Said(m, s.verdict) for m in self.texts if at < m.i < s.mention.j]
        return found

    def stretch(self, i: int, j: int) -> _Listed:
        """What tokens i to j-1 list: entries where there are any, else what the sentences name."""
        names: list[int] = []
        stray: list[str] = []
        named: list[int] = []
        strict = rejecting = False
        for a, b in self._units(i, j):
            head = self._head(a, b)
            if head is not None and any(w in words.EXPLAINING_HEADS for w in self.doc.forms[a:head]):
                if names:
                    break
                if head == b:
                    continue
            if head is not None:
                rejecting = any(w in words.REJECTING_HEADS for w in self.doc.forms[a:head])
                a = head
            if a >= b or rejecting:
                continue
            found = self.said(a, b, claimed=True)
            if (reason := self._hedge(found)) is not None:
                return _Listed(reason=reason)
            pieces = list(self._pieces(a, b, found))
            if any(p.loose for p in pieces) or (strict and self._explains(a, b)):
                if not strict:
                    named += self._in_prose(a, b, claimed=head is not None or self._cued(a))
                continue
            entries = [n for p in pieces for n in p.names]
            names += entries
            stray += [p.stray for p in pieces if p.stray]
            strict = strict or bool(entries)
        if not strict and named:
            return _Listed(tuple(dict.fromkeys(named)), (), False)
        return _Listed(tuple(dict.fromkeys(names)), tuple(dict.fromkeys(stray)), strict)

    def _in_prose(self, a: int, b: int, *, claimed: bool) -> list[int]:
        """The options that a sentence names without turning them down, else those it weighs."""
        found = [s for s in self.said(a, b, claimed=claimed) if len(s.names) == 1]
        firm = [s for s in found if s.verdict in {"chosen", "named"}]
        return [s.names[0] for s in firm or found if s.verdict != "rejected"]

    def _units(self, i: int, j: int) -> Iterator[tuple[int, int]]:
        """Sentences and lines, without the number that heads a line."""
        for a, b in self.doc.sentences(i, j):
            counted = self.doc.breaks[a] >= LINE and self._enumerated(a, b) and self.doc.breaks[a + 1] > NONE
            yield (a + 1 if counted else a), b

    def _head(self, a: int, b: int) -> int | None:
        """The token after a lead-in such as "The correct options are:", if one is there and names nothing."""
        for p in range(a + 1, min(b + 1, a + 16)):
            gap = self.doc.gap(p)
            if (p == b or self.doc.breaks[p] >= CLAUSE) and any(c in ":：" for c in gap):
                return None if self.said(a, p, claimed=True) else p
            if p == b:
                return None
        return None

    def _cued(self, a: int) -> bool:
        return a > 0 and self.doc.breaks[a] < SENTENCE

    def _explains(self, a: int, b: int) -> bool:
        return self.doc.breaks[a] == SENTENCE and b - a > _ENTRY_WORDS

    def _hedge(self, found: list[Said]) -> str | None:
        live = [s for s in found if s.verdict != "rejected"]
        for x, y in itertools.pairwise(live):
            between = self.doc.forms[x.mention.j : y.mention.i]
            if (
                joined(self.doc, x.mention, y.mention)
                and any(w in words.HEDGES for w in between)
                and x.names != y.names
            ) and ("and" not in between or "/" in between):
                return "it leaves open which option is meant: " + " or ".join(
                    self.options.texts[n] for s in (x, y) for n in s.names
                )
        return None

    def _pieces(self, a: int, b: int, found: list[Said]) -> Iterator[_Piece]:
        inside = {k for s in found for k in range(s.mention.i + 1, s.mention.j)}
        starts = {s.mention.i for s in found}
        lettered = {s.mention.i for s in found if s.mention.by in {"label", "both"}}
        bounds: list[tuple[int, int]] = []
        begin, depth = a, 0
        for k in range(a, b):
            gap = self.doc.gap(k) if k > a else ""
            depth = max(0, depth + gap.count("(") + gap.count("[") - gap.count(")") - gap.count("]"))
            if k in inside or (depth and k not in starts):
                continue
            if self.doc.forms[k] in _SEPARATORS and k not in starts and self._joins(k, b):
                bounds.append((begin, k))
                begin = k + 1
            elif k > begin and (k in lettered or any(c in ",;，；、" for c in gap)):
                # a letter divides too: "A. Fever B. Murmur"
                bounds.append((begin, k))
                begin = k
            if self.doc.forms[k] in words.EXPLAINS and begin > a and k > begin:
                bounds.append((begin, k))
                begin = b
                break
        bounds.append((begin, b))
        at = [s.mention.i for s in found]
        for i, j in bounds:
            if i < j:
                yield from self._piece(i, j, found[bisect_left(at, i) : bisect_left(at, j)])

    def _piece(self, i: int, j: int, found: list[Said]) -> Iterator[_Piece]:
        live = [s for s in found if s.verdict != "rejected"]
        if found and not live:
            return
        if self.doc.tokens[i].kind == "n" and i + 1 < j and self.doc.gap(i + 1).strip() in {".", ")"}:
            i += 1
        spaced = not any(self.doc.glued(k) for k in range(i + 1, j))
        letters = [self.options.labels.get(self._surface(k)) if spaced else None for k in range(i, j)]
        if j - i > 1 and all(len(t) == 1 and "A" <= t <= "Z" for t in map(self._surface, range(i, j))):
            # letters in a row, "A C E"; a range such as "A-E" is none
            for k, n in enumerate(letters, i):
                piece = _Piece(stray=self._surface(k)) if n is None else _Piece((n,))
                yield piece if spaced else _Piece(loose=True)
            return
        small = [self.options.lower.get(self._surface(k)) if spaced else None for k in range(i, j)]
        if not found and None not in small:
            letters = small
        if not any(n is None for n in letters):
            yield _Piece(tuple(n for n in letters if n is not None))
            return
        if j - i == 1 and not found and (run := self._letters(self.doc.surface(i, j))):
            yield _Piece(run)
            return
        if not found and any(w in words.NO_ENTRY for w in self.doc.forms[i : i + 1]):
            yield _Piece(loose=True)
            return
        starts = {s.mention.i for s in found}
        while i < j and self.doc.forms[i] in _AROUND and i not in starts and self._joins(i, j):
            i += 1
        if i >= j:
            return
        if not live:
            if self.doc.forms[i] in {"not", "no", "nor", "but"}:
                return
            yield self._unnamed(i, j)
            return
        first = live[0]
        if len(live) == 1 and self._alone(first, i, j):
            yield _Piece(first.names) if len(first.names) == 1 else _Piece(stray=self._shown(i, j))
        elif all(s.mention.by == "label" for s in live) and self._alone(first, i, live[0].mention.j):
            yield _Piece(tuple(n for s in live for n in s.names))
        elif (
            len(live) == 1
            and j - i <= _ENTRY_WORDS
            and not any(w in words.PROSE for w in self.doc.forms[i:j])
        ):
            yield _Piece(stray=self._shown(i, j))
        else:
            yield _Piece(loose=True)

    def _surface(self, k: int) -> str:
        return self.doc.surface(k, k + 1)

    def _joins(self, k: int, j: int) -> bool:
        """False for an E, O or Y that is an entry: small and before another, they mean "and" or "or"."""
        return self.doc.forms[k] not in _LETTER_JOINERS or (k + 1 < j and self._surface(k).islower())

    def _alone(self, s: Said, i: int, j: int) -> bool:
        """True if the entry is the option, with nothing but a remark behind it."""
        if s.mention.i != i:
            return False
        k = s.mention.j
        return (
            k >= j
            or self.doc.breaks[k] >= COMMA
            or self.doc.forms[k] in {"→", "(-)", "="}
            or self.doc.tokens[k].kind == "n"
        )

    def _unnamed(self, i: int, j: int) -> _Piece:
        """An entry that is no option: letters in a row ("ACD"), a stray, or prose."""
        forms = self.doc.forms[i:j]
        if j - i > _ENTRY_WORDS or any(w in words.PROSE for w in forms):
            return _Piece(loose=True)
        return _Piece(stray=self._shown(i, j))

    def _letters(self, text: str) -> tuple[int, ...]:
        """The letters of "ACD", three: each a label, each once; small letters only in order."""
        names = [self.options.labels.get(c.upper()) for c in text]
        known = [n for n in names if n is not None]
        proper = len(known) == len(names) == len(set(known)) > 1 and text.isalpha()
        if not proper or not (text.isupper() or (text.islower() and known == sorted(known))):
            return ()
        return tuple(known)

    def _shown(self, i: int, j: int) -> str:
        shown = " ".join(self.doc.surface(i, j).replace("**", "").split()).strip(_EDGES)
        return shown + ")" * (shown.count("(") - shown.count(")"))


def _read(item: Item, text: str) -> Reading:
    options = options_of(item.options)
    answer = voiced(text)
    exact = options.plain.get(" ".join((answer if isinstance(answer, str) else text).split()))
    if exact is not None:
        return Reading("ok", (options.texts[exact],))
    if isinstance(answer, Reading):
        return answer
    if abstains(answer):
        return unanswered("a refusal without an answer")
    found = values(answer)
    listed = _from_json(found, options) if found is not None else _from_text(answer, options)
    if listed.reason is None and (listed.names or listed.stray):
        return Reading("ok", tuple(options.texts[n] for n in listed.names), listed.stray)
    if not (listed.names or listed.reason) and refuses(answer):
        return unanswered("a refusal without an answer")
    return unreadable(listed.reason or "it names no option")


def _from_text(text: str, options: Options) -> _Listed:
    reader = _List(ticked(untabled(text, spoken_for)), options)
    claims: list[tuple[Cue, _Listed]] = []
    found = cues(reader.doc)
    for cue, limit in zip(found, [*(c.k for c in found[1:]), len(reader.doc)], strict=False):
        end = _list_end(reader, cue.i, cue.j, max(cue.j, limit))
        listed = reader.stretch(cue.i, end)
        if (
            claims
            and cue.boxed
            and claims[-1][0].boxed
            and cue.k - claims[-1][0].j <= 3
            and not listed.reason
        ):
            # boxes in a row are one list
            before = claims.pop()[1]
            listed = _Listed(before.names + listed.names, before.stray + listed.stray, True, before.reason)
        if listed.names or (listed.stray and cue.firm) or listed.reason:
            claims.append((cue, listed))
    if not claims:
        return _quiet(reader, text)
    cue, last = claims[-1]
    for earlier, listed in claims[:-1]:
        if set(listed.names) != set(last.names) and not retracts(reader.doc, earlier.i + 1, cue.i):
            return _Listed(reason="two final answers that disagree")
    return last


def _quiet(reader: _List, text: str) -> _Listed:
    """The list of an answer without a cue; where it also refuses, options merely named do not count."""
    listed = reader.stretch(0, len(reader.doc))
    merely = not (listed.strict or listed.reason) and bool(listed.names or listed.stray)
    return _Listed() if merely and refuses(text) else listed


def _list_end(reader: _List, i: int, j: int, limit: int) -> int:
    """A claim goes on over the lines of a list: those that follow without a blank line, or after a colon."""
    doc = reader.doc
    multi = (
        doc.breaks[i] >= LINE or (j < len(doc) and ":" in doc.gap(j)) or any(c in "-*•" for c in doc.gap(i))
    )
    while multi and j < limit and (doc.breaks[j] <= LINE or reader.pure(j, doc.sentence_end(j)) is not None):
        j = doc.sentence_end(j)
    return min(j, limit)


def _from_json(found: list[Any], options: Options) -> _Listed:
    names: list[int] = []
    stray: list[str] = []
    for value in found:
        text = str(value)
        exact = options.plain.get(" ".join(text.split()))
        listed = _Listed((exact,)) if exact is not None else _from_text(text, options)
        if listed.reason:
            return listed
        names += listed.names
        # an entry that is no option is one stray, commas and all
        stray += (
            listed.stray if listed.names or not isinstance(value, str) or len(found) == 1 else [text.strip()]
        )
    return _Listed(tuple(dict.fromkeys(names)), tuple(dict.fromkeys(stray)), True)


def _ask(item: Item, style: str | None) -> str:
    return prompt("list", item, style)


def _check(item: Item) -> Item:
    item = checked_options(item, at_least=1)
    if not item.answer:
        raise fault(item, "list needs one or more answers")
    return as_keyed(item)


FORMAT = Format(
    name="list",
    fields=("question", "options", "answer", "context"),
    answered="with every option that is right, by letter or text",
    read_as="the options' texts in the order given, and entries that are no option as stray",
    ask=_ask,
    read=_read,
    check=_check,
)
