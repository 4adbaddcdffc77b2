"""The command line: the verbs of `Run` twice, with exit codes, JSON and help."""

import inspect
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import typer.main
from tests.cases import each_case
from tests.lengths import length
from tests.studies.making import SILENT, TOLD, exam, made, marked, twins

from vivavoce import cli
from vivavoce.cli.commands import function_of
from vivavoce.core import registry
from vivavoce.core.cases import CaseCount
from vivavoce.run.fetch import fetch
from vivavoce.run.run import Run
from vivavoce.studies.comparing.compare import COLUMNS as COMPARED
from vivavoce.studies.comparing.estimates import COLUMNS as ESTIMATED
from vivavoce.studies.comparing.status import COLUMNS as COUNTED

BOTH = (
    *("score", "compare", "interim", "study", "diff", "vary", "build", "merge", "status", "report", "export"),
    *("copy", "retire", "forget"),
)
VERBS = (
    *("challenge", "prompts", "fetch", "collect", "run", "demo", "look", "table", "list", "show", "import"),
    *("reproduce", "panel", "annotate", "plan-sample", "shards", "train", "view"),
    *BOTH,
)
METHODS = {
    "collect": Run.collect,
    "import": Run.import_answers,
    **{verb: getattr(Run, verb) for verb in BOTH},
    "compare": Run.gate,  # which compares too
    "fetch": fetch,
}
VIVA = (sys.executable, "-m", "vivavoce")

Viva = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return marked(tmp_path, {"A": twins([1, 0.5] * 6), "B": twins([0.4, SILENT] * 6)})


def test_the_verbs_are_these() -> None:
    group: Any = typer.main.get_command(cli.app)
    assert set(VERBS) == set(group.list_commands(typer.Context(group)))


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_an_example_in_its_help(viva: Viva, verb: str) -> None:
    said = " ".join(viva(verb, "--help").stdout.split())
    assert f"Example: viva {verb}" in said


