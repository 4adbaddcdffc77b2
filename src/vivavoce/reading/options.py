"""The options of an item: how they are found in a response, by text and by label.

The longest fitting text wins, never a part of a number, a unit or a hyphenated word. A letter counts where it
can only be a label (`label_places`).
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from vivavoce.language.characters import CIRCLED
from vivavoce.language.languages import Language, codes, language
from vivavoce.language.scripts import main_script
from vivavoce.language.tokens import CLAUSE, NONE, Doc, cached_doc
from vivavoce.language.words import one_spelling
from vivavoce.reading import lexicon as words
from vivavoce.reading.label_places import (
    after_label_noun,
    is_closed,
    is_counted,
    is_part,
    is_unit,
    names_species,
    noun_before,
    small_label,
    stands_as_label,
    without_particle,
)
from vivavoce.reading.labels import is_cyrillic, labels_of

_APOSTROPHES = "'’ʼ"
_LONGEST_ROW = 12
"""Labels that may stand in a row: a loop of thousands is none."""
HEAD = 5
"""Letters that a word shares with one of an option where both may be one word in two languages."""


class Mention(NamedTuple):
    """Tokens i to j-1 name the options in `names`: one, several (equal up to case or accents), or none.

    `by` is 'text', 'label' or 'both'. None are named by a label that stands with another option's text, or by
    one that no option has.
    """

    i: int
    j: int
    names: tuple[int, ...]
    by: str


class Options:
    """The options of an item, ready to be found in responses."""

    def __init__(
        self,
        options: Sequence[str],
        labels: Sequence[str] | None = None,
        synonyms: Sequence[Sequence[str]] = (),
        *,
        alike: bool = True,
    ) -> None:
        self.texts = tuple(options)
        self.labelled = labels_of(options, labels, alike=alike)
        self.unclear, self.labels = self.labelled.unclear, self.labelled.names
        self._cores: list[str] = []
        self._forms: list[list[str]] = []
        self._index: dict[str, list[tuple[tuple[str, ...], list[int]]]] = {}
        # the longest first, so that "acute renal failure" is not read as "acute"
        by_forms = self._by_forms()
        for k, synonyms_of_option in enumerate(synonyms):
            by_forms.update(
                {tuple(map(one_spelling, cached_doc(text).forms)): [k] for text in synonyms_of_option}
            )
        for forms, options_of_form in sorted(by_forms.items(), key=lambda entry: -len(entry[0])):
            self._index.setdefault(forms[0], []).append((forms, options_of_form))
        self._words = frozenset(form for forms in by_forms for form in forms)
        """The words of all options, in one spelling."""
        self.lower = {name.lower(): k for name, k in self.labels.items()}
        self.plain = self._plain()
        self.numbers = list(map(_numbers, options))
        self.vocabulary = self._vocabulary()
        self.unions = self._unions()
        self.is_latin = main_script("\n".join(options)) in {"Latin", None}
        """Whether most letters of the options are Latin, as those of the supported languages are."""

    def __len__(self) -> int:
        return len(self.texts)

    def _plain(self) -> dict[str, int]:
        """The options as they are written, white space aside."""
        plain = {" ".join(text.split()): k for k, text in reversed(list(enumerate(self.texts)))}
        return {text: k for text, k in plain.items() if text not in self.unclear}

    def _vocabulary(self) -> set[str]:
        """The words of the options in ASCII, and how the longer ones begin."""
        forms = {form for forms in self._forms for form in forms if form.isascii()}
        return forms | {form[:HEAD] for form in forms if len(form) > HEAD}

    def _unions(self) -> dict[frozenset[int], int]:
        """The options that are others together, "Both A and B", by the places of these."""
        unions: dict[frozenset[int], int] = {}
        for k, text in enumerate(self.texts):
            doc = cached_doc(text)
            surfaces = [doc.surface(n, n + 1) for n in range(len(doc)) if doc.forms[n] not in words.TOGETHER]
            places = frozenset(self.labelled.places.get(surface, k) for surface in surfaces)
            if len(surfaces) == len(places) > 1 and k not in places:
                unions.setdefault(places, k)
        return unions

    def _by_forms(self) -> dict[tuple[str, ...], list[int]]:
        """The options by the tokens that name them, in one spelling."""
        labelled = bool(self.labelled.prefixes)
        by_forms: dict[tuple[str, ...], list[int]] = {}
        for k, text in enumerate(self.texts):
            doc = cached_doc(text)
            self._cores.append(doc.surface(0, len(doc)))
            self._forms.append(doc.forms)
            forms = tuple(_comparable(doc))
            # an option "A" or "AB" is found as labels are
            if forms and text.strip() not in self.labelled.texts:
                by_forms.setdefault(forms, []).append(k)
                if labelled and len(doc) > 1:
                    # options that carry their labels, "B: B cells", are named without them too
                    by_forms.setdefault(forms[1:], []).append(k)
        return by_forms

    def exactly(self, text: str) -> int | None:
        """The option that `text` is, white space aside; none for a text that is another option's label."""
        return self.plain.get(" ".join(text.split()))

    def names(self, doc: Doc) -> list[Mention]:
        """The options named by their text, left to right, without overlap."""
        mentions: list[Mention] = []
        k, index = 0, self._index
        forms = _without_attached(doc, _comparable(doc), self._words)
        while k < len(forms):
            for option, numbers in index.get(forms[k], ()):
                j = k + len(option)
                # the last token is compared first: most candidates fail there, and slicing is dear
                if j > len(forms) or forms[j - 1] != option[-1]:
                    continue
                if tuple(forms[k:j]) == option and _is_whole(doc, k, j):
                    mentions.append(Mention(k, j, self._exact(doc, k, j, numbers), "text"))
                    k = j
                    break
            else:
                k += 1
        return mentions

    def _exact(self, doc: Doc, i: int, j: int, numbers: list[int]) -> tuple[int, ...]:
        """Of the options that tokens i to j-1 can name the one spelt alike; all of them if none is."""
        if len(numbers) == 1:
            return (numbers[0],)
        surface, forms = doc.surface(i, j), doc.forms[i:j]
        for exact in (
            [k for k in numbers if self._cores[k] == surface],
            [k for k in numbers if self._cores[k].casefold() == surface.casefold()],
            [k for k in numbers if self._forms[k] == forms],  # as it stands, and not in American spelling
        ):
            if len(exact) == 1:
                return (exact[0],)
        return tuple(numbers)

    def places(self, doc: Doc, i: int, j: int, starts: Iterable[int]) -> Sequence[int]:
        """The tokens from i to j-1 that may be a label, or that begin a text at `starts`, in order."""
        listed = doc.places(self, self._may_be_label)
        labels = listed[bisect_left(listed, i) : bisect_left(listed, j)]
        texts = [k for k in starts if i <= k < j]
        return sorted({*labels, *texts}) if texts else labels

    def _may_be_label(self, doc: Doc, k: int) -> bool:
        """True for a number, a single letter and what is written as a label."""
        token = doc.tokens[k]
        if token.kind != "w":
            return token.kind == "n"
        text = doc.text[token.start : token.end]
        if len(text) > 1 and (len(text) > 3 or text not in self.labels):
            text = without_particle(text)
        return len(text) == 1 or text in self.labels or text in self.unclear

    def label_at(self, doc: Doc, k: int, *, claimed: bool = False, i: int = 0) -> int | None:
        """The option whose label token k is, or -1 for a letter beyond the labels; None if it is no label.

        `claimed`: the token stands where an answer is expected, so that a bare capital is enough; in running
        text a label needs brackets, emphasis, a word like "option" before it or a verdict after it. `i` is
        where the clause begins.
        """
        token = doc.tokens[k]
        if token.kind != "w":
            return self._numbered(doc, k, claimed=claimed) if token.kind == "n" else None
        text = without_particle(doc.text[token.start : token.end])
        if len(text) > 3:
            return None
        option = self.labels.get(text)
        if option is None:
            if text in self.unclear:
                return self._one_of_two(doc, k, text, claimed=claimed)
            return self._other_letter(doc, k, text, i, claimed=claimed)
        is_label = stands_as_label(doc, k, text, claimed=claimed) or (claimed and self._in_a_row(doc, k))
        return option if is_label and not self._of_a_name(doc, k, option) else None

    def may_stand(self, doc: Doc, k: int) -> bool:
        """True for a label at token k that is no part of a name."""
        return not self._of_a_name(doc, k, self.labels[without_particle(doc.surface(k, k + 1))])

    def _of_a_name(self, doc: Doc, k: int, option: int) -> bool:
        """True for a letter that is a part of a name: "vitamin B", "C. difficile"."""
        return is_part(doc, k) or noun_before(doc, k) or names_species(doc, k, self.texts[option])

    def _in_a_row(self, doc: Doc, k: int) -> bool:
        """True if a label is followed by others up to the end of its clause: "A C D."."""
        end, limit = k + 1, min(len(doc), k + _LONGEST_ROW)
        while end < limit and doc.gap(end) in {"", " "} and doc.surface(end, end + 1) in self.labels:
            end += 1
        return k + 1 < end < k + _LONGEST_ROW and is_closed(doc, end - 1)

    def _numbered(self, doc: Doc, k: int, *, claimed: bool) -> int | None:
        """The option that a number names by its place: "option 2", or a number alone where options bear one.

        -1 for a place that no option has, and where another option's text holds the number.
        """
        number = doc.forms[k]
        if not _counts(number) or (k + 1 < len(doc) and is_unit(doc, k + 1)):
            return None
        is_named = after_label_noun(doc, k) or (claimed and is_counted(doc, k))
        if self.labelled.numbered:
            is_named = is_named or (claimed and is_closed(doc, k))
            return self.labelled.places.get(number, -1) if is_named else None
        return self._place(number) if is_named else None

    def _place(self, number: str) -> int:
        """The place that a number counts to; -1 if it has none, or if another option's text holds it."""
        place = int(number) - 1
        rivals = any(number in numbers for n, numbers in enumerate(self.numbers) if n != place)
        return place if 0 <= place < len(self.texts) and not rivals else -1

    def _one_of_two(self, doc: Doc, k: int, text: str, *, claimed: bool) -> int | None:
        """The option of a label that is another one's text: "option B" and "group B" tell them apart.

        -1 where nothing does.
        """
        if after_label_noun(doc, k):
            return self.labelled.places.get(text.upper(), -1)
        if noun_before(doc, k):
            return self.labelled.texts.get(text)
        return -1 if not is_part(doc, k) and stands_as_label(doc, k, text, claimed=claimed) else None

    def number_joined(self, doc: Doc, k: int, preceding: Mention) -> int | None:
        """The option of a number that is joined to one that names an option: "options 2 and 3"."""
        number = doc.forms[k]
        if doc.tokens[preceding.i].kind != "n" or not _counts(number):
            return None
        return int(number) - 1 if 0 < int(number) <= len(self.texts) else -1

    def is_unclear(self, surface: str) -> bool:
        """True for what is the label of one option and the text, or another label, of another."""
        if _counts(surface):
            return int(surface) <= len(self.texts) and any(surface in numbers for numbers in self.numbers)
        return without_particle(surface) in self.unclear

    def is_label(self, doc: Doc, k: int, text: str) -> bool:
        """True if token k, written as `text`, may be a label: a word that says nothing of an option."""
        text = without_particle(text)
        return (text in self.labels or text in self.unclear) and not is_part(doc, k)

    def _other_letter(self, doc: Doc, k: int, text: str, i: int, *, claimed: bool) -> int | None:
        """What a text that is no label may be all the same: a small letter, or one beyond the labels."""
        if len(text) != 1:
            return None
        lower = self.lower.get(text)
        if lower is not None and small_label(doc, k, i, claimed=claimed) and not is_part(doc, k):
            return lower
        is_claim = claimed and k == i and is_closed(doc, k) and not is_part(doc, k)
        return -1 if is_claim and _is_letter(text) else None


