"""A list: every option that is right, in any order and in most of the ways people write lists.

What is no option is stray: it costs precision, not the item.
"""

import itertools
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

from vivavoce.core.records import Item, Reading
from vivavoce.core.registry import format
from vivavoce.formats.base import item_error, unanswered, unreadable
from vivavoce.formats.options import OptionsFormat, with_option_texts
from vivavoce.reading import lexicon as words
from vivavoce.reading.answer_markers import Cue, cues, retracts
from vivavoce.reading.choice import ChoiceReader
from vivavoce.reading.fields import json_values
from vivavoce.reading.markup import confirmed_rows, ticked_entries, untabled
from vivavoce.reading.mentions import Mention, Options
from vivavoce.reading.refusal import refuses
from vivavoce.reading.tokens import CLAUSE, COMMA, LINE, NONE, SENTENCE, has_any
from vivavoce.reading.verdicts import JudgedMention, named_together, not_rejected

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


class _List(ChoiceReader):
    """The reader of a list."""

    def judged(self, i: int, j: int, *, claimed: bool = False) -> list[JudgedMention]:
        """What tokens i to j-1 say. A semicolon divides a letter from the entry after it: "A; Cough"."""
        judged: list[JudgedMention] = []
        for s in super().judged(i, j, claimed=claimed):
            at = s.mention.i
            option = self.options.labels.get(self.doc.surface(at, at + 1))
            divided = s.mention.by == "both" and not s.names and ";" in self.doc.gap(at + 1)
            if not divided or option is None:
                judged.append(s)
                continue
            judged.append(JudgedMention(Mention(at, at + 1, (option,), "label"), s.verdict))
            judged += [JudgedMention(m, s.verdict) for m in self.texts if at < m.i < s.mention.j]
        return judged

    def stretch(self, i: int, j: int) -> _Listed:
        """What tokens i to j-1 list: entries where there are any, else what the sentences name."""
        names: list[int] = []
        stray: list[str] = []
        named: list[int] = []
        strict = rejecting = False
        for a, b in self._units(i, j):
            head = self._head(a, b)
            if head is not None:
                lead = self.doc.forms[a:head]
                if names and has_any(lead, words.EXPLAINING_HEADS):
                    break
                if head < b or not has_any(lead, words.EXPLAINING_HEADS):
                    rejecting = has_any(lead, words.REJECTING_HEADS)
                a = head
            if a >= b or rejecting:
                continue
            judged = self.judged(a, b, claimed=True)
            if (reason := self._hedge(judged)) is not None:
                return _Listed(reason=reason)
            pieces = list(self._pieces(a, b, judged))
            if any(piece.loose for piece in pieces) or (strict and self._explains(a, b)):
                named += self._in_prose(a, b, claimed=head is not None or self._cued(a))
                continue
            for piece in pieces:
                strict = strict or bool(piece.names)
                names += piece.names
                stray += [piece.stray] if piece.stray else []
        if not strict and named:
            return _Listed(tuple(dict.fromkeys(named)), (), False)
        return _Listed(tuple(dict.fromkeys(names)), tuple(dict.fromkeys(stray)), strict)

    def _in_prose(self, a: int, b: int, *, claimed: bool) -> list[int]:
        """The options that a sentence names without turning them down, else those it weighs."""
        judged = [s for s in self.judged(a, b, claimed=claimed) if len(s.names) == 1]
        firm = [s for s in judged if s.verdict in {"chosen", "named"}]
        return [s.names[0] for s in firm or judged if s.verdict != "rejected"]

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
                return None if self.judged(a, p, claimed=True) else p
            if p == b:
                return None
        return None

    def _cued(self, a: int) -> bool:
        return a > 0 and self.doc.breaks[a] < SENTENCE

    def _explains(self, a: int, b: int) -> bool:
        return self.doc.breaks[a] == SENTENCE and b - a > _ENTRY_WORDS

    def _hedge(self, judged: Sequence[JudgedMention]) -> str | None:
        """The reason where a list leaves open which option is meant: "A or B"."""
        live = not_rejected(judged)
        for x, y in itertools.pairwise(live):
            if x.names != y.names and self._leaves_open(x.mention, y.mention):
                texts = " or ".join(self.options.texts[n] for s in (x, y) for n in s.names)
                return f"it leaves open which option is meant: {texts}"
        return None

    def _leaves_open(self, x: Mention, y: Mention) -> bool:
        between = self.doc.forms[x.j : y.i]
        if not has_any(between, words.HEDGES) or not named_together(self.doc, x, y):
            return False
        return "and" not in between or "/" in between  # "A and/or B" does, "A, and B or C" does not

    def _pieces(self, a: int, b: int, judged: Sequence[JudgedMention]) -> Iterator[_Piece]:
        """The entries of tokens a to b-1."""
        starts = [s.mention.i for s in judged]
        for i, j in self._bounds(a, b, judged):
            if i < j:
                yield from self._piece(i, j, judged[bisect_left(starts, i) : bisect_left(starts, j)])

    def _bounds(self, a: int, b: int, judged: Sequence[JudgedMention]) -> list[tuple[int, int]]:
        """Where entries begin and end: at commas, words like "and", and letters; not within brackets."""
        inside = {k for s in judged for k in range(s.mention.i + 1, s.mention.j)}
        starts = {s.mention.i for s in judged}
        lettered = {s.mention.i for s in judged if s.mention.by in {"label", "both"}}
        bounds: list[tuple[int, int]] = []
        begin, depth = a, 0
        for k in range(a, b):
            gap = self.doc.gap(k) if k > a else ""
            depth = _depth(depth, gap)
            if k in inside or (depth and k not in starts):
                continue
            if k not in starts and self.doc.forms[k] in _SEPARATORS and self._joins(k, b):
                bounds.append((begin, k))
                begin = k + 1
            elif k > begin and (k in lettered or any(c in ",;，；、" for c in gap)):
                # a letter divides too: "A. Fever B. Murmur"
                bounds.append((begin, k))
                begin = k
            if self.doc.forms[k] in words.EXPLAINS and begin > a and k > begin:
                return [*bounds, (begin, k)]  # "..., because": what follows is no entry
        return [*bounds, (begin, b)]

    def _piece(self, i: int, j: int, judged: Sequence[JudgedMention]) -> list[_Piece]:
        """What the entry of tokens i to j-1 names; empty where it turns options down."""
        live = not_rejected(judged)
        if judged and not live:
            return []
        if self._enumerated(i, j) and self.doc.gap(i + 1).strip() in {".", ")"}:
            i += 1
        if (letters := self._letters(i, j, bare=not judged)) is not None:
            return letters
        if not judged and self.doc.forms[i] in words.NO_ENTRY:
            return [_Piece(loose=True)]
        starts = {s.mention.i for s in judged}
        while i < j and self.doc.forms[i] in _AROUND and i not in starts and self._joins(i, j):
            i += 1
        if i >= j:
            return []
        if live:
            return [self._named_piece(i, j, live)]
        return [] if self.doc.forms[i] in {"not", "no", "nor", "but"} else [self._unnamed_piece(i, j)]

    def _letters(self, i: int, j: int, *, bare: bool) -> list[_Piece] | None:
        """The entries if tokens i to j-1 are nothing but letters; small ones where no option is named."""
        surfaces = [self._surface(k) for k in range(i, j)]
        spaced = not any(self.doc.glued(k) for k in range(i + 1, j))
        if len(surfaces) > 1 and all(len(text) == 1 and "A" <= text <= "Z" for text in surfaces):
            # letters in a row, "A C E"; a range such as "A-E" is none
            return [self._letter(text) if spaced else _Piece(loose=True) for text in surfaces]
        for labels in (self.options.lower, self.options.labels) if bare else (self.options.labels,):
            names = [labels[text] for text in surfaces if text in labels] if spaced else []
            if len(names) == len(surfaces):
                return [_Piece(tuple(names))]
        run = self._run_of_letters(self.doc.surface(i, j)) if bare and len(surfaces) == 1 else ()
        return [_Piece(run)] if run else None

    def _letter(self, text: str) -> _Piece:
        name = self.options.labels.get(text)
        return _Piece(stray=text) if name is None else _Piece((name,))

    def _named_piece(self, i: int, j: int, live: Sequence[JudgedMention]) -> _Piece:
        """An entry that names options: one with a remark, several letters, or prose."""
        first, only = live[0], len(live) == 1
        if only and self._alone(first, i, j):
            return _Piece(first.names) if len(first.names) == 1 else _Piece(stray=self._surface_text(i, j))
        if all(s.mention.by == "label" for s in live) and self._alone(first, i, first.mention.j):
            return _Piece(tuple(name for s in live for name in s.names))
        return self._unnamed_piece(i, j) if only else _Piece(loose=True)

    def _surface(self, k: int) -> str:
        return self.doc.surface(k, k + 1)

    def _joins(self, k: int, j: int) -> bool:
        """False for an E, O or Y that is an entry: small and before another, they mean "and" or "or"."""
        return self.doc.forms[k] not in _LETTER_JOINERS or (k + 1 < j and self._surface(k).islower())

    def _alone(self, s: JudgedMention, i: int, j: int) -> bool:
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

    def _unnamed_piece(self, i: int, j: int) -> _Piece:
        """An entry that is no option: a stray if it is short, else prose."""
        if j - i > _ENTRY_WORDS or has_any(self.doc.forms[i:j], words.PROSE):
            return _Piece(loose=True)
        return _Piece(stray=self._surface_text(i, j))

    def _run_of_letters(self, text: str) -> tuple[int, ...]:
        """The letters of "ACD", three: each a label, each once; small letters only in order."""
        labels = [self.options.labels.get(letter.upper()) for letter in text]
        names = tuple(name for name in labels if name is not None)
        if not text.isalpha() or not len(names) == len(labels) == len(set(names)) > 1:
            return ()
        return names if text.isupper() or (text.islower() and list(names) == sorted(names)) else ()

    def _surface_text(self, i: int, j: int) -> str:
        text = " ".join(self.doc.surface(i, j).replace("**", "").split()).strip(_EDGES)
        return text + ")" * (text.count("(") - text.count(")"))


