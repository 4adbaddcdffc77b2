"""The digest of a rubric: what it says, whatever its file looks like."""

from collections.abc import Callable

import pytest

from vivavoce.judging.rubric import Rubric

TWO = """---
name: mine
version: 2
source: our own
kind: mark
reference: false
criteria:
  - name: harm
    ask: Is it safe?
    scale: [0, 5]
    levels:
      0: Not at all.
      5: Wholly.
    also: {name: harm_unit, scale: [0, 1]}
  - name: clarity
    ask: Is it clear?
    scale: [1, 3]
    step: 1
---
## system
You judge.

## user
{{ question }}

{{ answer }}

{{ criteria }}

{{ form }}
"""
POINTS = """---
name: points
version: 1
source: our own
kind: points
reference: false
criteria:
  - {name: met, ask: Is it met?, scale: [0, 1]}
---
{{ question }} {{ answer }} {{ point }} {{ form }}
"""

SAME = {
    "defaults of the rubric": ("kind: mark\n", "kind: mark\ncall: joint\nreasoning: strip\nresult: json\n"),
    "a default that is left out": ("kind: mark\n", ""),
    "defaults of a criterion": (
        "    scale: [0, 5]\n",
        "    scale: [0, 5]\n    key: harm\n    direction: higher\n    if_unanswered: worst\n",
    ),
    "what follows from the scale": ("[0, 5]\n", "[0.0, 5.0]\n    smallest_difference: null\n"),
    "the order of keys": ("name: mine\nversion: 2\n", "version: 2\nname: mine\n"),
    "the order of levels": ("0: Not at all.\n      5: Wholly.", "5: Wholly.\n      0: Not at all."),
    "a comment": ("kind: mark\n", "# marks single answers\nkind: mark  # the default\n"),
    "another layout of YAML": ("scale: [1, 3]", "scale:\n      - 1\n      - 3"),
    "white space in a question": ("Is it safe?", "Is   it\n      safe?"),
    "white space at the end of a line": ("You judge.\n", "You judge. \t\n"),
    "blank lines": ("{{ question }}\n\n", "\n\n{{ question }}\n   \n\n\n"),
    "line ends of another system": ("\n", "\r\n"),
    "a variable without blanks": ("{{ question }}", "{{question}}"),
    "source and note, which no judge sees": ("source: our own", "source: ours\nnote: Not for clinical use."),
    "the name": ("name: mine", "name: ours"),
}
OTHER = {
    "version": ("version: 2", "version: 3"),
    "reference": ("reference: false", "reference: true", "{{ answer }}", "{{ reference }}{{ answer }}"),
    "call": ("kind: mark", "kind: mark\ncall: each"),
    "reasoning": ("kind: mark", "kind: mark\nreasoning: keep"),
    "result": ("kind: mark", "kind: mark\ncall: each\nresult: tag"),
    "scale": ("[0, 5]", "[0, 6]"),
    "question": ("Is it safe?", "Is it unsafe?"),
    "level": ("Wholly.", "Mostly."),
    "value of a level": ("5: Wholly.", "4: Wholly."),
    "step": ("    step: 1\n", ""),
    "direction": ("[0, 5]", "[0, 5]\n    direction: lower"),
    "if_unanswered": ("[0, 5]", "[0, 5]\n    if_unanswered: set_aside"),
    "smallest_difference": ("[0, 5]", "[0, 5]\n    smallest_difference: 1"),
    "key": ("[0, 5]", "[0, 5]\n    key: safety"),
    "criterion": ("name: clarity", "name: lucidity"),
    "derived criterion": ("harm_unit, scale: [0, 1]", "harm_unit, scale: [0, 10]"),
    "a word of the system prompt": ("You judge.", "You judge strictly."),
    "a word of the user prompt": ("{{ form }}", "Reply now.\n\n{{ form }}"),
    "the order of the prompt": ("{{ question }}\n\n{{ answer }}", "{{ answer }}\n\n{{ question }}"),
    "an indent": ("You judge.", "You judge:\n  - all"),
}


@pytest.mark.parametrize("change", SAME.values(), ids=SAME)
def test_a_rubric_written_otherwise_has_the_same_digest(
    written: Callable[..., Rubric], change: tuple[str, str]
) -> None:
    assert written(text=TWO).digest == written(change, text=TWO).digest


@pytest.mark.parametrize("change", OTHER.values(), ids=OTHER)
def test_a_rubric_that_says_otherwise_has_another_digest(
    written: Callable[..., Rubric], change: tuple[str, ...]
) -> None:
    changed = written(*zip(change[::2], change[1::2], strict=True), text=TWO)
    assert written(text=TWO).digest != changed.digest


def test_the_order_of_the_criteria_counts(written: Callable[..., Rubric]) -> None:
    head, harm, clarity = TWO.split("  - name: ")
    clarity, prompt = clarity.split("---\n", 1)
    swapped = f"{head}  - name: {clarity}  - name: {harm}---\n{prompt}"
    assert written(text=TWO).digest != written(text=swapped).digest


@pytest.mark.parametrize(
    "change", ["clip: mean", "clip: mean\nlength: {center: 2000, penalty_per_500: 0.01}"]
)
def test_how_points_are_counted_is_part_of_the_digest(written: Callable[..., Rubric], change: str) -> None:
    plain = written(text=POINTS).digest
    assert plain == written(("kind: points", "kind: points\nclip: each\ncall: each"), text=POINTS).digest
    assert plain != written(("kind: points", f"kind: points\n{change}"), text=POINTS).digest


def test_what_a_judge_is_sent_has_no_white_space_that_the_digest_leaves_out(
    written: Callable[..., Rubric],
) -> None:
    """Two files of one digest must send the same words."""
    first = written(text=TWO)
    second = written(("You judge.\n", "You judge. \t\n\n\n\n"), text=TWO)
    assert (first.system, first.user) == (second.system, second.user)
