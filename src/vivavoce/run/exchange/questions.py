"""Questions in: a table that holds questions, and no answers yet, becomes a benchmark of a run."""

from collections.abc import Mapping
from typing import Any

from vivavoce.benchmarks.column_names import (
    OF_RESPONSES,
    by_field,
    columns_of,
    match_columns,
)
from vivavoce.benchmarks.table import table_items
from vivavoce.benchmarks.table_layout import layout_of
from vivavoce.core.cases import NearDuplicates
from vivavoce.core.exclusions import Faulty, exclusion_facts
from vivavoce.core.tables import ITEMS
from vivavoce.language.near_repeats import count_with_near
from vivavoce.run.exchange.answer_reading import check_fields, refuse_faulty
from vivavoce.run.exchange.imported import Imported
from vivavoce.run.exchange.row_counts import row_counts, same_text
from vivavoce.run.exchange.sources import Source
from vivavoce.run.tables.stored_benchmarks import store_loaded, with_earlier_exclusions
from vivavoce.store.cases import check_choice, kept_choice
from vivavoce.store.runfile import RunFile
from vivavoce.store.view import with_view
from vivavoce.store.write import put_provenance


def holds_answers(source: Source, map: Mapping[str, str], set: Mapping[str, Any]) -> bool:
    """Whether the source tells of answers, or of models that gave some: it is no table of questions alone."""
    with source.named():
        matched = match_columns(columns_of(source.lines), OF_RESPONSES, map=by_field(map), set=set)
    return bool({"text", "candidate"} & {*matched, *set})


def import_questions(
    run: RunFile,
    source: Source,
    *,
    name: str | None,
    map: Mapping[str, str],
    set: Mapping[str, Any],
    faulty: Faulty = "refuse",
    near_duplicates: NearDuplicates | None = None,
) -> Imported:
    """Store the questions of the source as a benchmark, for models to be asked."""
    refuse_faulty(faulty, with_questions=True)
    check_choice(near_duplicates)
    map = by_field(map)
    with source.named():
        check_fields((*map, *set), ITEMS)
        layout = layout_of(source.lines, map=map, set=set)
    table = table_items(layout.rows(source.lines), name or source.stem, faulty, layout.levels)
    loaded, formats, n_items = table.benchmark, table.formats, len(table.benchmark.items)
    n_faulty = table.unnamed + table.n_faulty
    counts_of_rows = row_counts(
        table.n_rows, questions=n_items, same=table.n_rows - n_faulty - n_items, faulty=n_faulty
    )
    loaded = with_view(run, with_earlier_exclusions, loaded, source.name)
    excluded = exclusion_facts(loaded.exclusion_counts)
    matched = layout.matched
    with run.writing() as db:
        store_loaded(db, loaded, loaded.items)
        body = (
            source.record
            | source.read_as
            | {"benchmark": loaded.spec, "matched": matched, "formats": formats}
            | (counts.numbers if (counts := loaded.exclusion_counts) else {})
        )
        put_provenance(db, "import questions", body, changed=len(loaded.items))
        choice = kept_choice(db, near_duplicates)
    return Imported(
        responses=0, candidates=0, items=0, blank=0, failed=0, skipped=0, new=0, unchanged=0, replaced=0,
        identical_repeats=(), **count_with_near(loaded.items, choice, loaded.card.group_levels).facts,
        matched={ours: theirs for ours, theirs in matched.items() if ours != theirs}, formats=formats,
        benchmark=loaded.spec, benchmark_name=loaded.items[0].benchmark, guess=source.guess,
        notes=tuple(same_text(table)), row_counts=counts_of_rows, **source.dialect._asdict(), **excluded,
    )  # fmt: skip