def _depth(depth: int, gap: str) -> int:
    """How many brackets are open behind a gap, if `depth` were before it."""
    opened, closed = gap.count("(") + gap.count("["), gap.count(")") + gap.count("]")
    # A bracket that only closes, as in "a)", must not hide a later one that opens.
    return max(0, depth + opened - closed)


def _from_text(text: str, options: Options) -> _Listed:
    reader = _List(ticked_entries(untabled(text, confirmed_rows)), options)
    claims = _claims(reader)
    if not claims:
        return _quiet(reader, text)
    cue, last = claims[-1]
    # A later list replaces an earlier one only if the text takes that back.
    for earlier, listed in claims[:-1]:
        if set(listed.names) != set(last.names) and not retracts(reader.doc, earlier.i + 1, cue.i):
            return _Listed(reason="two final answers that disagree")
    return last


def _claims(reader: _List) -> list[tuple[Cue, _Listed]]:
    """The lists that cues announce."""
    claims: list[tuple[Cue, _Listed]] = []
    markers = cues(reader.doc)
    for cue, limit in zip(markers, [*(c.k for c in markers[1:]), len(reader.doc)], strict=False):
        end = _list_end(reader, cue.i, cue.j, max(cue.j, limit))
        listed = reader.stretch(cue.i, end)
        # Models also box each option by itself: such boxes are one list, not rival answers.
        if claims and not listed.reason and _boxes_in_a_row(claims[-1][0], cue):
            before = claims.pop()[1]
            listed = _Listed(before.names + listed.names, before.stray + listed.stray, True, before.reason)
        if listed.names or (listed.stray and cue.firm) or listed.reason:
            claims.append((cue, listed))
    return claims


