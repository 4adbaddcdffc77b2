"""ClinIQLink 2025: medical questions in seven formats, each item tied to a paragraph of a textbook.

Colelough, Bartels and Demner-Fushman (2025). One JSON file for each format. An item's id is its file's stem
and its index there, from 0. Items on one paragraph share a group: their answers are not independent.

A submission is asked behind closed doors, so the key must not be there: `cliniqlink_questions` holds the
questions without their gold. Each has the id of the benchmark and a hash of what a candidate sees, by which
its answer finds its item.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from vivavoce.benchmarks import Benchmark
from vivavoce.core.errors import InputError, suggest
from vivavoce.core.json_text import read_json_file
from vivavoce.core.records import Card, Item
from vivavoce.core.registry import benchmark
from vivavoce.core.tables import is_file
from vivavoce.core.text import is_blank, one_line
from vivavoce.formats import check

_Fields = dict[str, Any]
_Row = Mapping[str, Any]
_Name = Literal["TF", "MC", "list", "short", "short_inverse", "multi_hop", "multi_hop_inverse"]
_STEP = re.compile(r"\bstep\s*#?(\d{1,3})\b", re.IGNORECASE)
_EXPLAINED = re.compile(r"^[\s*•>-]*explanation\s*:[*\s]*", re.IGNORECASE)
_SOURCE = ("isbn", "page", "paragraph_id")


def _true_false(row: _Row) -> _Fields:
    return {"format": "true_false", "answer": (_text(row, "answer"),)}


def _multiple_choice(row: _Row) -> _Fields:
    return {"format": "mcq", "options": _texts(row, "options"), "answer": (_text(row, "correct_answer"),)}


def _list(row: _Row) -> _Fields:
    return {"format": "list", "options": _texts(row, "options"), "answer": _texts(row, "answer")}


def _short(row: _Row) -> _Fields:
    return {"format": "short", "references": (_text(row, "answer"),)}


def _short_inverse(row: _Row) -> _Fields:
    explanation = (_text(row, "incorrect_explanation"),)
    return {"format": "short_inverse", "false_answer": _text(row, "false_answer"), "references": explanation}


def _multi_hop(row: _Row) -> _Fields:
    return {"format": "multi_hop", "references": (_text(row, "answer"),), "steps": _texts(row, "reasoning")}


def _multi_hop_inverse(row: _Row) -> _Fields:
    step, explanation = _wrong_step(row.get("incorrect_reasoning_step"))
    return {
        "format": "multi_hop_inverse",
        "false_answer": _text(row, "answer"),
        "steps": _texts(row, "reasoning"),
        "step": step,
        "references": (explanation,),
    }


_FILES: dict[str, Callable[[_Row], _Fields]] = {
    "TF": _true_false,
    "MC": _multiple_choice,
    "list": _list,
    "short": _short,
    "short_inverse": _short_inverse,
    "multi_hop": _multi_hop,
    "multi_hop_inverse": _multi_hop_inverse,
}


@benchmark("cliniqlink")
class ClinIQLink(Benchmark):
    """ClinIQLink from `data`, a folder with TF.json, MC.json, list.json and the four files of open questions.

    `files=[TF, MC]` takes a part; without it all seven files must be there. Other files are left alone.
    """

    data: Path
    files: tuple[_Name, ...] = ()

    card = Card(
        name="cliniqlink",
        description="Medical questions at the level of a general practitioner: true/false, multiple choice, "
        "list, short, short inverse, multi-hop and multi-hop inverse.",
        source="github.com/Brandonio-c/ClinIQLink_Sample-dataset, a sample of 35 of the 4,978 items; data= "
        "may name any folder in its form",
        revision_note="the sample carries no release or tag",
        licence="the sample is for checking the format of submissions, not for training, by its README; no "
        "other terms are stated",
        access="open",
        citation="Colelough, Bartels and Demner-Fushman, Overview of the ClinIQLink 2025 shared task on "
        "medical question-answering, BioNLP 2025",
        faults=(
            "Items have no ids of their own: results published by paragraph overwrite one another where two "
            "items share one. Here file and place make the id.",
            "In short_inverse and multi_hop_inverse the field answer holds the wrong answer. It is read as "
            "false_answer, and the explanation as the reference.",
            "In multi_hop_inverse the line that names the wrong step may hold the word explanation as well; "
            "the published harness then compares answers with that line (para15 of the sample). Here the "
            "explanation is the line that begins with 'Explanation:'.",
            "Only one step is keyed as wrong, but those after it may build on it, or say in so many words "
            "that they are wrong too (steps 3 and 4 of para11 in the sample).",
            "The published run asks the first 200 items of each file and truncates prompts; all items are "
            "asked here.",
            "In the sample, isbn and page are blanked out.",
        ),
        # 1,024 tokens for closed questions and 2,048 for open ones: one number serves both, and the larger
        # one cuts no answer short that was whole. Drawn greedily.
        published={"system": "system_cliniqlink", "temperature": 0, "max_tokens": 2048},
        primary="overall(metric=cliniqlink)",
    )

    def items(self) -> Iterator[Item]:
        """The items of the files, in the order of the files above."""
        for name in _FILES:
            if self.files and name not in self.files:
                continue
            path = self.data / f"{name}.json"
            if not is_file(path):
                present = ", ".join(n for n in _FILES if is_file(self.data / f"{n}.json"))
                part = f"; for those that are there write files=[{present}]" if present else ""
                raise InputError(f"cliniqlink needs {path}: data= names the folder of its seven files{part}.")
            for index, row in enumerate(rows_of(path)):
                yield exam_item(path, index, row)


def fields_of(name: str, row: _Row) -> _Fields:
    """Fields of the item that a row of the file `name` (TF, MC …) is; `ValueError` where one is lacking."""
    return {"question": _text(row, "question"), **_FILES[name](row)}


def exam_item(path: Path, index: int, row: Any) -> Item:
    """The item of a row of a file, by its place there. Raises `InputError` where it is none."""
    place = f"{path}, item {index}"
    try:
        source = _source_of(_object(row))
        group = source.get("paragraph_id")
        item = Item(
            benchmark="cliniqlink",
            item=f"{path.stem}-{index}",
            group="" if group is None else str(group),
            source=", ".join(f"{key} {source[key]}" for key in _SOURCE[:2] if source.get(key)) or None,
            meta={key: source[key] for key in _SOURCE if key in source},
            **fields_of(path.stem, row),
        )
    except ValueError as error:
        raise InputError(f"{place}: {error}{'' if str(error)[-1] in '.?' else '.'}") from None
    try:
        return check(item)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None


def _object(row: Any) -> _Row:
    """The row; `ValueError` where it is no JSON object."""
    if not isinstance(row, dict):
        raise ValueError(f"a JSON object is needed, not {type(row).__name__}")
    return row


def _source_of(row: _Row) -> _Row:
    """The field that names book, page and paragraph; empty where there is none."""
    source = row.get("source") or {}
    if not isinstance(source, dict):
        raise ValueError("source must be an object with isbn, page and paragraph_id")
    return source


def rows_of(path: Path) -> list[Any]:
    """The items of a file; lists within the list are laid out, as published files have them nested."""
    content = read_json_file(path)
    if not isinstance(content, list):
        raise InputError(f"{path}: a JSON array of items is needed, not {type(content).__name__}.")
    rows = [row for entry in content for row in (entry if isinstance(entry, list) else [entry])]
    if not rows:
        raise InputError(f"{path} holds no items.")
    return rows


def _value(row: _Row, name: str) -> Any:
    if name not in row:
        raise ValueError(f"the field {name!r} is missing.{suggest(name, list(row))}")
    return row[name]


def _text(row: _Row, name: str) -> str:
    value = _value(row, name)
    if isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or is_blank(value):
        raise ValueError(f"{name} must be a text, not {one_line(repr(value), 40)}")
    return value


def _texts(row: _Row, name: str) -> tuple[str, ...]:
    value = _value(row, name)
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise ValueError(f"{name} must be a list of texts, not {one_line(repr(value), 40)}")
    return tuple(value)


def _wrong_step(gold: Any) -> tuple[int, str]:
    """The number of the wrong step and why it is wrong.

    The explanation begins at the line that starts with "Explanation:", bullets aside; the step is before it.
    """
    lines = _lines_of(gold)
    begins = next((k for k, line in enumerate(lines) if _EXPLAINED.match(line)), None)
    if begins is None:
        raise ValueError("incorrect_reasoning_step has no line that begins with 'Explanation:'")
    explanation = "\n".join([_EXPLAINED.sub("", lines[begins]), *lines[begins + 1 :]]).strip()
    numbers = {int(n) for line in lines[:begins] for n in _STEP.findall(line)[:1]}
    if len(numbers) != 1:
        raise ValueError(
            "incorrect_reasoning_step must name one step before its explanation, as in 'Step 3', not "
            f"{', '.join(map(str, sorted(numbers))) or 'none'}"
        )
    if is_blank(explanation):
        raise ValueError("incorrect_reasoning_step has an empty explanation")
    return numbers.pop(), explanation


def _lines_of(gold: Any) -> list[str]:
    """The lines of a text, or of a list of texts."""
    texts = gold.splitlines() if isinstance(gold, str) else gold
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"incorrect_reasoning_step must be texts, not {one_line(repr(gold), 40)}")
    return [line for text in texts for line in text.splitlines()]


QUESTIONS = "cliniqlink_questions"


class Part(NamedTuple):
    """One of the seven formats: its file of items, its name in results, our format, and its gold.

    `gold` are the fields that hold the key. Each has a value that stands in for it, since a row without gold
    is read as one with it is, and then robbed of it.
    """

    stem: str
    kind: str
    format: str
    gold: Mapping[str, Any]


PARTS = (
    Part("TF", "true_false", "true_false", {"answer": "True"}),
    Part("MC", "multiple_choice", "mcq", {"correct_answer": "A"}),
    Part("list", "list", "list", {"answer": ["A"]}),
    Part("short", "short", "short", {"answer": "x"}),
    Part("short_inverse", "short_inverse", "short_inverse", {"incorrect_explanation": "x"}),
    Part("multi_hop", "multi_hop", "multi_hop", {"answer": "x", "reasoning": ["x"]}),
    Part(
        "multi_hop_inverse",
        "multi_hop_inverse",
        "multi_hop_inverse",
        {"incorrect_reasoning_step": ["Step 1", "Explanation: x"]},
    ),
)


def visible_part(item: Item) -> Item:
    """What a candidate sees of an item.

    No key, no right chain of steps, and neither the paragraph nor the page that the answer stands on. The
    hash is over this alone: one over the key as well would give it away to whoever tries out answers.
    """
    return Item(
        benchmark=QUESTIONS,
        item=item.item,
        format=item.format,
        question=item.question,
        options=item.options,
        steps=item.steps if item.format == "multi_hop_inverse" else (),
        false_answer=item.false_answer,
        context=item.context,
    )


def visible_row(part: Part, name: str, row: Any) -> Item:
    """What a candidate sees of a row, with its gold or without, as the item `name`.

    Raises `InputError` for an item that cannot be asked, `ValueError` for a row that is none.
    """
    fields = fields_of(part.stem, {**_object(row), **part.gold})
    return visible_part(check(Item(benchmark=QUESTIONS, item=name, **fields)))


@benchmark(QUESTIONS)
class ClinIQLinkQuestions(Benchmark):
    """The questions of ClinIQLink from `data`, a folder that `viva challenge questions` wrote: without gold.

    They can be asked and not scored. Their answers come home by `viva challenge results` and `viva import`.
    """

    data: Path

    keyed = False
    card = Card(
        name=QUESTIONS,
        description="The questions of ClinIQLink without their gold, for a submission that is asked behind "
        "closed doors.",
        source="written by `viva challenge questions` from a folder of ClinIQLink",
        revision_note="a folder of the user's; each item bears the hash of what is seen of it",
        licence="that of the data it was written from",
        access="open",
        citation=ClinIQLink.card.citation,
        published=ClinIQLink.card.published,
    )

    def items(self) -> Iterator[Item]:
        """The items of the files that are there, in the order of the exam; of seven, a package holds some."""
        parts = [part for part in PARTS if is_file(self.data / f"{part.stem}.json")]
        if not parts:
            raise InputError(
                f"{self.data} holds no package of questions (TF.json, MC.json …): `viva challenge questions "
                '"cliniqlink(data=DIR)" --to FOLDER` writes one.'
            )
        for part in parts:
            path = self.data / f"{part.stem}.json"
            for index, row in enumerate(rows_of(path)):
                yield _question(part, f"{path}, item {index}", row)


def _question(part: Part, place: str, row: Any) -> Item:
    gold_fields = [key for key in part.gold if isinstance(row, dict) and key in row]
    if gold_fields:
        raise InputError(
            f"{place} holds gold ({', '.join(gold_fields)}), and a package must not: `viva challenge "
            'questions "cliniqlink(data=DIR)" --to FOLDER` writes one without it.'
        )
    try:
        name, digest = _id_and_hash(_object(row))
        item = visible_row(part, name, row)
    except ValueError as error:
        raise InputError(f"{place}: {str(error).rstrip('.')}.") from None
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
    if item.hash != digest:
        raise InputError(
            f"{place}: {name} is not what it was when the package was written: its hash is {item.hash}, not "
            f"{digest}. Take the package as it came, or have it written again."
        )
    return item


def _id_and_hash(row: _Row) -> tuple[str, str]:
    """The id and the hash of a row; `ValueError` where one of the two is lacking."""
    name, digest = row.get("id"), row.get("hash")
    if not (isinstance(name, str) and name and isinstance(digest, str)):
        raise ValueError("an id and a hash are needed: `viva challenge questions` gives every item both")
    return name, digest
