"""`viva demo`: eight lines and a report, offline, and nothing of a user's is ever replaced."""

import json
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.absent import absent
from tests.demo_folder import can_be_cut_off, demo_folder, python_demo_folder

from vivavoce.benchmarks.sample import CANDIDATES, recorded
from vivavoce.cli import demo
from vivavoce.core import registry
from vivavoce.core.errors import StoreError
from vivavoce.core.numbers import printed
from vivavoce.run.run import open_run
from vivavoce.store import read

Viva = Callable[..., Any]


@pytest.fixture(scope="module")
def demo_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder in which the demo has run, and what it printed."""
    return demo_folder(tmp_path_factory.mktemp("demo"))


def test_it_says_what_it_did_in_eight_lines(demo_files: tuple[Path, str]) -> None:
    lines = demo_files[1].splitlines()
    steps = ("imported", "scored", "leaderboard", "verdict", "bias", "studied", "missing", "report")
    assert [f"{n} {step}:" for n, step in enumerate(steps, 1)] == [" ".join(x.split()[:2]) for x in lines]


def test_it_needs_no_network(demo_files: tuple[Path, str]) -> None:
    """The fixture cuts it off where that can be done."""
    if not can_be_cut_off():
        absent("no process can be cut off from the network here (unshare)")
    assert "Open viva-demo/demo.html" in demo_files[1]


def test_it_ends_with_the_report_and_a_warning(demo_files: tuple[Path, str]) -> None:
    folder, said = demo_files
    last = said.splitlines()[-1]
    assert last.endswith("Open viva-demo/demo.html")
    assert "not for clinical use" in last
    page = (folder / "viva-demo" / "demo.html").read_text(encoding="utf-8")
    assert "Model A (made up)" in page


def test_lines_say_what_can_be_typed_next(demo_files: tuple[Path, str]) -> None:
    """All but the last, which names the report."""
    lines = demo_files[1].splitlines()
    assert [line.split()[1] != "report:" for line in lines] == ["  ->  viva " in line for line in lines]


def test_what_it_says_to_type_next_works(demo_files: tuple[Path, str], viva: Viva, monkeypatch: Any) -> None:
    monkeypatch.chdir(demo_files[0])
    for line in filter(lambda line: "  ->  " in line, demo_files[1].splitlines()):
        words = shlex.split(line.partition("  ->  viva ")[2])
        viva(*words, code=1 if words[0] == "status" else 0)  # some answers of the demo never came


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
def test_what_it_writes_is_its_owners_alone(demo_files: tuple[Path, str]) -> None:
    """It ran under a umask that hides nothing."""
    folder = demo_files[0] / "viva-demo"
    modes = {path.name: oct(path.stat().st_mode & 0o777) for path in (folder, *folder.iterdir())}
    assert {"viva-demo": "0o700", "demo.viva": "0o600", "demo.html": "0o600"} == modes


def test_it_leaves_a_run_and_a_report(demo_files: tuple[Path, str]) -> None:
    folder, _ = demo_files
    assert {"demo.viva", "demo.html"} == {path.name for path in (folder / "viva-demo").iterdir()}
    run = open_run(folder / "viva-demo" / "demo.viva")
    assert set(CANDIDATES) == set(run.responses["candidate"])
    assert {"accuracy", "list_f1", "exact", "token_f1", "rouge(n=L)"} <= {m.metric for m in run.measures}


def test_the_first_candidate_is_shown_to_be_better_than_the_last(demo_files: tuple[Path, str]) -> None:
    verdict = demo_files[1].splitlines()[3]
    assert "Model A is better than Model C" in verdict


def test_the_bias_line_says_who_takes_up_what_a_sentence_suggests(demo_files: tuple[Path, str]) -> None:
    run = open_run(demo_files[0] / "viva-demo" / "demo.viva")
    for name in CANDIDATES:
        marks = run.scores.filter(metric="planted", candidate=name, repeat=1)
        rates = [
            marks.filter(pl.col("variant").str.starts_with(variant))["value"].fill_null(0).mean()
            for variant in ("bias:", "neutral")
        ]
        sides = (printed(rate, ".0%") for rate in rates)
        said = f"{name.removesuffix(' (made up)')} {', '.join(sides)} beside a neutral sentence"
        assert said in demo_files[1].splitlines()[4]
    assert demo_files[1].splitlines()[4].partition("  ->")[0].endswith("a bias of Model C")


def test_the_studied_line_says_which_studies_found_too_little(demo_files: tuple[Path, str]) -> None:
    with open_run(demo_files[0] / "viva-demo" / "demo.viva").file.reading() as db:
        findings = {name: read.findings(db, name) for name in registry.members("study")}
    telling = [
        name
        for name, stored in findings.items()
        if any(not row["reason"] for finding in stored for row in finding["rows"])
    ]
    assert ["ranking"] == telling
    few = "agreement, consistency, correlation, gaps"
    assert f"6 studied: bias, ranking; too little to tell: {few}  ->" in demo_files[1]


def test_what_is_missing_is_not_called_a_zero_nor_the_contrary(demo_files: tuple[Path, str]) -> None:
    line = demo_files[1].splitlines()[6]
    assert "9 answers blank or refused, 7 unreadable, 3 failed, of 432; each metric declares" in line
    assert line.endswith("viva status viva-demo/demo.viva")


# A second run, and a folder that holds other files


@pytest.fixture
def folder(demo_files: tuple[Path, str], tmp_path: Path) -> Path:
    """A copy of the demo's folder."""
    return Path(shutil.copytree(demo_files[0] / "viva-demo", tmp_path / "viva-demo"))


