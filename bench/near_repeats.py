"""Near repeats among questions: false joins on exams, planted rewordings that are found, and what it costs.

    python bench/near_repeats.py [SHARED]

`SHARED` is the folder of the shared data, by default that of VIVA_SHARED. Light rewordings keep the question;
changes make another one of it, and none of these may be found.
"""

import os
import re
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from vivavoce.benchmarks import load
from vivavoce.core.records import Item
from vivavoce.language.near_repeats import Wording, near_items, near_repeats

EXAMS = (
    "sample",
    "hivmedqa(data={}/hivmedqa, subset=all)",
    "casimedicos(data={}/casimedicos)",
    "cliniqlink(data={}/cliniqlink)",
    "pubmedqa(data={}/suite/pubmedqa/data)",
    "dahl(data={}/dahl)",
)
_WORD = re.compile(r"[^\W\d_]{4,}")
Edit = Callable[[str], str]


def _replaced(text: str, n: int, word: str) -> str:
    """The text with its n longest words replaced by this one."""
    for old in sorted(set(_WORD.findall(text)), key=lambda w: (-len(w), w))[:n]:
        text = re.sub(rf"\b{re.escape(old)}\b", word, text)
        word += "x"
    return text


REWORDINGS: dict[str, Edit] = {
    "polite": lambda text: f"Please answer: {text}",
    "without articles": lambda text: text.replace(" the ", " ").replace(" an ", " "),
    "another spelling": lambda text: re.sub(r"(?<=\w)(?:em|aem)(?=i[ac]\b)", "aem", text),
    "asked otherwise": lambda text: re.sub(r"^(?:What (?:is|are)|Describe)\b", "Explain", text),
}
CHANGES: dict[str, Edit] = {
    "negated": lambda text: re.sub(
        r"\b(is|are|was|were|can|does|do|should|has|have)\b", r"\1 not", text, count=1
    ),
    "another number": lambda text: re.sub(r"\d+", lambda m: str(int(m[0][:9]) + 1), text, count=1),
    "ten times the dose": lambda text: re.sub(r"\b(\d+)\b(?= ?m?g\b)", r"0.\1", text, count=1),
    "another unit": lambda text: re.sub(r"(?<=\d)( ?)mg\b", r"\1g", text, count=1),
    "one word more": lambda text: text.replace(" ", " usually ", 1),
    "plural": lambda text: re.sub(r"\b(patient|drug|treatment|effect|role|factor)\b", r"\1s", text),
    "one word for another": lambda text: _replaced(text, 1, "substitute"),
    "three words for others": lambda text: _replaced(text, 3, "substitute"),
}


def questions(folder: str) -> Iterator[tuple[str, Sequence[Item]]]:
    """The items of the exams, by name."""
    for spec in EXAMS:
        yield spec.partition("(")[0], load(spec.format(folder)).items


def pairs_of(items: Sequence[Item]) -> list[tuple[int, int]]:
    """Near repeats of other items: variants of one item are none."""
    return [(a, b) for a, b in near_items(items) or () if items[a].item != items[b].item]


def share_joined(items: Sequence[Item], edit: Edit) -> tuple[int, int]:
    """How many of the items that an edit changes are found beside their original, of how many."""
    edited = [(item, edit(item.question)) for item in items]
    changed = [(item, text) for item, text in edited if text != item.question]
    wordings = []
    for item, text in changed:
        fields = (item.context or "", item.options)
        wordings += [Wording(item.question, *fields), Wording(text, *fields)]
    pairs = set(near_repeats(wordings))
    return sum((2 * n, 2 * n + 1) in pairs for n in range(len(changed))), len(changed)


def vignettes(n: int) -> list[Wording]:
    """Distinct questions of 120 words, from words as frequent as words are."""
    rng = np.random.default_rng(41)
    words = np.array(
        [
            f"w{'abcdefghij'[k % 10]}{'klmnopqrst'[k // 10 % 10]}{k:x}".translate(_LETTERS)
            for k in range(30_000)
        ]
    )
    chance = 1 / np.arange(1, len(words) + 1)
    draws = rng.choice(len(words), size=(n, 120), p=chance / chance.sum())
    return [Wording(" ".join(words[row])) for row in draws]


_LETTERS = str.maketrans("0123456789", "uvwxyzabcd")


def main() -> None:
    """Print the tables."""
    folder = f"{sys.argv[1] if len(sys.argv) > 1 else os.environ['VIVA_SHARED']}/data"
    print("| exam | questions | near repeats | CPU s |", "|---|--:|--:|--:|", sep="\n")
    exams = dict(questions(folder)) if Path(folder).is_dir() else {}
    for name, items in exams.items():
        begun = time.process_time()
        pairs = pairs_of(items)
        print(f"| {name} | {len(items):,} | {len(pairs)} | {time.process_time() - begun:.2f} |")
        for a, b in pairs:
            print(f"    {items[a].question[:110]!r}\n    {items[b].question[:110]!r}", file=sys.stderr)
    print("", "| edit | " + " | ".join(exams) + " |", "|---|" + "--:|" * len(exams), sep="\n")
    for name, edit in (REWORDINGS | CHANGES).items():
        shares = [share_joined(items[:600], edit) for items in exams.values()]
        print(f"| {name} | " + " | ".join(f"{n} of {of}" for n, of in shares) + " |")
    print("", "| vignettes of 120 words | CPU s | MiB |", "|--:|--:|--:|", sep="\n")
    for n in (2_500, 5_000, 10_000):
        wordings = vignettes(n)
        begun = time.process_time()
        near_repeats(wordings)
        seconds = time.process_time() - begun
        tracemalloc.start()
        near_repeats(wordings[: n // 5])
        peak = tracemalloc.get_traced_memory()[1] * 5 / 2**20
        tracemalloc.stop()
        print(f"| {n:,} | {seconds:.2f} | {peak:.0f} |")


if __name__ == "__main__":
    main()
