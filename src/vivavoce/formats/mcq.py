"""Multiple choice: one option of several, by its text or its letter."""

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar

from vivavoce.core.records import Item, Reading
from vivavoce.core.registry import format
from vivavoce.formats.base import item_error, unanswered, unreadable
from vivavoce.formats.options import OptionsFormat, with_option_texts
from vivavoce.reading import lexicon as words
from vivavoce.reading.all_except import all_except, with_ranges_written_out
from vivavoce.reading.claims import Choice
from vivavoce.reading.denials import (
    TURNS_TO_ANOTHER,
    behind_corrections,
    denial,
    is_conditional,
    turns_to_another,
)
from vivavoce.reading.fields import json_object, json_values
from vivavoce.reading.labels import label_nouns
from vivavoce.reading.list_reader import ListReader
from vivavoce.reading.markup import decided_rows, untabled
from vivavoce.reading.negative_questions import Asked, asked_for
from vivavoce.reading.options import Mention, Options, options_in
from vivavoce.reading.refusal import refuses
from vivavoce.reading.single_choice import SingleChoiceReader


@format("mcq", version=2)
class MultipleChoice(OptionsFormat):
    """One option of several, by its letter or its text."""

    answered: ClassVar[str] = "with one option, by its letter or its text"
    read_as: ClassVar[str] = "the option's text"

    def in_view_of(self, item: Item, answer: str, reading: Reading) -> Reading:
        """The option that is called incorrect, unlikely or an exception, where the question asks for that."""
        asked = asked_for(item.question) if len(item.question) > 3 else None
        return reading if asked is None else _in_view_of(asked, answer, item, reading)

    def read_options(self, answer: str, options: Options) -> Reading:
        """The option that the response settles on."""
        choice = _choice(answer, options)
        if choice.reason is None and choice.names:
            return Reading("ok", self.parsed(choice.names, options))
        # Words of refusal count only where no option is named: a warning may stand beside an answer.
        if choice.silent and refuses(answer):
            return unanswered("a refusal without an answer")
        return unreadable(choice.reason or "it names no option")

    def settles(self, answer: str, options: Options) -> bool:
        """True if a cue or a line of its own gives the answer."""
        return SingleChoiceReader(answer, options).settles()

    def opens(self, answer: str, options: Options) -> bool:
        """True if the answer begins with a label that is set off from what follows."""
        return super().opens(answer, options) or SingleChoiceReader(answer, options).opens()

    def check(self, item: Item) -> Item:
        """Needs two or more options, and one of them as the key."""
        item = super().check(item)
        if len(item.answer) != 1:
            keyless = "" if item.answer else ": it has no key"
            raise item_error(
                item, f"multiple choice needs exactly one answer, not {len(item.answer)}{keyless}"
            )
        return with_option_texts(item)


def _in_view_of(asked: Asked, answer: str, item: Item, reading: Reading) -> Reading:
    """The reading of an answer to a question for what is not so, where none is given outright."""
    options = options_in(item.options, answer)
    reader = SingleChoiceReader(answer, options)
    if asked.kind != "unlikely" and (options.exactly(answer) is not None or reader.settles()):
        return reading
    named = {options.texts.index(reading.parsed)} if reading.status == "ok" else set()
    names = _exceptions(asked, reader, named) or (set() if named else _excepted(answer, options))
    if names:
        return _single(reader, names)
    return unreadable("the question asks for an exception, and the response names none") if named else reading


def _exceptions(kind: Asked, reader: SingleChoiceReader, named: set[int]) -> set[int]:
    """The options that are what the question asks for, in view of the one `named` as the answer."""
    exceptions, others = kind.options_of(reader)
    return exceptions | named if kind.kind == "unlikely" else exceptions or named - others


def _single(reader: SingleChoiceReader, names: set[int]) -> Reading:
    """The reading of the one option; unreadable for several."""
    if len(names) > 1:
        return unreadable(reader.many(sorted(names)))
    return Reading("ok", reader.options.texts[names.pop()])


def _excepted(answer: str, options: Options) -> set[int]:
    """The one option that an answer takes out of all, "All but C are signs"; empty for any other answer."""
    listed = all_except(ListReader(answer, options))
    exceptions = set(range(len(options))).difference(listed.names if listed and not listed.reason else ())
    return exceptions if len(exceptions) == 1 else set()