def _boxes_in_a_row(before: Cue, cue: Cue) -> bool:
    """True for boxes that are one list."""
    return cue.boxed and before.boxed and cue.k - before.j <= 3


def _quiet(reader: _List, text: str) -> _Listed:
    """The list of an answer without a cue; where it also refuses, options merely named do not count."""
    listed = reader.stretch(0, len(reader.doc))
    merely = not (listed.strict or listed.reason) and bool(listed.names or listed.stray)
    return _Listed() if merely and refuses(text) else listed


def _list_end(reader: _List, i: int, j: int, limit: int) -> int:
    """A claim goes on over the lines of a list: those that follow without a blank line, or after a colon."""
    doc = reader.doc
    multi = doc.breaks[i] >= LINE or (j < len(doc) and ":" in doc.gap(j)) or doc.gap_has(i, "-*•")
    while multi and j < limit and (doc.breaks[j] <= LINE or reader.pure(j, doc.sentence_end(j)) is not None):
        j = doc.sentence_end(j)
    return min(j, limit)


def _from_json(leaves: Sequence[Any], options: Options) -> _Listed:
    names: list[int] = []
    stray: list[str] = []
    for leaf in leaves:
        text = str(leaf)
        exact = options.exactly(text)
        listed = _Listed((exact,)) if exact is not None else _from_text(text, options)
        if listed.reason:
            return listed
        names += listed.names
        if listed.names or not isinstance(leaf, str) or len(leaves) == 1:
            stray += listed.stray
        else:
            stray.append(text.strip())  # an entry that is no option is one stray, commas and all
    return _Listed(tuple(dict.fromkeys(names)), tuple(dict.fromkeys(stray)), True)


@format("list")
class MultiSelect(OptionsFormat):
    """Every option that is right."""

    answered: ClassVar[str] = "with every option that is right, by letter or text"
    read_as: ClassVar[str] = "the options' texts in the order given, and entries that are no option as stray"
    several_answers: ClassVar[bool] = True
    fewest_options: ClassVar[int] = 1

    def read_options(self, answer: str, options: Options) -> Reading:
        """The options listed, and the entries that are no option."""
        leaves = json_values(answer)
        listed = _from_text(answer, options) if leaves is None else _from_json(leaves, options)
        if listed.reason is None and (listed.names or listed.stray):
            return Reading("ok", self.parsed(listed.names, options), listed.stray)
        if not (listed.names or listed.reason) and refuses(answer):
            return unanswered("a refusal without an answer")
        return unreadable(listed.reason or "it names no option")

    def check(self, item: Item) -> Item:
        """Needs an option or more, and one or more of them as the key."""
        item = super().check(item)
        if not item.answer:
            raise item_error(item, "list needs one or more answers")
        return with_option_texts(item)
