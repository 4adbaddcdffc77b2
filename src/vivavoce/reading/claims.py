"""What a response announces: the one option that a cue leads to, or why there is none.

Two cues that disagree are unreadable unless the words between them take the first one back.
"""

import itertools
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from vivavoce.language.tokens import NONE, PARAGRAPH, has_any, recent_doc
from vivavoce.reading import lexicon as words
from vivavoce.reading.answer_markers import Cue, cues, outright, retracts
from vivavoce.reading.labels import conclusions
from vivavoce.reading.mentions import Verdict
from vivavoce.reading.options import Mention, Options
from vivavoce.reading.verdicts import JudgedMention, chain, judged_mentions, not_rejected

_LEADS = words.FILLERS | words.JOINERS | words.PREDICATE | words.CHOSEN_LEFT
_CORRECTS_OR_FILLS = words.RETRACTING | words.RETRACTIONS | words.FILLERS
_AROUND_CHOICE = words.LIGHT | words.JOINERS


class Choice(NamedTuple):
    """The options a response settles on (one, if it can be read) or why there is none.

    `silent` is true where no option was named at all, so that a refusal explains it.
    """

    names: tuple[int, ...] = ()
    reason: str | None = None
    silent: bool = False

    def agrees(self, choice: "Choice") -> bool:
        """True if both settle on the same options, or both on none for a reason."""
        return self.names == choice.names and bool(self.reason) == bool(choice.reason)


def rejected_names(judged: Iterable[JudgedMention]) -> set[int]:
    """The options that are turned down."""
    return {name for s in judged if s.verdict == "rejected" for name in s.names}


def never_rejected(judged: Sequence[JudgedMention], verdict: Verdict) -> list[JudgedMention]:
    """The mentions of this verdict whose options are turned down nowhere."""
    rejected = rejected_names(judged)
    return [s for s in judged if s.verdict == verdict and not rejected.issuperset(s.names or (-1,))]


def distinct(choices: Iterable[Choice]) -> list[Choice]:
    """The choices that no earlier one agrees with."""
    kinds: list[Choice] = []
    for choice in choices:
        if not any(choice.agrees(kind) for kind in kinds):
            kinds.append(choice)
    return kinds


