"""The likelihood of a text, out of replies of the shapes that servers document.

The shapes: vLLM's OpenAI-compatible server, `prompt_logprobs` and `CompletionLogProbs`. The numbers are made
by hand.
"""

import hashlib
import math
import re

import pytest
from aiohttp import web
from tests.cases import each_case
from tests.models.test_api import asking, chat, completion, echoed, failing, raw

from vivavoce.models.replies import with_space
from vivavoce.models.requests import (
    Continuations,
    FatalError,
    Likelihood,
    Message,
    RejectedError,
    Request,
    RetryableError,
)

ASKED = (Message("user", "What is aspirin?"),)


def likely(target, begun="", messages=ASKED, **more) -> Request:
    return Request(messages=messages, kind="loglikelihood", target=target, begun=begun, **more)


def placed(*places) -> dict:
    """vLLM's answer over chat: for each place its token, number and rank; the first place has none."""
    listed = [
        {str(k): {"logprob": n, "rank": rank, "decoded_token": token}}
        for k, (token, n, rank) in enumerate(places, 1)
    ]
    return chat(prompt_logprobs=[None, *listed])


def chatted(server, request):
    return asking(server, request=request, way="loglikelihood")


def completed(server, request):
    return asking(server, "completions", request, way="loglikelihood")


TEMPLATE = (("<|user|>", -9.0, 7), ("aspirin?", -8.0, 3), ("<|assistant|>", -0.1, 1))


# The blank between what stands and a target.


@each_case(
    ("target", "stands", "made"),
    [
        ("drug", "a", " drug"),
        (" drug", "a", " drug"),
        ("\ndrug", "a", "\ndrug"),
        ("drug", "a ", "drug"),
        ("drug", "a:\n", "drug"),
        ("drug", "a\u00a0", "drug"),
        ("drug", "", "drug"),
        ("", "a", ""),
        (".", "a", " ."),
    ],
)
def test_a_target_is_parted_by_one_blank_from_what_stands_before(target, stands, made):
    assert made == with_space(target, stands)


@pytest.mark.parametrize(
    ("begun", "target", "prompt"),
    [
        ("", "A drug.", "What is aspirin? A drug."),
        ("It is a", "drug.", "What is aspirin?It is a drug."),
        (" It is a", " drug.", "What is aspirin? It is a drug."),
        ("\nIt is a ", "drug.", "What is aspirin?\nIt is a drug."),
    ],
)
def test_completions_are_given_prompt_beginning_and_target_in_a_row(fake, begun, target, prompt):
    kept = prompt[: prompt.index("drug.")].rstrip()
    server = fake(echoed([kept, prompt.removeprefix(kept)], [None, -2.0]))
    if not begun:
        server.answers = [echoed(["What is aspirin?", " A drug."], [None, -2.0])]
    assert (Likelihood(-2.0, 1),) == completed(server, likely(target, begun)).likelihoods
    assert prompt == server.body["prompt"]


@pytest.mark.parametrize(
    ("begun", "target", "turn"),
    [
        ("", "A drug.", "A drug."),  # what the template ends in is the server's
        ("", " A drug.", " A drug."),
        ("It is a", "drug.", "It is a drug."),
        ("It is a ", "drug.", "It is a drug."),
        ("It is a", "\ndrug.", "It is a\ndrug."),
    ],
)
def test_chat_leaves_open_a_turn_of_beginning_and_target(fake, begun, target, turn):
    server = fake(placed(*TEMPLATE, *((word, -1.0, 2) for word in turn)))
    reply = chatted(server, likely(target, begun))
    assert {"role": "assistant", "content": turn} == server.body["messages"][-1]
    assert [ASKED[0]._asdict()] == server.body["messages"][:-1]
    counted = len(turn) - len(begun)  # one letter, one token here; the blank counts where it was added
    assert ((Likelihood(-counted, counted, 0),), target) == (reply.likelihoods, reply.text)


# What is counted.


def test_a_likelihood_is_the_sum_over_the_target_s_tokens(fake):
    reply = chatted(fake(placed(*TEMPLATE, ("A", -0.25, 1), (" drug", -2.0, 4))), likely("A drug"))
    assert (Likelihood(-2.25, 2, 1),) == reply.likelihoods
    assert (-0.25, -2.0) == reply.logprobs
    assert (0, None, ()) == (reply.truncated, reply.tokeniser, reply.generations)


def test_the_sum_does_not_depend_on_the_order_of_the_tokens(fake):
    numbers = [-1e-9, -1234.5, -1e-9, -0.1] * 50
    sums = [
        chatted(fake(placed(*TEMPLATE, *(("a", n, 2) for n in order))), likely("a" * 200)).likelihoods
        for order in (numbers, numbers[::-1])
    ]
    assert sums[0] == sums[1] == (Likelihood(math.fsum(numbers), 200, 0),)


