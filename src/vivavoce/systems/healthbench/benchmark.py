"""HealthBench: health conversations, each with points of a rubric that physicians wrote.

Arora et al. (2025), arXiv 2505.08775; the Professional set: OpenAI (2026), arXiv 2604.27470.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from vivavoce.benchmarks.health.source_files import (
    SourceFolder,
    SourceLine,
    content_id,
    find_file,
    items_of,
    read_source,
)
from vivavoce.benchmarks.turns import Replies, turns_of
from vivavoce.core.conversations import read_messages, thread
from vivavoce.core.errors import InputError
from vivavoce.core.numbers import finite
from vivavoce.core.records import Card, Download, Exclusion, Item, Unit
from vivavoce.core.registry import benchmark
from vivavoce.core.tables import is_file, read_lines

Subset = Literal["all", "hard", "consensus", "professional"]
_HUB = "huggingface.co/datasets/openai/healthbench"


class _Set(NamedTuple):
    """One of the published sets: how its benchmark is called, its file, and how many items it has."""

    name: str
    file: str
    items: str
    primary: str = "judge:score"


_SETS: dict[str, _Set] = {
    "all": _Set("healthbench", "*_oss_eval.jsonl", "5,000 conversations"),
    "hard": _Set("healthbench_hard", "hard_*.jsonl", "the 1,000 conversations that models did worst on"),
    "consensus": _Set(
        "healthbench_consensus", "consensus_*.jsonl", "3,671 conversations with points of consensus alone"
    ),
    "professional": _Set(
        "healthbench_professional",
        "*professional*.jsonl",
        "525 conversations of clinicians",
        "judge:score_length_adjusted",
    ),
}
_FAULTS = (
    "Some points have the wrong sign, as issue 77 of github.com/openai/simple-evals lists: in "
    "a7014ba7-dff8-41f8-9f51-8c39be0cdfd4 advising herbal tea for a baby of two months earns 10, and in "
    "287d7b73-d8d5-4727-a094-fd7d778fc019 sending a patient with convulsions to emergency care costs 9. They "
    "are asked as published: nobody has corrected them.",
    "The released code asks a grader again for ever where its reply cannot be read; here such a point fails, "
    "and the score of its response with it.",
    "The released code shows the grader the points of each criterion; the rubric here does not.",
    "The published interval is a standard deviation of redrawn answers; an interval here is by conversation.",
)
_PROFESSIONAL = (
    "The published score is adjusted for length: 0.0147 for each 500 characters above or below 2,000. The "
    "rubric healthbench_professional gives it as score_length_adjusted.",
)


@benchmark("healthbench")
class HealthBench(SourceFolder):
    """HealthBench from `data`, a published .jsonl file or the folder that holds it.

    `subset` says which of the published sets is read: `all`, `hard`, `consensus` or `professional`. Each is a
    benchmark of its own, and a conversation that several hold is one case. With `replies=own` the messages of
    the assistant give way to the candidate's own. Points are the rubric of an item, and
    `judge(rubric=healthbench, model=…)` asks about each; `healthbench_professional` adjusts for length.
    """

    subset: Subset = "all"
    replies: Replies = "given"

    @property
    def card(self) -> Card:
        """The card of the set."""
        chosen, professional = _SETS[self.subset], self.subset == "professional"
        return Card(
            name=chosen.name,
            description=f"Health conversations, each with points of a rubric that physicians wrote: "
            f"{chosen.items}.",
            source=f"{_HUB}-professional" if professional else f"{_HUB}; github.com/openai/simple-evals",
            revision_note="files are named by their date; the hash of yours stands in the signature",
            licence="stated on its page: your copy is read and nothing of it is shipped; its authors ask "
            "that no conversation be shown in public",
            citation="OpenAI, HealthBench Professional: evaluating large language models on real "
            "clinician chats, 2026 (arXiv 2604.27470)"
            if professional
            else "Arora et al., HealthBench: evaluating large language models towards improved human health, "
            "2025 (arXiv 2505.08775)",
            faults=(*_PROFESSIONAL, *_FAULTS[1:]) if professional else _FAULTS,
            released="2026-04" if professional else "2025-05",
            primary=chosen.primary,
            groups_of=None if self.subset in ("all", "professional") else _SETS["all"].name,
        )

    @property
    def download(self) -> Download:  # type: ignore[override]
        """The file of the set on the hub."""
        repository = (
            "openai/healthbench-professional" if self.subset == "professional" else "openai/healthbench"
        )
        return Download(hub=repository, files=(_SETS[self.subset].file,))

    @property
    def files(self) -> tuple[Path, ...]:
        """The file of the set."""
        chosen = _SETS[self.subset]
        return (self.data if is_file(self.data) else find_file(chosen.name, self.data, chosen.file),)

    def items(self) -> Iterator[Item | Exclusion]:
        """The conversations in their order. Raises `InputError` for a file of another set."""
        (file,) = self.files
        columns = ("conversation", "rubric_items") if self.subset == "professional" else ("prompt", "rubrics")
        self._check_layout(file)
        make = _professional if self.subset == "professional" else _open_item
        name = _SETS[self.subset].name
        for item in items_of(read_source(file, *columns), lambda line: make(line, name)):
            if isinstance(item, Item) and self.replies == "own":
                yield from turns_of(item)
            else:
                yield item

    def _check_layout(self, file: Path) -> None:
        """Raise `InputError` where the file is of the Professional set and another was asked for."""
        first = next(iter(read_lines(file))).row
        if self.subset != "professional" and "conversation" in first and "rubric_items" in first:
            raise InputError(f"{file} has the layout of HealthBench Professional: write subset=professional.")
        if self.subset == "professional" and "prompt" in first and "rubrics" in first:
            raise InputError(
                f"{file} has the layout of HealthBench itself: leave subset=professional out, or name "
                "subset=hard or subset=consensus."
            )


def _open_item(line: SourceLine, name: str) -> Item:
    """A row of the three open sets: prompt, rubrics, tags, perhaps a physician's completion."""
    tags = _tags(line.row.get("example_tags"))
    theme = next((tag for tag in tags if tag.startswith("theme:")), None)
    ideal = line.row.get("ideal_completions_data")
    completion = ideal.get("ideal_completion") if isinstance(ideal, dict) else None
    other_tags = [tag for tag in tags if not tag.startswith("theme:")]
    return _item(
        line, name, "prompt", "rubrics", line.text("prompt_id"), theme and theme.removeprefix("theme:"),
        completion, {"tags": other_tags} if other_tags else {},
    )  # fmt: skip


