"""The files of the ClinIQLink challenge out: questions without gold, and results, blank or of a candidate.

Results are seven files, one for each format, with `inputs`, `responses` and `prompts` aligned by index; how
they come in is in `log_reader`. Every input bears its item's id and the hash of what is seen of it.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from vivavoce._version import __version__
from vivavoce.core.errors import InputError, SelectionError, StoreError, suggest
from vivavoce.core.json_text import read_json
from vivavoce.core.private_files import private_folder, write_all_private
from vivavoce.core.records import Item
from vivavoce.core.registry import exporter
from vivavoce.formats import ask
from vivavoce.run.exchange.exporters import Exporter
from vivavoce.store import read
from vivavoce.store.forgotten import forgotten_answers, is_forgotten
from vivavoce.store.redacted import refuse_redacted
from vivavoce.store.runfile import RunFile
from vivavoce.studies.text import count
from vivavoce.systems.cliniqlink.benchmark import QUESTIONS
from vivavoce.systems.cliniqlink.exam_files import (
    EXAM,
    challenge_exam,
    entry,
    exam_rows,
    in_parts,
    json_text,
    other_formats,
)

if TYPE_CHECKING:
    from vivavoce.run.run import Run


_COLUMNS = ("candidate", "benchmark", "item", "variant", "repeat", "status", "text")


class Written(NamedTuple):
    """A file that was written: the items in it, and how many have an answer (null for a package)."""

    path: Path
    items: int
    answers: int | None


def write_questions(benchmark: str, folder: Path) -> tuple[Written, ...]:
    """Write what may be handed to whoever answers: the exam's files without gold, with ids and hashes.

    An exam of another benchmark is asked as `write_exam` writes it.

    Raises `StoreError` where other files of these names lie in the folder, before anything is written.
    """
    exam = challenge_exam(benchmark)
    files = {f"{part.stem}.json": [entry(item) for item in items] for part, items in in_parts(exam.items)}
    _put(folder, files, ours=lambda body: False)
    return tuple(Written(folder / name, len(rows), None) for name, rows in files.items())


def write_blank(benchmark: str, folder: Path) -> tuple[Written, ...]:
    """Write result files to be filled in: every question with our prompt for it, and a null for its answer.

    Raises `StoreError` where other files of these names lie there: they may have been filled in.
    """
    files = {
        f"{part.kind}.json": result_body(items, [None] * len(items))
        for part, items in in_parts(challenge_exam(benchmark).items)
    }
    _put(folder, files, ours=lambda body: False)
    return tuple(Written(folder / name, len(body["inputs"]), 0) for name, body in files.items())


class WrittenExam(NamedTuple):
    """A file of the exam that was written: its items, and how many of other formats were left out."""

    path: Path
    items: int
    left_out: Mapping[str, int] = {}


def write_exam(items: Sequence[Item], folder: Path, *, name: str) -> tuple[WrittenExam, ...]:
    """Write an exam with its key as ClinIQLink's files, which cliniqlink(data=DIR) reads.

    Items of other formats are left out and counted. Raises `InputError` for items that the files cannot hold,
    `StoreError` where other files of these names lie there.
    """
    rows = exam_rows(items, name)
    _put(folder, {f"{stem}.json": part for stem, part in rows.items()}, ours=lambda body: False)
    left_out = other_formats(items)
    first, *further = (WrittenExam(folder / f"{stem}.json", len(part)) for stem, part in rows.items())
    return first._replace(left_out=left_out), *further


@exporter("cliniqlink_exam")
class ClinIQLinkExam(Exporter):
    """The exam of the run with its key, as the seven files of the ClinIQLink challenge.

    `benchmark` names it where the run holds several.
    """

    benchmark: str = ""

    def write(self, run: "Run", to: Path) -> tuple[WrittenExam, ...]:
        """Write a file for each of the seven formats that the exam has; no other file is replaced."""
        with run.file.reading() as db:
            refuse_redacted(db, "an exam is texts")
            stored = [item for item in read.items_by_id(db).values() if item.origin is None]
        items = [item for item in stored if not is_forgotten(item.meta)]
        chosen = self._chosen(sorted({item.benchmark for item in items}))
        return write_exam([item for item in items if item.benchmark == chosen], to, name=chosen)

    def _chosen(self, names: Sequence[str]) -> str:
        """The exam that is meant. Raises `SelectionError` where that is not clear."""
        if self.benchmark not in names and (self.benchmark or len(names) != 1):
            listed = ", ".join(names) or "none"
            raise SelectionError(f"which exam is written: --set benchmark=NAME is one of {listed}.")
        return self.benchmark or names[0]


@exporter("cliniqlink")
class ClinIQLinkResults(Exporter):
    """The result files of a ClinIQLink submission: a candidate's answers, one repeat of them."""

    candidate: str | None = None
    repeat: int = 1
    gold: bool = False

    def write(self, run: "Run", to: Path) -> tuple[Written, ...]:
        """Write seven files. Earlier results of this candidate there are replaced, and nothing else."""
        return write_results(run.file, to, candidate=self.candidate, repeat=self.repeat, gold=self.gold)


