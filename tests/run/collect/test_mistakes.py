"""Bad input, and what must not leave: one clear sentence, nothing sent, nothing lost, no key anywhere."""

import json
import shutil
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from aiohttp import web
from tests.absent import absent

import vivavoce as viva_
from vivavoce import cli
from vivavoce.core import net
from vivavoce.core.errors import EgressError
from vivavoce.models.engine import scheduler

KEY = "sk-live-0123456789abcdefABCDEF"
PATIENT = {"question": "Mrs Jane Miller, born 12/03/1961, MRN 4471923, has a cough?"}
GOOD = {"model": "m", "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}


@pytest.fixture
def said(monkeypatch, capsys, tmp_path) -> Callable[..., tuple[int, str, str]]:
    """The command line as a user meets it: exit code, stdout and stderr."""
    monkeypatch.setattr(scheduler, "FIRST_WAIT", 0.0)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "VLLM_BASE_URL", "ANTHROPIC_API_KEY", "VIVA_OFFLINE"):
        monkeypatch.delenv(name, raising=False)

    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["viva", *map(str, words)])
        capsys.readouterr()
        try:
            cli.main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def refused(said, tmp_path, exam):
    """The one sentence with which a collect is refused; no run file is left."""

    def call(*words: object) -> str:
        code, out, err = said("collect", tmp_path / "run.viva", exam(3), *words)
        assert (2, "") == (code, out), (code, out, err)
        assert 1 == err.count("\n")
        assert not (tmp_path / "run.viva").exists()
        return err

    return call


@pytest.fixture
def silent(monkeypatch) -> list[str]:
    """Names that were looked up; none may be."""
    asked: list[str] = []

    def looked(host, *rest, **more):
        asked.append(host)
        raise socket.gaierror("no name may be looked up here")

    monkeypatch.setattr(socket, "getaddrinfo", looked)
    return asked


# Words.


def test_an_unknown_provider_is_named(refused):
    err = refused("--model", "opnai/gpt-4o")
    assert "no provider 'opnai'. Did you mean 'openai'? Another is one entry in a --providers file." in err


def test_a_missing_key_names_its_variable(refused):
    assert "openai needs a key: set the environment variable OPENAI_API_KEY" in refused("--model", "openai/m")


def test_a_base_url_that_is_none_is_named(refused, monkeypatch):
    monkeypatch.setenv("VLLM_BASE_URL", "localhost:8000/v1")
    assert "'localhost:8000/v1' is no URL of an endpoint: write https://host/v1." in refused(
        "--model", "vllm/m"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("openai: {price: {m: [1, 2]}}", "openai: no setting 'price'. Did you mean 'prices'?"),
        (
            "openai: {prices: {m: 1.5}}",
            "openai, prices, m: a price is two numbers, [per million input tokens",
        ),
        ("openai: {prices: {m: [1, '2']}}", "not [1, '2']."),
        ("openai: {prices: {m: [1, 2]}", "line 1: no valid YAML"),
        ("openai: {key: A}\nopenai: {key: B}", "line 2: openai stands there twice."),
        (
            "openai: {timeout: soon}",
            "openai, timeout: a number above 0 and at most 86,400 is needed, not 'soon'.",
        ),
    ],
)
def test_a_price_file_with_a_typo_is_named_with_its_place(refused, tmp_path, text, words):
    file = tmp_path / "prices.yaml"
    file.write_text(text)
    err = refused("--model", "vllm/m", "--providers", file)
    assert words in err
    assert str(file) in err


def test_settings_and_names_that_are_none(refused):
    assert "vllm/m has no setting 'temprature'" in refused("--model", "vllm/m(temprature=1)")
    assert "collect needs --model" in refused()
    assert "--repeats 0" in refused("--model", "vllm/m", "--repeats", 0)
    assert "no prompt 'none.md'" in refused("--model", "vllm/m", "--prompt", "none.md")
    assert "no baseline 'luck'" in refused("--model", "baseline/luck")


# Endpoints.


def failed(said, tmp_path, spec, *words) -> str:
    code, out, err = said("collect", tmp_path / "run.viva", spec, *words)
    assert (1, "") == (code, err)
    return out


def test_an_endpoint_that_is_not_there_is_named_and_nothing_is_lost(
    said, exam, fake, limits, monkeypatch, tmp_path
):
    words = ("--model", "vllm/m", "--providers", limits(attempts=2, concurrency=1))
    monkeypatch.setenv("VLLM_BASE_URL", "http://127.0.0.1:9/v1")
    out = failed(said, tmp_path, exam(3), *words)
    assert "3 failed: 3 x http://127.0.0.1:9 cannot be reached" in out
    monkeypatch.setenv("VLLM_BASE_URL", fake(GOOD).base_url)
    assert 0 == said("collect", tmp_path / "run.viva", exam(3), *words)[0]
    assert ["yes"] * 3 == viva_.open(tmp_path / "run.viva").responses["text"].to_list()


