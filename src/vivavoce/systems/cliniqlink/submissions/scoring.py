"""What the scoring program does: the answers of one submission, scored as `viva score` scores them.

A question without an answer counts as an empty one: the paper's accuracy divides by all N questions. What is
printed and written are means of formats: of a single question they say whether its answer was right only
where the format has no other question, or the submission answers no other.
"""

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vivavoce._version import __version__
from vivavoce.benchmarks import Loaded, load
from vivavoce.core.errors import InputError, MetricError, VivaError
from vivavoce.core.json_text import read_json_file
from vivavoce.core.private_files import private_folder, write_all_private
from vivavoce.core.specs import Spec
from vivavoce.core.text import one_line, printable
from vivavoce.run.run import open_run
from vivavoce.systems.cliniqlink.exam_files import EXAM
from vivavoce.systems.cliniqlink.submissions.page import html_page
from vivavoce.systems.cliniqlink.submissions.submission_files import SubmissionFiles, read_submission
from vivavoce.systems.cliniqlink.submissions.terms import COLUMNS, OVERALL_COLUMN, exam_digest

SCHEMA = "viva.competition/1"
SETTINGS = "competition.json"
"""The file of the reference data that says how to score."""
OUTPUTS = ("detailed_results.html", "scores.json", "scores.txt")
DONE, BROKEN, REFUSED = 0, 1, 2
LONGEST_SENTENCE = 1_000
"""Characters of what is said of a submission; it may quote an id or an option of any length."""

Rows = Mapping[str, Mapping[str, Any]]
"""The rows of the study of overalls, by format."""


def main(words: Sequence[str]) -> int:
    """Score the submission in the folder `words[0]` into the folder `words[1]`; the exit code.

    2 for what the submission, or the bundle, must mend. A fault of ours is named by its kind and place alone,
    since its message could quote the key.
    """
    if len(words) != 2:
        print("scoring_program.py INPUT OUTPUT: two folders are needed.", file=sys.stderr)
        return REFUSED
    try:
        scores = score_submission(Path(words[0]), Path(words[1]))
    except VivaError as error:
        print(one_line(printable(str(error)), LONGEST_SENTENCE), file=sys.stderr)
        return REFUSED
    except Exception as error:
        trace = error.__traceback__
        while trace and trace.tb_next:
            trace = trace.tb_next
        place = f"{Path(trace.tb_frame.f_code.co_filename).name}, line {trace.tb_lineno}" if trace else "?"
        print(f"The scoring program broke: {type(error).__name__} in {place}.", file=sys.stderr)
        return BROKEN
    print(f"Overall {scores['overall']:.4f}; {scores['missing']} questions without an answer.")
    return DONE


def score_submission(source: Path, to: Path) -> dict[str, float]:
    """Score the submission in `source/res` by the reference data in `source/ref`; write three files to `to`.

    Raises `InputError` for a submission or a bundle that cannot be read, `MetricError` where answers could
    not be scored, which leaves no file.
    """
    _remove_earlier(to)
    settings = _settings(source / "ref")
    exam = load(Spec(EXAM, {"data": str(source / "ref")}))
    if exam_digest(exam.items) != settings["exam"]:
        raise InputError("the reference data are not those that the bundle was written with: upload it anew.")
    files = read_submission(source / "res", exam)
    rows = _rows(exam, settings["metric"], files)
    scores = _scores(rows, files)
    page = html_page("details.html", metric=settings["metric"], **_details(exam, rows, files))
    listed = "".join(f"{name}: {value}\n" for name, value in scores.items())
    texts = (page, json.dumps(scores, indent=1) + "\n", listed)
    with _written_to(to):
        private_folder(to)
        write_all_private({to / name: text for name, text in zip(OUTPUTS, texts, strict=True)})
    return scores


def _remove_earlier(folder: Path) -> None:
    """Remove what an earlier submission left: where this one is refused its scores would stand for it."""
    with _written_to(folder):
        for name in OUTPUTS:
            (folder / name).unlink(missing_ok=True)


@contextmanager
def _written_to(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror or error}.") from None


def _settings(folder: Path) -> dict[str, str]:
    settings = read_json_file(folder / SETTINGS)
    keys = ("schema", "vivavoce", "metric", "exam")
    if not isinstance(settings, dict) or not all(isinstance(settings.get(key), str) for key in keys):
        raise InputError(f"{folder / SETTINGS} is not as `viva challenge bundle` writes it.")
    if (settings["schema"], settings["vivavoce"]) != (SCHEMA, __version__):
        raise InputError(
            f"the bundle was written by vivavoce {settings['vivavoce']} and its image has {__version__}, "
            "which may score otherwise: build the image anew, or the bundle."
        )
    return settings


def _rows(exam: Loaded, metric: str, files: SubmissionFiles) -> Rows:
    """The overall and its formats. The run that is scored holds the key, and is gone before this returns."""
    lines = files.rows(exam.items, "submission", missing="")
    with tempfile.TemporaryDirectory(prefix="viva-") as folder:
        run = open_run(Path(folder) / "submission.viva")
        run.import_answers(lines, benchmark=exam.spec)
        run.score(metric, offline=True)
        rows = {row["format"]: row for row in run.study("overall")["overall"].rows}
    if failed := sum(rows[column.format]["n_failed"] for column in COLUMNS):
        raise MetricError(
            f"{failed} of {len(exam.items)} answers could not be scored, by no fault of the submission: the "
            "organisers look at their image, and this submission is not counted."
        )
    if rows[OVERALL_COLUMN.format]["estimate"] is None:  # no score is ok: that is no result, and no 0
        raise InputError(
            f"no answer of the submission could be read in the form that its question asks for "
            f"({len(files.answers)} answers to {len(exam.items)} questions): there is nothing to score."
        )
    return rows


def _scores(rows: Rows, files: SubmissionFiles) -> dict[str, float]:
    """What CodaBench puts on its leaderboard, by the keys of competition.yaml."""
    means = {column.key: rows[column.format]["estimate"] for column in (OVERALL_COLUMN, *COLUMNS)}
    return means | {"missing": sum(map(len, files.missing.values()))}


def _details(exam: Loaded, rows: Rows, files: SubmissionFiles) -> dict[str, Any]:
    counts = {column.key: 0 for column in COLUMNS}
    by_format = {column.format: column.key for column in COLUMNS}
    for item in exam.items:
        counts[by_format[item.format]] += 1
    return {
        "overall": rows[OVERALL_COLUMN.format],
        "columns": [
            (column, rows[column.format], counts[column.key], len(files.missing.get(column.key, ())))
            for column in COLUMNS
        ],
        "files": files,
        "n_missing": sum(map(len, files.missing.values())),
        "n_items": len(exam.items),
    }
