"""What a response lists: entries that stand by themselves, else the options that its sentences name."""

import itertools
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from typing import NamedTuple

from vivavoce.language.tokens import CLAUSE, COMMA, LINE, NONE, SENTENCE, has_any
from vivavoce.reading import lexicon as words
from vivavoce.reading import step_words
from vivavoce.reading.answer_markers import retracts
from vivavoce.reading.choice import ChoiceReader
from vivavoce.reading.clauses import Clauses
from vivavoce.reading.labels import lead_words, separators, turning_words
from vivavoce.reading.list_asides import (
    brackets_behind,
    heads_reason,
    is_aside,
    run_of_letters,
    says_no_more,
    turn_in,
    turns_others_down,
)
from vivavoce.reading.options import Mention
from vivavoce.reading.verdicts import JudgedMention, named_together, not_rejected, rejecting_head
from vivavoce.reading.word_roles import rejecting_words

_SPLIT = "a denial stands between options, and may be of either"
_EDGES = " \t\n*_`\"'“”‘’.,;:!·•-–—"
_ENTRY_WORDS = 8
_AROUND = words.LIGHT | words.JOINERS | words.RETRACTING | {"but", "give"}
_EXCEPTS = (words.EXCEPTS | words.NOT_LEFT) - {"but"}
_MAYS = words.MAYS - {"can"}
_DOUBTS = frozenset({"possibly", "maybe", "perhaps"})
_DROPS = words.EXCLUDES | {"remove", "delete", "without"}
_LETTER_JOINERS = frozenset({"e", "o", "y"})


@cache
def _around_names() -> frozenset[str]:
    """What may stand around an option in an entry, in any language."""
    return _AROUND | lead_words()


class Piece(NamedTuple):
    """An entry: what it names, or the text of a stray; `loose` marks prose, which is neither."""

    names: tuple[int, ...] = ()
    stray: str = ""
    loose: bool = False


class Listed(NamedTuple):
    """What a stretch of an answer lists. `strict`: entries stand by themselves, so that strays count."""

    names: tuple[int, ...] = ()
    stray: tuple[str, ...] = ()
    strict: bool = False
    reason: str | None = None


