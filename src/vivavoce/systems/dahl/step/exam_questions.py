"""Questions for examination that a model writes from articles, by category (DAHL, section 3.2, Figure 7)."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from vivavoce.benchmarks.health.source_files import content_id
from vivavoce.core.prompts import Unreadable, load
from vivavoce.core.records import Item
from vivavoce.core.registry import step
from vivavoce.core.text import one_line
from vivavoce.language.languages import codes, language, refuse_other_language
from vivavoce.language.replies import boolean_of, text_of, texts_of
from vivavoce.models.fencing import fenced
from vivavoce.models.requests import TEXTS, Request, json_request
from vivavoce.run.building.asking import ModelStep
from vivavoce.run.building.parts import PASSAGE, Part, Passage, for_review, written_by
from vivavoce.run.building.step import Drop

CATEGORIES = (
    *(
        "anaesthesia",
        "anatomy",
        "biochemistry",
        "bio-statistics",
        "cardiology",
        "community medicine",
        "dental",
    ),
    *("dermatology", "ent", "forensic medicine", "genetics", "immunology", "medicine", "microbiology"),
    *("neurology", "obstetrics gynaecology", "oncology", "ophthalmology", "orthopaedics", "pathology"),
    *("pediatrics", "pharmacology", "physiology", "preventive and social medicine", "psychiatry"),
    *("public health", "radiology", "surgery", "other"),
)
"""The 29 categories of the paper's section 3.2.3."""
_AMBIGUOUS = "ambiguous_category"


class _Category(NamedTuple):
    name: str
    is_clear: bool


@step("article_category")
class ArticleCategory(ModelStep):
    """The category of each passage, one of DAHL's 29; an ambiguous one puts its questions before a person."""

    prompts = ("dahl_category",)
    task = "name its category"

    def works_on(self, part: Part) -> bool:
        """Passages without a category."""
        return isinstance(part, Passage) and part.category is None

    def request(self, part: Passage) -> Request:
        """Asks for one category, and whether it is clear."""
        return json_request(
            load("dahl_category"),
            {"category": "string", "clear": "boolean"},
            exact=True,
            categories=", ".join(CATEGORIES),
            title=fenced("title", part.title or "none"),
            text=fenced("text", part.text[:6_000]),  # what an article is about stands at its beginning
        )

    def parse(self, part: Passage, fields: Mapping[str, Any]) -> _Category:
        """The category. Raises `Unreadable` for one that is not on the list."""
        name = text_of(fields, "category").casefold().rstrip(".")
        if name not in CATEGORIES:
            raise Unreadable(f"{one_line(name, 40)!r} is none of the categories")
        return _Category(name, boolean_of(fields, "clear"))

    def results(self, part: Passage, value: _Category) -> Iterator[Part]:
        """The passage with its category."""
        meta = part.meta if value.is_clear else {**part.meta, _AMBIGUOUS: True}
        yield replace(part, category=value.name, meta=meta)


@step("exam_questions")
class ExamQuestions(ModelStep):
    """At most `most` questions from each passage, in `language`, to be answered at length without it."""

    most: int = 5
    language: str = "en"
    prompts = ("dahl_questions",)
    task = "write questions from it"

    def __post_init__(self) -> None:
        if self.language not in codes():
            raise ValueError(f"language={self.language}: one of {', '.join(codes())} is known")
        if self.most < 1:
            raise ValueError("most: at least one question is written")

    @property
    def writer(self) -> str:
        """The model that writes."""
        return self.model

    def works_on(self, part: Part) -> bool:
        """Passages."""
        return isinstance(part, Passage)

    def request(self, part: Passage) -> Request:
        """Asks for questions that stand by themselves."""
        return json_request(
            load("dahl_questions"),
            {"questions": TEXTS},
            exact=True,
            most=str(self.most),
            language=language(self.language).name,
            title=fenced("title", part.title or "none"),
            text=fenced("text", part.text),
        )

    def parse(self, part: Passage, fields: Mapping[str, Any]) -> tuple[str, ...]:
        """The questions, each once. Raises `Unreadable` for none, too many, and another language."""
        questions = tuple(dict.fromkeys(texts_of(fields, "questions")))
        if not questions:
            raise Unreadable("no question")
        if len(questions) > self.most:
            raise Unreadable(f"{len(questions)} questions, and at most {self.most} were asked for")
        for question in questions:
            refuse_other_language(question, self.language)
        return questions

    def results(self, part: Passage, value: tuple[str, ...]) -> Iterator[Part | Drop]:
        """The questions as items; their ids follow from the passage and their words."""
        for question in value:
            item = Item(
                benchmark="",
                item=f"{part.passage}-{content_id(question)[:8]}",
                group=part.group,
                category=part.category,
                format="longform",
                question=question,
                source=part.source,
                meta={"language": self.language, PASSAGE: part.passage},
            )
            if part.meta.get(_AMBIGUOUS):
                item = for_review(item, "the category of its article is ambiguous")
            yield written_by(item, self.model)
