"""Neutral texts: an explanation that does not say which option is right, nor names options by number.

Ranking over Scoring (COLING 2025, Table 9) neutralises by hand what people and models wrote: statements that
name the answer are dropped, and numbers of options give way to the options' texts. Here rules do it, and what
they cannot mend is listed.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Literal, NamedTuple

from vivavoce import formats
from vivavoce.core.errors import InputError, suggest
from vivavoce.core.records import Item, Response
from vivavoce.core.registry import variation
from vivavoce.core.text import LONGEST, is_blank, one_line, too_long
from vivavoce.reading.answer_mentions import AnswerMention, answer_mentions
from vivavoce.variants import Outcome, Stock, Variation, key_of

if TYPE_CHECKING:
    from vivavoce.models.engine.client import ModelClient

EDIT = "neutralise"
NOTHING = "nothing names the answer or numbers an option"
_ROUNDS = 8
"""Passes over a text: what is mended can bring words together that name an answer."""
_FOLLOWING = re.compile(r"\s{0,9}(\S)")
_BEFORE_STOP = re.compile(r"(?<=\S) {1,4}(?=[.,;!?](?:\s|$))")
_BLANKS = re.compile(r"(?<=\S) {2,}(?=\S)")
_ENDS = ("", ".", "!", "?", ":", ";", "*")
"""Signs after which a sentence begins; nothing, at the head of a text."""
_AND = re.compile(r"(?<=[\s\d])(?:and|or|y|e|et|ou|o)(?=\s)", re.IGNORECASE)


class Neutral(NamedTuple):
    """A text without what names the answer: what went, what was put for what, and what is left."""

    text: str
    removed: tuple[str, ...] = ()
    mended: tuple[tuple[str, str], ...] = ()
    leaks: tuple[str, ...] = ()


def neutral(text: str, options: Sequence[str], *, numbered: bool = True) -> Neutral:
    """`text` without statements that name the answer, and with options' texts for their numbers.

    Numbers and letters count the options in the order given; where they are `numbered` otherwise, or there
    is no such option, they stay and are listed as leaks. A text that is neutral comes back as it is. Where
    rules find no end, or the text grows beyond what is read, nothing is changed and all of it is listed.
    """
    removed: list[str] = []
    mended: list[tuple[str, str]] = []
    mendable = options if numbered and not any(map(answer_mentions, options)) else ()
    current = text
    for _ in range(_ROUNDS):
        mentions = answer_mentions(current)
        edits = [(m, _mending(current, m, mendable)) for m in mentions]
        if all(edit is None for _, edit in edits):
            return Neutral(current, tuple(removed), tuple(mended), tuple(m.quote for m in mentions))
        current = _edited(current, edits, removed, mended)
        if len(current) > max(LONGEST, len(text)):
            break
    return Neutral(text, leaks=tuple(m.quote for m in answer_mentions(text)))


def without_passages(text: str, markings: Sequence[Sequence[str]]) -> Neutral:
    """`text` without the characters that at least half of the raters marked; each gives their passages.

    Blanks count as one. A passage is taken out wherever it stands.
    """
    votes = Counter(k for passages in markings for k in _places(text, passages))
    gone = {k for k, n in votes.items() if 2 * n >= len(markings)}
    return _without(text, gone) if gone else Neutral(text)


def _without(text: str, gone: Collection[int]) -> Neutral:
    """The text without the characters at these places."""
    parts = groupby(range(len(text)), gone.__contains__)
    texts = [(is_gone, "".join(text[k] for k in places)) for is_gone, places in parts]
    remainder = _BEFORE_STOP.sub("", "".join(part for is_gone, part in texts if not is_gone))
    return Neutral(_BLANKS.sub(" ", remainder).strip(), tuple(part for is_gone, part in texts if is_gone))


def _places(text: str, passages: Sequence[str]) -> set[int]:
    """The places of the characters of these passages."""
    patterns = [r"\s+".join(map(re.escape, passage.split())) for passage in passages]
    return {k for pattern in patterns for match in re.finditer(pattern, text) for k in range(*match.span())}


class _Edit(NamedTuple):
    """What takes the place of characters `start` to `end`; '' for a statement that goes."""

    start: int
    end: int
    put: str


def _mending(text: str, mention: AnswerMention, options: Sequence[str]) -> _Edit | None:
    """What becomes of a mention; null where it cannot be mended."""
    if mention.kind == "answer":
        return _Edit(_before_brackets(text, mention.start), mention.end, "")
    texts = [options[k].strip().rstrip(".") for k in mention.named if k < len(options)]
    if not texts or len(texts) < len(mention.named) or not all(texts):
        return None
    if len(texts) > 1:
        return _Edit(mention.start, mention.end, _joined(texts, mention.quote))
    if _in_brackets_after(text, mention, texts[0]):
        return _Edit(_before_brackets(text, mention.start - 1), mention.end + 1, "")
    return _Edit(mention.start, _said_beside(text, mention.end, texts[0]) or mention.end, texts[0])


def _before_brackets(text: str, start: int) -> int:
    """Where brackets begin, with the blank before them."""
    return start - (text[start : start + 1] in ("(", "[") and text[start - 1 : start] == " ")


def _said_beside(text: str, end: int, option: str) -> int | None:
    """Where "option B (Phenobarbital)" or "option B: Phenobarbital" ends; null where the text is not said."""
    gap = re.compile(r"\s?[-–:,]?\s?(\(?)").match(text, end)
    position = gap.end() if gap else end
    if (
        text[position : position + len(option)].casefold() != option.casefold()
        or text[position + len(option) :][:1].isalnum()
    ):
        return None
    closes = gap is not None and bool(gap[1]) and text[position + len(option) :][:1] == ")"
    return position + len(option) + closes


def _in_brackets_after(text: str, mention: AnswerMention, option: str) -> bool:
    """True for "Phenobarbital (option B)": the text stands there already."""
    bracketed = text[mention.start - 1 : mention.start] == "(" and text[mention.end : mention.end + 1] == ")"
    preceding = text[max(0, mention.start - 2 - len(option) - 2) : mention.start - 1]
    return bracketed and preceding.rstrip().casefold().endswith(option.casefold())


def _joined(texts: Sequence[str], quote: str) -> str:
    """Texts in one phrase, joined as the labels were: "A, B and C"; "A; B; and C" where one has commas."""
    if len(texts) == 1:
        return texts[0]
    words = _AND.findall(quote)
    last = f" {words[-1] if words else 'and'} {texts[-1]}"
    divided = any("," in t or ";" in t for t in texts)
    return ("; " if divided else ", ").join(texts[:-1]) + (";" if divided else "") + last


def _edited(
    text: str,
    edits: Sequence[tuple[AnswerMention, _Edit | None]],
    removed: list[str],
    mended: list[tuple[str, str]],
) -> str:
    """The text with the edits, its sentences beginning with capitals and ending with their stops."""
    parts: list[str] = []
    done, last, capital = 0, "", False  # last: the sign before, blanks aside

    def add(part: str) -> None:
        nonlocal last, capital
        if bare := part.lstrip():
            if capital:
                part = part[: len(part) - len(bare)] + bare[0].upper() + bare[1:]
            last, capital = part.rstrip()[-1], False
        parts.append(part)

    for mention, edit in edits:
        if edit is None or edit.start < done:
            continue
        add(text[done : edit.start])
        done = edit.end
        if edit.put:
            mended.append((mention.quote, edit.put))
            add(edit.put)
            continue
        gone = text[edit.start : edit.end].strip()
        removed.append(gone)
        if gone.startswith(("(", "[")) and last:
            continue
        capital = capital or last in _ENDS
        add("" if last in _ENDS else _joint(_FOLLOWING.match(text, done)))
    add(text[done:])
    return _BEFORE_STOP.sub("", "".join(parts)).strip()


@variation("neutralise")
class Neutralise(Variation):
    """Explanations without statements that name the answer, and with options' texts for their numbers.

    The edit `neutralise` of answers to items with options in the format `argument`: all candidates' and
    ceilings', or those of `candidate`. Numbers and letters count the options as the item lists them
    (`numbers=item`). With `numbers=unknown`, and always in a ceiling's text, whose writer may have had
    another list, they stay. A text in which anything is left fails the check: it is listed, and kept with
    `--mark` (`meta["leaks"]`). No model is asked. With `marks=people` no rule is: what at least half of those
    who read a text marked (`viva annotate RUN neutralise`) is taken out.
    """

    numbers: Literal["item", "unknown"] = "item"
    marks: Literal["rules", "people"] = "rules"
    candidate: str | None = None

    def shards(self, stock: Stock) -> list[tuple[Variation, Stock]]:
        """Some answers at a time."""
        return [(self, part) for part in stock.by_answers()]

    def makes(self, stock: Stock, client: "ModelClient | None") -> Iterator[Outcome]:
        """An outcome for each answer. Raises `InputError` for a candidate that the run does not hold."""
        if self.candidate is not None and self.candidate not in stock.roles:
            hint = suggest(self.candidate, list(stock.roles))
            raise InputError(f"neutralise: no candidate {self.candidate!r} in this run.{hint}")
        items = {(i.benchmark, i.item, i.variant): i for i in stock.items}
        for answer in stock.answers:
            item = items.get((answer.benchmark, answer.item, answer.variant))
            role = stock.roles.get(answer.candidate)
            named = answer.candidate == self.candidate
            if item is None or not (
                named if self.candidate is not None else role in ("candidate", "ceiling")
            ):
                continue
            yield self._outcome(stock, item, answer, numbered=self.numbers == "item" and role != "ceiling")

    def _outcome(self, stock: Stock, item: Item, answer: Response, *, numbered: bool) -> Outcome:
        text = answer.final_text
        if reason := _unfit(item, text):
            return Outcome(EDIT, item.name, reason=reason)
        if self.marks == "people":
            markings = stock.passages.get(key_of(answer))
            if markings is None:
                return Outcome(EDIT, item.name, reason="nobody said whether it gives the answer away")
            return self._edit(stock, item, answer, without_passages(text, markings))
        return self._edit(stock, item, answer, neutral(text, item.options, numbered=numbered))

    def _edit(self, stock: Stock, item: Item, answer: Response, new: Neutral) -> Outcome:
        leaks = list(dict.fromkeys(one_line(quote, 60) for quote in new.leaks))
        reason = f"what names an option is left: {answer.candidate}: {'; '.join(leaks)}" if leaks else None
        if is_blank(new.text):
            return Outcome(EDIT, item.name, reason="it says nothing but what the answer is")
        if not new.removed and not new.mended:
            return Outcome(EDIT, item.name, reason=reason or NOTHING)
        meta = {"origin": str(self), "change": _change(new)} | ({"leaks": leaks} if leaks else {})
        row = Response(**(key_of(answer)._asdict() | {"edit": EDIT}), text=new.text, meta=meta)
        if stock.holds(row):
            return Outcome(EDIT, item.name, stored=True)
        return Outcome(EDIT, item.name, (row,), reason)


def _joint(following: re.Match[str] | None) -> str:
    """What takes the place of a clause that goes, before what follows it."""
    if following is None or following[1].isupper():
        return ". "
    return " " if following[1].isalpha() else ""


def _unfit(item: Item, text: str) -> str | None:
    """Why an answer is not looked at; null if it is."""
    if not item.options or not formats.accepts(("argument",), item.format):
        return "its format is no explanation of an item with options"
    if is_blank(text):
        return "there is no text to neutralise"
    return too_long(text) if len(text) > LONGEST else None


def _change(new: Neutral) -> str:
    """What was done, in a few words."""
    removed = [f"taken out: {one_line(part)}" for part in new.removed]
    return "; ".join([*removed, *(f"{one_line(old, 40)}: {one_line(put)}" for old, put in new.mended)])
