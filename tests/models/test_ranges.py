"""Numbers that people set have ranges: one sentence names the file or option, the setting and the value."""

import json
from pathlib import Path

import pytest
import yaml
from tests.cases import each_case
from tests.run.collect.conftest import exam

import vivavoce as viva_
from vivavoce.core.errors import InputError, ModelError, SpecError
from vivavoce.models.candidates import parse_candidate
from vivavoce.models.endpoints import load_endpoints
from vivavoce.models.ranges import RANGES, Range
from vivavoce.run.plan.plan_file import read_plan

__all__ = ["exam"]

HUGE = "1" + "0" * 400


def entry(tmp_path: Path, text: str):
    file = tmp_path / "providers.yaml"
    file.write_text(f"ward: {{base_url: 'http://localhost/v1', {text}}}\n")
    return load_endpoints(file)["ward"]


@pytest.mark.parametrize("value", ["0", "-1", "10001", "2.5", ".inf", "-.inf", ".nan", HUGE, "true", "[8]"])
@pytest.mark.parametrize("setting", ["concurrency", "attempts", "requests_per_minute", "tokens_per_minute"])
def test_a_whole_number_of_a_providers_file_has_its_range(tmp_path, setting, value):
    if value == "10001" and "per_minute" in setting:
        assert 10_001 == getattr(entry(tmp_path, f"{setting}: {value}"), setting)
        return
    with pytest.raises(ModelError) as error:
        entry(tmp_path, f"{setting}: {value}")
    said = str(error.value)
    if "inf" in value or "nan" in value or value == HUGE:  # refused as the file is read
        assert "providers.yaml, line 1: " in said
    else:
        assert f"providers.yaml, ward, {setting}: a whole number from 1 to " in said
        assert "not " in said
    assert len(said) < 300


@pytest.mark.parametrize("value", ["0", "-1", "86401", ".inf", ".nan", HUGE, "true", "null"])
def test_a_timeout_is_above_nothing_and_at_most_a_day(tmp_path, value):
    with pytest.raises(ModelError, match=r"providers\.yaml, (line 1|ward, timeout): "):
        entry(tmp_path, f"timeout: {value}")


def test_the_ends_of_a_range_are_in_it(tmp_path):
    made = entry(tmp_path, "concurrency: 10000, attempts: 1, timeout: 0.1, requests_per_minute: 60.0")
    assert (10_000, 1, 0.1, 60) == (made.concurrency, made.attempts, made.timeout, made.requests_per_minute)


@pytest.mark.parametrize("pair", ["[.inf, 1]", "[1, .nan]", "[-1, 1]", f"[{HUGE}, 1]", "[1]", "5"])
def test_prices_are_finite_and_none_is_negative(tmp_path, pair):
    with pytest.raises(
        ModelError, match=r"providers\.yaml, (line 1: |ward, prices, m: a price is two numbers)"
    ):
        entry(tmp_path, f"prices: {{m: {pair}}}")


@pytest.mark.parametrize(
    "header",
    [
        "Host",
        "content-length",
        "Transfer-Encoding",
        "Connection",
        "Cookie",
        "api key",
        "key:",
        "a\\nb",
        "é",
        "",
        5,
    ],
)
def test_the_header_of_a_key_is_a_token_that_frames_no_request(tmp_path, header):
    with pytest.raises(ModelError, match="ward, key_header: "):
        entry(tmp_path, f"key_header: {json.dumps(header) if isinstance(header, str) else header}")


def test_a_header_of_a_provider_s_own_is_taken(tmp_path):
    assert "X-Api_Key.2" == entry(tmp_path, "key_header: X-Api_Key.2").key_header


@pytest.mark.parametrize("path", ["a b", "a\tb", "a\nb", "a\rb", "a\x00b", "a\x7fb", "a\u200bb", "a\u00a0b"])
def test_a_base_url_holds_no_blank_and_no_control_character(tmp_path, monkeypatch, path):
    file = tmp_path / "providers.yaml"
    file.write_text(json.dumps({"ward": {"base_url": f"http://localhost/{path}"}}))
    with pytest.raises(ModelError, match="ward, base_url: it holds a blank or a control character"):
        load_endpoints(file)
    if "\x00" not in path:
        monkeypatch.setenv("VLLM_BASE_URL", f"http://localhost/{path}")
        with pytest.raises(ModelError, match="is no URL of an endpoint"):
            parse_candidate("vllm/m", load_endpoints()).connect()


