"""The form in which names are compared: base forms by simplemma's table, or by stanza's model."""

from collections.abc import Callable
from functools import cache, lru_cache
from importlib import import_module
from typing import Any, Literal

from vivavoce.core.errors import MetricError
from vivavoce.core.extras import import_extra

Lemma = Literal["none", "simplemma", "stanza"]


def fold(name: str) -> str:
    """A name without case, underscores and runs of blanks."""
    return " ".join(name.replace("_", " ").casefold().split())


@cache
def form_of(lemma: Lemma, *, folded: bool) -> Callable[[str], str]:
    """What brings names to the form in which they are compared: folded if so, then each word's base form.

    The same settings give the same function, so that what it made can be kept.
    """
    base = _BASES[lemma]
    return (lambda name: base(fold(name))) if folded else base


def _none(name: str) -> str:
    return name


@cache
def _lemmatizer() -> Callable[..., str]:
    lemmatize: Callable[..., str] = import_extra("simplemma", extra="text", user="lemma=simplemma").lemmatize
    return lemmatize


@lru_cache(maxsize=1 << 16)
def _simplemma(name: str) -> str:
    lemmatize = _lemmatizer()
    return " ".join(lemmatize(word, lang="en") for word in name.split())


@lru_cache(maxsize=1 << 16)
def _stanza(name: str) -> str:
    document = _pipeline()(name)
    # stanza has no lemma for some symbols
    return " ".join(word.lemma or word.text for sentence in document.sentences for word in sentence.words)


@cache
def _pipeline() -> Any:
    try:
        return import_module("stanza").Pipeline(
            lang="en",
            package="mimic",
            processors="tokenize,pos,lemma",
            download_method=None,  # nothing is fetched behind the user's back
            verbose=False,
        )
    except Exception as error:  # stanza raises errors of its own, by what is missing
        raise MetricError(
            f"lemma=stanza cannot load the package 'mimic' ({error}): install stanza, fetch the package once "
            "with stanza.download('en', package='mimic', processors='tokenize,pos,lemma'), or take "
            "lemma=simplemma."
        ) from error


_BASES: dict[Lemma, Callable[[str], str]] = {"none": _none, "simplemma": _simplemma, "stanza": _stanza}
