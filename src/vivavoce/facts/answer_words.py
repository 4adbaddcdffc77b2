"""The content words of an answer, sentence by sentence, and the sentences that a unit comes from."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache, cached_property, lru_cache
from pathlib import Path

from vivavoce.core.errors import InputError
from vivavoce.core.yaml_files import read_mapping
from vivavoce.facts.fact import Answer
from vivavoce.language.words import clinical_tokens

FILE = Path(__file__).with_name("words.yaml")

# In these scripts no blank parts words: each sign is a word.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_ENDING = re.compile(r"(?:ies|ied|ing|ed|es|s|ly|e|y)$")
_WORD_OF_ASSENT = re.compile(
    r"\W*(?:the answer is |this is |that is |it is )?(?:yes|no|true|false|correct|incorrect|right|wrong)"
    r"(?=[,.;:!–—]|\W*$)",
    re.IGNORECASE,
)
_PREFIX = 4
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
        if _UNSPACED.search(part):
            yield from part
        elif len(part) > 1 and not part[0].isdigit() and part not in frame:
            yield part


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The word without the common endings of English."""
    bare = _ENDING.sub("", word)
    return bare if len(bare) >= 3 else word


def _alike(first: str, second: str) -> bool:
    """True if two stems are forms of one word, such as reduc and reduct, or treat and treatment."""
    short, longer = sorted((first, second), key=len)
    shared = next((k for k, (a, b) in enumerate(zip(short, longer, strict=False)) if a != b), len(short))
    return shared >= _PREFIX and shared >= len(short) - 2 and len(longer) - shared <= 6


class Vocabulary:
    """Words of a text in which others are looked up, whatever their endings."""

    def __init__(self, words: Iterable[str]) -> None:
        self._stems = {stem(word) for word in words}
        self._by_beginning: dict[str, list[str]] = {}
        for known_stem in sorted(self._stems):
            self._by_beginning.setdefault(known_stem[:_PREFIX], []).append(known_stem)

    def holds(self, word: str) -> bool:
        """True if the word, or another form of it, is in the text."""
        form = stem(word)
        if form in self._stems:
            return True
        return any(_alike(form, near) for near in self._by_beginning.get(form[:_PREFIX], ()))


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
            for form in {stem(word) for word in words}:
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
        forms = {stem(word) for word in content_words(unit)}
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
