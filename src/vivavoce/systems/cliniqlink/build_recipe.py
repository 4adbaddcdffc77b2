"""The recipe of ClinIQLink: from passages of medical texts to questions of seven formats."""

from collections.abc import Mapping
from pathlib import Path

from vivavoce.core.errors import InputError
from vivavoce.core.records import Card
from vivavoce.core.registry import build_recipe
from vivavoce.pipeline.build.step import BuildRecipe, Step
from vivavoce.systems.cliniqlink.step.passages import Passages
from vivavoce.systems.cliniqlink.step.writing import SevenFormats, WrongParts
from vivavoce.systems.cliniqlink.step.written_forms import FORMS


@build_recipe("cliniqlink")
class ClinIQLinkRecipe(BuildRecipe):
    """Questions that `model` writes from passages: files or folders of `from` (text, EPUB, JSONL with ids).

    One question a passage in each of the `formats`, by default all seven. Each names the words of its passage
    that support it.
    """

    from_: tuple[Path, ...]
    model: str = ""
    formats: tuple[str, ...] = tuple(FORMS)
    fewest_words: int = 20

    def steps(self) -> Mapping[str, Step]:
        """parse, write, check."""
        if not self.model:
            raise InputError("cliniqlink writes questions by a model: name one with --model.")
        return {
            "parse": Passages(files=self.from_, fewest=self.fewest_words),
            "write": SevenFormats(model=self.model, formats=self.formats),
            "check": WrongParts(model=self.model),
        }

    def card(self, benchmark: str) -> Card:
        """The card: an exam made as ClinIQLink's was."""
        return Card(
            name=benchmark,
            description="Questions that a model wrote from medical passages, made as ClinIQLink's were.",
            source=", ".join(path.name for path in self.from_),
            revision_note="an exam under construction: its steps stand in the run",
            licence="that of the texts",
            access="own",
            citation="The recipe: Colelough, Bartels and Demner-Fushman, ClinIQLink 2025, section 3",
        )
