"""Texts that no person writes and a model in a loop does, each of any length."""

from typing import NamedTuple

from tests.lengths import length


class Hostile(NamedTuple):
    """A text that grows by its pump, between a head and a tail."""

    pump: str
    head: str = ""
    tail: str = ""

    def text(self, size: int) -> str:
        """The text with a pump of about `size` characters."""
        return self.head + self.pump * (size // len(self.pump)) + self.tail

    @property
    def name(self) -> str:
        """How a failure names it."""
        return f"{self.head!r} + {self.pump!r} * n + {self.tail!r}"


ONCE_SQUARE = (
    Hostile("=", "Answer: "),
    Hostile("-", "", "!"),
    Hostile("1,", "Answer: "),
    Hostile("1,000", "1", ",0"),
    Hostile("\\boxed{\n"),
    Hostile("\\boxed{A} Answer: "),
    Hostile("not A is wrong, "),
    Hostile("es wahr "),
    Hostile("true, could be or true or "),
    Hostile("A; Heparin\n"),
    Hostile("all but step 2 "),
    Hostile("step 4 is wrong. ", "The error is in step 3. "),
    Hostile("answer: ", "Answer: x "),
    Hostile("A "),
    Hostile("A. B"),
)
"""Each once cost its square, in a pattern or in a loop over mentions, cues, boxes, tables or sentences."""
_FURTHER = (
    *(Hostile(sign) for sign in "!\"#$%&'()*+,./:;<>?@[\\]^_`{|}~ \t\n01aA"),
    *(Hostile(sign, "Answer: 1", "!") for sign in "=-–*_#> \t.,:;|/+^<(\n1a"),
    *(
        Hostile(sign)
        for sign in ("\r\n", "\u0301", "\u200b", "\u05d0", "答", "³", "•", "✅", "😀", "\x00", "Ａ", "٣")
    ),
    *map(
        Hostile,
        ("1.", "1 ", "1/", "1-", "0.", "1e", "1 mg/", "1 mg ", "5 mg/kg", "/kg", "10^", "1:", "<=", "=>"),
    ),
    *map(
        Hostile,
        ("a.", "a-", "a'", "a: ", ". ", " - ", "- \n", "\n\n", "\n \n", " \n", "** ", "``", "```\n", "--"),
    ),
    *map(
        Hostile,
        ("<think>", "</think>", "< ", "<b", "<answer>", "&amp;", "&#", '{"a":', "[1,", "{'a':(", "\\("),
    ),
    *map(
        Hostile,
        ("</s>", "<s>a</s>", "<|channel|>analysis ", "<|channel|>final<|message|>", "<bos>", "[THINK]"),
    ),
    *map(
        Hostile,
        ("\\text{", "|a", "|a\n", "|a|\n|--|\n\n", "[x]\n", "A) ", "(A) ", "A, ", "A or ", "B (Heparin) "),
    ),
    *map(
        Hostile, ("Answer: A\n", "Answer: A. Wait. ", "Wait, C.\n", "the answer is x. ", "the answer is not ")
    ),
    *map(
        Hostile,
        ("A because ", "because A is B ", "so B. ", "B, but C ", "of the except A ", "A rather than B "),
    ),
    *map(
        Hostile,
        ("is true ", "could be true or ", "false, true ", "es wahr o ", "in part ", "not only ", "no no "),
    ),
    *map(
        Hostile,
        ("step 2, ", "Step 1: ", "1. a\n", "a\n", "step 2 is wrong.\n", "wait, no, step 4. ", "the wrong "),
    ),
    *map(
        Hostile, ("Explanation: ", "why it ", "explanation for ", "Confidence: 85%\n", "Confidence: ", "85% ")
    ),
    *map(
        Hostile,
        ("I cannot ", "sorry, ", "consult a doctor ", "i do not have ", "while x is studied, ", "and "),
    ),
    *map(
        Hostile, ("Question: ", "user: ", "# ", "<|", "\nQ 1. ", "without the ", "more than ", "minimum a ")
    ),
    *map(
        Hostile,
        ("thousand ", "every 2 ", "1 to ", "type 1 ", "increase ", "not be ", "and is ", "MRN "),
    ),
    *map(Hostile, ("[RESULT] 4 ", "score: 4\n", '{"', '{"score": 4} ', "B > ", "B = ", "met: ", "(", "4/5 ")),
    Hostile("1. b\n", "1. a\n"),
    Hostile("b\n", "1. a\n"),
    Hostile("\\(", "", "\\boxed{A}"),
    Hostile("|yes|x\n", "|a|b|" + "c|" * 50 + "\n|--|\n"),
    Hostile("\\boxed{x1} "),
    Hostile("Answer: B, wait. Answer: A\n"),
    Hostile("thousand ", "twenty "),
    Hostile(" ", "Explanation", ":"),
    Hostile("a ", "that's "),
)
HOSTILE = length(ONCE_SQUARE, (*ONCE_SQUARE, *_FURTHER))
"""In the gate those that once cost their square; in `make test-long` a couple of hundred more."""

_DEPTHS = length((101, 1_000), (99, 101, 300, 450, 900, 1_000, 5_000))
_OPEN_CLOSE = (
    ("[", "]"),
    ('{"answer":', "}"),
    ('{"a":', "}"),
    ('{"step": ', "}"),
    ("{'answer':", "}"),
    ("(", ")"),
)
_DIGITS = tuple(digit * 5_000 for digit in length("9", "9٣0"))
_NUMBERED = (
    *(
        "{}",
        "{} mg",
        "5 mg/{} ml",
        "10^{} mg",
        "1/{} dose",
        "type {}",
        "{} st day",
        "{}/12/2020",
        "1:{}",
        "1,{}",
    ),
    *("Step {}", "step{} is wrong", "Step: {}", "the {}th step is wrong", "{}. A", "every {} hours", "q{}h"),
    *(
        "Confidence: {}%",
        "Confidence: 4/{}",
        "score: {}",
        "score: 4/{}",
        '{{"score": {}}}',
        '{{"answer": {}}}',
    ),
    *("[{}]", "[RESULT] {}", "twice in {} days", "{} thousand mg", "{}-{} mg", "level {}"),
)
DEEP = (
    *(opened * n + '"A"' + closed * n for n in _DEPTHS for opened, closed in _OPEN_CLOSE),
    *('{"answer": "B", "score": 4, "x": ' + "[" * n + "]" * n + "}" for n in _DEPTHS),
    *('{"ranking": ' + "[" * n + '"A"' + "]" * n + "}" for n in _DEPTHS),
)
"""JSON, and what looks like it, of objects and lists within each other."""
LARGE_NUMBERS = (
    *(form.format(*[digits] * form.count("{}")) for form in _NUMBERED for digits in _DIGITS),
    *("twenty " + "thousand " * n + "mg" for n in (6, 400, 2_000)),
    *("5 mg" + "/kg" * n + " to 6 mg" + "/kg" * n for n in (9, 200, 3_000)),
    *("5 kg" + "/ng" * n + " or " + "one million " * n for n in (9, 200, 3_000)),
    *(form.format(*[sign] * form.count("{}")) for form in _NUMBERED for sign in length("²", "²①½Ⅷ۵𝟗⁹㊿一")),
)
"""Numbers of thousands of digits or units, and of signs that are digits to some functions only."""
