"""Recorded answers in: other people's files become responses of a run."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, get_args

from vivavoce.benchmarks import Loaded, load
from vivavoce.errors import InputError, suggest
from vivavoce.records import Item, Response, ResponseStatus, Role
from vivavoce.registry import file_hash, plugins
from vivavoce.store import RunFile
from vivavoce.store.write import put_benchmark, put_candidates, put_provenance, put_responses
from vivavoce.tables import Line, read_lines, rename
from vivavoce.text import is_blank, one_line

__all__ = ["Imported", "import_answers"]

COLUMNS = (
    *("item", "variant", "candidate", "repeat", "edit", "text", "status", "reasoning", "finish_reason"),
    *("tokens", "seconds", "cost", "error"),
)
_WHOLE = re.compile(r"\s*[+-]?\d+\s*")


class Imported(NamedTuple):
    """What an import did. Counts are of the file's rows; `skipped` rows answer items outside the
    selection.
    """

    responses: int
    candidates: int
    items: int
    blank: int
    failed: int
    skipped: int
    new: int
    unchanged: int
    replaced: int
    identical_repeats: tuple[str, ...]


def import_answers(
    run: RunFile,
    file: Path,
    *,
    benchmark: str,
    columns: Mapping[str, str],
    constants: Mapping[str, str],
    roles: Mapping[str, Role],
    new_version: bool = False,
) -> Imported:
    """Store the recorded answers of `file` in one transaction: all of them, or none.

    `columns` gives for each of our names the file's column, `constants` a value for every row. A null text
    is a failed response; '' arrived empty. Importing the same file again changes nothing.
    """
    exam = load(benchmark)
    for name, role in roles.items():
        if role not in get_args(Role):
            raise InputError(f"{name} cannot be a {role!r}: a role is candidate, floor or ceiling.")
    wrong = [n for n in (*columns, *constants) if n not in COLUMNS and n != "id"]
    if wrong:
        raise InputError(f"answers have no field {wrong[0]!r}.{suggest(wrong[0], list(COLUMNS))}")
    responses, skipped = _responses(read_lines(file), exam, columns, constants)
    candidates = dict.fromkeys(r.candidate for r in responses)
    unknown = [name for name in roles if name not in candidates]
    if unknown:
        raise InputError(f"--role names {unknown[0]!r}, but {file} has no such candidate."
                         f"{suggest(unknown[0], list(candidates))}")  # fmt: skip
    if not responses:
        raise InputError(
            f"{file} holds {skipped} answers, all to items outside {exam.spec}: nothing to import."
        )
    with run.writing() as db:
        known = dict(db.execute("SELECT candidate, role FROM candidates"))
        items = put_benchmark(
            db,
            exam.card,
            exam.items,
            spec=exam.spec,
            signature=exam.signature,
            new_version=new_version,
        )
        keys = put_candidates(db, {c: roles.get(c, known.get(c, "candidate")) for c in candidates})
        stored = put_responses(db, responses, items=items, candidates=keys)
        put_provenance(
            db,
            "import",
            {
                "file": file.name,
                "file_hash": file_hash(file),
                "benchmark": exam.spec,
                "signature": exam.signature,
                "map": dict(columns),
                "set": dict(constants),
                "roles": dict(roles),
                "plugins": plugins(),
                **stored._asdict(),
                "skipped": skipped,
            },
        )
    return Imported(
        responses=len(responses),
        candidates=len(candidates),
        items=len({(r.item, r.variant) for r in responses}),
        blank=sum(r.text is not None and is_blank(r.text) for r in responses),
        failed=sum(r.status == "failed" for r in responses),
        skipped=skipped,
        **stored._asdict(),
        identical_repeats=identical_repeats(responses),
    )


def _responses(
    lines: Iterable[Line], exam: Loaded, columns: Mapping[str, str], constants: Mapping[str, str]
) -> tuple[list[Response], int]:
    """The file's rows as responses to the exam's items, and how many answer its other items."""
    here, there = _by_name(exam.items), _by_name(exam.others)
    made: dict[tuple[str, str, str, int, str], tuple[Response, str]] = {}
    unknown: Counter[str] = Counter()
    skipped = 0
    for line in _named(lines, columns, constants):
        names = (_text(line, "item") or "", _text(line, "variant") or "")
        if names not in here:
            if names in there:
                skipped += 1
            else:
                unknown[" ".join(names).strip()] += 1
            continue
        response = _response(line, here[names])
        key = (response.item, response.variant, response.candidate, response.repeat, response.edit)
        if key in made and made[key][0] != response:
            raise InputError(
                f"{line.where}: a second answer of {response.candidate} to {names[0]}, repeat "
                f"{response.repeat} (the first: {made[key][1]}). If the file numbers repeats, name the "
                "column: --map repeat=…"
            )
        made[key] = (response, line.where)
    if unknown:
        names_text = ", ".join(list(unknown)[:5]) + (" …" if len(unknown) > 5 else "")
        raise InputError(
            f"{unknown.total()} answers are to items that {exam.spec} does not have: {names_text}."
            f"{suggest(next(iter(unknown)), list(dict.fromkeys(item for item, _ in here)))} Nothing was "
            "imported."
        )
    return [response for response, _ in made.values()], skipped


def _by_name(items: Iterable[Item]) -> dict[tuple[str, str], Item]:
    """Items by every name they answer to: published id, or base id and variant."""
    names = {(item.item, item.variant): item for item in items}
    return {(item.alias, ""): item for item in items if item.alias} | names


def _named(lines: Iterable[Line], columns: Mapping[str, str], constants: Mapping[str, str]) -> Iterator[Line]:
    """Rows under our names. Raises `InputError` when a needed column is not there."""
    options = {"item": "--map item=COLUMN", "candidate": "--map candidate=COLUMN or --set candidate=NAME",
               "text": "--map text=COLUMN"}  # fmt: skip
    for line in lines:
        row = {**rename(line, columns), **constants}
        if "id" in row and "item" not in row:
            row["item"] = row.pop("id")
        for name, remedy in options.items():
            if name not in row:
                raise InputError(
                    f"{line.where}: no column {name!r} (there are {', '.join(line.row)}): {remedy} names it."
                )
            if name != "text" and row[name] in (None, ""):
                raise InputError(f"{line.where}: the column {columns.get(name, name)!r} is empty.")
        yield Line(line.where, row)


def _response(line: Line, item: Item) -> Response:
    row, where = line.row, line.where
    text = row["text"]
    if text is not None and not isinstance(text, str):
        raise InputError(
            f"{where}: the answer is {type(text).__name__}, not text: {one_line(str(text), 40)}."
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
        candidate=_text(line, "candidate") or "",
        repeat=_number(row, "repeat", int, where, 1),
        edit=_text(line, "edit") or "",
        status=status,
        text=text if status == "ok" else None,
        reasoning=_text(line, "reasoning"),
        finish_reason=_text(line, "finish_reason"),
        tokens=_number(row, "tokens", int, where),
        seconds=_number(row, "seconds", float, where),
        cost=_number(row, "cost", float, where),
        error=_text(line, "error") or (text if status == "failed" else None),
    )


def _text(line: Line, name: str) -> str | None:
    """A text, also when written as a number; null when absent."""
    value = line.row.get(name)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return str(value)
    raise InputError(
        f"{line.where}: {name} must be text, not {type(value).__name__}: {one_line(str(value), 40)}."
    )


def _number(
    row: Mapping[str, Any], name: str, kind: type[int] | type[float], where: str, default: Any = None
) -> Any:
    """A whole or decimal number, also when written as text; the default when absent."""
    value = row.get(name)
    if value in (None, ""):
        return default
    try:
        exact = isinstance(value, int) or (isinstance(value, str) and _WHOLE.fullmatch(value))
        number = int(value) if exact else float(value)
        if isinstance(value, bool) or not math.isfinite(number) or "_" in str(value):
            raise ValueError
        if kind is int and (number != int(number) or not -(2**63) <= number < 2**63):
            raise ValueError
        return kind(number)  # 1.0 is a whole number too: tables write it so when some rows have none
    except (TypeError, ValueError, OverflowError):
        what = "a whole number" if kind is int else "a number"
        raise InputError(f"{where}: {name} must be {what}, not {one_line(repr(value), 40)}.") from None


def identical_repeats(responses: Iterable[Response]) -> tuple[str, ...]:
    """Candidates whose repeats of every item say the same, where any item has two: one answer, shown
    often.
    """
    texts: dict[tuple[str, str, str], list[str | None]] = defaultdict(list)
    for r in responses:
        texts[r.candidate, r.item, r.variant].append(r.text)
    repeated = {key: said for key, said in texts.items() if len(said) > 1}
    varied = {candidate for (candidate, *_), said in repeated.items() if len(set(said)) > 1}
    return tuple(dict.fromkeys(c for c, *_ in repeated if c not in varied))
