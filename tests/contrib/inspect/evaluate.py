"""Evaluations by Inspect in a process of their own: jobs as JSON in, a line of JSON out for each.

The first line says what Inspect's command line would list of ours. A fake model answers by words of the
question: an answer beginning with `!` is what went wrong.
"""

import json
import sys

from inspect_ai import eval
from inspect_ai._util.registry import registry_lookup
from inspect_ai.model import ModelOutput, ModelUsage, get_model


def model(answers):
    """The fake model with these answers, each by a word of its question."""

    def answer(messages, tools, choice, config):
        question = messages[-1].text
        text = next((text for word, text in answers.items() if word in question), "perhaps")
        if text == "!raise":
            raise RuntimeError("the provider broke")
        output = ModelOutput.from_content("m", text)
        if text == "!filter":
            output = ModelOutput.from_content("m", "withheld", "content_filter")
        # mockllm would download a vocabulary to count what has no usage
        tokens = int(text != "!filter")
        output.usage = ModelUsage(input_tokens=1, output_tokens=tokens, total_tokens=1 + tokens)
        return output

    return get_model("mockllm/model", custom_outputs=answer, memoize=False)


def evaluate(job):
    """The log of an evaluation, or what it raised, as JSON."""
    try:
        (log,) = eval(
            "vivavoce/exam",
            task_args=job["arguments"],
            model=model(job["answers"]),
            display="none",
            log_dir=job["folder"],
            fail_on_error=False,
            score_display=False,
        )
    except Exception as error:
        return json.dumps({"status": type(error).__name__, "error": str(error)})
    return log.model_dump_json()


NAMES = {"task": "vivavoce/exam", "scorer": "vivavoce/score"}
print(json.dumps({kind: registry_lookup(kind, name) is not None for kind, name in NAMES.items()}))
for description in json.load(sys.stdin):
    print(evaluate(description))
