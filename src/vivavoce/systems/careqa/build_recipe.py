"""The recipe of CareQA: from examination papers to closed and open questions."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

from vivavoce.core.registry import build_recipe
from vivavoce.run.building.step import BuildRecipe, Step
from vivavoce.systems.careqa.step.exam_paper import ExamPaper
from vivavoce.systems.careqa.step.open_form import NegativeStems, OnlyAnswer, OpenWordings, WordingChoice
from vivavoce.systems.careqa.step.translation import Translation


@build_recipe("careqa")
class CareQA(BuildRecipe):
    """Questions of examination papers: PDF files `from`, each with its table of right options, `key`.

    The papers are in `language`, with so many `options` a question; `year` and `category` are noted. `to` is
    a language that `model` also puts them into. `form` is what comes out: the `closed` questions, `open` ones
    that the model makes of them, or `both`; without a word `open` where there is a model.
    """

    from_: tuple[Path, ...]
    key: tuple[Path, ...]
    language: str = "es"
    to: str = ""
    model: str = ""
    year: int | None = None
    category: str = ""
    options: int = 4
    form: Literal["auto", "closed", "open", "both"] = "auto"

    card_fields: ClassVar[Mapping[str, str]] = {
        "description": "Questions of examination papers, made as CareQA was.",
        "licence": "that of the examination papers",
        "citation": "The recipe: Arias-Duart et al., Automatic evaluation of healthcare LLMs beyond "
        "question-answering, NAACL 2025 (arXiv 2502.06666), appendix A",
    }

    def steps(self) -> Mapping[str, Step]:
        """parse, translate, stems, rephrase, select, check: as far as they are asked for."""
        self._refuse_without_model()
        steps: dict[str, Step] = {
            "parse": ExamPaper(
                papers=self.from_, keys=self.key, language=self.language, category=self.category,
                year=self.year, options=self.options,
            )
        }  # fmt: skip
        if self._translates:
            steps["translate"] = Translation(to=self.to, model=self.model)
        if self._form == "closed":
            return steps
        both, language = self._form == "both", self.to or self.language
        return steps | {
            "stems": NegativeStems(act=not both),
            "rephrase": OpenWordings(model=self.model, language=language, closed=both),
            "select": WordingChoice(model=self.model),
            "check": OnlyAnswer(model=self.model),
        }

    @property
    def _form(self) -> str:
        """What comes out: as stated, else open questions where there is a model."""
        return self.form if self.form != "auto" else "open" if self.model else "closed"

    @property
    def _translates(self) -> bool:
        return bool(self.to) and self.to != self.language

    def _refuse_without_model(self) -> None:
        """Raise `InputError` where a model is needed and none is named."""
        if self._translates or self._form != "closed":
            task = f"translates into {self.to}" if self._translates else f"makes {self._form} questions"
            self.require_model(self.model, task)
