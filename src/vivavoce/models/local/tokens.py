"""Text to tokens and back: the question as the model reads it, the targets, and what fits.

Question and target are encoded apart, so the tokens of a target do not depend on the question. A target gets
one blank before it unless it begins with white space, or the text before it ends in some or is empty. An
encoder-decoder's question is in the encoder: no text stands before a target that opens the response.
"""

import hashlib
import json
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from vivavoce.core.reasoning_marks import MARK
from vivavoce.core.text import one_line
from vivavoce.models.local.foreign_text import ForeignText
from vivavoce.models.local.scoring import Branch, Tree
from vivavoce.models.replies import with_space
from vivavoce.models.requests import Continuations, Generation, Message, RejectedError, Request

PROBES = ("Blood pressure", " a blank before a word", "5 µg/mL, 39 °C", "0123456789", "first\nsecond")
"""Texts that a tokeniser must give back as they are, or a likelihood is that of another text."""

_MARK = re.compile(MARK)
_ANCHOR = "\n"
"""Stands before a text while it is encoded, and is taken off again: some tokenisers (SentencePiece) put a
blank before whatever opens a text, and drop it again when they decode.
"""


class Question(NamedTuple):
    """A conversation in tokens, 1 or more of them, and the text that the response follows."""

    ids: tuple[int, ...]
    before: str