def test_a_wrong_path_stops_at_once(said, exam, fake, monkeypatch, tmp_path):
    server = fake(lambda request: _answer({"detail": "Not Found"}, 404))
    monkeypatch.setenv("VLLM_BASE_URL", server.base_url + "/v2")
    out = failed(said, tmp_path, exam(500), "--model", "vllm/m")
    assert "has no such model or path (HTTP 404): Not Found. Check the name and base_url." in out
    assert "500 are left." in out
    assert len(server.received) <= 128


def test_a_certificate_that_is_not_trusted_stops_at_once(said, exam, fake, monkeypatch, tmp_path):
    certificate = tmp_path / "server.pem"
    if not shutil.which("openssl"):
        absent("no openssl program to make a certificate with")
    subprocess.run(
        [*("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"),
         "-subj", "/CN=localhost", "-keyout", str(certificate), "-out", str(tmp_path / "crt.pem")],
        capture_output=True,
        check=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "crt.pem", certificate)
    server = fake(GOOD, context=context)
    monkeypatch.setenv("VLLM_BASE_URL", server.base_url)
    out = failed(said, tmp_path, exam(3), "--model", "vllm/m")
    assert "its certificate or TLS was not accepted" in out
    assert [] == server.received


def test_an_error_inside_200_is_the_cause_of_a_failure(said, exam, fake, monkeypatch, tmp_path):
    server = fake({"error": {"message": "the model is confused"}})
    monkeypatch.setenv("VLLM_BASE_URL", server.base_url)
    out = failed(said, tmp_path, exam(3), "--model", "vllm/m")
    assert "3 failed: 3 x HTTP 200: the model is confused." in out
    assert ["failed"] * 3 == viva_.open(tmp_path / "run.viva").responses["status"].to_list()


async def _answer(said, status):
    return web.json_response(said, status=status)


# What must not leave.


@pytest.mark.parametrize("words", [("--offline",), ()])
def test_a_hosted_model_is_refused_offline_before_its_name_is_looked_up(refused, monkeypatch, silent, words):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    if not words:
        monkeypatch.setattr(net, "_everywhere", True)
    err = refused("--model", "baseline/echo", "--model", "openai/m", *words)
    assert "offline: 'api.openai.com' is not this machine, so nothing was sent." in err
    assert [] == silent


@pytest.mark.parametrize("model", ["openai/m", "anthropic/m", "gemini/m"])
def test_offline_forbids_a_hosted_model_before_its_key_is_asked_for(refused, model):
    err = refused("--model", model, "--offline")
    assert "offline: " in err
    assert "key" not in err.lower()


def test_offline_forbids_a_hosted_judge_before_its_key_is_asked_for(said, exam, tmp_path):
    path = tmp_path / "run.viva"
    said("collect", path, exam(2), "--model", "baseline/echo")
    code, _, err = said("score", path, "judge(rubric=correctness, model=openai/m)", "--offline")
    assert 2 == code
    assert "offline: 'api.openai.com' is not this machine" in err


def test_a_server_on_this_machine_is_reached_offline(said, exam, fake, monkeypatch, tmp_path):
    monkeypatch.setenv("VLLM_BASE_URL", fake(GOOD).base_url)
    assert 0 == said("collect", tmp_path / "run.viva", exam(3), "--model", "vllm/m", "--offline")[0]


