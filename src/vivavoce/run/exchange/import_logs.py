"""Logs of other tools in: their answers and their scores become responses and recorded scores of a run."""

import math
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from vivavoce.benchmarks import Loaded
from vivavoce.core.cases import NearDuplicates
from vivavoce.core.errors import InputError
from vivavoce.core.file_hashes import file_hash
from vivavoce.core.records import Item, Response
from vivavoce.core.text import is_blank
from vivavoce.language.near_repeats import count_with_near
from vivavoce.logprobs.options import Choices
from vivavoce.run.exchange.batch_results import BatchImport, import_batches
from vivavoce.run.exchange.imported import (
    ImportedLog,
    ImportedLogs,
    forgotten_text,
    left_out_text,
    lost_scores_text,
    odd_texts,
    only_model_text,
    unnamed_text,
)
from vivavoce.run.exchange.log_exam import LogExam, OwnExam, SamplesMet, exam_of, option_record
from vivavoce.run.exchange.recognise import listed_reason, recognise, refuse_tasks
from vivavoce.run.exchange.recorded_log import LeftOut, Mark, RecordedLog, Sample
from vivavoce.run.exchange.recorded_measures import (
    Declared,
    MeasureKey,
    measure_key,
    put_marks,
    recorded_measures,
    retired_notes,
)
from vivavoce.run.exchange.row_counts import row_counts
from vivavoce.run.exchange.rows import count_server_error, without_server_error
from vivavoce.run.tables.stored_benchmarks import load_benchmark, store_loaded
from vivavoce.store.cases import check_choice, kept_choice
from vivavoce.store.item_rows import item_keys
from vivavoce.store.read import candidate_roles
from vivavoce.store.recorded_texts import parting_recorded
from vivavoce.store.runfile import RunFile
from vivavoce.store.same_scores import Import, refusing_same_scores
from vivavoce.store.view import with_view
from vivavoce.store.write import (
    Stored,
    put_candidates,
    put_provenance,
    put_responses,
)

_BATCH = 2000
"""Answers that are in memory at a time, beside the exam."""
_MOST_REPEATS = 10**9
_PROBE = Choices(of="text").name
_SECOND = (
    "A second evaluation of one model and task needs a name of its own: import its log by itself with --set "
    "candidate=NAME, or into another run. Nothing was imported."
)


@dataclass
class _Counts:
    """What is counted of a log while it is read for the first time."""

    candidates: Counter[str] = field(default_factory=Counter)
    measures: dict[MeasureKey, Declared] = field(default_factory=dict)
    repeats: Counter[int] = field(default_factory=Counter)
    numbers: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    items: set[tuple[str, str]] = field(default_factory=set)
    left_out: Counter[str] = field(default_factory=Counter)


def import_logs(
    run: RunFile,
    paths: Sequence[Path],
    *,
    reader: str | None = None,
    benchmark: str | None = None,
    candidate: str | None = None,
    new_version: bool = False,
    same_allowed: bool = False,
    own_marks: tuple[str, str] | None = None,
    near_duplicates: NearDuplicates | None = None,
) -> ImportedLogs:
    """Store the answers and scores of logs in one transaction: all of them, or none.

    Without a `benchmark` each log is the exam, under the name of its task. `candidate` names the model of
    logs that name none, or one; `own_marks` open and close its thinking. The same again changes nothing.
    `near_duplicates` is a choice that the run keeps. A file in a folder that cannot be read is listed in
    `skipped_files`. Raises `InputError` for a file that was named and cannot be read, a log of several models
    that one is named for, what contradicts the run, and unless `same_allowed` for scores that it holds by a
    measure of another tool.
    """
    check_choice(near_duplicates)
    refuse_tasks(paths, reader)
    recognised = recognise(paths, reader)
    _refuse_none_or_several(paths, recognised.logs, candidate)
    loaded = with_view(run, load_benchmark, benchmark) if benchmark else None
    tool_logs, files = _apart_from_batches(recognised.logs, named=bool(benchmark or candidate))
    logs: tuple[ImportedLog, ...] = ()
    unreadable: dict[str, str] = {}
    with run.writing() as db:
        for log in (log.with_own_marks(own_marks) for log in tool_logs):
            try:
                log, exam, counts = _counted(log, loaded, candidate)
            except InputError as error:
                if not log.in_folder:
                    raise
                unreadable[str(log.files[0])] = listed_reason(error)
                continue
            digest = "-".join(map(file_hash, log.files))
            data = Import(str(log.files[0]), (digest,), log.tool)
            with refusing_same_scores(db, data, allowed=same_allowed), parting_recorded(db) as recorded:
                log_import = _import_log(db, log, exam, counts, candidate, new_version, digest)
            notes, n_escaped = (
                (*log_import.notes, *odd_texts({}, recorded.escaped)),
                sum(recorded.escaped.values()),
            )
            facts = (
                count_with_near(exam.loaded.items, near_duplicates).facts
                if near_duplicates and log_import.items
                else {}
            )
            logs += (log_import._replace(notes=notes, escaped_line_ends=n_escaped, **facts),)
        logs += tuple(_of_batch(entry, files) for entry in import_batches(db, files))
        _refuse_none(logs, loaded, unreadable)
        kept_choice(db, near_duplicates)
    return ImportedLogs(logs, {**recognised.skipped, **unreadable})


