"""Texts that their readers signed for leave the run by no door, but redacted."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.studies.making import borrowed
from typer.testing import CliRunner

import vivavoce as viva
from vivavoce.benchmarks import Benchmark
from vivavoce.cli import app
from vivavoce.core import registry
from vivavoce.core.errors import EgressError, InputError, VivaError
from vivavoce.core.records import Card, Item
from vivavoce.store.write import put_finding, put_provenance

SECRET = "Zephyrine Quillfeather, of bed 9, coughs"


@pytest.fixture(autouse=True)
def notes() -> Iterator[None]:
    """A benchmark under a data use agreement, and one that is open."""
    with borrowed():

        @registry.benchmark("notes")
        class Notes(Benchmark):
            """Notes of a hospital."""

            card = Card(
                name="notes", description="d", source="s", revision_note="-", licence="DUA", citation="c",
                access="credentialed",
            )  # fmt: skip

            def items(self) -> Iterator[Item]:
                for k in (1, 2):
                    yield Item(
                        benchmark="notes", item=f"n{k}", format="longform", question=f"Sum up: {SECRET}.",
                        references=(SECRET,), context=SECRET, category="ward", meta={"note": SECRET},
                    )  # fmt: skip

        yield


@pytest.fixture
def run(tmp_path: Path) -> viva.Run:
    made = viva.open(tmp_path / "r.viva")
    made.collect("notes", models=["baseline/reference"])
    made.score("token_f1")
    return made


def holds_secret(path: Path) -> list[str]:
    """The files at a path that hold a word of the texts."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    assert files
    return [file.name for file in files if b"Quillfeather" in file.read_bytes()]


def test_the_run_itself_holds_the_texts(run: viva.Run) -> None:
    assert ["r.viva"] == holds_secret(run.file.path)


@pytest.mark.parametrize("format", ["csv", "parquet", "run"])
def test_an_export_is_refused_without_redaction_and_has_no_text_with_it(run: viva.Run, format: str) -> None:
    to = run.file.path.with_name("out")
    with pytest.raises(
        InputError, match=r"holds texts of notes, which is credentialed: this export would be"
    ):
        run.export(to, format=format)
    with pytest.raises(InputError, match="Say --redact"):
        run.export(to, format=format, items="notes")
    assert not to.exists()
    run.export(to, format=format, redact=True)
    if format != "parquet":  # which compresses
        assert [] == holds_secret(to)


@pytest.mark.parametrize("tool", ["label-studio", "argilla"])
def test_annotation_tools_get_credentialed_items_when_their_raters_signed_alone(
    run: viva.Run, tool: str
) -> None:
    to = run.file.path.with_name("out")
    before = run.file.path.read_bytes()
    for options in ({}, {"redact": True}):
        with pytest.raises(InputError, match=r"--allow|--redact hides them"):
            run.export(to, format=tool, task="review", **options)
    assert not to.exists()
    assert before == run.file.path.read_bytes()
    run.export(to, format=tool, task="review", allow=True)
    assert ["records.json" if tool == "argilla" else "tasks.json"] == holds_secret(to)


@pytest.mark.parametrize("format", ["inspect", "every-eval-ever", "lm-eval", "batch", "healthbench"])
def test_files_of_other_tools_hold_no_text_of_it(run: viva.Run, format: str) -> None:
    to, options = run.file.path.with_name("out"), {"candidate": "openai/m"} if format == "batch" else {}
    with pytest.raises(VivaError):
        run.export(to, format=format, **options)
    assert not to.exists()
    if format in ("inspect", "every-eval-ever"):
        for written in run.export(to, format=format, redact=True):
            assert written.path.exists()
        assert [] == holds_secret(to)


def test_an_exporter_that_cannot_redact_writes_nothing(run: viva.Run) -> None:
    for options in ({}, {"redact": True}):
        with pytest.raises(VivaError):
            run.export(run.file.path.with_name("out"), format="cliniqlink", **options)  # type: ignore[arg-type]
    assert not run.file.path.with_name("out").exists()


def test_findings_and_words_of_users_leave_with_no_redacted_table(run: viva.Run) -> None:
    with run.file.writing() as db:
        put_finding(db, "audit", {}, ({"text": SECRET},))
        put_provenance(db, "collect", {"system": SECRET}, changed=0)
    to = run.file.path.with_name("out")
    run.export(to, format="csv", redact=True, table=["findings", "provenance"])
    assert [] == holds_secret(to)
    assert 1 == len((to / "findings.csv").read_text(encoding="utf-8").splitlines())


