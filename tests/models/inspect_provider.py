"""A fake provider of Inspect: importing it registers the provider, and Inspect with it."""

import asyncio
import os
from collections.abc import Callable
from typing import Any, ClassVar

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    modelapi,
)


class FakeAPI(ModelAPI):
    """A provider of Inspect that does what a test tells it."""

    acts: Callable[[list[Any], GenerateConfig], Any] = staticmethod(lambda messages, config: output("kidney"))
    seen: ClassVar[list[tuple[list[Any], GenerateConfig]]] = []
    closed = 0

    def __init__(self, model_name, base_url=None, api_key=None, config=GenerateConfig(), **rest):  # noqa: B008
        super().__init__(model_name, base_url or os.environ.get("FAKE_URL"), api_key, ["FAKE_KEY"], config)
        self.api_key = api_key or os.environ.get("FAKE_KEY")

    async def generate(self, input, tools, tool_choice, config):
        type(self).seen.append((input, config))
        result = type(self).acts(input, config)
        return await result if asyncio.iscoroutine(result) else result

    async def aclose(self) -> None:
        type(self).closed += 1


@modelapi(name="fake")
def fake_provider() -> type[ModelAPI]:
    return FakeAPI


def output(text: Any, reason: str = "stop", tokens: int | None = 2, **message: Any) -> ModelOutput:
    choice = ChatCompletionChoice(message=ChatMessageAssistant(content=text, **message), stop_reason=reason)
    usage = (
        None if tokens is None else ModelUsage(input_tokens=9, output_tokens=tokens, total_tokens=9 + tokens)
    )
    return ModelOutput(model="m", choices=[choice], usage=usage)
