"""The tokens of an answer, out of replies of the shapes that servers document.

The shapes: OpenAI's API reference, `ChatCompletionTokenLogprob`; vLLM's OpenAI-compatible server,
`CompletionLogProbs`. The numbers are made by hand.
"""

import pytest
from tests.models.test_api import asking, chat, completion, echoed

from vivavoce.models.requests import Generation, Message, RejectedError, Request, Sampling

ASKED = (Message("user", "What is aspirin?"),)


def listing(*tokens, text, reason="stop") -> dict:
    """Chat's list of tokens, each with its number and, where told, its bytes."""
    entries = [{"token": token, "logprob": n, "bytes": raw, "top_logprobs": []} for token, n, raw in tokens]
    return chat(text, reason, choice={"logprobs": {"content": entries}})


def drawn(server, kind="openai", **sampling):
    request = Request(messages=ASKED, sampling=Sampling(**{"logprobs": True, **sampling}))
    return asking(server, kind, request)


def test_an_answer_of_chat_is_given_in_its_tokens(fake):
    server = fake(listing(("A", -0.5, [65]), (" drug", -1.5, None), text="A drug"))
    reply = drawn(server)
    assert (Generation("A drug", (), ("A", " drug"), (-0.5, -1.5), True),) == reply.generations
    assert (-0.5, -1.5) == reply.logprobs


def test_an_answer_of_completions_is_given_in_its_tokens(fake):
    answer = echoed([" A", " drug"], [-0.5, -1.5])
    answer["choices"][0]["finish_reason"] = "length"
    reply = drawn(fake(answer), "completions")
    assert (Generation(" A drug", (), (" A", " drug"), (-0.5, -1.5), False),) == reply.generations


@pytest.mark.parametrize(("reason", "ended"), [("stop", True), ("length", False), (None, False)])
def test_an_answer_ended_by_itself_if_the_endpoint_says_so(fake, reason, ended):
    assert ended is drawn(fake(listing(("A", -1, None), text="A", reason=reason))).generations[0].ended


def test_a_character_cut_into_tokens_belongs_to_the_last_of_them(fake):
    half, other = [[0xE2], [0x89, 0xA5]]  # the three bytes of ≥
    tokens = (("\\xe2", -1, half), ("\\x89\\xa5", -2, other), (" 5", -3, [32, 53]))
    assert ("", "≥", " 5") == drawn(fake(listing(*tokens, text="≥ 5"))).generations[0].pieces


def test_vllm_shows_half_a_character_as_nothing_and_the_whole_with_its_last_token(fake):
    tokens = (("", -1, []), ("≥", -2, [0xE2, 0x89, 0xA5]), (" 5", -3, [32, 53]))
    assert ("", "≥", " 5") == drawn(fake(listing(*tokens, text="≥ 5"))).generations[0].pieces


@pytest.mark.parametrize("closing", ["<|im_end|>", ""])
def test_the_closing_token_is_no_part_of_an_answer(fake, closing):
    reply = drawn(fake(listing(("A", -0.5, None), (closing, -9, None), text="A")))
    assert (Generation("A", (), ("A",), (-0.5,), True),) == reply.generations
    assert (-0.5, -9) == reply.logprobs  # all that was listed


@pytest.mark.parametrize("kind", ["openai", "completions"])
@pytest.mark.parametrize(
    ("says", "closing"),
    [
        ({"stop_reason": None}, -9.0),  # the end of the text
        ({"stop_reason": 128009}, -9.0),  # a token that closes a turn
        ({"stop_reason": "END"}, None),  # a stop string, as long as one token
        ({}, None),  # who knows
        ({"stop_reason": None, "finish_reason": "length"}, None),
    ],
)
def test_how_likely_the_end_was_is_told_where_the_endpoint_says_that_a_token_ended_it(
    fake, kind, says, closing
):
    chosen = listing(("A", -0.5, None), ("END", -9, None), text="A")
    if kind == "completions":
        listed = {"tokens": ["A", "END"], "token_logprobs": [-0.5, -9]}
        chosen = completion("A", choice={"logprobs": listed})
    chosen["choices"][0].update(says)
    (one,) = drawn(fake(chosen), kind).generations
    assert (("A",), (-0.5,), closing) == (one.pieces, one.logprobs, one.closing)


