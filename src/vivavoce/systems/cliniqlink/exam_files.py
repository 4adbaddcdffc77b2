"""Any exam of the seven formats as ClinIQLink's seven files, which the challenge is run by.

An item's id in the challenge is its file's stem and its place there, as in the published files.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.benchmarks import Loaded, load
from vivavoce.core import registry
from vivavoce.core.errors import InputError
from vivavoce.core.records import Item
from vivavoce.formats import key
from vivavoce.systems.cliniqlink.benchmark import PARTS, QUESTIONS, Part, exam_item, visible_part

EXAM = "cliniqlink"
FORMATS = tuple(part.format for part in PARTS)


class ChallengeExam(NamedTuple):
    """An exam as the challenge asks it: its spec, its items, and with its key the files that hold it."""

    spec: str
    items: Sequence[Item]
    files: Mapping[str, bytes]


def challenge_exam(benchmark: str) -> ChallengeExam:
    """The exam of a spec: ClinIQLink's own files as they are, any other exam as it is written to such files.

    Raises `InputError` for an exam that the challenge's files cannot hold.
    """
    exam = load(benchmark)
    if exam.items[0].benchmark == QUESTIONS:
        return ChallengeExam(exam.spec, exam.items, {})
    if exam.items[0].benchmark == EXAM:
        folder: Path = registry.build("benchmark", exam.spec).data
        paths = [folder / f"{part.stem}.json" for part, _ in in_parts(exam.items)]
        return ChallengeExam(exam.spec, exam.items, {path.name: path.read_bytes() for path in paths})
    if left_out := other_formats(exam.items):
        listed = ", ".join(f"{n:,} {name}" for name, n in left_out.items())
        raise InputError(
            f"{exam.spec} holds questions of other formats ({listed}): `viva challenge exam` leaves them out."
        )
    rows = exam_rows(exam.items, exam.spec)
    items = [exam_item(Path(f"{s}.json"), k, row) for s, part in rows.items() for k, row in enumerate(part)]
    files = {f"{stem}.json": json_text(part).encode("utf-8", "replace") for stem, part in rows.items()}
    return ChallengeExam(exam.spec, items, files)


def refuse_others(exam: Loaded) -> None:
    """Raise `InputError` for an exam that is not ClinIQLink's: answers find their questions there by id."""
    if exam.items[0].benchmark not in (EXAM, QUESTIONS):
        raise InputError(
            f"a folder of results is of ClinIQLink, not of {exam.spec}: `viva challenge exam` writes an exam "
            f"as such; then name {EXAM}(data=DIR)."
        )


def other_formats(items: Sequence[Item]) -> Counter[str]:
    """How many items are of formats that the challenge's files do not hold, by format."""
    return Counter(item.format for item in items if item.format not in FORMATS)


def exam_rows(items: Sequence[Item], name: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of the exam's files with their key, by the stem of the file; variants are left out.

    Raises `InputError` where no item is of one of the seven formats, for one that lacks its key, and for one
    that holds what the files have no place for.
    """
    for item in items:
        if item.format in FORMATS and not key(item).strip():
            raise InputError(f"{name}: {item.name} has no key, and the files of the exam hold it.")
    rows = {}
    for part, part_items in in_parts(items):
        rows[part.stem] = [_exam_row(item) for item in part_items]
        for k, (item, row) in enumerate(zip(part_items, rows[part.stem], strict=True)):
            _refuse_loss(name, item, exam_item(Path(f"{part.stem}.json"), k, row))
    if not rows:
        raise InputError(
            f"{name} holds no question of the seven formats of ClinIQLink: {', '.join(FORMATS)}."
        )
    return rows


_ASKED_OR_SCORED = {
    "context": "a context",
    "messages": "the turns of a conversation",
    "follows": "an earlier turn",
    "options": "options",
    "references": "several references",
    "must": "statements that an answer must make",
    "nice": "statements that it would be good to make",
    "steps": "steps",
    "false_answer": "a wrong answer",
    "rubric": "a rubric",
}
"""What an item may hold, by field, for those who answer or score it."""


def _refuse_loss(name: str, item: Item, back: Item) -> None:
    """Raise `InputError` where an item does not come `back` with all that it is answered and scored by."""
    lost = [
        words
        for field, words in _ASKED_OR_SCORED.items()
        if (value := getattr(item, field))
        and (
            len(value) > 1 and len(back.references) == 1
            if field == "references"
            else not getattr(back, field)
        )
    ]
    if lost:
        raise InputError(
            f"{name}: {item.name} holds {' and '.join(lost)}, and ClinIQLink's file for {item.format} has no "
            "place for that: write it into the question, or leave the item out."
        )


def _exam_row(item: Item) -> dict[str, Any]:
    """An item with its key as the published files hold one; its case is the paragraph."""
    row = entry(item, gold=True)
    place = {name: item.meta[name] for name in ("isbn", "page") if item.meta.get(name)}
    del row["hash"]
    return row | {"source": {**place, "paragraph_id": item.group}}


def json_text(body: Any) -> str:
    """A body as the challenge's files hold it."""
    return json.dumps(body, ensure_ascii=False, indent=1) + "\n"


def in_parts(items: Sequence[Item]) -> Iterator[tuple[Part, list[Item]]]:
    """The formats that these items have, each with its items in their order."""
    for part in PARTS:
        if part_items := [item for item in items if item.format == part.format and not item.variant]:
            yield part, part_items


def entry(item: Item, *, gold: bool = False) -> dict[str, Any]:
    """An item as the challenge writes it, with the id and the hash of what is seen of it."""
    visible = visible_part(item)
    part = next(part for part in PARTS if part.format == item.format)
    row: dict[str, Any] = {"id": item.item, "hash": visible.hash, "question": item.question}
    if item.options:
        row["options"] = list(item.options)
    if item.format == "short_inverse":
        row["false_answer"] = item.false_answer
    if item.format == "multi_hop_inverse":
        row |= {"answer": item.false_answer, "reasoning": list(item.steps)}
    if gold:
        row |= _gold(item) | {"source": dict(item.meta)}
    return row | {"type": "short_answer" if part.kind == "short" else part.kind}


def _gold(item: Item) -> dict[str, Any]:
    """The fields that hold an item's key; in short_inverse also `answer`, which there is the wrong one."""
    match item.format:
        case "true_false":
            return {"answer": item.answer[0]}
        case "mcq":
            return {"correct_answer": item.answer[0]}
        case "list":
            return {"answer": list(item.answer)}
        case "short":
            return {"answer": item.references[0]}
        case "short_inverse":
            return {"answer": item.false_answer, "incorrect_explanation": item.references[0]}
        case "multi_hop":
            return {"answer": item.references[0], "reasoning": list(item.steps)}
    lines = [f"- Step {item.step} contains the incorrect inference.", f"- Explanation: {item.references[0]}"]
    return {"incorrect_reasoning_step": lines}
