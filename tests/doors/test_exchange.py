"""The doors of exchange: a plugin reads another tool's logs, and writes a run for another tool."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.studies.making import borrowed, exam

from vivavoce.core import registry
from vivavoce.core.errors import InputError, SpecError
from vivavoce.run.run import Run, open_run

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(autouse=True)
def plugins() -> Iterator[None]:
    for kind in ("log_reader", "exporter"):
        registry.entries(kind)  # type: ignore[arg-type]
    with borrowed():
        yield


def log(folder: Path) -> Path:
    path = folder / "monday.samples.json"
    samples = [{"id": "q1", "output": "yes"}, {"id": "q2", "output": ""}]
    path.write_text(json.dumps({"model": "M", "samples": samples}), encoding="utf-8")
    return path


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return open_run(
        tmp_path / "r.viva",
        plugins=[EXAMPLES / "plugin_log_reader.py", EXAMPLES / "plugin_exporter.py"],
    )


def test_a_plugin_reads_another_tool_s_log(run: Run, tmp_path: Path) -> None:
    done = run.import_answers(log(tmp_path), benchmark=exam(tmp_path, ["q1", "q2"]))
    assert (2, 1, 1) == (done.responses, done.candidates, done.blank)
    assert {"q1": "yes", "q2": ""} == dict(run.responses.select("item", "text").iter_rows())


def test_the_hash_of_the_log_goes_into_the_provenance(run: Run, tmp_path: Path) -> None:
    path = log(tmp_path)
    run.import_answers(path, benchmark=exam(tmp_path, ["q1", "q2"]))
    with run.file.reading() as db:
        (body,) = db.execute("SELECT body FROM provenance WHERE verb = 'import'").fetchone()
    assert registry.file_hash(path) == json.loads(body)["file_hash"]


def test_a_file_that_no_reader_accepts_is_a_table(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"item": "q1", "candidate": "A", "text": "x"}\n', encoding="utf-8")
    assert 1 == run.import_answers(path, benchmark=exam(tmp_path, ["q1"])).responses


def test_a_plugin_is_asked_before_the_readers_that_ship(run: Run, tmp_path: Path) -> None:
    """ClinIQLink's reader accepts every folder."""
    plugin = tmp_path / "folders.py"
    plugin.write_text(
        "from vivavoce import Line, LogReader, log_reader\n"
        "@log_reader('folders')\n"
        "class Folders(LogReader):\n"
        "    def accepts(self, path, benchmark):\n"
        "        return path.is_dir()\n"
        "    def lines(self, path, benchmark):\n"
        "        return [Line('here', {'item': p.stem, 'candidate': 'A', 'text': p.read_text()})\n"
        "                for p in path.iterdir()]\n"
    )
    registry.load_plugin(plugin)
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "q1.txt").write_text("said")
    run.import_answers(tmp_path / "texts", benchmark=exam(tmp_path, ["q1"]))
    assert ["said"] == run.responses["text"].to_list()


def test_a_plugin_writes_a_run_for_another_tool(run: Run, tmp_path: Path) -> None:
    run.import_answers(log(tmp_path), benchmark=exam(tmp_path, ["q1", "q2"]))
    (done,) = run.export(tmp_path / "pairs.jsonl", format="pairs", candidate="M")
    pairs = [json.loads(line) for line in done.path.read_text().splitlines()]
    assert [("What of q1?", "yes"), ("What of q2?", "")] == [tuple(pair.values()) for pair in pairs]
    assert 2 == done.rows


def test_an_unknown_format_and_an_option_of_another_are_named(run: Run, tmp_path: Path) -> None:
    run.import_answers(log(tmp_path), benchmark=exam(tmp_path, ["q1", "q2"]))
    names = ", ".join(registry.members("exporter"))
    assert "pairs, parquet, preferences" in names
    with pytest.raises(InputError, match=f"an export is {names}, not 'xml'"):
        run.export(tmp_path / "out", format="xml")
    with pytest.raises(SpecError, match="pairs has no setting 'redact'"):
        run.export(tmp_path / "out", format="pairs", candidate="M", redact=True)


def test_a_reader_without_lines_is_refused(tmp_path: Path) -> None:
    plugin = tmp_path / "half.py"
    plugin.write_text(
        "from vivavoce import LogReader, log_reader\n"
        "@log_reader('half')\n"
        "class Half(LogReader):\n"
        "    def accepts(self, path, benchmark):\n"
        "        return False\n"
    )
    with pytest.raises(SpecError, match="the log_reader 'half' has no lines"):
        registry.load_plugin(plugin)


def test_a_plugin_reads_a_log_that_is_its_own_exam(tmp_path: Path) -> None:
    question = {"question": "Which organ makes insulin?", "key": "pancreas"}
    answers = [{"id": "q1", **question, "text": "The pancreas.", "points": 1.0}]
    file = tmp_path / "monday.quiz.json"
    file.write_text(json.dumps({"model": "M", "answers": answers}), encoding="utf-8")
    run = open_run(tmp_path / "quiz.viva", plugins=[EXAMPLES / "plugin_recorded_log.py"])
    (log,) = run.import_logs(file).logs
    assert ("quiz", "quiz", ("M",), 1, 1) == (log.tool, log.task, log.candidates, log.responses, log.scores)
    assert ["quiz.points"] == run.scores["metric"].to_list()