def _refuse_none_or_several(
    paths: Sequence[Path], logs: Sequence[RecordedLog], candidate: str | None
) -> None:
    """Raise `InputError` where no file is a log, and where one name is for logs of several models."""
    if not logs:
        names = ", ".join(map(str, paths))
        raise InputError(f"{names}: no log of a tool that is read. Nothing was imported.")
    if candidate:
        _refuse_several(paths[0], dict.fromkeys(log.candidate for log in logs if log.candidate))


def _apart_from_batches(logs: Sequence[RecordedLog], *, named: bool) -> tuple[list[RecordedLog], list[Path]]:
    """The logs, and apart from them the files with results of batches that the run wrote.

    Raises `InputError` where a benchmark or a candidate is named for these: the run knows both.
    """
    files = [file for log in logs if log.of_batch for file in log.files]
    if files and named:
        raise InputError(
            f"{files[0]}: the run knows what its own batch asked of whom: leave --benchmark and --set out."
        )
    return [log for log in logs if not log.of_batch], files


def _refuse_none(logs: Sequence[ImportedLog], loaded: Loaded | None, unreadable: Mapping[str, str]) -> None:
    """Raise `InputError` where no log holds an answer to an item."""
    if not any(log.items + log.forgotten for log in logs):
        if unreadable:
            raise InputError(f"{next(iter(unreadable.values()))}. Nothing was imported.")
        of = f" of {loaded.spec}" if loaded else ""
        reasons = [left_out_text(log.left_out).rstrip(".") for log in logs if log.left_out]
        names = ", ".join([*(name for log in logs for name in log.skipped_items), *reasons][:5])
        names = names or "they are empty"
        raise InputError(f"no answer in these logs is to an item{of}: {names}. Nothing was imported.")


def _counted(
    log: RecordedLog, loaded: Loaded | None, candidate: str | None
) -> tuple[RecordedLog, LogExam, _Counts]:
    """The log, its exam and what is counted of it, by a first reading of it all.

    Answers that name no model are of the only one that the log names, if there is one: it is read again.
    """
    name = log.candidate or f"unnamed ({log.tool})"
    exam, counts = exam_of(log, loaded), _Counts()
    for answer in _answers(log, exam, lambda sample: sample.candidate or name, counts):
        _count(counts, answer)
    if not log.candidate and name in counts.candidates and len(counts.candidates) == 2:
        (model,) = counts.candidates.keys() - {name}
        notes = log.notes if candidate else (*log.notes, only_model_text(counts.candidates[name], model))
        return _counted(replace(log, candidate=model, notes=notes), loaded, candidate)
    if candidate:
        _refuse_several(log.files[0], counts.candidates)
        counts.candidates = Counter({candidate: counts.candidates.total()})
    return log, exam, counts


def _import_log(
    db: sqlite3.Connection,
    log: RecordedLog,
    exam: LogExam,
    counts: _Counts,
    candidate: str | None,
    new_version: bool,
    digest: str,
) -> ImportedLog:
    name = log.candidate or f"unnamed ({log.tool})"
    skipped = Counter(exam.unmatched)  # the second reading counts them again
    stored, spec = Stored(0, 0, 0), "" if isinstance(exam, OwnExam) else exam.loaded.spec
    if counts.items:
        benchmark = exam.loaded
        spec = benchmark.spec
        answers = _answers(log, exam, lambda sample: candidate or sample.candidate or name, _Counts())
        stored = _store(db, log, benchmark, counts, answers, new_version)
    imported = _imported(log, counts, stored, skipped, spec, db)
    body = {**imported._asdict(), "file_hash": digest, "of_run": log.settings}
    put_provenance(db, "import log", _plain(body), changed=stored.new + stored.replaced)
    return imported


