"""Seeded draws, pinned: NumPy promises the words of PCG64, and nothing else is used of its generators."""

import ast
import hashlib
from pathlib import Path

import numpy as np
import pytest

from vivavoce import stats
from vivavoce.stats.draws import random_indices, random_orders, random_subset_sums, random_words, seeded_rng

PACKAGE = Path(stats.__file__).parents[1]
MULTIPLIER, MASK = 0x2360ED051FC65DA44385DF649FCCF645, 2**128 - 1


def test_words_are_those_of_pcg64():
    """The generator by its definition (O'Neill 2014: XSL-RR, 128 bits), from the state that seed 7 gives."""
    rng = seeded_rng(7)
    state, step = (rng.bit_generator.state["state"][name] for name in ("state", "inc"))
    expected = []
    for _ in range(5):
        state = (state * MULTIPLIER + step) & MASK
        folded, turn = (state >> 64) ^ (state & (2**64 - 1)), state >> 122
        expected.append((folded >> turn | folded << (64 - turn)) & (2**64 - 1))
    assert expected == random_words(rng, 5).tolist()


def test_draws_are_pinned():
    assert [11749869230777074271, 4976686463289251617] == random_words(seeded_rng(0), 2).tolist()
    assert [8274943614700998342] == random_words(seeded_rng("a|b"), 1).tolist()
    assert [1, 7, 4, 3, 1, 4, 7, 7] == random_indices(seeded_rng(0), 10, 8).tolist()
    assert [[3, 2, 1, 0, 4], [3, 1, 2, 0, 4]] == random_orders(seeded_rng(0), 5, 2).tolist()
    powers = 2.0 ** np.arange(10)
    assert [351.0, 898.0, 450.0, 729.0] == random_subset_sums(powers[:, None], draws=4, rng=seeded_rng(0))[
        :, 0
    ].tolist()


def test_a_name_seeds_by_its_hash():
    seed = int(hashlib.sha256(b"exam|A").hexdigest()[:16], 16)
    assert random_words(seeded_rng(seed), 3).tolist() == random_words(seeded_rng("exam|A"), 3).tolist()


def test_a_callers_generator_gives_the_same_draws():
    assert random_words(np.random.default_rng(3), 4).tolist() == random_words(seeded_rng(3), 4).tolist()


def test_draws_are_even():
    """Each number as often as it should, and each order of three; chi-square at 1 in 10,000."""
    counts = np.bincount(random_indices(seeded_rng(1), 7, 70_000), minlength=7)
    assert 27.9 > float(((counts - 10_000) ** 2).sum()) / 10_000  # 6 degrees of freedom
    orders = random_orders(seeded_rng(2), 3, 60_000) @ [9, 3, 1]
    _, counts = np.unique(orders, return_counts=True)
    assert (6, True) == (len(counts), float(((counts - 10_000) ** 2).sum()) / 10_000 < 25.7)


def test_nothing_to_draw():
    assert ((0,), (0, 4), (3, 0)) == (
        random_indices(seeded_rng(0), 5, 0).shape,
        random_orders(seeded_rng(0), 4, 0).shape,
        random_orders(seeded_rng(0), 0, 3).shape,
    )


def test_words_of_32_bits_are_refused():
    with pytest.raises(ValueError, match="rng draws from MT19937, but words of 64 bits"):
        random_words(np.random.Generator(np.random.MT19937(0)), 3)


def test_no_module_draws_by_a_method_of_a_generator():
    """`Generator.integers`, `permuted`, `bytes` … may give other numbers under another NumPy."""
    methods = set(dir(np.random.Generator)) - {"bit_generator", "spawn"}
    draws = []
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "import numpy" not in text or "torch" in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Attribute):
                continue
            owner = ast.unparse(node.value)
            if node.attr == "default_rng" or (owner in {"rng", "np.random"} and node.attr in methods):
                draws.append(f"{path.relative_to(PACKAGE)}:{node.lineno} {owner}.{node.attr}")
    assert [] == sorted(draws)