class ListReader(ChoiceReader):
    """The reader of a list."""

    _is_split = False
    """Whether a denial stands between options, of which it may turn down either."""

    def judged(self, i: int, j: int, *, claimed: bool = False) -> list[JudgedMention]:
        """What tokens i to j-1 say. A semicolon divides a letter from the entry after it: "A; Cough"."""
        judged: list[JudgedMention] = []
        mentions = super().judged(i, j, claimed=claimed)
        if "(" in self.doc.text or self._clauses_of_text is not None:
            mentions = list(map(self._in_its_clause, mentions))
        mentions = self._without_reasons(mentions)
        for s in mentions:
            position = s.mention.i
            divided = s.mention.by == "both" and not s.names and ";" in self.doc.gap(position + 1)
            option = self.options.labels.get(self.doc.surface(position, position + 1)) if divided else None
            if option is None:
                judged.append(s)
                continue
            judged.append(JudgedMention(Mention(position, position + 1, (option,), "label"), s.verdict))
            texts = self.texts[bisect_right(self._starts, position) : bisect_left(self._starts, s.mention.j)]
            judged += [JudgedMention(m, s.verdict) for m in texts]
        return judged

    def _in_its_clause(self, judged: JudgedMention) -> JudgedMention:
        """The mention, rejected where a word of any language turns it down in its clause, or as an aside."""
        may_be_aside = "(" in self.doc.text and judged.verdict == "named"
        if may_be_aside and is_aside(self.doc, self.options, judged.mention):
            return judged._replace(verdict="rejected")
        clauses = self._clauses_of_text
        if judged.verdict == "rejected" or not clauses or clauses.standing(judged.mention) != "rejected":
            return judged
        self._is_split = self._is_split or clauses.splits(judged.mention)
        return judged._replace(verdict="rejected")

    def _without_reasons(self, judged: list[JudgedMention]) -> list[JudgedMention]:
        """The mentions; those that head a reason are rejected: "C, as A and B are obsolete"."""
        if not has_any(self.doc.forms, words.REASONS):
            return judged
        first = judged[0].mention.i if judged else 0
        return [
            s._replace(verdict="rejected") if heads_reason(self.doc, self.options, s.mention, first) else s
            for s in judged
        ]

    @cached_property
    def _clauses_of_text(self) -> Clauses | None:
        """The clauses of the response; null where no word of another language can turn an option down."""
        may_reject = not self.doc.text.isascii() or has_any(self.doc.forms, rejecting_words())
        return Clauses(self.doc, self.options, self.texts) if may_reject else None

    def stretch(self, i: int, j: int) -> Listed:
        """What tokens i to j-1 list: entries where there are any, else what the sentences name."""
        names: list[int] = []
        stray: list[str] = []
        named: list[int] = []
        excepted: set[int] = set()
        strict = rejecting = corrects = False
        units = deque(self._units(i, j))
        while units:
            a, b = units.popleft()
            if self._asks(b) and b < j and self.doc.forms[b] in step_words.TURNS:
                continue  # "A and B? No: A and C"
            head = self._head(a, b)
            if head is not None:
                lead = self.doc.forms[a:head]
                if names and has_any(lead, words.EXPLAINING_HEADS):
                    break
                if head < b or not has_any(lead, words.EXPLAINING_HEADS):
                    rejecting = rejecting_head(lead)
                corrects = corrects or (bool(names) and retracts(self.doc, a, head))
                a = head
            if a >= b or rejecting:
                continue
            judged = self.judged(a, b, claimed=True)
            if judged and not _EXCEPTS.isdisjoint(self.doc.forms[a:b]):
                excepted.update(name for s in judged if self._is_excepted(s) for name in s.names)
            if corrects and (taken_out := self._taken_out(a, b, judged)):
                if not taken_out.issubset(names):
                    return Listed(reason=self._open(*judged))
                excepted.update(taken_out)
                continue
            if strict and self._speaks_of_another(a, b, judged, names):
                continue
            if strict and (denied := self._denied(a, judged).intersection(names)):
                if self.doc.forms[a] not in words.NOES and not retracts(self.doc, a, b):
                    return Listed(reason="it speaks against an option that it names")
                excepted.update(denied)
                continue
            reason = _SPLIT if self._is_split else self._hedge(judged)
            if reason is not None:
                return Listed(reason=reason)
            pieces = list(self._pieces(a, b, judged))
            loose = any(piece.loose for piece in pieces)
            clauses = self._clauses(a, b)
            if clauses and (loose or any(self._head(*clause) for clause in clauses[1:])):
                units.extendleft(reversed(clauses))
                continue
            if strict and (reason := self._aside(a, b, names)) is not None:
                return Listed(reason=reason)
            if strict and self._contrasts(a, b, pieces, names):
                continue
            if loose or (strict and self._explains(a, b)):
                is_cued = head is not None or (a > 0 and self.doc.breaks[a] < SENTENCE)
                claimed = is_cued or bool(pieces and pieces[0].names)
                named += self._in_prose(a, b, claimed=claimed)
                continue
            for piece in pieces:
                strict = strict or bool(piece.names)
                names += piece.names
                stray += [piece.stray] if piece.stray else []
        if not strict and named:
            return Listed(tuple(dict.fromkeys(named)), (), False)
        names = [name for name in names if name not in excepted]
        return Listed(tuple(dict.fromkeys(names)), tuple(dict.fromkeys(stray)), strict)

    def _taken_out(self, a: int, b: int, judged: Sequence[JudgedMention]) -> set[int]:
        """The options that a correction takes out: "Correction: drop B", "Correction: B is wrong"."""
        drops = has_any(self.doc.forms[a:b], _DROPS)
        return {name for s in judged if drops or s.verdict == "rejected" for name in s.names}

    def _denied(self, a: int, judged: Sequence[JudgedMention]) -> set[int]:
        """The options that a sentence at token a only turns down: "E is wrong"."""
        denies = self.doc.breaks[a] >= SENTENCE and not not_rejected(judged)
        return {name for s in judged for name in s.names} if denies else set()

    def _speaks_of_another(
        self, a: int, b: int, judged: Sequence[JudgedMention], names: Sequence[int]
    ) -> bool:
        """True for a sentence behind a list that only says something of others: "A, C. B is for gout."."""
        doc = self.doc
        if doc.breaks[a] < SENTENCE or any(name in names for s in judged for name in s.names):
            return False
        if not says_no_more(doc, [s.mention for s in judged], a, b):
            return False
        start = doc.last_break(a - 1, SENTENCE)
        in_line = len(self.judged(start, a)) > 1 and not doc.gap_has(a, "-*•")
        return (doc.breaks[a] == SENTENCE or in_line) and self.pure(start, a) is not None

    def _is_excepted(self, judged: JudgedMention) -> bool:
        """True for the B of "A to D except B", "A to D, but not B"."""
        k = judged.mention.i
        return judged.verdict == "rejected" and k > 0 and self.doc.forms[k - 1] in _EXCEPTS

    def clauses(self) -> list[tuple[int, int]]:
        """The sentences of the response, divided at semicolons."""
        if ";" not in self.doc.text:
            return self.doc.sentences()
        starts = [k for k in range(len(self.doc)) if self.doc.breaks[k] >= SENTENCE or ";" in self.doc.gap(k)]
        return list(zip(starts, [*starts[1:], len(self.doc)], strict=True)) if starts else []

    def _clauses(self, a: int, b: int) -> list[tuple[int, int]]:
        """The clauses of a sentence that semicolons divide, if the first of them is a list; else none."""
        starts = [a, *(k for k in range(a + 1, b) if ";" in self.doc.gap(k))] if ";" in self.doc.text else [a]
        clauses = list(zip(starts, [*starts[1:], b], strict=True))
        if len(clauses) < 2:
            return []
        first = list(self._pieces(*clauses[0], self.judged(*clauses[0], claimed=True)))
        return clauses if first and all(p.names for p in first) else []

    def _aside(self, a: int, b: int, names: list[int]) -> str | None:
        """Adds to `names` what a clause behind a list and a semicolon adds: "A and B; C is also a sign".

        The reason where it speaks of a further option without adding it or turning it down.
        """
        if ";" not in self.doc.gap(a) or not any(p.loose for p in self._pieces(a, b, self.judged(a, b))):
            return None
        further = [name for name in self._in_prose(a, b, claimed=True) if name not in names]
        if further and has_any(self.doc.forms[a:b], words.ADDS):
            names += further
        elif further:
            return (
                f"it leaves open which option is meant: {', '.join(self.options.texts[n] for n in further)}"
            )
        return None

    def _contrasts(self, a: int, b: int, pieces: Sequence[Piece], names: Sequence[int]) -> bool:
        """True for a sentence behind a list that says something else of further options.

        "A and B. C and D reflect function instead." Its words part it from the list.
        """
        if self.doc.breaks[a] != SENTENCE or not any(piece.stray for piece in pieces):
            return False
        named = {name for piece in pieces for name in piece.names}
        return named.isdisjoint(names) and has_any(self.doc.forms[a:b], words.CONTRASTS)

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

    def _explains(self, a: int, b: int) -> bool:
        return self.doc.breaks[a] == SENTENCE and b - a > _ENTRY_WORDS

    def _hedge(self, judged: Sequence[JudgedMention]) -> str | None:
        """The reason where a list leaves open which option is meant: "A or B"."""
        live = not_rejected(judged)
        for x, y in itertools.pairwise(live):
            if x.names != y.names and self._leaves_open(x.mention, y.mention):
                return self._open(x, y)
        unsure = [s for s in live if self._is_optional(s.mention)]
        is_open = 0 < len(unsure) < len(live) or self._are_doubted(live)
        return self._open(*(unsure or live)) if is_open else None

    def _are_doubted(self, live: Sequence[JudgedMention]) -> bool:
        """True for "possibly A, possibly C"."""
        return len(live) > 1 and all(self.doc.forms[s.mention.i - 1] in _DOUBTS for s in live)

    def _open(self, *judged: JudgedMention) -> str:
        """The reason for options left open."""
        texts = " or ".join(self.options.texts[n] for s in judged for n in s.names)
        return f"it leaves open which option is meant: {texts}"

    def _is_optional(self, mention: Mention) -> bool:
        """True for "C may be added", "C only if resistant", "C is an alternative"."""
        if self.doc.forms[mention.i - 1] in words.OPTIONALLY and mention.i:
            return True
        verb = self.doc.forms[mention.j : mention.j + 3]
        if verb[:1] == ["is"] and has_any(self.doc.forms[mention.j : mention.j + 4], words.OPTIONAL):
            return True
        if verb[:2] in (["only", "if"], ["only", "when"]) or verb[:1] == ["if"]:
            return True
        return len(verb) == 3 and verb[0] in _MAYS and verb[1] == "be" and verb[2] in words.LEFT_OPEN

    def _leaves_open(self, x: Mention, y: Mention) -> bool:
        separator = self.doc.forms[x.j : y.i]
        if not has_any(separator, words.HEDGES) or not named_together(self.doc, x, y):
            return False
        return "and" not in separator or "/" in separator  # "A and/or B" does, "A, and B or C" does not

    def _pieces(self, a: int, b: int, judged: Sequence[JudgedMention]) -> Iterator[Piece]:
        """The entries of tokens a to b-1."""
        starts = [s.mention.i for s in judged]
        rejected = [s.mention.i for s in judged if s.verdict == "rejected"]
        for i, end in self._bounds(a, b, judged):
            j = turn_in(self.doc, i, end, rejected)
            if i < j:
                yield from self._piece(i, j, judged[bisect_left(starts, i) : bisect_left(starts, j)])

    def _bounds(self, a: int, b: int, judged: Sequence[JudgedMention]) -> list[tuple[int, int]]:
        """Where entries begin and end: at commas, words like "and", and letters; not within brackets."""
        covered = {k for s in judged for k in range(s.mention.i + 1, s.mention.j)}
        starts = {s.mention.i for s in judged}
        lettered = {s.mention.i for s in judged if s.mention.by in {"label", "both"}}
        bounds: list[tuple[int, int]] = []
        begin, depth = a, 0
        for k in range(a, b):
            gap = self.doc.gap(k) if k > a else ""
            depth = brackets_behind(depth, gap)
            if k in covered or (depth and k not in starts):
                continue
            if k not in starts and self._separates(k, b):
                bounds.append((begin, k))
                begin = k + 1
            elif k > begin and (
                k in lettered or (k + 1 in starts and self._counts(k)) or any(c in ",;，；、،؛" for c in gap)
            ):
                # a letter divides too: "A. Fever B. Murmur"
                bounds.append((begin, k))
                begin = k
            explains = self.doc.forms[k] in words.EXPLAINS and self.doc.forms[k - 1 : k] != ["well"]
            if explains and begin > a and k > begin:
                return [*bounds, (begin, k)]  # "..., because": what follows is no entry
        return [*bounds, (begin, b)]

    def _counts(self, k: int) -> bool:
        """True for a number that heads an entry: the 2 of "1. Fever 2. Rash"."""
        return self.doc.tokens[k].kind == "n" and self.doc.gap(k + 1).strip() in {".", ")"}

    def _piece(self, i: int, j: int, judged: Sequence[JudgedMention]) -> list[Piece]:
        """What the entry of tokens i to j-1 names; empty where it turns options down."""
        live = not_rejected(judged)
        if judged and not live:
            return []
        if self._enumerated(i, j) and self.doc.gap(i + 1).strip() in {".", ")"}:
            i += 1
        if (letters := self._letters(i, j, bare=not judged)) is not None:
            return letters
        if not judged and (self.doc.forms[i] == "others" or turns_others_down(self.doc, i, j)):
            return []
        if not judged and self.doc.forms[i] in words.NO_ENTRY:
            return [Piece(loose=True)]
        starts = {s.mention.i for s in judged}
        around = _around_names() if live else _AROUND
        while i < j and self.doc.forms[i] in around and i not in starts and self._joins(i, j):
            i += 1
        if i >= j:
            return []
        if live:
            return [self._named_piece(i, j, live)]
        is_lead = self.doc.forms[i] in {"not", "no", "nor", "but"} or self._is_lead(i, j)
        if is_lead:
            return []
        if len(self.doc.surface(i, j)) == 1:
            return [self._unnamed_piece(i, j)]
        if turning_words().issuperset(self.doc.forms[i:j]):
            return []
        first = next((k for k in range(i, j) if self.doc.forms[k] not in lead_words()), j)
        return self._letters(first, j, bare=True) or [self._unnamed_piece(i, j)]

    def _is_lead(self, i: int, j: int) -> bool:
        """True for words that only lead to a list or end it: "Las correctas son la"; not for a capital."""
        text = self.doc.surface(i, j)
        return lead_words().issuperset(self.doc.forms[i:j]) and not (len(text) == 1 and text.isupper())

    def _letters(self, i: int, j: int, *, bare: bool) -> list[Piece] | None:
        """The entries if tokens i to j-1 are nothing but letters; small ones where no option is named."""
        surfaces = [self._surface(k) for k in range(i, j)]
        spaced = not any(self.doc.glued(k) for k in range(i + 1, j))
        if len(surfaces) > 1 and all(len(text) == 1 and "A" <= text <= "Z" for text in surfaces):
            # letters in a row, "A C E"; a range such as "A-E" is none
            return [self._letter(text) if spaced else Piece(loose=True) for text in surfaces]
        for labels in (self.options.lower, self.options.labels) if bare else (self.options.labels,):
            names = [labels[text] for text in surfaces if text in labels] if spaced else []
            if len(names) == len(surfaces):
                return [Piece(tuple(names))]
        run = run_of_letters(self.options, self.doc.surface(i, j)) if bare and len(surfaces) == 1 else ()
        return [Piece(run)] if run else None

    def _letter(self, text: str) -> Piece:
        name = self.options.labels.get(text)
        return Piece(stray=text) if name is None else Piece((name,))

    def _named_piece(self, i: int, j: int, live: Sequence[JudgedMention]) -> Piece:
        """An entry that names options: one with a remark, several letters, or prose."""
        first, is_single = live[0], len(live) == 1
        if is_single and self._alone(first, i, j):
            return Piece(first.names) if len(first.names) == 1 else Piece(stray=self._surface_text(i, j))
        if all(s.mention.by == "label" for s in live) and self._alone(first, i, first.mention.j):
            return Piece(tuple(name for s in live for name in s.names))
        return self._unnamed_piece(i, j) if is_single else Piece(loose=True)

    def _surface(self, k: int) -> str:
        return self.doc.surface(k, k + 1)

    def _joins(self, k: int, j: int) -> bool:
        """False for an E, O or Y that is an entry: small and before another, they mean "and" or "or"."""
        return self.doc.forms[k] not in _LETTER_JOINERS or (k + 1 < j and self._surface(k).islower())

    def _separates(self, k: int, j: int) -> bool:
        """True for a word such as "and" at token k; a single letter is one where it is small."""
        form = self.doc.forms[k]
        return form in separators() and self._joins(k, j) and (form != "i" or self._surface(k) == "i")

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
            or self._is_lead(k, j)
        )

    def _unnamed_piece(self, i: int, j: int) -> Piece:
        """An entry that is no option: a stray if it is short, else prose."""
        if j - i > _ENTRY_WORDS or has_any(self.doc.forms[i:j], words.PROSE):
            return Piece(loose=True)
        return Piece(stray=self._surface_text(i, j))

    def _surface_text(self, i: int, j: int) -> str:
        text = " ".join(self.doc.surface(i, j).replace("**", "").split()).strip(_EDGES)
        return text + ")" * (text.count("(") - text.count(")"))
