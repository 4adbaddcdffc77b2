"""Why calls failed stays in the run, and `viva status` says it with what to do about it."""

import json
import sqlite3
from contextlib import closing

import pytest
from aiohttp import web
from tests.models.conftest import fake
from tests.models.fake_server import MODES, sent
from tests.run.collect.conftest import exam, limits

import vivavoce as viva_
from vivavoce.core.errors import ModelError
from vivavoce.models.engine import scheduler
from vivavoce.models.engine.advice import _OTHERWISE, advice

__all__ = ["exam", "fake", "limits"]

KEY = "sk-live-0123456789abcdefABCDEF"


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(scheduler, "FIRST_WAIT", 0.0)
    monkeypatch.setattr(scheduler, "LONGEST_AFTER", 0.0)


@pytest.fixture
def run_of(fake, exam, limits, monkeypatch, tmp_path):
    """A run that collected from an endpoint in a mode, or from one that answers by a function."""

    def make(mode, n=3, **settings):
        async def answer(request):
            return sent(mode, (await request.json())["model"], "6")

        server = fake(mode if callable(mode) else answer)
        monkeypatch.setenv("VLLM_BASE_URL", server.base_url)
        run = viva_.open(tmp_path / "run.viva")
        run.collect(
            exam(n), models=["vllm/m"], providers=limits(**{"attempts": 2, "concurrency": 1, **settings})
        )
        return run

    return make


def calls_row(run):
    (row,) = [row for row in run.status().rows if row["about"] == "calls"]
    return row


@pytest.mark.parametrize(
    ("name", "cause", "todo"),
    [
        ("401", "refuses the key (HTTP 401): invalid key", "Set the environment variable of its key"),
        ("403", "refuses the key (HTTP 403): no access", "ask the provider for access"),
        ("404", "has no such model or path (HTTP 404): no such model", "Check the model's name"),
        ("405", "has no such model or path (HTTP 405)", "base_url"),
        ("redirect", "sends us elsewhere (HTTP 307)", "redirects to"),
        ("402", "no credit left", "Add credit"),
        ("no credit", "no credit left", "Add credit"),
    ],
)
def test_a_model_that_answers_nobody_leaves_a_call_with_its_cause(run_of, name, cause, todo):
    run = run_of(MODES[name])
    row = calls_row(run)
    assert (1, 1, 1, 0) == tuple(row[k] for k in ("calls", "failed", "last_cause_calls", "answered_since"))
    assert cause in row["last_cause"]
    assert todo in row["advice"]
    assert 0 == run.responses.height  # the questions remain to be asked, and are no failures


def test_a_wrong_model_is_given_up_after_three_questions(run_of):
    run = run_of(MODES["another model"], n=50)
    row = calls_row(run)
    assert (3, 3, 3) == (row["calls"], row["failed"], row["last_cause_calls"])
    assert "'another-model' answered in place of 'm'" in row["last_cause"]
    assert "accept" in row["advice"]


def test_a_host_that_is_not_there_and_tls_to_a_server_without_are_causes_too(
    fake, exam, monkeypatch, tmp_path
):
    server = fake({})
    addresses = ("http://nowhere.invalid/v1", server.base_url.replace("http:", "https:"))
    for k, address in enumerate(addresses):
        monkeypatch.setenv("VLLM_BASE_URL", address)
        run = viva_.open(tmp_path / f"{k}.viva")
        run.collect(exam(3), models=["vllm/m"])
        row = calls_row(run)
        assert row["failed"] >= 1
        assert ("no host 'nowhere.invalid'", "no safe connection")[k] in row["last_cause"]
        assert ("network", "authority")[k] in row["advice"]


def test_a_key_that_is_revoked_half_way_stays_as_the_cause(run_of):
    arrived = 0

    async def answer(request):
        nonlocal arrived
        arrived += 1
        if arrived > 4:
            return web.json_response({"error": {"message": "key revoked"}}, status=401)
        return sent(MODES["a text and no reason"], "m", "6")

    row = calls_row(run_of(answer, n=9))
    assert (5, 1) == (row["calls"], row["failed"])
    assert "key revoked" in row["last_cause"]


