"""The CodaBench bundle: the layout that CodaBench unpacks, and no key outside of the reference data."""

import json
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cases import each_case
from tests.systems.cliniqlink.conftest import dump
from tests.systems.cliniqlink.conftest import load as load_json
from tests.systems.cliniqlink.submissions.making import SECRETS, exam_rows, holds_any, write_exam

from vivavoce.benchmarks import load
from vivavoce.core.errors import InputError, StoreError
from vivavoce.systems.cliniqlink.exporter import write_questions
from vivavoce.systems.cliniqlink.submissions.bundle import write_bundle
from vivavoce.systems.cliniqlink.submissions.competition import Competition, read_competition

Viva = Callable[..., Any]
TERMS = read_competition("lab/cliniqlink:1", "2026-12-01T18:30", "2027-02-01")


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    write_bundle(write_exam(tmp_path / "data", 2), tmp_path / "bundle", TERMS)
    return tmp_path / "bundle"


def members(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def public(folder: Path) -> dict[str, bytes]:
    return {
        name: body for name, body in members(folder).items()
        if not name.startswith("reference_data/") and name != "competition.zip"
    }  # fmt: skip


def competition(folder: Path) -> dict[str, Any]:
    return yaml.safe_load((folder / "competition.yaml").read_text(encoding="utf-8"))


def test_whatever_the_competition_names_is_in_the_bundle(bundle: Path) -> None:
    body = competition(bundle)
    (phase,), (task,) = body["phases"], body["tasks"]
    pages = [page["file"] for page in body["pages"]]
    assert 2 == body["version"]
    assert all((bundle / name).read_text().strip() for name in (*pages, body["terms"]))
    assert (bundle / body["image"]).is_file()
    folders = [task[name] for name in ("input_data", "reference_data", "scoring_program")]
    # CodaBench zips a folder into the folder above it, which it finds by the slash at the end.
    assert all(
        name.endswith("/") and any((bundle / name).iterdir())
        for name in (*folders, phase["public_data"], phase["starting_kit"])
    )
    assert [task["index"]] == phase["tasks"]
    assert (
        "python3 /app/program/scoring_program.py /app/input /app/output"
        == (yaml.safe_load((bundle / "scoring_program" / "metadata.yaml").read_text())["command"])
    )


def test_a_queue_of_ones_own_is_named_in_the_competition(tmp_path: Path) -> None:
    spec = write_exam(tmp_path / "data", 2)
    write_bundle(spec, tmp_path / "bundle", read_competition("lab/x:1", "2026-12-01", None, "5d1c-6c1f"))
    assert "5d1c-6c1f" == competition(tmp_path / "bundle")["queue"]
    with pytest.raises(InputError, match="is no virtual host of a queue"):
        read_competition("lab/x:1", "2026-12-01", None, "a b\nqueue: c")


def test_without_a_queue_none_is_named(bundle: Path) -> None:
    assert "queue" not in competition(bundle)


def test_a_table_of_rarity_that_does_not_go_along_is_refused(tmp_path: Path) -> None:
    (tmp_path / "idf.json").write_text("{}")
    with pytest.raises(InputError, match="does not go with the bundle"):
        write_bundle(
            write_exam(tmp_path / "data", 2), tmp_path / "bundle", TERMS,
            metric=f"cliniqlink(idf={tmp_path / 'idf.json'})",
        )  # fmt: skip
    assert not (tmp_path / "bundle").exists()


def test_a_team_has_three_submissions_and_states_its_size(bundle: Path) -> None:
    body = competition(bundle)
    assert 3 == body["phases"][0]["max_submissions"]
    assert ["up to 10 GB", "over 10 GB"] == body["fact_sheet"]["size_class"]["selection"]
    assert {"registration_auto_approve": False, "make_programs_available": False}.items() <= body.items()


def test_a_date_is_a_text_since_codabench_takes_the_time_off_a_date(bundle: Path) -> None:
    phase = competition(bundle)["phases"][0]
    assert ("2026-12-01 18:30:00", "2027-02-01 00:00:00") == (phase["start"], phase["end"])


def test_without_an_end_the_phase_has_none(tmp_path: Path) -> None:
    terms = read_competition("lab/x", "2026-12-01T01:00+02:00", None)
    write_bundle(write_exam(tmp_path / "data", 1), tmp_path / "b", terms)
    phase = competition(tmp_path / "b")["phases"][0]
    assert "2026-11-30 23:00:00" == phase["start"]
    assert "end" not in phase


def test_the_zip_holds_the_folder(bundle: Path) -> None:
    with zipfile.ZipFile(bundle / "competition.zip") as archive:
        assert archive.testzip() is None
        zipped = {name: archive.read(name) for name in archive.namelist()}
    files = members(bundle)
    del files["competition.zip"]
    assert files == zipped


def test_the_logo_is_a_picture(bundle: Path) -> None:
    body = (bundle / "logo.png").read_bytes()
    assert body.startswith(b"\x89PNG\r\n\x1a\n")
    chunks, at = {}, 8
    while at < len(body):
        (length,) = struct.unpack(">I", body[at : at + 4])
        kind, data = body[at + 4 : at + 8], body[at + 8 : at + 8 + length]
        assert zlib.crc32(kind + data) == struct.unpack(">I", body[at + 8 + length : at + 12 + length])[0]
        chunks[kind] = data
        at += 12 + length
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    pixels = zlib.decompress(chunks[b"IDAT"])
    assert len(pixels) == height * (1 + 3 * width)
    assert 2 == len({pixels[k : k + 3] for k in range(1 + 3 * width * 100 + 100, 3 * width * 101, 3)})


def test_what_is_public_says_nothing_of_the_key(tmp_path: Path) -> None:
    for name, turned in (("one", False), ("other", True)):
        write_bundle(write_exam(tmp_path / name, 3, turned=turned), tmp_path / f"{name}-bundle", TERMS)
    one, other = (public(tmp_path / f"{name}-bundle") for name in ("one", "other"))
    assert one == other  # byte by byte, though every key differs
    assert all(holds_any(SECRETS, body) == [] for body in one.values())
    keyed = (tmp_path / "one-bundle" / "reference_data", tmp_path / "other-bundle" / "reference_data")
    assert members(keyed[0]) != members(keyed[1])


def test_the_public_questions_can_be_asked_and_the_reference_is_the_exam(
    bundle: Path, tmp_path: Path
) -> None:
    exam = load(f"cliniqlink(data='{tmp_path / 'data'}')").items
    assert exam == load(f"cliniqlink(data='{bundle / 'reference_data'}')").items
    asked = load(f"cliniqlink_questions(data='{bundle / 'input_data'}')").items
    assert [item.item for item in exam] == [item.item for item in asked]


def test_nested_lists_keep_the_ids_of_their_items(tmp_path: Path) -> None:
    spec = write_exam(tmp_path / "data", 2)
    rows = exam_rows(2)["TF"]
    dump(tmp_path / "data" / "TF.json", [rows[:1], rows[1:]])
    write_bundle(spec, tmp_path / "b", TERMS)
    assert load(spec).items == load(f"cliniqlink(data='{tmp_path / 'b' / 'reference_data'}')").items


def test_the_starting_kit_is_a_submission_to_be_filled_in(bundle: Path) -> None:
    body = load_json(bundle / "starting_kit" / "multiple_choice.json")
    assert [None, None] == body["responses"]
    assert 2 == len(body["inputs"]) == len(body["prompts"])
    assert all({"id", "hash"} <= row.keys() for row in body["inputs"])


def test_the_same_call_changes_nothing(bundle: Path, tmp_path: Path) -> None:
    before = members(bundle)
    write_bundle(f"cliniqlink(data='{tmp_path / 'data'}')", bundle, TERMS)
    assert before == members(bundle)


def test_another_file_is_never_replaced(bundle: Path, tmp_path: Path) -> None:
    (bundle / "terms.md").write_text("Our own terms.")
    before = members(bundle)
    later = TERMS._replace(image="lab/cliniqlink:2")
    with pytest.raises(StoreError, match=r"is there already and is another: give another folder"):
        write_bundle(f"cliniqlink(data='{tmp_path / 'data'}')", bundle, later)
    assert before == members(bundle)


def test_what_cannot_be_a_competition_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    spec = write_exam(tmp_path / "data", 1)
    write_questions(spec, tmp_path / "questions")
    part = f"cliniqlink(data='{tmp_path / 'data'}', files=[TF, MC])"
    for benchmark, metric, sentence in (
        (f"cliniqlink_questions(data='{tmp_path / 'questions'}')", "cliniqlink", "has no key"),
        (part, "cliniqlink", "has no questions of list, short, short_inverse, multi_hop, multi_hop_inverse"),
        ("sample", "cliniqlink", "sample holds questions of other formats"),
        (spec, "accuracy", "a competition is scored by cliniqlink"),
    ):
        with pytest.raises(InputError, match=sentence):
            write_bundle(benchmark, tmp_path / "b", TERMS, metric=metric)
    assert not (tmp_path / "b").exists()


@each_case(
    ("image", "start", "end", "sentence"),
    [
        (None, "2026-12-01", None, "--image names the image that scores"),
        ("two words", "2026-12-01", None, "--image 'two words' is no name of an image"),
        ("lab/x\nevil: 1", "2026-12-01", None, "is no name of an image"),
        ("lab/x", None, None, "--start says when the competition begins"),
        ("lab/x", "soon", None, "--start 'soon': write a day or a time in UTC"),
        ("lab/x", "2026-12-01", "2026-13-01", "--end '2026-13-01': write a day"),
        ("lab/x", "0001-01-01T00:00+14:00", None, "write a day or a time in UTC"),
        ("lab/x", "2026-12-01", "2026-12-01", "--end 2026-12-01 is not after --start 2026-12-01"),
    ],
)
def test_what_an_organiser_must_decide_is_asked_for(
    image: str | None, start: str | None, end: str | None, sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        read_competition(image, start, end)


def test_the_shell_writes_a_bundle_and_says_where_the_key_is(viva: Viva, tmp_path: Path) -> None:
    spec = write_exam(tmp_path / "data", 1)
    words = (
        "challenge",
        "bundle",
        spec,
        "--image",
        "lab/x:1",
        "--start",
        "2026-12-01",
        "--to",
        tmp_path / "b",
    )
    rows = json.loads(viva(*words, "--json").stdout)["rows"]
    keyed = {Path(row["path"]).relative_to(tmp_path / "b").parts[0] for row in rows if row["key"]}
    assert {"reference_data", "competition.zip"} == keyed
    assert ["bytes", "key", "file"] == viva(*words).stdout.splitlines()[0].split()
    with pytest.raises(InputError, match="--gold goes with results, not with bundle"):
        viva(*words, "--gold")
    with pytest.raises(InputError, match="--to is needed"):
        viva(*words[:-2])


def test_the_metric_is_scored_by_as_it_was_written(tmp_path: Path) -> None:
    spec = write_exam(tmp_path / "data", 1)
    terms: Competition = TERMS
    write_bundle(spec, tmp_path / "b", terms, metric="cliniqlink(rules=published)")
    settings = load_json(tmp_path / "b" / "reference_data" / "competition.json")
    assert "cliniqlink(rules=published)" == settings["metric"]
