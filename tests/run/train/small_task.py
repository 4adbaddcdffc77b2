"""A task small enough to be learned in a second: the argument names the right option, or says nothing.

It is a plugin too: `viva train small_task --plugin tests/run/train/small_task.py`.
"""

from collections.abc import Iterator

from vivavoce.benchmarks import Benchmark, TrainingItem
from vivavoce.core.records import Card, Item
from vivavoce.core.registry import benchmark

DRUGS = ("iron", "aspirin", "fever", "cough")
SOURCES = ("a", "b", "c")


def item(name: str, k: int, *, references: tuple[str, ...] = (), question: str = "") -> Item:
    right = DRUGS[k % 4]
    options = tuple(f"{drug} {k}" for drug in DRUGS[k % 3 :] + DRUGS[: k % 3])
    return Item(
        benchmark="small_task",
        item=name,
        format="argument",
        question=question or f"what was given for {k}?",
        options=options,
        answer=(f"{right} {k}",),
        references=references,
    )


@benchmark("small_task")
class SmallTask(Benchmark):
    """40 items to learn from, 12 to choose by, 4 to ask; `kind` says what is wrong with it."""

    kind: str = "good"

    card = Card(name="small_task", description="d", source="s", licence="CC0", citation="c")

    def items(self) -> Iterator[Item]:
        """Four items; with kind=leak the first two repeat training items."""
        start = 0 if self.kind == "leak" else 100
        yield item("asked-0", start)
        yield item("asked-1", start + 1, question="another wording?")
        for k in (2, 3):
            yield item(f"asked-{k}", 100 + k)

    def training(self) -> Iterator[TrainingItem]:
        """Arguments of three sources that name the right option."""
        if self.kind == "none":
            return
        for k in range(40 if self.kind != "no_dev" else 8):
            yield self._training(k, "train")
        for k in range(0 if self.kind == "no_dev" else 12):
            yield self._training(60 + k, "dev")

    def _training(self, k: int, split: str) -> TrainingItem:
        right = DRUGS[k % 4]
        arguments = {s: (f"{s} {right} daily",) for s in SOURCES}
        if self.kind == "bare":
            arguments = {}
        if self.kind == "holes" and k % 4 == 0:
            arguments = {"a": ("  ",)}
        if self.kind == "published":
            drafts = (f"iron {right}", f"iron {right}", f"daily {right}", f"daily {right}", f"mg {right}")
            arguments = {"mixture-1": drafts, "mixture-2": drafts[::-1]}
        references = (f"the {right}",) if self.kind == "expert" else ()
        asked = item(f"{split}-{k}", k, references=references)
        if self.kind == "classes":
            options = ("supported", "refuted")
            asked = Item(
                benchmark="small_task", item=f"{split}-{k}", format="argument", question=f"claim {k}?",
                options=options if k % 2 else options[::-1], answer=(options[k % 4 // 2],),
            )  # fmt: skip
            arguments = {s: (("iron", "not")[k % 4 // 2] + " " + s,) for s in SOURCES}
        return TrainingItem(asked, "train" if split == "train" else "dev", arguments)