@lru_cache(maxsize=4096)
def options_of(
    options: tuple[str, ...],
    labels: tuple[str, ...] | None = None,
    synonyms: tuple[tuple[str, ...], ...] = (),
    *,
    alike: bool = True,
) -> Options:
    """The options, prepared once; `synonyms` are further words for each, in their order."""
    return Options(options, labels, synonyms, alike=alike)


def options_in(options: tuple[str, ...], text: str) -> Options:
    """The options as `text` names them: a Cyrillic "В" is the third where a label can only be Cyrillic."""
    return options_of(options, alike=not is_cyrillic(text))


# --- by text


def _comparable(doc: Doc) -> list[str]:
    """The forms of a text in one spelling, with a slash for the "per" between two units."""
    forms = [*map(one_spelling, doc.forms)]
    for k in doc.places(words.PERS, lambda doc, k: doc.forms[k] in words.PERS):
        if 0 < k < len(forms) - 1 and is_unit(doc, k - 1) and is_unit(doc, k + 1):
            forms[k] = "/"
    return forms


def _numbers(text: str) -> set[str]:
    """The numbers in an option."""
    return {token.form for token in cached_doc(text).tokens if token.kind == "n"}


def _counts(number: str) -> bool:
    """True for a number that may count options."""
    return number.isdecimal() and len(number) < 3


