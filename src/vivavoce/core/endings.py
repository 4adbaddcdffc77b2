"""How an answer ended: one table for the words of all providers, servers and tools that log answers.

Sources: OpenAI, chat completions and responses; Anthropic, messages; Google, `Candidate.FinishReason` of
Gemini and Vertex AI; Amazon Bedrock, `Converse`; Cohere, chat v2; Mistral; xAI; IBM watsonx; DeepSeek; Z.ai;
Ollama; vLLM; SGLang; TGI; llama.cpp; HELM's clients; Inspect's `StopReason`.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from vivavoce.core.text import one_line

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
_DATA = Path(__file__).with_name("server_errors.json")


class _Errors(NamedTuple):
    """How errors of servers are told, by `server_errors.json`: patterns, and the fields of their JSON.

    `beginning`: how one begins, whatever comes behind; `sentence`: what it says, and little else. `page`
    begins HTML, and `of_error` stands in that of an error. `statement` is what a field of JSON says.
    """

    beginning: re.Pattern[str]
    sentence: re.Pattern[str]
    page: re.Pattern[str]
    of_error: re.Pattern[str]
    statement: re.Pattern[str]
    status: re.Pattern[str]
    numbers: tuple[str, ...]
    fields: frozenset[str]


@cache
def _errors() -> _Errors:
    """The data, read when first asked for; a status counts with its own meaning: "400: bad request"."""
    data = json.loads(_DATA.read_text(encoding="utf-8"))
    code, phrases, any_of = data["code"], data["phrases"], "|".join
    phrase, telling = f"(?:{any_of(phrases.values())})", f"(?:{any_of(data['telling'])})"
    with_phrase = (
        rf"\b{status}[\s:,(–-]{{1,4}}(?:(?:server|client) error[\s:]{{1,3}})?{meaning}\b"
        for status, meaning in phrases.items()
    )
    code_and_phrase = rf"(?:{any_of(with_phrase)}|{code} (?-i:{any_of(data['words_of_google'])})\b)"
    exception = (
        rf"(?-i:(?:[A-Za-z_]\w*\.){{0,5}}(?:(?:{any_of(data['errors'])})Error|"
        rf"{any_of(data['exceptions'])}) ?[:(])"
    )
    line = (
        rf"(?:(?:http(?:/\d(?:\.\d)?)?|status|server|api|error|code)[\s:\]]{{1,3}}){{0,3}}{code_and_phrase}"
    )
    an_error = (
        r"(?:an |api |server |request )?(?:error|exception)\b[\s:—-]{0,9}"
        r"(?:(?:code|message|occurred)[\s:]{0,9})?"
    )
    signs = r"[\s\"'`*\[]{0,9}"
    patterns = (
        rf"{signs}(?:{line}|{an_error}(?:{code}\s*-?\s*[\[{{]|{telling}\b|{exception})|{exception}|"
        rf"{any_of(data['beginnings'])})",
        rf"{signs}(?:{an_error})?{telling}"
        r"(?: with other requests| for (?=[\w./-]*[\d/-])[\w./-]{1,60})?"
        rf"(?:[\s.!\"'`*]*|[.,:!] (?=[^\n]*\b(?:{any_of(data['advice'])})\b)[^\n]{{0,200}})"
        rf"|{signs}{an_error}(?:{code}|time-?out|timed out|overloaded(?:_error)?)[\s.!\"'`*]*",
        r"\s*<(?:!doctype html|html|\?xml)\b",
        rf"{code_and_phrase}|<title>(?:\s*error\s*<|[^<]{{0,80}}(?:{data['titles'][0]}|"
        rf"error\W{{1,3}}{code}|{phrase}|{data['titles'][1]}))|<(?:error|fault)>|cloudflare ray id",
        rf"\s*(?:{telling}\b|{phrase}[\s.!]*\Z)",
        code,
    )
    numbers = tuple(data["number_fields"])
    beginning, sentence, page, of_error, statement, status = (
        re.compile(pattern, re.IGNORECASE) for pattern in patterns
    )
    fields = frozenset([*data["fields"], *numbers])
    return _Errors(beginning, sentence, page, of_error, statement, status, numbers, fields)


def server_error(text: str) -> str | None:
    """The error of a server that a text is in place of an answer, on one line; null for any other text.

    Known are status lines ("429 Too Many Requests"), what clients raise and print, HTML pages of errors, and
    their JSON. An answer that mentions an error is no error.
    """
    if len(text) > _LONGEST_ERROR:
        return None
    errors = _errors()
    is_error = (
        errors.beginning.match(text)
        or (len(text) < 500 and errors.sentence.fullmatch(text))
        or (errors.page.match(text) and errors.of_error.search(text))
        or (text.lstrip()[:1] == "{" and _is_error_body(text))
    )
    return one_line(text, 200) if is_error else None


def _is_error_body(text: str) -> bool:
    """Whether a text is the JSON by which an endpoint states an error."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(body, Mapping) and body.keys() <= _errors().fields and _states_error(body)


def _states_error(body: Mapping[str, Any]) -> bool:
    errors = _errors()
    error = body.get("error") or body.get("detail") or body.get("message")
    if isinstance(error, Mapping):
        return isinstance(error.get("message"), str) and bool(error.keys() & {"type", *errors.numbers})
    has_code = any(errors.status.fullmatch(str(body.get(name))) for name in errors.numbers)
    is_named = "error" in (body.get("object"), body.get("type")) or "estimated_time" in body
    return isinstance(error, str) and (has_code or is_named or bool(errors.statement.match(error)))
