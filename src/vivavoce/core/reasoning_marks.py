"""The marks around thinking, of every family of models that is known to write some: a row each.

A model writes its thinking between an opening and a closing mark, or in fields of its reply, which providers
read. What stands between marks is no part of the answer. A family that is missing here is one row.
"""

from typing import NamedTuple


class Marks(NamedTuple):
    """The marks of a family: patterns, which begin with one of `<`, `&lt;`, `[` and `◁`.

    `may_be_lone` says whether a closing mark without an opening one ends thinking that began with the answer:
    the model's chat template may have opened it.
    """

    family: str
    opening: str
    closing: str
    may_be_lone: bool = True


def _tags(name: str) -> tuple[str, str]:
    """The patterns of an opening and a closing tag, with blanks, in any case, and as HTML escapes them."""
    # possessive: a "<" before a long run of blanks would otherwise cost its square
    begin, end = r"(?:<|&lt;)\s*+", r"\s*+(?:>|&gt;)"
    return rf"{begin}(?i:{name}){end}", rf"{begin}/\s*+(?i:{name}){end}"


REASONING = "reasoning in a tag"
FAMILIES = (
    Marks("Qwen, DeepSeek, Phi and many others", *_tags("think(?:ing)?")),
    Marks("EXAONE and others: thought", *_tags("thought")),
    Marks(REASONING, *_tags("reasoning")),
    Marks("reflection in a tag", *_tags("reflection")),
    Marks(
        "prompts that ask for a scratchpad",
        *_tags("scratch_?pad|(?:inner|internal)_(?:monologue|thoughts?|reasoning)|thoughts|thought_process"),
    ),
    Marks("Sky-T1, OpenThinker", r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    Marks("Seed-OSS", *_tags("seed:think")),
    Marks("Magistral", r"\[THINK\]", r"\[/THINK\]"),
    Marks("Kimi", "◁think▷", "◁/think▷"),
    Marks("MedGemma", r"<unused94>(?:thought\b)?", "<unused95>"),
    Marks("Cohere", r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    Marks("Cohere, calls of tools", r"<\|START_ACTION\|>", r"<\|END_ACTION\|>"),
    # The channel commentary holds calls of tools; its head may name one and the form of its arguments.
    Marks(
        "gpt-oss (harmony)",
        r"(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)(?:(?!<\|message\|>)[^\n]){0,200}<\|message\|>",
        r"<\|(?:end|call)\|>",
        may_be_lone=False,
    ),
)
FINAL = (
    r"(?:<\|start\|>assistant)?<\|channel\|>final(?:(?!<\|message\|>)[^\n]){0,200}<\|message\|>"
    r"|<\|start\|>assistant<\|message\|>|<\|START_RESPONSE\|>|<\|begin_of_solution\|>"
)
"""Where the answer begins, whatever was before it."""
LEAD = r"\s*(?:<bos>|<\|begin_of_text\|>)"
"""Marks of a chat that stand before everything."""
TURN = (
    r"<\|im_start\|>assistant|<start_of_turn>model|(?:<\|START_OF_TURN_TOKEN\|>)?<\|CHATBOT_TOKEN\|>"
    r"|<\|start_header_id\|>assistant<\|end_header_id\|>"
)
"""Where a turn of the candidate begins: the answer, or behind an answer another turn."""
END = (
    r"<\|(?:im_end|end|return|call|eot_id|eom_id|end_of_text|endoftext|end_of_solution|END_RESPONSE"
    r"|END_OF_TURN_TOKEN|im_start|start|start_header_id|START_OF_TURN_TOKEN|user)\|>"
    r"|<(?:eos|end_of_turn|start_of_turn|/s)>"
)
"""Marks of a chat that end the answer: they and what follows, such as another turn, are no part of it."""
FIRST_SIGNS = ("<", "[", "◁", "&lt;")
"""One of these stands in every text with a mark."""
MARK = (
    r"(?=[<\[◁]|&lt;)(?:"
    + "|".join(
        (
            f"(?P<final>{FINAL})",
            f"(?P<turn>{TURN})",
            *(f"(?P<open{n}>{marks.opening})" for n, marks in enumerate(FAMILIES)),
            *(f"(?P<close{n}>{marks.closing})" for n, marks in enumerate(FAMILIES)),
            f"(?P<end>{END})",
        )
    )
    + ")"
)
"""Any of these marks; the group is what it is, with the place of its family."""
OLLAMA = r"\s*Thinking(?:\.\.\.|…)[ \t]*\n", r"(?m)^(?:\.\.\.|…)done thinking\.[ \t]*$"
GRANITE = r"\s*Here is my thought process:", r"Here is my response:"
STRIPPED = r"\s*analysis(?=[A-Z0-9\"“¿¡<]|[^\x00-\x7f])", r"assistantfinal"
"""gpt-oss where a server dropped the special tokens: `analysisWe need …assistantfinalThe answer is B`."""
WORDED = (OLLAMA, GRANITE, STRIPPED)
"""Thinking between words, which are marks at the beginning of an answer alone."""
FINAL_WORD = "assistantfinal"
"""What stands between thinking and answer where the special tokens around both were dropped."""
