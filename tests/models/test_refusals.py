"""A model that cannot work is given up after three equal failures; one that refuses some questions is not."""

import asyncio

import pytest
from aiohttp import web
from tests.models.test_engine import GOOD, Stub, asked, chat, jobs

from vivavoce.models.engine import scheduler
from vivavoce.models.engine.calls import Queue
from vivavoce.models.engine.refusals import RefusalCounter
from vivavoce.models.rate_limit import Limits
from vivavoce.models.requests import FatalError, RejectedError, RetryableError


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(scheduler, "FIRST_WAIT", 0.0)


def refusing(error, n=100, *, replies=(), **limits):
    """How many of n questions were sent to a model that raises `error(k)`, and why it was given up."""

    def act(k):
        if k not in replies:
            raise error(k)

    model = Stub(act)
    tally, _ = asked(Queue(model, jobs(n), Limits(**{"concurrency": 1, "attempts": 2, **limits})))
    return len(model.asked), tally.stopped.get("stub/one", "")


@pytest.mark.parametrize(
    "error",
    [
        lambda k: RejectedError("HTTP 400: temperature is not supported"),
        lambda k: RejectedError(f"HTTP 400: no such setting (request req_{k}a7b{k})"),
        lambda k: RetryableError("'b' answered in place of 'a'", lasting=True),
        lambda k: RetryableError("the reply is malformed: its content is an object, not text"),
        lambda k: RetryableError("http://localhost:9 cannot be reached"),
        lambda k: KeyError("text"),
    ],
)
def test_three_equal_failures_before_any_reply_are_enough(error):
    sent, why = refusing(error)
    assert 3 == sent
    assert "3 requests in a row to stub failed for the same reason: " in why
    assert "after 2 attempts" not in why


def test_a_model_that_failed_on_all_there_is_to_ask_is_not_said_to_be_given_up():
    assert (3, "") == refusing(lambda k: RejectedError("HTTP 400: no"), n=3)


def test_failures_that_differ_are_given_up_after_twenty():
    assert 20 == refusing(lambda k: RejectedError(f"HTTP 400: {'no' * (k % 5)}"))[0]


@pytest.mark.parametrize("why", ["too long", "withheld by the filter"])
def test_refusals_of_one_question_never_count(why):
    assert (100, "") == refusing(lambda k: RejectedError(why, of_question=True))


def test_a_refused_question_between_two_refusals_leaves_the_row_as_it_is():
    def error(k):
        return RejectedError("too long", of_question=True) if k == 2 else RejectedError("HTTP 400: no")

    assert 4 == refusing(error)[0]


def test_a_server_that_asks_for_patience_has_twenty_requests():
    assert 20 == refusing(lambda k: RetryableError("HTTP 503: loading", throttled=True), attempts=1)[0]


def test_after_a_reply_refusals_are_due_to_their_questions():
    assert (100, "") == refusing(lambda k: RejectedError("HTTP 400: no"), replies=[0])


def test_after_a_reply_trouble_has_twenty_requests_and_another_model_three():
    assert 21 == refusing(lambda k: RetryableError("HTTP 500: oops"), replies=[0])[0]
    assert 4 == refusing(lambda k: RetryableError("'b' answered", lasting=True), replies=[0])[0]


def test_a_reply_begins_the_count_again():
    rejected = RetryableError("'b' answered in place of 'a'", lasting=True)
    assert (100, "") == refusing(lambda k: rejected, replies=range(0, 100, 3))


def test_refusals_that_come_before_the_first_slow_reply_do_not_stop_a_model_that_works(fake):
    """Of 64 on the wire three are refused at once; the replies of the others take half a second."""
    arrived = 0

    async def answer(request):
        nonlocal arrived
        arrived += 1
        if arrived <= 5:
            return web.json_response({"error": {"message": "this prompt is not allowed"}}, status=400)
        await asyncio.sleep(0.5)
        return web.json_response(GOOD)

    server = fake(answer)
    tally, _ = asked(Queue(chat(server), jobs(200), Limits(64)))
    assert (195, 5, 0, {}) == (tally.answered, tally.failed, tally.remaining, tally.stopped)


def test_no_more_is_sent_while_it_is_open_whether_a_model_works(fake):
    """Five are on the wire when three were refused; the others are refused late, and nothing new went out."""
    arrived = 0

    async def answer(request):
        nonlocal arrived
        arrived += 1
        await asyncio.sleep(0.0 if arrived <= 3 else 0.4)
        return web.json_response({"error": {"message": "no such setting"}}, status=400)

    server = fake(answer)
    tally, _ = asked(Queue(chat(server), jobs(200), Limits(5)))
    assert 5 <= len(server.received) <= 7
    assert 200 == tally.failed + tally.remaining


def test_a_call_that_says_a_model_answers_nobody_is_stored_and_remains_to_be_asked():
    def no_key(k):
        raise FatalError("the key is refused.")

    model = Stub(no_key)
    tally, outcomes = asked(Queue(model, jobs(50), Limits(1)))
    ((_, _, outcome),) = outcomes
    assert ("the key is refused", True, 1) == (outcome.error, outcome.fatal, outcome.attempts)
    assert (0, 0, 50) == (tally.answered, tally.failed, tally.remaining)


def test_the_count_goes_on_over_calls_of_ask():
    counter = RefusalCounter()

    def no(k):
        raise RejectedError("HTTP 400: no")

    sent = []
    for _ in range(5):
        model = Stub(no)
        tally, _ = asked(Queue(model, jobs(1), Limits(1)), refusals=counter)
        sent.append((len(model.asked), tally.remaining))
    assert [(1, 0)] * 3 + [(0, 1)] * 2 == sent
