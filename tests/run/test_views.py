"""A verb sees one state of a run, through few connections, whatever others write interrupted."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from polars.testing import assert_frame_equal
from tests.lengths import length
from tests.studies.making import borrowed, made

from vivavoce.core import registry
from vivavoce.core.records import Finding
from vivavoce.run.run import Run, open_run
from vivavoce.run.tables.load import load_scores
from vivavoce.store import declared_schema
from vivavoce.store.checksums import delete_scores, renew_checksums
from vivavoce.store.declared_schema import refuse_other_schema
from vivavoce.store.view import view_of

ROOT = Path(__file__).resolve().parents[2]
SIDE_BY_SIDE = ROOT / "examples" / "plugin_comparative_metric.py"
N_ITEMS = 12
BASELINES = ("baseline/echo", "baseline/reference")

Verb = Callable[[Run, Path], object]
READING: Mapping[str, Verb] = {
    "estimates": lambda run, folder: content(run.estimates()),
    "compare": lambda run, folder: content(run.compare()),
    "status": lambda run, folder: content(run.status()),
    "study": lambda run, folder: {name: content(finding) for name, finding in run.study().items()},
    "report": lambda run, folder: run.report_rows(folder / "report.html")[1:],
    "gate": lambda run, folder: run.gate("A", "B", metric="exact", veto=["exact < 1"], max_critical=99),
}
"""Verbs whose findings rest on scores, and what they say; the first row of a report names its file."""
CONNECTIONS: Mapping[str, tuple[int, Verb]] = {
    **{name: (1, verb) for name, verb in READING.items()},
    "score": (2, lambda run, folder: run.score("bleu")),
    "score of nothing new": (2, lambda run, folder: run.score("exact")),
    "score, dry run": (1, lambda run, folder: run.score("bleu", dry_run=True)),
    "score of overall": (1, lambda run, folder: run.score("overall")),
    "compare by a metric": (1, lambda run, folder: run.compare(metric="token_f1")),
    "compare with a primary criterion": (1, lambda run, folder: run.compare(primary="token_f1")),
    "compare in a plan": (1, lambda run, folder: run.compare(metric="exact", sequential=True, analyses=3)),
    "one study": (1, lambda run, folder: run.study("ranking")),
    "diff": (1, lambda run, folder: run.diff("rouge(n=1)", "rouge(n=2)")),
    "interim": (1, lambda run, folder: run.interim()),
    "verify": (1, lambda run, folder: run.verify()),
    "import": (3, lambda run, folder: run.import_answers(new_answers(), name="new")),
    "import of scores": (
        2,
        lambda run, folder: run.import_scores(new_scores(), measure="people(name=anna)", range={"*": (0, 1)}),
    ),
    "collect": (15, lambda run, folder: run.collect(exam_spec(run), models=BASELINES)),
    "vary": (2, lambda run, folder: run.vary("demographic(kind=sex)")),
    "export of tables": (2, lambda run, folder: run.export(folder / "tables", format="csv")),
    "export of a run": (10, lambda run, folder: run.export(folder / "part.viva", format="run", redact=True)),
    "export for a tool": (1, lambda run, folder: run.export(folder / "logs", format="inspect")),
    "merge": (9, lambda run, folder: open_run(folder / "merged.viva").merge(run.file.path)),
}
"""By verb how many connections it opens at most on a run that was opened before, and how it is called."""


def content(finding: Finding) -> tuple[object, ...]:
    return finding.rows, str(finding), finding.notes


def new_answers() -> list[dict[str, Any]]:
    return [
        {"item": "n1", "question": "Why?", "references": ["so"], "candidate": name, "text": "so"}
        for name in "AB"
    ]


def new_scores() -> list[dict[str, Any]]:
    return [
        {"item": f"q{k}", "candidate": name, "criterion": "good", "value": k % 2}
        for k in range(4)
        for name in "AB"
    ]


def exam_spec(run: Run) -> str:
    return f"jsonl(path='{run.file.path.parent / 'exam.jsonl'}')"


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of twelve items that two candidates answered twice, scored by several metrics."""
    folder = tmp_path_factory.mktemp("whole")
    answers = {
        name: {f"q{k}": [f"the key of q{k}" if k % modulus else "a word", "the word"] for k in range(N_ITEMS)}
        for name, modulus in (("A", 2), ("B", 3), ("C", 5))
    }
    run = made(folder, answers, role={"C": "floor"})
    run.score("exact", "token_f1", "rouge(n=1)", "rouge(n=2)")
    with borrowed():
        registry.load_plugin(SIDE_BY_SIDE)
        run.score("shorter")
    return folder


@pytest.fixture
def copied(scored: Path, tmp_path: Path) -> Iterator[Callable[[], Run]]:
    """Makes runs that hold what the whole run does, each opened before it is used, all at one path."""
    with borrowed():
        registry.load_plugin(SIDE_BY_SIDE)

        def copy() -> Run:
            shutil.rmtree(tmp_path / "at", ignore_errors=True)
            shutil.copytree(scored, tmp_path / "at")
            run = open_run(tmp_path / "at" / "run.viva")
            with run.file.writing():  # a copy has no write-ahead log
                pass
            return run

        yield copy


