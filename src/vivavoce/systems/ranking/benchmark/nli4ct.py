"""NLI4CT: statements on a clinical trial that its record entails or contradicts, and the lines that tell."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from vivavoce.benchmarks import TrainingItem
from vivavoce.benchmarks.health.source_files import SourceFolder, SourceLine, find_file, items_of
from vivavoce.core.errors import InputError
from vivavoce.core.json_text import read_json_file
from vivavoce.core.records import Card, Download, Exclusion, Item
from vivavoce.core.registry import benchmark
from vivavoce.core.tables import is_file
from vivavoce.evaluators.proxy_task import EXTRACT
from vivavoce.systems.ranking.benchmark.casimedicos import PUBLISHED, Split

JOINER = " ** "
"""What stands between the lines of an extract."""
_FILES = {"train": "train.json", "dev": "dev.json", "test": "Gold_test.json"}
_TRIALS = "CT json"
_OPTIONS = ("entailment", "contradiction")
_SECTIONS = ("Intervention", "Eligibility", "Results", "Adverse Events")
_TRIAL_ID = re.compile(r"NCT\d{1,12}")


@benchmark("nli4ct")
class NLI4CT(SourceFolder):
    """NLI4CT from `data`, the folder Complete_dataset or the one that holds it.

    Asked are statements on one trial. The lines of their section are the context, and the lines that the
    annotators marked are the reference, as an extract. Another `split` has a name of its own in a run.
    """

    split: Split = "test"

    @property
    def card(self) -> Card:
        """The card of the split."""
        return Card(
            name=_name(self.split),
            description="Statements on one clinical trial of breast cancer, which a section of its record "
            "entails or contradicts: 229 for the test, 140 for development, 1,035 for training. An extract "
            "of the section is ranked by how far it helps an evaluator to tell which.",
            source="github.com/ai-systems/nli4ct, Complete_dataset.zip",
            revision_note="read from the folder given; the hash of its files stands in the signature",
            licence="none stated: the repository has no licence file, so the data are read from your copy "
            "and not shipped",
            citation="Jullien et al., SemEval-2023 task 7: multi-evidence natural language inference for "
            "clinical trial data, 2023; as a task for arguments: Ranking over scoring, COLING 2025",
            faults=(
                "Statements that compare two trials are not asked, as in the paper: 1,035, 140 and 229 stay, "
                "with 533, 70 and 115 entailed.",
                "Arguments are extracts: they repeat lines, and are joined by **. An evaluator reads the "
                "statement and an extract, or without arguments the whole section. It says nothing of "
                "explanations.",
                "test.json has no labels: the test is read from Gold_test.json.",
                'The published "micro F" of the test fits no accuracy on 229 items.',
                "The prompt here says the published instruction in our words, with an example of ours. Not "
                "for clinical use.",
            ),
            published={**PUBLISHED, "prompt": "ranking_nli4ct"},
        )

    download = Download(
        by_hand="Take Complete_dataset.zip from github.com/ai-systems/nli4ct, unpack it, and name the folder "
        "with data=. What lies under __MACOSX is no data."
    )

    @property
    def files(self) -> tuple[Path, ...]:
        """The statements of the split, and the folder of trials."""
        return (self._statements(self.split), self._trials)

    def _statements(self, split: str) -> Path:
        return find_file("nli4ct", self.data, _FILES[split], f"Complete_dataset/{_FILES[split]}")

    @property
    def _trials(self) -> Path:
        for folder in (self.data / _TRIALS, self.data / "Complete_dataset" / _TRIALS):
            if folder.is_dir():
                return folder
        raise InputError(
            f'nli4ct: no folder "{_TRIALS}" in {self.data}: the records of the trials lie there. data= names '
            "the unpacked folder Complete_dataset."
        )

    def items(self) -> Iterator[Item | Exclusion]:
        """The statements on one trial, in the order of the file."""
        return self._of(self.split)

    def training(self) -> Iterator[TrainingItem]:
        """The items of training and development; the marked lines are the argument of `expert`."""
        splits: tuple[Split, ...] = ("train", "dev")
        for split in splits:
            for row in self._of(split):
                if isinstance(row, Item) and split != "test":
                    yield TrainingItem(row, split, {"expert": row.references} if row.references else {})

    def _of(self, split: Split) -> Iterator[Item | Exclusion]:
        path, trials = self._statements(split), self._trials
        statements = read_json_file(path)
        if not isinstance(statements, dict) or not all(isinstance(s, dict) for s in statements.values()):
            raise InputError(f"{path}: a JSON object is needed that has an object for each statement.")
        lines = [
            SourceLine(path.name, name, row)
            for name, row in statements.items()
            if row.get("Type") == "Single"
        ]

        @cache
        def trial(name: str) -> Mapping[str, Any] | None:
            file = trials / f"{name}.json"
            record = read_json_file(file) if is_file(file) else None
            return record if isinstance(record, dict) else None

        def item(line: SourceLine) -> Item:
            name = line.text("Primary_id")
            record = trial(name) if _TRIAL_ID.fullmatch(name) else None
            if record is None:
                raise line.fault("the record of its trial is not there")
            return _item(line, split, _section(line, record))

        return items_of(lines, item)


def _name(split: str) -> str:
    return "nli4ct" if split == "test" else f"nli4ct_{split}"


def _section(line: SourceLine, record: Mapping[str, Any]) -> tuple[str, ...]:
    name = line.text("Section_id")
    if name not in _SECTIONS:
        raise line.fault("Section_id names no section of a trial")
    section = SourceLine(line.file, line.number, record).texts(name)
    if not any(text.strip() for text in section):
        raise line.fault("the section of its trial is empty")
    return section


def _item(line: SourceLine, split: str, section: tuple[str, ...]) -> Item:
    label = line.text("Label").lower()
    if label not in _OPTIONS:
        raise line.fault("Label is neither Entailment nor Contradiction")
    evidence = line.row.get("Primary_evidence_index")
    if not isinstance(evidence, list) or not all(type(k) is int and 0 <= k < len(section) for k in evidence):
        raise line.fault("Primary_evidence_index names no lines of the section")
    extract = JOINER.join(section[k].strip() for k in evidence)
    return Item(
        benchmark=_name(split),
        item=str(line.number),
        group=line.text("Primary_id"),
        category=line.text("Section_id"),
        format="argument",
        context="\n".join(section),
        question=line.text("Statement"),
        options=_OPTIONS,
        answer=(label,),
        references=(extract,) if extract.strip(" *") else (),
        meta={"argument": EXTRACT},
    )
