"""Logs that attack: too long, packed in themselves, linked in circles, or in another encoding."""

import io
import json
import os
import shutil
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.lengths import length
from tests.logs.test_bad_logs import ARCHIVE, FILES, refused

import vivavoce as viva
from vivavoce.core import json_stream
from vivavoce.run.exchange.logs import inspect_archive


@pytest.fixture
def peers(shared: Path) -> Path:
    return shared / "data" / "peers"


@pytest.fixture
def inspect_log(peers: Path) -> str:
    return (peers / FILES["inspect"]).read_text(encoding="utf-8")


def rewritten(peers: Path, file: Path, edit: Callable[[str, bytes], bytes]) -> Path:
    """The archive with other members."""
    with inspect_archive.open_archive(peers / ARCHIVE) as archive, zipfile.ZipFile(file, "w") as copy:
        for name in archive.namelist():
            copy.writestr(name, edit(name, archive.read(name)))
    return file


def imported(tmp_path: Path, *paths: Path) -> Any:
    return viva.open(tmp_path / "x.viva").import_logs(*paths)


@pytest.mark.parametrize("name", ["inspect", "lm_eval", "promptfoo", "deepeval"])
def test_a_text_too_long_to_be_held_is_refused(
    peers: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit stands for the 2 GB that nobody writes in a test."""
    monkeypatch.setattr(json_stream, "MOST_CHARACTERS", 300)
    monkeypatch.setattr(json_stream, "CHUNK", 100)
    folder = tmp_path / "log"
    folder.mkdir()
    for sibling in (peers / FILES[name]).parent.iterdir():
        if sibling.is_file():
            shutil.copyfile(sibling, folder / sibling.name)
    assert "and none so long is read" in refused(tmp_path, folder / Path(FILES[name]).name)


def test_a_member_too_long_to_be_held_is_refused(
    peers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspect_archive, "MOST_CHARACTERS", 3000)
    assert "has more than 3,000 bytes, and none so long is read" in refused(tmp_path, peers / ARCHIVE)


@pytest.mark.parametrize(
    ("word", "sentence"),
    [("Infinity", "inf is neither a number nor a grade"), ("1e999", "larger than any number can be")],
)
def test_an_infinite_mark_is_refused(inspect_log: str, tmp_path: Path, word: str, sentence: str) -> None:
    file = tmp_path / "log.json"
    file.write_text(inspect_log.replace('"value": "C"', f'"value": {word}', 1), encoding="utf-8")
    assert sentence in refused(tmp_path, file)


def test_nan_in_a_line_of_lm_eval_is_a_failed_mark(peers: Path, tmp_path: Path) -> None:
    text = (peers / FILES["lm_eval"]).read_text(encoding="utf-8")
    file = tmp_path / "samples.jsonl"
    file.write_text(text.replace('"exact_match": 0.0', '"exact_match": NaN', 1), encoding="utf-8")
    (log,) = imported(tmp_path, file).logs
    assert (10, 10, 1) == (log.responses, log.scores, log.scores_failed)


def test_an_archive_in_an_archive_and_a_broken_frame_are_named(peers: Path, tmp_path: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("sample.json", "{}")
    nested = rewritten(
        peers, tmp_path / "nested.eval", lambda name, data: inner.getvalue() if "o2" in name else data
    )
    assert "nested.eval, samples/o2_epoch_1.json: broken JSON" in refused(tmp_path, nested)
    data = bytearray((peers / ARCHIVE).read_bytes())
    with zipfile.ZipFile(peers / ARCHIVE) as archive:
        start = archive.getinfo("samples/o2_epoch_1.json").header_offset
    data[start + 100 : start + 400] = bytes(300)
    broken = tmp_path / "broken.eval"
    broken.write_bytes(bytes(data))
    assert "samples/o2_epoch_1.json cannot be unpacked" in refused(tmp_path, broken)


def test_a_newer_version_of_an_archive_is_named(peers: Path, tmp_path: Path) -> None:
    def newer(name: str, data: bytes) -> bytes:
        return json.dumps({**json.loads(data), "version": 9}).encode() if name == "header.json" else data

    assert "a log of version 9" in refused(tmp_path, rewritten(peers, tmp_path / "newer.eval", newer))


@pytest.mark.parametrize("name", ["inspect", "lm_eval"])
def test_encodings(peers: Path, tmp_path: Path, name: str) -> None:
    """A mark of UTF-8 and line ends of Windows change nothing; UTF-16 and Latin-1 are named."""
    text = (peers / FILES[name]).read_text(encoding="utf-8")
    file = tmp_path / Path(FILES[name]).name
    counts = set()
    for words in (text, "\ufeff" + text, text.replace("\n", "\r\n")):
        file.write_bytes(words.encode())
        counts.add(imported(tmp_path, file).logs[0].responses)
    assert 1 == len(counts)
    bad = tmp_path / f"bad{file.suffix}"
    for data in (text.encode("utf-16"), ("é" + text).encode("latin-1", "replace")):
        bad.write_bytes(data)
        assert "is no UTF-8 text, in which logs are written: save it as UTF-8" in refused(tmp_path / "n", bad)


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".eval", ".parquet"])
def test_an_empty_file_is_named(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"empty{suffix}"
    file.touch()
    sentence = refused(tmp_path, file)
    assert str(file) in sentence
    assert any(words in sentence for words in ("is empty", "no whole .eval file", "is no log of"))


def test_samples_in_another_order_are_the_same(inspect_log: str, tmp_path: Path) -> None:
    log = json.loads(inspect_log)
    log["samples"].reverse()
    log["eval"]["eval_id"] = "reversed"
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    first.write_text(inspect_log, encoding="utf-8")
    second.write_text(json.dumps(log), encoding="utf-8")
    assert [(6, 0), (0, 6)] == [(log.new, log.unchanged) for log in imported(tmp_path, first, second).logs]


def test_two_models_in_two_files_get_no_single_name(inspect_log: str, tmp_path: Path) -> None:
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    first.write_text(inspect_log, encoding="utf-8")
    second.write_text(inspect_log.replace("mockllm/fake", "b").replace("YfYzo", "b"), encoding="utf-8")
    assert "answers of 2 models (mockllm/fake, b), and one name is no name" in refused(
        tmp_path, first, second, candidate="X"
    )


def test_links_in_circles_and_pipes_are_passed_by(peers: Path, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for name, target in (
        ("self.json", "self.json"),
        ("up", ".."),
        ("dead.json", "/nowhere"),
        ("z.json", "/dev/zero"),
    ):
        os.symlink(target, folder / name)
    os.mkfifo(folder / "pipe.json")
    os.symlink(peers / FILES["inspect"], folder / "log.json")
    logs = imported(tmp_path, folder)
    assert [(str(folder / "log.json"), 6)] == [(log.source, log.responses) for log in logs.logs]


def test_a_folder_of_many_files_is_gone_through_once(inspect_log: str, tmp_path: Path) -> None:
    folder, files = tmp_path / "logs", length(1_000, 10_000)
    folder.mkdir()
    for k in range(files):
        (folder / f"{k}.json").write_text("{}")
    (folder / "log.json").write_text(inspect_log, encoding="utf-8")
    start = time.process_time()
    logs = imported(tmp_path, folder)
    assert (1, files) == (len(logs.logs), len(logs.skipped_files))
    assert time.process_time() - start < 0.006 * files


def test_parquet_is_read_some_hundred_rows_at_a_time(peers: Path, tmp_path: Path) -> None:
    details = pl.read_parquet(peers / FILES["lighteval"])
    file = tmp_path / "details.parquet"
    pl.concat([details] * 201).write_parquet(file)
    assert "a second sample for" in refused(tmp_path, file)
    rows = [{**row, "doc": {**row["doc"], "query": f"{row['doc']['query']} {k}"}} for k, row in enumerate(
        pl.concat([details] * 201).to_dicts())]  # fmt: skip
    pl.DataFrame(rows, schema=details.schema).write_parquet(file)
    questions = [f"{k}" for k in range(len(rows))]
    run = viva.open(tmp_path / "many.viva")
    with pytest.raises(viva.core.errors.VivaError, match="stands for another question before"):
        run.import_logs(file)
    rows = [{**row, "doc": {**row["doc"], "id": name}} for row, name in zip(rows, questions, strict=True)]
    pl.DataFrame(rows, schema=details.schema).write_parquet(file)
    assert 1005 == run.import_logs(file).logs[0].responses
