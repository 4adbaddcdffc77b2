"""Logs that are cut, altered or hostile: rows, or one sentence, and nothing stored."""

import copy
import json
import random
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.lengths import length
from tests.logs.written_logs import WRITTEN, write_log
from tests.run.test_row_counts import adds_up

import vivavoce as viva
from vivavoce.core.errors import VivaError
from vivavoce.run.exchange.recognise import readers

FILES = {
    "lm_eval": "lm_eval/recorded/samples_viva_med_gen_2026-11-22T15-58-51.398919.jsonl",
    "inspect": "inspect/2026-11-22T15-54-17-00-00_med-open.json",
    "deepeval": "deepeval/test_run_20261122_154615.json",
    "healthbench": "healthbench/healthbench_fake_allresults.json",
    "helm": "helm/viva_open/scenario_state.json",
    "promptfoo": "promptfoo/out.json",
    "openai_batch": "openai_batch/output.jsonl",
    "every_eval_ever": "every_eval_ever/example_samples.jsonl",
    "label_studio": "label_studio/export_JSON.json",
    "argilla": "argilla/records.json",
    "lighteval": "lighteval/details_viva_mcq_2026-11-22T16-30-52.021767.parquet",
}
EXAMPLES = length(25, 400)
ARCHIVE = "inspect/2026-11-22T15-53-40-00-00_med-open.eval"


@pytest.fixture(scope="module")
def peers(shared: Path) -> Path:
    return shared / "data" / "peers"


def refused(tmp_path: Path, *paths: Path, candidate: str | None = None) -> str:
    """The sentence that refuses these logs; nothing of them is in the run."""
    run = viva.open(tmp_path / "bad.viva")
    with pytest.raises(VivaError) as error:
        run.import_logs(*paths, candidate=candidate)
    if run.file.exists:
        with run.file.reading() as db:
            assert (0, 0) == db.execute(
                "SELECT (SELECT count(*) FROM items), (SELECT count(*) FROM responses)"
            ).fetchone()
    sentence = str(error.value)
    assert "\n" not in sentence
    assert len(sentence) < 700
    return sentence


def test_every_reader_has_a_file_here() -> None:
    """Labels of HealthBench have no published file here: tests/systems/healthbench makes and alters one."""
    assert {*FILES, *WRITTEN, "healthbench_meta"} == set(readers())


def copied(source: Path, folder: Path) -> Path:
    """The file of a tool in a folder of its own, with what stands beside it."""
    for sibling in source.parent.iterdir():
        if sibling.is_file():
            shutil.copyfile(sibling, folder / sibling.name)
    return folder / source.name


def read_or_refused(file: Path, name: str) -> None:
    """Fails where a log gives neither rows whose counts add up nor one sentence."""
    run = viva.open(file.parent / "fuzz.viva")
    run.file.path.unlink(missing_ok=True)
    try:
        for log in run.import_logs(file, reader=name).logs:
            assert adds_up(log.row_counts, log.row_counts["rows"])
            assert log.responses == log.row_counts.get("answers", 0)
    except VivaError as error:
        sentence = str(error)
        assert "\n" not in sentence
        assert len(sentence) < 700
        if run.file.exists:
            with run.file.reading() as db:
                assert (0,) == db.execute("SELECT count(*) FROM responses").fetchone()


@pytest.mark.parametrize(("name", "source"), [*FILES.items(), ("inspect", ARCHIVE)])
def test_a_cut_or_altered_log_gives_rows_or_one_sentence(
    peers: Path, tmp_path_factory: pytest.TempPathFactory, name: str, source: str
) -> None:
    file = copied(peers / source, tmp_path_factory.mktemp(name))
    data = file.read_bytes()

    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.integers(0, len(data)), st.integers(0, 2**32), st.booleans())
    def check(place: int, seed: int, cut: bool) -> None:
        altered, rng = bytearray(data[:place] if cut else data), random.Random(seed)
        for _ in range(0 if cut else 5):
            altered[rng.randrange(len(altered))] = rng.randrange(256)
        file.write_bytes(bytes(altered))
        read_or_refused(file, name)

    check()


