"""Making benchmarks: near duplicates among many questions, and pages of PDF by position.

Near duplicates: questions of 20 words, of which 1 in 50 is a copy with one other word. MinHash over all of
them, beside exact comparison of all pairs: that is timed on some questions against all others, in turns with
MinHash, and scaled to all pairs. Recall is the share of planted pairs of similarity 0.8 or more that are
named. Pages: an examination paper of two columns, read by position, beside pdfplumber's and pypdf's own text.
Usage: python bench/build.py [questions] [pages]
"""

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pdfplumber
from pypdf import PdfReader
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen import canvas

from vivavoce.core.item_content import content_text
from vivavoce.retrieval.columns import columns_document
from vivavoce.run.building.filters.minhash import GRAM, near_duplicates

TURNS, ROWS = 3, 10
"""Turns of each side, and questions that exact comparison holds against all others in a turn."""


def questions(n: int) -> tuple[list[str], list[tuple[int, int]]]:
    """Questions of made-up words, and the places of each planted copy and its original."""
    rng = random.Random(1)
    syllables = ["ca", "do", "mi", "pro", "lex", "ta", "ro", "ne", "phy", "gen", "ol", "ise", "tro", "mab"]
    words = ["".join(rng.choices(syllables, k=rng.randint(2, 4))) for _ in range(5_000)]
    n_copies = n // 50
    texts = [" ".join(rng.choices(words, k=20)) for _ in range(n - n_copies)]
    planted = []
    for k in range(n_copies):
        copy = texts[k].split()
        copy[rng.randrange(len(copy))] = rng.choice(words)
        planted.append((k, len(texts)))
        texts.append(" ".join(copy))
    return texts, planted


def grams(text: str) -> frozenset[str]:
    """The n-grams of a text, as exact comparison has them."""
    padded = content_text(text).ljust(GRAM)
    return frozenset(padded[k : k + GRAM] for k in range(len(padded) - GRAM + 1))


def exact(sets: Sequence[frozenset[str]], row: int) -> int:
    """How many others are similar to this one: every one is compared."""
    one = sets[row]
    return sum(len(one & two) / len(one | two) >= 0.8 for two in sets)


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of some work: the machine is shared."""
    start = time.process_time()
    work()
    return time.process_time() - start


def spread(values: Sequence[float], form: str = ".0f") -> str:
    """The median, with the least and the greatest."""
    return f"{statistics.median(values):{form}} ({min(values):{form}} to {max(values):{form}})"


def duplicates(n: int) -> None:
    """Print the ratio of all pairs to MinHash, and the recall."""
    texts, planted = questions(n)
    sets = [grams(text) for text in texts]
    rng, ratios, own = random.Random(2), [], []
    for _ in range(TURNS):
        pairs = near_duplicates(texts)  # warms nothing: the texts are hashed each time
        own.append(seconds(lambda: near_duplicates(texts)))
        rows = rng.sample(range(n), ROWS)
        naive = seconds(lambda rows=rows: [exact(sets, row) for row in rows]) / ROWS * n / 2
        ratios.append(naive / own[-1])
    named = {(pair.first, pair.second) for pair in pairs}
    similar = [(a, b) for a, b in planted if len(sets[a] & sets[b]) / len(sets[a] | sets[b]) >= 0.8]
    recall = sum(pair in named for pair in similar) / len(similar)
    print(f"{n:,} questions, {len(similar):,} planted pairs of similarity 0.8 or more")
    print(f"  MinHash: {spread(own, '.1f')} s CPU; all pairs would take {spread(ratios)} times as long")
    print(f"  recall {recall:.4f}; pairs named beside the planted ones: {len(named - set(planted)):,}")


def paper(path: Path, n_pages: int) -> None:
    """A paper of two columns."""
    rng = random.Random(3)
    page = canvas.Canvas(str(path), pagesize=A4, invariant=1)
    for number in range(n_pages):
        page.setFont("Helvetica", 9)
        page.drawString(280, 30, f"Page {number + 1}")
        for left in (50, 320):
            for line in range(55):
                words = " ".join("x" * rng.randint(2, 9) for _ in range(7))
                page.drawString(left, 780 - 13 * line, words)
        page.showPage()
    page.save()


def pages(n: int) -> None:
    """Print pages a second by position, and beside the text of pdfplumber and of pypdf."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "paper.pdf"
        paper(path, n)

        def plumber() -> None:
            with pdfplumber.open(path) as pdf:
                for page in pdf.pages:
                    page.extract_text()

        def pypdf() -> None:
            for page in PdfReader(path).pages:
                page.extract_text()

        times: dict[str, list[float]] = {"position": [], "pdfplumber": [], "pypdf": []}
        for _ in range(TURNS):
            times["position"].append(seconds(lambda: columns_document(path, "paper.pdf")))
            times["pdfplumber"].append(seconds(plumber))
            times["pypdf"].append(seconds(pypdf))
    print(
        f"{n} pages of two columns: {spread([n / t for t in times['position']], '.1f')} pages a second of CPU"
    )
    for name in ("pdfplumber", "pypdf"):
        ratio = [ours / theirs for ours, theirs in zip(times["position"], times[name], strict=True)]
        print(f"  {spread(ratio, '.2f')} times the time of {name}'s text, which mixes the columns")


if __name__ == "__main__":
    sizes = [int(word) for word in sys.argv[1:]]
    duplicates(sizes[0] if sizes else 100_000)
    pages(sizes[1] if len(sizes) > 1 else 40)
