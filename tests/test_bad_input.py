"""What a user may get wrong: exit code 2 and one sentence on stderr that says what, where and what next."""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from tests.studies.making import TOLD, borrowed, exam, made, marked, score, twins

from vivavoce import cli
from vivavoce.run import Run

Viva = Callable[..., tuple[int, str, str]]


@pytest.fixture
def viva(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Viva]:
    """The command line as a user meets it: exit code, stdout and stderr."""

    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["viva", *map(str, words)])
        capsys.readouterr()
        try:
            cli.main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        out, err = capsys.readouterr()
        return code, out, err

    with borrowed():
        yield call


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return marked(tmp_path, {"Model A": twins([1, 0] * 6), "Model B": twins([0, 0] * 6)})


def refused(said: tuple[int, str, str]) -> str:
    """The one sentence of an error."""
    code, out, err = said
    assert (2, "") == (code, out)
    assert err.startswith("viva: ")
    assert "Traceback" not in err
    assert err.count("\n") == 1
    return err


def plugin(folder: Path, body: str) -> Path:
    """A plugin with the metric `mine`, whose values are this expression."""
    path = folder / "mine.py"
    path.write_text(
        "from vivavoce import Criterion, Value, metric\n\n\n"
        '@metric("mine")\nclass Mine:\n    """Of a test."""\n\n'
        '    criteria = (Criterion(criterion="worth"),)\n    formats = ("short",)\n    needs = ()\n\n'
        f"    def values(self, rows, lab):\n        return {body}\n"
    )
    return path


