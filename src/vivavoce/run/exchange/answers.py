"""Recorded answers in: other people's files become responses of a run."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, get_args

from vivavoce.benchmarks import Loaded
from vivavoce.core.cases import NearDuplicates
from vivavoce.core.errors import InputError, suggest
from vivavoce.core.exclusions import exclusion_facts
from vivavoce.core.parts import with_marks
from vivavoce.core.records import Response, Role
from vivavoce.language.near_repeats import count_with_near
from vivavoce.run.exchange.answer_reading import Answers, read_answers
from vivavoce.run.exchange.answer_storing import put_answers
from vivavoce.run.exchange.imported import (
    Imported,
    file_scores_text,
    forgotten_text,
    joined_text,
    logprobs_text,
    odd_texts,
    people_scores_text,
)
from vivavoce.run.exchange.row_counts import row_counts, same_text
from vivavoce.run.exchange.rows import count_server_error, listed, refuse_blank_twins
from vivavoce.run.exchange.sources import (
    AS_IT_IS,
    Data,
    Reading,
)
from vivavoce.run.tables.stored_benchmarks import (
    store_loaded,
)
from vivavoce.store.cases import check_choice, kept_choice
from vivavoce.store.item_rows import item_keys
from vivavoce.store.read import candidate_roles
from vivavoce.store.recorded_texts import parting_recorded
from vivavoce.store.runfile import RunFile
from vivavoce.store.write import put_candidates, put_provenance


def _with_marks(response: Response, marks: tuple[str, str] | None, errors: Counter[str]) -> Response:
    """The response with its model's own marks of thinking; the error of a server is counted."""
    count_server_error(response, errors)
    return replace(response, meta=with_marks(response.meta, marks)) if marks else response


def _row_counts(answers: Answers, n_forgotten: int) -> dict[str, int]:
    """What became of each row of the source."""
    skipped, table, tally = answers.skipped, answers.table, answers.tally
    alone = skipped.alone if tally.n_words else tally.of_options
    n_answers = tally.in_words + alone
    n_rows = skipped.rows if table is None else table.n_rows
    unnamed = 0 if table is None else table.unnamed
    return row_counts(
        n_rows,
        answers=n_answers - n_forgotten,
        forgotten=n_forgotten,
        same=tally.n_words + skipped.alone - n_answers,
        questions=n_rows - unnamed - skipped.rows,
        skipped=skipped.by_item.total(),
        faulty=unnamed,
        probes=skipped.probes,
    )


