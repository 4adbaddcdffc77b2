"""Translation of closed questions: source and translation stand side by side in one group."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from vivavoce.core.partners import TRANSLATION_OF
from vivavoce.core.prompts import Unreadable, load
from vivavoce.core.records import Item
from vivavoce.core.registry import step
from vivavoce.core.text import label
from vivavoce.language.languages import codes, language, refuse_other_language
from vivavoce.language.replies import text_of, texts_of
from vivavoce.models.fencing import fenced
from vivavoce.models.requests import TEXTS, Request, json_request
from vivavoce.run.building.asking import ModelStep, Reply
from vivavoce.run.building.parts import Part, with_partner, written_by
from vivavoce.run.building.step import Drop

_SIGNS = frozenset(
    [
        "mg",
        "g",
        "kg",
        "ng",
        "pg",
        "μg",
        "ml",
        "dl",
        "l",
        "mmol",
        "nmol",
        "μmol",
        "mol",
        "meq",
        "mmhg",
        "%",
        "cm",
        "mm",
        "°c",
        "bpm",
        "mg/dl",
        "mg/kg",
        "g/dl",
        "mmol/l",
        "ml/min",
    ]
)
"""Units that all languages write alike. One in words ("12 horas") is another word in another language."""
_FIGURE = re.compile(r"(?P<number>\d+(?:[.,\u00a0\u202f]\d+)*)\s?(?P<unit>[a-zA-Zµμ°%]*(?:/[a-zA-Z]+)?)")
_BLANK_THOUSANDS = re.compile(r"(?<=\d)[ \u00a0\u2009\u202f](?=\d{3}(?!\d))")
_PERCENT = re.compile(r"\b(?:per ?cent|por ciento|por cento|prozent|pour ?cent|per cento)\b", re.IGNORECASE)
_SIGNS_OF_UNITS = str.maketrans({"µ": "μ", "º": "°"})
_THOUSANDS = re.compile(r"(?<=\d)[.,\u00a0\u202f](?=\d{3}(?!\d))")
"""A point or comma before three digits: of thousands, or of three decimals, which are alike on both sides."""


class Translated(NamedTuple):
    """A question and its options in another language."""

    question: str
    options: tuple[str, ...]


@step("translation")
class Translation(ModelStep):
    """Each question also in the language `to`, by `model`: an item of its own, in the group of its source.

    A translation is refused, and asked for once more, where a number or unit is lost or added, options are
    missing or equal, or the language is another one.
    """

    to: str
    prompts = ("careqa_translate",)
    task = "translate it"

    def __post_init__(self) -> None:
        if self.to not in codes():
            raise ValueError(f"to={self.to}: one of {', '.join(codes())} is known")

    @property
    def writer(self) -> str:
        """The model that translates."""
        return self.model

    def works_on(self, part: Part) -> bool:
        """Questions in another language."""
        return isinstance(part, Item) and part.meta.get("language") != self.to

    def request(self, part: Item) -> Request:
        """Asks for question and options in the other language."""
        options = "\n".join(f"{label(k)}. {text}" for k, text in enumerate(part.options))
        source = str(part.meta.get("language"))
        return json_request(
            load("careqa_translate"),
            {"question": "string", "options": TEXTS},
            exact=True,
            source_language=language(source).name if source in codes() else "its language",
            language=language(self.to).name,
            question=fenced("question", part.question),
            options=fenced("options", options),
        )

    def parse(self, part: Item, fields: Mapping[str, Any]) -> Translated:
        """The translation. Raises `Unreadable` where it is none: it says what is wrong."""
        question, options = text_of(fields, "question"), texts_of(fields, "options")
        if len(options) != len(part.options):
            raise Unreadable(f"{len(options)} options, and the question has {len(part.options)}")
        options = tuple(text.removeprefix(f"{label(k)}. ").strip() or text for k, text in enumerate(options))
        if len({option.casefold() for option in options}) < len(options):
            raise Unreadable("two of the options are the same")
        refuse_other_language(f"{question} {' '.join(options)}", self.to)
        for original, translated in [(part.question, question), *zip(part.options, options, strict=True)]:
            if lost := list(_figures(original, translated)):
                raise Unreadable(f"a number or unit was lost: {', '.join(lost)}")
            if added := list(_figures(translated, original)):
                raise Unreadable(f"a number or unit was added: {', '.join(added)}")
        return Translated(question, options)

    def results(self, part: Item, value: Translated) -> Iterator[Part]:
        """The source, and its translation."""
        yield part
        key = value.options[part.options.index(part.answer[0])]
        draft = replace(self._draft(part), question=value.question, options=value.options, answer=(key,))
        yield written_by(draft, self.model)

    def without_value(self, part: Item, reply: Reply[Translated]) -> Iterable[Part | Drop]:
        """The source stays, and its translation is dropped."""
        return (part, reply.drop(self._draft(part), self.task))

    def _draft(self, item: Item) -> Item:
        draft = replace(item, item=f"{item.item}-{self.to}", meta={**item.meta, "language": self.to})
        return with_partner(draft, TRANSLATION_OF, item.item)


def _figures(part: str, text: str) -> Iterator[str]:
    """The figures of `part`, each with its unit, that `text` lacks or has less often."""
    for (number, unit), n in (Counter(figures(part)) - Counter(figures(text))).items():
        yield from [f"{number} {unit}".strip()] * n


def figures(text: str) -> Iterator[tuple[str, str]]:
    """Figures as 1234.5, each with the unit behind it where all languages write that unit alike, else ''."""
    plain = _BLANK_THOUSANDS.sub("", _PERCENT.sub("%", text)).translate(_SIGNS_OF_UNITS)
    for match in _FIGURE.finditer(plain):
        number = _THOUSANDS.sub("", match["number"]).replace(",", ".")
        unit = match["unit"].casefold().replace("mcg", "μg")
        yield (number.rstrip("0").rstrip(".") if "." in number else number), unit if unit in _SIGNS else ""
