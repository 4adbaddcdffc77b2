"""What a worker refuses to rebuild, in one sentence each; and what a refused call leaves."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.run.workers.every_format import stored_scores
from tests.run.workers.patient_pool import PatientPool
from tests.studies.making import borrowed, made

from vivavoce.core import registry
from vivavoce.core.errors import InputError, MetricError, ModelError, SpecError, VivaError
from vivavoce.core.records import Criterion, Row, Value
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.run.run import Run
from vivavoce.run.score import response_scores, verb
from vivavoce.run.workers.rebuilding import (
    SentError,
    Sources,
    load_sources,
    rebuild,
    received_error,
    recipe,
    sent_error,
    sources,
)

TARDY = Path(__file__).with_name("tardy.py")


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    with borrowed():
        yield


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return made(tmp_path, {"A": {f"q{k}": f"answer {k}" for k in range(8)}})


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    file = Path(shutil.copy(TARDY, tmp_path / "tardy.py"))
    registry.load_plugin(file)
    return file


@pytest.mark.parametrize("spec", ["rouge(n='1+L', stemmer=true)", "tardy(seconds=0.5)", "exact"])
def test_what_is_rebuilt_is_what_was_sent(spec: str, plugin: Path) -> None:
    metric = registry.build("metric", spec)
    load_sources(sources())
    assert metric == rebuild(recipe("metric", metric))


def test_a_file_that_changed_is_another_metric(tmp_path: Path) -> None:
    weights = tmp_path / "lexical.json"
    weights.write_text("{}")
    sent = recipe("metric", registry.build("metric", f"lexical(weights='{weights}')"))
    weights.write_text("{ }")
    with pytest.raises(SpecError, match=r"cannot be rebuilt in a worker \(here it is lexical.*was sent\)"):
        rebuild(sent)


def test_another_version_is_refused() -> None:
    with pytest.raises(SpecError, match=r"a worker has vivavoce .*, and the process .* has 0\.0\.1: install"):
        load_sources(Sources("0.0.1", {}))


def test_a_plugin_that_is_missing_or_another_is_refused(plugin: Path, tmp_path: Path) -> None:
    sent = sources()
    plugin.write_text(plugin.read_text() + "\n# changed\n")
    with pytest.raises(SpecError, match=r"the plugin .*tardy\.py has the hash .* for a worker, and had"):
        load_sources(sent)
    plugin.unlink()
    with pytest.raises(SpecError, match=r"a worker finds no plugin file .*tardy\.py: put it there"):
        load_sources(sent)


def test_a_plugin_that_changed_since_it_was_loaded_stops_the_score_before_anything_is_stored(
    run: Run, plugin: Path
) -> None:
    plugin.write_text(plugin.read_text().replace("len(t),", "1 + len(t),"))
    with pytest.raises(MetricError, match=r"the plugin .*tardy\.py has the hash"):
        run.score("tardy", workers=2)
    assert [] == stored_scores(run)


def test_a_metric_of_this_process_alone_cannot_be_rebuilt(run: Run) -> None:
    @registry.metric("of_a_cell")
    class OfACell(Metric):
        """Registered in a notebook."""

        criteria = (Criterion(criterion="x"),)
        formats = ("short",)

        def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
            return [{"x": Value(1.0)} for _ in rows]

    with pytest.raises(
        MetricError,
        match=r"the metric of_a_cell.* cannot be rebuilt in a worker \(no metric named 'of_a_cell'.*--plugin",
    ):
        run.score("of_a_cell", workers=2)
    assert [] == stored_scores(run)
    run.score("of_a_cell")
    assert 8 == len(stored_scores(run))


@pytest.mark.parametrize(
    ("error", "words"), [("1 / 0", "ZeroDivisionError: "), ("exec('raise SystemExit(3)')", "SystemExit: 3.")]
)
def test_a_metric_that_breaks_in_a_worker_stops_alone_with_its_sentence(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: str, words: str
) -> None:
    monkeypatch.setattr(response_scores, "SMALLEST", 2)
    file = tmp_path / "breaking.py"
    text = (
        TARDY.read_text()
        .replace('"tardy"', '"breaking"')
        .replace("time.sleep(self.seconds)", f"'5' in row.reading.text and {error}")
    )
    file.write_text(text)
    registry.load_plugin(file)
    with pytest.raises(MetricError, match=f"breaking broke while scoring q4 and 1 further answers: {words}"):
        run.score("breaking", "exact", workers=2)
    by_metric = [row[0].partition("(")[0] for row in stored_scores(run)]
    assert (4, 8) == (by_metric.count("breaking"), by_metric.count("exact"))


@pytest.mark.parametrize("error", [InputError("a"), MetricError("b"), ModelError("c")])
def test_an_error_comes_back_as_what_it_is(error: VivaError) -> None:
    received = received_error(sent_error(error))
    assert (type(error), str(error)) == (type(received), str(received))
    assert MetricError is type(received_error(SentError("OfAPlugin", "d")))


def test_json_of_workers_is_that_of_one_process(
    run: Run, tmp_path: Path, viva: Callable[..., Any], pool: PatientPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool.lend(verb, monkeypatch)
    other = tmp_path / "other" / "run.viva"
    other.parent.mkdir()
    run.file.copy(other)
    words = ("rouge(n=L)", "medsynf1", "--json", "--workers")
    by_one, by_two = (viva("score", path, *words, n) for path, n in ((run.file.path, 1), (other, 2)))
    assert "" == by_two.stderr
    assert json.loads(by_one.stdout)["rows"] == json.loads(by_two.stdout)["rows"]
    assert stored_scores(run) == stored_scores(Run(other))


@pytest.mark.parametrize("verb", ["score", "vary"])
def test_a_bad_number_of_workers_is_refused_before_anything_is_stored(
    verb: str, run: Run, viva: Callable[..., Any]
) -> None:
    what = "exact" if verb == "score" else "bias(type=recency)"
    with pytest.raises(InputError, match=r"^--workers 0: state a number of processes from 1 to 512, or auto"):
        viva(verb, run.file.path, what, "--workers", "0")
    with pytest.raises(InputError, match="--workers many"):
        getattr(run, verb)(what, workers="many")
    assert [] == stored_scores(run)