@contextmanager
def watched(notice: Callable[[sqlite3.Connection], None]) -> Iterator[None]:
    """Each connection that is opened in the block is shown."""
    real = sqlite3.connect

    def connect(*args: Any, **options: Any) -> sqlite3.Connection:
        db: sqlite3.Connection = real(*args, **options)
        notice(db)
        return db

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", connect)
        yield


@pytest.mark.parametrize("name", CONNECTIONS)
def test_a_verb_opens_no_more_connections_than_it_needs(
    copied: Callable[[], Run], tmp_path: Path, name: str
) -> None:
    most, verb = CONNECTIONS[name]
    run = copied()
    opened: list[sqlite3.Connection] = []
    with watched(opened.append):
        verb(run, tmp_path)
    assert most >= len(opened)


def write_meanwhile(run: Run) -> None:
    """What another process may do to the scores: some are gone, all others are the other way round."""
    with run.file.writing() as db:
        delete_scores(db, "measure_id IN (SELECT measure_id FROM measures) AND response_id % 9 = 1")
        db.execute("UPDATE scores SET value = 1 - value")
        renew_checksums(db)


class Statements:
    """Counts the statements of a verb that read, and lets another process write before one of them.

    Those of its own transactions of writing are left out: whoever else writes waits for their end.
    """

    def __init__(self, write: Callable[[], None] | None = None, *, place: int = 0) -> None:
        self.n, self.written = 0, False
        self._write, self._place = write, place
        self._is_writing = False

    def watch(self, db: sqlite3.Connection) -> None:
        db.set_trace_callback(self._see)

    def _see(self, statement: str) -> None:
        if statement.startswith(("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK")):
            self._is_writing = statement.startswith("BEGIN")
        elif not self._is_writing and statement.lstrip().startswith(("SELECT", "WITH")):
            self.n += 1
            if self._write and self.n == self._place:
                write, self._write = self._write, None
                write()
                self.written = True


@pytest.mark.parametrize("name", READING)
def test_scores_that_are_written_between_the_reads_of_a_verb_are_seen_by_all_of_them_or_by_none(
    copied: Callable[[], Run], tmp_path: Path, name: str
) -> None:
    verb = READING[name]
    statements = Statements()
    run = copied()
    with watched(statements.watch):
        old = verb(run, tmp_path)
    write_meanwhile(run := copied())
    new = verb(run, tmp_path)
    assert old != new
    n_places = length(2, 60)
    step = max(1, statements.n // n_places)
    states = set()
    for place in range(1, statements.n, step):
        run = copied()
        interrupted = Statements(lambda: write_meanwhile(run), place=place)  # noqa: B023
        with watched(interrupted.watch):
            result = verb(run, tmp_path)
        assert interrupted.written
        assert result in (old, new), f"two states, written before statement {place} of {statements.n}"
        states.add(result == old)
    assert True in states


def test_scores_that_are_written_while_others_are_made_are_in_all_estimates_or_in_none(
    copied: Callable[[], Run],
) -> None:
    statements = Statements()
    run = copied()
    with watched(statements.watch):
        old = content(run.score("bleu"))
    for place in range(1, statements.n, max(1, statements.n // length(2, 60))):
        run = copied()
        interrupted = Statements(lambda: write_meanwhile(run), place=place)  # noqa: B023
        with watched(interrupted.watch):
            result = content(run.score("bleu"))
        assert interrupted.written
        new = content(run.score("bleu"))
        assert result in (old, new), f"two states, written before statement {place} of {statements.n}"


def test_declarations_are_compared_once_a_connection(
    copied: Callable[[], Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, compared = copied(), []

    def refuse(db: sqlite3.Connection, *terms: Any) -> None:
        compared.append(db)
        refuse_other_schema(db, *terms)

    monkeypatch.setattr(declared_schema, "refuse_other_schema", refuse)
    run.compare()
    assert 1 == len(compared)
    run.score("bleu")
    assert 3 == len(compared)


@pytest.mark.parametrize("metric", [None, "exact", "shorter", "token_f1"])
@pytest.mark.parametrize("candidates", [None, ("A", "B"), ("A", "C"), ("B",)])
def test_scores_taken_from_all_scores_are_those_that_are_read_alone(
    copied: Callable[[], Run], metric: str | None, candidates: tuple[str, ...] | None
) -> None:
    run = copied()
    signatures = None if metric is None else [m.signature for m in run.measures if m.metric == metric]
    with view_of(run.file) as view:
        alone = load_scores(view, signatures, candidates=candidates)
    with view_of(run.file) as view:
        load_scores(view)
        taken = load_scores(view, signatures, candidates=candidates)
    assert_frame_equal(alone.scores, taken.scores)
    assert alone.measures == taken.measures
