"""Tolerant readers of an endpoint's JSON reply: text, usage, and lists of tokens with log-probabilities.

Endpoints list log-probabilities in three shapes. Chat lists the generated tokens, each with its bytes; vLLM's
`prompt_logprobs` give the token at every place of the prompt, with its rank in the whole vocabulary;
completions give parallel lists, with `echo` those of the prompt too. (vLLM, OpenAI-compatible server:
`Logprob`, `CompletionLogProbs`; OpenAI, API reference: `ChatCompletionTokenLogprob`.)
"""

import codecs
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.core.endings import meaning_of
from vivavoce.core.numbers import finite
from vivavoce.core.text import one_line
from vivavoce.models.requests import FatalError, Generation, Likelihood, RejectedError, RetryableError, Usage

NO_NUMBER = -9999.0
"""Endpoints write this for a log-probability below what they report, or for minus infinity."""

_BLANKS = re.compile(r"\s*")
_MOST_TOKENS = 1 << 53
_ROUNDING = 1e-3
_CERTAIN = 1e-6
LONG_CERTAIN = 10
"""Tokens of an answer from which a model is not certain of each: short ones, as in a form, may all be."""


def first_choice(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first choice of a reply; `RetryableError` where there is none."""
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise RetryableError("the answer has no choices")
    return choices[0]


def as_dict(value: Any) -> dict[str, Any]:
    """`value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """`value` if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def word(value: Any) -> str | None:
    """`value` if it is a text that is not empty, else null."""
    return value if isinstance(value, str) and value else None


def stated_usage(reply: Mapping[str, Any]) -> Usage:
    """The tokens in a reply's usage, under any provider's names; null where they are no counts.

    Input holds what came from the endpoint's cache. Tokens of the total that are in neither count are output
    too: Gemini's endpoints count thinking there alone, and charge for it.
    """
    usage = _usage_part(reply)
    usages = (_usage_by(usage, names) for names in _COUNTS)
    return next((counts for counts in usages if counts != Usage()), Usage())


def _usage_by(usage: Mapping[str, Any], names: "_Counts") -> Usage:
    """The tokens in a usage under these names."""
    sent, generated, total = (_count_in(usage, n) for n in (names.sent, names.generated, names.total))
    if sent is None:
        return Usage(None, generated)
    sent += sum(_count_in(usage, name) or 0 for name in names.cached)
    excess = 0 if total is None else total - sent
    return Usage(sent, max(generated or 0, excess) if excess > 0 else generated)


def stated_thinking(reply: Mapping[str, Any]) -> int | None:
    """Tokens of thinking in a reply's usage; null where it states none.

    They are stated by themselves, or are those of the total that are neither prompt nor answer.
    """
    usage = _usage_part(reply)
    details = [as_dict(usage.get(name)) for name in ("completion_tokens_details", "output_tokens_details")]
    for part, name in [*((part, "reasoning_tokens") for part in (*details, usage)), (usage, _THOUGHTS)]:
        if tokens := _count_in(part, name):
            return tokens
    answers = [n for names in _COUNTS if (n := _count_in(usage, names.generated)) is not None]
    return (stated_usage(reply).output or 0) - answers[0] or None if answers else None


class _Counts(NamedTuple):
    """The names of the counts in a usage; `cached` are tokens of the prompt that `sent` leaves out."""

    sent: str
    generated: str
    total: str = "total_tokens"
    cached: tuple[str, ...] = ()


_COUNTS = (
    _Counts("prompt_tokens", "completion_tokens"),  # OpenAI
    _Counts(
        "input_tokens",
        "output_tokens",
        cached=(
            *("cache_read_input_tokens", "cache_creation_input_tokens"),  # Anthropic
            *("input_tokens_cache_read", "input_tokens_cache_write"),  # Inspect
        ),
    ),
    _Counts("promptTokenCount", "candidatesTokenCount", "totalTokenCount"),  # Gemini
)
_THOUGHTS = "thoughtsTokenCount"


def _usage_part(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    return as_dict(reply.get("usage")) or as_dict(reply.get("usageMetadata"))


def _count_in(usage: Mapping[str, Any], name: str) -> int | None:
    """A number of tokens; null for what is none."""
    n = usage.get(name)
    return n if type(n) is int and 0 <= n < _MOST_TOKENS else None


def logprobs_of(numbers: Sequence[Any]) -> tuple[float, ...] | None:
    """Log-probabilities as the endpoint gave them; null for none.

    `RetryableError`, naming the place, where one is missing, no number, or above 0 by more than rounding (a
    server that is set to give logits).
    """
    for place, n in enumerate(numbers, 1):
        if (number := finite(n)) is None or number > _ROUNDING:
            raise RetryableError(
                f"a log-probability is {one_line(repr(n), 40)} (that of token {place} of {len(numbers)})"
            )
    return tuple(map(float, numbers)) or None


def are_certain(logprobs: Iterable[Any]) -> bool:
    """Whether all these log-probabilities are 0, but for rounding; true of none."""
    return all(number is not None and number >= -_CERTAIN for number in map(finite, logprobs))


def _refuse_certain_text(numbers: Sequence[Any]) -> None:
    """Raise `RejectedError` where every token of a text, its prompt included, would be certain.

    Some servers write 0.0 for the log-probabilities that they do not compute. A single token may be certain.
    """
    listed = [number for number in numbers if number is not None]
    if len(listed) > 1 and are_certain(listed):
        raise RejectedError(
            "the endpoint gives every token of the text the log-probability 0.0, the prompt's too: its "
            "server computes none, so it has no likelihood"
        )


TargetLikelihood = tuple[tuple[float, ...], Likelihood]
ResponseLogprobs = tuple[tuple[float, ...] | None, tuple[Generation, ...]]


def with_space(target: str, stands: str) -> str:
    """`target` as it follows the text before it: after one blank, where no white space separates the two.

    No blank is added where the target begins with white space, `stands` ends in it, or one is empty.
    """
    parted = not target or not stands or target[0].isspace() or stands[-1].isspace()
    return target if parted else f" {target}"


def spelling(tokens: Sequence[str], target: str, offsets: Sequence[Any] = ()) -> int:
    """Where the last tokens that spell `target` begin; one that straddles its beginning belongs to it.

    Counted from the end, because what stands before (a template, a mark of the beginning) is the server's.
    A token shown by itself may lack the blank before a word, so blanks count only where that fits. Half
    characters are shown as marks of replacement: where the tokens do not spell the target their offsets
    count; where there are none, or the target is plain ASCII, it is `RejectedError`.
    """
    if not target:
        return len(tokens)
    for form in (str, _squeezed):
        start, text, goal = len(tokens), "", form(target)
        while start and len(text) < len(goal):
            start -= 1
            text = form(tokens[start]) + text
        if goal and text.endswith(goal):
            blank_before = (
                form is _squeezed and start > 0 and target[0].isspace() and tokens[start - 1].isspace()
            )
            return start - blank_before
    return _start_by_offsets(tokens, target, offsets)


def _start_by_offsets(tokens: Sequence[str], target: str, offsets: Sequence[Any]) -> int:
    """Where the target begins by the tokens' offsets in the text; `RejectedError` where they do not say."""
    counted = [n for n in offsets if type(n) is int and n >= 0]
    numbered = len(counted) == len(tokens) > 0 and counted == sorted(counted)
    if target.isascii() or not numbered or counted[-1] + len(tokens[-1]) < len(target):
        raise RejectedError("the endpoint's tokens do not spell the target, so it has no likelihood")
    border = counted[-1] + len(tokens[-1]) - len(target)
    ends = [*counted[1:], border + len(target)]
    return next(k for k, end in enumerate(ends) if end > border)


def _squeezed(text: str) -> str:
    return "".join(text.split())


def likelihood_from_prompt_logprobs(listed: Sequence[Any], target: str) -> TargetLikelihood:
    """Log-probabilities and likelihood of the `target` that ends a prompt, out of vLLM's `prompt_logprobs`.

    `verbatim` follows from the ranks; a token as likely as another has, as the server counts, the last rank
    of the equals, so a tie ends it. Raises `RejectedError` where the tokens do not spell the target.
    """
    # Of each place the token that is there comes first; others may follow if the server lists more.
    chosen = [as_dict(next(iter(as_dict(place).values()), None)) for place in listed]
    _refuse_certain_text([entry.get("logprob") for entry in chosen])
    start = spelling([word(entry.get("decoded_token")) or "" for entry in chosen], target)
    ranks = [entry.get("rank") for entry in chosen[start:]]
    return _target_likelihood(
        [entry.get("logprob") for entry in chosen[start:]],
        [rank == 1 if type(rank) is int else None for rank in ranks],
    )


def likelihood_from_echo(name: str, choice: Mapping[str, Any], before: str, target: str) -> TargetLikelihood:
    """Log-probabilities and likelihood of the `target` after `before`, out of an echo of both.

    `verbatim` follows from the likeliest token of each place, where that is listed; a tie counts as the
    likeliest. Raises `FatalError`, for `name`, where nothing is echoed; `RejectedError` where the tokens do
    not spell the target, or it begins the text and the server puts no mark of the beginning before it.
    """
    listed = as_dict(choice.get("logprobs"))
    numbers, tokens = as_list(listed.get("token_logprobs")), as_list(listed.get("tokens"))
    no_logprobs = FatalError(f"{name}: the endpoint echoes no log-probabilities, so it gives no likelihood.")
    if not tokens:
        raise no_logprobs
    if len(numbers) != len(tokens):
        raise RetryableError(
            f"the reply is malformed: it lists {len(tokens)} tokens and {len(numbers)} log-probabilities"
        )
    words = _echoed([word(token) or "" for token in tokens], word(choice.get("text")) or "", before + target)
    start = spelling(words, target, as_list(listed.get("text_offset"))[: len(words)])
    if target and start == 0 and numbers[0] is None:
        raise RejectedError(
            "the target begins the text, and the first token has no probability: give a prompt"
        )
    if target and start == 0 and before.strip():
        raise no_logprobs  # a number of a token that it made, not of one that it was given
    _refuse_certain_text(numbers[: len(words)])
    tops = as_list(listed.get("top_logprobs"))
    tops = tops if len(tops) == len(tokens) else [None] * len(tokens)
    span = slice(start, len(words))
    return _target_likelihood(
        numbers[span], [_top(n, top) for n, top in zip(numbers[span], tops[span], strict=True)]
    )


def _echoed(words: list[str], text: str, prompt: str) -> list[str]:
    """The tokens without those that a server generated though it was asked for none."""
    extra = len(text) - len(prompt) if text.startswith(prompt) else 0
    while extra > 0 and words:
        extra -= len(words.pop())
    return words


def _top(number: Any, listed: Any) -> bool | None:
    """True if no token listed for the place is likelier; null where none is listed."""
    # By numbers, because two tokens may be shown alike.
    logprobs = [n for n in as_dict(listed).values() if isinstance(n, int | float)]
    return number >= max(logprobs) if logprobs and isinstance(number, int | float) else None


def _target_likelihood(numbers: Sequence[Any], likeliest: Iterable[bool | None]) -> TargetLikelihood:
    logprobs = logprobs_of(numbers) or ()
    for place, n in enumerate(logprobs, 1):
        if n <= NO_NUMBER:
            raise RejectedError(
                f"the endpoint gives {n:g} for token {place} of {len(logprobs)} of the target, which stands "
                "for a probability too small to tell, so it has no likelihood",
                of_question=True,
            )
    return logprobs, Likelihood(math.fsum(logprobs), len(logprobs), _verbatim(likeliest))


def _verbatim(likeliest: Iterable[bool | None]) -> int | None:
    count = 0
    for is_likeliest in likeliest:
        if is_likeliest is None:
            return None
        if not is_likeliest:
            break
        count += 1
    return count


def generation_from_chat(choice: Mapping[str, Any], text: str | None) -> ResponseLogprobs:
    """The tokens of the answer `text`, out of chat's `logprobs.content`; see `_response_logprobs`.

    A character that is cut into tokens is put together from their bytes, and belongs to the last of them.
    """
    entries = [as_dict(entry) for entry in as_list(as_dict(choice.get("logprobs")).get("content"))]
    reader, pieces = codecs.getincrementaldecoder("utf-8")("replace"), []
    for entry in entries:
        raw, spelled = entry.get("bytes"), word(entry.get("token")) or ""
        has_bytes = isinstance(raw, list) and all(type(b) is int and 0 <= b < 256 for b in raw)
        pieces.append(reader.decode(bytes(raw or ()) if has_bytes else spelled.encode("utf-8", "replace")))
    return _response_logprobs(text, pieces, [entry.get("logprob") for entry in entries], choice)


def generation_from_completions(choice: Mapping[str, Any], text: str | None) -> ResponseLogprobs:
    """The tokens of the answer `text`, out of the lists of completions; see `_response_logprobs`."""
    listed = as_dict(choice.get("logprobs"))
    pieces = [word(token) or "" for token in as_list(listed.get("tokens"))]
    return _response_logprobs(text, pieces, as_list(listed.get("token_logprobs")), choice)


def _response_logprobs(
    text: str | None, pieces: list[str], numbers: Sequence[Any], choice: Mapping[str, Any]
) -> ResponseLogprobs:
    """All log-probabilities of a response, null where one is missing; and the response as one `Generation`.

    Its pieces spell the text: tokens after it (the closing one, those of a stop string) are left out, and one
    in which a stop string begins is cut there. Where the tokens do not spell the text (they hold the
    reasoning before it, or replacement characters) there are no pieces, and all numbers are kept: nothing
    says which of them belong to the text. `closing` is that of the one token after the text where vLLM's
    `stop_reason` shows that a token ended it, not a stop string. A long answer of which every token would be
    certain has no log-probabilities: its server reports those after the choice of a token, or none.
    """
    logprobs = logprobs_of(numbers)
    if logprobs and min(logprobs) <= NO_NUMBER:
        logprobs = None
    if text is None or logprobs is None:
        return logprobs, ()
    parts = _parts(pieces, text) if len(pieces) == len(logprobs) else None
    own_logprobs = logprobs if parts is None else logprobs[: len(parts)]
    single = parts is not None and len(logprobs) == len(parts) + 1
    closing = logprobs[-1] if single and _ended_by_token(choice) else None
    ended = _ended_by_model(choice)
    if len(own_logprobs) >= LONG_CERTAIN and are_certain(own_logprobs):
        logprobs = None
    return logprobs, (Generation(text, (), tuple(parts or ()), own_logprobs, ended, closing),)


def _ended_by_model(choice: Mapping[str, Any]) -> bool:
    return meaning_of(word(choice.get("finish_reason"))) == "stop"


def _ended_by_token(choice: Mapping[str, Any]) -> bool:
    """Whether vLLM says that a token ended the response, and not a stop string."""
    stopped = _ended_by_model(choice) and "stop_reason" in choice
    return stopped and not isinstance(choice["stop_reason"], str)


def _parts(pieces: Iterable[str], text: str) -> list[str] | None:
    """The text in pieces as it stands in it; null where they do not spell it."""
    parts: list[str] = []
    position = 0
    for piece in pieces:
        if position == len(text):
            break
        blanks = _BLANKS.match(text, position)
        word_at = blanks.end() if blanks else position
        if text.startswith(piece, position):
            end = position + len(piece)
        elif text.startswith(piece, word_at):  # shown by itself it lacks the blank before a word
            end = word_at + len(piece)
        elif piece.startswith(text[position : position + len(piece)]):  # it goes on after the end of the text
            end = len(text)
        else:
            return None
        parts.append(text[position:end])
        position = end
    return parts if position == len(text) else None
