"""The recipe of ClinIQLink: from passages of medical texts to questions of seven formats."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from vivavoce.core.registry import build_recipe
from vivavoce.run.building.step import BuildRecipe, Step
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

    card_fields: ClassVar[Mapping[str, str]] = {
        "description": "Questions that a model wrote from medical passages, made as ClinIQLink's were.",
        "licence": "that of the texts",
        "citation": "The recipe: Colelough, Bartels and Demner-Fushman, ClinIQLink 2025, section 3",
    }

    def steps(self) -> Mapping[str, Step]:
        """parse, write, check."""
        self.require_model(self.model, "writes questions")
        return {
            "parse": Passages(files=self.from_, fewest=self.fewest_words),
            "write": SevenFormats(model=self.model, formats=self.formats),
            "check": WrongParts(model=self.model),
        }
