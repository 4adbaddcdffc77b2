"""F1 of relations: heads, types and tails found in a text, pooled over all questions.

A relation of the key is found where an answer names its head and its tail, each by any of the names that the
text has for it (case and white space apart), with its type, as in the evaluation of BioRED (Luo et al. 2022).
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from vivavoce.core.records import Criterion, Item, Row, Value
from vivavoce.core.registry import metric
from vivavoce.core.text import one_line
from vivavoce.formats.relation import relations_of
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.reading.relations import Relation, same_name

LONGEST_NOTE = 400
"""Characters of strays that a note shows."""
_Names = frozenset[str]


class _Target(NamedTuple):
    """A relation of a key, the names of its ends as they are compared; `novel` null if it is not scored."""

    head: _Names
    tail: _Names
    type: str
    novel: bool | None


class _Key(NamedTuple):
    """The distinct relations of an item, which of them each name stands in, and a number for each entity."""

    targets: tuple[_Target, ...]
    by_name: Mapping[str, Sequence[int]]
    entities: Mapping[str, int]


@metric("relation_f1", version=2)
class RelationF1(Metric):
    """Micro F1 of relations, 0 to 1.

    With `direction=true` head and tail must stand as in the key; false takes them either way round, as for
    BioRED, whose relations have no direction. With `novel=true` news and background must be told apart too;
    questions whose key does not tell get no row. Silence misses every relation of the key.
    """

    direction: bool
    novel: bool = False

    criteria = (Criterion(criterion="micro_f1", pool="micro_f1"),)
    formats = ("relation",)
    needs = ("answer",)

    def applies_to(self, item: Item) -> bool:
        """False where `novel=true` and the key does not say of every relation whether it is."""
        if not super().applies_to(item):
            return False
        return not self.novel or all(relation.novel is not None for relation in relations_of(item))

    def silence_parts(self, item: Item) -> Mapping[str, Mapping[str, float]]:
        """A miss of every relation."""
        return {"micro_f1": {"tp": 0.0, "fp": 0.0, "fn": float(len(self._key(item).targets))}}

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """F1 of each answer; `parts` hold `tp`, `fp`, `fn`. Strays and entities not in the key are `fp`."""
        items = {id(row.item): row.item for row in rows}
        keys = {number: self._key(item) for number, item in items.items()}
        return [{"micro_f1": self._value(row, keys[id(row.item)])} for row in rows]

    def _value(self, row: Row, key: _Key) -> Value:
        right, wrong = set[int](), set[tuple[object, ...]]()
        for relation in row.reading.parsed:
            head, tail = same_name(relation.head), same_name(relation.tail)
            matches = {
                k for k in key.by_name.get(head, ()) if self._fits(relation, head, tail, key.targets[k])
            }
            right |= matches
            if not matches:
                # Two names of one entity make one mistake, not two.
                ends: tuple[object, ...] = (key.entities.get(head, head), key.entities.get(tail, tail))
                ends = ends if self.direction else tuple(sorted(ends, key=str))
                wrong.add((*ends, relation.type, relation.novel if self.novel else None))
        tp, fp, fn = len(right), len(wrong) + len(row.reading.stray), len(key.targets) - len(right)
        # A stray may be a line of a million characters, and a note is stored beside every score.
        strays = one_line("; ".join(row.reading.stray), LONGEST_NOTE)
        note = f"no relation: {strays}" if strays else None
        return Value(2 * tp / (2 * tp + fp + fn), {"tp": tp, "fp": fp, "fn": fn}, note)

    def _fits(self, relation: Relation, head: str, tail: str, target: _Target) -> bool:
        """Whether an answer's relation, its ends as names are compared, is that of the key."""
        if relation.type != target.type or (self.novel and relation.novel != target.novel):
            return False
        if head in target.head and tail in target.tail:
            return True
        return not self.direction and head in target.tail and tail in target.head

    def _key(self, item: Item) -> _Key:
        targets: dict[object, _Target] = {}
        for relation in relations_of(item):
            ends = [frozenset(map(same_name, names)) for names in (relation.head, relation.tail)]
            target = _Target(ends[0], ends[1], relation.type, relation.novel if self.novel else None)
            targets.setdefault((target[2:], tuple(ends) if self.direction else frozenset(ends)), target)
        by_name: dict[str, list[int]] = {}
        for k, target in enumerate(targets.values()):
            for name in target.head | target.tail:
                by_name.setdefault(name, []).append(k)
        return _Key(tuple(targets.values()), by_name, _numbers(targets.values()))


def _numbers(targets: Iterable[_Target]) -> dict[str, int]:
    """A number for each entity, under each of its names."""
    numbers: dict[str, int] = {}
    for names in chain.from_iterable((target.head, target.tail) for target in targets):
        number = next((numbers[name] for name in sorted(names) if name in numbers), len(numbers))
        for name in names:
            numbers.setdefault(name, number)
    return numbers