def write_results(
    run: RunFile, to: Path, *, candidate: str | None = None, repeat: int = 1, gold: bool = False
) -> tuple[Written, ...]:
    """Write a candidate's answers in this run as the result files of a submission.

    A failed answer is null; one that a provider withheld is empty, since both count as silence. `prompts` is
    our wording of each question. With `gold`, inputs hold the key where the run has it, as the published
    evaluation needs. Earlier results of this candidate there are replaced. Raises `SelectionError` where it
    is not clear whose answers, `InputError` where one is lacking, `StoreError` where other files lie there.
    """
    with run.reading() as db:
        refuse_redacted(db, "a submission is texts")
        items = [
            i for i in read.items_by_id(db).values() if i.benchmark in (EXAM, QUESTIONS) and i.origin is None
        ]
        labels = [entry.candidate for entry in read.candidates(db)]
        rows = read.responses(db, probed=False, edited=False, columns=_COLUMNS)
        gone = forgotten_answers(db)
    rows = rows.filter(variant="", repeat=repeat)
    benchmarks = sorted({item.benchmark for item in items})
    if len(benchmarks) != 1:
        content = "both the exam and a package of its questions" if benchmarks else "no items of ClinIQLink"
        raise SelectionError(f"{run.path} holds {content}: results are of a run that holds one of the two.")
    answers: dict[str, dict[str, str | None]] = {}
    for name, benchmark, item, _, _, status, text in rows.iter_rows():
        if benchmark in (EXAM, QUESTIONS):
            answers.setdefault(name, {})[item] = None if status == "failed" else text or ""
    candidates = [label for label in labels if label in answers]
    if candidate is None and len(candidates) == 1:
        candidate = candidates[0]
    if candidate not in candidates:
        if not candidates:
            raise SelectionError(f"{run.path} holds no answers, repeat {repeat}: `viva collect` brings some.")
        if candidate is None:
            raise SelectionError(f"whose results: --candidate is one of {', '.join(candidates)}.")
        raise SelectionError(f"no candidate named {candidate!r} in this run.{suggest(candidate, candidates)}")
    responses = answers[candidate]
    lacking = [item.name for item in items if item.item not in responses]
    if lacking:
        raise InputError(
            f"{candidate} has no answer to {len(lacking)} of {len(items)} questions "
            f"({', '.join(lacking[:5])}{' …' if len(lacking) > 5 else ''}): the same `viva collect` goes on "
            "with them. Nothing was written."
        )
    marks = {"made_by": f"vivavoce {__version__}", "candidate": candidate}
    gold = gold and benchmarks == [EXAM]
    n_gone = sum((i.benchmark, i.item, "", candidate, repeat) in gone for i in items)
    if n_gone:
        raise InputError(
            f"{count(n_gone, 'answer')} of {candidate} were forgotten in this run, and a submission holds "
            "all: it cannot be written from this run any more."
        )
    files = {
        f"{part.kind}.json": marks
        | result_body(part_items, [responses[item.item] for item in part_items], gold=gold)
        for part, part_items in in_parts(items)
    }
    _put(to, files, ours=lambda body: "made_by" in body and body.get("candidate") == candidate)
    return tuple(
        Written(to / name, len(body["inputs"]), sum(text is not None for text in body["responses"]))
        for name, body in files.items()
    )


def result_body(items: Sequence[Item], texts: Sequence[str | None], *, gold: bool = False) -> dict[str, Any]:
    """What a result file of one format holds: questions, these answers to them, and our prompts."""
    return {
        "inputs": [entry(item, gold=gold) for item in items],
        "responses": list(texts),
        "prompts": [ask(item) for item in items],
    }


def _put(to: Path, files: Mapping[str, Any], *, ours: Callable[[Mapping[str, Any]], bool]) -> None:
    """Write the files as JSON into the folder; one that is `ours` is replaced. Raises as `put_files`."""
    put_files(to, {name: json_text(body) for name, body in files.items()}, ours=ours)


def put_files(
    to: Path,
    files: Mapping[str, str | bytes],
    *,
    ours: Callable[[Mapping[str, Any]], bool] = lambda body: False,
) -> None:
    """Write the files into the folder, made if it is not there: all of them, or none.

    A name may lead into a folder of that folder. A file of that name that holds the same stays, and one of
    JSON that is `ours` is replaced. Raises `StoreError` for any other.
    """
    contents = {
        to / name: content.encode("utf-8", "replace") if isinstance(content, str) else content
        for name, content in files.items()
    }
    try:
        for path, content in contents.items():
            if path.exists() and not _replaceable(path, content, ours):
                raise StoreError(f"{path} is there already and is another: give another folder.")
        for folder in dict.fromkeys(path.parent for path in contents):
            private_folder(folder)
        write_all_private(contents)
    except OSError as error:
        raise StoreError(
            f"cannot write to {to}: {error.strerror or error}. Give another folder, or make room."
        ) from None


def _replaceable(path: Path, content: bytes, ours: Callable[[Mapping[str, Any]], bool]) -> bool:
    present = path.read_bytes()
    if present == content:
        return True
    try:
        body = read_json(present.decode())
    except ValueError:
        return False
    return isinstance(body, dict) and ours(body)