def _is_letter(text: str) -> bool:
    """True for what would be a label of some option."""
    return text in CIRCLED or (text.isascii() and text.isupper())


def _is_capital(text: str) -> bool:
    return text.isalpha() and text.isupper()


def _is_whole(doc: Doc, i: int, j: int) -> bool:
    """True if tokens i to j-1 are no part of a longer number, quantity or hyphenated word."""
    if doc.glued(i) or doc.glued(j):
        return False
    if i > 0 and doc.breaks[i] == NONE and (_of_a_name(doc, i, j) or _after_sign(doc, i)):
        return False
    if doc.tokens[i].kind == "n" and i > 0 and doc.breaks[i] <= CLAUSE and _is_end(doc, i, j):
        return False
    return j >= len(doc) or doc.breaks[j] > NONE or not _goes_on(doc, i, j)


def _after_sign(doc: Doc, i: int) -> bool:
    """True for the second sign of "<<" or "=>"."""
    return doc.tokens[i].form in {"<", ">"} and doc.forms[i - 1] in {"<", ">", "="}


def _is_end(doc: Doc, i: int, j: int) -> bool:
    """True if tokens i to j-1 are an end of a range: "between 25% and 50%", "> 50"."""
    return _number_before(doc, i) or (doc.forms[i - 1] == "between" and doc.forms[j : j + 1] == ["and"])