class Tokens:
    """A tokeniser with a model's conventions.

    `fault` says which of `PROBES` it does not reproduce, null if it does; `mark` identifies it: the first 16
    hex digits of SHA-256 over its state. `templated`: conversations go through its chat template; otherwise
    their turns are joined by blank lines.
    """

    def __init__(self, tokeniser: Any, *, templated: bool, encodes: bool) -> None:
        self._made, self.templated, self.encodes = tokeniser, templated, encodes
        self.bos, self.eos = tokeniser.bos_token_id, tokeniser.eos_token_id
        self._foreign = ForeignText(tokeniser)
        self._silent = {self.bos, self.eos, tokeniser.pad_token_id}
        self._anchor = self._raw(_ANCHOR)
        self._opening = len(self._decoded(self._anchor))
        self._front, self._tail = self._around()
        self._last: tuple[tuple[Message, ...] | None, Question] = (None, Question((), ""))
        self.mark = _mark(tokeniser)
        self.fault = self._fault()

    @property
    def pad(self) -> int:
        """The token that fills up a batch; masked everywhere."""
        candidates = (self._made.pad_token_id, self.eos, self.bos, 0)
        return next(int(token) for token in candidates if token is not None)

    def ids(self, text: str) -> tuple[int, ...]:
        """A text that continues another, without special tokens: one that it spells out is only text.

        Raises `RejectedError` where a part of it has no token.
        """
        return self._without_unknown(self._following(text, self._raw), text)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of tokens that go on from others, with its special tokens but BOS, EOS and padding.

        A model may mark its thinking with special tokens: without them nothing parts it from the answer.
        """
        return self._decoded((*self._anchor, *ids))[self._opening :]

    def pieces(self, ids: Sequence[int]) -> tuple[str, ...]:
        """What each token adds to the text; a character in several tokens belongs to the last of them."""
        pieces, spelled = [], ""
        for count in range(1, len(ids) + 1):
            text = self.decode(ids[:count])
            if count < len(ids):
                text = text.rstrip("\ufffd")  # a character that is not complete yet
            pieces.append(text[len(spelled) :])
            spelled = spelled + pieces[-1]
        return tuple(pieces)

    def question(self, messages: Sequence[Message]) -> Question:
        """The conversation up to where the response begins.

        A template alone decides on its special tokens, a BOS among them. Plain text gets the tokens in front
        that the tokeniser itself puts there (for an encoder also behind). An empty conversation is BOS, or
        EOS where there is none. Raises `RejectedError` where the template does not take the conversation.
        """
        # One question is asked for a draw after the other, and for every kept answer.
        last_messages, result = self._last
        if last_messages != messages:
            result = self._question(messages)
            self._last = (tuple(messages), result)
        return result

    def _question(self, messages: Sequence[Message]) -> Question:
        if not messages:
            return Question((self.encodes and self._front + self._tail) or (self.prefix(),), "")
        if self.templated:
            text, ids = self._templated(messages)
        else:
            text = "\n\n".join(m.content for m in messages)
            ids = self._with_special_tokens(self._without_unknown(self._raw(text), text))
        # What an encoder reads does not stand before the response.
        return Question(ids or (self.prefix(),), "" if self.encodes else text)

    def _templated(self, messages: Sequence[Message]) -> tuple[str, tuple[int, ...]]:
        """The conversation through the template, and its tokens: control tokens are the template's alone.

        What spells one in a message goes through the template as a word that nobody can know, and is put back
        as text.
        """
        word = f"x{secrets.token_hex(16)}x"
        spellings: list[str] = []

        def hidden(match: re.Match[str]) -> str:
            spellings.append(match[0])
            return f"{word}{len(spellings) - 1}{word}"

        turns = [m._replace(content=self._without_controls(m, hidden)) for m in messages]
        parts = re.split(f"{word}([0-9]+){word}", self._rendered(turns))
        ids = list(self._made.encode(parts[0], add_special_tokens=False))
        for number, following in zip(parts[1::2], parts[2::2], strict=True):
            ids += self._following(spellings[int(number)], self._raw)
            ids += self._following(following, self._parsed)
        text = "".join(spellings[int(part)] if k % 2 else part for k, part in enumerate(parts))
        return text, tuple(ids)

    def _without_controls(self, message: Message, hidden: Callable[[re.Match[str]], str]) -> str:
        """What a message says, what spells a control token in it hidden.

        Marks of thinking stay in what the model itself said: templates look for them.
        """
        content = message.content
        if not self._foreign.spells(content):
            return content

        def unless_thinking(match: re.Match[str]) -> str:
            mark = _MARK.fullmatch(match[0]) if message.role == "assistant" else None
            return (
                match[0] if mark and (mark.lastgroup or "").startswith(("open", "close")) else hidden(match)
            )

        content = self._foreign.spelling.sub(unless_thinking, content)
        # spelled in letters that the tokeniser changes before it looks: all of the text is hidden
        if message.role != "assistant" and self._foreign.spells(content):
            content = re.sub(r"\S(?:.*\S)?", hidden, message.content, count=1, flags=re.DOTALL)
        return content

    def _parsed(self, text: str) -> tuple[int, ...]:
        return tuple(self._made.encode(text, add_special_tokens=False))

    def _following(self, text: str, encode: Callable[[str], tuple[int, ...]]) -> tuple[int, ...]:
        """A text that continues another, as `encode` has it."""
        all_ids = encode(_ANCHOR + text)
        n_anchor = len(self._anchor)
        return all_ids[n_anchor:] if all_ids[:n_anchor] == self._anchor else encode(text)

    def _with_special_tokens(self, ids: tuple[int, ...]) -> tuple[int, ...]:
        """Plain text with the tokens in front (for an encoder also behind) that the tokeniser adds itself."""
        if not self.encodes:
            return self._front + ids
        front = () if ids[: len(self._front)] == self._front else self._front
        tail = () if ids[len(ids) - len(self._tail) :] == self._tail else self._tail
        return front + ids + tail

    def prefix(self) -> int:
        """The one token before a text that stands alone: BOS, or EOS where there is none."""
        token = self.eos if self.bos is None else self.bos
        if token is None:
            raise RejectedError("the tokeniser has neither BOS nor EOS, so nothing can stand before the text")
        return int(token)

    def tree(self, request: Request) -> Tree:
        """A likelihood request in tokens: branches in the order of cuts, and of targets within one.

        Raises `RejectedError` for an empty target, and for a cut beyond the trunk.
        """
        question = self.question(request.messages)
        continuations = request.branches or self._single_target(request)
        trunk_generation = continuations.trunk or Generation("", (), (), (), False)
        trunk = trunk_generation.ids or self._text_ids(trunk_generation.text)
        branches = []
        for cut in continuations.cuts:
            if not 0 <= cut <= len(trunk):
                raise RejectedError(f"a cut after {cut} tokens of {len(trunk)} that were said")
            context = self.decode(trunk[:cut]) if cut else question.before
            branches += [Branch(cut, self._target(target, context)) for target in continuations.targets]
        return Tree(question.ids, trunk[: max(continuations.cuts, default=0)], tuple(branches))

    def _single_target(self, request: Request) -> Continuations:
        """A request of one target as continuations: after all that the model is taken to have said."""
        begun = self._text_ids(request.begun)
        trunk = Generation(request.begun, begun, (), (), False)
        return Continuations((request.target or "",), trunk, (len(begun),))

    def _text_ids(self, text: str) -> tuple[int, ...]:
        return self.ids(text) if text else ()

    def _target(self, target: str, before: str) -> tuple[int, ...]:
        if not target:
            raise RejectedError("the target is empty: it has no probability")
        if self.encodes and not before:
            return self._without_unknown(
                self._raw(target), target
            )  # as the tokeniser has the texts it was trained on
        return self.ids(with_space(target, before))

    def _rendered(self, messages: Sequence[Message]) -> str:
        """Through the template; where it takes no system message, that opens the first turn of the user."""
        reason = ""
        for conversation in _system_variants(messages):
            text, reason = self._through_template(conversation)
            if not reason:
                return text
        raise RejectedError(f"the chat template does not take this conversation ({one_line(reason, 120)})")

    def _through_template(self, messages: Sequence[Message]) -> tuple[str, str]:
        """The text that the template makes, and why it cannot be used: '' if it can."""
        from jinja2 import TemplateError

        turns = [m._asdict() for m in messages]
        try:
            text = str(self._made.apply_chat_template(turns, tokenize=False, add_generation_prompt=True))
        except TemplateError as error:
            return "", str(error) or "a template error"
        # Some templates leave the system message out silently.
        complete = all(m.content.strip() in text for m in messages if m.role == "system")
        return text, "" if complete else "it leaves the system message out"

    def _raw(self, text: str) -> tuple[int, ...]:
        """Without special tokens in front or within: text from outside opens no turn and ends no response."""
        try:
            text.encode()
        except UnicodeEncodeError:
            raise RejectedError(
                "the text holds half a character (a lone surrogate), which has no token"
            ) from None
        return self._foreign.ids(text)

    def _without_unknown(self, ids: tuple[int, ...], text: str) -> tuple[int, ...]:
        unknown = self._made.unk_token_id
        if unknown is not None and unknown in ids:
            raise RejectedError(f"the tokeniser has no token for a part of {one_line(text)!r}")
        return ids

    def _decoded(self, ids: Sequence[int]) -> str:
        spelled = [token for token in ids if token not in self._silent]
        text = self._made.decode(
            spelled,
            skip_special_tokens=False,
            clean_up_tokenization_spaces=False,
            spaces_between_special_tokens=False,
        )
        return str(text)

    def _around(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The special tokens that the tokeniser puts before and behind a text."""
        plain, full = self._raw("a"), tuple(self._made.encode("a"))
        for start in range(len(full) - len(plain) + 1):
            if full[start : start + len(plain)] == plain:
                return full[:start], full[start + len(plain) :]
        return (), ()

    def _fault(self) -> str | None:
        for text in PROBES:
            try:
                decoded = self.decode(self.ids(text))
            except RejectedError:
                return f"the tokeniser has no token for a part of {text!r}"
            if decoded != text:
                return f"the tokeniser does not give a text back: {text!r} returns as {decoded!r}"
        return None


