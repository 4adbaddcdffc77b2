"""A submission to the competition becomes a run, and the board says of it what the scoring program says."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.systems.cliniqlink.conftest import KINDS, dump
from tests.systems.cliniqlink.conftest import load as load_json
from tests.systems.cliniqlink.submissions.making import answers, fake_encoder, write_exam

from vivavoce.core.errors import InputError
from vivavoce.run.run import open_run
from vivavoce.systems.cliniqlink.exporter import write_blank
from vivavoce.systems.cliniqlink.submissions import scoring
from vivavoce.systems.cliniqlink.submissions.board import read_board
from vivavoce.systems.cliniqlink.submissions.bundle import write_bundle
from vivavoce.systems.cliniqlink.submissions.competition import read_competition
from vivavoce.systems.cliniqlink.submissions.imports import import_submission

Viva = Callable[..., Any]


class Sent(NamedTuple):
    """The exam, and the folder of a submission to it with all answers."""

    spec: str
    folder: Path

    def change(self, kind: str, **lists: Any) -> None:
        dump(self.folder / f"{kind}.json", load_json(self.folder / f"{kind}.json") | lists)


@pytest.fixture(autouse=True)
def _encoder() -> Iterator[None]:
    with fake_encoder():
        yield


@pytest.fixture
def sent(tmp_path: Path) -> Sent:
    spec = write_exam(tmp_path / "data", 3)
    write_blank(spec, tmp_path / "team")
    texts = answers(spec, 0.7, 1)
    submission = Sent(spec, tmp_path / "team")
    for kind in KINDS.values():
        inputs = load_json(tmp_path / "team" / f"{kind}.json")["inputs"]
        submission.change(kind, responses=[texts[row["id"]] for row in inputs])
    return submission


def on_codabench(sent: Sent, tmp_path: Path) -> dict[str, float]:
    """What the scoring program says of the submission."""
    write_bundle(sent.spec, tmp_path / "bundle", read_competition("lab/x:1", "2026-12-01", None))
    shutil.copytree(tmp_path / "bundle" / "reference_data", tmp_path / "input" / "ref")
    shutil.copytree(sent.folder, tmp_path / "input" / "res")
    assert scoring.DONE == scoring.main([str(tmp_path / "input"), str(tmp_path / "output")])
    return load_json(tmp_path / "output" / "scores.json")


def lacks_nothing(sent: Sent) -> None:
    pass


def lacks_answers(sent: Sent) -> None:
    """A null, a question without an entry, a format without a file."""
    true_false = load_json(sent.folder / "true_false.json")
    sent.change("true_false", responses=[None, *true_false["responses"][1:]])
    short = load_json(sent.folder / "short.json")
    sent.change("short", **{name: short[name][1:] for name in ("inputs", "responses", "prompts")})
    (sent.folder / "list.json").unlink()


def claims_gold(sent: Sent) -> None:
    rows = load_json(sent.folder / "true_false.json")["inputs"]
    sent.change("true_false", inputs=[row | {"answer": "False"} for row in rows])


def lies_in_a_folder(sent: Sent) -> None:
    (sent.folder / "inner").mkdir()
    for file in sent.folder.glob("*.json"):
        file.rename(sent.folder / "inner" / file.name)


@pytest.mark.parametrize("kind", [lacks_nothing, lacks_answers, claims_gold, lies_in_a_folder])
def test_the_board_gives_a_submission_the_figures_of_the_scoring_program(
    sent: Sent, tmp_path: Path, kind: Callable[[Sent], None]
) -> None:
    kind(sent)
    figures = on_codabench(sent, tmp_path)
    run = tmp_path / "submissions" / "a.viva"
    run.parent.mkdir()
    import_submission(sent.folder, sent.spec, run)
    open_run(run).score("cliniqlink")
    (row,) = read_board(run.parent, benchmark=sent.spec).rows
    assert figures == {"overall": row.overall, **row.formats, "missing": row.n_missing}


def test_what_the_program_refuses_leaves_no_run(sent: Sent, tmp_path: Path) -> None:
    sent.change("true_false", responses=["True"])
    with pytest.raises(InputError, match="3 inputs and 1 responses"):
        import_submission(sent.folder, sent.spec, tmp_path / "r.viva")
    assert not (tmp_path / "r.viva").exists()


def test_another_exam_than_the_challenges_is_refused(sent: Sent, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        import_submission(sent.folder, "sample", tmp_path / "r.viva")
    assert not (tmp_path / "r.viva").exists()


def test_in_the_shell(viva: Viva, sent: Sent, tmp_path: Path) -> None:
    lacks_answers(sent)
    run = tmp_path / "team a.viva"
    out = viva("challenge", "import", sent.folder, "--benchmark", sent.spec, "--to", run).stdout
    assert f"Next: `viva score '{run}' cliniqlink`." in out
    assert ["team"] == open_run(run).responses["candidate"].unique().to_list()
    with pytest.raises(InputError, match="import needs the exam and a run"):
        viva("challenge", "import", sent.folder, "--to", run)
