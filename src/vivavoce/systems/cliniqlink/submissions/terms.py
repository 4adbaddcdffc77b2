"""The terms that a competition and a board share: how many submissions count, and the classes of size.

Both are those of ClinIQLink 2025: three leaderboard runs a team, and systems over 10 GB sent to the
organisers to be run on a cluster (Colelough, Bartels and Demner-Fushman 2025, section 6).
"""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from vivavoce.core.records import Item

MOST_SUBMISSIONS = 3
LARGEST_ON_CODABENCH_GB = 10
UP_TO, OVER = f"up to {LARGEST_ON_CODABENCH_GB} GB", f"over {LARGEST_ON_CODABENCH_GB} GB"
METRIC = "cliniqlink"
"""The metric that scores all seven formats, by its name."""


class Column(NamedTuple):
    """A figure of a submission: its key in scores.json, its title, and the format that it is the mean of."""

    key: str
    title: str
    format: str


OVERALL_COLUMN = Column("overall", "Overall", "overall")
COLUMNS = (
    Column("multiple_choice", "Multiple choice", "mcq"),
    Column("true_false", "True/false", "true_false"),
    Column("list", "List", "list"),
    Column("short", "Short", "short"),
    Column("short_inverse", "Short inverse", "short_inverse"),
    Column("multi_hop", "Multi-hop", "multi_hop"),
    Column("multi_hop_inverse", "Multi-hop inverse", "multi_hop_inverse"),
)
"""The seven formats in the order of the paper's table."""


def size_class(size_gb: float | None) -> str | None:
    """The class of a system of this size in GB; null where no size is stated."""
    if size_gb is None:
        return None
    return UP_TO if size_gb <= LARGEST_ON_CODABENCH_GB else OVER


def exam_digest(items: Sequence[Item]) -> str:
    """A SHA-256 in hex over the items with their keys and cases, in whatever order they stand.

    It is for organisers: who knows it can try out keys.
    """
    lines = sorted(f"{item.item}\t{item.variant}\t{item.hash}\t{item.group}" for item in items)
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()
