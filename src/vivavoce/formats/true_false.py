"""True or false: the words "True" and "False", or their first letters; "Yes" and "No" are neither."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from vivavoce.formats import words
from vivavoce.formats.base import Format, fault, unanswered, unreadable, voiced
from vivavoce.formats.choice import Answer, Choice
from vivavoce.formats.claims import Said
from vivavoce.formats.cues import cues, retracts
from vivavoce.formats.match import Mention, options_of
from vivavoce.formats.options import checked_question, laid_out
from vivavoce.formats.refusal import refuses
from vivavoce.formats.structured import values
from vivavoce.formats.tokens import CLAUSE, NONE
from vivavoce.prompts import load
from vivavoce.records import Item, Reading

__all__ = ["FORMAT"]

_OPTIONS = options_of(("True", "False"), ("T", "F"))
_KEYS = {"true": "True", "t": "True", "false": "False", "f": "False"}


class _Truth(Choice):
    """A choice between true and false, where "not true" is a choice too."""

    def mentions(self) -> list[Mention]:
        """The words "true" and "false" where they judge: "false positive" and "true or false?" do not."""
        found = [m for m in super().mentions() if not self._names_a_thing(m)]
        asked: set[int] = set()
        for n in range(len(found) - 1):
            a, b = found[n], found[n + 1]
            between = self.doc.forms[a.j : b.i]
            if (
                between in (["or"], ["/"])
                and b.j < len(self.doc)
                and any(c in "?:" for c in self.doc.gap(b.j))
            ):
                asked |= {n, n + 1}
        return [m for n, m in enumerate(found) if n not in asked]

    def read(self, refused: Callable[[], bool] = lambda: False) -> Answer:
        """A bare verdict that the answer opens with, unless later words overrule it; else as any choice."""
        lead = self._lead()
        return lead if lead is not None else super().read(refused)

    def _lead(self) -> Answer | None:
        """The verdict of "True - ..." or "**False**", which stands whatever the explanation says."""
        at = 1 if self._enumerated(0, len(self.doc)) else 0
        lead = self.texts[0] if self.texts else None
        which = self.options.labels.get(self.doc.surface(at, at + 1)) if at + 1 < len(self.doc) else None
        if which is not None and any(c in ":-–—\n" for c in self.doc.gap(at + 1)):
            lead = Mention(at, at + 1, (which,), "label")
        if lead is None or lead.i != at or len(lead.names) != 1:
            return None
        if lead.j < len(self.doc) and (self.doc.breaks[lead.j] < CLAUSE or "?" in self.doc.gap(lead.j)):
            return None
        answer = Answer(lead.names)
        for m in self.texts:
            bare = self.doc.breaks[m.i] >= CLAUSE and (m.j >= len(self.doc) or self.doc.breaks[m.j] >= CLAUSE)
            if bare and m.names != lead.names:
                return None
        if retracts(self.doc, lead.j, len(self.doc)) or any(
            self.doc.forms[k] in words.RETRACTING and self.doc.breaks[k] >= CLAUSE
            for k in range(lead.j, len(self.doc))
        ):
            return None
        final = [self.claim(c.i, c.j)[0] for c in cues(self.doc) if c.i > lead.i]
        return None if any(a is not None and a.names not in {(), lead.names} for a in final) else answer

    def _names_a_thing(self, m: Mention) -> bool:
        k = m.j
        if k < len(self.doc) and self.doc.breaks[k] <= NONE and self.doc.forms[k] in words.TRUTH_HEADS:
            return True
        if k >= len(self.doc) or self.doc.breaks[k] > NONE or any(c in "*_\"'" for c in self.doc.gap(k)):
            return False
        return self.doc.forms[k] not in words.AFTER_TRUTH | words.STATEMENT_NOUNS

    def said(self, i: int, j: int, *, claimed: bool = False) -> list[Said]:
        """What is said, with the opposite in place of what is turned down; a weighed value is none."""
        found = []
        for s in self._carried(super().said(i, j, claimed=claimed), i):
            if s.verdict == "rejected" and len(s.names) == 1:
                s = Said(s.mention._replace(names=(1 - s.names[0],)), "named")
            if s.verdict != "tentative" or claimed:
                found.append(s)
        return found

    def _carried(self, found: list[Said], i: int) -> list[Said]:
        """What is said, where a hedge or a claim goes on: "could be true in some and false in others"."""
        carried: list[Said] = []
        in_part = 0
        for s in found:
            a, b = carried[-1].mention.j if carried else i, s.mention.i
            if b > i and (self.doc.forms[b - 1] in words.DEGREES or (in_part and self._and(in_part, b))):
                in_part = s.mention.j  # "both true and false", "partly true"
                continue
            if s.verdict == "named" and self.doc.forms[b - 2 : b] == ["can", "be"] and b - 2 >= i:
                s = Said(s.mention, "tentative")
            elif s.verdict == "named" and carried:
                before = carried[-1]
                goes_on = all(self.doc.breaks[k] < CLAUSE for k in range(a, b + 1))
                goes_on = goes_on and not any(form in words.RESET for form in self.doc.forms[a:b])
                if before.verdict == "tentative" and goes_on and not self._concedes(i, before.mention.i):
                    s = Said(s.mention, "tentative")
                elif before.verdict == "chosen" and goes_on and self._and(a, b):
                    s = Said(s.mention, "chosen")
            carried.append(s)
        return carried

    def claim(self, i: int, j: int) -> tuple[Answer | None, int]:
        """What a claim settles on; "true in adults and false in children" settles on neither."""
        answer, end = super().claim(i, j)
        names = {n for s in self.said(i, j, claimed=True) if s.verdict != "rejected" for n in s.names}
        if answer is not None and answer.names and len(names) > 1:
            other = next(
                (s for s in self.said(i, j, claimed=True) if s.names and s.names != answer.names), None
            )
            if other is not None and self._and(i, other.mention.i):
                return Answer(reason=self.many(names)), end
        return answer, end

    def _concedes(self, i: int, k: int) -> bool:
        """True for "While it could be true in children, it is false"."""
        return any(form in {"while", "although", "though", "whereas", "even"} for form in self.doc.forms[i:k])

    def _and(self, a: int, b: int) -> bool:
        """True if "and" or "or" alone leads to token b: "true in adults and false in children"."""
        while b > a and self.doc.forms[b - 1] in {"is", "are", "be", "also", "only"}:
            b -= 1
        return b > a and self.doc.forms[b - 1] in {"and", "or"}

    def _after_label(self, i: int, j: int) -> Any:
        # "Explanation: False ..." is no answer, and so is a label that judges by itself
        return super()._after_label(i, j) if self.doc.breaks[i] >= CLAUSE else None

    def many(self, names: Any) -> str:
        return "both True and False are said"


def _ask(item: Item, style: str | None) -> str:
    return load("true_false").fill(question=laid_out(item))


def _read(item: Item, text: str) -> Reading:
    answer = voiced(text)
    if isinstance(answer, Reading):
        return answer
    found = values(answer)
    if found:
        return _from_json(found)
    read = _Truth(answer, _OPTIONS).read(lambda: refuses(answer))
    if read.names and not read.reason:
        return Reading("ok", read.names[0] == 0)
    if read.silent and refuses(answer):
        return unanswered("a refusal without an answer")
    return unreadable("it says neither True nor False" if read.silent or not read.reason else read.reason)


def _from_json(found: list[Any]) -> Reading:
    truths = set()
    for value in found:
        if isinstance(value, bool):
            truths.add(value)
        else:
            read = _Truth(str(value), _OPTIONS).read()
            truths |= {n == 0 for n in read.names}
    if len(truths) == 1:
        return Reading("ok", truths.pop())
    return unreadable("both True and False are said" if truths else "it says neither True nor False")


def _check(item: Item) -> Item:
    checked_question(item)
    key = _KEYS.get(item.answer[0].strip().lower()) if len(item.answer) == 1 else None
    if key is None:
        shown = ", ".join(repr(a) for a in item.answer) or "nothing"
        raise fault(item, f"true_false needs the answer True or False, not {shown}")
    return item if item.answer == (key,) else replace(item, answer=(key,))


FORMAT = Format(
    name="true_false",
    fields=("question", "answer", "context"),
    answered="with True or False",
    read_as="True or False",
    ask=_ask,
    read=_read,
    check=_check,
)