def test_a_metric_without_references(viva: Viva, tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": "x", "q2": "y"}}, items=["q1", {"item": "q2", "references": []}])
    said = refused(viva("score", run.file.path, "rouge(n=1)"))
    assert "rouge(n=1) needs references, and 1 of the 2 items it would mark have none: q2." in said


def test_no_common_item_is_a_verdict_and_no_error(viva: Viva, tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": {"q1": 1}, "B": {"q2": 1}})
    code, out, err = viva("compare", run.file.path, "A", "B", "--metric", "told")
    assert (0, "") == (code, err)
    assert "These two cannot be compared: no question has marks of both." in out


def test_a_plugin_value_out_of_range(viva: Viva, tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    file = plugin(tmp_path, '[{"worth": Value(7)} for _ in rows]')
    said = refused(viva("score", run.file.path, "mine", "--plugin", file))
    assert "mine on q1, answer of A (repeat 1): worth = 7.0 lies outside its declared range 0 to 1." in said


def test_a_plugin_that_crashes_while_marking(viva: Viva, tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    file = plugin(tmp_path, "1 / 0")
    said = refused(viva("score", run.file.path, "mine", "--plugin", file))
    assert "mine broke while marking q1 and 0 further answers: ZeroDivisionError" in said
    assert "What was marked before is stored." in said


def test_a_plugin_that_crashes_while_loading(viva: Viva, tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    (tmp_path / "broken.py").write_text("import nowhere_to_be_found\n")
    said = refused(viva("score", run.file.path, "mine", "--plugin", tmp_path / "broken.py"))
    assert "broken.py' cannot be loaded: ModuleNotFoundError" in said


def test_a_plugin_that_is_not_there(viva: Viva, run: Run) -> None:
    assert "no plugin file at" in refused(viva("score", run.file.path, "told", "--plugin", "nowhere.py"))


def test_an_unknown_metric(viva: Viva, run: Run) -> None:
    said = refused(viva("score", run.file.path, "rogue(n=1)"))
    assert "no metric named 'rogue'. Did you mean 'rouge'?" in said


def test_an_unknown_setting(viva: Viva, run: Run) -> None:
    said = refused(viva("score", run.file.path, "token_f1(token=squad)"))
    assert "token_f1 has no setting 'token'. Did you mean 'tokens'?" in said


def test_a_setting_that_is_needed(viva: Viva, run: Run) -> None:
    assert "rouge needs n=1|2|L" in refused(viva("score", run.file.path, "rouge"))


def test_an_unknown_candidate(viva: Viva, run: Run) -> None:
    said = refused(viva("compare", run.file.path, "Model A", "Modell B", "--metric", "told"))
    assert "no candidate named 'Modell B' in this run. Did you mean 'Model B' or 'Model A'?" in said


def test_one_candidate_alone(viva: Viva, run: Run) -> None:
    said = refused(viva("compare", run.file.path, "Model A", "--metric", "told"))
    assert "compare takes two or more different candidates. Known: Model A, Model B." in said


def test_a_metric_that_did_not_mark_this_run(viva: Viva, run: Run) -> None:
    said = refused(viva("compare", run.file.path, "Model A", "Model B", "--metric", "tolt"))
    assert "'tolt' matches none of what this run was marked by: told." in said
    assert "Did you mean 'told'?" in said


def test_a_metric_that_matches_several_is_listed(viva: Viva, run: Run) -> None:
    score(run, "told(least=0.1)", "told(least=0.2)")
    said = refused(viva("compare", run.file.path, "Model A", "Model B", "--metric", "told(direction=higher)"))
    assert "matches several" in said
    assert "told, told(least=0.1), told(least=0.2)." in said


def test_compare_before_score(viva: Viva, tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": 1}, "B": {"q1": 1}})
    said = refused(viva("compare", run.file.path, "A", "B", "--metric", "told"))
    assert f"nothing has been marked in this run yet: `viva score {run.file.path} METRIC` does that." in said


def test_compare_of_candidates_that_came_after_the_marks(viva: Viva, run: Run, tmp_path: Path) -> None:
    items = list(twins([0] * 12))
    made(tmp_path, {"Model C": twins([1] * 12), "Model D": twins([1] * 12)}, items=items, run=run)
    said = refused(viva("compare", run.file.path, "Model C", "Model D", "--metric", "told"))
    assert f"none of these candidates has marks by told: `viva score {run.file.path}" in said


@pytest.mark.parametrize(
    "words",
    [
        ("score", "told"),
        ("compare", "A", "B", "--metric", "told"),
        ("status",),
        ("report",),
        ("copy", "other.viva"),
    ],
)
def test_a_run_that_does_not_exist(viva: Viva, tmp_path: Path, words: Sequence[str]) -> None:
    said = refused(
        viva(words[0], tmp_path / "none.viva", *words[1:], *(["--plugin", TOLD] * (words[0] == "score")))
    )
    assert f"no run at {tmp_path / 'none.viva'}" in said
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("margin", ["-0.1", "0", "nan", "inf"])
def test_a_margin_that_is_no_margin(viva: Viva, run: Run, margin: str) -> None:
    said = refused(
        viva("compare", run.file.path, "Model A", "Model B", "--metric", "told", f"--margin={margin}")
    )
    assert "a margin is a number above 0 in the metric's units, not " in said


def test_items_of_another_benchmark(viva: Viva, run: Run, tmp_path: Path) -> None:
    other = exam(tmp_path, ["q00"], name="other")
    for words in (
        ("score", run.file.path, "told", "--plugin", TOLD),
        ("compare", run.file.path, "Model A", "Model B", "--metric", "told"),
        ("report", run.file.path),
    ):
        said = refused(viva(*words, "--items", other))
        assert "this run has no items of other; it holds exam." in said


def test_items_whose_wording_changed(viva: Viva, run: Run, tmp_path: Path) -> None:
    changed = exam(tmp_path, [{"item": "q00", "question": "Other words?"}, "q01"])
    said = refused(viva("score", run.file.path, "told", "--plugin", TOLD, "--items", changed))
    assert "1 of these items are worded otherwise in this run: q00" in said


def test_a_spec_that_cannot_be_read(viva: Viva, run: Run) -> None:
    said = refused(viva("score", run.file.path, "rouge(n=1"))
    assert re.search(r"cannot read the spec 'rouge\(n=1': at position \d+ it needs a comma", said)


def test_a_role_that_is_none(viva: Viva, run: Run, tmp_path: Path) -> None:
    said = refused(
        viva("import", run.file.path, "x.jsonl", "--benchmark", "hivmedqa", "--role", "Model A=sun")
    )
    assert "--role Model A=sun: a role is candidate, floor or ceiling." in said


@pytest.mark.parametrize("word", ["item", "=x", "item="])
def test_a_mapping_that_is_none(viva: Viva, run: Run, word: str) -> None:
    said = refused(viva("import", run.file.path, "x.jsonl", "--benchmark", "b", "--map", word))
    assert f"--map {word!r}: write --map name=value." in said


def test_a_report_to_where_nothing_can_be_written(viva: Viva, run: Run) -> None:
    said = refused(viva("report", run.file.path, "--to", "/proc/report.html"))
    assert "cannot write the report to /proc/report.html" in said
    assert "Give another path with --to." in said


def test_a_report_to_a_folder(viva: Viva, run: Run, tmp_path: Path) -> None:
    assert f"{tmp_path} is a folder" in refused(viva("report", run.file.path, "--to", tmp_path))
    assert " is a folder" in refused(viva("report", run.file.path, "--to", "."))


def test_a_report_never_overwrites_the_run(viva: Viva, run: Run) -> None:
    before = run.scores.height
    said = refused(viva("report", run.file.path, "--to", run.file.path))
    assert "is the run itself" in said
    assert before == run.scores.height


@pytest.mark.parametrize("name", ["rogue", "hivmedq"])
def test_show_of_an_unknown_name(viva: Viva, name: str) -> None:
    assert "Did you mean" in refused(viva("show", name))