ODD: list[Any] = [
    *(None, True, 0, -1, 1.5, 10**30, float("nan"), float("inf"), "", "x", "\0", "NaN", "1"),
    *([], {}, [1], ["a"], [None], {"a": 1}, [[]], [{}], {"role": None}, {"content": [1, 2]}),
]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every object and list inside a value, with each of its names or places."""
    for key, entry in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        if isinstance(entry, dict | list):
            yield from places(entry)


def altered_value(value: Any, rng: random.Random) -> Any:
    """The value with a few of its fields of another kind, renamed, repeated or left out."""
    for _ in range(rng.choice([1, 1, 2, 3])):
        inside, key = rng.choice(list(places(value)) or [([None], 0)])
        if rng.random() < 0.75:
            inside[key] = copy.deepcopy(rng.choice(ODD))
        elif isinstance(inside, list):
            inside.append(inside[key])
        elif rng.random() < 0.5:
            del inside[key]
        else:
            inside[f"{key}x"] = inside.pop(key)
    return value


@pytest.mark.parametrize("name", FILES)
def test_a_field_of_another_kind_gives_rows_or_one_sentence(
    peers: Path, tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    file = copied(peers / FILES[name], tmp_path_factory.mktemp(name))
    text = "" if name == "lighteval" else file.read_text(encoding="utf-8")

    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.integers(0, 2**32))
    def check(seed: int) -> None:
        rng = random.Random(seed)
        if file.suffix == ".json":
            file.write_text(json.dumps(altered_value(json.loads(text), rng)), encoding="utf-8")
        elif file.suffix == ".jsonl":
            rows = altered_value([json.loads(line) for line in text.splitlines()], rng)
            file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        else:
            rows = altered_value(pl.read_parquet(peers / FILES[name]).to_dicts(), rng)
            try:
                table = pl.DataFrame(rows, infer_schema_length=None)
                table.write_parquet(file)
            except (pl.exceptions.PolarsError, pl.exceptions.PanicException, TypeError, OverflowError):
                return  # rows that make no table
        read_or_refused(file, name)

    check()


@pytest.mark.parametrize("name", WRITTEN)
def test_a_written_log_cut_or_altered_gives_rows_or_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    """Bytes of the file, and fields of the JSON: rows, or one sentence."""
    file = write_log(tmp_path_factory.mktemp(name), name)
    text = file.read_text(encoding="utf-8")

    @settings(max_examples=length(50, 1300), deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.integers(0, 2**32))
    def check(seed: int) -> None:
        rng = random.Random(seed)
        if seed % 2 or file.suffix == ".csv":
            altered = bytearray(text.encode()[: rng.randrange(len(text)) if seed % 3 == 0 else None])
            for _ in range(3 if altered else 0):
                altered[rng.randrange(len(altered))] = rng.randrange(256)
            file.write_bytes(bytes(altered))
        elif name in ("openai_evals", "oaieval", "doccano"):
            rows = altered_value([json.loads(line) for line in text.splitlines()], rng)
            file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        else:
            file.write_text(json.dumps(altered_value(json.loads(text), rng)), encoding="utf-8")
        read_or_refused(file, name)

    check()


def test_cut_files_are_named(peers: Path, tmp_path: Path) -> None:
    archive = tmp_path / "cut.eval"
    archive.write_bytes((peers / ARCHIVE).read_bytes()[:9000])
    assert "no whole .eval file" in refused(tmp_path, archive) or "is no log of" in refused(tmp_path, archive)
    log = tmp_path / "cut.json"
    log.write_text((peers / FILES["inspect"]).read_text(encoding="utf-8")[:40_000], encoding="utf-8")
    assert "broken JSON" in refused(tmp_path, log)


def test_a_newer_version_and_an_unheard_of_grade_are_named(peers: Path, tmp_path: Path) -> None:
    text = (peers / FILES["inspect"]).read_text(encoding="utf-8")
    newer, grade = tmp_path / "newer.json", tmp_path / "grade.json"
    newer.write_text(text.replace('"version": 2', '"version": 9', 1), encoding="utf-8")
    assert "a log of version 9, and versions up to 2 are read" in refused(tmp_path, newer)
    grade.write_text(text.replace('"value": "C"', '"value": "splendid"', 1), encoding="utf-8")
    assert "'splendid' is neither a number nor a grade (C, P, I, N)" in refused(tmp_path, grade)


def test_an_archive_that_leads_out_or_swells_is_refused(tmp_path: Path) -> None:
    outside, bomb = tmp_path / "outside.eval", tmp_path / "bomb.eval"
    with zipfile.ZipFile(outside, "w") as archive:
        archive.writestr("../header.json", "{}")
    assert "leads out of the archive" in refused(tmp_path, outside)
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("header.json", b"0" * 40_000_000)
    assert "unpacks to 40,000,000 bytes" in refused(tmp_path, bomb)


def test_a_sample_that_stands_there_twice_is_named(peers: Path, tmp_path: Path) -> None:
    log = json.loads((peers / FILES["inspect"]).read_text(encoding="utf-8"))
    log["samples"].append(log["samples"][0])
    file = tmp_path / "twice.json"
    file.write_text(json.dumps(log), encoding="utf-8")
    assert "a second sample for o1, repeat 1" in refused(tmp_path, file)


def test_an_item_that_changed_between_files_is_named(peers: Path, tmp_path: Path) -> None:
    text = (peers / FILES["inspect"]).read_text(encoding="utf-8")
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    first.write_text(text, encoding="utf-8")
    altered = text.replace("Name the first drug", "Name the second drug").replace(
        "YfYzoQeLPMyU2RUh8UBQMu", "other"
    )
    second.write_text(altered, encoding="utf-8")
    assert "have changed since this run was made (o1)" in refused(tmp_path, first, second)
