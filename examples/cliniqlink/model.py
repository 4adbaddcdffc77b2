"""A stand-in for a model: `VIVA_MODEL="callable(path=model:answer)"` with MODEL_DIR set to this folder.

It has no knowledge, and answers so that every format can be read. Put your own model's call in its place.
"""

from collections.abc import Sequence


def answer(messages: Sequence[dict[str, str]]) -> str:
    """The answer to a conversation, a list of `role` and `content`, whose last message is the question."""
    question = messages[-1]["content"]
    if "Explanation:" in question and "Step" in question:
        return "Step: 1\nExplanation: The first step claims more than is known."
    if "True or False" in question:
        return "True"
    return "A"