def test_begun_is_no_part_of_the_likelihood(fake):
    places = (*TEMPLATE, ("It", -5.0, 9), (" is", -6.0, 9), (" a", -7.0, 9), (" drug", -0.5, 1))
    assert (Likelihood(-0.5, 1, 1),) == chatted(fake(placed(*places)), likely("drug", "It is a")).likelihoods
    server = fake(echoed(["What", "?", "It", " is", " a", " drug"], [None, -4, -5, -6, -7, -0.5]))
    assert (Likelihood(-0.5, 1),) == completed(server, likely("drug", "It is a")).likelihoods


def test_an_empty_target_is_certain(fake):
    certain = (Likelihood(0.0, 0, 0),)
    assert certain == chatted(fake(placed(*TEMPLATE)), likely("")).likelihoods
    assert certain == completed(fake(echoed(["What is aspirin?"], [None])), likely("")).likelihoods


@pytest.mark.parametrize(
    ("ranks", "verbatim"),
    [
        ((1, 1, 1), 3),
        ((1, 1, 2), 2),
        ((2, 1, 1), 0),
        ((1, 2, None), 1),  # what follows the first other word does not matter
        ((1, None, 1), None),
        ((None, 1, 1), None),
        (("1", 1, 1), None),
        ((True, 1, 1), None),
    ],
)
def test_verbatim_counts_the_first_tokens_of_rank_one(fake, ranks, verbatim):
    words = zip(("A", " drug", "."), ranks, strict=True)
    server = fake(placed(*TEMPLATE, *((word, -1.0, rank) for word, rank in words)))
    assert verbatim == chatted(server, likely("A drug.")).likelihoods[0].verbatim


@pytest.mark.parametrize(
    ("tops", "verbatim"),
    [
        ([None, {" A": -1.0}, {" drug": -2.0}], 2),
        ([None, {" A": -1.0}, {" drug": -2.0, " pill": -0.5}], 1),
        ([None, {" A": -1.0, "\n": -0.9}, {" drug": -2.0}], 0),
        ([None, {" A": -1.0, " The": -1.0}, {" drug": -2.0}], 2),  # a tie is as likely
        ([None, {" The": -0.5}, {" drug": -2.0}], 0),  # a server that lists the likeliest only
        ([None, {"\ufffd": -0.5}, {" drug": -2.0}], 0),  # two tokens that are shown alike
        ([None, {}, {" drug": -2.0}], None),
        ([None, {" A": "-1"}, {" drug": -2.0}], None),
        ([None, None, None], None),
        ([{" A": -1.0}], None),
        ("much", None),
        (None, None),
    ],
)
def test_verbatim_follows_from_the_likeliest_token_that_an_echo_lists(fake, tops, verbatim):
    answer = echoed(["What is aspirin?", " A", " drug"], [None, -1.0, -2.0])
    answer["choices"][0]["logprobs"]["top_logprobs"] = tops
    assert (Likelihood(-3.0, 2, verbatim),) == completed(fake(answer), likely("A drug")).likelihoods


# A text alone.


def test_a_text_alone_is_counted_after_the_server_s_mark_of_the_beginning(fake):
    server = fake(echoed(["<s>", "Aspirin", " is"], [None, -9.0, -3.0]))
    assert (Likelihood(-12.0, 2),) == completed(server, likely("Aspirin is", messages=())).likelihoods
    assert "Aspirin is" == server.body["prompt"]


def test_a_text_alone_without_a_mark_of_the_beginning_is_refused(fake):
    server = fake(echoed(["Aspirin", " is"], [None, -3.0]))
    with pytest.raises(RejectedError, match="the first token has no probability"):
        completed(server, likely("Aspirin is", messages=()))


@pytest.mark.parametrize("begun", ["", "Aspirin"])
def test_chat_refuses_a_text_alone_and_sends_nothing(fake, begun):
    server = fake(placed())
    with pytest.raises(RejectedError, match=r"fake/m: a chat endpoint puts its template.*kind: completions"):
        chatted(server, likely(" is", begun, messages=()))
    assert [] == server.received


# A whole fake model: what it says of a token follows from everything before it.


async def fake_vllm(request):
    """Answers as vLLM does, with a template of its own; its tokens are words, blanks and marks."""
    asked = await request.json()
    if "prompt" in asked:
        text = asked["prompt"]
    else:
        *said, last = asked["messages"]
        assert last["role"] == "assistant"
        text = "".join(m["content"] for m in said) + last["content"]
    tokens, numbers, ranks = ["<s>"], [None], [None]
    for token in re.findall(r" ?\w+|\s|[^\w\s]", text):
        digest = hashlib.sha256("".join([*tokens, token]).encode()).digest()
        tokens, numbers = [*tokens, token], [*numbers, -digest[0] / 32]
        ranks.append(1 + digest[1] % 2)
    if "prompt" in asked:
        tops = [None] + [
            {t: n, "?": n + (r - 1)} for t, n, r in list(zip(tokens, numbers, ranks, strict=True))[1:]
        ]
        listed = {"tokens": tokens, "token_logprobs": numbers, "top_logprobs": tops}
        return web.json_response(completion(text, choice={"logprobs": listed}))
    return web.json_response(placed(*list(zip(tokens, numbers, ranks, strict=True))[1:]))


