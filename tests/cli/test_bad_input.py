"""What a user may get wrong: exit code 2 and one sentence on stderr that says what, where and what next."""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from tests.studies.making import TOLD, borrowed, empty_run, exam, made, marked, score, twins, write_lines

from vivavoce import __version__, cli
from vivavoce.core.index import REMOVED
from vivavoce.run.run import Run

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
        "from vivavoce import Criterion, Metric, Value, metric\n\n\n"
        '@metric("mine")\nclass Mine(Metric):\n    """Of a test."""\n\n'
        '    criteria = (Criterion(criterion="worth"),)\n    formats = ("short",)\n    needs = ()\n\n'
        f"    def values(self, rows, context):\n        return {body}\n"
    )
    return path


def test_a_metric_without_references(viva: Viva, tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": "x", "q2": "y"}}, items=["q1", {"item": "q2", "references": []}])
    said = refused(viva("score", run.file.path, "rouge(n=1)"))
    assert "rouge(n=1) needs references, and 1 of the 2 items it would score have none: q2." in said


def test_no_common_item_is_a_verdict_and_no_error(viva: Viva, tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": {"q1": 1}, "B": {"q2": 1}})
    code, out, err = viva("compare", run.file.path, "A", "B", "--metric", "told")
    assert (0, "") == (code, err)
    assert "These two cannot be compared: no question has scores of both." in out


def test_a_plugin_value_out_of_range(viva: Viva, tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    file = plugin(tmp_path, '[{"worth": Value(7)} for _ in rows]')
    said = refused(viva("score", run.file.path, "mine", "--plugin", file))
    assert "mine on q1, answer of A (repeat 1): worth = 7.0 lies outside its declared range 0 to 1." in said


@pytest.mark.parametrize(("body", "error"), [("1 / 0", "ZeroDivisionError: "), ("exit(3)", "SystemExit: 3.")])
def test_a_plugin_that_crashes_while_marking(viva: Viva, tmp_path: Path, body: str, error: str) -> None:
    """3 would be a closed gate."""
    run = made(tmp_path, {"A": {"q1": "x"}})
    file = plugin(tmp_path, body)
    said = refused(viva("score", run.file.path, "mine", "--plugin", file))
    assert f"mine broke while scoring q1 and 0 further answers: {error}" in said
    assert "What was scored before is stored." in said


def test_a_plugin_that_exits_anywhere_else_is_named_by_its_line(viva: Viva, tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    file = plugin(tmp_path, "[]")
    file.write_text(f"{file.read_text()}\n    def applies_to(self, item):\n        exit('a\\nb')\n")
    said = refused(viva("score", run.file.path, "mine", "--plugin", file, "--json"))
    n = 1 + file.read_text().splitlines().index("        exit('a\\nb')")
    assert f"a plugin or a library exits in line {n} of {file} (SystemExit: a b): it has to raise" in said


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
    assert "rouge needs n=1|2|" in refused(viva("score", run.file.path, "rouge"))


def test_an_unknown_candidate(viva: Viva, run: Run) -> None:
    said = refused(viva("compare", run.file.path, "Model A", "Modell B", "--metric", "told"))
    assert "no candidate named 'Modell B' in this run. Did you mean 'Model B' or 'Model A'?" in said


def test_one_candidate_alone(viva: Viva, run: Run) -> None:
    said = refused(viva("compare", run.file.path, "Model A", "--metric", "told"))
    assert "compare takes two or more different candidates. Known: Model A, Model B." in said


def test_a_metric_that_did_not_mark_this_run(viva: Viva, run: Run) -> None:
    said = refused(viva("compare", run.file.path, "Model A", "Model B", "--metric", "tolt"))
    assert "'tolt' matches none of what this run was scored by: told." in said
    assert "Did you mean 'told'?" in said


def test_a_metric_that_matches_several_is_listed(viva: Viva, run: Run) -> None:
    score(run, "told(least=0.1)", "told(least=0.2)")
    said = refused(viva("compare", run.file.path, "Model A", "Model B", "--metric", "told(direction=higher)"))
    assert "matches several" in said
    assert "told, told(least=0.1), told(least=0.2)." in said


def test_compare_before_score(viva: Viva, tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": 1}, "B": {"q1": 1}})
    said = refused(viva("compare", run.file.path, "A", "B", "--metric", "told"))
    assert f"nothing has been scored in this run yet: `viva score {run.file.path}` does that." in said


def test_compare_of_candidates_that_came_after_the_marks(viva: Viva, run: Run, tmp_path: Path) -> None:
    items = list(twins([0] * 12))
    made(tmp_path, {"Model C": twins([1] * 12), "Model D": twins([1] * 12)}, items=items, run=run)
    said = refused(viva("compare", run.file.path, "Model C", "Model D", "--metric", "told"))
    assert f"none of these candidates has scores by told: `viva score {run.file.path}" in said


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


# Verbs, options and arguments


@pytest.fixture
def here(run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the run, and in it."""
    monkeypatch.chdir(run.file.path.parent)
    return run.file.path.parent


@pytest.mark.parametrize(
    ("verb", "meant"),
    [
        ("improt", "import"),
        ("scor", "score"),
        ("SCORE", "score"),
        ("comapre", "compare"),
        ("evaluate", "score"),
        ("load", "import"),
        ("leaderboard", "report"),
        ("ls", "list"),
    ],
)
def test_a_misspelt_verb(viva: Viva, verb: str, meant: str) -> None:
    assert f"viva: no verb {verb!r}. Did you mean `viva {meant}`?\n" == refused(viva(verb, "exam.viva"))


def test_a_verb_like_none_of_ours(viva: Viva) -> None:
    said = refused(viva("frobnicate"))
    assert "no verb 'frobnicate'. There are demo, look, list, show, import, collect, run" in said
    assert "`viva demo` is the way to begin." in said


def test_help_as_a_verb(viva: Viva) -> None:
    assert "`viva --help` lists the verbs" in refused(viva("help"))


def test_the_run_before_the_verb(viva: Viva, here: Path) -> None:
    assert "the verb comes first, then the run: `viva score run.viva`." in refused(viva("run.viva", "score"))
    assert "`viva status run.viva`" in refused(viva("run.viva"))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("compare", "r.viva", "A", "--margn", "1"), "compare has no option --margn. Did you mean --margin?"),
        (("report", "r.viva", "--plot", "x"), "report has no option --plot. Did you mean --plots?"),
        (("score", "r.viva", "--metirc", "x"), "Metrics stand after RUN: `viva score exam.viva accuracy`."),
        (("score", "r.viva", "x", "--margin", "1"), "--margin. It belongs to `viva compare` and"),
        (("status", "r.viva", "--xyzzy"), "has no option --xyzzy. `viva status --help` lists those it has."),
        (("--metric", "x"), "Options stand after the verb: `viva compare … --metric`."),
        (("--xyzzy",), "viva has no option --xyzzy. `viva --help` lists those it has."),
        (("report", "r.viva", "--to"), "--to needs a value after it: `viva report --help` shows examples."),
        (("status", "a.viva", "b.viva"), "status takes no further 'b.viva': `viva status --help`"),
        (
            ("list", "metric"),
            "'metrics', 'providers', 'recipes', 'reproductions', 'rules', 'sections', 'steps', 'studies', "
            "'variations', 'languages', 'rubrics'. Did you mean 'metrics'?",
        ),
        (("compare", "r.viva", "--margin", "big"), "--margin big: "),
        (("compare", "r.viva", "--margin=big"), "--margin big: "),
        (("export", "r.viva", "out", "--to", "parqet"), "Did you mean 'parquet'?"),
        (("compare", "r.viva", "--fail-if", "wors"), "--fail-if: 'wors' is not one of 'worse', 'unclear'."),
    ],
)
def test_options_and_values_that_are_wrong(viva: Viva, words: Sequence[str], sentence: str) -> None:
    assert sentence in refused(viva(*words))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("import", "r.viva"), "import needs FILE, as in `viva import exam.viva answers.csv`"),
        (("show",), "show needs SPEC, as in `viva show rouge:n=L`."),
        (("list",), "list needs KIND, as in `viva list metrics`."),
        (("copy", "r.viva"), "copy needs TO, as in `viva copy exam.viva backup.viva`."),
        (("merge", "r.viva"), "merge needs RUN, as in `viva merge all.viva site-a.viva"),
        (("export", "r.viva"), "export needs TO, as in `viva export exam.viva tables --format parquet`."),
        (
            ("export", "r.viva", "out"),
            "export needs --format, as in `viva export exam.viva tables --format parquet`.",
        ),
    ],
)
def test_an_argument_that_is_missing(viva: Viva, words: Sequence[str], sentence: str) -> None:
    assert sentence in refused(viva(*words))


@pytest.mark.parametrize("verb", ["score", "compare", "study", "merge", "status", "report", "export", "copy"])
def test_a_run_that_is_not_named_is_looked_for(viva: Viva, here: Path, verb: str) -> None:
    (here / "other.viva").write_bytes(b"a run")
    (here / "empty.viva").touch()
    said = refused(viva(verb))
    assert f"viva: {verb} needs a RUN, the file that holds a run. Here: other.viva, run.viva" in said
    assert f"so `viva {verb} other.viva" in said


def test_a_folder_without_a_run_says_what_makes_one(
    viva: Viva, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (("status",), ("import",), ("status", "none.viva")):
        said = refused(viva(*words))
        assert "`viva import " in said
        assert "`viva demo` makes one to look at." in said


def test_a_run_that_is_not_there_is_answered_with_those_that_are(viva: Viva, here: Path) -> None:
    assert refused(viva("status", "rnu.viva")).endswith("Here: run.viva.\n")


# What is no run


def test_a_report_is_no_run(viva: Viva, here: Path) -> None:
    assert 0 == viva("report", "run.viva")[0]
    assert "run.html is a report, not a run: the run is run.viva." in refused(viva("status", "run.html"))


@pytest.mark.parametrize("name", ["exam.jsonl", "answers.csv", "marks.parquet"])
@pytest.mark.parametrize("verb", ["status", "score", "report"])
def test_a_data_file_is_no_run(viva: Viva, here: Path, name: str, verb: str) -> None:
    (here / name).write_text("x")
    said = refused(viva(verb, name))
    assert f"{name} is a file of questions, answers or scores, and no run" in said
    assert f"`viva import exam.viva {name} --benchmark …`" in said
    assert "x" == (here / name).read_text()


def test_answers_and_run_the_wrong_way_round(viva: Viva, here: Path) -> None:
    said = refused(viva("import", "answers.jsonl", "run.viva", "--benchmark", "jsonl(path=exam.jsonl)"))
    assert "and no run, which stands first: `viva import exam.viva answers.jsonl --benchmark …`" in said
    assert not (here / "answers.jsonl").exists()


def test_a_run_may_be_called_anything_once_it_is_there(viva: Viva, here: Path) -> None:
    (here / "run.viva").rename(here / "run.csv")
    assert 0 == viva("status", "run.csv")[0]


def test_a_folder_is_no_run_and_shows_those_in_it(viva: Viva, here: Path) -> None:
    """`viva status FOLDER` alone takes one: it is of shards."""
    said = refused(viva("report", here))
    assert f"{here} is a folder, and a run is a file. Here: {here / 'run.viva'}" in said


def test_an_empty_run_says_what_fills_it(viva: Viva, tmp_path: Path) -> None:
    path = empty_run(tmp_path).file.path
    for words in (("score", path, "accuracy"), ("compare", path, "A", "B", "--metric", "accuracy")):
        said = refused(viva(*words))
        assert f"{path} holds no answers yet: `viva import {path} answers.jsonl --benchmark SPEC`" in said


# Metrics and scores


def test_a_score_without_a_metric_where_none_fits_lists_those_to_name(viva: Viva, tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": "a"}}, items=[{"item": "q1", "references": []}])
    said = refused(viva("score", run.file.path))
    assert "name at least one metric: this run can be scored by" in said
    assert "atomic_facts(splitter=" in said
    assert "accuracy" not in said


def test_metrics_that_compare_are_not_suggested_to_items_without_a_reference(
    viva: Viva, tmp_path: Path
) -> None:
    items = [{"item": "q1", "references": []}, {"item": "q2", "references": ["a"]}]
    few = refused(viva("score", made(tmp_path / "few", {"A": {"q1": "a"}}, items=items[:1]).file.path))
    both = refused(viva("score", made(tmp_path / "both", {"A": {"q1": "a"}}, items=items).file.path))
    assert "rouge(n=1|2|" not in few
    assert "rouge(n=1|2|" in both


def test_a_metric_without_its_settings_names_all_that_are_missing(viva: Viva, tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": "a"}})
    said = refused(viva("score", run.file.path, "atomic_facts"))
    assert "needs splitter=text or a spec and checker=text or a spec" in said
    assert "write atomic_facts:splitter=…,checker=…" in said


def test_a_comparison_without_a_metric_of_quality_lists_those_that_scored(viva: Viva, tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": "a"}, "B": {"q1": "b"}})
    rows = [{"item": "q1", "candidate": name, "value": 1} for name in "AB"]
    bias = {"range": {"*": (0, 1)}, "if_unanswered": {"*": "set_aside"}}
    run.import_scores(write_lines(tmp_path / "bias.jsonl", rows), measure="bias_index", **bias)  # type: ignore[arg-type]
    said = refused(viva("compare", run.file.path))
    assert "compare needs --metric, one of those that scored this run: bias_index. Such as: --metric" in said


def test_a_gate_names_its_metric(viva: Viva, run: Run) -> None:
    said = refused(viva("compare", run.file.path, "Model A", "Model B", "--fail-if", "worse"))
    assert "a gate names its --metric" in said


def test_a_comparison_of_what_has_no_marks(viva: Viva, tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": 1}, "B": {"q1": 1}})
    said = refused(viva("compare", run.file.path, "A", "B"))
    assert f"nothing has been scored in this run yet: `viva score {run.file.path}` does that." in said


@pytest.mark.parametrize("name", ["hivmedqa", "sample", "jsonl(path=x.jsonl)"])
def test_a_benchmark_is_no_metric(viva: Viva, run: Run, name: str) -> None:
    said = refused(viva("score", run.file.path, name))
    assert f"{name.partition('(')[0]} is a benchmark, which is answered, no metric, which scores" in said


@pytest.mark.parametrize(
    ("words", "short", "long"),
    [
        (("rouge", "n=L"), "rouge:n=L", "rouge(n=L)"),
        (("token_f1", "rouge", "n=L"), "rouge:n=L", "rouge(n=L)"),
        (("rouge:stemmer=true", "n=L"), "rouge:stemmer=true,n=L", "rouge(n=L, stemmer=true)"),
        (("rouge:stemmer=true,", "n=L"), "rouge:stemmer=true,n=L", "rouge(n=L, stemmer=true)"),
    ],
)
def test_settings_that_stand_apart_from_their_metric(
    viva: Viva, run: Run, words: Sequence[str], short: str, long: str
) -> None:
    said = refused(viva("score", run.file.path, *words))
    assert (
        f"'n=L' is no metric: settings stand after a colon, divided by commas without a blank, {short}"
        in said
    )
    assert f'or in brackets and quotes, "{long}".' in said


def test_a_blank_before_the_bracket(viva: Viva, run: Run) -> None:
    assert '"rouge(n=L)"' in refused(viva("score", run.file.path, "rouge (n=L)"))


def test_a_metric_that_was_only_recorded_cannot_be_run(viva: Viva, run: Run, tmp_path: Path) -> None:
    (tmp_path / "marks.csv").write_text("item,candidate,value\nq00,Model A,1\n")
    run.import_scores(tmp_path / "marks.csv", measure="panel(of=three)", range={"*": (0, 1)})
    for name in ("panel", "panel(of=three)"):
        said = refused(viva("score", run.file.path, name))
        assert "the scores of panel(of=three) were recorded elsewhere and imported" in said
        assert "`viva report` shows its estimates" in said


def test_a_metric_that_was_removed_is_answered_with_what_to_use(viva: Viva, run: Run) -> None:
    for words in (("score", run.file.path, "conflict"), ("show", "conflict")):
        assert f"viva: {REMOVED['metric']['conflict']}\n" == refused(viva(*words))


# Files of answers


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("none.jsonl", None, "no file at none.jsonl"),
        ("empty.jsonl", "", "empty.jsonl is empty: it holds no rows."),
        (
            "answers.txt",
            "x",
            "cannot tell what answers.txt holds: name it .jsonl, .json, .csv, .tsv, .xlsx or .parquet.",
        ),
        ("a.csv", "number,model,text\nq00,A,x\n", "--map item=COLUMN names it"),
        ("a.csv", "item,candidate,words\nq00,A,x\n", "--map text=COLUMN names it.\n"),
        ("a.csv", "item,candidate,text\nq0O,A,x\n", "(path=exam.jsonl): q0O. Did you mean 'q"),
    ],
)
def test_answers_that_cannot_be_used(
    viva: Viva, here: Path, name: str, text: str | None, sentence: str
) -> None:
    if text is not None:
        (here / name).write_text(text)
    said = refused(viva("import", "new.viva", name, "--benchmark", "jsonl(path=exam.jsonl)"))
    assert sentence in said
    assert not (here / "new.viva").exists()


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (
            "qid,Model,output,Response\nq00,A,x,y\n",
            "What the model answered: 'output' (x) or 'Response' (y).",
        ),
        ("item,author,text\nq00,A,x\n", "Which model: no column says it. Proposed, of the file's name: 'a'."),
    ],
)
def test_what_a_table_of_answers_leaves_open_is_asked_with_the_whole_command(
    viva: Viva, here: Path, text: str, question: str
) -> None:
    (here / "a.csv").write_text(text)
    code, printed, message = viva("import", "new.viva", "a.csv", "--benchmark", "jsonl(path=exam.jsonl)")
    assert (2, "") == (code, printed)
    assert question in message
    assert "viva import new.viva a.csv --benchmark 'jsonl(path=exam.jsonl)' --" in message
    assert not (here / "new.viva").exists()


# The edge of the program


def test_a_fault_of_ours_is_one_sentence_too(viva: Viva, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Run, "status", lambda self: 1 / 0)
    said = refused(viva("status", run.file.path))
    assert "this is a fault of vivavoce, not yours: ZeroDivisionError: division by zero." in said
    monkeypatch.setenv("VIVA_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        viva("status", run.file.path)


def test_viva_alone_shows_how_to_begin(viva: Viva) -> None:
    code, out, err = viva()
    assert (0, "") == (code, err)
    assert "`viva demo` makes one to look at, `viva look FILE` says what a file of yours is." in out


def test_the_version_is_told(viva: Viva) -> None:
    assert (0, f"viva {__version__}\n", "") == viva("--version")


def test_a_name_that_would_drive_a_terminal_is_shown_harmless(viva: Viva) -> None:
    said = refused(viva("\x1b[31mred", "x"))
    assert "\x1b" not in said


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("exam.jsonl", "jsonl(path=exam.jsonl)"),
        ("jsonl(exam.jsonl)", "jsonl(path=exam.jsonl)"),
        ("my exams/a b.csv", "csv(path='my exams/a b.csv')"),
        ("csv( 'a.txt' )", "csv(path=a.txt)"),
    ],
)
def test_a_file_in_place_of_a_benchmark_is_answered_with_its_spec(
    viva: Viva, run: Run, typed: str, meant: str
) -> None:
    wanted = f'{typed} is no benchmark: write "{meant}".'
    assert wanted in refused(viva("import", "x.viva", "a.jsonl", "--benchmark", typed))
    assert wanted in refused(viva("study", run.file.path, "--items", typed))


def test_a_list_of_metrics_that_is_not_there(viva: Viva, run: Run) -> None:
    said = refused(viva("score", run.file.path, "@missing.txt"))
    assert "cannot read missing.txt, a file with one metric a line: No such file or directory." in said


@pytest.mark.parametrize("words", [("--to",), ("--plots",)])
def test_a_report_to_a_name_that_is_too_long_names_it(viva: Viva, run: Run, words: tuple[str]) -> None:
    name = "x" * 260 + ".html"
    said = refused(viva("report", run.file.path, *words, name))
    assert name in said
    assert "File name too long" in said


@pytest.mark.parametrize(
    "words", [("export", "RUN", "", "--to", "csv"), ("copy", "RUN", ""), ("report", "RUN", "--to", " ")]
)
def test_an_empty_path_is_not_the_folder_we_are_in(viva: Viva, run: Run, words: tuple[str, ...]) -> None:
    message = refused(viva(*(run.file.path if word == "RUN" else word for word in words)))
    assert "the path to write to is empty: a variable of the shell may not be set." in message
