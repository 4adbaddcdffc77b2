"""The competition.yaml of a CodaBench competition (version 2), and the pages that it names.

Source: https://docs.codabench.org/latest/Organizers/Benchmark_Creation/Yaml-Structure/
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from vivavoce._version import __version__
from vivavoce.core.errors import InputError
from vivavoce.core.text import one_line
from vivavoce.systems.cliniqlink.submissions.terms import (
    COLUMNS,
    MOST_SUBMISSIONS,
    OVER,
    OVERALL_COLUMN,
    UP_TO,
)

TITLE = "ClinIQLink: medical question answering in seven formats"
PAGES = {"overview": "Overview", "evaluation": "Evaluation", "data": "Data"}
"""The pages by file, with their titles; terms.md stands apart."""
TIME_LIMIT_S = 7200
"""The encoder of open answers needs about ten minutes of one CPU for the whole challenge of 2025.

Workers of CodaBench's own queue end it after ten minutes whatever stands here; those of a queue of one's own
wait as long.
"""
_IMAGE = re.compile(r"[a-z0-9][A-Za-z0-9._/:@-]{0,254}")
_QUEUE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class Competition(NamedTuple):
    """What an organiser decides: the image that scores, and from when to when answers are taken, in UTC.

    `queue` is the virtual host of the organiser's own queue of compute workers; null takes CodaBench's, which
    end what takes longer than ten minutes.
    """

    image: str
    start: datetime
    end: datetime | None
    queue: str | None = None


def read_competition(
    image: str | None, start: str | None, end: str | None, queue: str | None = None
) -> Competition:
    """The decisions as they were typed. Raises `InputError` for one that is lacking or cannot be."""
    if not image:
        raise InputError(
            "--image names the image that scores, which CodaBench pulls: build it from "
            "examples/cliniqlink/Dockerfile and push it; CodaBench's own image has no vivavoce."
        )
    if not _IMAGE.fullmatch(image):
        raise InputError(f"--image {one_line(image, 60)!r} is no name of an image, such as lab/cliniqlink:1.")
    if not start:
        raise InputError("--start says when the competition begins, such as --start 2026-12-01.")
    first, last = _moment(start, "--start"), _moment(end, "--end") if end else None
    if last and last <= first:
        raise InputError(f"--end {end} is not after --start {start}.")
    if queue and not _QUEUE.fullmatch(queue):
        raise InputError(
            f"--queue {one_line(queue, 60)!r} is no virtual host of a queue: copy it from CodaBench's page "
            "of queues, such as 5d1c6c1f-1b0e-4a4b-9d53-0d3f7a1f2c11."
        )
    return Competition(image, first, last, queue or None)


def _moment(text: str, option: str) -> datetime:
    """A day or a time in UTC."""
    try:
        moment = datetime.fromisoformat(text.strip())
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise InputError(
            f"{option} {one_line(text, 40)!r}: write a day or a time in UTC, such as 2026-12-01 or "
            "2026-12-01T18:00."
        ) from None


def competition_yaml(terms: Competition) -> str:
    """The file that CodaBench reads first. Data are folders of the bundle: a path to one ends in a slash."""
    import yaml

    body = {
        "version": 2,
        "title": TITLE,
        "description": "Questions at the level of a general practitioner, open and closed.",
        "image": "logo.png",
        "terms": "terms.md",
        "registration_auto_approve": False,
        "docker_image": terms.image,
        **({"queue": terms.queue} if terms.queue else {}),
        "make_programs_available": False,
        "make_input_data_available": True,
        "enable_detailed_results": True,
        "show_detailed_results_in_submission_panel": True,
        "show_detailed_results_in_leaderboard": False,
        "can_participants_make_submissions_public": False,
        "pages": [{"title": title, "file": f"{name}.md"} for name, title in PAGES.items()],
        "phases": [_phase(terms)],
        "tasks": [
            {
                "index": 0,
                "name": "Answers to the questions",
                "description": "Seven result files, one for each format.",
                "input_data": "input_data/",
                "reference_data": "reference_data/",
                "scoring_program": "scoring_program/",
            }
        ],
        "fact_sheet": _fact_sheet(),
        "leaderboards": [_leaderboard()],
    }
    return yaml.safe_dump(body, sort_keys=False, width=100)


def _phase(terms: Competition) -> dict[str, Any]:
    """The only phase. Dates are texts: CodaBench takes the time off one that YAML reads as a date."""
    days = {"start": terms.start, "end": terms.end}
    return {
        "index": 0,
        "name": "Submissions",
        "description": "Result files to the questions.",
        **{name: f"{day:%Y-%m-%d %H:%M:%S}" for name, day in days.items() if day},
        "max_submissions": MOST_SUBMISSIONS,
        "execution_time_limit": TIME_LIMIT_S,
        "accepts_only_result_submissions": True,
        "public_data": "input_data/",
        "starting_kit": "starting_kit/",
        "tasks": [0],
    }


def _fact_sheet() -> dict[str, Any]:
    """What a team states with each submission."""
    questions = {
        "system": ("System", "text", ""),
        "size_class": ("Size of all weights", "select", [UP_TO, OVER]),
    }
    return {
        key: {"key": key, "type": kind, "title": title, "selection": selection, "is_required": "true",
              "is_on_leaderboard": "true"}
        for key, (title, kind, selection) in questions.items()
    }  # fmt: skip


def _leaderboard() -> dict[str, Any]:
    """The board: CodaBench orders by the first column, and knows no ties; `viva challenge board` does."""
    columns = [
        {"title": column.title, "key": column.key, "index": place, "sorting": "desc", "precision": 4}
        for place, column in enumerate((OVERALL_COLUMN, *COLUMNS))
    ]
    missing = {"title": "Missing", "key": "missing", "index": len(columns), "sorting": "asc", "precision": 0}
    return {
        "title": "Results",
        "key": "main",
        "submission_rule": "Force_Latest_Multiple",
        "columns": [*columns, missing],
    }


def page_texts(counts: Mapping[str, int], metric: str) -> dict[str, str]:
    """The Markdown pages by file name, with the number of questions by kind of result file."""
    folder = Path(__file__).with_name("pages")
    titles = {column.key: column.title for column in COLUMNS}
    values = {
        "formats": "\n".join(f"| {titles[kind]} | `{kind}.json` | {n:,} |" for kind, n in counts.items()),
        "n_questions": f"{sum(counts.values()):,}",
        "most": str(MOST_SUBMISSIONS),
        "metric": metric,
        "up_to": UP_TO,
        "version": __version__,
    }
    return {
        f"{name}.md": Template((folder / f"{name}.md").read_text(encoding="utf-8")).substitute(values)
        for name in (*PAGES, "terms", "starting_kit")
    }