@pytest.mark.parametrize("words", [("--help",), ("compare", "--help"), ()])
def test_help_loads_nothing_heavy(words: tuple[str, ...]) -> None:
    code = (
        "import sys; from vivavoce import cli\n"
        f"sys.argv = ['viva', *{words!r}]\n"
        "try:\n    cli.main()\nexcept SystemExit:\n    pass\n"
        "print(*[m for m in ('polars', 'numpy', 'scipy', 'sqlite3', 'jinja2', 'vivavoce.run.run') "
        "if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "" == done.stderr.strip()


def default_of(parameter: inspect.Parameter) -> Any:
    """An option left out: null, nothing, or an empty collection are one thing."""
    empty = parameter.default in (inspect.Parameter.empty, None, [], ())
    return None if empty else parameter.default


@each_case("verb", METHODS)
def test_a_verb_has_the_names_and_defaults_of_its_method(verb: str) -> None:
    """`plugin`, `full`, `quiet` and `json` are the command line's own; `progress` is the method's."""
    function = function_of(verb)
    options = {n: default_of(p) for n, p in inspect.signature(function).parameters.items()}
    theirs = {n: default_of(p) for n, p in inspect.signature(METHODS[verb]).parameters.items()}
    for name in ("run", "plugin", "full", "quiet", "json", "context"):  # a finding holds all columns
        options.pop(name, None)
    for name in ("self", "progress", "options"):  # options: settings of one exporter, as of `viva challenge`
        theirs.pop(name, None)
    # `viva import` is five methods, by two flags and the files; a gate's files are the command line's alone.
    for name in ("scores", "ballots", "summary", "junit"):
        options.pop(name, None)
    if verb == "status":
        options.pop("verify")  # `run.verify()` there
        options.pop("watch")  # of what other processes write
        options.pop("every")
    if verb == "export":  # options of single exporters are their fields
        settings = {field.name for cls in registry.members("exporter").values() for field in fields(cls)}
        options = {n: default for n, default in options.items() if n in theirs or n not in settings}
        options.pop("set")  # the same options, by name
    if verb == "compare":
        options.pop("primary")  # of `run.compare`: a gate names its metric
        options.pop("assisted")  # and its candidates
        options.pop("near_duplicates")  # chosen before a gate
        options.pop("view")  # which decides no gate
    if verb == "import":
        marks = inspect.signature(Run.import_scores).parameters.items()
        theirs["reader"] = default_of(inspect.signature(Run.import_logs).parameters["reader"])
        theirs = {n: default_of(p) for n, p in marks if n != "self"} | theirs
        theirs["task"] = default_of(inspect.signature(Run.import_ballots).parameters["task"])
        annotations = inspect.signature(Run.import_annotations).parameters
        theirs |= {n: default_of(annotations[n]) for n in ("partial", "replace")}
        theirs["rater"] = default_of(annotations["raters"])  # one at a time here, a mapping there
        options["criteria"] = options["raters"] = None  # a text with commas here, a list there
        theirs["file"] = theirs.pop("data")  # a frame there too
    if verb == "collect":
        options["models"] = options.pop("model")  # one at a time here, a list there
        theirs.pop("for_")  # the former name of logprobs; `--for` works too
    if verb == "forget":
        options |= {f"{name}s": options.pop(name) for name in ("item", "candidate", "response")}
        options.pop("yes")  # nobody asks in Python
        options.pop("finish")  # `run.forget_finish()` there
    assert theirs == options


def rows(found: Any, verb: str) -> list[dict[str, Any]]:
    """The rows of a JSON answer: one object, its schema, no NaN."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} in JSON")

    answer = json.loads(found.stdout, parse_constant=refuse)
    more = ["passes"] if verb == "score" else []
    more += ["headline"] if verb in ("compare", "score", "status", "study") else []
    more += ["languages"] if verb == "score" else []
    more += ["integrity"] if verb in ("compare", "score") else []
    more += ["file_scores"] if verb == "score" else []
    more += ["questions"] if verb == "compare" else []
    assert [f"viva.{verb}/1", "schema", "run", "rows", *more] == [answer["schema"], *answer]
    assert isinstance(answer["rows"], list)
    return answer["rows"]  # type: ignore[no-any-return]


def test_json_of_every_verb(viva: Viva, run: Run, tmp_path: Path) -> None:
    path = run.file.path
    scored = rows(viva("score", path, "told", "--plugin", TOLD, "--json"), "score")
    assert [set(ESTIMATED)] * 2 == [set(r) for r in scored]
    compared = rows(viva("compare", path, "A", "B", "--metric", "told", "--json"), "compare")
    assert [set(COMPARED)] == [set(r) for r in compared]
    *counted, questions = rows(viva("status", path, "--json"), "status")
    assert [set(COUNTED)] * 2 == [set(r) for r in counted]
    assert {"about", *CaseCount._fields} == set(questions)
    reported = rows(viva("report", path, "--json"), "report")
    assert ("file", str(tmp_path / "run.html")) == (reported[0]["section"], reported[0]["path"])
    assert 1 == len(rows(viva("copy", path, tmp_path / "copy.viva", "--json"), "copy"))
    exported = rows(viva("export", path, tmp_path / "out", "--to", "csv", "--json"), "export")
    assert [{"table", "path", "rows", "bytes"}] * 11 == [set(r) for r in exported]
    assert rows(viva("list", "metrics", "--json"), "list")
    assert 1 == len(rows(viva("show", "rouge(n=1)", "--json"), "show"))


def test_json_and_python_say_the_same(viva: Viva, run: Run) -> None:
    path = run.file.path
    said = rows(viva("score", path, "told", "--plugin", TOLD, "--json"), "score")
    assert [dict(r) for r in run.estimates("told").rows] == said


def test_failed_marks_exit_with_1_and_say_what_next(viva: Viva, tmp_path: Path) -> None:
    run = made(tmp_path, {"A": twins([1, "fail"])})
    found = viva("score", run.file.path, "told", "--plugin", TOLD, "--json", code=1)
    assert 1 == rows(found, "score")[0]["n_failed"]
    assert f"1 score failed; `viva status {run.file.path}` tells why" in found.stderr
    status = viva("status", run.file.path, "--json", code=1)
    assert {"the judge said nothing": 1} == rows(status, "status")[0]["causes"]
    assert "1 x the judge said nothing" in viva("status", run.file.path, "--full", code=1).stdout


def test_failed_marks_that_succeed_exit_with_0(
    viva: Viva, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = made(tmp_path, {"A": twins([1, "fail 0.5"])})
    viva("score", run.file.path, "told", "--plugin", TOLD, code=1)
    monkeypatch.setenv("TOLD_MENDED", "1")
    viva("score", run.file.path, "told", "--plugin", TOLD)
    viva("status", run.file.path)


def test_quiet_prints_nothing(viva: Viva, run: Run, tmp_path: Path) -> None:
    path = run.file.path
    for words in (
        ("score", path, "told", "--plugin", TOLD),
        ("compare", path, "A", "B", "--metric", "told"),
        ("status", path),
        ("report", path),
        ("export", path, tmp_path / "out", "--to", "csv"),
        ("copy", path, tmp_path / "copy.viva"),
    ):
        found = viva(*words, "--quiet")
        assert ("", "") == (found.stdout, found.stderr)


def test_tables_show_what_a_reader_needs(viva: Viva, run: Run) -> None:
    path = run.file.path
    scored = viva("score", path, "told", "--plugin", TOLD).stdout
    assert "told: worth on exam" in scored
    assert "0.750" in scored
    assert "50.0%" in scored
    compared = viva("compare", path, "A", "B", "--metric", "told", "--margin", "0.1").stdout
    assert "On 12 questions (12 cases): A 0.750, B 0.200 out of 1" in compared
    assert "A is better, and by more than the 0.1 you called important." in compared
    assert "This is the 1st test on this run." in compared


def test_compare_prints_what_stands_beside_the_headline(viva: Viva, run: Run) -> None:
    """B answered every second question only, 0.4 where A has 1: all differ alike there, by 0.6."""
    found = viva("compare", run.file.path, "A", "B", "--metric", "told").stdout
    (row,) = rows(viva("compare", run.file.path, "A", "B", "--metric", "told", "--json"), "compare")
    assert (6, 0.6) == (row["n_answered"], pytest.approx(row["difference_answered"]))
    assert (None, None) == (row["low_answered"], row["high_answered"])  # fewer than ten cases differ
    assert "A - B, worth: on the 6 both answered: 0.600." in found
    assert "Benjamini" not in found  # of one test q is p


def test_where_both_answered_everything_nothing_stands_beside_it(viva: Viva, tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1, 0.5] * 6), "B": twins([0.4, 0.1] * 6)})
    found = viva("compare", run.file.path, "A", "B", "--metric", "told").stdout
    assert "both answered" not in found
    assert "A - B, worth: " not in found


def test_no_p_value_is_shown_as_zero(viva: Viva, tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1, 0.9] * 20), "B": twins([0.1, 0.2] * 20)})
    found = viva("compare", run.file.path, "A", "B", "--metric", "told", "--full").stdout
    assert "<0.0001" in found
    assert "0.0000" not in found


def test_a_card_has_a_row_for_each_field_and_nulls_are_left_out(viva: Viva) -> None:
    card = {line.split()[0] for line in viva("show", "sample").stdout.splitlines() if line[1:2].strip()}
    assert {"description", "source", "revision", "licence", "access", "citation", "faults"} <= card
    assert "card" not in card
    assert "None" not in viva("show", "accuracy").stdout


def test_the_veto_of_the_help_changes_what_it_is_shown_beside(viva: Viva, tmp_path: Path) -> None:
    """As `viva score --help` shows it: a line that two metrics of free text share."""
    shown = " ".join(viva("score", "--help").stdout.split())
    assert 'bleu token_f1 --worst-at 3 --tail 0.1 --veto "token_f1 < 0.2"' in shown
    run = made(tmp_path, {"A": {"q1": "x", "q2": "y z"}})
    viva("score", run.file.path, "bleu", "token_f1", "--veto", "token_f1 < 0.2")
    veto = [r for r in run.estimates("bleu", veto=["token_f1 < 0.2"]).rows if r["view"] == "veto"]
    assert 1 == len(veto)


def test_markup_in_a_name_is_text(viva: Viva, tmp_path: Path) -> None:
    run = marked(tmp_path, {"[bold]A[/bold] [x": twins([1])})
    assert "[bold]A[/bold] [x" in viva("score", run.file.path, "told", "--plugin", TOLD).stdout


def test_lists_and_cards(viva: Viva) -> None:
    assert "rouge" in viva("list", "metrics").stdout
    assert "hivmedqa" in viva("list", "benchmarks").stdout
    assert "longform" in viva("list", "formats").stdout
    assert "exact()@4" in viva("show", "exact").stdout
    assert "told" in viva("list", "metrics", "--plugin", TOLD).stdout


def test_import_says_what_it_found(viva: Viva, tmp_path: Path) -> None:
    spec = exam(tmp_path, ["q1", "q2"])
    lines = [{"item": "q1", "model": "A", "answer": "x"}, {"item": "q2", "model": "A", "answer": " "}]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = viva(
        *("import", tmp_path / "run.viva", tmp_path / "answers.jsonl", "--benchmark", spec),
        *("--map", "candidate=model", "--map", "text=answer", "--role", "A=floor"),
    )
    assert "2 answers of 1 candidate to 2 items (2 new, 0 unchanged, 0 replacing failures); 1 blank" in (
        found.stdout
    )
    assert ["floor"] == Run(tmp_path / "run.viva").responses["role"].unique().to_list()


# What only a process of its own can show


@pytest.mark.parametrize("form", length([[]], [["--json"], []]))
def test_a_reader_that_leaves_early_sees_no_traceback(run: Run, form: list[str]) -> None:
    """As under `| head -c 10`."""
    words = [*VIVA, "compare", str(run.file.path), "A", "B", "--metric", "told", *form]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout
        assert child.stderr
        child.stdout.close()
        assert b"" == child.stderr.read()
    assert 1 == child.returncode


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_an_interruption_exits_with_130_and_says_that_nothing_is_lost(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    slow = tmp_path / "slow.py"
    slow.write_text(
        "import time\nfrom vivavoce import Criterion, Metric, metric\n\n\n"
        '@metric("slow")\nclass Slow(Metric):\n    criteria = (Criterion(criterion="x"),)\n'
        '    formats = ("short",)\n    needs = ()\n\n    def values(self, rows, context):\n'
        f"        open({str(tmp_path / 'begun')!r}, 'w').close()\n        time.sleep(60)\n"
    )
    words = [*VIVA, "score", str(run.file.path), "slow", "--plugin", str(slow)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        while not (tmp_path / "begun").exists() and child.poll() is None:
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=30)
    assert 130 == child.returncode
    assert "viva: interrupted; what was stored is safe; rerun the command to resume.\n" == said


def test_the_module_runs_and_an_error_is_one_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        [*VIVA, "status", str(tmp_path / "no.viva")], capture_output=True, text=True, check=False
    )
    assert (2, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith("viva: no run at ")
    assert 1 == done.stderr.count("\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the device that is always full")
@pytest.mark.parametrize("words", [("list", "metrics"), ("list", "formats", "--json")])
def test_an_output_that_cannot_be_written_is_one_sentence(words: tuple[str, ...]) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([*VIVA, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert 2 == done.returncode
    assert ["viva: cannot write the output: No space left on device."] == done.stderr.splitlines()
