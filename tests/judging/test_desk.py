"""The desk itself: order, equal requests, what is recalled, and what it says of what did not come."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.judging.fake_judge import MANNERS, FakeJudge, Sent, completion
from tests.studies.making import made

from vivavoce.core.errors import ModelError, SpecError
from vivavoce.core.prompts import Unreadable
from vivavoce.models.candidates import CandidateConfig
from vivavoce.models.endpoints import load_endpoints
from vivavoce.models.engine.client import CallResult, ModelClient, reply_from_json
from vivavoce.models.engine.counting_client import CountingClient
from vivavoce.models.requests import Message, Reply, Request, Sampling
from vivavoce.run.run import Run

ProvidersFile = Callable[..., Path]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return made(tmp_path, {"A": {"q1": "x"}})


@pytest.fixture
def desk(run: Run, providers_file: ProvidersFile) -> Callable[..., ModelClient]:
    """A new desk of the same run, as each command has one; the command before has ended."""
    desks: list[ModelClient] = []

    def new(**settings: Any) -> ModelClient:
        for earlier in desks:
            earlier.release()
        desks.append(ModelClient(run.file, endpoints=load_endpoints(providers_file(**settings))))
        return desks[-1]

    return new


def saying(text: str, **sampling: Any) -> Request:
    return Request(
        messages=(Message("user", f"\n<answer>\n{text}\n</answer>\n"),), sampling=Sampling(**sampling)
    )


def read(text: str) -> str:
    if "refuse" in text:
        raise Unreadable("it will not")
    return text


@pytest.fixture(autouse=True)
def _echoing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here the fake says again what it was told."""

    async def echo(judge: FakeJudge, sent: Sent) -> Any:
        return completion(sent, f"heard {sent.answers[-1]}")

    monkeypatch.setitem(MANNERS, "structured", echo)


def test_results_come_in_the_order_of_the_requests(
    desk: Callable[..., ModelClient], judge: FakeJudge
) -> None:
    words = [f"w{k}" for k in range(40)]
    found = desk().ask("fake/j1", [saying(word) for word in words], read, purpose="test")
    assert [CallResult(f"heard {word}", None, (), "stop") for word in words] == found


def test_nothing_asked_is_nothing_heard(desk: Callable[..., ModelClient], judge: FakeJudge) -> None:
    assert [] == desk().ask("fake/j1", [], read, purpose="test")
    assert [] == judge.sent


def test_equal_requests_are_sent_once(desk: Callable[..., ModelClient], judge: FakeJudge) -> None:
    found = desk().ask("fake/j1", [saying(w) for w in "abaab"], read, purpose="test")
    assert [f"heard {w}" for w in "abaab"] == [heard.value for heard in found]
    assert 2 == len(judge.sent)


def test_another_desk_recalls_what_could_be_used_and_asks_for_the_rest(
    desk: Callable[..., ModelClient], judge: FakeJudge
) -> None:
    asked = [saying("a"), saying("refuse"), saying("b")]
    first = desk().ask("fake/j1", asked, read, purpose="test")
    judge.sent.clear()
    again = desk()
    assert first == again.ask("fake/j1", asked, read, purpose="test")
    assert [("refuse",)] == [sent.answers for sent in judge.sent]
    assert (1, 2) == (again.usage.answered - again.usage.shared, again.usage.shared)


@pytest.mark.parametrize(
    "other",
    [
        {"purpose": "other"},
        {"repeat": 2},
        {"model": "fake/j2"},
        {"requests": [saying("a", temperature=0.5)]},
        {"model": "fake/j1(seed=1)"},
    ],
)
def test_what_differs_in_purpose_repeat_model_or_sampling_is_another_question(
    other: dict[str, Any], desk: Callable[..., ModelClient], judge: FakeJudge
) -> None:
    first = {"model": "fake/j1", "requests": [saying("a")], "parse": read, "purpose": "test", "repeat": 1}
    desk().ask(**first)
    desk().ask(**(first | other))
    assert 2 == len(judge.sent)


def test_a_reply_is_read_anew_when_it_is_recalled(desk: Callable[..., ModelClient], judge: FakeJudge) -> None:
    """A reader that has learnt more gets the reply that was kept."""
    desk().ask("fake/j1", [saying("a")], read, purpose="test")
    (found,) = desk().ask("fake/j1", [saying("a")], len, purpose="test")
    assert 7 == found.value
    assert 1 == len(judge.sent)


