"""N-grams in common of many pairs at once, beside counting each pair's by itself."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lengths import length

from vivavoce.metrics.chrf import runs_in_common

SEQUENCES = st.lists(st.integers(0, 3) | st.sampled_from([0x10FFFF, 2**31 - 2]), max_size=12)
ORDERS = 4


def counted(sequence: list[int], n: int) -> Counter[tuple[int, ...]]:
    return Counter(tuple(sequence[i : i + n]) for i in range(len(sequence) - n + 1))


@settings(max_examples=length(25, 2000), deadline=None)
@given(
    references=st.lists(SEQUENCES, min_size=1, max_size=4),
    pairs=st.lists(st.tuples(SEQUENCES, st.integers(0, 3)), min_size=1, max_size=6),
)
def test_each_pair_has_what_counting_it_alone_gives(references, pairs):
    answers, of = [answer for answer, _ in pairs], [k % len(references) for _, k in pairs]
    got = runs_in_common(
        [np.array(r, dtype=np.int64) for r in references],
        [np.array(a, dtype=np.int64) for a in answers],
        np.array(of),
        ORDERS,
    )
    wanted = [
        [(counted(references[k], n) & counted(answer, n)).total() for n in range(1, ORDERS + 1)]
        for answer, k in zip(answers, of, strict=True)
    ]
    assert wanted == got.tolist()


def test_a_run_does_not_go_from_one_sequence_into_the_next():
    """Reference 1 2; answers 1 and 2 stand side by side in memory and share no pair with it."""
    one_two, one, two = (np.array(s, dtype=np.int64) for s in ([1, 2], [1], [2]))
    assert [[1, 0], [1, 0]] == runs_in_common([one_two], [one, two], np.array([0, 0]), 2).tolist()
    assert [[1, 0]] == runs_in_common([one, two], [one_two], np.array([1]), 2).tolist()
