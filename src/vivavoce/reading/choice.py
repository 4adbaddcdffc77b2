"""Reading one choice out of a response: what a cue announces, else a line that is an answer, else the body.

The body is all that a response asserts.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from vivavoce.language.tokens import CLAUSE, COMMA, LINE, NONE, has_any
from vivavoce.reading import lexicon as words
from vivavoce.reading import step_words
from vivavoce.reading.answer_markers import is_open, retracts
from vivavoce.reading.claims import Choice, ClaimReader, distinct, never_rejected, rejected_names
from vivavoce.reading.labels import conclusions
from vivavoce.reading.mentions import Verdict
from vivavoce.reading.options import Mention
from vivavoce.reading.verdicts import JudgedMention, all_but, not_rejected, rejecting_head

_RANKS = frozenset({">", "<", ">=", "<="})
_CLOSING = 30
"""Words that may stand before a colon and the answer at the very end of a response."""
_SHORT_LABEL = 6
_OPEN_HEADS = words.NOT_LEFT | words.NOT_RIGHT | words.TENTATIVE_LEFT | frozenset(["avoid", "whether", "may"])
_NO_ANSWER_HEADS = words.EXPLAINING_HEADS | words.WEIGHING_HEADS
_BEFORE_REASONED = words.LIGHT | words.HEDGED_LEADS
_OPENS_AGAIN = words.HEDGES | frozenset({"but", "however", "though", "although", "yet", "unless"})


def _announces(head: Sequence[str]) -> bool:
    """True for the words of a label before an answer; a long one turns nothing down."""
    if has_any(head, _NO_ANSWER_HEADS) or rejecting_head(head):
        return False
    return len(head) < _SHORT_LABEL or not has_any(head, _OPEN_HEADS)


class ChoiceReader(ClaimReader):
    """The reader of one response to one item."""

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

    # --- lines that are an answer

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

    def _after_label(self, i: int, j: int) -> Choice | None:
        """The choice after a short label in any language, "Ergebnis: B"; nothing after "Incorrect:"."""
        reach = _CLOSING if j == len(self.doc) and not self._asks(j) else _SHORT_LABEL
        for p in range(i + 1, min(j, i + reach)):
            if self.doc.breaks[p] == CLAUSE and self.doc.gap_has(p, ":："):
                head = self.doc.forms[i:p]
                announces = not self.judged(i, p, claimed=True) and _announces(head)
                return self.pure(p, j) if announces else None
        return None

    def _at_end(self, i: int, j: int) -> Choice | None:
        """The choice at the end of a sentence that weighs others: "A is possible, but B", "so C"."""
        for k in range(j - 1, max(i, j - 12), -1):
            settling = self.doc.forms[k] in words.SETTLING or self.doc.forms[k] in conclusions()
            if settling and all_but(self.doc, k, i) is None:
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

    # --- the body

    def _body(self) -> list[JudgedMention]:
        """The mentions of all sentences that assert something, or are the last question."""
        judged: list[JudgedMention] = []
        asserted = self._last_assertion()
        for i, j in self.doc.sentences():
            if not self._asks(j) or j > asserted:
                judged += map(self._in_open_claim, self.judged(i, j))
            elif (verdict := self._reply(j)) is not None:
                judged += [s._replace(verdict=verdict) for s in self.judged(i, j)]
        return judged

    def _in_open_claim(self, judged: JudgedMention) -> JudgedMention:
        """A mention that is only weighed where its claim says nothing: "the answer would be A only if"."""
        if judged.verdict != "chosen" or not self._open_claims:
            return judged
        place = bisect_left(self._open_claims, (judged.mention.i + 1,)) - 1
        is_open = place >= 0 and judged.mention.i < self._open_claims[place][1]
        return judged._replace(verdict="tentative") if is_open else judged

    @cached_property
    def _open_claims(self) -> list[tuple[int, int]]:
        """Where claims stand that say nothing by themselves."""
        return [(cue.i, cue.j) for cue in self.cues if is_open(self.doc, cue)]

    def _reply(self, k: int) -> Verdict | None:
        """What the short sentence at token k replies to the question before it: "Heparin? No."."""
        reply = "".join(self.doc.forms[k : self.doc.sentence_end(k)]) if k < len(self.doc) else ""
        return "rejected" if reply in words.NOES else "chosen" if reply in words.YESES else None

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
        if self.doc.forms[mention.i - 1] in step_words.HEDGED or self._is_reasoned(mention.i, mention):
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
                return self._unless_lettered(self.settle(live))
        if not_rejected(judged):
            return None
        letters = self._bare_letters()
        return self.settle(letters) if letters else None

    def _unless_lettered(self, choice: Choice) -> Choice:
        """The choice of an option that is only named, unless a capital names another as an answer would."""
        if not choice.names:
            return choice
        rejected = rejected_names(self._body())
        letters = [s for s in self._bare_letters() if not rejected.issuperset(s.names)]
        names = {s.names[0] for s in letters if not self._is_ranked(s.mention)}
        return choice if names.issubset(choice.names) else Choice(reason=self.many((*choice.names, *names)))

    def _is_ranked(self, mention: Mention) -> bool:
        """True for the A and the C of "D > A > C"."""
        return mention.i > 0 and self.doc.forms[mention.i - 1] in _RANKS

    def _bare_letters(self) -> list[JudgedMention]:
        """The capitals of the whole text that would be labels where an answer is expected."""
        judged = [s for i, j in self.doc.sentences() for s in self.judged(i, j, claimed=True)]
        rejected = rejected_names(judged)
        letters = [s for s in judged if s.mention.by == "label" and s.verdict != "of the case"]
        live = [s for s in letters if not rejected.issuperset(s.names)]
        joined = filter(None, (self._joined_letter(s.mention.j) for s in live))
        return [*live, *(JudgedMention(mention, "named") for mention in joined)]

    def _joined_letter(self, k: int) -> Mention | None:
        """The capital that "and" at token k joins to a label, whatever follows: "A and C cancel out"."""
        doc, labels = self.doc, self.options.labels
        letter = doc.surface(k + 1, k + 2) if k + 1 < len(doc) and doc.forms[k] in {"and", "&"} else ""
        is_label = letter.isupper() and letter in labels and doc.breaks[k] == doc.breaks[k + 1] == NONE
        return Mention(k + 1, k + 2, (labels[letter],), "label") if is_label else None
