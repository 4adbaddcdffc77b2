"""How an answer ended: one table for the words of all providers, servers and tools that log answers.

Sources: OpenAI, chat completions and responses; Anthropic, messages; Google, `Candidate.FinishReason` of
Gemini and Vertex AI; Amazon Bedrock, `Converse`; Cohere, chat v2; Mistral; xAI; IBM watsonx; DeepSeek; Z.ai;
Ollama; vLLM; SGLang; TGI; llama.cpp; HELM's clients; Inspect's `StopReason`.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Literal

from vivavoce.core.text import lazy_pattern, one_line

FinishReason = Literal["stop", "length", "content_filter", "tool_calls", "failure"]
"""What a word means: the model ended, a limit of tokens, a filter, a call of a tool, a broken endpoint."""
Ending = Literal["complete", "cut", "filtered"]

_WORDS: dict[FinishReason, str] = {
    "stop": "stop stopped stop_sequence stop_str stop_string stop_token stop_word word end end_turn "
    "end_of_turn end_of_text endoftext eos eos_token complete completed finish finished done normal success",
    "length": "length limit max_tokens max_output max_output_tokens max_completion_tokens max_new_tokens "
    "max_length max_len max_context token_limit model_length context context_length context_length_exceeded "
    "context_window_exceeded model_context_window_exceeded incomplete error_limit",
    "content_filter": "content_filter content_filtered content_policy content_policy_violation filter "
    "filtered refusal safety recitation blocked blocklist prohibited_content spii language model_armor "
    "image_safety image_prohibited_content image_recitation guardrail_intervened guardrails moderation "
    "sensitive error_toxic",
    "tool_calls": "tool_calls tool_call tool_use function_call function_calls",
    # What the model wrote is lost, or was cut off by the endpoint.
    "failure": "abort aborted cancel cancelled canceled user_cancel failed failure timeout timed_out "
    "time_out time_limit deadline_exceeded overloaded engine_overloaded insufficient_system_resource load "
    "unload malformed_function_call malformed_tool_use malformed_response malformed_model_output "
    "unexpected_tool_call too_many_tool_calls missing_thought_signature no_image image_other",
}
_MEANINGS: dict[str, FinishReason] = {w: meaning for meaning, words in _WORDS.items() for w in words.split()}
_EXACT: dict[str, FinishReason] = {"OTHER": "failure"}
"""Gemini's word. In small letters it is that of other tools, for a reason that they do not know."""
_ENDINGS: dict[FinishReason, Ending] = {
    "stop": "complete",
    "tool_calls": "complete",
    "length": "cut",
    "failure": "cut",
    "content_filter": "filtered",
}
_PREFIX = re.compile(r"(?:finish_?reason[._]|stop_?reason[._]|reason_)+")
_SEPARATORS = re.compile(r"[\s-]+")


def meaning_of(finish_reason: str | None) -> FinishReason | None:
    """What a provider's word for the end of a reply means; null for none, and for an unknown word.

    Case, hyphens and the name of an enumeration before it (`FinishReason.SAFETY`) do not matter. Of a word
    with a detail, such as `content_filter: PROHIBITED_CONTENT`, the first part that is known counts. Every
    word that ends in `error` is a failure.
    """
    for part in (finish_reason or "").split(":"):
        word = part.strip()
        plain = _PREFIX.sub("", _SEPARATORS.sub("_", word).lower())
        meaning = _EXACT.get(word.rpartition(".")[2]) or _MEANINGS.get(plain)
        if meaning or plain.endswith("error"):
            return meaning or "failure"
    return None


def ending(finish_reason: str | None) -> Ending | None:
    """How an answer ended whose reply has this reason: `complete`, `cut` or `filtered`; null: not known.

    A text that an endpoint ended by a failure or a limit of time is cut, like one at a limit of tokens.
    """
    meaning = meaning_of(finish_reason)
    return _ENDINGS[meaning] if meaning else None


