"""The verb behind `viva look FILE`: the files are read into a run that is thrown away."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from vivavoce.benchmarks.column_names import columns_of, holds_questions, match_columns, matched_words
from vivavoce.core.errors import InputError, RunNotFound, VivaError
from vivavoce.core.records import Finding
from vivavoce.core.specs import Spec, show
from vivavoce.core.tables import is_table_file, open_table
from vivavoce.core.text import count, one_line
from vivavoce.run.exchange.import_plan import OpenQuestions
from vivavoce.run.exchange.imported import Imported
from vivavoce.run.exchange.recognise import is_log
from vivavoce.run.look.parts import part_in
from vivavoce.run.look.support import Support, supports
from vivavoce.run.run import Run
from vivavoce.run.run import open as open_run
from vivavoce.studies.text import and_so

DOCUMENTS = (".pdf", ".docx", ".txt", ".md", ".html", ".htm")
WIDE = "--models-in-columns"
"""The option by which an import proposes that columns hold answers, where no name says it."""
_RUN = "exam.viva"
"""The run that commands name."""


class Look(NamedTuple):
    """What files are: in one line, how they are read, what they leave open, and the command that comes next.

    `supported` is empty where nothing can be read of them.
    """

    kind: str
    line: str
    command: str
    read_as: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    supported: tuple[Support, ...] = ()

    @property
    def rows(self) -> tuple[Mapping[str, Any], ...]:
        """The rows of the finding: the file, how it is read, what is open and what it supports."""
        file = {"row": "file", "kind": self.kind, "text": self.line, "command": self.command}
        return (
            file,
            *({"row": "read as", "text": text} for text in self.read_as),
            *({"row": "open", "text": text} for text in self.open_questions),
            *({"row": "support", **support._asdict()} for support in self.supported),
        )


def look(*paths: str | Path, plugins: Sequence[str | Path] = ()) -> Finding:
    """What files are, what they support and which command comes next; no run is made.

    A row for the files (`row` is file, with `kind` and `command`), for each way in which they were read, for
    each question that they leave open and for each thing that people want to say of answers (`supported` is
    yes, part or no). What cannot be told is a file of kind unknown, with the reason. `plugins` are files that
    register readers and metrics. Raises `InputError` for a path that is not there, `StoreError` for a damaged
    run.
    """
    files = [Path(path) for path in paths]
    for path in files:
        if not path.exists():
            raise InputError(f"{path} is not there.")
    name = " and ".join(map(str, files)) if len(files) < 3 else f"{files[0]} and {len(files) - 1} more"
    result = _look(files, name, plugins)
    return Finding(study="look", rows=result.rows, headline=result.line)


def _look(files: Sequence[Path], name: str, plugins: Sequence[str | Path]) -> Look:
    if len(files) == 1:
        (file,) = files
        if _is_run(file):
            return _run(open_run(file, plugins=plugins))
        if file.suffix.lower() in DOCUMENTS:
            if reason := _no_document(file):
                return Look("unknown", f"{name}: not known what this is.", "viva look --help", (reason,))
            return Look(
                "document",
                f"{name} is a document: text that questions can be made of.",
                f"viva build {_RUN} --help",
            )
    with TemporaryDirectory(prefix="viva-look-") as folder:
        run = open_run(Path(folder) / "look.viva", plugins=plugins)
        if any(is_log(file) for file in files):
            return _log(run, files, name)
        return _table(run, files, name)


def _is_run(file: Path) -> bool:
    if not file.is_file():
        return False
    with file.open("rb") as stream:
        return stream.read(15) == b"SQLite format 3"


def _no_document(file: Path) -> str:
    """Why a file of that ending is no document to read; '' for one."""
    if not file.is_file() or not file.stat().st_size:
        return f"{file} is {'empty' if file.is_file() else 'a folder'}."
    with file.open("rb") as stream:
        head = stream.read(4_096)
    if file.suffix.lower() == ".pdf" and b"%PDF" not in head:
        return f"{file} is no PDF."
    first, second = (*head.split(b"\n", 2), b"")[:2]
    tabs = first.count(b"\t")
    if file.suffix.lower() == ".txt" and (first.lstrip()[:1] == b"{" or 0 < tabs == second.count(b"\t")):
        return f"{file} looks like a table: name it .jsonl or .tsv."
    return ""


def _run(run: Run) -> Look:
    return Look(
        "run",
        f"{run.file.path} is a run of vivavoce: {_size(run)}.",
        shlex.join(["viva", "status", str(run.file.path)]),
        supported=tuple(supports(run)),
    )


def _log(run: Run, files: Sequence[Path], name: str) -> Look:
    """Logs of other tools, by what their import says of them."""
    words = ["viva", "import", _RUN, *_words(files)]
    try:
        imported = run.import_logs(*files)
    except InputError as error:
        return _unknown(name, error)
    tools = sorted({log.tool for log in imported.logs})
    notes = dict.fromkeys(note for log in imported.logs for note in log.notes)
    skipped = [f"{file} is left out: {reason}." for file, reason in imported.skipped_files.items()]
    return Look(
        "log",
        f"{name}: {count(len(imported.logs), 'log')} of {and_so(tools)}, {_size(run)}.",
        shlex.join(words),
        read_as=(*notes, *skipped),
        supported=tuple(supports(run)),
    )


def _table(run: Run, files: Sequence[Path], name: str) -> Look:
    """Tables of answers or questions, by what their import says of them."""
    words = ["viva", "import", _RUN, *_words(files)]
    open_questions: tuple[str, ...] = ()
    refusal: OpenQuestions | None = None
    data: Any = files if len(files) > 1 else files[0]
    try:
        try:
            imported = run.import_answers(data)
        except OpenQuestions as open_error:
            refusal = open_error
            open_questions, words = refusal.sentences, [*words, *refusal.options]
            if WIDE in words and len(files) == 1 and (exam := _exam(files[0], name, open_questions)):
                return exam
            imported = run.import_answers(data, yes=True)
    except InputError as error:
        # What is proposed may be refused by columns that the proposal made.
        return _without_exam(files, name, refusal or error)
    command, read_as = shlex.join(words), tuple(_read_as(imported))
    if WIDE in words:
        line = f"{name}: {count(run.items.height, 'question')}; whether it has answers too is left open."
        return Look("exam", line, command, read_as, open_questions)
    kind, title = ("answers", "answers to an exam") if imported.responses else ("exam", "an exam alone")
    line = f"{name}: {title}, {_size(run)}."
    return Look(kind, line, command, read_as, open_questions, tuple(supports(run)))


def _without_exam(files: Sequence[Path], name: str, error: InputError) -> Look:
    """A table that no import of answers takes by itself, by its columns; else why not."""
    if len(files) > 1 or not is_table_file(files[0]):
        return _unknown(name, error)
    if _holds_answers(files[0]):
        line = f"{name}: questions with answers, which an import refuses as they are."
        return Look("refused", line, shlex.join(["viva", "import", _RUN, *_words(files)]), (str(error),))
    part = part_in(files[0])
    if part is None:
        return _exam(files[0], name) or _unknown(name, error)
    return Look(
        part.kind,
        f"{name}: {part.text}",
        shlex.join(["viva", "import", _RUN, *_words(files), *part.options]),
        read_as=(f"Columns: {matched_words(part.matched)}.",) if part.matched else (),
    )


def _holds_answers(file: Path) -> bool:
    """Whether the columns of a table hold questions and what models answered."""
    try:
        columns = columns_of(open_table(file).lines)
        return holds_questions(columns, {}) and "text" in match_columns(columns, ("text",), map={})
    except InputError:
        return False


def _words(files: Iterable[Path]) -> list[str]:
    """The paths as words of a command, of which none is an option."""
    return [f"./{file}" if str(file).startswith("-") else str(file) for file in files]


def _exam(file: Path, name: str, open_questions: tuple[str, ...] = ()) -> Look | None:
    """A table of questions, as a benchmark; null if it is none.

    `open_questions` ask for columns that may hold answers as well: their names do not say so.
    """
    from vivavoce.benchmarks import load

    reader = "csv" if file.suffix.lower() in (".csv", ".tsv") else "jsonl"
    spec = show(Spec(reader, {"path": str(file)}))
    try:
        loaded = load(spec)
    except VivaError:
        return None
    n_keyed = sum(bool(item.answer or item.references) for item in loaded.items)
    formats = and_so(sorted({item.format for item in loaded.items}))
    return Look(
        "exam",
        f"{name}: an exam of {count(len(loaded.items), 'question')} ({formats}), {n_keyed:,} with a key or a "
        f"reference; {'whether it has answers too is left open' if open_questions else 'it has no answers'}.",
        shlex.join(["viva", "collect", _RUN, spec, "--model", "PROVIDER/MODEL"]),
        open_questions=open_questions,
    )


def _unknown(name: str, error: InputError) -> Look:
    """What cannot be read as anything, with the reason."""
    return Look("unknown", f"{name}: not known what this is.", "viva import --help", read_as=(str(error),))


def _read_as(imported: Imported) -> Iterable[str]:
    """How a table was read, where there is something to say."""
    if imported.matched:
        yield f"Columns: {matched_words(imported.matched)}."
    if imported.formats:
        formats = ", ".join(f"{name} {n:,}" for name, n in imported.formats.items())
        yield f"Formats of the questions, inferred: {formats}."
    if imported.left_out:
        yield f"Columns not used: {', '.join(one_line(column, 40) for column in imported.left_out)}."
    if imported.blank or imported.failed:
        yield f"{count(imported.blank, 'blank answer')}, {imported.failed:,} that never came."
    yield from imported.notes


def _size(run: Run) -> str:
    """How much a run holds: questions, answers, candidates."""
    try:
        items, responses = run.items, run.responses
    except RunNotFound:
        return "nothing"
    words = [count(items.height, "question")]
    words += [f"{count(responses.height, 'answer')} of {count(len(run.candidates), 'candidate')}"]
    return ", ".join(words)
