"""Where an answer names an option: by its text, by its label, or by both.

The longest fitting text wins, never a part of a number, a unit or a hyphenated word. A letter counts where it
can only be a label: "I", the article "A", "vitamin B" and "T cells" are none.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from vivavoce.formats import words
from vivavoce.formats.tokens import CLAUSE, COMMA, LINE, NONE, SENTENCE, Doc, document

__all__ = ["Mention", "Options", "label", "options_of"]


def label(index: int) -> str:
    """The label of the option at `index` (from 0): A to Z, then AA, AB and so on."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


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
    """The options of an item, ready to be found in answers."""

    def __init__(self, options: Sequence[str], labels: Sequence[str] | None = None) -> None:
        self.texts = tuple(options)
        self.plain = {" ".join(text.split()): k for k, text in reversed(list(enumerate(options)))}
        self.labels = {name: k for k, name in enumerate(labels or map(label, range(len(options))))}
        self._index: dict[str, list[tuple[tuple[str, ...], list[int]]]] = {}
        self._cores: list[str] = []
        numbered = len(options) > 1 and all(_own_label(text, k) for k, text in enumerate(options))
        by_forms: dict[tuple[str, ...], list[int]] = {}
        for k, text in enumerate(options):
            doc = document(text)
            self._cores.append(doc.surface(0, len(doc)))
            if len(doc) == 1 and len(text.strip()) <= 2 and text.strip().isalpha() and text.strip().isupper():
                self.labels[text.strip()] = (
                    k  # an option "A" or "AB" is found as labels are; its text comes first
                )
            elif doc.forms:
                by_forms.setdefault(tuple(doc.forms), []).append(k)
                if numbered and len(doc) > 1:
                    # options that carry their labels, "B: B cells", are named without them too
                    by_forms.setdefault(tuple(doc.forms[1:]), []).append(k)
        for forms, found in sorted(by_forms.items(), key=lambda entry: -len(entry[0])):
            self._index.setdefault(forms[0], []).append((forms, found))
        self.lower = {name.lower(): k for name, k in self.labels.items()}

    def __len__(self) -> int:
        return len(self.texts)

    def names(self, doc: Doc) -> list[Mention]:
        """The options named by their text, left to right, without overlap."""
        found: list[Mention] = []
        k, forms, index = 0, doc.forms, self._index
        while k < len(forms):
            for option, which in index.get(forms[k], ()):
                j = k + len(option)
                if j > len(forms) or forms[j - 1] != option[-1]:
                    continue
                if tuple(forms[k:j]) == option and _whole(doc, k, j):
                    found.append(Mention(k, j, self._exact(doc.surface(k, j), which), "text"))
                    k = j
                    break
            else:
                k += 1
        return found

    def _exact(self, surface: str, which: list[int]) -> tuple[int, ...]:
        if len(which) == 1:
            return (which[0],)
        for same in (str, str.casefold):
            exact = [k for k in which if same(self._cores[k]) == same(surface)]
            if len(exact) == 1:
                return (exact[0],)
        return tuple(which)

    def label_at(self, doc: Doc, k: int, *, claimed: bool = False, i: int = 0) -> int | None:
        """The option whose label token k is, or -1 for a letter beyond the labels; None if it is no label.

        `claimed`: the token stands where an answer is expected, so that a bare capital is enough; in running
        text a label needs brackets, emphasis, a word like "option" before it or a verdict after it. `i` is
        where the clause begins.
        """
        token = doc.tokens[k]
        width = token.end - token.start
        if token.kind != "w" or width > 3:
            return None
        text = doc.text[token.start : token.end]
        known = self.labels.get(text)
        bracketed = _bracketed(doc, k)
        if known is None:
            lower = self.lower.get(text)
            if lower is not None and width == 1 and self._small(doc, k, i, claimed, bracketed):
                return lower
            beyond = (
                claimed and width == 1 and text.isascii() and text.isupper() and _closed(doc, k) and k == i
            )
            return -1 if beyond and not (doc.glued(k) or doc.glued(k + 1)) else None
        if doc.glued(k) or doc.glued(k + 1) or _noun_before(doc, k) or _species(doc, k, self.texts[known]):
            return None
        after = doc.forms[k + 1] if k + 1 < len(doc) else ""
        follows = _closed(doc, k) or after in words.AFTER_LABEL
        if bracketed or _line_label(doc, k):
            return known
        before = doc.forms[k - 1] if k > 0 and doc.breaks[k] <= NONE else ""
        if before in words.LABEL_NOUNS:
            return known
        if text == "I" and after in words.AFTER_I:
            return None
        if claimed:
            return known if follows else None
        if follows and (before in words.BEFORE_LABEL or _emphasised(doc, k)):
            return known
        return known if after in words.VERDICT_VERBS and doc.breaks[k + 1] == NONE else None

    @staticmethod
    def _small(doc: Doc, k: int, i: int, claimed: bool, bracketed: bool) -> bool:
        """True if a small letter is a label: "(c)", "c)" at the head of a line, "c" alone, "option c"."""
        if not claimed:
            return _line_label(doc, k) and doc.gap(k + 1)[:1] == ")"
        named = k > 0 and doc.breaks[k] == NONE and doc.forms[k - 1] in words.LABEL_NOUNS
        return bracketed or _line_label(doc, k) or ((k == i or named) and _closed(doc, k))


