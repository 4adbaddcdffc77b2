"""PubMedQA: is the question that a paper's title asks answered by its abstract with yes, no or maybe?

Jin et al. (2019).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vivavoce.benchmarks.health.source_files import (
    DECODING,
    SourceFolder,
    SourceLine,
    find_file,
    items_of,
)
from vivavoce.core.errors import InputError
from vivavoce.core.json_text import read_json_file
from vivavoce.core.records import Card, Download, Exclusion, Item
from vivavoce.core.registry import benchmark

_LABELS = ("yes", "no", "maybe")
_REVISION = "1cbae8e92f72f20c8d3747cbb3bf5bc53554d997"


@benchmark("pubmedqa")
class PubMedQA(SourceFolder):
    """PubMedQA's 500 test questions from `data`, a folder with ori_pqal.json and test_ground_truth.json."""

    card = Card(
        name="pubmedqa",
        description="Questions that titles of papers ask, each with the abstract without its conclusion, "
        "answered by yes, no or maybe: 500 of the 1,000 labelled ones.",
        source="github.com/pubmedqa/pubmedqa, data/ori_pqal.json and data/test_ground_truth.json",
        revision=_REVISION,
        licence="MIT; the abstracts are PubMed's",
        access="open",
        citation="Jin et al., PubMedQA: a dataset for biomedical research question answering, EMNLP 2019",
        faults=(
            "It has not been checked whether the 500 test questions of the hub's copy (bigbio, fold 0) are "
            "those of test_ground_truth.json.",
            "Yes is the answer to more than half of the 1,000 labelled questions, and maybe to about a "
            "tenth.",
            "The label is what the authors conclude, not what is true.",
        ),
        published={**DECODING, "prompt": "suite_pubmedqa"},
        released="2019-09",
        primary="accuracy",
    )
    download = Download(
        url="https://raw.githubusercontent.com/pubmedqa/pubmedqa/{revision}/",
        files=("data/ori_pqal.json", "data/test_ground_truth.json"),
        revision=_REVISION,
    )

    @property
    def files(self) -> tuple[Path, ...]:
        """The questions, and the ids and labels of the test."""
        names = ("ori_pqal.json", "test_ground_truth.json")
        return tuple(find_file("pubmedqa", self.data, f"data/{name}", name) for name in names)

    def items(self) -> Iterator[Item | Exclusion]:
        """The questions of the test in the order of its file."""
        questions_path, test_path = self.files
        questions, labels = _entries(questions_path), _entries(test_path)
        lines = []
        for pmid, label in labels.items():
            if isinstance(questions.get(pmid), dict):
                row = {**questions[pmid], "PMID": pmid, "test_label": label}
                lines.append(SourceLine(questions_path.name, pmid, row))
            else:
                yield Exclusion(test_path.name, pmid, f"{questions_path.name} has no entry of this PMID")
        yield from items_of(lines, _item)


def _entries(path: Path) -> dict[str, Any]:
    entries = read_json_file(path)
    if not isinstance(entries, dict) or not entries:
        raise InputError(f"{path}: one JSON object is needed whose keys are PMIDs.")
    return entries


def _item(line: SourceLine) -> Item:
    label = line.text("final_decision")
    if label != line.row["test_label"]:
        raise line.fault("the two files state different labels")
    if label not in _LABELS:
        raise line.fault("the label is not yes, no or maybe")
    contexts = line.texts("CONTEXTS")
    if not any(text.strip() for text in contexts):
        raise line.fault("CONTEXTS is empty")
    year = line.optional("YEAR")
    return Item(
        benchmark="pubmedqa",
        item=line.text("PMID"),
        format="mcq",
        question=line.text("QUESTION"),
        options=_LABELS,
        answer=(label,),
        context="\n".join(contexts),
        meta={"year": line.integer("YEAR", 1800, 2100)} if year else {},
    )
