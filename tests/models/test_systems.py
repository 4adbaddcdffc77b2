"""Systems and baselines as candidates: functions, endpoints of one's own, recordings, and rules."""

import asyncio
import json
from collections import Counter

import pytest
from aiohttp import web

from vivavoce.core.errors import SpecError, VivaError
from vivavoce.models.endpoints import load_endpoints
from vivavoce.models.providers.baseline import BaselineProvider
from vivavoce.models.providers.systems import FunctionModel, HTTPSystem, ReplayModel
from vivavoce.models.requests import FatalError, Message, RejectedError, Request, RetryableError, Sampling

ASKED = Request(messages=(Message("system", "Be brief."), Message("user", "Which organ?")))


def answer(model, request=ASKED):
    async def once():
        try:
            return await model.generate(request)
        finally:
            await model.close()

    return asyncio.run(once())


def ask_rule(rule, **settings):
    return answer(
        BaselineProvider(name=f"baseline/{rule}", model=rule),
        Request(messages=(Message("user", "Which?"),), **settings),
    ).text


# Baselines.


def test_the_longest_option_is_the_first_of_equals():
    assert "heart" == ask_rule("longest-option", options=("eye", "heart", "liver"))


def test_echo_gives_the_question_and_reference_the_key():
    assert ("Which?", "liver") == (ask_rule("echo"), ask_rule("reference", reference="liver"))


@pytest.mark.parametrize("rule", ["random", "longest-option", "reference"])
def test_where_there_is_nothing_to_choose_from_the_answer_is_empty(rule):
    assert "" == ask_rule(rule)


def test_random_is_the_same_for_the_same_draw_and_varies_with_it():
    options = ("eye", "heart", "liver", "lung")
    drawn = [ask_rule("random", options=options, draw=k) for k in range(400)]
    assert drawn == [ask_rule("random", options=options, draw=k) for k in range(400)]
    counts = Counter(drawn)
    assert set(options) == counts.keys()
    assert all(60 < n < 140 for n in counts.values())  # 100 expected, 4.6 standard deviations each way


def test_random_varies_with_its_seed():
    options = tuple(map(str, range(1000)))
    first, second = (ask_rule("random", options=options, draw=1, sampling=Sampling(seed=s)) for s in (1, 2))
    assert first != second


def test_the_draw_makes_another_request_of_it():
    first, second = (Request(messages=ASKED.messages, draw=k) for k in (1, 2))
    assert first.key != second.key
    assert Request(messages=ASKED.messages).key == ASKED.key


def test_a_rule_has_no_probabilities():
    with pytest.raises(FatalError, match="gives no probabilities"):
        asyncio.run(BaselineProvider(name="baseline/echo", model="echo").loglikelihood(ASKED))


def test_an_unknown_rule_is_named():
    with pytest.raises(SpecError, match="no baseline 'luck'"):
        BaselineProvider.check("luck", {})


# Functions.


