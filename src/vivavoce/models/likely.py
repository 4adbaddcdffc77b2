"""What an endpoint's lists of tokens say: how likely a given text is, and in which tokens an answer came.

Endpoints list log-probabilities in three shapes. Chat lists the generated tokens, each with its bytes; vLLM's
`prompt_logprobs` give for every place of the prompt the token that stands there, with its rank in the whole
vocabulary; completions give parallel lists, `echo` those of the prompt too. (vLLM, OpenAI-compatible server:
`Logprob`, `CompletionLogProbs`; OpenAI, API reference: `ChatCompletionTokenLogprob`.)
"""

import codecs
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vivavoce.models import Broken, Drawn, Likelihood, Refused
from vivavoce.models.replies import as_dict, as_list, logprobs_of, word

__all__ = ["drawn_in_chat", "drawn_in_completions", "of_echo", "of_places", "spaced", "spelling"]

NO_NUMBER = -9999.0
"""Endpoints write this for a log-probability below what they tell, or for minus infinity."""

_BLANKS = re.compile(r"\s*")

Told = tuple[tuple[float, ...], Likelihood]
Listed = tuple[tuple[float, ...] | None, tuple[Drawn, ...]]


def spaced(target: str, stands: str) -> str:
    """`target` as it follows on what `stands` before it: after one blank, where nothing parts the two.

    No blank is added where the target begins with whitespace, what stands before ends in it, or one is empty.
    """
    parted = not target or not stands or target[0].isspace() or stands[-1].isspace()
    return target if parted else f" {target}"


def spelling(tokens: Sequence[str], target: str, offsets: Sequence[Any] = ()) -> int:
    """Where the last tokens that spell `target` begin; one that straddles its beginning belongs to it.

    Counted from the end, because what stands before (a template, a mark of the beginning) is the server's.
    A token shown by itself may lack the blank before a word, so blanks count only where that fits. Half
    characters are shown as marks of replacement: where the tokens do not spell the target their offsets
    count; where there are none, or the target is plain ASCII, it is `Refused`.
    """
    if not target:
        return len(tokens)
    for form in (str, _squeezed):
        start, text, wanted = len(tokens), "", form(target)
        while start and len(text) < len(wanted):
            start -= 1
            text = form(tokens[start]) + text
        if wanted and text.endswith(wanted):
            apart = form is _squeezed and start > 0 and target[0].isspace() and tokens[start - 1].isspace()
            return start - apart
    counted = [n for n in offsets if type(n) is int and n >= 0]
    numbered = len(counted) == len(tokens) > 0 and counted == sorted(counted)
    if target.isascii() or not numbered or counted[-1] + len(tokens[-1]) < len(target):
        raise Refused("the endpoint's tokens do not spell the target, so it has no likelihood")
    border = counted[-1] + len(tokens[-1]) - len(target)
    ends = [*counted[1:], border + len(target)]
    return next(k for k, end in enumerate(ends) if end > border)


def _squeezed(text: str) -> str:
    return "".join(text.split())


def of_places(listed: Sequence[Any], target: str) -> Told:
    """Log-probabilities and likelihood of the `target` that ends a prompt, out of vLLM's `prompt_logprobs`.

    `verbatim` follows from the ranks; a token as likely as another has, as the server counts, the last rank
    of the equals, so a tie ends it. Raises `Refused` where the tokens do not spell the target.
    """
    # Of each place the token that is there comes first; others may follow if the server lists more.
    chosen = [as_dict(next(iter(as_dict(place).values()), None)) for place in listed]
    start = spelling([word(entry.get("decoded_token")) or "" for entry in chosen], target)
    ranks = [entry.get("rank") for entry in chosen[start:]]
    return _told(
        [entry.get("logprob") for entry in chosen[start:]],
        [rank == 1 if type(rank) is int else None for rank in ranks],
    )


def of_echo(name: str, choice: Mapping[str, Any], before: str, target: str) -> Told:
    """Log-probabilities and likelihood of the `target` after `before`, out of an echo of both.

    `verbatim` follows from the likeliest token of each place, where that is listed; a tie counts as the
    likeliest. Raises `Broken`, for `name`, where nothing is echoed; `Refused` where the tokens do not spell
    the target, or it begins the text and the server puts no mark of the beginning before it.
    """
    listed = as_dict(choice.get("logprobs"))
    numbers, tokens = as_list(listed.get("token_logprobs")), as_list(listed.get("tokens"))
    none = Broken(f"{name}: the endpoint echoes no log-probabilities, so it gives no likelihood.")
    if not tokens or len(numbers) != len(tokens):
        raise none
    words, text = [word(token) or "" for token in tokens], word(choice.get("text")) or ""
    more = len(text) - len(before + target) if text.startswith(before + target) else 0
    while more > 0 and words:  # it went on, though it was asked for no token
        more -= len(words.pop())
    start = spelling(words, target, as_list(listed.get("text_offset"))[: len(words)])
    if target and start == 0 and numbers[0] is None:
        raise Refused("the target begins the text, and the first token has no probability: give a prompt")
    if target and start == 0 and before.strip():
        raise none  # a number of a token that it made, not of one that it was given
    tops = as_list(listed.get("top_logprobs"))
    tops = tops if len(tops) == len(tokens) else [None] * len(tokens)
    kept = slice(start, len(words))
    return _told(numbers[kept], [_top(n, top) for n, top in zip(numbers[kept], tops[kept], strict=True)])


