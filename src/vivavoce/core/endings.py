"""How an answer ended: one table for the words of all providers, servers and tools that log answers.

Sources: OpenAI, chat completions and responses; Anthropic, messages; Google, `Candidate.FinishReason` of
Gemini and Vertex AI; Amazon Bedrock, `Converse`; Cohere, chat v2; Mistral; xAI; IBM watsonx; DeepSeek; Z.ai;
Ollama; vLLM; SGLang; TGI; llama.cpp; HELM's clients; Inspect's `StopReason`.
"""

import re
from typing import Literal

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
