"""Recorded answers in: other people's files become responses of a run."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, get_args

from vivavoce.benchmarks import Loaded
from vivavoce.benchmarks.table import table_items
from vivavoce.benchmarks.table_options import gathered
from vivavoce.core.cases import count_items
from vivavoce.core.errors import InputError, suggest
from vivavoce.core.exclusions import Faulty, exclusion_facts
from vivavoce.core.records import Item, Response, ResponseStatus, Role
from vivavoce.core.tables import ITEMS, Line, cell_names
from vivavoce.core.text import is_blank, one_line
from vivavoce.pipeline.exchange.column_names import (
    by_field,
    columns_of,
    holds_questions,
    match_answers,
    named_options,
    spread_options,
)
from vivavoce.pipeline.exchange.imported import Imported
from vivavoce.pipeline.exchange.rows import (
    by_name,
    listed,
    named,
    number_of,
    of_probe,
    refuse_blank_twins,
    renamed,
    text_of,
)
from vivavoce.pipeline.exchange.sources import (
    AS_IT_IS,
    Data,
    Reading,
    Source,
    read_source,
)
from vivavoce.pipeline.stored_benchmarks import (
    load_benchmark,
    only_benchmark,
    store_loaded,
    with_earlier_exclusions,
)
from vivavoce.store.generated import made_items
from vivavoce.store.item_rows import item_keys
from vivavoce.store.runfile import RunFile
from vivavoce.store.write import put_candidates, put_provenance, put_responses

COLUMNS = (
    *("item", "variant", "candidate", "repeat", "edit", "text", "status", "reasoning", "finish_reason"),
    *("tokens", "seconds", "cost", "error", "probe", "confidence"),
)
_NEEDED = {
    "item": "--map item=COLUMN",
    "candidate": "--map candidate=COLUMN or --set candidate=NAME",
    "text": "--map text=COLUMN",
}


class Answers(NamedTuple):
    """What a table of answers holds: the benchmark, and the responses to its items.

    `skipped` counts rows by the item outside the benchmark, `probes` rows of log-probabilities. `matched`
    gives for our fields the source's columns, `formats` how many questions were taken for each format.
    """

    source: Source
    benchmark: Loaded
    responses: list[Response]
    skipped: Counter[str]
    probes: int
    matched: Mapping[str, str]
    formats: Mapping[str, int]

    @property
    def left_out(self) -> tuple[str, ...]:
        """The columns that are no field of ours."""
        used = {*self.matched.values(), *COLUMNS, *ITEMS, "id"}
        used |= {name.partition(".")[0] for name in self.matched.values()}
        return tuple(c for c in columns_of(self.source.lines) if c not in used) if self.source.free else ()


def read_answers(
    run: RunFile,
    data: Data,
    *,
    benchmark: str | None,
    name: str | None,
    columns: Mapping[str, str],
    constants: Mapping[str, Any],
    reading: Reading = AS_IT_IS,
) -> Answers:
    """The answers of a table, and the benchmark that they are to: the one named, else that of the table.

    Where the table holds no questions either, it is the benchmark of the run, if that holds one alone.
    """
    columns = by_field(columns)
    loaded = load_benchmark(run, benchmark) if benchmark else None
    source = read_source(data, loaded, reading, {*columns, *constants})
    present = columns_of(source.lines) if source.free else []
    with source.named():
        in_table = "question" in constants or holds_questions(present, columns)
        with_questions = loaded is None and in_table
        refuse_faulty(reading.faulty, with_questions=with_questions)
        check_fields((*columns, *constants), (*COLUMNS, *ITEMS) if with_questions else COLUMNS)
        matched = match_answers(present, map=columns, set=constants, with_questions=with_questions)
        spread = spread_options(
            source.lines, {*constants, *matched}, matched, needed=("question", "candidate")
        )
    source = source._replace(lines=list(gathered(source.lines, spread)))
    lines: Iterable[Line] = renamed(source.lines, matched, columns, constants)
    matched |= named_options(spread)
    inferred: Mapping[str, int] = {}
    if with_questions:
        loaded, lines, inferred = table_items(lines, name or source.stem, reading.faulty)
        loaded = with_earlier_exclusions(run, loaded, source.name)
        lines = filter(_of_answer, lines)
    loaded = loaded or _benchmark_of(run, source, present)
    loaded = loaded.joined(made_items(run, loaded.items[0].benchmark))
    if source.in_memory:
        lines = map(_with_text, lines)
    responses, skipped, probes = _responses(lines, loaded, matched)
    return Answers(source, loaded, responses, skipped, probes, matched, inferred)


def refuse_faulty(faulty: str, *, with_questions: bool) -> None:
    """Raise `InputError` for a word that says nothing, and where the questions are not those of the table."""
    if faulty not in get_args(Faulty):
        raise InputError(f"faulty {faulty!r}: write refuse or exclude.")
    if faulty == "exclude" and not with_questions:
        raise InputError(
            "faulty=exclude is for the questions of a table, and these stand elsewhere: write it into the "
            "spec of the benchmark, as jsonl(path=exam.jsonl, faulty=exclude)."
        )


def check_fields(names: Iterable[str], fields: Sequence[str]) -> None:
    """Raise `InputError` for a field that a table of answers does not have."""
    unknown = [name for name in names if name not in fields]
    if unknown:
        raise InputError(f"answers have no field {unknown[0]!r}.{suggest(unknown[0], list(fields))}")


def _benchmark_of(run: RunFile, source: Source, columns: Sequence[str]) -> Loaded:
    """The run's only benchmark. Raises `InputError` where there is none, or several."""
    spec = only_benchmark(run)
    if spec is None:
        raise InputError(
            f"{source.name}: no benchmark is named, and no column holds the questions (there are "
            f'{", ".join(columns)}): name it with benchmark="jsonl(path=exam.jsonl)" (--benchmark), or the '
            'column with map={"question": "COLUMN"} (--map question=COLUMN).'
        )
    return load_benchmark(run, spec)