def test_a_reply_that_a_stricter_reader_turns_down_is_asked_for_once_more(
    desk: Callable[..., ModelClient], judge: FakeJudge
) -> None:
    def strict(text: str) -> str:
        if text == "heard a":
            raise Unreadable("too short")
        return text

    desk().ask("fake/j1", [saying("a")], read, purpose="test")
    told: list[tuple[int, str, str]] = []

    def again(k: int, reply: str, why: str) -> Request:
        told.append((k, reply, why))
        return saying("more")

    (found,) = desk().ask("fake/j1", [saying("a")], strict, purpose="test", again=again)
    assert [(0, "heard a", "too short")] == told
    assert ("heard more", None) == (found.value, found.reason)
    assert 2 == len(judge.sent)


def _gentle(k: int, reply: str, why: str) -> Request:
    return saying(f"more of {k}, for {why}")


@pytest.mark.parametrize("sampling", [{}, {"schema": {"type": "object"}}])
@pytest.mark.parametrize("takes_schema", [True, False])
def test_what_the_second_request_mended_is_not_asked_again(
    desk: Callable[..., ModelClient], judge: FakeJudge, takes_schema: bool, sampling: dict[str, Any]
) -> None:
    judge.takes_schema = takes_schema
    requests = [saying("refuse", **sampling), saying("a", **sampling), saying("refuse", **sampling)]
    first = desk().ask("fake/j1", requests, read, purpose="test", again=_gentle)
    assert ["heard more of 0, for it will not", "heard a", "heard more of 2, for it will not"] == [
        result.value for result in first
    ]
    judge.sent.clear()
    second = desk()
    values = [r.value for r in second.ask("fake/j1", requests, read, purpose="test", again=_gentle)]
    assert "heard a" == values[1]
    assert [] == judge.sent
    assert second.usage.answered == second.usage.shared


def test_what_failed_twice_is_asked_again(desk: Callable[..., ModelClient], judge: FakeJudge) -> None:
    for _ in range(2):
        judge.sent.clear()
        desk().ask("fake/j1", [saying("refuse")], read, purpose="test", again=lambda *_: saying("refuse 2"))
        assert [("refuse",), ("refuse 2",)] == [sent.answers for sent in judge.sent]


def test_what_another_second_request_mended_is_asked_again(
    desk: Callable[..., ModelClient], judge: FakeJudge
) -> None:
    """A reader that objects to something else asks for something else."""
    desk().ask("fake/j1", [saying("refuse")], read, purpose="test", again=_gentle)
    judge.sent.clear()
    desk().ask("fake/j1", [saying("refuse")], read, purpose="test", again=lambda *_: saying("other"))
    assert [("refuse",), ("other",)] == [sent.answers for sent in judge.sent]


def test_a_dry_run_counts_no_call_for_what_was_mended(
    run: Run, desk: Callable[..., ModelClient], providers_file: ProvidersFile, judge: FakeJudge
) -> None:
    desk().ask("fake/j1", [saying("refuse")], read, purpose="test", again=_gentle)
    judge.sent.clear()
    counting = CountingClient(run.file, load_endpoints(providers_file()))
    (result,) = counting.ask("fake/j1", [saying("refuse")], read, purpose="test", again=_gentle)
    assert "heard more of 0, for it will not" == result.value
    assert (0, 2) == (counting.estimate.calls, counting.estimate.stored)
    assert [] == judge.sent


def test_both_reasons_are_told_of_what_failed_twice(
    desk: Callable[..., ModelClient], judge: FakeJudge
) -> None:
    (found,) = desk().ask(
        "fake/j1", [saying("refuse")], read, purpose="test", again=lambda k, reply, why: saying("refuse too")
    )
    assert (None, "it will not; asked again: it will not") == (found.value, found.reason)


def test_settings_of_the_model_fill_what_a_request_leaves_open(
    desk: Callable[..., ModelClient], judge: FakeJudge
) -> None:
    desk().ask("fake/j1(max_tokens=50)", [saying("a", temperature=0.0)], read, purpose="test")
    assert (50, 0.0) == (judge.sent[0].body["max_tokens"], judge.sent[0].body["temperature"])


@pytest.mark.parametrize(
    ("model", "error"),
    [("fake/j1(shots=2)", SpecError), ("nowhere/j1", ModelError), ("j1", SpecError)],
)
def test_a_model_that_cannot_be_asked_here_is_refused(
    model: str, error: type[Exception], desk: Callable[..., ModelClient], judge: FakeJudge
) -> None:
    with pytest.raises(error):
        desk().ask(model, [saying("a")], read, purpose="test")
    assert [] == judge.sent