def _own_label(text: str, k: int) -> bool:
    name = label(k)
    return text.startswith((f"{name}. ", f"{name}: ", f"{name}) "))


def _whole(doc: Doc, i: int, j: int) -> bool:
    """True if tokens i to j-1 are no part of a longer number, quantity or hyphenated word."""
    forms, tokens, breaks = doc.forms, doc.tokens, doc.breaks
    if doc.glued(i) or (j < len(doc) and doc.glued(j)):
        return False
    first, last = tokens[i], tokens[j - 1]
    if i > 0 and breaks[i] == NONE and _of_a_name(doc, i, j):
        return False
    if first.kind == "n" and i > 0 and breaks[i] <= CLAUSE:
        before = forms[i - 1]
        if breaks[i] <= NONE and (before in words.COMPARATORS or before in {"-", "/", "x", "^"}):
            return False
        dash = any(c in "-–—" for c in doc.gap(i)) or before in {"to", "(-)"}
        dash = dash or (before == "and" and "between" in forms[max(0, i - 4) : i])
        if dash and any(t.kind == "n" for t in tokens[max(0, i - 3) : i]):
            return False
    if first.form in {"<", ">"} and i > 0 and breaks[i] == NONE and forms[i - 1] in {"<", ">", "="}:
        return False
    if j >= len(doc) or breaks[j] > NONE:
        return True
    after, gap = forms[j], doc.gap(j)
    if after in {"(+)", "(-)"}:
        return bool(gap)
    if last.kind == "n" and (after in words.UNITS or (after[0] in "%^°-x±" and tokens[j].kind == "s")):
        return False
    quantity = last.kind == "n" or any(t.kind == "n" for t in tokens[max(i, j - 2) : j])
    return not (quantity and not gap and (after in {"/", "-"} or after[0] == "^"))


def _of_a_name(doc: Doc, i: int, j: int) -> bool:
    """True for "cells" in "B cells", and for the "no" of "because no other drug works"."""
    if doc.forms[i] in words.LETTERED_HEADS:
        before = doc.surface(i - 1, i)
        return len(before) <= 2 and before.isalpha() and before.isupper()
    if doc.forms[i:j] != ["no"] or doc.ends(j) or doc.surface(i, j) != "no":
        return False
    return doc.tokens[j].kind == "w" and doc.forms[j] not in words.AFTER_LABEL


def _species(doc: Doc, k: int, text: str) -> bool:
    """True for a capital that begins the name of a species, "C. difficile", which option `text` is not."""
    if k + 1 >= len(doc) or doc.gap(k + 1) != ". " or doc.sentence_end(k) - k > 4:
        return False
    if any(form in words.PREDICATE for form in doc.forms[k + 2 : doc.sentence_end(k)]):
        return False
    word = doc.surface(k + 1, k + 2)
    known = words.AFTER_LABEL | words.FILLERS | words.PROSE | words.CHOSEN_RIGHT | words.LIGHT
    if not word.islower() or len(word) < 4 or word in known or not word.endswith(words.SPECIES_ENDS):
        return False
    return not any(form[:4] == word[:4] for form in document(text).forms)


def _closed(doc: Doc, k: int) -> bool:
    """True if nothing of the same clause follows token k, or a sign that ends a label."""
    if doc.ends(k + 1) or (doc.forms[k + 1].startswith(words.AFTER_LETTER) and not doc.gap(k + 1)):
        return True
    if doc.tokens[k + 1].kind == "n" and doc.gap(k + 2)[:1] in {".", ")"}:
        return True  # "1. A 2. B"
    return doc.forms[k + 1] in {"+", "&", "/", "→", "(-)", "(+)", "=", "<", ">"}


def _bracketed(doc: Doc, k: int) -> bool:
    before, after = doc.gap(k)[-1:], doc.gap(k + 1)[:1]
    return before in {"(", "[", "（", "{"} and after in {")", "]", "）", "}"}


def _emphasised(doc: Doc, k: int) -> bool:
    before, after = doc.gap(k)[-1:], doc.gap(k + 1)[:1]
    return (before == after and before in {"*", "_", "`", '"', "'"}) or (before, after) == ("“", "”")


def _line_label(doc: Doc, k: int) -> bool:
    """True for the label at the head of a line: "B)", "B. text", "B: text"."""
    return (
        doc.breaks[k] >= LINE
        and k + 1 <= len(doc)
        and doc.gap(k + 1).lstrip("*_")[:1] in {")", ".", ":", "）", "、"}
    )


def _single(doc: Doc, k: int) -> bool:
    return len(doc.forms[k]) == 1 and doc.surface(k, k + 1).isupper()


def _noun_before(doc: Doc, k: int) -> bool:
    """True if a word that takes letters stands before: vitamin B, hepatitis B, group A."""
    first = max(2, k - 8)
    while (
        k > first and doc.forms[k - 1] in {"or", "and"} and _single(doc, k - 2) and doc.breaks[k - 1] == NONE
    ):
        k -= 2  # "vitamin A or B"
    if k == 0 or doc.breaks[k] >= SENTENCE or any(c in ":([," for c in doc.gap(k)):
        return False
    return doc.breaks[k] < COMMA and doc.forms[k - 1].startswith(words.LETTERED_NOUNS)


@lru_cache(maxsize=4096)
def options_of(options: tuple[str, ...], labels: tuple[str, ...] | None = None) -> Options:
    """The options, prepared once."""
    return Options(options, labels)
