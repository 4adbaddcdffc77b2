"""A key that an endpoint sends back in another form is struck out like the key itself."""

import base64
from typing import Any
from urllib.parse import quote

import pytest

from vivavoce.models.content import content_text
from vivavoce.models.endpoints import scrubbed, without_key
from vivavoce.models.providers.openai import chat_reply
from vivavoce.models.requests import Message, Request, RetryableError, Sampling

KEY = "sk-made-up/0123456789+abcdefXYZ"
FORMS = {
    "as it is": KEY,
    "backwards": KEY[::-1],
    "hexadecimal": KEY.encode().hex(),
    "hexadecimal in capitals": KEY.encode().hex().upper(),
    **{
        f"base64 behind {n} bytes": base64.b64encode(b"x" * n + KEY.encode() + b"yz").decode()
        for n in range(5)
    },
    "base64 for URLs": base64.urlsafe_b64encode(f"Bearer {KEY}".encode()).decode(),
    "base64 of a header": base64.b64encode(f"user:{KEY}".encode()).decode(),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_key_in_another_form_is_struck_out(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    text = without_key(f"it says {FORMS[form]} and more", KEY)
    assert "[key]" in text
    assert text.startswith("it says ")
    assert text.endswith(" and more")
    longest = max((len(part) for part in text.replace("[key]", " ").split()), default=0)
    assert longest < 16, "what is left beside it"
    assert FORMS[form] not in scrubbed(f"it says {FORMS[form]} and more", response=True)


@pytest.mark.parametrize("text", ["", "no key at all", KEY[:10], KEY[::-1][:12], "c2stbWFkZS11cA"])
def test_other_texts_stay(text: str) -> None:
    assert text == without_key(text, KEY)
    assert f"{quote(text)} tset" == without_key(f"{quote(text)} tset", "test"), "a short key has one form"


def reply(message: object, end: str = "stop") -> Any:
    request = Request(messages=(Message("user", "x"),), sampling=Sampling())
    return chat_reply({"choices": [{"message": message, "finish_reason": end}]}, request, "m").text


def test_an_empty_message_is_a_failure_and_an_empty_text_an_answer() -> None:
    with pytest.raises(RetryableError, match="the answer's message is empty"):
        reply({})
    assert "" == reply({"role": "assistant", "content": None})
    assert "" == reply({"role": "assistant"}, "length")
    assert reply({}, "content_filter") is None


@pytest.mark.parametrize("kind", ["image_url", "image", "output_image", "output_audio", "input_file"])
def test_an_image_alone_is_a_failure_and_beside_a_text_it_has_none(kind: str) -> None:
    medium = {"type": kind, kind: {"url": "data:"}}
    with pytest.raises(RetryableError, match=f"the answer is {kind} without a text"):
        content_text([medium])
    assert "yes" == content_text([medium, {"type": "text", "text": "yes"}])
    assert "" == content_text([{"type": "thinking", "thinking": "hm"}])
    assert "" == content_text([{"type": "tool_use", "name": "f"}])