def _of_answer(line: Line) -> bool:
    """Whether a row of a table with questions tells of an answer, and not of a question alone."""
    return any(line.row.get(name) not in (None, "") for name in ("candidate", "text"))


def _with_text(line: Line) -> Line:
    """The row with the text of a cell that a frame holds as True or 12: a column of such answers only."""
    text = line.row.get("text")
    if isinstance(text, float) and text.is_integer():
        text = int(text)
    return Line(line.where, {**line.row, "text": str(text)}) if isinstance(text, bool | int | float) else line


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
) -> Imported:
    """Store the recorded answers of a file or of data in memory in one transaction: all of them, or none.

    `columns` gives for each of our names the source's column, `constants` a value for every row. A null text
    is a failed response; '' arrived empty. Importing the same again changes nothing. Rows about items
    outside the benchmark are skipped and counted; a file of nothing else is refused. Rows with a `probe`, as
    an export has them, are left out. A registered `LogReader` reads the files that it accepts. Without a
    `benchmark` it is that of the table (`read_answers`), under `name`.
    """
    for candidate, role in roles.items():
        if role not in get_args(Role):
            raise InputError(f"--role {candidate}={role}: a role is candidate, floor or ceiling.")
    answers = read_answers(
        run, data, benchmark=benchmark, name=name, columns=columns, constants=constants, reading=reading
    )  # fmt: skip
    source, loaded, responses = answers.source, answers.benchmark, answers.responses
    candidates = dict.fromkeys(r.candidate for r in responses)
    refuse_blank_twins(candidates, source.name, "models")
    refuse_blank_twins((r.item for r in responses), source.name, "ids")
    unknown = [name for name in roles if name not in candidates]
    if unknown:
        raise InputError(f"--role names {unknown[0]!r}, but {source.name} has no such candidate."
                         f"{suggest(unknown[0], list(candidates))}")  # fmt: skip
    if not responses:
        raise _no_answers(answers)
    with run.writing() as db:
        roles_stored = dict(db.execute("SELECT candidate, role FROM candidates"))
        store_loaded(db, loaded, loaded.items, new_version=new_version)
        items = item_keys(db, loaded.items[0].benchmark)
        parts = {**dict.fromkeys(candidates, "candidate"), **source.roles, **roles_stored, **roles}
        keys = put_candidates(db, {c: parts[c] for c in candidates})
        stored = put_responses(db, responses, items=items, candidates=keys)
        put_provenance(
            db,
            "import",
            {
                **source.record,
                "benchmark": loaded.spec,
                "signature": loaded.signature,
                "map": dict(columns),
                "set": dict(constants),
                "roles": {**source.roles, **roles},
                **stored._asdict(),
                **(counts.numbers if (counts := loaded.exclusion_counts) else {}),
                "skipped": answers.skipped.total(),
                "probes": answers.probes,
                "matched": dict(answers.matched),
                "formats": dict(answers.formats),
                "left_out": list(answers.left_out),
                **source.read_as,
            },
            changed=stored.new + stored.replaced,
        )
    return Imported(
        responses=len(responses),
        candidates=len(candidates),
        items=len({(r.item, r.variant) for r in responses}),
        blank=sum(r.text is not None and is_blank(r.text) for r in responses),
        failed=sum(r.status == "failed" for r in responses),
        skipped=answers.skipped.total(),
        skipped_items=tuple(answers.skipped),
        **stored._asdict(),
        identical_repeats=identical_repeats(responses),
        probes=answers.probes,
        **count_items(loaded.items).facts,
        matched={ours: theirs for ours, theirs in answers.matched.items() if ours != theirs},
        formats=dict(answers.formats),
        left_out=answers.left_out,
        delimiter=source.dialect.delimiter,
        encoding=source.dialect.encoding,
        sheet=source.dialect.sheet,
        guess=source.guess,
        notes=source.notes,
        benchmark=loaded.spec,
        benchmark_name=loaded.items[0].benchmark,
        **exclusion_facts(loaded.exclusion_counts),
    )


def _no_answers(answers: Answers) -> InputError:
    """The error for a source without an answer to the benchmark."""
    source, loaded, skipped, probes = answers.source.name, answers.benchmark, answers.skipped, answers.probes
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