def _number_before(doc: Doc, i: int) -> bool:
    """True if the number at token i is part of a comparison or a range: "> 50", "25-50"."""
    preceding = doc.forms[i - 1]
    if doc.breaks[i] <= NONE and (preceding in words.COMPARATORS or preceding in {"-", "/", "x", "^"}):
        return True
    range_sign = doc.gap_has(i, "-–—") or preceding in {"to", "(-)"}
    range_sign = range_sign or (preceding == "and" and "between" in doc.forms[max(0, i - 4) : i])
    return range_sign and any(t.kind == "n" for t in doc.tokens[max(0, i - 3) : i])


def _goes_on(doc: Doc, i: int, j: int) -> bool:
    """True if token j continues tokens i to j-1: a unit, a sign, the rest of a fraction or a power."""
    following, gap = doc.forms[j], doc.gap(j)
    if following in {"(+)", "(-)"}:
        return not gap
    is_number = doc.tokens[j - 1].kind == "n"
    if is_number and is_unit(doc, j):
        return True
    quantity = is_number or any(t.kind == "n" for t in doc.tokens[max(i, j - 2) : j])
    return quantity and not gap and (following in {"/", "-"} or following[0] == "^")


def _of_a_name(doc: Doc, i: int, j: int) -> bool:
    """True for "cells" in "B cells", and for the "no" of "because no other drug works"."""
    if doc.forms[i] in words.LETTERED_HEADS:
        preceding = doc.surface(i - 1, i)
        return len(preceding) <= 2 and _is_capital(preceding)
    if doc.forms[i:j] != ["no"] or doc.ends(j) or doc.surface(i, j) != "no":
        return False
    return doc.tokens[j].kind == "w" and doc.forms[j] not in words.AFTER_LABEL


# --- what a language writes together with a word: "L'héparine", "헤파린을", "heparindir"


@cache
def _elisions() -> re.Pattern[str]:
    listed = _of_all_languages(lambda words: words.elisions)
    return re.compile(rf"(?:{'|'.join(listed)})[{_APOSTROPHES}](?=\w)", re.IGNORECASE)


@cache
def _endings() -> tuple[str, ...]:
    return tuple("".join(Doc(ending).forms) for ending in _of_all_languages(lambda words: words.endings))


def _of_all_languages(part: Callable[[Language], tuple[str, ...]]) -> list[str]:
    """The words of all languages, the longest first."""
    return sorted({word for code in codes() for word in part(language(code))}, key=lambda word: -len(word))


def _without_attached(doc: Doc, forms: Sequence[str], vocabulary: Collection[str]) -> Sequence[str]:
    """`forms` of `doc`, of which those with something attached to a word of the vocabulary are that word."""
    has_elisions = any(sign in doc.text for sign in _APOSTROPHES)
    bare = {
        k: word
        for k, form in enumerate(forms)
        if form not in vocabulary and (word := _bare(doc, k, form, has_elisions=has_elisions)) in vocabulary
    }
    return [bare.get(k, form) for k, form in enumerate(forms)] if bare else forms


def _bare(doc: Doc, k: int, form: str, *, has_elisions: bool) -> str:
    """The form without what is attached to it; empty where nothing is."""
    if form.endswith(_endings()):
        ending = next(ending for ending in _endings() if form.endswith(ending))
        return form[: -len(ending)]
    if has_elisions and (article := _elisions().match(doc.surface(k, k + 1))):
        return form[sum(sign not in _APOSTROPHES for sign in article[0]) :]
    return ""
