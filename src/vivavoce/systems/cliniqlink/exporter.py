"""The files of the ClinIQLink challenge out: questions without gold, and results, blank or of a candidate.

Results are seven files, one for each format, with `inputs`, `responses` and `prompts` aligned by index; how
they come in is in `log_reader`. Every input bears its item's id and the hash of what is seen of it.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from vivavoce._version import __version__
from vivavoce.benchmarks import Loaded, load
from vivavoce.core.errors import InputError, SelectionError, StoreError, suggest
from vivavoce.core.json_text import read_json
from vivavoce.core.private_files import private_folder, write_all_private
from vivavoce.core.records import Item
from vivavoce.core.registry import exporter
from vivavoce.formats import ask
from vivavoce.run.exchange.exporters import Exporter
from vivavoce.store import read
from vivavoce.store.forgotten import forgotten_answers
from vivavoce.store.runfile import RunFile
from vivavoce.studies.text import count
from vivavoce.systems.cliniqlink.benchmark import PARTS, QUESTIONS, Part, visible_part

if TYPE_CHECKING:
    from vivavoce.run.run import Run


EXAM = "cliniqlink"
_COLUMNS = ("candidate", "benchmark", "item", "variant", "repeat", "status", "text")


class Written(NamedTuple):
    """A file that was written: the items in it, and how many have an answer (null for a package)."""

    path: Path
    items: int
    answers: int | None


def write_questions(benchmark: str, to: Path) -> tuple[Written, ...]:
    """Write what may be handed to whoever answers: the exam's files without gold, with ids and hashes.

    Raises `StoreError` where other files of these names lie in the folder, before anything is written.
    """
    exam = _exam(benchmark)
    files = {f"{part.stem}.json": [entry(item) for item in items] for part, items in in_parts(exam.items)}
    _put(to, files, ours=lambda body: False)
    return tuple(Written(to / name, len(rows), None) for name, rows in files.items())


def write_blank(benchmark: str, to: Path) -> tuple[Written, ...]:
    """Write result files to be filled in: every question with our prompt for it, and a null for its answer.

    Raises `StoreError` where other files of these names lie there: they may have been filled in.
    """
    files = {
        f"{part.kind}.json": result_body(items, [None] * len(items))
        for part, items in in_parts(_exam(benchmark).items)
    }
    _put(to, files, ours=lambda body: False)
    return tuple(Written(to / name, len(body["inputs"]), 0) for name, body in files.items())


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


def _exam(benchmark: str) -> Loaded:
    exam = load(benchmark)
    refuse_others(exam)
    return exam


def refuse_others(exam: Loaded) -> None:
    """Raise `InputError` for an exam that the challenge's files cannot hold."""
    if exam.items[0].benchmark not in (EXAM, QUESTIONS):
        raise InputError(
            f"a folder of results, or a package of questions, is of ClinIQLink, not of {exam.spec}: name "
            f"{EXAM}(data=DIR)."
        )


def in_parts(items: Sequence[Item]) -> Iterator[tuple[Part, list[Item]]]:
    """The formats that these items have, each with its items in their order."""
    for part in PARTS:
        if part_items := [item for item in items if item.format == part.format and not item.variant]:
            yield part, part_items


def result_body(items: Sequence[Item], texts: Sequence[str | None], *, gold: bool = False) -> dict[str, Any]:
    """What a result file of one format holds: questions, these answers to them, and our prompts."""
    return {
        "inputs": [entry(item, gold=gold) for item in items],
        "responses": list(texts),
        "prompts": [ask(item) for item in items],
    }


def entry(item: Item, *, gold: bool = False) -> dict[str, Any]:
    """An item as the challenge writes it, with the id and the hash of what is seen of it."""
    visible = visible_part(item)
    part = next(part for part in PARTS if part.format == item.format)
    row: dict[str, Any] = {"id": item.item, "hash": visible.hash, "question": item.question}
    if item.options:
        row["options"] = list(item.options)
    if item.format == "short_inverse":
        row["false_answer"] = item.false_answer
    if item.format == "multi_hop_inverse":
        row |= {"answer": item.false_answer, "reasoning": list(item.steps)}
    if gold:
        row |= _gold(item) | {"source": dict(item.meta)}
    return row | {"type": "short_answer" if part.kind == "short" else part.kind}


def _gold(item: Item) -> dict[str, Any]:
    """The fields that hold an item's key; in short_inverse also `answer`, which there is the wrong one."""
    match item.format:
        case "true_false":
            return {"answer": item.answer[0]}
        case "mcq":
            return {"correct_answer": item.answer[0]}
        case "list":
            return {"answer": list(item.answer)}
        case "short":
            return {"answer": item.references[0]}
        case "short_inverse":
            return {"answer": item.false_answer, "incorrect_explanation": item.references[0]}
        case "multi_hop":
            return {"answer": item.references[0], "reasoning": list(item.steps)}
    lines = [f"- Step {item.step} contains the incorrect inference.", f"- Explanation: {item.references[0]}"]
    return {"incorrect_reasoning_step": lines}


def _put(to: Path, files: Mapping[str, Any], *, ours: Callable[[Mapping[str, Any]], bool]) -> None:
    """Write the files as JSON into the folder; one that is `ours` is replaced. Raises as `put_files`."""
    put_files(to, {name: json_text(body) for name, body in files.items()}, ours=ours)


def json_text(body: Any) -> str:
    """A body as the challenge's files hold it."""
    return json.dumps(body, ensure_ascii=False, indent=1) + "\n"


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
