"""One choice of several: a clear letter in front of everything beats what is named behind it."""

from bisect import bisect_left
from collections.abc import Callable, Sequence

from vivavoce.language.tokens import CLAUSE, LINE, NONE, SENTENCE, has_any
from vivavoce.reading import lexicon as words
from vivavoce.reading.answer_markers import Cue, is_broken_off, is_open, retracts
from vivavoce.reading.claims import Choice
from vivavoce.reading.clauses import KnownWordsReader
from vivavoce.reading.labels import explanation_heads, joining, label_nouns, sentence_openers
from vivavoce.reading.mentions import ARTICLES, begins_sentence
from vivavoce.reading.options import Options
from vivavoce.reading.verdicts import JudgedMention

_MARKS = "*_`\"'“”‘’ "
_CLOSING = frozenset("*_`\"'”’")
"""What closes the emphasis of a letter."""
_SIGNS = frozenset(".):,：。、），]-–—")
_LONGEST_ROW = 12
_LONGEST_LEAD = 3
"""Words of an announcement in front, before its noun: "The correct answer"."""
_CONDITIONS = frozenset({"if", "unless", "when", "were", "had"})


class SingleChoiceReader(KnownWordsReader):
    """A reader of one choice that may stand in front, before an explanation of any length."""

    def __init__(self, text: str, options: Options) -> None:
        super().__init__(text, options)
        self._front_end = 0
        """The token behind the letter in front, once it is looked for."""

    def choice(self, refused: Callable[[], bool] = lambda: False) -> Choice:
        """The letter in front, unless a final answer or a correction behind it says otherwise."""
        front = self._front()
        if front is None:
            return self._without_front(refused)
        claims = [claim for claim in self._claims() if self._may_contradict(claim[0])]
        if not claims:
            return front
        cue, last = claims[-1]
        if last.silent or last.agrees(front):
            return front
        final = cue.boxed or "final" in self.doc.forms[max(0, cue.k - 2) : cue.k]
        if final or not front.names or retracts(self.doc, 1, cue.i):
            return super().choice(refused)
        return last if last.reason else Choice(reason=self.many((*front.names, *last.names)))

    def _without_front(self, refused: Callable[[], bool]) -> Choice:
        """The choice of the response; none that goes against a letter in front, even among unknown words."""
        choice = super().choice(refused)
        if not choice.names:
            return choice
        letter = self._letter_or_article()
        if letter is not None and letter not in choice.names:
            return Choice(reason=self.many((letter, *choice.names)))
        self._any_words = True
        front = self._front()
        self._any_words = False
        if front is None or front.names in {(), choice.names}:
            return choice
        return Choice(reason=self.many((*front.names, *choice.names)))

    def _letter_or_article(self) -> int | None:
        """The option of the letter in front of "A Heparin is too slow", which may be an article too."""
        doc = self.doc
        if len(doc) < 2 or doc.surface(0, 1) not in ARTICLES or doc.gap(1) != " ":
            return None
        text = next((text for text in self.texts[:1] if text.i == 1), None)
        if text is None or not begins_sentence(doc, 1) or doc.ends(text.j):
            return None
        return self.options.labels.get(doc.surface(0, 1)) if doc.forms[text.j] in words.PREDICATE else None

    def _from_cues(self) -> Choice | None:
        """The choice of the cues, unless a last sentence that is nothing but another answer contradicts it.

        Such a line may restate the options, "D. Alteplase", which is none.
        """
        choice = super()._from_cues()
        if choice is None or not choice.names:
            return choice
        # a sentence that a limit cut contradicts nothing
        strength = SENTENCE if self.doc.gap_has(len(self.doc), ".!?。！？") else LINE
        i, j = self.doc.last_break(len(self.doc) - 1, strength), len(self.doc)
        if i < self.cues[-1].j or any(s.mention.by == "both" for s in self.judged(i, j)):
            return choice
        last = self.pure(i, j)
        if last is None or last.names in {(), choice.names}:
            return choice
        return Choice(reason=self.many((*choice.names, *last.names)))

    def _may_contradict(self, cue: Cue) -> bool:
        """False for the announcement of the front, and for "The answer would be A if he were older"."""
        if cue.k < self._front_end or is_open(self.doc, cue):
            return False
        if is_broken_off(self.doc, cue) and not retracts(self.doc, self._front_end, cue.i):
            return False
        return not has_any(self.doc.forms[cue.k : cue.j], _CONDITIONS)

    def settles(self) -> bool:
        """True if a letter in front, a cue or a line of its own gives the answer, be it readable or not."""
        return self._front() is not None or super().settles()

    def opens(self) -> bool:
        """True if the response begins with a letter that is set off from what follows.

        "A. Metformin: ...", with the first label and its option's text, may begin a walk through all of them.
        """
        front = self._front()
        if front is None or front.names != (0,):
            return front is not None
        return self._text_at(self._front_end) != (0,)

    def _text_at(self, k: int) -> tuple[int, ...]:
        """The options that a text at token k names; empty where none begins there."""
        place = bisect_left(self._starts, k)
        return self.texts[place].names if self._starts[place : place + 1] == [k] else ()

    def _front(self) -> Choice | None:
        """The letter or the letters that the response begins with, if a sign or a line end sets them off."""
        doc = self.doc
        k = 1 if len(doc) > 1 and doc.forms[0] in label_nouns() and doc.breaks[1] <= NONE else 0
        row = self._row(k) or self._explained_row()
        if row and not self._ends_clearly(row):
            row = row[:-1] if self._is_article(row) else ()
        if not row:
            return None
        k, end = min(k, row[0]), row[-1] + 1
        self._front_end = end
        if self._begins_contradiction(end):
            return Choice(reason="it speaks against the option that it names")
        is_explained = self._is_explained(end)
        names = tuple(dict.fromkeys(self.options.labels[doc.surface(n, n + 1)] for n in row))
        judged = self.judged(k, doc.sentence_end(k), claimed=True)
        if not is_explained and (
            self._lists_options(end, names) or any(self._is_denied(s, row) for s in judged)
        ):
            return None
        if len(names) == 1:
            return Choice(names)
        either = has_any(doc.forms[row[0] : end], words.HEDGES)
        union = None if either else self.options.unions.get(frozenset(names))
        return Choice(reason=self.many(names)) if union is None else Choice((union,))

    def _begins_contradiction(self, k: int) -> bool:
        """True if "but" and the label before token k begin a clause: "A. But A is too rare"."""
        forms = self.doc.forms
        return has_any(forms[k : k + 1], words.BUTS) and forms[k + 1 : k + 2] == forms[k - 1 : k]

    def _ends_clearly(self, row: Sequence[int]) -> bool:
        """True for a row of labels that an explanation, a sign, a line end or another sentence follows."""
        return self._is_explained(row[-1] + 1) or self._is_set_off(row[-1] + 1)

    def _is_article(self, row: Sequence[int]) -> bool:
        """True if the last of a row begins the sentence behind a label: "B. A normal pulse", "B A normal"."""
        if len(row) != 2 or self.doc.surface(row[1], row[1] + 1) not in ARTICLES:
            return False
        gap, following = self.doc.gap(row[1]), self.doc.surface(row[1] + 1, row[1] + 2)
        if gap.lstrip(_MARKS)[:1] in {".", ")", ":"} or not _CLOSING.isdisjoint(gap):
            return True
        return row[1] == row[0] + 1 and following.islower() and following not in joining()

    def _explained_row(self) -> Sequence[int]:
        """The row of labels between an announcement in front and an explanation: "Ans: D Explanation: x"."""
        for cue in self.cues[:1]:
            row = self._row(cue.i)
            if cue.k <= _LONGEST_LEAD and row and self._is_explained(row[-1] + 1):
                return row
        return ()

    def _is_denied(self, judged: JudgedMention, row: Sequence[int]) -> bool:
        """True for a label of the row that is turned down, among unknown words, or with another text."""
        return judged.mention.i in row and (judged.verdict == "rejected" or not judged.names)

    def _row(self, k: int) -> Sequence[int]:
        """The labels from token k on with nothing but signs and words such as "and" between them."""
        doc, options = self.doc, self.options
        row: list[int] = []
        for n in range(k, min(len(doc), k + _LONGEST_ROW)):
            if n > k and (doc.breaks[n] >= LINE or "?" in doc.gap(n) or self._begins_other(n)):
                break
            if doc.surface(n, n + 1) in options.labels and options.may_stand(doc, n):
                row.append(n)
            elif not row or doc.forms[n] not in joining():
                break
        return row

    def _is_set_off(self, k: int) -> bool:
        """True if a sign that ends a label, or a line end, stands before token k, or a sentence begins there.

        "B The patient has": a word that begins sentences, with a capital.
        """
        if k >= len(self.doc) or self.doc.breaks[k] >= LINE:
            return True
        is_title = self.doc.surface(k, k + 1).istitle()
        if is_title and (self.doc.forms[k] in sentence_openers() or self._opens_with_noun(k)):
            return True
        if is_title and not _CLOSING.isdisjoint(self.doc.gap(k)):
            return True
        return self.doc.gap(k).lstrip(_MARKS)[:1] in _SIGNS or self._opens_with_other(k)

    def _begins_other(self, k: int) -> bool:
        """True if token k begins an option's text, "D) E. coli", or a sentence: "Option B is wrong"."""
        place = bisect_left(self._starts, k)
        return self._starts[place : place + 1] == [k] or self._opens_with_noun(k)

    def _opens_with_noun(self, k: int) -> bool:
        """True if a sentence begins at token k with "Option B"."""
        return self.doc.forms[k] in label_nouns() and self.doc.surface(k, k + 1).istitle()

    def _opens_with_other(self, k: int) -> bool:
        """True for "B Heparin is too slow": the text at token k is another option's, and a verb follows."""
        place = bisect_left(self._starts, k)
        if self._starts[place : place + 1] != [k] or not begins_sentence(self.doc, k):
            return False
        text = self.texts[place]
        letter = self.doc.surface(k - 1, k)
        is_other = letter not in ARTICLES and self.options.labels.get(letter) not in {None, *text.names}
        return is_other and text.j < len(self.doc) and self.doc.forms[text.j] in words.PREDICATE

    def _is_explained(self, k: int) -> bool:
        """True if an explanation with its head begins at token k: "C. Explanation: ..."."""
        doc, heads = self.doc, explanation_heads()
        for n in range(k, min(len(doc), k + 3)):
            if doc.forms[n] in heads and (n + 1 == len(doc) or doc.gap_has(n + 1, ":：")):
                return True
        return False

    def _lists_options(self, k: int, names: Sequence[int]) -> bool:
        """True if the response goes through other options from token k on: "B. Heparin acts at once"."""
        places = self.options.places(self.doc, k, len(self.doc), ())
        heads = [self.options.labels.get(self.doc.surface(n, n + 1)) for n in places if self._heads_entry(n)]
        return not set(names).issuperset(heads)

    def _heads_entry(self, k: int) -> bool:
        """True for the label at token k that a sign or a line end sets off, at the head of a clause."""
        doc = self.doc
        if doc.surface(k, k + 1) not in self.options.labels:
            return False
        if doc.breaks[k] in {NONE, CLAUSE}:
            return self._is_text(k + 1)
        if k + 1 == len(doc) or doc.breaks[k + 1] >= LINE:
            return doc.breaks[k] >= LINE
        signs = _SIGNS - {",", "，", "、"}
        if doc.breaks[k] < LINE:
            signs -= {"-", "–", "—"}
        return doc.gap(k + 1).lstrip("*_ ")[:1] in signs

    def _is_text(self, k: int) -> bool:
        """True if an option's text begins at token k, behind a sign."""
        place = bisect_left(self._starts, k)
        return self._starts[place : place + 1] == [k] and self.doc.gap(k).strip() in {".", ")", ":"}
