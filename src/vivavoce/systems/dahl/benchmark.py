"""DAHL: 8,573 biomedical questions in 29 categories, to be answered at length.

Seo, Lim, Jang and Shin (2024), arXiv 2411.09255.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Literal

from vivavoce.benchmarks.health.source_files import (
    SourceFolder,
    SourceLine,
    content_id,
    find_file,
    items_of,
    read_source,
)
from vivavoce.core.item_content import content_text
from vivavoce.core.records import Card, Download, Exclusion, Item
from vivavoce.core.registry import benchmark
from vivavoce.core.tables import is_file
from vivavoce.systems.dahl.filters import RULES, decide

_FILE = "questions.csv"
_REVISION = "4647475b6841b60aa8efd2ddce74a5ed36dc873b"
_LOST_WORD = re.compile(r"\S {2,}\S")
_DECODING = {"temperature": 0.6, "max_tokens": 256, "chat_template": False}
_PUBLISHED = {
    "paper": {**_DECODING, "prompt": "dahl_paper"},
    "released": {**_DECODING, "top_p": 0.9, "prompt": "dahl_released"},
}
_PROMPT_FAULT = {
    "paper": "The prompt here says the instruction of the paper's Figure 8 in our words. The released code "
    "sends another one (published=released).",
    "released": 'The released code for local models sends the word "instruction" in place of its '
    "instruction, and adds top_p 0.9. Its code for GPT has an instruction, a system message and no limit on "
    "tokens. The paper has another prompt (published=paper).",
}


@benchmark("dahl")
class DAHL(SourceFolder):
    """DAHL from `data`, its file questions.csv or the folder that holds it.

    `published` chooses what `--preset published` asks with: the prompt of the `paper`, or that of the
    `released` code, which lacks its instruction. Both ask the same items. A question that cannot be asked as
    it should be names its `fault` in `meta`; two rows that are answers are left out.
    `exclude=drop` also leaves out questions that break the rules by which the paper says it filtered.
    """

    published: Literal["paper", "released"] = "paper"
    exclude: Literal["none", "drop"] = "none"

    @property
    def card(self) -> Card:
        """The card, with the published settings that were chosen."""
        return Card(
            name="dahl",
            description="Biomedical questions that GPT-4 wrote from papers of PubMed Central, answered at "
            "length and without references: 8,573 rows in 29 categories.",
            source="github.com/seemdog/DAHL, questions.csv",
            revision=_REVISION,
            licence="none stated: the repository has no licence file, so the questions are read from your "
            "copy and not shipped",
            citation="Seo, Lim, Jang and Shin, DAHL: domain-specific automated hallucination evaluation of "
            "long-form text through a benchmark dataset in biomedicine, 2024 (arXiv 2411.09255)",
            faults=(
                "Two rows (lines 524 and 664) are answers to other questions: they are left out. The "
                "published scores counted them.",
                "One question begins with its label, three are cut off at their end and three lack a word: "
                "they are asked as they stand, and meta names the fault.",
                "14 texts stand in several rows, up to 9 times, and one more differs by quotation marks: "
                "8,504 questions are different. Each row is asked, and equal texts are one case.",
                "One text stands in two categories, public health and medicine: meta lists both.",
                'The paper names a category "Other"; the file has none, and has "statistics" instead.',
                "138 rows break the rules by which the paper says it filtered: 84 speak of a text "
                "that nobody sees. They are asked, unless exclude=drop.",
                "There are no references: an answer is true by what a checker knows or finds.",
                _PROMPT_FAULT[self.published],
            ),
            published=_PUBLISHED[self.published],
            primary="atomic_facts:precision",
        )

    download = Download(
        url="https://raw.githubusercontent.com/seemdog/DAHL/{revision}/", files=(_FILE,), revision=_REVISION
    )

    @property
    def files(self) -> tuple[Path, ...]:
        """The file of questions."""
        return (_file(self.data),)

    def items(self) -> Iterator[Item | Exclusion]:
        """The questions in their order."""
        lines = read_rows(self.data)
        categories: dict[str, dict[str, None]] = {}
        for line in lines:
            categories.setdefault(_key(line), {})[line.optional("category") or ""] = None
        occurrences: Counter[str] = Counter()

        def item(line: SourceLine) -> Item:
            question = line.text("question")
            decision = decide(question)
            if "H3" in decision.rules:
                raise line.fault("an answer stands in the place of a question")
            if self.exclude == "drop" and decision.grounds:
                raise line.fault(f"it breaks a rule of the paper: {', '.join(decision.grounds)}")
            name, group = content_id(question), _key(line)
            occurrences[name] += 1
            repeated = list(categories[group])
            meta: dict[str, Any] = {"row": line.number}
            if fault := _fault(question, decision.rules):
                meta["fault"] = fault
            if len(repeated) > 1:
                meta["categories"] = repeated
            return Item(
                benchmark="dahl",
                item=name if occurrences[name] == 1 else f"{name}-{occurrences[name]}",
                group=group,
                category=line.optional("category"),
                format="longform",
                question=question,
                meta=meta,
            )

        return items_of(lines, item)


def _file(data: Path) -> Path:
    return data if is_file(data) else find_file("dahl", data, _FILE)


def read_rows(data: Path) -> list[SourceLine]:
    """The rows of the question file at `data`, or in that folder. Raises `InputError` for another file."""
    return list(read_source(_file(data), "question", "category"))


def _key(line: SourceLine) -> str:
    """What equal questions share, whatever case, spaces and punctuation they are written with."""
    return content_id(content_text(str(line.row["question"])))


def _fault(question: str, rules: Collection[str]) -> str | None:
    """What is wrong with a question that can be asked all the same; null where nothing is found."""
    broken = next((RULES[rule] for rule in ("H1", "H2") if rule in rules), None)
    return broken or ("a word is missing between two spaces" if _LOST_WORD.search(question) else None)