def _responses(
    lines: Iterable[Line], loaded: Loaded, matched: Mapping[str, str]
) -> tuple[list[Response], Counter[str], int]:
    """The rows as responses to the selected items; how many are about each other item; how many hold
    log-probabilities.
    """
    selected = by_name(loaded.items)
    responses: dict[tuple[str, str, str, int, str], tuple[Response, str]] = {}
    skipped: Counter[str] = Counter()
    probes = 0
    for line in named(lines, matched, _NEEDED):
        if of_probe(line):
            probes += 1
            continue
        names = (text_of(line, "item") or "", text_of(line, "variant") or "")
        if names in selected:
            _add_response(responses, line, selected[names], names[0])
        else:
            skipped[" ".join(names).strip()] += 1
    return [response for response, _ in responses.values()], skipped, probes


def _near(skipped: Iterable[str], loaded: Loaded) -> str:
    """The item that the first of these names may stand for, in a sentence; empty without one."""
    first, ids = next(iter(skipped), ""), list(dict.fromkeys(item.item for item in loaded.items))
    # A name that the benchmark has, but its settings leave out, is no slip of the pen.
    return "" if first in {item.name for item in loaded.others} else suggest(first, ids)


def _add_response(
    responses: dict[tuple[str, str, str, int, str], tuple[Response, str]], line: Line, item: Item, name: str
) -> None:
    """Add the response of a row. Raises `InputError` for another response to the same item and repeat."""
    response = _response(line, item)
    key = (response.item, response.variant, response.candidate, response.repeat, response.edit)
    if key in responses and responses[key][0] != response:
        raise InputError(
            f"{line.where}: a second answer of {response.candidate} to {name}, repeat "
            f"{response.repeat} (the first: {responses[key][1]}). If the file numbers repeats, name the "
            "column: --map repeat=…"
        )
    responses[key] = (response, line.where)


def _response(line: Line, item: Item) -> Response:
    row, where = line.row, line.where
    text = row["text"]
    if text is not None and not isinstance(text, str):
        raise InputError(
            f"{where}: the answer is {type(text).__name__}, not text: {one_line(str(text), 40)}."
            f"{_field_of(text)}"
        )
    status: Any = row.get("status")
    if status in (None, ""):
        status = "failed" if text is None else "ok"
    if status not in get_args(ResponseStatus):
        raise InputError(f"{where}: status {status!r} is none of ok, filtered, failed.")
    if status == "ok" and text is None:
        raise InputError(f"{where}: the status is ok but there is no text.")
    return Response(
        benchmark=item.benchmark,
        item=item.item,
        variant=item.variant,
        candidate=text_of(line, "candidate") or "",
        repeat=number_of(row, "repeat", int, where, 1, least=1),
        edit=text_of(line, "edit") or "",
        status=status,
        text=text if status == "ok" else None,
        reasoning=text_of(line, "reasoning"),
        finish_reason=text_of(line, "finish_reason"),
        tokens=number_of(row, "tokens", int, where, least=0),
        seconds=number_of(row, "seconds", float, where, least=0),
        cost=number_of(row, "cost", float, where, least=0),
        error=text_of(line, "error") or (text if status == "failed" else None),
        meta=_confidence(line),
    )


def _field_of(value: Any) -> str:
    """How a field of a nested answer is named, in a sentence; empty where there is none."""
    first = next((name for name in cell_names({"COLUMN": value}) if name != "COLUMN"), None)
    return f" A dotted name leads to its text, as in --map text={first}." if first else ""


def _confidence(line: Line) -> dict[str, float | str]:
    """The confidence of a row, if it has one: a probability where the cell is a number, else its words.

    Raises `InputError` for a number above 1 or below 0, which is no probability.
    """
    cell = line.row.get("confidence")
    if isinstance(cell, str) and _DECIMAL_COMMA.fullmatch(cell):
        cell = cell.replace(",", ".")
    try:
        number = number_of({"confidence": cell}, "confidence", float, line.where)
    except InputError:
        if not isinstance(cell, str):
            raise
        return {"confidence": cell}
    if number is not None and not 0 <= number <= 1:
        raise InputError(
            f"{line.where}: confidence is {number:g}; a number is a probability from 0 to 1, and percent has "
            f"its sign, as in {number:g}%."
        )
    return {} if number is None else {"confidence": number}


_DECIMAL_COMMA = re.compile(r"\s*[01],\d+\s*")


def identical_repeats(responses: Iterable[Response]) -> tuple[str, ...]:
    """Candidates with several answers to some item, and to every item always the same text."""
    texts: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for r in responses:
        if r.text is not None:
            texts[r.candidate, r.item, r.variant].append(r.text)
    repeated = {key: texts_given for key, texts_given in texts.items() if len(texts_given) > 1}
    varied = {candidate for (candidate, *_), texts_given in repeated.items() if len(set(texts_given)) > 1}
    return tuple(dict.fromkeys(c for c, *_ in repeated if c not in varied))
