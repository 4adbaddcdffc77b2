"""True or false: the words in six languages, or the letters T and F; "Yes" and "No" are neither."""

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import Any, ClassVar

from vivavoce.core.prompts import load
from vivavoce.core.records import Item, Reading
from vivavoce.core.registry import format
from vivavoce.formats.base import (
    Format,
    check_question,
    item_error,
    read_finished,
    strip_reasoning,
    unanswered,
    unreadable,
    with_context,
)
from vivavoce.language.tokens import CLAUSE, COMMA, NONE, has_any
from vivavoce.reading import lexicon as words
from vivavoce.reading import truth_words as truth
from vivavoce.reading.answer_markers import cues, retracts
from vivavoce.reading.check_boxes import without_crossed
from vivavoce.reading.choice import ChoiceReader
from vivavoce.reading.claims import Choice
from vivavoce.reading.clauses import Clauses
from vivavoce.reading.denials import behind_corrections
from vivavoce.reading.fields import json_values
from vivavoce.reading.markup import with_plain_marks
from vivavoce.reading.mentions import Verdict
from vivavoce.reading.options import Mention, Options, options_of
from vivavoce.reading.refusal import abstains, refuses
from vivavoce.reading.remarks import ticked, verdict_of_saying
from vivavoce.reading.run_on import read_first
from vivavoce.reading.verdicts import JudgedMention
from vivavoce.reading.word_roles import role, run_roles


@cache
def _options() -> Options:
    """True and False, with the words for them in every language."""
    true, false = truth.words_of_languages()
    return options_of(("True", "False"), ("T", "F"), (true, false))


_BEHIND_VERDICT = truth.AFTER_VERDICT | words.NOT_LEFT
_COPULAS = [[form] for form in words.COPULA]
"""What stands before a denial: "is not correct"."""
_HEADS = truth.TRUTH_HEADS | {"e"}
_JOINERS = truth.ANDS | truth.ORS | truth.BUTS
_BEHIND_TRUTH = truth.AFTER_TRUTH | truth.STATEMENT_NOUNS
# Verdadero, vrai, vero: read where it is all there is, as F is; elsewhere V is a vitamin or a factor.
_BARE_V = re.compile(r"\W*(?:(?:answer|respuesta|r[ée]ponse|risposta|resposta)\s*:\W*)?V\W*", re.IGNORECASE)
_ALONE = re.compile(r"(?:[^\n:：]{0,40}[:：])?\W*\w+\W*")
"""A single word, which may stand behind words such as "Answer:".."""
_MARK = re.compile(r"(?:[^\n:：]{0,40}[:：])?[\s*_(\[]*(?:(?P<true>[✓✔☑✅])|[✗✘✖❌×])[\s.*_)\]\ufe0f]*")
_LETTER_MARK = re.compile(r"(?:[^\n:：]{0,40}[:：])?[\s*_(\[]*(?:(?P<true>[Oo])|[Xx])[\s.*_)\]]*")
"""A tick or a cross, or the letters that stand for them in Korea, behind words such as "정답:"."""
_REPLY = re.compile(
    r"\A\W*(?:evet|hay[ıi]r|ano|ne|tak|nie|так|ні|да|нет|はい|いいえ|예|네|아니요|نعم|لا|हाँ|नहीं|ja|nej|ya|tidak|có|không|כן|לא|ναι"
    r"|όχι|是的|不是)\s?[,，、،]\s?",
    re.IGNORECASE,
)
"""A yes or a no before the verdict, in languages whose grammar is not known."""
_HANGUL = re.compile("[\uac00-\ud7a3]")
_KEYS = {"true": "True", "t": "True", "false": "False", "f": "False"}


