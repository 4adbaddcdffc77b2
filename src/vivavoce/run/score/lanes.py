"""Which worker scores which items, where encoders read: a text is read by as few workers as can be.

What is said of one item, and its references, go to one worker. An item whose texts another item has too goes
where most of them have been read, unless that worker has more to read than its share.
"""

from collections import Counter
from collections.abc import Iterator

from vivavoce.core.records import ItemKey
from vivavoce.metrics import Metric
from vivavoce.run.score.batch_scores import Batch
from vivavoce.run.score.repeats import texts
from vivavoce.run.workers.executor import Shard

SLACK = 20_000
"""Characters that a worker may have to read beyond the one that has the least."""


def encodes(metric: Metric) -> bool:
    """Whether the metric has texts read by an encoder."""
    return type(metric).texts_to_encode is not Metric.texts_to_encode


class Lanes:
    """The items of each worker. It keeps a hash of each text, and not the texts."""

    def __init__(self, n_workers: int) -> None:
        self._loads = [0] * n_workers
        self._of_item: dict[ItemKey, int] = {}
        self._readers: dict[int, int] = {}
        """By the hash of a text the workers that read it: bit i stands for worker i."""

    def parts(self, batch: Batch) -> Iterator[Shard[Batch]]:
        """The batch in a part for each worker that has items in it."""
        lengths: dict[ItemKey, dict[int, int]] = {}
        for p in batch.responses:
            of_item = lengths.setdefault(p.place, {})
            of_item |= {hash(text): len(text) for text in texts(p)}
        for item, of_item in lengths.items():
            self._assign(item, of_item)
        by_lane: dict[int, list[int]] = {}
        for k, p in enumerate(batch.responses):
            by_lane.setdefault(self._of_item[p.place], []).append(k)
        for n, (lane, places) in enumerate(sorted(by_lane.items()), 1):
            part = batch._replace(
                responses=[batch.responses[k] for k in places],
                lacking=[batch.lacking[k] for k in places],
                is_last=n == len(by_lane),
            )
            yield Shard(part, lane)

    def _assign(self, item: ItemKey, lengths: dict[int, int]) -> None:
        """Give an item to a worker, if it has none; note what that worker reads."""
        if item not in self._of_item:
            least = min(self._loads)
            free = [lane for lane, load in enumerate(self._loads) if load - least <= SLACK]
            shared = Counter[int]()
            for text, length in lengths.items():
                readers = self._readers.get(text, 0)
                shared.update({lane: length for lane in free if readers >> lane & 1})
            self._of_item[item] = min(free, key=lambda lane: (-shared[lane], self._loads[lane]))
        lane = self._of_item[item]
        for text, length in lengths.items():
            readers = self._readers.get(text, 0)
            if not readers >> lane & 1:
                self._readers[text] = readers | 1 << lane
                self._loads[lane] += length