def _top(number: Any, listed: Any) -> bool | None:
    """True if no token listed for the place is likelier; null where none is listed."""
    # By numbers, because two tokens may be shown alike.
    others = [n for n in as_dict(listed).values() if isinstance(n, int | float)]
    return number >= max(others) if others and isinstance(number, int | float) else None


def _told(numbers: Sequence[Any], likeliest: Iterable[bool | None]) -> Told:
    logprobs = logprobs_of(numbers) or ()
    for place, n in enumerate(logprobs, 1):
        if n <= NO_NUMBER:
            raise Refused(
                f"the endpoint gives {n:g} for token {place} of {len(logprobs)} of the target, which stands "
                "for a probability too small to tell, so it has no likelihood"
            )
    return logprobs, Likelihood(math.fsum(logprobs), len(logprobs), _verbatim(likeliest))


def _verbatim(likeliest: Iterable[bool | None]) -> int | None:
    count = 0
    for one in likeliest:
        if one is None:
            return None
        if not one:
            break
        count += 1
    return count


def drawn_in_chat(choice: Mapping[str, Any], text: str | None) -> Listed:
    """The tokens of the answer `text`, out of chat's `logprobs.content`; see `_listed`.

    A character that is cut into tokens is put together from their bytes, and belongs to the last of them.
    """
    entries = [as_dict(entry) for entry in as_list(as_dict(choice.get("logprobs")).get("content"))]
    reader, pieces = codecs.getincrementaldecoder("utf-8")("replace"), []
    for entry in entries:
        raw, shown = entry.get("bytes"), word(entry.get("token")) or ""
        told = isinstance(raw, list) and all(type(b) is int and 0 <= b < 256 for b in raw)
        pieces.append(reader.decode(bytes(raw or ()) if told else shown.encode("utf-8", "replace")))
    return _listed(text, pieces, [entry.get("logprob") for entry in entries], choice)


def drawn_in_completions(choice: Mapping[str, Any], text: str | None) -> Listed:
    """The tokens of the answer `text`, out of the lists of completions; see `_listed`."""
    listed = as_dict(choice.get("logprobs"))
    pieces = [word(token) or "" for token in as_list(listed.get("tokens"))]
    return _listed(text, pieces, as_list(listed.get("token_logprobs")), choice)


def _listed(text: str | None, pieces: list[str], numbers: Sequence[Any], choice: Mapping[str, Any]) -> Listed:
    """All log-probabilities of an answer, null where one is not told; and the answer as one `Drawn`, or none.

    Its pieces spell the text: tokens after it (the closing one, those of a stop string) are left out, and one
    in which a stop string begins is cut there. Where the tokens do not spell the text (they hold the
    reasoning before it, or marks of replacement) there are no pieces, and its numbers are all that are
    listed: nobody can say which of them are the text's. `closing` is that of the one token after the text
    where the endpoint tells that a token ended it: vLLM's `stop_reason` is there, and is no stop string.
    """
    logprobs = logprobs_of(numbers)
    if logprobs and min(logprobs) <= NO_NUMBER:
        logprobs = None
    if text is None or logprobs is None:
        return logprobs, ()
    parts = _parts(pieces, text) if len(pieces) == len(logprobs) else None
    told = logprobs if parts is None else logprobs[: len(parts)]
    ended = choice.get("finish_reason") == "stop"
    by_token = ended and "stop_reason" in choice and not isinstance(choice["stop_reason"], str)
    single = parts is not None and len(logprobs) == len(parts) + 1
    closing = logprobs[-1] if by_token and single else None
    return logprobs, (Drawn(text, (), tuple(parts or ()), told, ended, closing),)


def _parts(pieces: Iterable[str], text: str) -> list[str] | None:
    """The text in pieces as it stands in it; null where they do not spell it."""
    parts: list[str] = []
    at = 0
    for piece in pieces:
        if at == len(text):
            break
        blanks = _BLANKS.match(text, at)
        word_at = blanks.end() if blanks else at
        if text.startswith(piece, at):
            end = at + len(piece)
        elif text.startswith(piece, word_at):  # shown by itself it lacks the blank before a word
            end = word_at + len(piece)
        elif piece.startswith(text[at : at + len(piece)]):  # it goes on after the end of the text
            end = len(text)
        else:
            return None
        parts.append(text[at:end])
        at = end
    return parts if at == len(text) else None