class _Truth(ChoiceReader):
    """A choice between true and false, where "not true" is a choice too."""

    _clauses: Clauses | None = None

    @cached_property
    def _doubts(self) -> dict[tuple[int, int], bool]:
        return {}

    def mentions(self) -> list[Mention]:
        """The words "true" and "false" where they judge: "false positive" and "true or false?" do not."""
        named = super().mentions()
        strong = [mention for mention in named if self._is_strong(mention)]
        if not strong:
            self.doubtful: list[Mention] = []
            return list(filter(self._says_so, named))
        verdicts = list(filter(self._judges, strong))
        mentions = [mention for mention in verdicts if not self._names_a_thing(mention)]
        # an unknown word may say more of the statement, where "faux positif" is a thing
        self.doubtful = list(filter(self._may_judge, set(verdicts).difference(mentions)))
        choices: set[Mention] = set()
        for a, b in itertools.pairwise(mentions):
            if self._is_choice(a, b):
                choices |= {a, b}
        return [mention for mention in mentions if mention not in choices]

    def _is_strong(self, mention: Mention) -> bool:
        """True for a word that means true or false wherever it judges; "right" and "correct" judge more."""
        forms = self.doc.forms[mention.i : mention.j]
        return len(forms) == 1 and (forms[0] in truth.FOREIGN or forms[0] in {"true", "false"})

    def _says_so(self, mention: Mention) -> bool:
        """True for a word such as "correct" in a clause that holds nothing but it and what says it of all.

        In a language whose negation is not known, all its words are to be.
        """
        doc, end = self.doc, self.doc.sentence_end(mention.i)
        if self._asks(end):
            return False
        start = doc.last_break(mention.i, COMMA)
        if has_any(doc.forms[mention.i : mention.j], truth.supported_words()):
            is_free = doc.ends(mention.j) or doc.forms[mention.j] in _BEHIND_VERDICT
            preceding = doc.forms[start : mention.i]
            return is_free and (
                truth.BEFORE_VERDICT.issuperset(preceding) or self._is_of_statement(start, mention)
            )
        if self._is_doubted(start, end) or not self._closes(mention.j):
            return False
        self._clauses = self._clauses or Clauses(doc, self.options, super().mentions())
        return self._clauses.standing(mention) == "plain"

    def _is_of_statement(self, start: int, mention: Mention) -> bool:
        """True for "The claim that heparin crosses the placenta is incorrect", at the end of its clause."""
        doc, k = self.doc, mention.i
        subject = next((n for n in range(start, k) if doc.forms[n] in truth.STATEMENT_NOUNS), k)
        if not has_any(doc.forms[subject + 1 : subject + 2], truth.OF_STATEMENT) or not doc.ends(mention.j):
            return False
        if doc.forms[subject + 2] in words.COPULA:
            return False  # "the statement that is wrong"
        return doc.forms[k - 1] in words.COPULA or doc.forms[k - 2 : k - 1] in _COPULAS

    def _is_doubted(self, start: int, end: int) -> bool:
        """True if a word of doubt stands in tokens `start` to `end` - 1; looked for once."""
        if (start, end) not in self._doubts:
            sentence = self.doc.surface(start, end) + self.doc.gap(end)
            self._doubts[start, end] = any(word in sentence for word in truth.doubts())
        return self._doubts[start, end]

    def _closes(self, k: int) -> bool:
        """True if nothing but a copula follows in the clause from token k on."""
        if self.doc.ends(k):
            return True
        text = self.doc.surface(k, k + 1)
        return text == "的" or role(self.doc.forms[k], text) == "affirms" or run_roles([text]) == ["affirms"]

    def _is_choice(self, a: Mention, b: Mention) -> bool:
        """True for "true or false?", "True/False:"."""
        between = self.doc.forms[a.j : b.i]
        if len(between) != 1 or between[0] not in {*truth.ORS, "/"} or b.j >= len(self.doc):
            return False
        return self.doc.gap_has(b.j, "?:")

    def choice(self, refused: Callable[[], bool] = lambda: False) -> Choice:
        """A bare verdict that the response opens with, unless later words overrule it; else as any choice."""
        lead = self._lead()
        if lead is not None and not self._overruled(lead):
            return Choice(lead.names)
        choice = super().choice(refused)
        if any(mention.names != choice.names for mention in self.doubtful) and choice.names:
            return Choice(reason=self.many(choice.names))
        return choice

    def settles(self) -> bool:
        """True if the response opens with a verdict, or settles as any choice does."""
        return self._lead() is not None or super().settles()

    @property
    def has_lead(self) -> bool:
        """Whether the response opens with a verdict that is a sentence of its own."""
        return self._lead() is not None

    def _lead(self) -> Mention | None:
        """The verdict of "True - ..." or "**False**", which stands whatever the explanation says."""
        # A number may stand before the verdict: "1. True".
        position = 1 if self._enumerated(0, len(self.doc)) else 0
        lead = self.texts[0] if self.texts else None
        goes_on = position + 1 < len(self.doc)
        letter = self.options.labels.get(self.doc.surface(position, position + 1)) if goes_on else None
        if letter is not None and self.doc.gap_has(position + 1, ":-–—\n"):
            lead = Mention(position, position + 1, (letter,), "label")
        if lead is None or lead.i != position or len(lead.names) != 1:
            return None
        if lead.j < len(self.doc) and (self.doc.breaks[lead.j] < CLAUSE or "?" in self.doc.gap(lead.j)):
            return None
        return None if self._is_contradicted(lead) else lead

    def _overruled(self, lead: Mention) -> bool:
        """True if a bare verdict, a retraction or a final answer behind the lead says otherwise."""
        doc, end = self.doc, len(self.doc)
        if any(self._is_bare(mention) and mention.names != lead.names for mention in self.texts):
            return True
        if retracts(doc, lead.j, end):
            return True
        if any(doc.forms[k] in words.RETRACTING and doc.breaks[k] >= CLAUSE for k in range(lead.j, end)):
            return True
        final = [self.claim(cue.i, cue.j)[0] for cue in cues(doc) if cue.i > lead.i]
        return any(choice is not None and choice.names not in {(), lead.names} for choice in final)

    def _is_bare(self, mention: Mention) -> bool:
        """True if a value is a clause of its own."""
        if self.doc.breaks[mention.i] < CLAUSE:
            return False
        return mention.j >= len(self.doc) or self.doc.breaks[mention.j] >= CLAUSE

    def _names_a_thing(self, mention: Mention) -> bool:
        """True for "false positive", "true prevalence": the word belongs to the noun behind it."""
        k = mention.j
        if k >= len(self.doc) or self.doc.breaks[k] > NONE:
            return False
        if self.doc.forms[k] in truth.TRUTH_HEADS or self.doc.forms[k : k + 2] == ["e", "proprio"]:
            return True
        return self.doc.forms[k] not in _BEHIND_TRUTH and not self.doc.gap_has(k, "*_\"'")

    def _may_judge(self, mention: Mention) -> bool:
        """True for a word of another language with an unknown word behind it that names no such thing."""
        following = self.doc.forms[mention.j]
        return self.doc.forms[mention.i] in truth.FOREIGN and following not in _HEADS

    def _judges(self, mention: Mention) -> bool:
        """False for a word of another language where it is no verdict: "polycythemia vera"."""
        k = mention.i
        if self.doc.forms[k] not in truth.FOREIGN or k == 0 or self.doc.breaks[k] > NONE:
            return True
        return self.doc.forms[k - 1] in truth.BEFORE_TRUTH or self.doc.tokens[k - 1].kind != "w"

    def judged(self, i: int, j: int, *, claimed: bool = False) -> list[JudgedMention]:
        """The mentions, with the opposite in place of what is turned down; a weighed value is none."""
        judged = []
        for s in self._carried(super().judged(i, j, claimed=claimed), i):
            s = s._replace(verdict=verdict_of_saying(self.doc, s.mention) or s.verdict)
            if ticked(self.doc, s.mention, None) is not None:
                s = s._replace(verdict="chosen")
            if self._is_contradicted(s.mention):
                continue
            if s.verdict == "rejected" and len(s.names) == 1:
                # With two values, turning one down leaves the other; with more options it would not.
                s = JudgedMention(s.mention._replace(names=(1 - s.names[0],)), "named")
            if s.verdict != "tentative" or claimed:
                judged.append(s)
        return judged

    def _is_contradicted(self, mention: Mention) -> bool:
        """True for "True ❌", which says neither; "False ❌" says it twice."""
        mark = ticked(self.doc, mention, None)
        return mark is not None and (mark == "chosen") != (mention.names == (0,))

    def _carried(self, judged: Sequence[JudgedMention], i: int) -> list[JudgedMention]:
        """The mentions, where a hedge or a claim goes on: "could be true in some and false in others"."""
        carried: list[JudgedMention] = []
        partly_end = 0
        for s in judged:
            k = s.mention.i
            partly = partly_end and self._and(partly_end, k)
            degree = k > i and self.doc.forms[k - 1] in words.DEGREES
            if (k > i and partly) or degree or self._in_part(s.mention.j):
                partly_end = s.mention.j  # "both true and false", "partly true"
                continue
            if self._left_open(s.mention, i):
                s = JudgedMention(s.mention, "tentative")
            elif s.verdict == "named":
                s = JudgedMention(s.mention, self._carried_verdict(carried, s.mention, i))
            carried.append(s)
        return carried

    def _in_part(self, k: int) -> bool:
        """True if "in part", "only partly" or the like follows a value that ends before token k."""
        window = range(k, min(k + 4, len(self.doc)))
        end = next((p for p in window if self.doc.breaks[p] > NONE and not self._limits(p)), k + 4)
        part = next((p for p in range(k, min(end, len(self.doc))) if self.doc.forms[p] in truth.PARTS), None)
        return part is not None and not has_any(self.doc.forms[part + 1 : part + 2], truth.BEHIND_PART)

    def _limits(self, k: int) -> bool:
        """True for the "but" of "true, but only in part"."""
        return self.doc.breaks[k] == COMMA and self.doc.forms[k] in truth.BUTS

    def _left_open(self, mention: Mention, i: int) -> bool:
        """True for a word of another language that its clause only weighs: "puede ser verdadero"."""
        if self.doc.forms[mention.i] not in truth.FOREIGN:
            return False
        k = mention.i
        start = max(self.doc.last_break(k, COMMA), i)
        not_wholly = self.doc.count(start, k, truth.WHOLLY) and self.doc.count(start, k, words.NOT_LEFT)
        return not_wholly > 0 or self.doc.count(start, k, truth.LEFT_OPEN) > 0

    def _carried_verdict(self, carried: Sequence[JudgedMention], mention: Mention, i: int) -> Verdict:
        """The verdict of a value that is only named, from "can be" or the value before it."""
        k = mention.i
        if self.doc.forms[k - 2 : k] == ["can", "be"] and k - 2 >= i:
            return "tentative"
        return self._carried_from(carried[-1], k, i) if carried else "named"

    def _carried_from(self, preceding: JudgedMention, k: int, i: int) -> Verdict:
        """The verdict of a value at token k from the one before it, in the clause that begins at token i."""
        a = preceding.mention.j
        if preceding.verdict == "chosen" and self.doc.forms[k - 1] in truth.BUTS:
            return "chosen"
        if max(self.doc.breaks[a : k + 1], default=NONE) >= CLAUSE or has_any(
            self.doc.forms[a:k], words.RESET
        ):
            return "named"
        if preceding.verdict == "tentative" and not self._concedes(i, preceding.mention.i):
            return "tentative"
        return "chosen" if preceding.verdict == "chosen" and self._and(a, k) else "named"

    def claim(self, i: int, j: int) -> tuple[Choice | None, int]:
        """What a claim settles on; "true in adults and false in children" settles on neither."""
        choice, end = super().claim(i, j)
        if choice is None or not choice.names:
            return choice, end
        judged = self.judged(i, j, claimed=True)
        names = {name for s in judged if s.verdict != "rejected" for name in s.names}
        opposite = next((s for s in judged if s.names and s.names != choice.names), None)
        k = i if opposite is None else opposite.mention.i
        if len(names) > 1 and (self._and(i, k) or self.doc.forms[k - 1] in truth.BUTS):
            return Choice(reason=self.many(names)), end
        return choice, end

    def _concedes(self, i: int, k: int) -> bool:
        """True for "While it could be true in children, it is false"."""
        return self.doc.count(i, k, truth.CONCEDES) > 0

    def _and(self, a: int, b: int) -> bool:
        """True if "and" or "or" alone leads to token b: "true in adults and false in children"."""
        while b > a + 1 and self.doc.forms[b - 1] in truth.BE:
            b -= 1
        return b > a and self.doc.forms[b - 1] in _JOINERS

    def _after_label(self, i: int, j: int) -> Any:
        # "Explanation: False ..." is no answer, and so is a label that judges by itself
        return super()._after_label(i, j) if self.doc.breaks[i] >= CLAUSE else None

    def many(self, names: Any) -> str:
        return "both True and False are said"