def stored_reason(finish_reason: str | None) -> str | None:
    """The word that is stored: `stop`, `length`, `content_filter` or `tool_calls` for every word like it.

    A failure and an unknown word stay as they are; null and a blank word are null.
    """
    meaning = meaning_of(finish_reason)
    return (finish_reason or "").strip() or None if meaning in (None, "failure") else meaning


SERVER_ERROR = "server_error"
"""The field of a response's `meta` that keeps the error of a server, which came in place of an answer."""
_LONGEST_ERROR = 20_000
_CODE = r"\b(?:4(?:[012]\d|31|51|9[89])|5(?:0\d|1[01]|2\d|30))\b"
_PHRASES = {
    "400": "bad request", "401": "unauthorized", "402": "payment required", "403": "forbidden",
    "404": "not found", "405": "method not allowed", "406": "not acceptable", "408": "request time-?out",
    "409": "conflict", "411": "length required", "413": "(?:payload|request entity|content) too large",
    "422": "unprocessable (?:entity|content)", "429": "too many requests", "499": "client closed request",
    "500": "internal server error", "501": "not implemented", "502": "bad gateway",
    "503": "service (?:temporarily )?unavailable", "504": "gateway time-?out", "507": "insufficient storage",
    "521": "web server is down", "52[24]": "(?:a |connection )time-?(?:d )?out(?: occurred)?",
    "529": "(?:site is )?overloaded",
}  # fmt: skip
"""What a status means, in the words of HTTP and of servers that stand before others."""
_PHRASE = f"(?:{'|'.join(_PHRASES.values())})"
_CODE_AND_PHRASE = (
    "(?:"
    + "|".join(
        rf"\b{code}[\s:,(–-]{{1,4}}(?:(?:server|client) error[\s:]{{1,3}})?{phrase}\b"
        for code, phrase in _PHRASES.items()
    )
    + rf"|{_CODE} (?-i:RESOURCE_EXHAUSTED|INVALID_ARGUMENT|DEADLINE_EXCEEDED|PERMISSION_DENIED|UNAVAILABLE|"
    "UNAUTHENTICATED|FAILED_PRECONDITION|INTERNAL|NOT_FOUND)" + r"\b)"
)
"""A status with its own meaning: "400: not acceptable" may speak of a dose."""
_TELLING = (
    "(?:too many requests|internal server error|bad gateway|gateway time-?out|no healthy upstream|"
    "service (?:temporarily )?unavailable|upstream (?:connect error|request timeout)|request timed? ?out|"
    "connection (?:error|refused|reset(?: by peer)?|aborted|timed out)|read timed out|"
    "rate limit (?:reached|exceeded)|quota exceeded|insufficient quota|you exceeded your current quota|"
    r"(?:the|that|this)? ?(?:server|model|engine)(?: [\w./-]{1,60})? is (?:currently |temporarily )?"
    "(?:overloaded|unavailable|loading)|the server had an error while processing|cuda out of memory|"
    r"max retries exceeded with url|this model's maximum context length is \d)"
)
"""Phrases of servers and clients that no medical answer holds."""
_CLASS = (
    r"(?-i:(?:[A-Za-z_]\w*\.){0,5}(?:(?:RateLimit|API|APIConnection|APITimeout|APIStatus|InternalServer|"
    "ServiceUnavailable|Authentication|BadRequest|PermissionDenied|InvalidRequest|Overloaded|HTTP|HTTPStatus|"
    "Connect|Connection|ClientConnector|ClientResponse|ServerDisconnected|Timeout|OutOfMemory|JSONDecode)Error|"
    r"(?:Read|Connect|Pool)Timeout|ResourceExhausted|ThrottlingException|(?<=\.)Timeout) ?[:(])"
)
"""What clients raise, before what it says."""
_STATUS_LINE = (
    rf"(?:(?:http(?:/\d(?:\.\d)?)?|status|server|api|error|code)[\s:\]]{{1,3}}){{0,3}}{_CODE_AND_PHRASE}"
)
_AN_ERROR = (
    r"(?:an |api |server |request )?(?:error|exception)\b[\s:—-]{0,9}(?:(?:code|message|occurred)[\s:]{0,9})?"
)
_BEGINNING = lazy_pattern(
    rf"[\s\"'`*\[]{{0,9}}(?:{_STATUS_LINE}|{_AN_ERROR}(?:{_CODE}\s*-?\s*[\[{{]|{_TELLING}\b|{_CLASS})|{_CLASS}|"
    r"upstream connect error|HTTPS?ConnectionPool\(|Traceback \(most recent call last\):)",
    re.IGNORECASE,
)
"""How the error of a server begins, whatever comes behind."""
_WHOLE = lazy_pattern(
    rf"[\s\"'`*\[]{{0,9}}(?:{_AN_ERROR})?{_TELLING}"
    r"(?: with other requests| for (?=[\w./-]*[\d/-])[\w./-]{1,60})?"
    r"(?:[\s.!\"'`*]*|[.,:!] (?=[^\n]*\b(?:retry|try again|please|limit|quota|requests?|tokens?|seconds?|"
    r"later|allocate|billing|server|host|port|https?|currently)\b)[^\n]{0,200})"
    rf"|[\s\"'`*\[]{{0,9}}{_AN_ERROR}(?:{_CODE}|time-?out|timed out|overloaded(?:_error)?)[\s.!\"'`*]*",
    re.IGNORECASE,
)
"""What it says, and little else."""
_PAGE = lazy_pattern(r"\s*<(?:!doctype html|html|\?xml)\b", re.IGNORECASE)
_OF_ERROR = lazy_pattern(
    rf"{_CODE_AND_PHRASE}|<title>(?:\s*error\s*<|[^<]{{0,80}}(?:(?:server|gateway|proxy|application) error|"
    rf"error\W{{1,3}}{_CODE}|{_PHRASE}|attention required))|"
    r"<(?:error|fault)>|cloudflare ray id",
    re.IGNORECASE,
)
_SAYS_SO = lazy_pattern(rf"\s*(?:{_TELLING}\b|{_PHRASE}[\s.!]*\Z)", re.IGNORECASE)
_STATUS = lazy_pattern(_CODE)
_NUMBERS = ("code", "status", "status_code", "statusCode")
_FIELDS = {
    *("error", "errors", "error_type", "detail", "message", "reason", "title", "type", "object", "param"),
    *("success", "ok", "request_id", "requestId", "id", "timestamp", "path", "trace", "estimated_time"),
    *_NUMBERS,
}
"""What the JSON of an error holds: with any other field it may be an answer."""