def test_items_that_look_like_patients_go_nowhere_without_leave(exam, monkeypatch, silent, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    spec = exam(9, change=lambda k: PATIENT if k == 8 else {})
    run = viva_.open(tmp_path / "run.viva")
    with pytest.raises(EgressError, match="1 item of 9 looks as if it held patient data"):
        run.collect(spec, models=["openai/m"])
    assert ([], False) == (silent, run.file.exists)


def test_an_example_of_a_prompt_may_be_a_patient_too(exam, monkeypatch, silent, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    spec = exam(9, change=lambda k: PATIENT if k < 8 else {})
    run = viva_.open(tmp_path / "run.viva")
    for size in range(1, 9):
        with pytest.raises(EgressError, match="8 items of 9 look as if"):
            run.collect(spec, models=["openai/m"], sample=size, shots=1)
    assert [] == silent


def test_credentialed_items_go_only_where_is_allowed(exam, monkeypatch, silent, tmp_path):
    from dataclasses import replace

    from vivavoce.benchmarks.files import JSONLines

    open_card = JSONLines.card.fget
    closed = property(lambda self: replace(open_card(self), access="credentialed"))
    monkeypatch.setattr(JSONLines, "card", closed)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    run = viva_.open(tmp_path / "run.viva")
    for allow in ((), ("api.mistral.ai",)):
        with pytest.raises(EgressError, match=r"is credentialed: .* say --allow api\.openai\.com\."):
            run.collect(exam(2), models=["openai/m"], allow=allow)
    assert ([], False) == (silent, run.file.exists)


@pytest.fixture
def function(monkeypatch, tmp_path) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "somebody.py").write_text("def answer(messages):\n    return 'yes'\n")
    return "callable(path=somebody:answer)"


def test_a_function_may_ask_anybody_and_is_screened_as_a_hosted_model_is(exam, function, tmp_path):
    run, spec = viva_.open(tmp_path / "run.viva"), exam(2, change=lambda k: PATIENT)
    with pytest.raises(EgressError, match=r"2 items of 2 look as if .* Nothing was sent to callable\."):
        run.collect(spec, models=[function])
    assert not run.file.exists
    assert 2 == run.collect(spec, models=[function], offline=True).rows[0]["answered"]
    assert 2 == run.collect(spec, models=[function], repeats=2, allow_phi=True).rows[0]["answered"]


def test_credentialed_items_go_to_a_function_only_if_allowed(exam, function, monkeypatch, tmp_path):
    from dataclasses import replace

    from vivavoce.benchmarks.files import JSONLines

    open_card = JSONLines.card.fget
    monkeypatch.setattr(
        JSONLines, "card", property(lambda self: replace(open_card(self), access="credentialed"))
    )
    run = viva_.open(tmp_path / "run.viva")
    for more in ({}, {"offline": True}):
        with pytest.raises(EgressError, match=r"is credentialed: .* say --allow callable\."):
            run.collect(exam(2), models=[function], **more)
    assert 2 == run.collect(exam(2), models=[function], allow=("callable",)).rows[0]["answered"]


@pytest.mark.parametrize("option", ["system", "prompt", "file"])
def test_a_system_text_or_prompt_with_a_patient_in_it_goes_nowhere(
    exam, monkeypatch, silent, tmp_path, option
):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    file = tmp_path / "asks.md"
    file.write_text(f"{PATIENT['question']}\n\n{{{{ question }}}}")
    asked = {"system": {"system": PATIENT["question"]}, "prompt": {"prompt": str(file)},
             "file": {"system": str(file)}}[option]  # fmt: skip
    run = viva_.open(tmp_path / "run.viva")
    with pytest.raises(EgressError, match=r"for openai/m looks as if it held patient data \(name") as told:
        run.collect(exam(2), models=["openai/m"], **asked)
    assert "Miller" not in str(told.value)
    assert ([], False) == (silent, run.file.exists)


# Keys.


def everything(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_key_is_in_no_file_and_no_output(said, exam, fake, monkeypatch, tmp_path):
    """Not even if the endpoint repeats it in an answer, an error, a redirect or a name."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    folder, outputs = tmp_path / "made", []
    folder.mkdir()
    echo = json.loads(json.dumps(GOOD).replace("yes", f"your key is {KEY}"))
    unwell = [
        (401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}),
        (400, {"error": {"message": f"bad request by {KEY}", "code": KEY}}),
        (500, {"error": f"trouble with Bearer {KEY}"}),
        (200, {"error": KEY}),
        (200, GOOD | {"model": KEY}),
        (200, echo),
    ]
    for k, (status, body) in enumerate(unwell):
        server = fake(lambda request, s=status, b=body: _answer(b, s))
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        run = folder / f"run{k}.viva"
        file = tmp_path / "limits.yaml"
        file.write_text("openai: {attempts: 1}")
        words = ("collect", run, exam(2), "--model", "openai/m", "--providers", file)
        outputs += [said(*words, *more) for more in ((), ("--json",))]
        outputs += [said("score", run, "exact"), said("status", run), said("report", run)]
        outputs.append(said("export", run, folder / f"csv{k}", "--to", "csv"))
        assert server.received
        assert f"Bearer {KEY}" == server.received[0][1]["Authorization"]
    outputs.append(said("collect", folder / "run9.viva", exam(1), "--model", f"openai/m(api_key={KEY})"))
    outputs.append(said("collect", folder / "run9.viva", exam(1), "--model", f"openai/{KEY}"))
    made = everything(folder)
    assert len(made) > 30
    assert [] == [name for name, body in made.items() if KEY.encode() in body]
    assert [] == [told for told in outputs if KEY in "".join(map(str, told))]
    codes = [told[0] for told in outputs[:12:6]]
    assert [1, 1] == codes


def test_a_key_is_in_no_traceback(exam, fake, monkeypatch, tmp_path):
    import traceback

    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", fake(GOOD).base_url)

    def broken(tally, total):
        raise ValueError("no such bar")

    with pytest.raises(ValueError, match="no such bar") as told:
        viva_.open(tmp_path / "run.viva").collect(exam(1), models=["openai/m"], progress=broken)
    assert KEY not in "".join(traceback.format_exception(told.value))
