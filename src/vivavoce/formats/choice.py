"""Reading one choice out of an answer: what a cue announces, else a line that is an answer, else the body.

Two cues that disagree are unreadable unless the words between them take the first one back.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import NamedTuple

from vivavoce.formats import words
from vivavoce.formats.claims import Said, chain, said
from vivavoce.formats.cues import Cue, cues, retracts
from vivavoce.formats.match import Mention, Options
from vivavoce.formats.tokens import CLAUSE, LINE, NONE, Doc

__all__ = ["Answer", "Choice"]

_LEADS = words.FILLERS | words.JOINERS | words.PREDICATE | words.CHOSEN_LEFT
_CORRECTS = words.RETRACTING | words.RETRACTIONS


class Answer(NamedTuple):
    """The options an answer settles on (one, if it can be read) or why there is none.

    `silent` is true where no option was named at all, so that a refusal explains it.
    """

    names: tuple[int, ...] = ()
    reason: str | None = None
    silent: bool = False


class Choice:
    """The reader of one answer to one item."""

    def __init__(self, text: str, options: Options) -> None:
        self.options = options
        self.doc = Doc(text)
        self.texts = self.mentions()
        self._starts = [m.i for m in self.texts]

    def mentions(self) -> list[Mention]:
        """The options that the answer names by their text."""
        return self.options.names(self.doc)

    def said(self, i: int, j: int, *, claimed: bool = False) -> list[Said]:
        """What tokens i to j-1 say."""
        texts = self.texts[bisect_left(self._starts, i) : bisect_left(self._starts, j)]
        return said(self.doc, self.options, texts, i, j, claimed=claimed)

    def read(self, refused: Callable[[], bool] = lambda: False) -> Answer:
        """The choice. Where the answer also refuses, an option merely named in the body does not count."""
        for step in (self._from_cues, self._from_lines, self._from_verdicts):
            if (answer := step()) is not None:
                return answer
        answer = self._from_body()
        if answer is not None and not answer.reason and refused():
            answer = None
        return answer or Answer(reason="it names no option", silent=True)

    # --- cues

    def claim(self, i: int, j: int) -> tuple[Answer | None, int]:
        """What a claim in tokens i to j-1 settles on (None if on nothing), and where its words end."""
        found = self.said(i, j, claimed=True)
        start = next(
            (n for n, s in enumerate(found) if s.verdict != "rejected" and self._stands(s.mention, i)), None
        )
        head = i
        while (
            head < j and self.doc.forms[head] in words.FILLERS and not any(s.mention.i == head for s in found)
        ):
            head += 1
        if self._enumerated(head, j) and start is not None and found[start].mention.i == head + 1:
            head += 1  # "4. Alteplase": the text answers
        if (
            head < j
            and self.doc.tokens[head].kind == "n"
            and (start is None or found[start].mention.i > head)
        ):
            return None, j
        if start is None:
            return (Answer() if any(s.verdict == "rejected" for s in found) else None), j
        linked = chain(self.doc, found, start)
        after = start + len(linked)
        if after < len(found) and found[after].verdict != "rejected":
            a, b = linked[-1].mention.j, found[after].mention.i
            between = self.doc.forms[a:b]
            if retracts(self.doc, a, b) and all(w in _CORRECTS or w in words.FILLERS for w in between):
                linked = chain(self.doc, found, after)
        live = [s for s in linked if s.verdict != "rejected"]
        return self.settle(live), linked[-1].mention.j

    def _stands(self, mention: Mention, i: int) -> bool:
        """False for a text that another word makes a part of a longer name: "pulmonary hypertension"."""
        k = mention.i
        return (
            mention.by != "text"
            or k <= i
            or self.doc.breaks[k] > NONE
            or self.doc.forms[k - 1] in _LEADS
            or self.doc.tokens[k - 1].kind != "w"
            or self.doc.sentence_end(k) - i > 12
        )

    def settle(self, live: Iterable[Said]) -> Answer:
        """The one option that the mentions agree on, or why there is none."""
        names: list[int] = []
        for s in live:
            if len(s.names) != 1:
                return Answer(reason=self._unclear(s))
            names += [n for n in s.names if n not in names]
        if len(names) > 1:
            return Answer(reason=self.many(names))
        return Answer(tuple(names))

    def many(self, names: Iterable[int]) -> str:
        """The reason for more than one option."""
        return f"two options for a single choice: {', '.join(self.options.texts[n] for n in names)}"

    def _unclear(self, s: Said) -> str:
        words_ = " ".join(self.doc.surface(s.mention.i, s.mention.j).split())
        if s.names:
            return f"several options fit up to case or accents: {words_}"
        if s.mention.by == "label":
            return f"no option has the letter {words_}"
        return f"the letter and the text name different options: {words_}"

    def _from_cues(self) -> Answer | None:
        claims: list[tuple[Cue, Answer]] = []
        for cue in cues(self.doc):
            answer, _ = self.claim(cue.i, cue.j)
            if answer is None:
                length = cue.j - cue.i
                if length <= (10 if cue.firm else 4) or self.doc.tokens[cue.i].kind == "n":
                    shown = " ".join(self.doc.surface(cue.i, cue.j).split())
                    claims.append((cue, Answer(reason=f"the answer names no option: {shown}", silent=True)))
            elif answer.names or answer.reason:
                claims.append((cue, answer))
        # a sentence without a colon that names nothing ("the answer is simple") yields to one that does
        if any(not a.silent for _, a in claims):
            claims = [(c, a) for c, a in claims if c.firm or not a.silent]
        if not claims:
            return None
        claims = self._corrections(claims)
        cue, last = claims[-1]
        for earlier, answer in claims[:-1]:
            same = (answer.names, bool(answer.reason)) == (last.names, bool(last.reason))
            if not same and not retracts(self.doc, earlier.i + 1, cue.i):
                named = [self.options.texts[n] for a in (answer, last) for n in a.names]
                return Answer(
                    reason=f"two final answers that disagree: {', '.join(named) or 'one names no option'}"
                )
        return last

    def _corrections(self, claims: list[tuple[Cue, Answer]]) -> list[tuple[Cue, Answer]]:
        """The claims, with a sentence such as "Wait, actually C." after the last one."""
        last = claims[-1][0]
        for i, j in self.doc.sentences(last.j, len(self.doc)):
            at, answer = self._corrected(i, j)
            if answer is not None:
                claims = [*claims, (Cue(i, at, j, False), answer)]
        return claims

    def _corrected(self, i: int, j: int) -> tuple[int, Answer | None]:
        """Where the choice begins in a sentence such as "No wait, C", and what it is."""
        if self.doc.forms[i] not in _CORRECTS:
            return i, None
        at = i
        while at < j and (self.doc.forms[at] in _CORRECTS or self.doc.forms[at] in words.LIGHT):
            if self.options.label_at(self.doc, at, claimed=True, i=at) is not None and at > i:
                break
            at += 1
        return at, self.pure(at, j)

    # --- lines that are an answer

    def pure(self, i: int, j: int) -> Answer | None:
        """The choice if tokens i to j-1 hold nothing but it; None otherwise."""
        if i >= j:
            return None
        found = self.said(i, j, claimed=True)
        covered = {k for s in found for k in range(s.mention.i, s.mention.j)}
        rest = (self.doc.forms[k] for k in range(i, j) if k not in covered)
        negations = any(s.verdict == "rejected" for s in found)
        if not found or negations or not all(w in words.LIGHT or w in words.JOINERS for w in rest):
            return None
        return self.settle(found)

    def _from_lines(self) -> Answer | None:
        plain: list[Answer] = []
        asserted = self._asserted()
        restated: list[Answer] = []
        for i, j in self.doc.sentences():
            if self._asked(j) and j <= asserted:
                continue
            if (plain or restated) and (corrected := self._corrected(i, j)[1]) is not None:
                plain, restated = [corrected], []
                continue
            at = i + 1 if self.doc.breaks[i] >= LINE and self._enumerated(i, j) else i
            answer = self.pure(at, j) or self._after_label(i, j) or self._settled(at, j)
            if answer is None:
                continue
            found = self.said(at, j, claimed=True)
            headed = self.doc.breaks[i] >= LINE and bool(found) and found[0].mention.by == "both"
            (restated if headed else plain).append(answer)
        if len(_distinct(restated)) == 1 or not plain:
            plain = restated if not plain else [*plain, *restated]
        kinds = _distinct(plain)
        if len(kinds) == len(self.options) > 2:
            return None  # the options, repeated one to a line
        if len(kinds) > 1:
            if restated and len(_distinct(restated)) > 1:
                return None
            named = [n for a in kinds for n in a.names]
            return Answer(
                reason=self.many(named) if len(named) > 1 else next(a.reason for a in kinds if a.reason)
            )
        return kinds[0] if kinds else None

    def _enumerated(self, i: int, j: int) -> bool:
        """True for a number that counts an entry: "2. Heparin", "2) Heparin"."""
        return i + 1 < j and self.doc.tokens[i].kind == "n" and self.doc.gap(i + 1).strip()[:1] in {".", ")"}

    def _after_label(self, i: int, j: int) -> Answer | None:
        """The choice after a short label in any language, "Ergebnis: B"; nothing after "Incorrect:"."""
        for p in range(i + 1, min(j, i + 6)):
            if self.doc.breaks[p] == CLAUSE and any(c in ":：" for c in self.doc.gap(p)):
                head = self.doc.forms[i:p]
                if any(w in words.REJECTING_HEADS or w in words.EXPLAINING_HEADS for w in head):
                    return None
                return None if self.said(i, p, claimed=True) else self.pure(p, j)
        return None

    def _settled(self, i: int, j: int) -> Answer | None:
        """The choice at the end of a sentence that weighs others: "A is possible, but B", "so C"."""
        for k in range(j - 1, max(i, j - 12), -1):
            if self.doc.forms[k] in words.SETTLING and self.doc.forms[k - 1] not in words.ALL_BUT:
                open_ = self.doc.forms[k] == "also" and any(w in words.MAYS for w in self.doc.forms[i:k])
                return None if open_ else self.pure(k + 1, j)
        return None

    def _asserted(self) -> int:
        """Where the last sentence that is no question ends: a question counts only behind it."""
        return max((j for _, j in self.doc.sentences() if not self._asked(j)), default=0)

    def _asked(self, j: int) -> bool:
        return "?" in self.doc.gap(j) or "？" in self.doc.gap(j)

    # --- the body

    def _body(self) -> list[Said]:
        found: list[Said] = []
        asserted = self._asserted()
        for i, j in self.doc.sentences():
            if not self._asked(j) or j > asserted:
                found += self.said(i, j)
        return found

    def _from_verdicts(self) -> Answer | None:
        """The one option that a sentence calls the right one."""
        found = self._body()
        chosen = [s for s in found if s.verdict == "chosen"]
        answer = self.settle(chosen) if chosen else None
        if answer is not None and answer.reason and len(chosen) > 1:
            last = chosen[-1]
            before = [s for s in chosen[:-1] if s.names != last.names]
            if before and retracts(self.doc, before[-1].mention.j, last.mention.i):
                return self.settle([last])
        return answer

    def _from_body(self) -> Answer | None:
        """The one option that is named and not turned down, else the only capital that can be a label."""
        found = self._body()
        rejected = {n for s in found if s.verdict == "rejected" for n in s.names}
        for verdict in ("named", "tentative"):
            live = [s for s in found if s.verdict == verdict and not rejected.issuperset(s.names or (-1,))]
            if live:
                return self.settle(live)
        if any(s.verdict != "rejected" for s in found):
            return None
        claimed = [s for i, j in self.doc.sentences() for s in self.said(i, j, claimed=True)]
        letters = [s for s in claimed if s.mention.by == "label" and s.names and s.verdict != "rejected"]
        return self.settle(letters) if letters else None


def _distinct(answers: list[Answer]) -> list[Answer]:
    kinds: list[Answer] = []
    for a in answers:
        if not any(a.names == b.names and bool(a.reason) == bool(b.reason) for b in kinds):
            kinds.append(a)
    return kinds
