"""A server that names a file as its model is understood, and no folder of its machine is kept."""

from typing import Any

import pytest
from tests.models.test_api import asking, chat, failing
from tests.models.test_charges import asked, connected

from vivavoce.models.model_names import same_model, shown_model, without_folders
from vivavoce.models.requests import RejectedError, RetryableError

FILE = "Qwen2.5-7B-Instruct-Q4_K_M.gguf"


@pytest.mark.parametrize(
    ("requested", "replied"),
    [
        ("qwen2.5-7b-instruct", f"/models/{FILE}"),
        ("Qwen/Qwen2.5-7B-Instruct", f"C:\\Users\\jane\\models\\{FILE}"),
        ("qwen2.5-7b-instruct-q4_k_m", f"/models/{FILE}"),
        (FILE, f"/models/{FILE}"),
        (f"/models/{FILE}", f"/models/{FILE}"),
        ("bartowski/Qwen2.5-7B-Instruct-GGUF:Q4_K_M", f"/models/{FILE}"),
        ("bartowski/Qwen2.5-7B-Instruct-GGUF", f"./{FILE}"),
        ("gpt-oss-120b", "/m/gpt-oss-120b-mxfp4-00001-of-00003.gguf"),
        ("gemma-3-4b-it", "/m/gemma-3-4b-it-UD-Q4_K_XL.gguf"),
        ("llama-3", "/data/models/llama-3"),
    ],
)
def test_a_file_is_the_model_of_its_name(fake: Any, requested: str, replied: str) -> None:
    reply = asking(fake(chat() | {"model": replied}), model=requested)
    assert replied.replace("\\", "/").rpartition("/")[2] == reply.model


@pytest.mark.parametrize(
    ("requested", "replied"),
    [
        ("qwen2.5-14b-instruct", f"/models/{FILE}"),
        ("qwen2.5-7b", f"/models/{FILE}"),
        ("qwen2.5-7b-instruct-q8_0", f"/models/{FILE}"),
        ("Qwen2.5-7B-Instruct-GGUF:Q8_0", f"/models/{FILE}"),
        ("local", f"/models/{FILE}"),
        ("models", f"/models/{FILE}"),
    ],
)
def test_another_file_is_another_model_and_named_without_its_folder(
    fake: Any, requested: str, replied: str
) -> None:
    with pytest.raises(RetryableError, match=f"'{FILE}' answered in place of .*accept") as error:
        asking(fake(chat() | {"model": replied}), model=requested)
    assert "/models" not in str(error.value)


@pytest.mark.parametrize("listed", [FILE, f"/models/{FILE}", "qwen2.5-7b-instruct", "*"])
def test_a_file_that_is_listed_is_accepted(fake: Any, listed: str) -> None:
    reply = asking(fake(chat() | {"model": f"/models/{FILE}"}), model="local", accept={"local": (listed,)})
    assert FILE == reply.model


@pytest.mark.parametrize("name", ["openai/gpt-4o", "models/gemini-1.5-pro", "llama3:8b", "a.gguf", "m", ""])
def test_a_name_that_is_no_place_of_a_machine_is_shown_whole(name: str) -> None:
    assert name == shown_model(name)


def test_a_name_of_slashes_is_shown_as_it_is() -> None:
    assert ("///", False) == (shown_model("///"), same_model("m", "///"))


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("failed to load model '/home/jane/models/x-Q4.gguf'", "failed to load model 'x-Q4.gguf'"),
        ("cannot open C:\\Users\\Jane Doe\\m\\x.safetensors now", "cannot open x.safetensors now"),
        ("see https://example.org/docs for 3/4 of it", "see https://example.org/docs for 3/4 of it"),
    ],
)
def test_an_error_names_files_of_weights_without_their_folders(fake: Any, message: str, cause: str) -> None:
    with pytest.raises(RejectedError, match=r"HTTP 400") as error:
        asking(fake(failing(400, {"error": {"message": message}})))
    assert f"HTTP 400: {cause}" == str(error.value)


def test_a_long_error_is_read_in_no_time() -> None:
    assert 400_000 == len(without_folders("/a" * 200_000))


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (498, {"error": {"message": "Flex tier capacity exceeded", "code": "capacity_exceeded"}}),
        (424, {"error": "Request failed during generation"}),
        (424, ""),
        (400, {"error": {"message": "Please wait", "code": "engine_overloaded"}}),
        (403, {"error": {"message": "Please wait", "type": "overloaded_error"}}),
        (500, {"error": {"message": "the engine is currently overloaded"}}),
        (200, {"error": {"message": "Please wait", "type": "engine_overloaded_error"}}),
        (200, {"error": {"message": "Please wait", "code": 498}}),
        (200, {"choices": [{"message": {"content": ""}, "finish_reason": "engine_overloaded"}]}),
    ],
)
def test_an_endpoint_without_capacity_is_asked_again_and_slower(fake: Any, status: int, body: Any) -> None:
    with pytest.raises(RetryableError) as error:
        asking(fake(failing(status, body)))
    assert error.value.throttled


def test_the_wait_that_an_endpoint_without_capacity_names_is_kept(fake: Any) -> None:
    with pytest.raises(RetryableError) as error:
        asking(fake(failing(498, "", {"Retry-After": "7"})))
    assert 7.0 == error.value.after


def test_what_is_busy_for_a_moment_answers_in_the_end(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vivavoce.models.engine.scheduler.FIRST_WAIT", 0.0)
    tally, (outcome,) = asked(connected(fake(failing(498), failing(424), chat())))
    assert (None, 2) == (outcome.error, tally.retries)


@pytest.mark.parametrize("status", [400, 413, 422])
def test_iron_overload_in_a_question_is_no_overload_of_the_endpoint(fake: Any, status: int) -> None:
    body = {"error": {"message": "invalid input: 'iron overload in haemochromatosis'"}}
    with pytest.raises(RejectedError, match="iron overload"):
        asking(fake(failing(status, body)))
