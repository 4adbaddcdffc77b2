"""A provider of Inspect whose judge says what a test sets: importing it registers the provider."""

from typing import Any

from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage, modelapi


class JudgeAPI(ModelAPI):
    """A judge that says what a test tells it."""

    reply = '{"clarity": 3}'
    seen = 0

    async def generate(self, input: Any, tools: Any, tool_choice: Any, config: Any) -> ModelOutput:
        type(self).seen += 1
        judged = ModelOutput.from_content("judge", type(self).reply)
        judged.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return judged


@modelapi(name="judging")
def judging() -> type[ModelAPI]:
    return JudgeAPI
