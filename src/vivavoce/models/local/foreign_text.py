"""Texts of others in tokens: what spells a control token, such as `<|im_end|>` or `[SEP]`, stays text.

A tokeniser takes such a spelling for the token itself, whoever wrote it: an answer could end its own turn,
open another, or part a pair of texts anew.
"""

import copy
import json
import re
import secrets
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

_BRACKETS = ("<>", "[]", "{}", "||")
_HTML = re.compile(
    r"</?(?:h[1-6]|b|i|u|p|s|a|br|hr|em|strong|code|pre|sub|sup|table|caption|thead|tbody|tfoot|tr|th|td"
    r"|ul|ol|li|dl|dt|dd|blockquote|img|div|span|html|body|head|title)>"
)
"""Some vocabularies list these like control tokens, and mean what they are."""


class ForeignText:
    """Encodes with a tokeniser, but takes no spelling in a text for a control token.

    Control tokens are all special ones, and other added ones in brackets that are no HTML. A text that spells
    none of them is encoded by the tokeniser itself.
    """

    def __init__(self, tokeniser: Any) -> None:
        self._tokeniser = tokeniser
        added: Mapping[int, Any] = tokeniser.added_tokens_decoder
        self._controls = {int(k): str(token) for k, token in added.items() if _is_control(token)}
        self._unknown = tokeniser.unk_token_id
        self._framing: dict[tuple[int, bool], int] = {}

    @cached_property
    def spelling(self) -> re.Pattern[str]:
        """Matches the spelling of a control token; of several the longest."""
        ordered = sorted(self._controls.values(), key=len, reverse=True)
        return re.compile("|".join(map(re.escape, ordered)) or r"(?!)")

    def encoded(self, *sides: str, **options: Any) -> Mapping[str, list[int]]:
        """A text, or a pair of texts, as the tokeniser itself encodes it with these options."""
        encoding: Mapping[str, list[int]] = self._tokeniser(*sides, **options)
        is_hostile = self._spells(encoding["input_ids"], sides, options)
        return self._encoded_inert(sides, options) if is_hostile else encoding

    def ids(self, text: str) -> tuple[int, ...]:
        """A text without special tokens in front, within or behind."""
        return tuple(self.encoded(text, add_special_tokens=False, verbose=False)["input_ids"])

    def many_ids(self, texts: Sequence[str], **options: Any) -> list[list[int]]:
        """Each of the texts, encoded together."""
        rows: Sequence[list[int]] = self._tokeniser(list(texts), **options)["input_ids"]
        return [
            self._encoded_inert((text,), options)["input_ids"] if self._spells(ids, (text,), options) else ids
            for text, ids in zip(texts, rows, strict=True)
        ]

    def spells(self, text: str) -> bool:
        """Whether the tokeniser would take a part of the text for a control token."""
        options = {"add_special_tokens": False, "verbose": False}
        return self._spells(self._tokeniser(text, **options)["input_ids"], (text,), options)

    def _spells(self, ids: Sequence[int], sides: Sequence[str], options: Mapping[str, Any]) -> bool:
        """Whether there are more control tokens than the tokeniser adds by itself."""
        framed = bool(options.get("add_special_tokens", True))
        n_own = self._framing.get((len(sides), framed))
        if n_own is None:
            empty = self._tokeniser(*[""] * len(sides), add_special_tokens=framed)["input_ids"]
            n_own = self._framing[len(sides), framed] = self._n_controls(empty)
        if self._unknown in ids and any(str(self._tokeniser.unk_token) in side for side in sides):
            return True
        return self._n_controls(ids) > n_own

    def _n_controls(self, ids: Sequence[int]) -> int:
        return sum(1 for k in ids if k in self._controls and k != self._unknown)

    def _encoded_inert(self, sides: Sequence[str], options: Mapping[str, Any]) -> Mapping[str, list[int]]:
        inert, more = self._inert, {}
        if inert is None:  # a tokeniser in Python: it splits its special tokens itself
            inert, more = self._tokeniser, {"split_special_tokens": True}
        encoding: Mapping[str, list[int]] = inert(*sides, **more, **options)
        return encoding

    @cached_property
    def _inert(self) -> Any | None:
        backend = getattr(self._tokeniser, "backend_tokenizer", None)
        if not hasattr(backend, "to_str"):
            return None
        inert = copy.copy(self._tokeniser)
        inert._tokenizer = inert_backend(backend)
        return inert


def inert_backend(backend: Any) -> Any:
    """A copy of a `tokenizers.Tokenizer` that no text makes give a control token; other ids are the same.

    The control tokens keep their ids under names that nobody can write, as they are drawn anew.
    """
    state: dict[str, Any] = json.loads(backend.to_str())
    model, added = state["model"], state["added_tokens"]
    controls = {token["content"] for token in added if _is_control_entry(token)}
    # what merges make is read letter by letter from any text, and is no control token to the model itself
    merged = controls & {part for merge in model.get("merges") or () for part in _merged(merge)}
    names = {content: f"\ufdd0{secrets.token_hex(8)}" for content in sorted(controls - merged)}
    state["added_tokens"] = [
        token | {"content": names.get(token["content"], token["content"])}
        for token in added
        if token["content"] not in merged
    ]
    model["vocab"] = _renamed(model["vocab"], names)
    if model.get("unk_token") in names:
        model["unk_token"] = names[model["unk_token"]]
    from tokenizers import Tokenizer

    return Tokenizer.from_str(json.dumps(state))


def _renamed(vocabulary: Any, names: Mapping[str, str]) -> Any:
    """A vocabulary with other names for some pieces: ids by piece, or pieces with their scores."""
    if isinstance(vocabulary, dict):
        return {names.get(piece, piece): k for piece, k in vocabulary.items()}
    return [[names.get(piece, piece), score] for piece, score in vocabulary]


def _merged(merge: Any) -> tuple[str, ...]:
    """The two parts of a merge, and what comes of them."""
    first, second = merge.split(" ", 1) if isinstance(merge, str) else merge
    return first, second, first + second


def _is_control_entry(entry: Mapping[str, Any]) -> bool:
    return _is_bracketed(entry["content"], special=entry["special"])


def _is_control(token: Any) -> bool:
    return _is_bracketed(str(token), special=bool(token.special))


def _is_bracketed(content: str, *, special: bool) -> bool:
    """Whether an added token is a control token; runs of white space and words of a field are text."""
    if special:
        return True
    bare = content.strip()
    return len(bare) > 2 and bare[0] + bare[-1] in _BRACKETS and not _HTML.fullmatch(bare)
