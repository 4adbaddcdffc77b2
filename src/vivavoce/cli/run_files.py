"""Run files on disk: what is no run, and which runs a user may have meant."""

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from vivavoce.core.errors import RunNotFound, StoreError

_DATA_SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
_IMPORT = "`viva import exam.viva answers.jsonl --benchmark jsonl:path=exam.jsonl`"


def suggest_run(folder: Path, command: str = "status") -> str:
    """The runs in a folder with a command for one of them, or the command that makes one."""
    runs = runs_in(folder)
    if not runs or command == "import":
        return f"{_IMPORT} makes one, `viva demo` makes one to look at."
    more = "" if command in ("status", "report", "study") else " …"
    return f"Here: {_first_five(runs)}, so `viva {command or 'status'} {quote(str(runs[0]))}{more}`."


def missing_run_message(error: RunNotFound) -> str:
    """The sentence for a run that does not exist, with those that do."""
    runs = runs_in(Path())
    return f"{error} " + (f"Here: {_first_five(runs)}." if runs else "`viva demo` makes one to look at.")


def runs_in(folder: Path) -> list[Path]:
    """The run files in a folder by name; none where it cannot be read."""
    try:
        return sorted(path for path in folder.glob("*.viva") if path.is_file() and path.stat().st_size)
    except OSError:
        return []


def _first_five(runs: Sequence[Path]) -> str:
    return ", ".join(map(str, runs[:5])) + (f" and {len(runs) - 5} more" if len(runs) > 5 else "")


def check_run_path(path: Path) -> None:
    """Raise `StoreError` for a path that names a benchmark, answers, a report or a folder, but no run."""
    try:
        if path.is_dir():
            raise StoreError(f"{path} is a folder, and a run is a file. {suggest_run(path)}")
        if path.suffix.lower() in (".html", ".htm"):
            run = path.with_suffix(".viva")
            hint = f"the run is {run}." if run.is_file() else suggest_run(path.parent)
            raise StoreError(f"{path} is a report, not a run: {hint}")
        if path.suffix.lower() not in _DATA_SUFFIXES or _is_sqlite(path):
            return
    except OSError as error:
        raise StoreError(f"cannot look for a run at {path}: {error.strerror or error}.") from None
    raise StoreError(
        f"{path} is a file of questions, answers or scores, and no run, which stands first: `viva import "
        f"exam.viva {quote(str(path))} --benchmark …` brings it into one."
    )


def check_output_path(path: Path) -> None:
    """Raise `StoreError` for a path that the system refuses to look at, such as too long a name."""
    try:
        path.exists()
    except OSError as error:
        raise StoreError(f"cannot write to {path}: {error.strerror or error}. Give another path.") from None


def _is_sqlite(path: Path) -> bool:
    """True if an SQLite file lies there, whatever its name is."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(15) == b"SQLite format 3"