@pytest.mark.parametrize(
    "tokens", [("A",), ("A", "\n", "END"), ("Hm", "A")], ids=["none", "more than one", "not the text's"]
)
def test_where_not_one_token_follows_the_text_none_is_said_to_end_it(fake, tokens):
    answer = listing(*((token, -1, None) for token in tokens), text="A")
    answer["choices"][0]["stop_reason"] = None
    assert drawn(fake(answer)).generations[0].closing is None


def test_of_an_empty_answer_the_end_is_all_that_is_told(fake):
    answer = listing(("<end>", -1.5, None), text="")
    answer["choices"][0]["stop_reason"] = None
    assert (Generation("", (), (), (), True, -1.5),) == drawn(fake(answer)).generations


def test_tokens_of_a_stop_string_are_left_out_and_one_it_begins_in_is_cut(fake):
    tokens = (("A", -1, None), (".\n", -2, None), ("END", -3, None))
    reply = drawn(fake(listing(*tokens, text="A.")), stop=("\nEND",))
    assert (Generation("A.", (), ("A", "."), (-1, -2), True),) == reply.generations


def test_the_blank_before_a_word_is_given_back_to_a_token_shown_alone(fake):
    answer = completion("A drug store", choice={"logprobs": {
        "tokens": ["A", "drug", "store"], "token_logprobs": [-1, -2, -3]}})  # fmt: skip
    assert ("A", " drug", " store") == drawn(fake(answer), "completions").generations[0].pieces


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ((("Hm", -1, None), ("</think>", -2, None), ("A", -3, None)), "A"),
        ((("\ufffd", -1, None), ("\ufffd", -2, None)), "≥"),
        ((("A", -1, None),), "A drug"),
        ((("A", -1, [256]), (" pill", -2, None)), "A drug"),
    ],
)
def test_tokens_that_do_not_spell_the_answer_are_no_pieces_of_it(fake, tokens, text):
    numbers = tuple(float(n) for _, n, _ in tokens)
    assert (Generation(text, (), (), numbers, True),) == drawn(fake(listing(*tokens, text=text))).generations


@pytest.mark.parametrize(
    "listed", [{"tokens": ["A"], "token_logprobs": [-1, -2]}, {"token_logprobs": [-1, -2]}]
)
def test_lists_of_unequal_length_make_no_pieces(fake, listed):
    answer = completion("A", choice={"logprobs": listed})
    assert (Generation("A", (), (), (-1, -2), True),) == drawn(fake(answer), "completions").generations


def test_an_empty_answer_has_no_pieces_and_no_numbers(fake):
    assert (Generation("", (), (), (), True),) == drawn(
        fake(listing(("<end>", -1, None), text=""))
    ).generations


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        ("openai", chat("A", choice={"logprobs": None})),
        ("openai", chat("A", choice={"logprobs": {"content": []}})),
        ("openai", listing(("A", -1, None), text=None, reason="content_filter")),
        ("completions", completion("A")),
        ("completions", completion("A", choice={"logprobs": {"tokens": ["A"], "token_logprobs": []}})),
    ],
)
def test_an_endpoint_that_lists_nothing_has_drawn_nothing(fake, kind, answer):
    assert () == drawn(fake(answer), kind).generations


@pytest.mark.parametrize(
    ("kind", "answer"),
    [("openai", listing(("A", -1, None), text="A")), ("completions", echoed(["A"], [-1]))],
)
def test_tokens_nobody_asked_for_are_not_kept(fake, kind, answer):
    assert () == drawn(fake(answer), kind, logprobs=False).generations
    assert 1 == len(drawn(fake(answer), kind).generations)


def test_an_answer_with_a_number_that_stands_for_none_is_kept_without_numbers(fake):
    reply = drawn(fake(listing(("A", -9999.0, None), (".", -1, None), text="A.")))
    assert ("A.", None, ()) == (reply.text, reply.logprobs, reply.generations)


@pytest.mark.parametrize("kind", ["openai", "completions", "anthropic"])
def test_beams_are_refused_and_nothing_is_sent(fake, kind):
    server = fake(completion())
    with pytest.raises(RejectedError, match="endpoints search no beams"):
        asking(server, kind, Request(messages=ASKED, sampling=Sampling(beams=4)))
    assert [] == server.received