def server_error(text: str) -> str | None:
    """The error of a server that a text is in place of an answer, on one line; null for any other text.

    Known are status lines ("429 Too Many Requests"), what clients raise and print, HTML pages of errors, and
    their JSON. An answer that mentions an error is no error.
    """
    if len(text) > _LONGEST_ERROR:
        return None
    is_error = (
        _BEGINNING.match(text)
        or (len(text) < 500 and _WHOLE.fullmatch(text))
        or (_PAGE.match(text) and _OF_ERROR.search(text))
        or (text.lstrip()[:1] == "{" and _is_error_body(text))
    )
    return one_line(text, 200) if is_error else None


def _is_error_body(text: str) -> bool:
    """Whether a text is the JSON by which an endpoint states an error."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(body, Mapping) and body.keys() <= _FIELDS and _states_error(body)


def _states_error(body: Mapping[str, Any]) -> bool:
    error = body.get("error") or body.get("detail") or body.get("message")
    if isinstance(error, Mapping):
        return isinstance(error.get("message"), str) and bool(error.keys() & {"type", *_NUMBERS})
    has_code = any(_STATUS.fullmatch(str(body.get(name))) for name in _NUMBERS)
    is_named = "error" in (body.get("object"), body.get("type")) or "estimated_time" in body
    return isinstance(error, str) and (has_code or is_named or bool(_SAYS_SO.match(error)))
