"""The rule book of DAHL's released code (seemdog/DAHL at 4647475): what the code does."""

from vivavoce.core import prompts, registry
from vivavoce.facts.fact import Cleaned
from vivavoce.facts.rules import Rules
from vivavoce.systems.dahl.published_text import replace_prompt, substring_verdict


@registry.rules("published")
def published() -> Rules:
    """DAHL's released code: substring verdicts, and one unit without a verdict drops the whole answer."""
    return Rules(
        cleaned=_cleaned,
        verdict=substring_verdict,
        settles_units=False,
        silence_is_zero=True,
        figures=("dahl_score",),
    )


def _cleaned(question: str, response: str, finish_reason: str | None) -> Cleaned:
    """The response without instruction and question, in one piece; what it only repeats stays."""
    instruction = prompts.load("dahl_paper").text.partition("{{")[0].strip()
    text = replace_prompt(response, instruction, question)
    removed = ("prompt",) if text != response.strip() else ()
    return Cleaned("ok" if text else "empty", (text,) if text else (), removed)
