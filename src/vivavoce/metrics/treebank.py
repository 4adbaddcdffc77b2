"""Words as the Penn Treebank splits them, equal to NLTK's `NLTKWordTokenizer` run on each sentence.

A sentence ends at white space after a full stop, a question or an exclamation mark, so no model of
abbreviations is needed: "Dr. Who" is two sentences. This is how ClinIQLink 2025 makes words for BLEU and
METEOR (there with NLTK's trained sentence splitter). From 3.10 on NLTK takes combining marks, raised digits,
fractions and four control characters otherwise where one stands beside an apostrophe.
"""

import re
from itertools import chain

from vivavoce.metrics.memo import Memo

_SENTENCE_END = re.compile(r"(?<=[.?!])\s+")
# The last full stop is a word of its own; closing brackets and quotes may follow it, opening quotes may not.
_LAST_STOP = re.compile(r"""[^.](\.)(?:[])}>"'»”’]|\ (?!"|''))*+\s*$""", re.VERBOSE)
_LAST = tuple(".])}>\"'»”’")
_CLOSER = re.compile(r"""''|[])}>"'»”’]""")
_SPACED_QUOTE = re.compile(r"([«“‘„]|``|`)")
_EDGE = re.compile(r"""(?:^|\s)["']|'(?:\s|$)""")
_QUOTE = re.compile("[\"'`«“‘„]")
_CLOSING = re.compile(r"([^'])' ")
_FIRST = re.compile('^"')
_OPENING = re.compile(r"""(?<=[ ([{<])(?:"|'')""")
_INITIAL = re.compile(r"(?<!\w)'(?!(?:[tsdmn]|re|ve|ll)\b)(?=\w)", re.IGNORECASE)
_PAUSE = re.compile(r"([:,])(\D|$)")
_MARK = re.compile(r"(\.{2,}|[;@#$%&?!\u2012-\u2015])")
_FENCE = re.compile(r"([][(){}<>*»”’]|--|'')")
_CLITIC = re.compile(r"([^' ])('[sSmMdD]?) ")
_LONG_CLITIC = re.compile(r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) ")
_FUSED = re.compile(
    r"\b(can)(not)\b|\b(d)('ye)\b|\b(gim)(me)\b|\b(gon)(na)\b|\b(got)(ta)\b|\b(lem)(me)\b|\b(more)('n)\b"
    r"|\b(wan)(na)(?=\s)",
    re.IGNORECASE,
)
_OLD = (re.compile(r" ('t)(is)\b", re.IGNORECASE), re.compile(r" ('t)(was)\b", re.IGNORECASE))


def treebank_words(text: str) -> list[str]:
    """The words and marks of `text` in order, each as it is written, but for quotes: " becomes `` or ''."""
    words: list[str] = []
    for sentence in _SENTENCE_END.split(text):
        stop = None
        if sentence.rstrip().endswith(_LAST):
            stop = _LAST_STOP.search(sentence)
        if stop is None:
            _split(sentence, words)
        else:
            _split(sentence[: stop.start(1)] + " ", words)
            words.append(".")
            words += ("''" if mark == '"' else mark for mark in _CLOSER.findall(sentence, stop.end(1)))
    return words


def lower_words(text: str) -> list[str]:
    """`treebank_words` of the text in lower case: the recipe that BLEU and METEOR share."""
    return treebank_words(text.lower())


def _split(text: str, words: list[str]) -> None:
    """Add the words of `text` to `words`, run by run."""
    if ('"' in text or "'" in text) and _EDGE.search(text):
        # A quote at the edge of a run is read by what stands beside it, so the neighbours come along.
        for run in re.finditer(r"\S+", text):
            words += _RUNS[text[max(0, run.start() - 1) : run.end() + 1]]
    else:
        words.extend(chain.from_iterable(map(_RUNS.__getitem__, text.split())))


def _words(run: str) -> tuple[str, ...]:
    """The words of one run without white space inside; the white space beside it may be kept."""
    if run.isalnum() and len(run) not in (5, 6):  # no word of these lengths is fused
        return (run,)
    quoted = _QUOTE.search(run)
    if quoted:
        run = _SPACED_QUOTE.sub(r" \1 ", run)
        run = _OPENING.sub(" `` ", _FIRST.sub(" `` ", run))
        run = _INITIAL.sub("' ", run)
    run = _MARK.sub(r" \1 ", _PAUSE.sub(r" \1 \2", run))
    if quoted:
        run = _CLOSING.sub(r"\1 ' ", run)
    run = " " + _FENCE.sub(r" \1 ", run) + " "
    if quoted:
        run = " ".join(run.replace('"', " '' ").split())
        run = _LONG_CLITIC.sub(r"\1 \2 ", _CLITIC.sub(r"\1 \2 ", f" {run} "))
    run = _FUSED.sub(_parted, run)
    for old in _OLD if quoted else ():  # only after a fused word: elsewhere its apostrophe is alone already
        run = old.sub(r" \1 \2 ", run)
    return tuple(run.split())


def _parted(match: re.Match[str]) -> str:
    return f" {' '.join(filter(None, match.groups()))} "


_RUNS = Memo(_words)
