"""The recipe of HIVMedQA: from a bank of closed questions to open ones on a subject."""

from collections.abc import Mapping
from typing import ClassVar

from vivavoce.core.errors import InputError
from vivavoce.core.registry import build_recipe
from vivavoce.run.building.filters.duplicates import Duplicates
from vivavoce.run.building.questions import Questions
from vivavoce.run.building.step import BuildRecipe, Step
from vivavoce.systems.hivmedqa.step.selection import OpenQuestion, SuitsOpenAnswer, Terms


@build_recipe("hivmedqa")
class HIVMedQARecipe(BuildRecipe):
    """Open questions on a subject from a bank of closed ones: files or benchmarks of `from`.

    Questions with one of the `terms`, of which `model` chooses those that suit an open answer, and puts them
    openly, in `language`. Gold answers wait for two people: freeze with --min-raters 2.
    """

    from_: tuple[str, ...]
    terms: tuple[str, ...] = ()
    model: str = ""
    language: str = "en"

    card_fields: ClassVar[Mapping[str, str]] = {
        "description": "Open questions on one subject from a bank of closed ones, made as HIVMedQA was.",
        "licence": "that of the bank",
        "citation": "The recipe: HIVMedQA: Benchmarking large language models for HIV medical decision "
        "support, 2025, section 2.2",
    }

    def steps(self) -> Mapping[str, Step]:
        """parse, duplicates, terms, choose, open."""
        if not self.terms:
            raise InputError("hivmedqa selects questions by words: name them with --terms, such as HIV AIDS.")
        self.require_model(self.model, "chooses and words questions")
        return {
            "parse": Questions(files=self.from_),
            "duplicates": Duplicates(act=True),
            "terms": Terms(terms=self.terms),
            "choose": SuitsOpenAnswer(model=self.model),
            "open": OpenQuestion(model=self.model, language=self.language),
        }
