"""The door for report sections: what the page shows of a study beside its sentences.

A section inherits `Section`, overrides what differs and registers under the name of its study:

    @section("ranking")
    class Ranking(Section):
        def charts(self, rows):
            yield figure("Ranks", rank_ranges(rows), "ranks")

A study without a section gets its own `about`, its sentences and a plain table of its rows.
"""

from collections.abc import Iterable
from typing import NamedTuple, dataclass_transform

from vivavoce.core import registry
from vivavoce.report.charts.svg import Figure
from vivavoce.report.data import Rows


class Quote(NamedTuple):
    """An answer that the page shows in its words, under a caption; without a repeat its first one."""

    caption: str
    benchmark: str
    item: str
    variant: str
    candidate: str
    repeat: int | None = None
    edit: str = ""


class SideBySide(NamedTuple):
    """Answers to one question that stand side by side; `edits` puts the edits of each beside it."""

    title: str
    quotes: tuple[Quote, ...]
    edits: bool = False


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Section:
    """What the report shows of one study; every default is that of a study without a section.

    `charts` and `table` get the rows of the newest finding. A row that names a metric and a criterion also
    has `measure`, the short name that the rest of the page gives to that pair.
    """

    heading = ""
    """The title; by default the name of the study, capitalised."""
    about = ""
    """One or two sentences under the title; by default the `about` of the study."""
    methods = ""
    """The sentence for the methods text of a paper."""
    order = 1_000
    """Sections stand by this number, then by name. Ours are below 1,000."""
    table_open = False
    """Whether the table stands open on the page, instead of folded."""
    sentences_with_charts = False
    """Whether each sentence stands above its charts: the first above the first title, and so on."""

    def charts(self, rows: Rows) -> Iterable[Figure]:
        """The figures, in order; neighbours that share a title stand in one group."""
        return ()

    def side_by_side(self, rows: Rows) -> Iterable[SideBySide]:
        """The answers to show in their words, folded; the page looks up their texts. By default none."""
        return ()

    def table(self, rows: Rows) -> Rows:
        """The rows of the table, whose keys are its columns; by default every column of the study's."""
        return [{key: value for key, value in row.items() if key != "measure"} for row in rows]


def section_of(study: str) -> Section:
    """The registered section of a study, or else the default."""
    if registry.member("section", study):
        registered: Section = registry.build("section", study)
        return registered
    return Section()


def about_of(study: str) -> str:
    """What a registered study says of itself; nothing of one whose plugin is not loaded."""
    return str(getattr(registry.member("study", study), "about", ""))
