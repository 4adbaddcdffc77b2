"""The CodaBench competition as files: what is public without the key, and the reference data with it."""

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from vivavoce._version import __version__
from vivavoce.core import registry, specs
from vivavoce.core.errors import InputError
from vivavoce.systems.cliniqlink.benchmark import PARTS
from vivavoce.systems.cliniqlink.exam_files import (
    EXAM,
    ChallengeExam,
    challenge_exam,
    entry,
    in_parts,
    json_text,
)
from vivavoce.systems.cliniqlink.exporter import put_files, result_body
from vivavoce.systems.cliniqlink.metric import ClinIQLink
from vivavoce.systems.cliniqlink.submissions.competition import Competition, competition_yaml, page_texts
from vivavoce.systems.cliniqlink.submissions.logo import logo_png
from vivavoce.systems.cliniqlink.submissions.scoring import SCHEMA, SETTINGS
from vivavoce.systems.cliniqlink.submissions.terms import METRIC, exam_digest

ZIP = "competition.zip"
PRIVATE = ("reference_data/", ZIP)
"""Where the key is; whatever else the bundle holds may be read by all."""
COMMAND = "python3 /app/program/scoring_program.py /app/input /app/output"
"""What CodaBench runs in the image; the folders are those of its workers."""


class BundleFile(NamedTuple):
    """A file of the bundle: its size in bytes, and whether it holds the key."""

    path: Path
    bytes: int
    key: bool


def write_bundle(
    benchmark: str, to: Path, terms: Competition, *, metric: str = METRIC
) -> tuple[BundleFile, ...]:
    """Write the competition into a folder, and beside it in the same folder the zip that is uploaded.

    `metric` is a spec of cliniqlink. The same call writes the same bytes. Raises `InputError` for an exam
    that lacks its key or one of the seven formats, and for another metric; `StoreError` where other files of
    these names lie there, before anything is written.
    """
    exam = challenge_exam(benchmark)
    _refuse_incomplete(exam)
    spec = _metric_spec(metric)
    files = {
        "competition.yaml": competition_yaml(terms),
        **_pages(exam, spec),
        **_public(exam),
        **_reference(exam, spec),
        **_program(),
    }
    contents = {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}
    contents[ZIP] = _zipped(contents)
    put_files(to, contents)
    return tuple(
        BundleFile(to / name, len(content), name.startswith(PRIVATE)) for name, content in contents.items()
    )


def _refuse_incomplete(exam: ChallengeExam) -> None:
    if not exam.files:
        raise InputError(f"{exam.spec} has no key, and a competition scores by it: name {EXAM}(data=DIR).")
    present = {part.stem for part, _ in in_parts(exam.items)}
    if lacking := [part.stem for part in PARTS if part.stem not in present]:
        raise InputError(
            f"{exam.spec} has no questions of {', '.join(lacking)}: a competition ranks by the mean of all "
            "seven formats."
        )


def _metric_spec(metric: str) -> str:
    """The metric in full. Raises `InputError` for one that does not score all seven formats."""
    built = registry.build("metric", metric)
    if not isinstance(built, ClinIQLink):
        raise InputError(f"--metric {metric}: a competition is scored by {METRIC}, which scores all formats.")
    if built.idf != "corpus":
        raise InputError(
            f"--metric {metric}: idf names a file of this machine, which does not go with the bundle: leave "
            "idf out, and rarity is counted in the references."
        )
    # As it was typed: the image may find the encoder elsewhere than this machine does.
    return str(specs.parse(metric))


def _pages(exam: ChallengeExam, metric: str) -> dict[str, str | bytes]:
    counts = {part.kind: len(items) for part, items in in_parts(exam.items)}
    pages = page_texts(counts, metric)
    return {"logo.png": logo_png(), "starting_kit/README.md": pages.pop("starting_kit.md"), **pages}


def _public(exam: ChallengeExam) -> dict[str, str | bytes]:
    """The questions, and result files to be filled in: what a candidate sees, with ids and hashes."""
    files: dict[str, str | bytes] = {}
    for part, items in in_parts(exam.items):
        files[f"input_data/{part.stem}.json"] = json_text([entry(item) for item in items])
        files[f"starting_kit/{part.kind}.json"] = json_text(result_body(items, [None] * len(items)))
    return files


def _reference(exam: ChallengeExam, metric: str) -> dict[str, str | bytes]:
    """The exam's files, ClinIQLink's own byte by byte, and how they are scored."""
    settings = {"schema": SCHEMA, "vivavoce": __version__, "metric": metric, "exam": exam_digest(exam.items)}
    files: dict[str, str | bytes] = {f"reference_data/{name}": body for name, body in exam.files.items()}
    return files | {f"reference_data/{SETTINGS}": json.dumps(settings, indent=1) + "\n"}


def _program() -> dict[str, str | bytes]:
    script = Path(__file__).with_name("scoring_program.py").read_bytes()
    return {
        "scoring_program/metadata.yaml": f"command: {COMMAND}\n",
        "scoring_program/scoring_program.py": script,
    }


def _zipped(files: Mapping[str, bytes]) -> bytes:
    """A zip of the files in their order, the same bytes each time."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            member = zipfile.ZipInfo(name)  # its date is 1980, and no clock's
            member.compress_type, member.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(member, content)
    return stream.getvalue()