def test_a_copy_is_refused_and_one_of_the_redacted_run_is_not(run: viva.Run) -> None:
    folder = run.file.path.parent
    with pytest.raises(InputError, match="a copy would be a copy of them outside the run"):
        run.copy(folder / "copy.viva")
    assert not (folder / "copy.viva").exists()
    run.export(folder / "redacted.viva", format="run", redact=True)
    redacted = viva.open(folder / "redacted.viva")
    assert [] == holds_secret(redacted.copy(folder / "copy.viva"))
    assert redacted.export(folder / "tables", format="csv")


def test_the_report_is_redacted_unasked(run: viva.Run) -> None:
    page = run.report(plots=run.file.path.with_name("plots"))
    assert [] == holds_secret(page)
    assert "redacted" in page.read_text(encoding="utf-8")
    assert [] == [row for row in run.report_rows() if "Quillfeather" in str(row)]


def test_a_run_that_it_was_merged_into_is_held_to_the_same(run: viva.Run, tmp_path: Path) -> None:
    target = viva.open(tmp_path / "target.viva")
    target.collect("sample", models=["baseline/reference"])
    target.copy(tmp_path / "before.viva")
    target.merge(run.file.path)
    with pytest.raises(InputError, match="credentialed"):
        target.copy(tmp_path / "after.viva")
    with pytest.raises(InputError, match="credentialed"):
        target.export(tmp_path / "part.viva", format="run", items="sample")


def test_no_packet_is_written(run: viva.Run) -> None:
    to = run.file.path.with_name("packets")
    with pytest.raises(InputError, match=r"a packet would be .* Name the other questions with --items"):
        run.make_panel(["anna", "ben"], to, criterion="quality")
    assert not to.exists()


def test_nothing_is_put_into_a_temporary_file() -> None:
    answers = [{"item": "n1", "candidate": "A", "text": "She coughs."}]
    with pytest.raises(InputError, match=r"notes is credentialed, and a temporary run would lie"):
        viva.evaluate(answers, benchmark="notes")


def test_with_a_path_of_ones_own_it_is_evaluated(tmp_path: Path) -> None:
    answers = [{"item": "n1", "candidate": "A", "text": "She coughs."}]
    run = viva.evaluate(answers, metrics="token_f1", benchmark="notes", to=tmp_path / "r.viva")
    assert 1 == run.scores.height


@pytest.mark.parametrize(
    "words", [["show", "notes"], ["show", "notes", "--json"], ["show", "notes", "--contents"]]
)
def test_what_is_shown_names_questions_and_quotes_none(words: list[str]) -> None:
    result: Any = CliRunner().invoke(app, words)
    assert 0 == result.exit_code, result.output
    assert "Quillfeather" not in result.output
    assert "n1" in result.output


def test_what_commands_print_of_the_run_quotes_nothing(run: viva.Run) -> None:
    for words in (["status", "--full"], ["status", "--json"], ["compare", "--json"], ["study"]):
        result: Any = CliRunner().invoke(app, [words[0], str(run.file.path), *words[1:]])
        assert "Quillfeather" not in result.output, words


def test_a_model_away_from_this_machine_is_asked_where_it_was_named_alone(
    run: viva.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    with pytest.raises(EgressError, match=r"notes is credentialed: .* say --allow api\.openai\.com"):
        run.collect("notes", models=["openai/gpt-4o"])
    with pytest.raises(EgressError, match="credentialed"):
        run.collect("notes", models=["openai/gpt-4o"], allow=["example.org"])


def test_a_dry_run_refuses_a_host_that_was_not_named(run: viva.Run, tmp_path: Path) -> None:
    providers = tmp_path / "providers.yaml"
    providers.write_text("far:\n  base_url: https://far.example/v1\n")
    for ask in (
        lambda options: run.collect("notes", models=["far/m"], **options),
        lambda options: run.score("judge(rubric=correctness, model=far/m)", **options),
        lambda options: run.vary("rephrase(model=far/m, of=references)", **options),
    ):
        for dry_run in (True, False):
            with pytest.raises(EgressError, match=r"notes is credentialed: .* say --allow far\.example"):
                ask({"providers": providers, "dry_run": dry_run})
        assert ask({"providers": providers, "dry_run": True, "allow": ["far.example"]})