@format("true_false", version=2)
class TrueFalse(Format):
    """A statement that is true or false."""

    fields: ClassVar[tuple[str, ...]] = ("question", "answer", "context")
    answered: ClassVar[str] = "with True or False"
    read_as: ClassVar[str] = "True or False"
    open_text: ClassVar[bool] = False
    fixed_options: ClassVar[tuple[str, ...]] = ("True", "False")
    item_noun: ClassVar[str] = "statement"

    def ask(self, item: Item, style: str | None = None) -> str:
        """The statement, to be called True or False."""
        return load("true_false").fill(question=with_context(item))

    def read(self, item: Item, text: str) -> Reading:
        """True or False as booleans."""
        answer = strip_reasoning(text)
        if isinstance(answer, Reading):
            return answer
        answer = _REPLY.sub("", answer)
        mark = self.read_mark(answer)
        if (
            mark is None
            and _HANGUL.search(answer + item.question)
            and (letter := _LETTER_MARK.fullmatch(answer))
        ):
            mark = Reading("ok", letter["true"] is not None)
        return mark or read_first(
            without_crossed(answer), _read_part, lambda part: _Truth(part, _options()).settles()
        )

    def read_mark(self, text: str) -> Reading | None:
        """True for a tick or a circle alone, False for a cross."""
        mark = _MARK.fullmatch(with_plain_marks(text))
        return Reading("ok", mark["true"] is not None) if mark else None

    def read_cut(self, item: Item, text: str) -> Reading:
        """True or False, where it was said to its end."""
        answer = strip_reasoning(text)
        if isinstance(answer, Reading):
            return answer
        # A limit of one or two tokens cuts nothing off a bare word.
        if _ALONE.fullmatch(answer) or _Truth(answer, _options()).has_lead:
            return self.read(item, answer)
        return read_finished(answer, lambda part: self.read(item, part))

    def check(self, item: Item) -> Item:
        """Needs the key True or False, also as T or F and in small letters."""
        check_question(item)
        key = _KEYS.get(item.answer[0].strip().lower()) if len(item.answer) == 1 else None
        if key is None:
            answers = ", ".join(repr(a) for a in item.answer) or "nothing"
            needs = "true_false needs the answer True or False"
            raise item_error(item, f"{needs}, not {answers}", needs)
        return item if item.answer == (key,) else replace(item, answer=(key,))


def _read_part(answer: str) -> Reading:
    leaves = json_values(answer)
    if leaves:
        return _from_json(leaves)
    if abstains(answer):
        return unanswered("a refusal without an answer")
    if _BARE_V.fullmatch(answer):
        return Reading("ok", True)
    truth = behind_corrections(_Truth(answer, _options())).choice(lambda: refuses(answer))
    if truth.names and not truth.reason:
        # Names are places in `_options`, where True comes first.
        return Reading("ok", truth.names[0] == 0)
    if truth.silent and refuses(answer):
        return unanswered("a refusal without an answer")
    if truth.silent or not truth.reason:
        return unreadable("it says neither True nor False")
    return unreadable(truth.reason)


def _from_json(leaves: list[Any]) -> Reading:
    truths = set()
    for leaf in leaves:
        if isinstance(leaf, bool):
            truths.add(leaf)
        else:
            truths |= {name == 0 for name in _Truth(str(leaf), _options()).choice().names}
    if len(truths) == 1:
        return Reading("ok", truths.pop())
    return unreadable("both True and False are said" if truths else "it says neither True nor False")
