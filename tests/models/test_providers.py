"""Providers, candidates by name, and what is said when one cannot be used."""

from pathlib import Path

import pytest
from tests.cases import each_case

from vivavoce.core.errors import ModelError, SpecError
from vivavoce.core.yaml_files import read_mapping
from vivavoce.models.candidates import parse_candidate
from vivavoce.models.endpoints import load_endpoints
from vivavoce.run.run import open_run
from vivavoce.testing.provider import check_provider

DEMO = Path(__file__).resolve().parents[2] / "examples" / "demo"


@pytest.fixture
def written(tmp_path):
    def write(text: str):
        path = tmp_path / "providers.yaml"
        path.write_text(text)
        return path

    return write


def test_a_file_of_ones_own_adds_a_provider_and_changes_a_setting(written):
    known = load_endpoints(
        written("ward: {base_url: 'http://10.0.0.7:8000/v1/'}\nopenai: {concurrency: 3}\n")
    )
    assert "http://10.0.0.7:8000/v1" == known["ward"].base_url
    assert (3, "OPENAI_API_KEY") == (known["openai"].concurrency, known["openai"].key)


def test_the_environment_goes_before_the_file(written, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1/")
    assert (
        "http://localhost:1/v1"
        == load_endpoints(written("openai: {base_url: 'http://a/v1'}"))["openai"].base_url
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("openai: {pries: {}}", r"openai: no setting 'pries'. Did you mean 'prices'"),
        ("openai: {prices: {gpt-4o: 2.5}}", r"openai, prices, gpt-4o: a price is two numbers"),
        ("openai: {prices: {gpt-4o: [2.5, ten]}}", r"two numbers.*not \[2.5, 'ten'\]"),
        ("openai: {prices: [1]}", r"openai, prices: \[1\] is not what"),
        ("openai: {base_url: localhost}", r"must begin with http:// or https://"),
        ("openai: {concurrency: 0}", r"concurrency: a whole number from 1 to 10,000 is needed"),
        ("openai: {kind: gpt}", r"kind: 'gpt'"),
        ("openai: [", r"line 1: no valid YAML"),
        ("- openai", r"a mapping of names to settings is needed, not list"),
        ("openai: fast", r"settings are a mapping"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_its_setting(written, text, said):
    with pytest.raises(ModelError, match=said):
        load_endpoints(written(text))


def test_a_missing_key_names_its_variable(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelError, match="set the environment variable OPENAI_API_KEY"):
        parse_candidate("openai/gpt-4o", load_endpoints()).connect()


def test_azure_needs_a_base_url():
    with pytest.raises(ModelError, match="azure has no base URL: set AZURE_BASE_URL"):
        parse_candidate("azure/mine", load_endpoints()).connect()


def test_settings_of_the_call_go_into_the_name_and_the_spec_s_own_go_first():
    one = parse_candidate("openai/gpt-4o(temperature=0.2)", load_endpoints(), temperature=1.0, max_tokens=50)
    assert "openai/gpt-4o(max_tokens=50, temperature=0.2)" == str(one.spec)
    assert (0.2, 50) == (one.sampling.temperature, one.sampling.max_tokens)


def test_what_is_not_given_is_not_sent():
    sampling = parse_candidate("openai/gpt-4o", load_endpoints()).sampling
    assert (None, None, None, ()) == (sampling.temperature, sampling.top_p, sampling.seed, sampling.stop)


@pytest.mark.parametrize(
    ("text", "role"),
    [("baseline/random", "floor"), ("baseline/echo", "floor"), ("baseline/reference", "ceiling"),
     ("openai/gpt-4o", "candidate")],
)  # fmt: skip
def test_a_candidate_has_its_part(text, role):
    assert role == parse_candidate(text, load_endpoints()).role


def test_settings_of_the_call_are_not_for_baselines():
    assert "baseline/echo" == str(parse_candidate("baseline/echo", load_endpoints(), temperature=0.7).spec)
    assert parse_candidate("baseline/random", load_endpoints(), seed=7).sampling.seed is None
    named = parse_candidate("baseline/random(seed=7)", load_endpoints(), seed=8)
    assert ("baseline/random(seed=7)", 7) == (str(named.spec), named.sampling.seed)


@each_case(
    ("text", "said"),
    [
        ("opnai/gpt-4o", "no provider 'opnai'. Did you mean 'openai'"),
        ("gpt-4o", "names no model: write provider/model"),
        ("openai", "names no model"),
        ("openai/gpt-4o(temprature=1)", "no setting 'temprature'. Did you mean 'temperature'"),
        ("openai/gpt-4o(temperature=hot)", "temperature takes a whole number or a number, not 'hot'"),
        ("openai/gpt-4o(max_tokens=true)", "max_tokens takes a whole number"),
        ("baseline/luck", "no baseline 'luck'"),
        ("callable()", "callable needs path"),
        ("http", "http needs url"),
    ],
)
def test_a_name_that_cannot_be_used_is_explained(text, said):
    with pytest.raises((SpecError, ModelError), match=said):
        parse_candidate(text, load_endpoints())


def test_an_unknown_model_of_a_known_provider_works():
    assert "model-of-tomorrow" == parse_candidate("openai/model-of-tomorrow", load_endpoints()).model


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("anthropic/claude-sonnet-4-0", "claude-sonnet-4-20250514"),
        ("anthropic/claude-opus-4-0", "claude-opus-4-20250514"),
        ("azure/wards-own-name", "gpt-4o-2024-08-06"),
    ],
)
def test_names_that_differ_by_design_are_accepted(monkeypatch, spec, said):
    for name in ("ANTHROPIC_API_KEY", "AZURE_OPENAI_API_KEY"):
        monkeypatch.setenv(name, "none")
    monkeypatch.setenv("AZURE_BASE_URL", "https://ward.example.org/v1")
    assert said == parse_candidate(spec, load_endpoints()).connect()._checked_model({"model": said})


def test_a_key_is_read_from_the_environment_without_its_line_end(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", " abc\n")
    assert "abc" == load_endpoints()["openai"].secret()


@pytest.mark.parametrize("typed", ["sk-live-0123456789", "hf_0123456789abcdefghij", "12345678", "''", "[a]"])
def test_a_key_typed_into_the_file_is_refused_and_not_repeated(written, typed):
    with pytest.raises(ModelError, match="key takes the NAME of an environment variable") as error:
        load_endpoints(written(f"openai: {{key: {typed}}}"))
    assert typed not in str(error.value).partition("openai: ")[2]


@pytest.mark.parametrize(
    "url",
    [
        "http://h/x?api_key=verborgen",
        "http://h/x?a=1&X-Amz-Signature=verborgen",
        "http://h/x?%6Bey=verborgen",
        "http://h/x#token=verborgen",
        "http://ward:verborgen@h/x",
    ],
)
def test_an_address_with_a_key_names_no_candidate_and_is_not_repeated(url):
    with pytest.raises((SpecError, ModelError), match="--providers file") as error:
        parse_candidate(f"http(url='{url}')", load_endpoints())
    assert "verborgen" not in str(error.value)


def test_an_address_with_another_query_names_a_candidate():
    assert "http(url='http://h/x?ward=3')" == str(
        parse_candidate("http(url='http://h/x?ward=3')", load_endpoints()).spec
    )


def test_a_file_that_changes_is_read_again(written):
    file = written("openai: {concurrency: 3}")
    assert 3 == load_endpoints(file)["openai"].concurrency
    file.write_text("openai: {concurrency: 44}")
    assert 44 == load_endpoints(file)["openai"].concurrency


def test_what_is_done_to_settings_does_not_stay_in_the_cache(written):
    file = written("openai: {prices: {m: [1, 2]}}")
    read_mapping(file, "providers", ModelError)["openai"]["prices"].clear()
    assert {"m": (1.0, 2.0)} == load_endpoints(file)["openai"].prices


def test_scoring_without_a_judge_reads_no_providers(tmp_path, monkeypatch):
    run = open_run(tmp_path / "r.viva")
    run.import_answers(DEMO / "answers.jsonl", benchmark=f"jsonl(path={DEMO / 'exam.jsonl'})")
    monkeypatch.setattr("vivavoce.models.engine.client.load_endpoints", lambda: pytest.fail("they were read"))
    run.score("accuracy")


KEY = "sk-proj-0123456789abcdefghij"
CHAT = {
    "choices": [{"message": {"role": "assistant", "content": "kidney"}, "finish_reason": "stop"}],
    "prompt_logprobs": [None, {"7": {"logprob": -1.5, "rank": 1, "decoded_token": "kidney"}}],
}
MESSAGES = {"content": [{"type": "text", "text": "kidney"}], "stop_reason": "end_turn"}


@pytest.mark.parametrize(("kind", "reply"), [("openai", CHAT), ("anthropic", MESSAGES)])
def test_our_endpoints_pass_the_check_of_providers(fake, written, monkeypatch, kind, reply):
    monkeypatch.setenv("WARD_KEY", KEY)
    server = fake(reply)
    file = written(
        f"ward: {{kind: {kind}, base_url: '{server.base_url}', key: WARD_KEY}}\n"
        f"gone: {{kind: {kind}, base_url: 'http://127.0.0.1:9/v1', key: WARD_KEY}}\n"
    )
    check_provider("ward/m", failing="gone/m", keys=["WARD_KEY"], providers=file)
    assert any(KEY in value for value in server.received[-1][1].values())
