"""Logs that are cut, altered or hostile: rows, or one sentence, and nothing stored."""

import json
import random
import shutil
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import vivavoce as viva
from vivavoce.core.errors import VivaError
from vivavoce.pipeline.exchange.recognise import readers

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
}
ARCHIVE = "inspect/2026-11-22T15-53-40-00-00_med-open.eval"


@pytest.fixture(scope="module")
def peers(shared: Path) -> Path:
    return shared / "data" / "peers"


def refused(tmp_path: Path, *paths: Path) -> str:
    """The sentence that refuses these logs; nothing of them is in the run."""
    run = viva.open(tmp_path / "bad.viva")
    with pytest.raises(VivaError) as error:
        run.import_logs(*paths)
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
    assert {*FILES, "lighteval"} == set(readers())


@pytest.mark.parametrize("name", FILES)
def test_a_cut_or_altered_log_gives_rows_or_one_sentence(
    peers: Path, tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    data = (peers / FILES[name]).read_bytes()
    folder = tmp_path_factory.mktemp(name)
    for sibling in (peers / FILES[name]).parent.iterdir():
        if sibling.is_file():
            shutil.copy(sibling, folder)
    file = folder / Path(FILES[name]).name

    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.integers(0, len(data)), st.integers(0, 2**32), st.booleans())
    def check(place: int, seed: int, cut: bool) -> None:
        altered = bytearray(data[:place] if cut else data)
        for _ in range(0 if cut else 5):
            altered[random.Random(seed + _).randrange(len(altered))] = random.Random(seed).randrange(256)
        file.write_bytes(bytes(altered))
        run = viva.open(folder / "fuzz.viva")
        run.file.path.unlink(missing_ok=True)
        try:
            run.import_logs(file, reader=name)
        except VivaError as error:
            sentence = str(error)
        else:
            sentence = ""
        assert "\n" not in sentence

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
