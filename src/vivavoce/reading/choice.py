"""Reading one choice out of a response: what a cue announces, else a line that is an answer, else the body.

Two cues that disagree are unreadable unless the words between them take the first one back.
"""

import itertools
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from vivavoce.language.tokens import CLAUSE, COMMA, LINE, NONE, PARAGRAPH, Doc, has_any
from vivavoce.reading import lexicon as words
from vivavoce.reading.answer_markers import Cue, cues, outright, retracts
from vivavoce.reading.choices import Choice, distinct, never_rejected
from vivavoce.reading.options import Mention, Options
from vivavoce.reading.verdicts import (
    JudgedMention,
    Verdict,
    all_but,
    chain,
    judged_mentions,
    not_rejected,
    rejecting_head,
)

_LEADS = words.FILLERS | words.JOINERS | words.PREDICATE | words.CHOSEN_LEFT
_CORRECTS = words.RETRACTING | words.RETRACTIONS
_CORRECTS_OR_FILLS = _CORRECTS | words.FILLERS
_CORRECTS_OR_LEADS = _CORRECTS | words.LIGHT
_AROUND_CHOICE = words.LIGHT | words.JOINERS
_NO_ANSWER_HEADS = words.EXPLAINING_HEADS | words.WEIGHING_HEADS
_BEFORE_REASONED = words.LIGHT | words.HEDGED_LEADS
_OPENS_AGAIN = words.HEDGES | frozenset({"but", "however", "though", "although", "yet", "unless"})


