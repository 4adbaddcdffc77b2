"""An evaluation by Inspect in a process of its own: a job as JSON in, the log as JSON out.

A fake model answers by words of the question: an answer beginning with `!` is what went wrong.
"""

import json
import sys

from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model

JOB = json.load(sys.stdin)


def answer(messages, tools, choice, config):
    question = messages[-1].text
    text = next((text for word, text in JOB["answers"].items() if word in question), "perhaps")
    if text == "!raise":
        raise RuntimeError("the provider broke")
    output = ModelOutput(model="m") if text == "!none" else ModelOutput.from_content("m", text)
    if text == "!filter":
        output = ModelOutput.from_content("m", "withheld", "content_filter")
    # mockllm would download a vocabulary to count what has no usage
    tokens = int(text != "!filter")
    output.usage = ModelUsage(input_tokens=1, output_tokens=tokens, total_tokens=1 + tokens)
    return output


try:
    (log,) = eval(
        JOB["task"],
        task_args=JOB["arguments"],
        model=get_model("mockllm/model", custom_outputs=answer),
        display="none",
        log_dir=JOB["folder"],
        fail_on_error=False,
        score_display=False,
    )
except Exception as error:
    print(json.dumps({"status": type(error).__name__, "error": str(error)}))
else:
    print(log.model_dump_json())
