"""The result files of a submission as a run: what the scoring program reads, for the board."""

from pathlib import Path

from vivavoce.benchmarks import load
from vivavoce.core.text import one_line
from vivavoce.run.exchange.imported import Imported
from vivavoce.run.run import open_run
from vivavoce.systems.cliniqlink.exam_files import refuse_others
from vivavoce.systems.cliniqlink.submissions.submission_files import read_submission


def import_submission(folder: Path, benchmark: str, to: Path, *, candidate: str | None = None) -> Imported:
    """Store the answers in a submission's result files in the run at `to`; without a name its folder's.

    A question without an answer becomes a null, which the board counts as an empty answer, as the scoring
    program does. Raises `InputError` for what the program refuses, and for another exam than the challenge's.
    """
    exam = load(benchmark)
    refuse_others(exam)
    files = read_submission(folder, exam)
    name = candidate or one_line(folder.resolve().name, 80) or "submission"
    return open_run(to).import_answers(files.rows(exam.items, name, missing=None), benchmark=exam.spec)
