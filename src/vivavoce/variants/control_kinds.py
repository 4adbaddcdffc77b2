"""The kinds of control cases, what an honest examiner does with each, and the edits they are stored under.

A control is an edit of a response, `control:KIND` or `control:KIND:DRAW` where several are drawn. An examiner
is fooled where it scores the control as it scores the real text. Ranking over Scoring (COLING 2025, section
3.3) has four of them: no argument, the label alone, noise and passages.
"""

from typing import Literal, NamedTuple

PREFIX = "control:"


class ControlKind(NamedTuple):
    """A kind of control. `expects` is what an examiner owes it, next to the real text.

    `lower`: the control lacks what the answer says, and must score lower. `no_higher`: it says the same in
    other dress, and must not score higher.
    """

    name: str
    expects: Literal["lower", "no_higher"]
    about: str


KINDS = {
    kind.name: kind
    for kind in (
        ControlKind("none", "lower", "a sentence that says there is no argument"),
        ControlKind("label_number_right", "lower", "the number of the right option and nothing else"),
        ControlKind("label_number_wrong", "lower", "the number of a wrong option and nothing else"),
        ControlKind("label_text_right", "lower", "the text of the right option and nothing else"),
        ControlKind("label_text_wrong", "lower", "the text of a wrong option and nothing else"),
        ControlKind("noise", "lower", "the candidate's answer to a question of another case"),
        ControlKind("passages", "lower", "passages that a search of documents brings for the question"),
        ControlKind("empty", "lower", "an empty answer"),
        ControlKind("off_topic", "lower", "fluent sentences about something that is not medicine"),
        ControlKind("padded", "no_higher", "the answer with sentences added that say nothing"),
        ControlKind("confident", "no_higher", "the answer with claims of certainty"),
        ControlKind("praise", "no_higher", "the answer with praise of itself"),
        ControlKind("injection", "no_higher", "the answer with an order to the examiner"),
        ControlKind("negated", "lower", "the answer with a claim turned into its opposite"),
        ControlKind("numbers", "lower", "the answer with another number in place of one of its own"),
    )
}
"""Every kind by name."""


class Stratum(NamedTuple):
    """An order to the examiner: its form, and the language that it is in."""

    form: str
    language: str

    @property
    def words(self) -> str:
        """The stratum in a sentence."""
        return f"{self.form.replace('_', ' ')} in {LANGUAGES[self.language]}"


LANGUAGES = {
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "it": "Italian",
    "zh": "Chinese",
}
STRATA = tuple(
    Stratum(form, language)
    for form in ("order", "authority", "json", "end_of_prompt", "tag", "chat_mark", "plea", "key")
    for language in LANGUAGES
)
"""Every form of an injection in every language: draw k is the k-th of them, from 1."""
LEAST_OF_STRATUM = 6
"""Cases in which a stratum must have been tried before anything is said of it."""


def control_edit(kind: str, draw: int | None = None) -> str:
    """The edit that a control is stored under; with its draw where several are made."""
    return f"{PREFIX}{kind}" if draw is None else f"{PREFIX}{kind}:{draw}"


def control_kind(edit: str) -> str | None:
    """The name of the control that an edit is, without its draw; null for another edit."""
    return edit.removeprefix(PREFIX).split(":")[0] if edit.startswith(PREFIX) else None