def test_a_second_demo_starts_anew_and_json_has_a_row_for_each_step(folder: Path, viva: Viva) -> None:
    """Other files of the folder stay."""
    (folder / "notes.txt").write_text("mine")

    def n_tests() -> int:
        return len(open_run(folder / "demo.viva").interim().rows)

    viva("compare", folder / "demo.viva", *CANDIDATES, "--metric", "accuracy", "--margin", "0.3")
    assert n_tests() > 3
    answer = json.loads(viva("demo", "--to", folder, "--json").stdout)
    assert 3 == n_tests()
    assert ("viva.demo/1", str(folder / "demo.viva")) == (answer["schema"], answer["run"])
    assert 8 == len(answer["rows"])
    assert {("step", "said", "next")} == {tuple(row) for row in answer["rows"]}
    assert "mine" == (folder / "notes.txt").read_text()


def test_quiet_prints_nothing(viva: Viva, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "_steps", lambda folder: iter([demo.Step("imported", "12 answers", None)]))
    assert "1 imported: 12 answers\n" == viva("demo", "--to", tmp_path).stdout
    result = viva("demo", "--to", tmp_path, "--quiet")
    assert ("", "") == (result.stdout, result.stderr)


def test_an_empty_file_holds_nothing_that_could_be_lost(tmp_path: Path) -> None:
    (tmp_path / "demo.viva").touch()
    assert not demo._new_run(tmp_path).file.exists


def refused(folder: Path, viva: Viva) -> str:
    """The sentence of a demo that does not start; everything in the folder is as it was."""
    before = {path: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(StoreError) as error:
        viva("demo", "--to", folder)
    assert before == {path: path.read_bytes() for path in folder.iterdir()}
    return str(error.value)


def test_a_run_with_another_candidate_is_never_replaced(folder: Path, viva: Viva, tmp_path: Path) -> None:
    with recorded() as path:
        line = path.read_text(encoding="utf-8").splitlines()[0]
    (tmp_path / "mine.jsonl").write_text(json.dumps(json.loads(line) | {"candidate": "mine"}) + "\n")
    open_run(folder / "demo.viva").import_answers(tmp_path / "mine.jsonl", benchmark="sample")
    assert "is there already and is no demo's run: give another folder with --to." in refused(folder, viva)


def test_a_run_with_marks_from_elsewhere_is_never_replaced(folder: Path, viva: Viva, tmp_path: Path) -> None:
    run = open_run(folder / "demo.viva")
    item = run.items.filter(variant="")["item"][0]
    row = {"item": item, "candidate": CANDIDATES[0], "value": 1}
    (tmp_path / "marks.jsonl").write_text(json.dumps(row) + "\n")
    run.import_scores(tmp_path / "marks.jsonl", measure="panel(of=us)", range={"*": (0, 1)})
    assert "is no demo's run" in refused(folder, viva)


@pytest.mark.parametrize("text", ["mine", "SQLite format 3\0"])
def test_another_file_of_that_name_is_never_replaced(tmp_path: Path, viva: Viva, text: str) -> None:
    (tmp_path / "demo.viva").write_text(text)
    assert "is no demo's run" in refused(tmp_path, viva)


def test_another_page_of_that_name_is_never_replaced(tmp_path: Path, viva: Viva) -> None:
    (tmp_path / "demo.html").write_text("mine")
    assert "is no report" in refused(tmp_path, viva)


def test_a_link_is_no_demo(folder: Path, viva: Viva, tmp_path: Path) -> None:
    (tmp_path / "real.viva").write_bytes((folder / "demo.viva").read_bytes())
    (folder / "demo.viva").unlink()
    (folder / "demo.viva").symlink_to(tmp_path / "real.viva")
    assert "is no demo's run" in refused(folder, viva)


@pytest.mark.parametrize("where", ["/proc/demo", "file/demo"])
def test_a_place_that_takes_no_folder(tmp_path: Path, viva: Viva, where: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"cannot make the folder .*Give another with --to\."):
        viva("demo", "--to", tmp_path / where)


# The Python of it


def test_the_python_example_gives_the_marks_of_the_demo(demo_files: tuple[Path, str], tmp_path: Path) -> None:
    folder, printed = python_demo_folder(tmp_path)
    assert printed.splitlines()[-1].endswith("viva-demo/demo.html")
    columns = ["item", "variant", "candidate", "repeat", "metric", "criterion", "value"]
    mine, theirs = (
        open_run(folder / "viva-demo" / "demo.viva").scores.select(columns).sort(columns)
        for folder in (folder, demo_files[0])
    )
    assert mine.equals(theirs.filter(pl.col("metric").is_in(mine["metric"].unique().to_list())))
    assert mine.height
