"""Whole papers of random questions, laid out in columns: every question comes back as it was written."""

import random
import textwrap

import pytest
from tests.building.papers import write_paper
from tests.lengths import length

from vivavoce.systems.careqa.step.exam_paper import parse_questions, read_pages

WORDS = [
    *("paciente", "fiebre", "dolor", "mujer", "varón", "años", "presenta", "desde", "hace", "días", "lesión"),
    *("cuadro", "clínico", "2,5", "mg", "120/80", "mmHg", "pH", "7.35", "(IV)", "T4", "CD4+", "15", "%"),
    *("respecto", "señale", "tratamiento", "diagnóstico", "más", "probable", "3.", "12.", "a)", "b"),
]
ROWS = 52
"""Lines of a column."""


def text(rng: random.Random, n: int) -> str:
    words = rng.choices([w for w in WORDS if w not in ("3.", "12.", "a)")], k=n)
    middle = rng.choice(WORDS)  # a label in the middle of a line begins nothing
    return " ".join(["Sobre", *words[: n // 2], middle, *words[n // 2 :]])


def wrapped(label: str, body: str, width: int) -> list[str]:
    """A text as lines, none of which but the first looks like the beginning of a question or an option."""
    lines = textwrap.wrap(f"{label} {body}", width, break_long_words=False, break_on_hyphens=False)
    for k in range(1, len(lines)):
        if lines[k].split()[0] in ("3.", "12.", "a)", "b"):
            head, *rest = lines[k].split()
            lines[k - 1], lines[k] = f"{lines[k - 1]} {head}", " ".join(rest) or "y"
    return lines


@pytest.mark.parametrize("seed", length((0, 2, 5), range(8)))
def test_every_question_of_a_paper_comes_back_as_it_was_written(seed, tmp_path):
    rng = random.Random(seed)
    n_columns = rng.choice([1, 2, 2, 3])
    width = {1: 100, 2: 44, 3: 26}[n_columns]
    n_options, first = rng.choice([4, 5]), rng.choice([1, 1, 101])
    letters = rng.random() < 0.5
    written, lines = [], []
    for k in range(60):
        stem = text(rng, rng.randint(4, 40))
        options = [f"{text(rng, rng.randint(1, 9))} opción{j}" for j in range(n_options)]
        labels = [f"{chr(97 + j)})" if letters else f"{j + 1}." for j in range(n_options)]
        block = [f"{first + k}. {stem}"], *([f"{m} {o}"] for m, o in zip(labels, options, strict=True))
        for (entry,) in block:
            label, _, body = entry.partition(" ")
            lines += wrapped(label, body, width)
        written.append((first + k, stem, options))
    columns = [lines[k : k + ROWS] for k in range(0, len(lines), ROWS)]
    pages = [columns[k : k + n_columns] for k in range(0, len(columns), n_columns)]
    lefts = {1: (50,), 2: (50, 320), 3: (40, 220, 400)}[n_columns]
    paper = write_paper(tmp_path / "p.pdf", pages, lefts=lefts)
    texts, _ = read_pages(paper)
    questions = parse_questions(texts, n_options, first)
    squeezed = [(q.number, q.stem, list(q.options)) for q in questions]
    assert [n for n, *_ in written] == [n for n, *_ in squeezed]
    for (number, stem, options), (_, got_stem, got_options) in zip(written, squeezed, strict=True):
        assert stem.split()[:3] == got_stem.split()[:3], number
        assert len(options) == len(got_options), number
        assert [o.split()[-1] for o in options] == [o.split()[-1] for o in got_options], number