def _most_probable(answer: str, options: Options) -> Choice | None:
    """The option that holds most of a JSON object of probabilities; null for any other answer."""
    fields = json_object(answer) or {}
    names = [options.labels.get(str(key).strip(), options.exactly(str(key))) for key in fields]
    shares = [value for value in fields.values() if isinstance(value, int | float) and value is not True]
    if None in names or not 1 < len(set(names)) == len(shares) == len(fields):
        return None
    return _most_of({name: share for name, share in zip(names, shares, strict=True) if name is not None})


def _most_of(shares: Mapping[int, float]) -> Choice | None:
    """The option with more than half of all."""
    best = max(shares, key=shares.__getitem__)
    return Choice((best,)) if 2 * shares[best] > sum(shares.values()) else None


def _most_likely(reader: SingleChoiceReader) -> Choice | None:
    """The option with most of 100 %, where nothing is said but the share of each: "A: 10 %, B: 90 %"."""
    doc = reader.doc
    percents = [k - 1 for k in range(1, len(doc)) if doc.forms[k] == "%" and doc.tokens[k - 1].kind == "n"]
    if len(percents) < 2:
        return None
    named = {s.mention.i: s.mention for s in reader.judged(0, len(doc), claimed=True)}
    for k in percents:  # "C 60 %" is no label to a reader of sentences
        if (
            k
            and k - 1 not in named
            and (name := reader.options.labels.get(doc.surface(k - 1, k))) is not None
        ):
            named[k - 1] = Mention(k - 1, k, (name,), "label")
    mentions = [named[k] for k in sorted(named)]
    sides = sorted([*named, *percents])
    if percents not in (sides[::2], sides[1::2]) or len(mentions) != len(percents):
        return None
    covered = {k for mention in mentions for k in range(mention.i, mention.j)}
    if not covered.isdisjoint(percents):
        return None  # options that are shares themselves: "25 % or 75 %"
    further = {doc.forms[k] for k in range(len(doc)) if doc.tokens[k].kind == "w" and k not in covered}
    if not further <= _AROUND_SHARES | label_nouns():
        return None
    numbers = [doc.surface(k, k + 1).replace(",", ".") for k in percents]
    shares = {
        mention.names: float(number)
        for mention, number in zip(mentions, numbers, strict=True)
        if _SHARE.fullmatch(number) and len(mention.names) == 1
    }
    if len(shares) < len(mentions) or abs(sum(shares.values()) - 100) > _ROUNDED:
        return None
    return _most_of({name: share for (name,), share in shares.items()})


_AROUND_SHARES = (
    words.LIGHT
    | words.HEDGED_LEADS
    | words.JOINERS
    | words.forms(
        "probability probabilities confidence likelihood chance chances odds for of to am",
        "wahrscheinlichkeit sicherheit probabilidad probabilite probabilita probabilidade confianza",
    )
)
_SHARE = re.compile(r"\d{1,3}(?:\.\d+)?")
_ROUNDED = 2
"""Percents by which rounded shares may miss 100."""


def _choice(answer: str, options: Options) -> Choice:
    leaves = json_values(answer)
    if leaves:
        return _most_probable(answer, options) or _from_json(leaves, options)
    answer = with_ranges_written_out(untabled(answer, decided_rows), options)
    reader = behind_corrections(SingleChoiceReader(answer, options))
    choice = reader.choice(lambda: refuses(answer))
    if not choice.names and (likely := _most_likely(reader)):
        return likely
    reason = denial(reader.doc, options, choice.names)
    if reason is None and is_conditional(reader, choice.names):
        reason = "it depends on a condition which option it means"
    # "D. Hold on, the INR is high, so B." says neither
    if reason is None and turns_to_another(reader, choice.names):
        reason = TURNS_TO_ANOTHER
    return Choice(reason=reason) if reason else choice


def _from_json(leaves: Sequence[Any], options: Options) -> Choice:
    """The option that all values of a JSON answer name; values that name nothing do not disturb others."""
    choices = [_from_leaf(str(leaf), options) for leaf in leaves]
    names = tuple(dict.fromkeys(chain.from_iterable(choice.names for choice in choices)))
    if len(names) > 1:
        texts = ", ".join(options.texts[name] for name in names)
        return Choice(reason=f"two options for a single choice: {texts}")
    for choice in choices:
        if choice.reason and not (choice.silent and names):
            return Choice(reason=choice.reason, silent=all(c.silent for c in choices))
    return Choice(names)


def _from_leaf(text: str, options: Options) -> Choice:
    exact = options.exactly(text)
    return Choice((exact,)) if exact is not None else SingleChoiceReader(text, options).choice()