@pytest.fixture
def function(tmp_path, monkeypatch):
    """A function of a module in the working directory, from its body."""
    monkeypatch.chdir(tmp_path)

    def write(body, name="answer", kind="def"):
        module = f"ward_{abs(hash((body, name, kind)))}"
        (tmp_path / f"{module}.py").write_text(f"{kind} {name}(messages):\n    {body}\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        return FunctionModel("callable", f"{module}:answer")

    return write


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_function_answers_with_a_text(function, kind):
    assert (
        "Be brief. Which organ?"
        == answer(function("return ' '.join(m['content'] for m in messages)", kind=kind)).text
    )


def test_a_function_answers_with_sources(function):
    reply = answer(
        function("return {'text': 'liver', 'reasoning': 'p. 1', 'citations': ['https://a', {'page': 1}]}")
    )
    assert ("liver", "p. 1", ("https://a", {"page": 1})) == (reply.text, reply.reasoning, reply.citations)


@pytest.mark.parametrize(
    ("cited", "kept"),
    [
        ("{1, 2}", ("{1, 2}",)),
        ("[object]", ("<class 'object'>",)),
        ("['a\\ud800']", ("a\ufffd",)),
        ("'a'", ("a",)),
        ("None", ()),
    ],
)
def test_citations_of_any_kind_can_be_stored(function, cited, kept):
    assert kept == answer(function(f"return {{'text': 'x', 'citations': {cited}}}")).citations


def test_halves_of_characters_in_a_text_become_marks(function):
    assert "a\ufffd" == answer(function("return 'a\\ud800'")).text


@pytest.mark.parametrize(
    ("body", "said"),
    [("return 1 / 0", "the function raised ZeroDivisionError: division by zero"),
     ("raise SystemExit(3)", "the function raised SystemExit: 3"),
     ("return 7", "without a text: 7"), ("return {'reply': 'x'}", "without a text")],
)  # fmt: skip
def test_a_function_that_fails_is_tried_again(function, body, said):
    with pytest.raises(RetryableError, match=said):
        answer(function(body))


def test_a_function_that_is_not_there_is_named(function):
    with pytest.raises(FatalError, match="has no 'answer'"):
        function("return 'x'", name="reply")


def test_a_module_that_breaks_on_import_is_named(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ward_broken.py").write_text("1 / 0\n")
    (tmp_path / "ward_value.py").write_text("answer = 7\n")
    with pytest.raises(FatalError, match=r"cannot be imported \(ZeroDivisionError"):
        FunctionModel("callable", "ward_broken:answer")
    with pytest.raises(FatalError, match="'answer' is no function"):
        FunctionModel("callable", "ward_value:answer")
    with pytest.raises(FatalError, match="cannot be imported"):
        FunctionModel("callable", "ward_nowhere:answer")
    with pytest.raises(FatalError, match="write path=module:function"):
        FunctionModel("callable", "ward_value")


# Endpoints of one's own, and recordings.


def test_an_endpoint_of_one_s_own_gets_the_messages_only(fake):
    server = fake({"answer": "liver", "citations": ["https://a"]})
    reply = answer(HTTPSystem("http", f"{server.base_url}/ask?ward=3"))
    assert ("liver", ("https://a",)) == (reply.text, reply.citations)
    asked = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which organ?"}]
    assert ("/v1/ask?ward=3", {"messages": asked}) == (server.received[0][0], server.body)


def test_an_endpoint_of_one_s_own_that_gives_no_text_is_tried_again(fake):
    with pytest.raises(RetryableError, match="without a text"):
        answer(HTTPSystem("http", fake({"output": "liver"}).base_url))


def test_a_recording_answers_and_refuses_what_it_does_not_know(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps({"prompt": "Which organ?", "text": "liver"}) + "\n\n")
    assert "liver" == answer(ReplayModel("replay", path)).text
    with pytest.raises(RejectedError, match="no answer to this question"):
        answer(ReplayModel("replay", path), Request(messages=(Message("user", "Else?"),)))


@pytest.mark.parametrize(
    "line", ["{", "[1]", '{"prompt": "x"}', '{"prompt": "x", "text": 7}', '{"prompt": {}, "text": "x"}']
)
def test_a_recording_that_cannot_be_read_names_its_line(tmp_path, line):
    path = tmp_path / "answers.jsonl"
    path.write_text('{"prompt": "a", "text": "b"}\n' + line)
    with pytest.raises(FatalError, match=r"line 2: an object with the texts prompt and text"):
        ReplayModel("replay", path)


# Keys, which no system may bring into a file.

KEY = "verborgen-7"


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.mark.parametrize(
    "body",
    ["raise ValueError('x' * 150 + KEY)", "return [KEY]", "return {'reply': KEY}",
     "from vivavoce.core.errors import InputError; raise InputError(KEY)"],
)  # fmt: skip
def test_what_a_function_raises_holds_no_key(function, key, body):
    with pytest.raises((RetryableError, VivaError)) as error:
        answer(function(f"import os; KEY = os.environ['OPENAI_API_KEY']; {body}"))
    assert KEY[:6] not in str(error.value)


def test_a_key_in_a_file_of_providers_counts_too(function, monkeypatch, tmp_path):
    (tmp_path / "own.yaml").write_text("ward: {base_url: 'http://h/v1', key: WARD_KEY}")
    load_endpoints(tmp_path / "own.yaml")
    monkeypatch.setenv("WARD_KEY", KEY)
    assert "[key]" == answer(function(f"return {KEY!r}")).text


def test_what_a_function_answers_holds_no_key(function, key):
    said = {"text": KEY, "reasoning": f"a {KEY}", "citations": [{KEY: [KEY]}], "finish_reason": KEY}
    reply = answer(function(f"return {said!r}"))
    assert ("[key]", "a [key]", ({"[key]": ["[key]"]},)) == (reply.text, reply.reasoning, reply.citations)
    assert "other" == reply.finish_reason


def test_a_module_that_prints_a_key_on_import_does_not_bring_it_in(tmp_path, monkeypatch, key):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ward_telling.py").write_text(f"raise ValueError({KEY!r})")
    with pytest.raises(FatalError, match=r"ValueError: \[key\]"):
        FunctionModel("callable", "ward_telling:answer")


def test_endpoints_and_recordings_hold_no_key(fake, key, tmp_path):
    assert "a [key]" == answer(HTTPSystem("http", fake({"text": f"a {KEY}"}).base_url)).text
    with pytest.raises(RetryableError, match=r"without a text: .*\[key\]"):
        answer(HTTPSystem("http", fake({"output": KEY}).base_url))
    with pytest.raises(RejectedError, match=r"HTTP 400: no \[key\]"):
        answer(HTTPSystem("http", fake(lambda _: told(400, {"error": f"no {KEY}"})).base_url))
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps({"prompt": "Which organ?", "text": KEY}))
    assert "[key]" == answer(ReplayModel("replay", path)).text


async def told(status, body):
    return web.json_response(body, status=status)


@pytest.mark.parametrize(
    "text", ["HF-related oedema", "key-findings", "a bearer of BRCA1", "PK-guided dosing"]
)
def test_words_of_medicine_are_no_keys(function, text):
    assert text == answer(function(f"return {text!r}")).text


def test_what_looks_like_a_key_is_struck_out_of_an_answer(function):
    assert "it is [key]." == answer(function("return 'it is sk-live-0123456789abcdef.'")).text


@pytest.mark.parametrize(
    ("said", "kept"),
    [("length", "length"), ("end_turn", "stop"), (None, "stop"), ("Bob Smith", "other"), ([1], "other")],
)
def test_why_an_answer_ended_is_one_of_a_few_words(function, said, kept):
    assert kept == answer(function(f"return {{'text': 'x', 'finish_reason': {said!r}}}")).finish_reason


def test_an_endpoint_is_not_made_with_a_key_in_its_address():
    with pytest.raises(FatalError, match="--providers file"):
        HTTPSystem("http", "http://h/x?api_key=verborgen")