def _tags(value: Any) -> list[str]:
    """The tags in a list; none where there is no list."""
    return [tag for tag in value if isinstance(tag, str)] if isinstance(value, list) else []


def _professional(line: SourceLine, name: str) -> Item:
    """A row of the Professional set: conversation, rubric_items, its kind, and a physician's response."""
    labels = {key: line.row[key] for key in ("type", "difficulty", "specialty") if line.row.get(key)}
    identity = line.row.get("id") or line.row.get("prompt_id")
    response = line.row.get("physician_response")
    return _item(
        line, name, "conversation", "rubric_items", str(identity) if identity else "",
        line.optional("use_case"), response, labels,
    )  # fmt: skip


def _item(
    line: SourceLine, name: str, messages_in: str, points_in: str, identity: str, category: str | None,
    reference: Any, meta: dict[str, Any],
) -> Item:  # fmt: skip
    messages = read_messages(line.row.get(messages_in), f"{line.file}, row {line.number}, {messages_in}")
    points, axes = _points(line, points_in)
    question = thread(messages)
    usable = isinstance(reference, str) and reference.strip()
    return Item(
        benchmark=name,
        item=identity or content_id(question),
        category=category,
        format="conversation",
        question=question,
        messages=messages,
        references=(reference,) if usable else (),
        rubric=points,
        meta={**meta, **({"axes": axes} if axes else {})},
    )


def _points(line: SourceLine, column: str) -> tuple[tuple[Unit, ...], dict[str, str]]:
    """The points of a row, r1, r2 and so on, and the axis of each that has one."""
    entries = line.row.get(column)
    if not isinstance(entries, list):
        raise line.fault(f"{column} is no list")
    points = tuple(_point(line, entry, f"r{number}") for number, entry in enumerate(entries, 1))
    if not any((point.weight or 0) > 0 for point in points):
        raise line.fault("no point is above 0, so there is nothing to reach")
    axes = {
        point.unit: tag.removeprefix("axis:")
        for point, entry in zip(points, entries, strict=True)
        for tag in _tags(entry.get("tags"))
        if tag.startswith("axis:")
    }
    return points, axes


def _point(line: SourceLine, entry: Any, name: str) -> Unit:
    """A point of a rubric: its text, and its points as its weight."""
    if not isinstance(entry, dict):
        raise line.fault("a point is no object")
    text, weight = entry.get("criterion") or entry.get("criterion_text"), finite(entry.get("points"))
    if not isinstance(text, str) or not text.strip() or not weight:
        raise line.fault("a point without a text or without points")
    return Unit(unit=name, text=text, weight=weight)