def test_what_a_base_url_holds_behind_a_question_mark_is_not_repeated(tmp_path):
    file = tmp_path / "providers.yaml"
    file.write_text(json.dumps({"ward": {"base_url": "ftp://host/v1?key=verborgen"}}))
    with pytest.raises(ModelError, match="must begin with http") as error:
        load_endpoints(file)
    assert "verborgen" not in str(error.value)


def test_names_to_accept_are_texts(tmp_path):
    with pytest.raises(ModelError, match=r"ward, accept: names are texts, not \[5\]"):
        entry(tmp_path, "accept: {m: [5]}")


@each_case(
    ("setting", "value"),
    [
        ("temperature", "-0.1"),
        ("temperature", "11"),
        ("top_p", "0"),
        ("top_p", "1.1"),
        ("max_tokens", "0"),
        ("max_tokens", HUGE),
        ("seed", HUGE),
        ("shots", "-1"),
    ],
)
def test_a_setting_of_a_spec_has_its_range(setting, value):
    with pytest.raises(SpecError, match=rf"vllm/m: {setting} takes ") as error:
        parse_candidate(f"vllm/m({setting}={value})", load_endpoints())
    assert len(str(error.value)) < 200


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("max_cost", [-1.0, float("inf"), float("nan")]),
        ("timeout_total", [0.0, -1.0, float("inf"), float("nan"), 86_401.0]),
        ("repeats", [0, -1, 10_001, 10**400]),
        ("temperature", [-1.0, float("inf"), float("nan"), 11.0]),
        ("top_p", [0.0, 1.5, float("nan")]),
        ("max_tokens", [0, -1, 10**400]),
        ("seed", [10**400]),
    ],
)
def test_an_option_out_of_range_is_named_with_its_value(exam, tmp_path, option, values):
    run = viva_.open(tmp_path / "run.viva")
    name = f"--{option.replace('_', '-')}"
    for value in values:
        with pytest.raises((InputError, SpecError)) as error:
            run.collect(exam(2), models=["baseline/echo"], **{option: value})
        said = str(error.value)
        assert said.startswith(f"{name} {str(value)[:20]}")
        assert said.endswith(f": {RANGES[option]} is needed.")
        assert len(said) < 200
    assert not run.file.exists


@pytest.mark.parametrize("option", ["--max-cost", "--timeout-total"])
@pytest.mark.parametrize("command", ["collect", "score", "vary"])
def test_the_command_line_refuses_infinity_in_one_sentence(viva, exam, tmp_path, command, option):
    path = tmp_path / "run.viva"
    spec = exam(2)
    viva("collect", path, spec, "--model", "baseline/echo")
    words = {
        "collect": (spec, "--model", "baseline/echo"),
        "score": ("exact",),
        "vary": ("bias(type=recency)", "--items", spec),
    }[command]
    with pytest.raises(InputError, match=rf"{option} inf: a number .* is needed\."):
        viva(command, path, *words, option, "inf")


@pytest.mark.parametrize("line", ["max_cost: .inf", "timeout_total: 0", "timeout_total: .inf"])
def test_a_plan_file_names_itself(tmp_path, line):
    file = tmp_path / "exam.yaml"
    file.write_text(f"run: exam.viva\n{line}\n")
    with pytest.raises(
        InputError, match=r"exam\.yaml(: --timeout-total 0: a number|, line 2: \.inf is no number)"
    ):
        read_plan(file)


def test_a_plan_file_may_state_the_time_of_a_request(tmp_path):
    file = tmp_path / "exam.yaml"
    file.write_text("run: exam.viva\ntimeout_total: 30\n")
    assert (30, 600.0) == (read_plan(file).timeout_total, yaml_default(tmp_path))


def yaml_default(folder: Path) -> float:
    file = folder / "bare.yaml"
    file.write_text(yaml.safe_dump({"run": "exam.viva"}))
    return read_plan(file).timeout_total


@each_case("value", [True, None, "8", [8], float("inf"), float("nan"), 10**400, 0.5, 0, 11])
def test_a_range_reads_numbers_within_it_alone(value):
    assert Range(1, 10, integer=True).parse(value) is None
