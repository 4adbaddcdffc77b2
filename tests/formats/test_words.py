"""Word lists hold words in the form they are looked up by, else they can never match."""

import unicodedata

from tests.cases import each_case

from vivavoce.reading import lexicon, truth_words

LISTS = {
    name: value
    for words in (lexicon, truth_words)
    for name, value in vars(words).items()
    if isinstance(value, frozenset | set | tuple | dict) and not name.startswith("__")
}


def folded(word: str) -> str:
    plain = unicodedata.normalize("NFD", word.casefold())
    return unicodedata.normalize("NFC", "".join(c for c in plain if not "\u0300" <= c <= "\u036f"))


@each_case("name", LISTS)
def test_words_stand_without_case_accents_and_commas(name: str) -> None:
    found = [
        w for w in LISTS[name] if isinstance(w, str) and (w != folded(w) or (len(w) > 1 and w[-1] in ",;"))
    ]
    assert [] == found
