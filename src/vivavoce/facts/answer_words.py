"""The content words of an answer, sentence by sentence, and the sentences that a unit comes from."""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache, cached_property, lru_cache
from pathlib import Path

from vivavoce.core.errors import InputError
from vivavoce.core.yaml_files import read_mapping
from vivavoce.facts.fact import Answer
from vivavoce.language.scripts import LETTERS_WITHOUT_SPACES, SYLLABLES
from vivavoce.language.stems import Vocabulary, bare_stem
from vivavoce.language.words import clinical_tokens

FILE = Path(__file__).with_name("words.yaml")

_UNSPACED = re.compile(f"[{SYLLABLES}{LETTERS_WITHOUT_SPACES}]")
_WORD_OF_ASSENT = re.compile(
    r"\W*(?:the answer is |this is |that is |it is )?(?:yes|no|true|false|correct|incorrect|right|wrong)"
    r"(?=[,.;:!–—]|\W*$)",
    re.IGNORECASE,
)
_NEAR_BEST, _MOST_ORIGINS = 0.8, 5
_ASKED = 0.25
"""Weight of a word that the question holds too."""
_MOST_WORDS = 60
"""Words of a unit, the rarest in the answer, by which its sentence is looked up."""


@cache
def words_of(name: str) -> frozenset[str]:
    """One of the lists of `words.yaml`."""
    return frozenset(read_mapping(FILE, "words", InputError)[name].split())


@lru_cache(maxsize=4096)
def content_words(text: str) -> tuple[str, ...]:
    """The words of a text that name something, each once; without numbers and words of the frame."""
    return tuple(dict.fromkeys(word for token in clinical_tokens(text) for word in _parts(token)))


def _parts(token: str) -> Iterator[str]:
    frame = words_of("frame")
    for part in re.split("[-'/]", token):
        long_enough = len(part) > 1 and not part[0].isdigit()
        if _UNSPACED.match(part) or (long_enough and part not in frame):
            yield part


@lru_cache(maxsize=4096)  # clauses of an answer come again with every unit
def vocabulary(text: str) -> Vocabulary:
    """The content words of a text, to look others up in."""
    return Vocabulary(content_words(text))


class AnswerWords:
    """An answer as units are traced back to it."""

    def __init__(self, answer: Answer) -> None:
        self.sentences = answer.cleaned.sentences
        self.text = answer.cleaned.text
        self.question = answer.question
        self._words = [content_words(sentence) for sentence in self.sentences]
        self._places: dict[str, list[int]] = {}
        for k, words in enumerate(self._words):
            for form in {bare_stem(word) for word in words}:
                self._places.setdefault(form, []).append(k)

    @cached_property
    def words(self) -> Vocabulary:
        """The answer's words."""
        return Vocabulary(word for words in self._words for word in words)

    @cached_property
    def question_words(self) -> Vocabulary:
        """The question's words."""
        return vocabulary(self.question)

    @cached_property
    def agrees(self) -> bool:
        """True if a sentence says yes or no, or true or false: it then says what the question says."""
        return any(_WORD_OF_ASSENT.match(sentence) for sentence in self.sentences)

    def origins(self, unit: str) -> tuple[str, ...]:
        """The sentences that a unit may come from, the likeliest first; none where no word is in common.

        A word counts the more, the fewer sentences hold it, and less where the question holds it: that may
        have been added to make the unit understood alone. Sentences that come near the best one count too.
        """
        forms = {bare_stem(word) for word in content_words(unit)}
        rarest = sorted((form for form in forms if form in self._places), key=self._frequency)[:_MOST_WORDS]
        scores: dict[int, float] = defaultdict(float)
        for form in rarest:
            weight = (_ASKED if self.question_words.holds(form) else 1) / len(self._places[form])
            for place in self._places[form]:
                scores[place] += weight
        best = max(scores.values(), default=0)
        near = [(-score, place) for place, score in scores.items() if score >= _NEAR_BEST * best]
        return tuple(self.sentences[place] for _, place in sorted(near)[:_MOST_ORIGINS])

    def _frequency(self, form: str) -> tuple[int, str]:
        return len(self._places[form]), form
