"""The files of a submission as CodaBench unpacks them: hostile names, hostile sizes, and answers that lack.

They are read by their questions, which have no key: whatever gold a file claims to hold is not looked at, so
that no message says whether it is right.
"""

import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.benchmarks import Loaded
from vivavoce.core.errors import InputError
from vivavoce.core.records import Item
from vivavoce.core.tables import Line
from vivavoce.core.text import one_line
from vivavoce.systems.cliniqlink.benchmark import PARTS, visible_part
from vivavoce.systems.cliniqlink.exam_files import in_parts
from vivavoce.systems.cliniqlink.log_reader import part_answers

MOST_BYTES = 64 * 1024 * 1024
"""The largest result file; the whole challenge of 2025, answered at length, is a tenth of it."""
LONGEST_ANSWER = 100_000
"""The longest answer in characters; each word of one is compared with each of the reference."""
MOST_NAMED = 20
_NAMES = tuple(f"{part.kind}.json" for part in PARTS)
_OF_THE_HOST = frozenset({"metadata"})
"""What CodaBench's worker lays beside the files of a submission."""


class SubmissionFiles(NamedTuple):
    """The answers of a submission by item, and what it lacks.

    `missing` has the items without an answer under each kind of result file that lacks any; `absent` are the
    result files that are not there, `ignored` the names of what else is.
    """

    answers: Mapping[str, str]
    missing: Mapping[str, tuple[str, ...]]
    absent: tuple[str, ...]
    ignored: tuple[str, ...]

    def rows(self, items: Iterable[Item], candidate: str, *, missing: str | None) -> list[dict[str, Any]]:
        """An answer to each of these items, as `import_answers` takes it; `missing` where there is none."""
        texts = ((item.item, self.answers.get(item.item, missing)) for item in items)
        return [{"item": item, "text": text, "candidate": candidate} for item, text in texts]


def read_submission(folder: Path, exam: Loaded) -> SubmissionFiles:
    """The answers in the result files of a folder, or of the one folder in it that holds any.

    A question without an entry, one whose response is null and all questions of an absent file are missing.
    Raises `InputError` where there is no result file, for a link, a file of more than `MOST_BYTES`, an answer
    of more than `LONGEST_ANSWER`, and as `read_results` for what is no answer to a question of this exam.
    """
    root = _root(folder)
    answers: dict[str, str] = {}
    missing: dict[str, tuple[str, ...]] = {}
    absent = []
    visible = [visible_part(item) for item in exam.items]
    for part, items in in_parts(visible):
        path = root / f"{part.kind}.json"
        if _is_result_file(path):
            lines = part_answers(root, part, items, exam.card.name)
            answers |= {line.row["item"]: _text(line) for line in lines if line.row["text"] is not None}
        else:
            absent.append(path.name)
        if lacking := tuple(item.item for item in items if item.item not in answers):
            missing[part.kind] = lacking
    return SubmissionFiles(answers, missing, tuple(absent), _ignored(root))


def _text(line: Line) -> str:
    """The answer of a line. Raises `InputError` for one that is too long."""
    text: str = line.row["text"]
    if len(text) > LONGEST_ANSWER:
        raise InputError(
            f"{line.where} has {len(text):,} characters, and an answer at most {LONGEST_ANSWER:,}: send the "
            "answer alone."
        )
    return text


def _root(folder: Path) -> Path:
    """The folder that holds result files. Raises `InputError` where none does, or several do."""
    roots = [path for path in (folder, *_inner(folder)) if _holds_results(path)]
    if not roots:
        raise InputError(
            f"the submission holds none of the result files {', '.join(_NAMES)}: zip them without a folder. "
            f"It holds {_listed(_ignored(folder)) or 'nothing'}."
        )
    if len(roots) > 1:
        names = _listed(path.name for path in roots if path != folder)
        raise InputError(
            f"the submission holds result files in several folders ({names}): zip the files of one system."
        )
    return roots[0]


def _inner(folder: Path) -> list[Path]:
    """The folders in a folder, sorted, and no links. Raises `InputError` where it cannot be read."""
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())
    except OSError as error:
        raise InputError(f"cannot read the submission {folder}: {error.strerror or error}.") from None


def _holds_results(folder: Path) -> bool:
    """Whether a result file lies in the folder; never in one that an archiver or a desktop adds."""
    by_others = folder.name.startswith(("__MACOSX", "."))
    return not by_others and any(_lies(folder / name) for name in _NAMES)


def _lies(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def _is_result_file(path: Path) -> bool:
    """Whether a result file lies there. Raises `InputError` for what is no file, and one too large."""
    if not _lies(path):
        return False
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{path.name} of the submission is a link or no file: zip the file itself.")
    if status.st_size > MOST_BYTES:
        raise InputError(
            f"{path.name} of the submission has {status.st_size:,} bytes, and a result file at most "
            f"{MOST_BYTES:,}: leave out what is neither input, response nor prompt."
        )
    return True


def _ignored(root: Path) -> tuple[str, ...]:
    """The names of what is no result file, sorted."""
    return tuple(sorted(path.name for path in root.iterdir() if path.name not in {*_NAMES, *_OF_THE_HOST}))


def _listed(names: Iterable[str]) -> str:
    """The first names, each on one line and cut."""
    texts = [repr(one_line(name, 40)) for name in names]
    remainder = f" and {len(texts) - MOST_NAMED} more" if len(texts) > MOST_NAMED else ""
    return ", ".join(texts[:MOST_NAMED]) + remainder