def import_answers(
    run: RunFile,
    data: Data,
    *,
    benchmark: str | None = None,
    name: str | None = None,
    columns: Mapping[str, str],
    constants: Mapping[str, Any],
    roles: Mapping[str, Role],
    new_version: bool = False,
    reading: Reading = AS_IT_IS,
    own_marks: tuple[str, str] | None = None,
    near_duplicates: NearDuplicates | None = None,
) -> Imported:
    """Store the recorded answers of a file or of data in memory in one transaction: all of them, or none.

    `columns` gives for each of our names the source's column, `constants` a value for every row. A null text
    is a failed response; '' arrived empty. Importing the same again changes nothing. Rows about items
    outside the benchmark are skipped and counted; a file of nothing else is refused. Rows with a `probe`, as
    an export has them, are left out. A registered `LogReader` reads the files that it accepts. Without a
    `benchmark` it is that of the table (`read_answers`), under `name`. `own_marks` open and close
    the thinking of a model whose marks are not known. `near_duplicates` is a choice that the run keeps.
    """
    check_choice(near_duplicates)
    for candidate, role in roles.items():
        if role not in get_args(Role):
            raise InputError(f"--role {candidate}={role}: a role is candidate, floor or ceiling.")
    answers = read_answers(
        run, data, benchmark=benchmark, name=name, columns=columns, constants=constants, reading=reading
    )  # fmt: skip
    source, loaded, tally = answers.source, answers.benchmark, answers.tally
    candidates = tally.candidates
    refuse_blank_twins(candidates, source.name, "models")
    refuse_blank_twins((item for _, item, _ in tally.items), source.name, "ids")
    unknown = [name for name in roles if name not in candidates]
    if unknown:
        raise InputError(f"--role names {unknown[0]!r}, but {source.name} has no such candidate."
                         f"{suggest(unknown[0], list(candidates))}")  # fmt: skip
    if not candidates:
        raise _no_answers(answers)
    with run.writing() as db, source.unchanged():
        roles_stored = candidate_roles(db)
        store_loaded(db, loaded, loaded.items, new_version=new_version)
        items = item_keys(db, loaded.items[0].benchmark)
        known_roles = {**source.roles, **roles_stored, **roles}
        keys = put_candidates(db, {c: known_roles.get(c, "candidate") for c in candidates})
        errors = Counter[str]()
        rows = (
            row._replace(response=_with_marks(row.response, own_marks, errors)) for row in answers.distinct
        )
        with parting_recorded(db) as recorded:
            in_words, of_options, n_scores, n_people = put_answers(
                db,
                rows,
                answers.rows.scores,
                items=items,
                candidates=keys,
                has_figures=tally.of_options > 0,
            )
        stored = in_words if tally.n_words else of_options
        put_provenance(
            db,
            "import",
            {
                **source.record,
                "benchmark": loaded.spec,
                "signature": loaded.signature,
                "map": dict(answers.plan.map),
                "set": dict(answers.plan.set),
                "roles": {**source.roles, **roles},
                **stored._asdict(),
                **(counts.numbers if (counts := loaded.exclusion_counts) else {}),
                "skipped": answers.skipped.by_item.total(),
                "probes": answers.skipped.probes,
                "matched": dict(answers.matched),
                "formats": dict(answers.formats),
                "left_out": list(answers.left_out),
                **({"file_scores": n_scores} if n_scores else {}),
                **({"people_scores": n_people} if n_people else {}),
                **({"logprobs": tally.of_options} if tally.of_options else {}),
                **source.read_as,
            },
            changed=sum(done.new + done.replaced for done in (in_words, of_options)),
        )
        choice = kept_choice(db, near_duplicates)
    return Imported(
        responses=tally.in_words or tally.of_options,
        logprobs=tally.of_options,
        candidates=len(candidates),
        items=len(tally.items),
        blank=int(tally.rows["blank"].sum()),
        failed=int(tally.rows["failed"].sum()),
        server_errors=errors.total(),
        escaped_line_ends=sum(recorded.escaped.values()),
        skipped=answers.skipped.by_item.total(),
        skipped_items=tuple(answers.skipped.by_item),
        **stored._asdict(),
        identical_repeats=tally.identical_repeats,
        probes=answers.skipped.probes,
        **count_with_near(loaded.items, choice, loaded.card.group_levels).facts,
        matched={ours: theirs for ours, theirs in answers.matched.items() if ours != theirs},
        formats=dict(answers.formats),
        left_out=answers.left_out,
        delimiter=source.dialect.delimiter,
        encoding=source.dialect.encoding,
        sheet=source.dialect.sheet,
        guess=source.guess,
        notes=(
            *source.notes,
            *joined_text(answers.joined),
            *same_text(answers.table),
            *forgotten_text(stored.forgotten),
            *file_scores_text(n_scores),
            *logprobs_text(tally.of_options),
            *people_scores_text(answers.rows.scores.raters, n_people),
            *odd_texts(errors, recorded.escaped),
        ),
        row_counts=_row_counts(answers, stored.forgotten),
        file_scores=n_scores,
        people_scores=n_people,
        joined=dict(answers.joined),
        benchmark=loaded.spec,
        benchmark_name=loaded.items[0].benchmark,
        **exclusion_facts(loaded.exclusion_counts),
    )


def _no_answers(answers: Answers) -> InputError:
    """The error for a source without an answer to the benchmark."""
    source, loaded = answers.source.name, answers.benchmark
    skipped, probes = answers.skipped.by_item, answers.skipped.probes
    if probes:
        return InputError(
            f"{source} holds no answer in words to {loaded.spec}: {probes} rows are of probes, which "
            "`viva merge` brings from the run they are from, and `viva collect --for` asks anew."
        )
    if not skipped:
        return InputError(
            f"{source} holds no answers to {loaded.spec}: each row needs a model's answer, in a column such "
            "as text or response. `viva collect` asks models. Nothing was imported."
        )
    return InputError(
        f"{source} holds {skipped.total()} answers, all to items outside {loaded.spec}: {listed(skipped)}."
        f"{_near(skipped, loaded)} Nothing was imported."
    )


def _near(skipped: Iterable[str], loaded: Loaded) -> str:
    """The item that the first of these names may stand for, in a sentence; empty without one."""
    first, ids = next(iter(skipped), ""), list(dict.fromkeys(item.item for item in loaded.items))
    # A name that the benchmark has, but its settings leave out, is no slip of the pen.
    return "" if first in {item.name for item in loaded.others} else suggest(first, ids)