def _store(
    db: sqlite3.Connection,
    log: RecordedLog,
    benchmark: Loaded,
    counts: _Counts,
    answers: Iterator["_Answer"],
    new_version: bool,
) -> Stored:
    """Store the exam, the candidates, the measures, and the answers with their scores, batch by batch."""
    roles = candidate_roles(db)
    store_loaded(db, benchmark, benchmark.items, new_version=new_version)
    items = item_keys(db, benchmark.items[0].benchmark)
    keys = put_candidates(db, {c: roles.get(c, "candidate") for c in counts.candidates})
    measures = recorded_measures(db, log.tool, counts.measures)
    stored = Stored(0, 0, 0)
    while batch := list(islice(answers, _BATCH)):
        responses = [answer.response for answer in batch if not answer.is_repeated]
        more = put_responses(db, responses, items=items, candidates=keys, advice=_SECOND)
        stored = Stored(*(before + new for before, new in zip(stored, more, strict=True)))
        marked = ((answer.response, _marks_of(answer)) for answer in batch)
        _count_scores(counts, put_marks(db, marked, measures, items, keys), -1)
    return stored


class _Answer(NamedTuple):
    """An answer with its scores; `is_repeated` where the log has it a second time, with other scores."""

    response: Response
    marks: tuple[Mark, ...]
    is_repeated: bool


def _refuse_several(source: Path | str, candidates: Collection[str]) -> None:
    """Raise `InputError` where there are several models, and one name is for all."""
    if len(candidates) > 1:
        raise InputError(
            f"{source}: answers of {len(candidates)} models ({', '.join(list(candidates)[:3])}), and one "
            "name is no name for them. Nothing was imported."
        )


def _answers(
    log: RecordedLog, exam: LogExam, candidate_of: Callable[[Sample], str], counts: _Counts
) -> Iterator[_Answer]:
    """The answers of a log that are to items of the exam. Repeats without a number get one.

    Rows are counted in `counts`, and by reason those that give no answer.
    """
    repeats: Counter[tuple[str, str, str]] = Counter()
    present = SamplesMet()
    for sample in log.samples():
        counts.numbers["rows"] += 1
        if isinstance(sample, LeftOut):
            counts.left_out[sample.reason] += 1
            continue
        item = exam.item_of(sample)
        if item is None:
            continue
        candidate = candidate_of(sample)
        if sample.repeat is None:
            repeats[candidate, item.item, item.variant] += 1
        repeat = sample.repeat or repeats[candidate, item.item, item.variant]
        response = without_server_error(_response(sample, item, candidate, repeat))
        yield _Answer(response, sample.marks, is_repeated=present.repeats(item, response, sample))


def _response(sample: Sample, item: Item, candidate: str, repeat: int) -> Response:
    """The sample as a response. Raises `InputError` for text that is no Unicode, and repeats beyond count."""
    try:
        logprobs, error = option_record(sample, item), sample.error
    except ValueError as reason:
        logprobs, error = None, str(reason)
    if repeat > _MOST_REPEATS:
        raise InputError(f"{sample.where}: {repeat:,} is no number of a repeat: have the log written again.")
    try:
        (sample.text or "").encode()
    except UnicodeEncodeError:
        raise InputError(f"{sample.where}: the answer holds half of a character.") from None
    return Response(
        benchmark=item.benchmark,
        item=item.item,
        variant=item.variant,
        candidate=candidate,
        repeat=repeat,
        probe=_PROBE if sample.option_logprobs else "",
        status="failed" if sample.option_logprobs and not logprobs else sample.status,
        text=None if sample.option_logprobs else sample.text,
        reasoning=sample.reasoning,
        finish_reason=sample.finish_reason,
        tokens=sample.tokens if isinstance(sample.tokens, int) else None,
        seconds=sample.seconds,
        cost=sample.cost,
        error=error,
        meta=sample.meta,
        logprobs=logprobs,
    )


