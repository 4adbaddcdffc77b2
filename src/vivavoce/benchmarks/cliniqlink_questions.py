"""ClinIQLink without its gold: what may be handed to whoever answers, and what can be told of it.

A submission is asked behind closed doors, so the key must not be there. An item of a package bears the id
that it has in the exam, and a hash of what a candidate sees, by which its answer is brought home.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.benchmarks.cliniqlink import ClinIQLink, fields_of, rows_of
from vivavoce.errors import InputError
from vivavoce.formats import check
from vivavoce.records import Card, Item
from vivavoce.registry import benchmark
from vivavoce.tables import is_file

__all__ = ["PARTS", "QUESTIONS", "ClinIQLinkQuestions", "Part", "asked", "shown"]

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


def shown(item: Item) -> Item:
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


def asked(part: Part, name: str, row: Any) -> Item:
    """What a candidate sees of a row, with its gold or without, as the item `name`.

    Raises `InputError` for an item that cannot be asked, `ValueError` for a row that is none.
    """
    if not isinstance(row, dict):
        raise ValueError(f"a JSON object is needed, not {type(row).__name__}")
    fields = fields_of(part.stem, {**row, **part.gold})
    return shown(check(Item(benchmark=QUESTIONS, item=name, **fields)))


@benchmark(QUESTIONS)
class ClinIQLinkQuestions:
    """The questions of ClinIQLink from `data`, a folder that `viva challenge questions` wrote: without gold.

    They can be asked and not marked. Their answers come home by `viva challenge results` and `viva import`.
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
        found = [part for part in PARTS if is_file(self.data / f"{part.stem}.json")]
        if not found:
            raise InputError(
                f"{self.data} holds no package of questions (TF.json, MC.json …): `viva challenge questions "
                '"cliniqlink(data=DIR)" --to FOLDER` writes one.'
            )
        for part in found:
            path = self.data / f"{part.stem}.json"
            for index, row in enumerate(rows_of(path)):
                yield _item(part, f"{path}, item {index}", row)


def _item(part: Part, where: str, row: Any) -> Item:
    told = [key for key in part.gold if isinstance(row, dict) and key in row]
    if told:
        raise InputError(
            f"{where} holds gold ({', '.join(told)}), and a package must not: `viva challenge questions "
            '"cliniqlink(data=DIR)" --to FOLDER` writes one without it.'
        )
    try:
        name, digest = (row.get(key) if isinstance(row, dict) else None for key in ("id", "hash"))
        if isinstance(row, dict) and not (isinstance(name, str) and name and isinstance(digest, str)):
            raise ValueError("an id and a hash are needed: `viva challenge questions` gives every item both")
        item = asked(part, str(name), row)
    except ValueError as error:
        raise InputError(f"{where}: {str(error).rstrip('.')}.") from None
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    if item.hash != digest:
        raise InputError(
            f"{where}: {name} is not what it was when the package was written: its hash is {item.hash}, not "
            f"{digest}. Take the package as it came, or have it written again."
        )
    return item