class ChoiceReader:
    """The reader of one response to one item."""

    def __init__(self, text: str, options: Options) -> None:
        self.options = options
        self.doc = Doc(text)
        self.texts = self.mentions()
        self._starts = [mention.i for mention in self.texts]

    def mentions(self) -> list[Mention]:
        """The options that the response names by their text."""
        return self.options.names(self.doc)

    def judged(self, i: int, j: int, *, claimed: bool = False) -> list[JudgedMention]:
        """The mentions in tokens i to j-1 with their verdicts; `claimed` where an answer is expected."""
        texts = self.texts[bisect_left(self._starts, i) : bisect_left(self._starts, j)]
        return judged_mentions(self.doc, self.options, texts, i, j, claimed=claimed)

    def choice(self, refused: Callable[[], bool] = lambda: False) -> Choice:
        """The choice. Where the response also refuses, an option merely named in the body does not count."""
        for step in (self._from_cues, self._from_lines, self._from_reason, self._from_verdicts):
            if (choice := step()) is not None:
                return choice
        choice = self._from_body()
        if choice is not None and not choice.reason and refused():
            choice = None
        return choice or Choice(reason="it names no option", silent=True)

    def settles(self) -> bool:
        """True if a cue or a line of its own gives the answer, be it readable or not."""
        choice = self._from_cues() or self._from_lines()
        return choice is not None and not choice.silent

    # --- cues

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
        claims = self._with_corrections(claims)
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

    def _with_corrections(self, claims: list[tuple[Cue, Choice]]) -> list[tuple[Cue, Choice]]:
        """The claims, with a sentence such as "Wait, actually C." after the last one."""
        last = claims[-1][0]
        corrections = []
        for i, j in self.doc.sentences(last.j, len(self.doc)):
            position, choice = self._corrected(i, j)
            if choice is not None:
                corrections.append((Cue(i, position, j, False), choice))
        return [*claims, *corrections]

    def _corrects_from(self, i: int) -> bool:
        """True if the sentence at token i begins as a correction does: "No, C", not "No fever was seen"."""
        if self.doc.forms[i] != "no" or self.doc.ends(i + 1) or self.doc.forms[i + 1] in _CORRECTS_OR_LEADS:
            return self.doc.forms[i] in _CORRECTS
        return self.options.label_at(self.doc, i + 1, claimed=True, i=i + 1) is not None

    def _corrected(self, i: int, j: int) -> tuple[int, Choice | None]:
        """Where the choice begins in a sentence such as "No wait, C", and what it is."""
        if not self._corrects_from(i):
            return i, None
        position = i
        while position < j and self.doc.forms[position] in _CORRECTS_OR_LEADS:
            if (
                position > i
                and self.options.label_at(self.doc, position, claimed=True, i=position) is not None
            ):
                break
            position += 1
        return position, self.pure(position, j)

    # --- lines that are an answer

    def pure(self, i: int, j: int) -> Choice | None:
        """The choice if tokens i to j-1 hold nothing but it; None otherwise."""
        if i >= j:
            return None
        judged = self.judged(i, j, claimed=True)
        if not judged or len(not_rejected(judged)) < len(judged):
            return None
        covered = {k for s in judged for k in range(s.mention.i, s.mention.j)}
        for k in range(i, j):
            if k not in covered and self.doc.forms[k] not in _AROUND_CHOICE:
                return None
        return self.settle(judged)

    def _from_lines(self) -> Choice | None:
        """The choice of the lines that are nothing but an answer.

        A line that begins with a letter and its text may restate the options, so that such lines count only
        where they agree, or no other line answers.
        """
        plain, restated = self._line_choices()
        if not plain:
            plain = restated
        elif len(distinct(restated)) == 1:
            plain = [*plain, *restated]
        kinds = distinct(plain)
        if len(kinds) == len(self.options) > 2:
            return None  # the options, repeated one to a line
        if len(kinds) < 2:
            return kinds[0] if kinds else None
        if len(distinct(restated)) > 1:
            return None
        names = [name for choice in kinds for name in choice.names]
        if len(names) > 1:
            return Choice(reason=self.many(names))
        return Choice(reason=next(choice.reason for choice in kinds if choice.reason))

    def _line_choices(self) -> tuple[list[Choice], list[Choice]]:
        """The choices of lines that answer, and of those that begin with a letter and its text."""
        plain: list[Choice] = []
        restated: list[Choice] = []
        asserted = self._last_assertion()
        for i, j in self.doc.sentences():
            if self._asks(j) and j <= asserted:
                continue
            if (plain or restated) and (correction := self._corrected(i, j)[1]) is not None:
                plain, restated = [correction], []
                continue
            position = i + 1 if self.doc.breaks[i] >= LINE and self._enumerated(i, j) else i
            choice = (
                self.pure(position, j)
                or self._after_label(i, j)
                or self._at_end(position, j)
                or self._after_reason(position, j)
            )
            if choice is not None:
                (restated if self._restates(i, position, j) else plain).append(choice)
        return plain, restated

    def _restates(self, i: int, position: int, j: int) -> bool:
        """True if the line at token i begins with a letter and its text."""
        judged = self.judged(position, j, claimed=True)
        return self.doc.breaks[i] >= LINE and bool(judged) and judged[0].mention.by == "both"

    def _enumerated(self, i: int, j: int) -> bool:
        """True for a number that counts an entry: "2. Heparin", "2) Heparin"."""
        return i + 1 < j and self.doc.tokens[i].kind == "n" and self.doc.gap(i + 1).strip()[:1] in {".", ")"}

    def _after_label(self, i: int, j: int) -> Choice | None:
        """The choice after a short label in any language, "Ergebnis: B"; nothing after "Incorrect:"."""
        for p in range(i + 1, min(j, i + 6)):
            if self.doc.breaks[p] == CLAUSE and self.doc.gap_has(p, ":："):
                head = self.doc.forms[i:p]
                if has_any(head, _NO_ANSWER_HEADS) or rejecting_head(head) or self.judged(i, p, claimed=True):
                    return None
                return self.pure(p, j)
        return None

    def _at_end(self, i: int, j: int) -> Choice | None:
        """The choice at the end of a sentence that weighs others: "A is possible, but B", "so C"."""
        for k in range(j - 1, max(i, j - 12), -1):
            if self.doc.forms[k] in words.SETTLING and all_but(self.doc, k, i) is None:
                # "A, but it might also be B" settles on neither
                weighed = self.doc.forms[k] == "also" and has_any(self.doc.forms[i:k], words.MAYS)
                return None if weighed else self.pure(k + 1, j) or self._leaning(k + 1, j)
        return None

    def _leaning(self, k: int, j: int) -> Choice | None:
        """The choice behind words such as "I lean towards", from token k on."""
        while k < j and self.doc.forms[k] in _BEFORE_REASONED:
            k += 1
        return self.pure(k, j)

    def _after_reason(self, i: int, j: int) -> Choice | None:
        """The choice behind a reason that leads a sentence: "Since A is slow, B."."""
        if self.doc.forms[i] not in words.REASONS:
            return None
        comma = next((k for k in range(j - 1, i + 3, -1) if self.doc.breaks[k] == COMMA), None)
        return None if comma is None else self.pure(comma, j)

    def _last_assertion(self) -> int:
        """Where the last sentence that is no question ends: a question counts only behind it."""
        return max((j for _, j in self.doc.sentences() if not self._asks(j)), default=0)

    def _asks(self, j: int) -> bool:
        return "?" in self.doc.gap(j) or "？" in self.doc.gap(j)

    # --- the body

    def _body(self) -> list[JudgedMention]:
        """The mentions of all sentences that assert something, or are the last question."""
        judged: list[JudgedMention] = []
        asserted = self._last_assertion()
        for i, j in self.doc.sentences():
            if not self._asks(j) or j > asserted:
                judged += self.judged(i, j)
        return judged

    def _from_reason(self) -> Choice | None:
        """The choice of "Probably B, because A is too slow": what the reason names does not disturb it.

        None if the reason or a later sentence calls another option right, leaves one open or takes the choice
        back.
        """
        for i, j in self.doc.sentences():
            if judged := self.judged(i, j, claimed=True):
                return self._reasoned(i, j, judged)
        return None

    def _reasoned(self, i: int, j: int, judged: Sequence[JudgedMention]) -> Choice | None:
        """The choice of the sentence in tokens i to j-1, the first that names options."""
        first = judged[0].mention
        if judged[0].verdict == "rejected" or not self._is_reasoned(i, first):
            return None
        rivals = [s for s in (*judged[1:], *self._later(j)) if s.names != first.names]
        weighed = [s for s in rivals if self._is_weighed(j, s.mention)]
        if not weighed and self._is_contested(first, rivals, j):
            return None
        return self.settle([judged[0], *weighed])  # two in "possibly B, because ...; possibly D"

    def _is_reasoned(self, i: int, first: Mention) -> bool:
        """True if nothing but a hedge stands before a mention, and the reason right behind it."""
        # "I am not sure, but B because ...": the words before "but" say nothing of B
        i = next((k + 1 for k in range(first.i - 1, i, -1) if self.doc.forms[k] == "but"), i)
        if first.j >= len(self.doc) or not _BEFORE_REASONED.issuperset(self.doc.forms[i : first.i]):
            return False
        as_well = self.doc.forms[first.j + 1 : first.j + 2] == ["well"]
        return self.doc.forms[first.j] in words.REASONS and not as_well

    def _later(self, j: int) -> list[JudgedMention]:
        """The mentions of the sentences from token j on, and the choices that are explained there."""
        judged: list[JudgedMention] = []
        for a, b in self.doc.sentences(j):
            reasoned = [s for s in self.judged(a, b, claimed=True)[:1] if self._is_reasoned(a, s.mention)]
            judged += [*self.judged(a, b), *reasoned]
        return judged

    def _is_weighed(self, j: int, mention: Mention) -> bool:
        """True for a further option with a hedge or a reason of its own: "...; A since A is oral"."""
        if self.doc.forms[mention.i - 1] in words.HEDGED or self._is_reasoned(mention.i, mention):
            return True
        return mention.i >= j and mention.j < len(self.doc) and self.doc.forms[mention.j] in words.REASONS

    def _is_contested(self, first: Mention, rivals: Iterable[JudgedMention], j: int) -> bool:
        """True if a choice is taken back, or another is called right or turned to in the sentence up to j."""
        if retracts(self.doc, first.j, len(self.doc)) or any(s.verdict == "chosen" for s in rivals):
            return True
        last_turn = max((s.mention.i for s in rivals if s.mention.i < j), default=first.j)
        return has_any(self.doc.forms[first.j : last_turn], _OPENS_AGAIN)

    def _from_verdicts(self) -> Choice | None:
        """The one option that a sentence calls the right one."""
        chosen = [s for s in self._body() if s.verdict == "chosen"]
        return self._agreed_verdict(chosen) if chosen else None

    def _agreed_verdict(self, chosen: Sequence[JudgedMention]) -> Choice:
        """The option that all sentences agree on, or the last one that takes the others back."""
        choice = self.settle(chosen)
        if choice.names and self._outdone(choice.names):
            return Choice(reason="another option is called better")
        last = chosen[-1]
        rivals = [s for s in chosen[:-1] if s.names != last.names]
        if choice.reason and rivals and retracts(self.doc, rivals[-1].mention.j, last.mention.i):
            return self.settle([last])
        return choice

    def _outdone(self, names: tuple[int, ...]) -> bool:
        """True if another option is called better than the one chosen: "but D would be better"."""
        rivals = [s.mention for s in self._body() if s.names != names and s.verdict != "rejected"]
        return any(
            self.doc.forms[rival.i - 1] in {"but", "however", "though", "yet"}
            and "better" in self.doc.forms[rival.j : rival.j + 3]
            for rival in rivals
        )

    def _from_body(self) -> Choice | None:
        """The one option that is named and not turned down, else the only capital that can be a label."""
        judged = self._body()
        verdicts: tuple[Verdict, ...] = ("named", "tentative")
        for verdict in verdicts:
            if live := never_rejected(judged, verdict):
                return self.settle(live)
        if not_rejected(judged):
            return None
        letters = self._bare_letters()
        return self.settle(letters) if letters else None

    def _bare_letters(self) -> list[JudgedMention]:
        """The capitals of the whole text that would be labels where an answer is expected."""
        judged: list[JudgedMention] = []
        for i, j in self.doc.sentences():
            judged += not_rejected(self.judged(i, j, claimed=True))
        return [s for s in judged if s.mention.by == "label" and s.names]
