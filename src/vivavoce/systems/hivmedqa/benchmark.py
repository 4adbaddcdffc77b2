"""HIVMedQA: 92 open questions on HIV care, 24 of them twins of others with a sentence that plants a bias.

Cardenal Antolin et al. (2025). A twin is a variant of the question it was made from and keeps its
published id as alias: c5q00 is item c3q00, variant bias:recency. Both are in one group, because their
answers go together.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from vivavoce.benchmarks import Benchmark
from vivavoce.core.errors import InputError
from vivavoce.core.records import Card, Item
from vivavoce.core.registry import benchmark
from vivavoce.core.tables import Line, is_file, read_lines

_FIELDS = ("id", "question", "gold", "category", "paper_subset", "bias_type", "derived_from")


@benchmark("hivmedqa")
class HIVMedQA(Benchmark):
    """HIVMedQA from `data`, a folder with `questions.jsonl`.

    `subset=paper` keeps the 63 items behind the paper's Table 2.
    """

    data: Path
    subset: Literal["all", "paper"] = "all"

    card = Card(
        name="hivmedqa",
        description="Open questions on HIV: fundamentals, USMLE-style vignettes, bias twins, Swiss data.",
        source="github.com/gonzalocardenal/medical_LLM_evaluation, made tidy with stable ids",
        revision_note="the repository carries no release or tag",
        licence="MIT according to its README, without a licence file; none stated for the questions, which "
        "adapt MedQA (USMLE) items",
        access="open",
        citation="Cardenal Antolin et al., HIVMedQA: benchmarking large language models for HIV medical "
        "decision support, 2025",
        faults=(
            "The paper's tables use 63 of the 92 items (subset=paper) without saying so.",
            "c3q22 asks for therapy by mistake while its key names a diagnostic test; only its twin was "
            "mended. "
            "Both are outside the paper's subset.",
            "The twin of c3q23 also asks for the therapy, so the pair differs by more than the bias.",
            "The key of c3q18 and c5q18 was widened during the study; the earlier one stands in meta.",
            "c2q11 is about DNA methylation, not HIV.",
            "Bias twins have no neutral twin of equal length: a drop is not yet a bias.",
            "One published model (NVLM) was asked without the system message.",
        ),
        # Temperature and the rest were left at each library's defaults, which the publication does not tell.
        published={"system": "system_hivmedqa", "max_tokens": 1024, "repeats": 5},
        primary="judge:comprehension",
    )

    def items(self) -> Iterator[Item]:
        """All 92 items: base items and twins."""
        path = self.data / "questions.jsonl"
        if not is_file(path):
            raise InputError(f"hivmedqa needs {path}: data= names the folder that holds questions.jsonl.")
        return (self._item(line) for line in read_lines(path))

    def selects(self, item: Item) -> bool:
        """True if the item is examined under `subset`."""
        return self.subset == "all" or bool(item.meta["paper_subset"])

    def _item(self, line: Line) -> Item:
        _check_fields(line)
        row = line.row
        return Item(
            benchmark="hivmedqa",
            item=row["derived_from"] or row["id"],
            variant=f"bias:{row['bias_type']}" if row["bias_type"] else "",
            alias=row["id"],
            category=row["category"],
            format="longform",
            question=row["question"],
            references=(row["gold"],),
            meta=_meta_of(line),
        )


def _check_fields(line: Line) -> None:
    """Raise `InputError` if a field of the question is missing or of another type."""
    row = line.row
    missing = [name for name in _FIELDS if name not in row]
    if missing:
        raise InputError(f"{line.where}: hivmedqa needs the field {missing[0]!r}.")
    for name in ("id", "question", "gold"):
        if not isinstance(row[name], str) or not row[name]:
            raise InputError(f"{line.where}: {name} must be text, not {row[name]!r}.")
    for name in ("category", "bias_type", "derived_from"):
        if not isinstance(row[name], str | None):
            raise InputError(f"{line.where}: {name} must be text or null, not {row[name]!r}.")


def _meta_of(line: Line) -> dict[str, Any]:
    """The fields that the item itself does not hold; earlier gold answers as Python values."""
    meta: dict[str, Any] = {
        key: value for key, value in line.row.items() if key not in ("id", "question", "gold", "category")
    }
    if isinstance(meta.get("gold_variants"), str):
        try:
            meta["gold_variants"] = ast.literal_eval(meta["gold_variants"])
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            raise InputError(f"{line.where}: gold_variants is no Python literal.") from None
    return meta