def _count(counts: _Counts, answer: _Answer) -> None:
    """Count an answer, and note what its scores declare."""
    response = answer.response
    counts.candidates[response.candidate] += 1
    counts.items.add((response.item, response.variant))
    counts.numbers["same"] += answer.is_repeated
    if not answer.is_repeated:
        counts.repeats[hash((response.candidate, response.item, response.variant))] += 1
        counts.numbers["responses"] += 1
        counts.numbers["failed"] += response.status == "failed"
        count_server_error(response, counts.errors)
        counts.numbers["blank"] += response.text is not None and is_blank(response.text)
        counts.numbers["logprobs"] += response.logprobs is not None
    for mark in _marks_of(answer):
        counts.measures.setdefault(measure_key(mark), Declared(mark)).add(mark)
    _count_scores(counts, _marks_of(answer))
    counts.numbers["scores of failed answers"] += len(answer.marks) - len(_marks_of(answer))


def _count_scores(counts: _Counts, marks: Iterable[Mark], sign: Literal[1, -1] = 1) -> None:
    """Count scores, or take from the count those that were left out."""
    for mark in marks:
        counts.numbers["scores"] += sign
        counts.numbers["scores_failed"] += sign * (mark.outcome == "failed")
        counts.numbers["units"] += sign * (mark.unit is not None)


def _marks_of(answer: _Answer) -> tuple[Mark, ...]:
    """The scores of an answer that came; of one that never came those that say why there is no score."""
    if answer.response.status == "ok":
        return answer.marks
    return tuple(mark for mark in answer.marks if mark.status not in (None, "ok"))


def _imported(
    log: RecordedLog,
    counts: _Counts,
    stored: Stored,
    skipped: Counter[str],
    benchmark: str,
    db: sqlite3.Connection,
) -> ImportedLog:
    numbers = counts.numbers
    notes = [*log.notes, *odd_texts(counts.errors, {}), *retired_notes(db, log.tool, counts.measures)]
    if (name := f"unnamed ({log.tool})") in counts.candidates:
        notes.append(unnamed_text(name, counts.candidates[name], len(counts.candidates) - 1))
    if counts.left_out:
        notes.append(left_out_text(counts.left_out))
    notes += forgotten_text(stored.forgotten)
    if lost := numbers["scores of failed answers"]:
        notes.append(lost_scores_text(lost))
    return ImportedLog(
        source=str(log.files[0]),
        tool=log.tool,
        version=log.version,
        task=log.task,
        candidates=tuple(counts.candidates),
        benchmark=benchmark,
        items=len(counts.items),
        responses=numbers["responses"] - stored.forgotten,
        failed=numbers["failed"],
        blank=numbers["blank"],
        repeats=max(counts.repeats.values(), default=0),
        scores=numbers["scores"],
        scores_failed=numbers["scores_failed"],
        units=numbers["units"],
        logprobs=numbers["logprobs"],
        skipped=skipped.total(),
        skipped_items=tuple(skipped),
        **stored._asdict(),
        measures=tuple(dict.fromkeys(f"{log.tool}.{scorer}" for scorer, *_ in counts.measures)),
        notes=tuple(notes),
        server_errors=counts.errors.total(),
        left_out=dict(counts.left_out),
        row_counts=row_counts(
            numbers["rows"],
            answers=numbers["responses"] - stored.forgotten,
            forgotten=stored.forgotten,
            same=numbers["same"],
            skipped=skipped.total(),
            left_out=counts.left_out.total(),
        ),
    )


def _of_batch(entry: BatchImport, files: Sequence[Path]) -> ImportedLog:
    """What the results of a run's own batch brought, as the import of a log says it."""
    return ImportedLog(
        source=str(files[0]),
        tool="openai_batch",
        version=None,
        task=entry.settings.benchmark,
        candidates=(entry.settings.candidate,),
        benchmark=entry.settings.benchmark,
        items=entry.items,
        responses=sum(entry.stored[:3]),
        failed=entry.numbers["failed"],
        blank=entry.numbers["blank"],
        repeats=entry.repeats,
        row_counts=entry.row_counts,
        **entry.stored._asdict(),
        notes=entry.notes,
    )


def _plain(value: Any) -> Any:
    """Facts of a log as JSON takes them: what is no finite number is its own word."""
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    finite = not isinstance(value, float) or math.isfinite(value)
    return value if finite and isinstance(value, str | int | float | None) else str(value)