def test_what_was_answered_since_the_last_failure_is_counted(run_of):
    arrived = 0

    async def answer(request):
        nonlocal arrived
        arrived += 1
        mode = MODES["400"] if arrived == 2 else MODES["a text and no reason"]
        return sent(mode, "m", "6")

    run = run_of(answer, n=6)
    assert 4 == calls_row(run)["answered_since"]
    assert "4 calls answered since" in run.status().text


def test_causes_that_differ_by_the_number_of_a_request_are_one(run_of):
    arrived = 0

    async def answer(request):
        nonlocal arrived
        arrived += 1
        message = f"unknown setting (request req_{arrived:08d})"
        return web.json_response({"error": {"message": message}}, status=400)

    assert 3 == calls_row(run_of(answer))["last_cause_calls"]


def test_no_key_stands_in_a_stored_cause(run_of, monkeypatch):
    monkeypatch.setenv("WARD_KEY", KEY)

    async def parrot(request):
        said = request.headers["Authorization"]
        return web.json_response({"error": {"message": f"bad key: {said}"}}, status=401)

    run = run_of(parrot, key="WARD_KEY")
    assert "bad key" in calls_row(run)["last_cause"]
    with closing(sqlite3.connect(run.file.path)) as db:
        assert KEY not in "\n".join(db.iterdump())


def test_status_prints_the_cause_and_what_to_do(run_of, viva):
    run = run_of(MODES["401"])
    out = viva("status", run.file.path, "--full").output
    assert "Last cause (1 of 1 failed): " in out
    assert "(HTTP 401): invalid key. Set the environment variable of its key again" in out
    rows = json.loads(viva("status", run.file.path, "--json").output)["rows"]
    assert "advice" in next(row for row in rows if row["about"] == "calls")


def test_a_run_whose_calls_were_all_answered_says_nothing_of_causes(run_of, viva):
    run = run_of(MODES["a text and no reason"])
    row = calls_row(run)
    assert {None} == {row[k] for k in ("last_cause", "last_cause_calls", "answered_since", "advice")}
    assert "Last cause" not in viva("status", run.file.path).output


def test_a_judge_that_cannot_work_is_given_up_after_three_and_says_why(run_of, fake, monkeypatch, viva):
    run = run_of(MODES["a text and no reason"], n=30)
    judge = fake(lambda request: refused())
    monkeypatch.setenv("LLAMACPP_BASE_URL", judge.base_url)
    with pytest.raises(ModelError, match=r"3 requests in a row .* same reason: HTTP 400: no such"):
        run.score("judge(rubric=correctness, model=llamacpp/j)", providers=concurrency_of_one(run))
    assert 0 == run.scores.height
    assert len(judge.received) <= 6  # with and without a schema
    (row,) = [row for row in run.status().rows if row["about"] == "calls" and row["model"] == "llamacpp/j"]
    assert "HTTP 400: no such setting" in row["last_cause"]


def concurrency_of_one(run):
    file = run.file.path.with_suffix(".yaml")
    file.write_text(json.dumps({"llamacpp": {"concurrency": 1}}))
    return file


async def refused():
    return web.json_response({"error": {"message": "no such setting"}}, status=400)


@pytest.mark.parametrize(
    "cause",
    ["no answer within 300 s, after 6 attempts", "the connection broke (ServerDisconnectedError)",
     "http://localhost:9 cannot be reached (Connection refused)", "the function raised KeyError: 'x'",
     "HTTP 500: oops, after 2 attempts; another attempt would pass the 5 s of a request (--timeout-total)"],
)  # fmt: skip
def test_causes_on_the_way_have_advice_too(cause):
    assert _OTHERWISE != advice(cause)
