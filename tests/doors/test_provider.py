"""The door of providers: a plugin's models are collected with price and limits, and ours pass the check."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.studies.making import borrowed, exam

from vivavoce.core import registry
from vivavoce.core.errors import EgressError, ModelError, SpecError
from vivavoce.models.candidates import may_return_logprobs, parse_candidate
from vivavoce.models.endpoints import load_endpoints
from vivavoce.models.providers import Provider
from vivavoce.models.rate_limit import Limits
from vivavoce.models.requests import FatalError, Likelihood, Reply, Request
from vivavoce.run.run import open_run
from vivavoce.testing.provider import check_provider

PLUGIN = Path(__file__).resolve().parents[2] / "examples" / "plugin_provider.py"


@pytest.fixture(autouse=True)
def plugins() -> Iterator[None]:
    registry.entries("provider")
    with borrowed():
        yield


@pytest.fixture
def triage() -> None:
    registry.load_plugin(PLUGIN)


def test_a_plugin_s_model_is_collected_at_its_price(viva, tmp_path):
    run, questions = tmp_path / "r.viva", exam(tmp_path, ["q1", "q2"])
    viva("collect", run, questions, "--model", "triage/v1(ward=surgery)", "--plugin", PLUGIN, "--max-cost", 1)
    done = open_run(run)
    assert {"Go to surgery."} == set(done.responses["text"])
    assert ["triage/v1(ward=surgery)"] == done.responses["candidate"].unique().to_list()


def test_a_plugin_s_provider_is_listed(viva):
    rows = viva("list", "providers", "--plugin", PLUGIN, "--json").output
    assert '"name": "triage"' in rows
    assert "plugin_provider.py" in rows


def test_price_and_limits_are_those_of_the_class(triage):
    candidate = parse_candidate("triage/v1", load_endpoints())
    assert ((0.5, 1.5), Limits(4, 6000)) == (candidate.price, candidate.limits)


def test_an_entry_of_a_providers_file_changes_them(triage, tmp_path):
    file = tmp_path / "own.yaml"
    file.write_text("triage: {concurrency: 2, prices: {v1: [3, 9]}}\nnight: {kind: triage, attempts: 1}\n")
    endpoints = load_endpoints(file)
    changed, night = (parse_candidate(text, endpoints) for text in ("triage/v1", "night/v1"))
    assert ((3.0, 9.0), Limits(2, 6000)) == (changed.price, changed.limits)
    assert ((0.5, 1.5), Limits(4, 6000, None, 1)) == (night.price, night.limits)
    assert night.provider is changed.provider


def test_its_settings_are_checked_like_ours(triage):
    with pytest.raises(SpecError, match=r"triage/v1: ward takes text, not 3"):
        parse_candidate("triage/v1(ward=3)", load_endpoints())
    with pytest.raises(SpecError, match=r"no setting 'wrad'. Did you mean 'ward'"):
        parse_candidate("triage/v1(wrad=a)", load_endpoints())


def test_a_near_name_is_suggested(triage):
    with pytest.raises(ModelError, match=r"no provider 'triag'. Did you mean 'triage'"):
        parse_candidate("triag/v1", load_endpoints())


def test_the_example_passes_the_check(triage):
    check_provider("triage/v1(ward=surgery)", failing="triage/v2")


@pytest.mark.parametrize("rule", ["random", "longest-option", "echo", "reference"])
def test_our_baselines_pass_the_check(rule):
    check_provider(f"baseline/{rule}")


def test_our_systems_pass_the_check(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "kidney_rule.py").write_text(
        "def say(messages): return 'kidney'\ndef fail(messages): raise OSError('no line')"
    )
    check_provider("callable(path=kidney_rule:say)", failing="callable(path=kidney_rule:fail)")


def test_a_provider_that_names_no_host_counts_as_remote(tmp_path):
    @registry.provider("cloud")
    class Cloud(Provider):
        """Sends the text somewhere."""

        async def generate(self, request: Request) -> Reply:
            raise AssertionError("it was asked")

    assert "cloud" == parse_candidate("cloud/m", load_endpoints()).connect().place
    with pytest.raises(EgressError, match="offline: 'cloud' is not this machine"):
        open_run(tmp_path / "r.viva").collect(exam(tmp_path, ["q1"]), models=["cloud/m"], offline=True)


class Broken(Provider):
    """Breaks one rule at a time."""

    host = ""

    async def generate(self, request: Request) -> Reply:
        return Reply(text="kidney")


def broken(**members: object) -> None:
    registry.provider("broken")(type("Broken", (Broken,), {"__doc__": "Broken.", **members}))


async def raises(self: Provider, request: Request) -> Reply:
    raise KeyError("choices")


async def silent(self: Provider, request: Request) -> Reply:
    return Reply(text=None)


async def leaks(self: Provider, request: Request) -> Reply:
    if not request.messages[-1].content:
        raise FatalError("refused for sk-secret-1234")
    return Reply(text="kidney")


async def too_likely(self: Provider, request: Request) -> Reply:
    return Reply(text="", likelihoods=(Likelihood(0.5, 1),))


@pytest.mark.parametrize(
    ("members", "rule"),
    [
        ({"price": (1.0,)}, "price is"),
        ({"limits": Limits(concurrency=0)}, "1 or more of each"),
        ({"settings": {"region": str}}, "tuple of types"),
        ({"generate": silent}, "text is None"),
        ({"generate": leaks}, "a key stands in"),
        ({"loglikelihood": too_likely}, "set returns_logprobs"),
        ({"loglikelihood": too_likely, "returns_logprobs": True}, "the log-likelihood is 0.5"),
    ],
)
def test_the_check_names_the_rule_that_is_broken(members, rule, monkeypatch):
    monkeypatch.setenv("BROKEN_KEY", "sk-secret-1234")
    broken(**members)
    with pytest.raises(AssertionError, match=rule):
        check_provider("broken/m", keys=["BROKEN_KEY"])


def test_the_check_wants_failures_of_the_three_kinds():
    broken(generate=raises)
    with pytest.raises(AssertionError, match="raised KeyError: raise RetryableError, RejectedError"):
        check_provider("baseline/echo", failing="broken/m")


@pytest.mark.parametrize(
    ("candidate", "returns"),
    [("hf/m", True), ("vllm/m", True), ("openai/m", False), ("baseline/echo", False), ("replay", False)],
)
def test_the_provider_tells_whether_a_candidate_may_return_log_probabilities(candidate, returns):
    assert returns == may_return_logprobs(candidate)
