"""The recipe of DAHL: from research articles to questions that are answered at length."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from vivavoce.core.registry import build_recipe
from vivavoce.run.building.filters.duplicates import Duplicates
from vivavoce.run.building.step import BuildRecipe, Step
from vivavoce.systems.dahl.step.articles import Articles
from vivavoce.systems.dahl.step.exam_questions import ArticleCategory, ExamQuestions
from vivavoce.systems.dahl.step.standalone import Standalone


@build_recipe("dahl")
class DAHLRecipe(BuildRecipe):
    """Questions that `model` writes from articles: files or folders of `from`, JATS XML or PDF.

    At most `questions` for every `most_words` words of an article, in `language`. What the rules of DAHL
    would drop waits for a person, and is not lost; with `drop` it is dropped.
    """

    from_: tuple[Path, ...]
    model: str = ""
    questions: int = 5
    most_words: int = 4_000
    language: str = "en"
    drop: bool = False

    card_fields: ClassVar[Mapping[str, str]] = {
        "description": "Questions that a model wrote from research articles, made as DAHL was.",
        "licence": "that of the articles",
        "citation": "The recipe: Seo, Lim, Jang and Shin, DAHL, 2024 (arXiv 2411.09255), section 3.2",
        "primary": "atomic_facts:precision",
    }

    def steps(self) -> Mapping[str, Step]:
        """parse, categorise, write, duplicates, filter."""
        self.require_model(self.model, "writes questions")
        return {
            "parse": Articles(files=self.from_, most_words=self.most_words),
            "categorise": ArticleCategory(model=self.model),
            "write": ExamQuestions(model=self.model, most=self.questions, language=self.language),
            "duplicates": Duplicates(act=self.drop),
            "filter": Standalone(act=self.drop),
        }
