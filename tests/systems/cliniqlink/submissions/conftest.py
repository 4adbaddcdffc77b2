"""Submissions to rank: scored runs of several shares of right answers, and what lays them into a folder."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.finished_runs import finished_run
from tests.systems.cliniqlink.submissions.making import (
    SHARES,
    answers,
    exam_spec,
    fake_encoder,
    scored,
    write_exam,
)

TOGETHER = "together.json"
PAIR = ("best", "low")
"""The submissions of a folder of two."""


class Made(NamedTuple):
    """Scored runs to one exam, by the share of right answers, and some that are not for the board."""

    spec: str
    runs: dict[str, Path]
    together: dict[str, dict[str, Any]]
    """The study's overall of each, where all are candidates of one run."""


@pytest.fixture(scope="module")
def made(scored_runs: Made) -> Iterator[Made]:
    with fake_encoder():
        yield scored_runs


def write_runs(folder: Path) -> None:
    """Write the exam and all runs, and the study's overalls as JSON."""
    with fake_encoder():
        spec = write_exam(folder / "data", 12)
        texts = {name: answers(spec, share, k) for k, (name, share) in enumerate(SHARES.items())}
        runs = {name: folder / f"{name}.viva" for name in texts}
        for name, path in runs.items():
            scored(path, spec, {"my-model": texts[name]})
        rows = scored(folder / "together.viva", spec, texts).study("overall")["overall"].rows
        runs["published"] = folder / "published.viva"
        scored(runs["published"], spec, {"my-model": texts["best"]}, ("cliniqlink(rules=published)",))
        runs["unscored"] = folder / "unscored.viva"
        scored(runs["unscored"], spec, {"my-model": texts["best"]}, ("accuracy",))
        runs["two"] = folder / "two.viva"
        scored(runs["two"], spec, {"one": texts["best"], "other": texts["low"]})
        lacking = dict.fromkeys(("TF-0", "list-3"), "")
        runs["blank"] = folder / "blank.viva"
        scored(runs["blank"], spec, {"my-model": texts["good"] | lacking})
        runs["missing"] = folder / "missing.viva"
        present = {item: text for item, text in texts["good"].items() if item != "TF-0"}
        scored(runs["missing"], spec, {"my-model": present | {"list-3": None}})
        runs["failed"] = folder / "failed.viva"
        failed = {"item": "TF-0", "candidate": "my-model", "text": None, "error": "timeout"}
        scored(runs["failed"], spec, {"my-model": present}, (), more=[failed]).score("cliniqlink")
        runs["half"] = folder / "half.viva"
        scored(runs["half"], spec, {"my-model": present}).import_answers(
            [{"item": "TF-0", "candidate": "my-model", "text": "True"}], benchmark=spec
        )
        other = write_exam(folder / "turned", 12, turned=True)
        runs["other"] = folder / "other.viva"
        scored(runs["other"], other, {"my-model": answers(other, 0.99, 9)})
        few = write_exam(folder / "few", 3)
        for k, name in enumerate(("few one", "few other")):
            runs[name] = folder / f"{name}.viva"
            scored(runs[name], few, {"my-model": answers(few, 0.5, k)})
    overalls = {row["candidate"]: row for row in rows if row["format"] == "overall"}
    (folder / TOGETHER).write_text(json.dumps(overalls), encoding="utf-8")


@pytest.fixture(scope="session")
def scored_runs(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("made")
    finished_run(folder, write_runs)
    runs = {path.stem: path for path in folder.glob("*.viva")}
    together = json.loads((folder / TOGETHER).read_text(encoding="utf-8"))
    return Made(exam_spec(folder / "data"), runs, together)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "submissions"


@pytest.fixture
def put(made: Made, folder: Path) -> Callable[..., Path]:
    """Lays a submission into the folder: a run of that name, and a card of these fields."""

    def lay(place: str, run: str, **fields: object) -> Path:
        (folder / place).mkdir(parents=True)
        shutil.copy(made.runs[run], folder / place / "run.viva")
        lines = (f"{name}: {json.dumps(value)}\n" for name, value in ({"team": place} | fields).items())
        (folder / place / "submission.yaml").write_text("".join(lines), encoding="utf-8")
        return folder / place

    return lay


@pytest.fixture
def pair(put: Callable[..., Path], folder: Path) -> Path:
    """Two submissions of two teams."""
    for day, name in enumerate(PAIR, 1):
        put(name, name, date=f"2026-03-0{day}")
    return folder


@pytest.fixture
def full(put: Callable[..., Path], folder: Path) -> Path:
    """Five submissions of five teams."""
    for day, name in enumerate(SHARES, 1):
        put(name, name, date=f"2026-03-0{day}")
    return folder