ANSWER = "It slows clotting, which is why surgeons ask about it."


def test_chat_and_completions_tell_the_same_of_the_same_model(fake):
    server = fake(fake_vllm)
    request = likely("ask about it.", "It slows clotting, which is why surgeons")
    (one,), (other,) = chatted(server, request).likelihoods, completed(server, request).likelihoods
    assert one == other
    assert (4, True) == (one.tokens, one.logprob < 0)


@pytest.mark.parametrize("ask", [chatted, completed])
@pytest.mark.parametrize("cut", [m.start() for m in re.finditer(" ", ANSWER)])
def test_a_text_is_as_likely_as_its_beginning_times_the_rest_after_it(fake, ask, cut):
    server = fake(fake_vllm)
    (whole,) = ask(server, likely(" " + ANSWER)).likelihoods
    (first,) = ask(server, likely(" " + ANSWER[:cut])).likelihoods
    (rest,) = ask(server, likely(ANSWER[cut:].lstrip(), " " + ANSWER[:cut])).likelihoods
    assert whole.logprob == pytest.approx(first.logprob + rest.logprob, rel=1e-12)
    assert whole.tokens == first.tokens + rest.tokens
    every = first.verbatim + rest.verbatim if first.verbatim == first.tokens else first.verbatim
    assert whole.verbatim == every


# What is refused.


@pytest.mark.parametrize("kind", ["openai", "completions"])
def test_branches_are_refused_and_nothing_is_sent(fake, kind):
    server = fake(completion())
    request = Request(messages=ASKED, kind="loglikelihood", branches=Continuations(("a", "b")))
    with pytest.raises(RejectedError, match="an endpoint takes one target at a time; ask for each branch"):
        asking(server, kind, request, way="loglikelihood")
    assert [] == server.received


@pytest.mark.parametrize("kind", ["openai", "completions"])
def test_a_target_longer_than_the_context_is_refused(fake, kind):
    # vLLM's own words
    why = "This model's maximum context length is 2048 tokens. However, you requested 2049 tokens"
    server = fake(failing(400, {"error": {"message": why, "type": "BadRequestError", "code": 400}}))
    with pytest.raises(RejectedError, match=r"longer than the model's context.*2048"):
        asking(server, kind, likely("a " * 2048), way="loglikelihood")


@pytest.mark.parametrize(
    ("number", "said"),
    [
        ("NaN", "nan"),
        ("null", "None"),
        ("-Infinity", "-inf"),
        ('"-1"', "'-1'"),
        ("true", "True"),
        ("0.5", "0.5"),
    ],
)
def test_a_number_that_is_no_log_probability_is_named_with_its_place(fake, number, said):
    body = (
        '{"model": "m", "choices": [{"text": "", "logprobs": {"tokens": ["What?", " A", " drug", "."],'
        f' "token_logprobs": [null, -1, {number}, -1]}}}}]}}'
    )
    with pytest.raises(RetryableError, match=rf"a log-probability is {said} \(that of token 2 of 3\)"):
        completed(fake(raw(body.encode())), likely("A drug."))


def test_a_probability_of_one_may_be_rounded_up(fake):
    server = fake(placed(*TEMPLATE, ("A", 1e-7, 1)))
    assert (Likelihood(1e-7, 1, 1),) == chatted(server, likely("A")).likelihoods


def test_the_number_that_stands_for_none_makes_no_likelihood(fake):
    with pytest.raises(RejectedError, match="gives -9999 for token 2 of 2 of the target"):
        chatted(fake(placed(*TEMPLATE, ("A", -1.0, 1), (" drug", -9999.0, 900))), likely("A drug"))


@pytest.mark.parametrize("places", [(("drug", -1.0, 1),), (("A", -1.0, 1), (" dru", -1.0, 1))])
def test_a_prompt_cut_short_in_silence_is_refused(fake, places):
    with pytest.raises(RejectedError, match="do not spell the target"):
        chatted(fake(placed(*places)), likely("A drug"))
    tokens, numbers, _ = zip(*places, strict=True)
    with pytest.raises(RejectedError, match="do not spell the target"):
        completed(fake(echoed(list(tokens), list(numbers))), likely("A drug"))


def test_a_token_that_the_server_made_is_not_taken_for_an_echo(fake):
    # it passed over echo and max_tokens=0, and happened to say what the target says
    server = fake(echoed([" B"], [-0.1]))
    with pytest.raises(FatalError, match="echoes no log-probabilities"):
        completed(server, likely("B"))
