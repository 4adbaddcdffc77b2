"""Text to tokens and back: the question as the model is shown it, the targets, and what fits.

Question and target are encoded apart, so the tokens of a target do not depend on the question. A target gets
one blank before it unless it begins with white space, or what stands before it ends in some or is nothing.
An encoder-decoder's question is in the encoder: nothing stands before a target that opens the answer.
"""

import hashlib
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from vivavoce.models import Branches, Drawn, Message, Refused, Request
from vivavoce.models.likely import spaced
from vivavoce.models.local.scoring import Branch, Tree
from vivavoce.text import one_line

__all__ = ["PROBES", "Question", "Tokens", "fitted"]

PROBES = ("Blood pressure", " a blank before a word", "5 µg/mL, 39 °C", "0123456789", "first\nsecond")
"""Texts that a tokeniser must give back as they are, or a likelihood is that of another text."""

_ANCHOR = "\n"
"""Stands before a text while it is encoded, and is taken off again: some tokenisers (SentencePiece) put a
blank before whatever opens a text, and drop it again when they decode.
"""


class Question(NamedTuple):
    """A conversation in tokens, 1 or more of them, and the text that the answer follows upon."""

    ids: tuple[int, ...]
    before: str


class Tokens:
    """A tokeniser with a model's customs.

    `fault` says what of `PROBES` it does not give back, null where it does; `mark` tells tokenisers apart:
    first 16 hex digits of SHA-256 over all that it is. `templated`: conversations go through its chat
    template; otherwise their turns are joined by blank lines.
    """

    def __init__(self, tokeniser: Any, *, templated: bool, encodes: bool) -> None:
        self._made, self.templated, self.encodes = tokeniser, templated, encodes
        self.bos, self.eos = tokeniser.bos_token_id, tokeniser.eos_token_id
        self._anchor = self._raw(_ANCHOR)
        self._opening = len(self._decoded(self._anchor))
        self._front, self._tail = self._around()
        self._last: tuple[tuple[Message, ...] | None, Question] = (None, Question((), ""))
        self.mark = _mark(tokeniser)
        self.fault = self._fault()

    @property
    def pad(self) -> int:
        """What fills up a batch; masked everywhere."""
        known = (self._made.pad_token_id, self.eos, self.bos, 0)
        return next(int(token) for token in known if token is not None)

    def ids(self, text: str) -> tuple[int, ...]:
        """A text that goes on from another, without special tokens: one that it spells out is only text.

        Raises `Refused` where a part of it has no token.
        """
        whole = self._raw(_ANCHOR + text)
        after = len(self._anchor)
        ids = whole[after:] if whole[:after] == self._anchor else self._raw(text)
        return self._known(ids, text)

    def spelt(self, ids: Sequence[int]) -> str:
        """The text of tokens that go on from others; special tokens spell nothing."""
        return self._decoded((*self._anchor, *ids))[self._opening :]

    def pieces(self, ids: Sequence[int]) -> tuple[str, ...]:
        """What each token adds to the text; a character in several tokens belongs to the last of them."""
        pieces, said = [], ""
        for count in range(1, len(ids) + 1):
            text = self.spelt(ids[:count])
            if count < len(ids):
                text = text.rstrip("\ufffd")  # a character that is not complete yet
            pieces.append(text[len(said) :])
            said = said + pieces[-1]
        return tuple(pieces)

    def question(self, messages: Sequence[Message]) -> Question:
        """The conversation up to where the answer begins.

        A template alone decides on its special tokens, a BOS among them. Plain text gets in front what the
        tokeniser itself puts there (for an encoder also behind). Nothing at all is BOS, or EOS where there is
        none. Raises `Refused` where the template does not take the conversation.
        """
        # One question is asked for a draw after the other, and for every kept answer.
        asked, known = self._last
        if asked != messages:
            known = self._question(messages)
            self._last = (tuple(messages), known)
        return known

    def _question(self, messages: Sequence[Message]) -> Question:
        if not messages:
            return Question((self.encodes and self._front + self._tail) or (self.prefix(),), "")
        if self.templated:
            text = self._rendered(messages)
            ids = tuple(self._made.encode(text, add_special_tokens=False))
        else:
            text = "\n\n".join(m.content for m in messages)
            ids = self._known(self._raw(text), text)
        if self.encodes and self.templated:
            return Question(ids or (self.prefix(),), "")
        if self.encodes:
            front = () if ids[: len(self._front)] == self._front else self._front
            tail = () if ids[len(ids) - len(self._tail) :] == self._tail else self._tail
            return Question(front + ids + tail or (self.prefix(),), "")
        ids = ids if self.templated else self._front + ids
        return Question(ids or (self.prefix(),), text)

    def prefix(self) -> int:
        """The one token that a text alone stands after: BOS, or EOS where there is none."""
        found = self.eos if self.bos is None else self.bos
        if found is None:
            raise Refused("the tokeniser has neither BOS nor EOS, so nothing can stand before the text")
        return int(found)

    def tree(self, request: Request) -> Tree:
        """What a likelihood is asked of: branches in the order of cuts, and of targets within one.

        Raises `Refused` for an empty target, and for a cut beyond the trunk.
        """
        question = self.question(request.messages)
        if request.branches is None:
            begun = self.ids(request.begun) if request.begun else ()
            asked = Branches(
                (request.target or "",), Drawn(request.begun, begun, (), (), False), (len(begun),)
            )
        else:
            asked = request.branches
        drawn = asked.trunk or Drawn("", (), (), (), False)
        trunk = drawn.ids or (self.ids(drawn.text) if drawn.text else ())
        branches = []
        for cut in asked.cuts:
            if not 0 <= cut <= len(trunk):
                raise Refused(f"a cut after {cut} tokens of {len(trunk)} that were said")
            before = self.spelt(trunk[:cut]) if cut else question.before
            branches += [Branch(cut, self._target(target, before)) for target in asked.targets]
        return Tree(question.ids, trunk[: max(asked.cuts, default=0)], tuple(branches))

    def _target(self, target: str, before: str) -> tuple[int, ...]:
        if not target:
            raise Refused("the target is empty: it has no probability")
        if self.encodes and not before:
            return self._known(self._raw(target), target)  # as the tokeniser has the texts it was trained on
        return self.ids(spaced(target, before))

    def _rendered(self, messages: Sequence[Message]) -> str:
        """Through the template; where it takes no system message, that opens the first turn of the user."""
        from jinja2 import TemplateError

        system = "\n\n".join(m.content for m in messages if m.role == "system")
        turns = [m for m in messages if m.role != "system"]
        first = next((k for k, m in enumerate(turns) if m.role == "user"), None)
        ways: list[Sequence[Message]] = [messages]
        if system and first is not None:
            opened = Message("user", f"{system}\n\n{turns[first].content}")
            ways.append([*turns[:first], opened, *turns[first + 1 :]])
        why = ""
        for way in ways:
            try:
                text = str(
                    self._made.apply_chat_template(
                        [m._asdict() for m in way], tokenize=False, add_generation_prompt=True
                    )
                )
            except TemplateError as error:
                why = str(error)
                continue
            if all(
                m.content.strip() in text for m in way if m.role == "system"
            ):  # some leave it out silently
                return text
            why = "it leaves the system message out"
        raise Refused(f"the chat template does not take this conversation ({one_line(why, 120)})")

    def _raw(self, text: str) -> tuple[int, ...]:
        """Without special tokens in front or within: what somebody wrote opens no turn and ends no text."""
        try:
            text.encode()
        except UnicodeEncodeError:
            raise Refused("the text holds half a character (a lone surrogate), which has no token") from None
        return tuple(self._made.encode(text, add_special_tokens=False, split_special_tokens=True))

    def _known(self, ids: tuple[int, ...], text: str) -> tuple[int, ...]:
        unknown = self._made.unk_token_id
        if unknown is not None and unknown in ids:
            raise Refused(f"the tokeniser has no token for a part of {one_line(text)!r}")
        return ids

    def _decoded(self, ids: Sequence[int]) -> str:
        return str(self._made.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False))

    def _around(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The special tokens that the tokeniser puts before and behind a text."""
        plain, whole = self._raw("a"), tuple(self._made.encode("a"))
        for start in range(len(whole) - len(plain) + 1):
            if whole[start : start + len(plain)] == plain:
                return whole[:start], whole[start + len(plain) :]
        return (), ()

    def _fault(self) -> str | None:
        for text in PROBES:
            try:
                back = self.spelt(self.ids(text))
            except Refused:
                return f"the tokeniser has no token for a part of {text!r}"
            if back != text:
                return f"the tokeniser does not give a text back: {text!r} returns as {back!r}"
        return None


def fitted(
    question: tuple[int, ...], more: int, context: int | None, *, left: bool, keep: int
) -> tuple[tuple[int, ...], int]:
    """The question that fits together with `more` tokens, and how many of its tokens were left out.

    Tokens go from the left, after the first `keep`, and only where `left` allows it. Raises `Refused`, with
    the numbers, where that is not allowed or not enough.
    """
    over = 0 if context is None else len(question) + more - context
    if over <= 0:
        return question, 0
    size = f"{len(question)} tokens of question and {more} of what follows"
    if not left:
        raise Refused(
            f"{size} do not fit the model's context of {context}; truncate=left leaves the beginning out"
        )
    if over >= len(question) - keep:
        raise Refused(f"{size} do not fit the model's context of {context}, however much is left out")
    return question[:keep] + question[keep + over :], over


def _mark(tokeniser: Any) -> str:
    backend: Any = getattr(tokeniser, "backend_tokenizer", None)
    if hasattr(backend, "to_str"):
        whole = json.loads(backend.to_str())
        text = json.dumps(
            {k: v for k, v in whole.items() if k not in ("padding", "truncation")}, sort_keys=True
        )
    else:
        text = json.dumps([type(tokeniser).__name__, sorted(tokeniser.get_vocab().items())])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