def test_a_model_that_fails_always_is_given_up_and_what_came_is_kept(
    desk: Callable[..., ModelClient], judge: FakeJudge
) -> None:
    judge.manners = {"bad": ("500",)}
    asked = [saying("good"), *(saying(f"bad {k}") for k in range(30))]
    with pytest.raises(ModelError, match=r"was not asked everything: the last 20 requests .* all failed"):
        desk(concurrency=1).ask("fake/j1", asked, read, purpose="test")
    assert 21 == len(judge.sent)
    judge.manners.clear()
    judge.sent.clear()
    assert 31 == len(desk().ask("fake/j1", asked, read, purpose="test"))
    assert 30 == len(judge.sent)


def test_the_reply_is_kept_word_for_word(desk: Callable[..., ModelClient], run: Run) -> None:
    desk().ask("fake/j1", [saying("ünï 漢字 \u2028 'x'")], read, purpose="test")
    with run.file.reading() as db:
        ((kept,),) = db.execute("SELECT reply FROM calls")
    assert {"text": "heard ünï 漢字 \u2028 'x'", "finish_reason": "stop", "model": "j1"} == json.loads(kept)


def test_citations_are_stored_with_the_reply_and_recalled(
    desk: Callable[..., ModelClient], judge: FakeJudge, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = ("https://a.example/1", {"title": "<b>ünï</b>", "page": 3})

    async def cite(judge: FakeJudge, sent: Sent) -> Any:
        return completion(sent, "as [1] says", citations=list(sources), choice={"finish_reason": "length"})

    monkeypatch.setitem(MANNERS, "structured", cite)
    for _ in range(2):
        (result,) = desk().ask("fake/j1", [saying("a")], read, purpose="test")
        assert CallResult("as [1] says", None, sources, "length") == result
    assert 1 == len(judge.sent)
    with run.file.reading() as db:
        ((stored,),) = db.execute("SELECT reply FROM calls")
    assert list(sources) == json.loads(stored)["citations"]


def test_a_reply_of_an_earlier_version_has_no_citations() -> None:
    reply = reply_from_json('{"text": "x", "finish_reason": "stop", "model": "j1"}')
    assert Reply(text="x", finish_reason="stop", model="j1") == reply


def test_a_reply_that_cannot_be_used_says_that_it_was_cut(
    desk: Callable[..., ModelClient], judge: FakeJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cut(judge: FakeJudge, sent: Sent) -> Any:
        return completion(sent, "refuse", choice={"finish_reason": "length"})

    monkeypatch.setitem(MANNERS, "structured", cut)
    (result,) = desk().ask("fake/j1", [saying("a")], read, purpose="test")
    assert (None, "length") == (result.value, result.finish_reason)


class FakeLocal:
    """A model of this process: it counts how often it is loaded, and knows who else is."""

    place, endpoint, branching = "", "hf on cpu", True
    made: list["FakeLocal"]

    def __init__(self, who: CandidateConfig) -> None:
        self.name, self.loaded, self.loads, self.most = str(who.spec), False, 0, 0
        self.made.append(self)

    async def generate(self, request: Request) -> Reply:
        self.loads += not self.loaded
        self.loaded = True
        self.most = max(self.most, sum(one.loaded for one in self.made))
        return Reply(text='{"reasoning": "r", "score": 1}')

    async def close(self) -> None:
        """The weights stay."""

    @property
    def facts(self) -> dict[str, str]:
        """How it runs."""
        return {}

    def release(self) -> None:
        self.loaded = False


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> list[FakeLocal]:
    """The models of this process that were connected."""
    FakeLocal.made = []
    monkeypatch.setattr(CandidateConfig, "connect", lambda who: FakeLocal(who))
    return FakeLocal.made


def test_a_model_of_this_process_is_loaded_once_until_the_desk_ends(
    desk: Callable[..., ModelClient], here: list[FakeLocal]
) -> None:
    mine = desk()
    for repeat in (1, 2, 3):
        mine.ask("hf/a", [saying("a"), saying("b")], read, purpose="test", repeat=repeat)
    (model,) = here
    assert (1, True) == (model.loads, model.loaded)
    mine.release()
    assert not model.loaded


def test_of_two_models_of_this_process_one_is_loaded_at_a_time(
    desk: Callable[..., ModelClient], here: list[FakeLocal]
) -> None:
    mine = desk()
    for name in ("hf/a", "hf/b", "hf/a"):
        mine.ask(name, [saying("a")], read, purpose=f"test {len(here)} {name}")
    assert ["hf/a", "hf/b"] == [model.name for model in here]
    assert [1, 1] == [model.most for model in here]


def test_a_verb_releases_its_judge(run: Run, here: list[FakeLocal]) -> None:
    run.score("judge(rubric=correctness, model=hf/a)", passes=3)
    (model,) = here
    assert (1, False) == (model.loads, model.loaded)
