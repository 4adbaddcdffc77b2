import pytest

from vivavoce.core.endings import _WORDS, ending, meaning_of, stored_reason

WORDS = {
    "complete": "stop STOP end_turn eos eos_token stop_sequence complete COMPLETE completed endoftext "
    "tool_calls tool-calls function_call TOOL_CALL FinishReason.STOP FINISH_REASON_STOP REASON_STOP",
    "cut": "length max_tokens MAX_TOKENS max_output_tokens model_length incomplete token_limit timeout "
    "time_limit TIMEOUT ERROR_LIMIT FinishReason.MAX_TOKENS REASON_MAX_LEN abort error network_error "
    "engine_overloaded MALFORMED_FUNCTION_CALL OTHER model_context_window_exceeded",
    "filtered": "content_filter SAFETY RECITATION PROHIBITED_CONTENT BLOCKLIST SPII IMAGE_SAFETY LANGUAGE "
    "refusal ERROR_TOXIC guardrail_intervened FinishReason.SAFETY sensitive",
}


@pytest.mark.parametrize(("end", "word"), [(end, word) for end in WORDS for word in WORDS[end].split()])
def test_the_words_of_all_providers_say_how_an_answer_ended(end, word):
    assert end == ending(word)


@pytest.mark.parametrize(
    "word", [None, "", " ", ":", "unknown", "other", "FINISH_REASON_UNSPECIFIED", "pause_turn", "terror!"]
)
def test_an_end_that_no_word_explains_is_not_known(word):
    assert ending(word) is None


def test_a_word_with_a_detail_counts_by_its_first_part_that_is_known():
    assert "content_filter" == meaning_of("content_filter: PROHIBITED_CONTENT")
    assert "content_filter" == meaning_of("blocked by Google: SAFETY")
    assert "length" == meaning_of("length: 4096 tokens")
    assert "failure" == meaning_of("error: upstream closed the stream")


def test_no_word_has_two_meanings():
    words = " ".join(_WORDS.values()).split()
    assert len(set(words)) == len(words)


@pytest.mark.parametrize(
    ("stored", "word"),
    [
        ("length", "MAX_TOKENS"),
        ("stop", "end_turn"),
        ("content_filter", "content_filter: SPII"),
        ("tool_calls", "tool_use"),
        ("engine_overloaded", "engine_overloaded"),
        ("MALFORMED_FUNCTION_CALL", "MALFORMED_FUNCTION_CALL"),
        ("surprise", " surprise "),
        (None, "  "),
        (None, None),
    ],
)
def test_words_of_one_meaning_are_stored_as_one_word_and_others_stay(stored, word):
    assert stored == stored_reason(word)
    assert stored == stored_reason(stored_reason(word))
