"""A list: every option that is right, in any order and in most of the ways people write lists.

What is no option is stray: it costs precision, not the item.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

from vivavoce.core.records import Item, Reading
from vivavoce.core.registry import format
from vivavoce.formats.base import item_error, read_finished, strip_reasoning, unanswered, unreadable
from vivavoce.formats.options import OptionsFormat, with_option_texts
from vivavoce.language.tokens import LINE, recent_doc
from vivavoce.reading.all_except import all_except, speaks_of_options, with_ranges_written_out
from vivavoce.reading.answer_markers import Cue, cues, retracts
from vivavoce.reading.denials import TURNS_TO_ANOTHER, corrected_list, corrects, denial, turns_to_another
from vivavoce.reading.fields import json_values
from vivavoce.reading.list_reader import Listed, ListReader
from vivavoce.reading.markup import confirmed_rows, ticked_entries, untabled
from vivavoce.reading.options import Options, options_in
from vivavoce.reading.refusal import refuses

_VERDICTS = dict.fromkeys(("true", "t", "yes", "y"), True) | dict.fromkeys(("false", "f", "no", "n"), False)
_LONGEST_PLACE = 4
"""Tokens of a label, its verdict and the signs beside them."""


def _verdict_row(text: str, options: Options) -> Listed | None:
    """The options that a row of verdicts calls right: "T, F, T", "A yes B no"; null for any other answer.

    Without places in front there is one verdict for each option, in order.
    """
    doc = recent_doc(text)
    if len(doc) > _LONGEST_PLACE * len(options) or _VERDICTS.keys().isdisjoint(doc.forms):
        return None
    if not _VERDICTS.keys().isdisjoint(text.casefold() for text in options.texts):
        return None  # "Yes, no" may list the options "Yes" and "No"
    places = [k for k in range(len(doc)) if doc.tokens[k].kind != "s"]
    surfaces, verdicts = (
        [doc.surface(k, k + 1) for k in places],
        [_VERDICTS.get(doc.forms[k]) for k in places],
    )
    if len(verdicts) == len(options) > 1 and options.labels.keys().isdisjoint(surfaces):
        names: list[int | None] = [*range(len(options))]
    else:
        names = [_place(text, options) for text in surfaces[::2]]
        verdicts = verdicts[1::2]
    if not len(names) == len(verdicts) == len(set(names)) > 1 or None in (*names, *verdicts):
        return None
    pairs = zip(names, verdicts, strict=True)
    return Listed(tuple(name for name, is_right in pairs if is_right and name is not None), (), True)


def _place(text: str, options: Options) -> int | None:
    """The option that a label, or a number where labels are letters, stands for."""
    if text in options.labels or not text.isdecimal():
        return options.labels.get(text)
    return int(text) - 1 if 0 < int(text) <= len(options) else None


def _from_text(text: str, options: Options) -> Listed:
    if (verdicts := _verdict_row(text, options)) is not None:
        return verdicts
    text = with_ranges_written_out(ticked_entries(untabled(text, confirmed_rows)), options)
    reader = ListReader(text, options)
    if (corrected := corrected_list(reader)) is not None:
        return _corrected(*corrected, options)
    if (listed := all_except(reader)) is not None:
        return listed
    claims = _claims(reader)
    if not claims:
        return _quiet(reader, text)
    cue, last = claims[-1]
    last_names = set(last.names)
    # A later list replaces an earlier one only if the text takes that back.
    for earlier, listed in claims[:-1]:
        if set(listed.names) != last_names and not retracts(reader.doc, earlier.i + 1, cue.i):
            return Listed(reason="two final answers that disagree")
    return last


def _corrected(preceding: str, following: str, options: Options) -> Listed:
    """The list behind a correction; unreadable where it shares no option with the list before.

    "A and C. Wait, B." may add an option or replace both.
    """
    first, last = _from_text(preceding, options), _from_text(following, options)
    if last.reason or len(first.names) < 2 or not set(first.names).isdisjoint(last.names):
        return last
    return Listed(reason=TURNS_TO_ANOTHER)


def _claims(reader: ListReader) -> list[tuple[Cue, Listed]]:
    """The lists that cues announce."""
    claims: list[tuple[Cue, list[Listed]]] = []
    markers = cues(reader.doc)
    for cue, limit in zip(markers, [*(c.k for c in markers[1:]), len(reader.doc)], strict=False):
        end = _list_end(reader, cue.i, cue.j, max(cue.j, limit))
        listed = reader.stretch(cue.i, end)
        # Models also box each option by itself: such boxes are one list, not rival answers.
        if claims and not listed.reason and _boxes_in_a_row(claims[-1][0], cue):
            claims[-1] = (cue, claims[-1][1])
            claims[-1][1].append(listed)
        elif _lists(cue, listed):
            claims.append((cue, [listed]))
    return [(cue, _joined(lists)) for cue, lists in claims]


def _lists(cue: Cue, listed: Listed) -> bool:
    """True if what a cue announces is a list, read or not; of strays alone it takes a colon or a box."""
    return bool(listed.names or (listed.stray and cue.firm) or listed.reason)


def _joined(lists: Sequence[Listed]) -> Listed:
    """The lists of boxes in a row as one."""
    if len(lists) == 1:
        return lists[0]
    names = tuple(name for listed in lists for name in listed.names)
    stray = tuple(entry for listed in lists for entry in listed.stray)
    return Listed(names, stray, True, lists[0].reason)


def _boxes_in_a_row(preceding: Cue, cue: Cue) -> bool:
    """True for boxes that are one list."""
    return cue.boxed and preceding.boxed and cue.k - preceding.j <= 3


def _quiet(reader: ListReader, text: str) -> Listed:
    """The list of an answer without a cue; where it also refuses, options merely named do not count."""
    listed = reader.stretch(0, len(reader.doc))
    merely = not (listed.strict or listed.reason) and bool(listed.names or listed.stray)
    return Listed() if merely and refuses(text) else listed


def _list_end(reader: ListReader, i: int, j: int, limit: int) -> int:
    """A claim goes on over the lines of a list: those that follow without a blank line, or after a colon."""
    doc = reader.doc
    multi = doc.breaks[i] >= LINE or (j < len(doc) and ":" in doc.gap(j)) or doc.gap_has(i, "-*•")
    while multi and j < limit and (doc.breaks[j] <= LINE or reader.pure(j, doc.sentence_end(j)) is not None):
        j = doc.sentence_end(j)
    return min(j, limit)


def _from_json(leaves: Sequence[Any], options: Options) -> Listed:
    names: list[int] = []
    stray: list[str] = []
    for leaf in leaves:
        text = str(leaf)
        exact = options.exactly(text)
        listed = Listed((exact,)) if exact is not None else _from_text(text, options)
        if listed.reason:
            return listed
        names += listed.names
        if listed.names or not isinstance(leaf, str) or len(leaves) == 1:
            stray += listed.stray
        else:
            stray.append(text.strip())  # an entry that is no option is one stray, commas and all
    return Listed(tuple(dict.fromkeys(names)), tuple(dict.fromkeys(stray)), True)


def _checked(listed: Listed, answer: str, options: Options) -> Listed:
    """The list with the reason why it cannot be read, where there is one."""
    reason = listed.reason or _unclear(listed, options)
    if reason is None and corrects(answer) and turns_to_another(ListReader(answer, options), listed.names):
        reason = TURNS_TO_ANOTHER
    return listed._replace(reason=reason or denial(recent_doc(answer), options, listed.names, lists=True))


def _unclear(listed: Listed, options: Options) -> str | None:
    """The reason for an entry that may be two options, and for numbers where the options bear none."""
    if listed.stray and not listed.names and (kind := _other_labels(listed.stray)):
        return f"{kind}: {', '.join(listed.stray)}"
    for entry in listed.stray:
        if options.is_unclear(entry):
            return f"{entry} is the label of one option and the text of another"
        if speaks_of_options(entry, options):
            return f"it speaks of options in words that are not known: {entry}"
    return None


def _other_labels(entries: Sequence[str]) -> str | None:
    """What entries are that can only be labels of other options; null for other entries."""
    if all(entry.strip("(). ").isdecimal() for entry in entries):
        return "numbers, and the options bear none"
    if len(entries) > 1 and all(entry.casefold() in _VERDICTS for entry in entries):
        return "verdicts, and not one for each option"
    return "letters that no option bears" if all(map(_is_other_letter, entries)) else None


def _is_other_letter(entry: str) -> bool:
    """True for a letter that is not Latin, such as a label in another script."""
    return len(entry.rstrip("ـ")) == 1 and entry[0].isalpha() and not entry.isascii()


@format("list", version=2)
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
        listed = _checked(listed, answer, options)
        if listed.reason is None and (listed.names or listed.stray):
            return Reading("ok", self.parsed(listed.names, options), listed.stray)
        if not (listed.names or listed.reason) and refuses(answer):
            return unanswered("a refusal without an answer")
        return unreadable(listed.reason or "it names no option")

    def read_cut(self, item: Item, text: str) -> Reading:
        """The options of a list that was written to its end: a label in front is no list yet."""
        answer = strip_reasoning(text)
        if isinstance(answer, Reading):
            return answer
        options = options_in(item.options, text)
        return read_finished(
            answer, lambda part: self.read(item, part), lambda part: self.settles(part, options)
        )

    def settles(self, answer: str, options: Options) -> bool:
        """True if a cue announces the list, or entries stand by themselves."""
        reader = ListReader(answer, options)
        listed = reader.stretch(0, len(reader.doc))
        return bool(_claims(reader)) or bool(listed.strict and listed.names)

    def check(self, item: Item) -> Item:
        """Needs an option or more, and one or more of them as the key."""
        item = super().check(item)
        if not item.answer:
            raise item_error(item, "list needs one or more answers")
        return with_option_texts(item)
