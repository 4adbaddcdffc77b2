"""List answers as the published harness reads them: options by commas, and one stray loses the question.

Kept as coded (ClinIQLink 2025, evaluate.py), faults included: newlines, bullets and "and" do not separate,
letters end at Z, decimal points vanish, and gold that begins with a letter and a blank loses that letter.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

__all__ = ["Listed", "label_f1", "listed", "normalise"]

_BLANKED = str.maketrans(dict.fromkeys("–—_/\\[](){};-", " "))
_KEPT = "%,:"


def normalise(text: str) -> str:
    """Letters, numbers, blanks and `% , :`, without case and accents; 2.5 becomes 25, < and > vanish."""
    found = unicodedata.normalize("NFKD", text)
    found = "".join(c for c in found if not unicodedata.combining(c)).casefold().translate(_BLANKED)
    kept = (c for c in found if c.isspace() or c in _KEPT or unicodedata.category(c)[0] in "LNM")
    return " ".join("".join(kept).split())


class Listed(NamedTuple):
    """A list answer beside its key. `form`: how options were named, by text or letter; all text if right."""

    gold: tuple[str, ...]
    picked: frozenset[str]
    malformed: bool
    form: str
    precision: float
    recall: float
    f1: float
    tp: int
    fp: int
    fn: int


def listed(options: Sequence[str], gold: Sequence[str], answer: str) -> Listed:
    """The picks of an answer and their overlap with the gold; all 0 if an entry is no option.

    The counts `tp`, `fp` and `fn` are of what is left as picked, which in a malformed answer are the strays.
    """
    shown = [normalise(re.sub(r"^[A-H][.:] ", "", option)) for option in options]
    letters = {chr(65 + k): text for k, text in enumerate(shown)}
    keyed = tuple(_scrubbed(normalise(text), letters) for text in gold)
    found = [_entry(piece, letters, shown) for piece in _pieces(answer, letters, shown)]
    strays = frozenset(text for text, form in found if form == "stray")
    blank = not answer.strip()
    malformed = bool(strays) and not blank
    picked = strays if malformed else frozenset() if blank else frozenset(text for text, _ in found)
    forms = {form for _, form in found if form != "stray"}
    form = (
        "full"
        if picked == set(keyed)
        else "none"
        if not forms
        else forms.pop()
        if len(forms) == 1
        else "mixed"
    )
    tp = sum((Counter(picked) & Counter(keyed)).values())
    fp, fn = len(picked) - tp, len(keyed) - tp
    precision, recall = (
        (0.0, 0.0) if malformed else (tp / len(picked) if picked else 0.0, tp / len(keyed) if keyed else 0.0)
    )
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return Listed(keyed, picked, malformed, form, precision, recall, f1, tp, fp, fn)


def _scrubbed(gold: str, letters: Mapping[str, str]) -> str:
    """The gold without a letter before it, which also makes "cells" of "B cells"."""
    return gold[2:] if re.match(r"\w \S", gold) and gold[0].upper() in letters else gold


def _pieces(answer: str, letters: Mapping[str, str], shown: Sequence[str]) -> list[str]:
    answer = answer.strip().split("\n\n")[0]
    pieces = [piece.strip() for piece in answer.split(",")]
    if {normalise(piece) for piece in pieces} <= set(shown):
        return pieces
    answer = " ".join(answer.replace("(", "").replace(")", "").split())
    named = "[" + re.escape("".join(letters)) + "]" if letters else r"(?!)"
    labelled = re.finditer(
        rf"({named})[:.]\s*(.+?)(?=(?:,?\s*{named}[:.])|$)", answer, re.IGNORECASE | re.DOTALL
    )
    found = [match.group(0) for match in labelled] or [answer]
    pieces = [piece.strip() for one in found for piece in one.split(",")]
    return _joined(pieces, shown)


def _joined(pieces: Sequence[str], shown: Sequence[str]) -> list[str]:
    """Pieces of an option that has commas itself, put together again; the longest run that is one."""
    joined, at = [], 0
    longest = max((text.count(",") + 1 for text in shown), default=1)
    while at < len(pieces):
        ends = range(min(len(pieces), at + longest), at + 1, -1)
        end = next((j for j in ends if normalise(", ".join(pieces[at:j])) in shown), at + 1)
        joined.append(", ".join(pieces[at:end]))
        at = end
    return joined


def _entry(piece: str, letters: Mapping[str, str], shown: Sequence[str]) -> tuple[str, str]:
    """What an entry picks, and its form; the text decides where a letter stands before it."""
    text = normalise(piece)
    if text in shown:
        return text, "full"
    if text.upper() in letters:
        return letters[text.upper()], "letter"
    label = re.match(r"(.)[:.]\s*(.+)", piece, re.DOTALL)
    if label and label[1].upper() in letters and (named := normalise(label[2])) in shown:
        return named, "mixed"
    return text, "stray"


def label_f1(answers: Iterable[Listed]) -> float:
    """The list column of the published leaderboard: mean F1 over labels, not over questions, 0 to 1.

    A label is an option's text that any key or answer of the set names; the same text in two questions is
    one label. 0 without any.
    """
    counts: dict[str, Counter[str]] = {}
    for one in answers:
        keyed = set(one.gold)
        for text in keyed | one.picked:
            what = "tp" if text in keyed and text in one.picked else "fn" if text in keyed else "fp"
            counts.setdefault(text, Counter())[what] += 1
    each = [2 * c["tp"] / (2 * c["tp"] + c["fp"] + c["fn"]) for c in counts.values()]
    return sum(each) / len(each) if each else 0.0
