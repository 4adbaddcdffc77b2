"""What every step of a build must keep, ours and a plugin's."""

from collections import Counter
from collections.abc import Sequence

from vivavoce import formats
from vivavoce.core.records import Item
from vivavoce.run.building.counts import step_counts
from vivavoce.run.building.parts import Part, from_json, name_of, to_json
from vivavoce.run.building.step import Lab, Step, StepResult


def check_step(step: Step, parts: Sequence[Part], lab: Lab) -> None:
    """Raise `AssertionError` with a sentence for the first rule that a step breaks on these parts.

    It must give the same twice; change none of the parts that it has; give each part that it leaves an id of
    its own, and items that their formats can use; name a reason for every drop; and leave what can be stored
    and read back. Its counts must add up. `lab` needs a client for a step that asks a model.
    """
    name, before = type(step).__name__, list(map(to_json, parts))
    first, second = step.apply(parts, lab), step.apply(parts, lab)
    _must(_comparable(first) == _comparable(second), f"{name} gives another result each time")
    _must(before == list(map(to_json, parts)), f"{name} changes a part that it has: make another one")
    names = Counter(map(name_of, first.parts))
    twice = [part for part, n in names.items() if n > 1]
    _must(not twice, f"{name} gives two parts the id {twice[:1]}")
    for part in first.parts:
        _must(from_json(to_json(part)) == part, f"{name}: {name_of(part)} is not what is read back")
        if isinstance(part, Item):
            formats.check(part)
    for drop in first.dropped:
        _must(bool(drop.reason.strip()), f"{name} drops {name_of(drop.part)} without a reason")
    counts = step_counts(parts, first)
    balance = counts["n_out"] + counts["dropped"] + counts["n_used"]
    _must(
        counts["n_in"] + counts["n_written"] == balance,
        f"{name}: {counts['n_in']} came and {counts['n_written']} were written, and {balance} came out",
    )


def _comparable(result: StepResult) -> list[object]:
    parts = [to_json(part) for part in result.parts]
    return [parts, [(to_json(drop.part), *drop[1:]) for drop in result.dropped], list(result.notes)]


def _must(holds: bool, sentence: str) -> None:
    assert holds, sentence
