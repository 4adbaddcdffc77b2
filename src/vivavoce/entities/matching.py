"""How many entities of a reference an answer has: pairs, one to one, whose sets of names meet."""

from collections.abc import Sequence, Set

__all__ = ["greedy", "maximum"]


def greedy(gold: Sequence[Set[str]], predicted: Sequence[Set[str]]) -> int:
    """Pairs found by giving each set of `gold`, in order, the first free set of `predicted` that it meets.

    It depends on the order of both, and may find fewer pairs than there are.
    """
    free = dict(enumerate(predicted))
    for names in gold:
        met = next((k for k, others in free.items() if not names.isdisjoint(others)), None)
        if met is not None:
            del free[met]
    return len(predicted) - len(free)


def maximum(gold: Sequence[Set[str]], predicted: Sequence[Set[str]]) -> int:
    """The most pairs there can be, whatever the order (Hopcroft and Karp 1973, by SciPy)."""
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    places: dict[str, list[int]] = {}
    for k, names in enumerate(predicted):
        for name in names:
            places.setdefault(name, []).append(k)
    meets = [sorted({k for name in names for k in places.get(name, ())}) for names in gold]
    ends = np.cumsum([0, *map(len, meets)], dtype=np.int32)
    if not ends[-1]:
        return 0
    columns = np.fromiter((k for row in meets for k in row), np.int32, int(ends[-1]))
    graph = csr_array((np.ones(len(columns), np.int8), columns, ends), shape=(len(gold), len(predicted)))
    return int((maximum_bipartite_matching(graph, perm_type="column") >= 0).sum())