def _system_variants(messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
    """The conversation; then with its system messages at the start of the first turn of the user."""
    yield messages
    system = "\n\n".join(m.content for m in messages if m.role == "system")
    turns = [m for m in messages if m.role != "system"]
    first = next((k for k, m in enumerate(turns) if m.role == "user"), None)
    if system and first is not None:
        opened = Message("user", f"{system}\n\n{turns[first].content}")
        yield [*turns[:first], opened, *turns[first + 1 :]]


def fitted(
    question: tuple[int, ...], more: int, context: int | None, *, truncate_left: bool, keep: int
) -> tuple[tuple[int, ...], int]:
    """The question that fits together with `more` tokens, and how many of its tokens were left out.

    Tokens go from the left, after the first `keep`, and only where `truncate_left` allows it. Raises
    `RejectedError`, with the numbers, where that is not allowed or not enough.
    """
    excess = 0 if context is None else len(question) + more - context
    if excess <= 0:
        return question, 0
    size = f"{len(question)} tokens of question and {more} of what follows"
    if not truncate_left:
        raise RejectedError(
            f"{size} do not fit the model's context of {context}; truncate=left leaves the beginning out"
        )
    if excess >= len(question) - keep:
        raise RejectedError(f"{size} do not fit the model's context of {context}, however much is left out")
    return question[:keep] + question[keep + excess :], excess


def _mark(tokeniser: Any) -> str:
    backend: Any = getattr(tokeniser, "backend_tokenizer", None)
    if hasattr(backend, "to_str"):
        state = json.loads(backend.to_str())
        text = json.dumps(
            {k: v for k, v in state.items() if k not in ("padding", "truncation")}, sort_keys=True
        )
    else:
        text = json.dumps([type(tokeniser).__name__, sorted(tokeniser.get_vocab().items())])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
