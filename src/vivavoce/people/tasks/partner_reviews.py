"""Reviews of an item beside the one that it was made from: translations, and rewordings without options.

The CareQA paper (Arias-Duart and others, 2025, appendix A.3) has three people say of each pair whether it is
correct. Its text names what goes wrong: a rewording to which other answers than the key are right.
"""

from collections.abc import Sequence
from typing import ClassVar

from vivavoce.core.partners import REWORDED_FROM, TRANSLATION_OF
from vivavoce.core.records import Item
from vivavoce.people.tasks.review import ReviewQuestion, ReviewTask


class PartnerReview(ReviewTask):
    """A review of the items that name a partner."""

    has_form = False  # a form of a tool holds the item alone, and not the one to compare it with
    link: ClassVar[str]
    """The key, in an item's `meta`, of its partner."""

    def applies_to(self, item: Item) -> bool:
        """Whether the item was made from another one."""
        return bool(item.meta.get(self.link))

    def nothing_to_show(self, candidates: Sequence[str]) -> str:
        """The sentence that says why nothing can be asked, without its end."""
        return f"no question here names in {self.link} the one that it was made from"


class TranslationTask(PartnerReview):
    """Raters compare a translation with its original."""

    name = "translation"
    schema = "viva.panel.translations/1"
    link = TRANSLATION_OF
    sentence = "Is the translation the same question as its original?"
    questions = (
        ReviewQuestion("correct", "Is it the same question, with the same options and the same key?"),
        ReviewQuestion("numbers", "Are all numbers, units and doses the same?"),
        ReviewQuestion("negations", "Is what is denied or excepted the same?"),
    )


class RewordingTask(PartnerReview):
    """Raters compare an open question with its closed form."""

    name = "rewording"
    schema = "viva.panel.rewordings/1"
    link = REWORDED_FROM
    sentence = "Is the open question correct with its key, without the options?"
    questions = (
        ReviewQuestion("correct", "Is the open question correct with its key?"),
        ReviewQuestion("complete", "Can it be answered without seeing the options?"),
        ReviewQuestion("only", "Is the key the only right answer?"),
    )