class ClaimReader:
    """The reader of what one response to one item announces."""

    def __init__(self, text: str, options: Options) -> None:
        self.options = options
        self.doc = recent_doc(text)
        self.texts = self.mentions()
        self._starts = [mention.i for mention in self.texts]

    def mentions(self) -> list[Mention]:
        """The options that the response names by their text."""
        return self.options.names(self.doc)

    def judged(self, i: int, j: int, *, claimed: bool = False) -> list[JudgedMention]:
        """The mentions in tokens i to j-1 with their verdicts; `claimed` where an answer is expected."""
        texts = self.texts[bisect_left(self._starts, i) : bisect_left(self._starts, j)]
        return judged_mentions(self.doc, self.options, texts, i, j, claimed=claimed)

    @cached_property
    def cues(self) -> list[Cue]:
        """Where the response announces an answer."""
        return cues(self.doc)

    def claim(self, i: int, j: int) -> tuple[Choice | None, int]:
        """What a claim in tokens i to j-1 settles on (None if on nothing), and where its words end."""
        judged = self.judged(i, j, claimed=True)
        start = self._first_choice(judged, i)
        if self._number_leads(judged, start, i, j):
            return None, j
        if start is None:
            return (Choice() if len(not_rejected(judged)) < len(judged) else None), j
        linked = chain(self.doc, judged, start)
        following = start + len(linked)
        if following < len(judged) and self._corrects(linked[-1], judged[following]):
            linked = chain(self.doc, judged, following)
        return self.settle(not_rejected(linked)), linked[-1].mention.j

    def _first_choice(self, judged: Sequence[JudgedMention], i: int) -> int | None:
        """The place of the first mention of a claim that can be its answer."""
        for n, mention in enumerate(judged):
            if mention.verdict != "rejected" and self._stands(mention.mention, i):
                return n
        return None

    def _number_leads(self, judged: Sequence[JudgedMention], start: int | None, i: int, j: int) -> bool:
        """True if a claim begins with a number that is no option: "25 mg", which no option says."""
        begins = {s.mention.i for s in judged}
        first = None if start is None else judged[start].mention.i
        head = next((k for k in range(i, j) if k in begins or self.doc.forms[k] not in words.FILLERS), j)
        if self._enumerated(head, j) and first == head + 1:
            head += 1  # "4. Alteplase": the text answers
        if head >= j or self.doc.tokens[head].kind != "n":
            return False
        return first is None or first > head

    def _enumerated(self, i: int, j: int) -> bool:
        """True for a number that counts an entry: "2. Heparin", "2) Heparin"."""
        return i + 1 < j and self.doc.tokens[i].kind == "n" and self.doc.gap(i + 1).strip()[:1] in {".", ")"}

    def _corrects(self, last: JudgedMention, following: JudgedMention) -> bool:
        """True if nothing but a retraction stands between two mentions: "B, no wait, C"."""
        if following.verdict == "rejected":
            return False
        a, b = last.mention.j, following.mention.i
        return retracts(self.doc, a, b) and _CORRECTS_OR_FILLS.issuperset(self.doc.forms[a:b])

    def _stands(self, mention: Mention, i: int) -> bool:
        """False for a text that another word makes a part of a longer name: "pulmonary hypertension"."""
        k = mention.i
        if mention.by != "text" or k <= i or self.doc.breaks[k] > NONE:
            return True
        if self.doc.forms[k - 1] in _LEADS or self.doc.tokens[k - 1].kind != "w":
            return True
        # in a long sentence any word may stand before an option
        return self.doc.sentence_end(k) - i > 12

    def settle(self, live: Iterable[JudgedMention]) -> Choice:
        """The one option that the mentions agree on, or why there is none."""
        names: list[int] = []
        mentions = list(live)
        for mention in mentions:
            if len(mention.names) != 1:
                return Choice(reason=self._unclear(mention))
            names += [name for name in mention.names if name not in names]
        if len(names) > 1:
            union = self._union(mentions)
            return Choice(reason=self.many(names)) if union is None else Choice((union,))
        return Choice(tuple(names))

    def _union(self, mentions: Sequence[JudgedMention]) -> int | None:
        """The option that is the ones named together, "Both A and B"; None without one, or for "A or B"."""
        union = self.options.unions.get(frozenset(s.names[0] for s in mentions))
        pairs = itertools.pairwise(s.mention for s in mentions)
        if union is None or any(has_any(self.doc.forms[a.j : b.i], words.HEDGES) for a, b in pairs):
            return None
        return union

    def many(self, names: Iterable[int]) -> str:
        """The reason for more than one option."""
        return f"two options for a single choice: {', '.join(self.options.texts[n] for n in names)}"

    def _unclear(self, judged: JudgedMention) -> str:
        surface = " ".join(self.doc.surface(judged.mention.i, judged.mention.j).split())
        if judged.names:
            return f"several options fit up to case or accents: {surface}"
        if self.options.is_unclear(surface):
            return f"{surface} is the label of one option and the text of another"
        if judged.mention.by == "label":
            return f"no option has the letter {surface}"
        return f"the letter and the text name different options: {surface}"

    def _from_cues(self) -> Choice | None:
        claims = self._claims()
        if not claims:
            return None
        cue, last = claims[-1]
        for earlier, choice in claims[:-1]:
            if not choice.agrees(last) and not retracts(self.doc, earlier.i + 1, cue.i):
                texts = ", ".join(self.options.texts[n] for c in (choice, last) for n in c.names)
                return Choice(reason=f"two final answers that disagree: {texts or 'one names no option'}")
        final = cue.boxed or "final" in self.doc.forms[max(0, cue.k - 2) : cue.k]
        return last if final else self._against_first_line(claims[0][0].k, last)

    def _against_first_line(self, cue: int, choice: Choice) -> Choice:
        """The choice of the cues, unless a first paragraph that is nothing but another answer contradicts it.

        A model that runs on into a new question announces the answer to that one.
        """
        end = self.doc.sentence_end(0)
        if end >= cue or self.doc.breaks[end] < PARAGRAPH or not choice.names:
            return choice
        first = self.pure(0, end)
        if first is None or first.names in {(), choice.names} or retracts(self.doc, end, cue):
            return choice
        return Choice(reason=self.many((*first.names, *choice.names)))

    def _claims(self) -> list[tuple[Cue, Choice]]:
        claims = [(cue, choice) for cue in self.cues if (choice := self._claimed(cue)) is not None]
        claims = outright(self.doc, claims) or claims
        # a sentence without a colon that names nothing ("the answer is simple") yields to one that does
        if all(choice.silent for _, choice in claims):
            return claims
        return [(cue, choice) for cue, choice in claims if cue.firm or not choice.silent]

    def _claimed(self, cue: Cue) -> Choice | None:
        """The choice that a cue announces; a short claim that names no option is one too, and silent."""
        choice, _ = self.claim(cue.i, cue.j)
        if choice is not None:
            return choice if choice.names or choice.reason else None
        short = cue.j - cue.i <= (10 if cue.firm else 4)
        if not short and self.doc.tokens[cue.i].kind != "n":
            return None
        surface = " ".join(self.doc.surface(cue.i, cue.j).split())
        return Choice(reason=f"the answer names no option: {surface}", silent=True)

    def pure(self, i: int, j: int) -> Choice | None:
        """The choice if tokens i to j-1 hold nothing but it; None otherwise."""
        if i >= j:
            return None
        judged = self.judged(i, j, claimed=True)
        if not judged or len(not_rejected(judged)) < len(judged):
            return None
        covered = {k for s in judged for k in range(s.mention.i, s.mention.j)}
        for k in range(i, j):
            form = self.doc.forms[k]
            if k not in covered and form not in _AROUND_CHOICE and form not in conclusions():
                return None
        return self.settle(judged)

    def _last_assertion(self) -> int:
        """Where the last sentence that is no question ends: a question counts only behind it."""
        return max((j for _, j in self.doc.sentences() if not self._asks(j)), default=0)

    def _asks(self, j: int) -> bool:
        return "?" in self.doc.gap(j) or "？" in self.doc.gap(j)
