"""The scoring program on CodaBench's folders: equal to `viva score`, and silent on the key."""

import html
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.absent import absent
from tests.systems.cliniqlink.conftest import KINDS, dump
from tests.systems.cliniqlink.conftest import load as load_json
from tests.systems.cliniqlink.submissions.making import (
    SECRETS,
    answers,
    fake_encoder,
    holds_any,
    scored,
    write_exam,
)

from vivavoce.embeddings.encoder import PACKAGE
from vivavoce.systems.cliniqlink.submissions import scoring, submission_files
from vivavoce.systems.cliniqlink.submissions.bundle import write_bundle
from vivavoce.systems.cliniqlink.submissions.competition import read_competition

OUTPUT = {"scores.json", "scores.txt", "detailed_results.html"}


class Place(NamedTuple):
    """What a CodaBench worker unpacks: the submission, the folder of both inputs, and where scores go."""

    spec: str
    source: Path
    to: Path
    program: Path

    @property
    def submission(self) -> Path:
        return self.source / "res"

    def body(self, kind: str) -> dict[str, Any]:
        return load_json(self.submission / f"{kind}.json")

    def change(self, kind: str, **lists: Any) -> None:
        dump(self.submission / f"{kind}.json", self.body(kind) | lists)

    def score(self) -> int:
        return scoring.main([str(self.source), str(self.to)])

    @property
    def scores(self) -> dict[str, float]:
        return load_json(self.to / "scores.json")

    @property
    def details(self) -> str:
        return (self.to / "detailed_results.html").read_text(encoding="utf-8")


def fill_in(folder: Path, texts: dict[str, str]) -> None:
    """Answer the questions of a starting kit."""
    for kind in KINDS.values():
        body = load_json(folder / f"{kind}.json")
        dump(folder / f"{kind}.json", body | {"responses": [texts[row["id"]] for row in body["inputs"]]})


@pytest.fixture(scope="module", autouse=True)
def _encoder() -> Iterator[None]:
    with fake_encoder():
        yield


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A place that tests copy, or read."""
    folder = tmp_path_factory.mktemp("unpacked")
    spec = write_exam(folder / "data", 3)
    bundle = folder / "bundle"
    write_bundle(spec, bundle, read_competition("lab/x:1", "2026-12-01", None))
    shutil.copytree(bundle / "reference_data", folder / "input" / "ref")
    shutil.copytree(bundle / "starting_kit", folder / "input" / "res")
    (folder / "input" / "res" / "README.md").unlink()
    fill_in(folder / "input" / "res", answers(spec, 0.7, 1))
    program = bundle / "scoring_program" / "scoring_program.py"
    return Place(spec, folder / "input", folder / "output", program)


@pytest.fixture
def place(unpacked: Place, tmp_path: Path) -> Place:
    shutil.copytree(unpacked.source, tmp_path / "input")
    return unpacked._replace(source=tmp_path / "input", to=tmp_path / "output")


@pytest.fixture(scope="module")
def scored_place(unpacked: Place) -> Place:
    """The place as it is after the scoring, to read."""
    assert scoring.DONE == unpacked.score()
    return unpacked


def expected(place: Place, path: Path, texts: dict[str, str]) -> dict[str, float]:
    """The figures of `viva import`, `viva score` and `viva study overall` on these answers."""
    rows = scored(path, place.spec, {"m": texts}).study("overall")["overall"].rows
    kinds = {"mcq": "multiple_choice"}
    return {kinds.get(row["format"], row["format"]): row["estimate"] for row in rows}


def refused(place: Place, capsys: pytest.CaptureFixture[str]) -> str:
    """What is said of a submission that has no scores; nothing of the key is in it."""
    assert scoring.REFUSED == place.score()
    message = capsys.readouterr().err
    assert not place.to.exists()
    assert [] == holds_any(SECRETS, message)
    assert "Traceback" not in message
    return message


# What is scored


def test_the_scores_are_those_of_viva_score(scored_place: Place, tmp_path: Path) -> None:
    place = scored_place
    figures = expected(place, tmp_path / "r.viva", answers(place.spec, 0.7, 1))
    assert figures | {"missing": 0} == place.scores
    assert 0 < figures["overall"] < 1
    lines = (place.to / "scores.txt").read_text().splitlines()
    assert [f"{name}: {value}" for name, value in place.scores.items()] == lines


def test_scores_of_an_earlier_submission_do_not_stand_for_one_that_is_refused(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    assert scoring.DONE == place.score()
    place.change("true_false", responses=["True"])
    assert scoring.REFUSED == place.score()
    assert [] == list(place.to.iterdir())
    assert "3 inputs and 1 responses" in capsys.readouterr().err


def test_an_output_that_is_no_folder_gets_a_sentence(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.to.write_text("a file")
    assert scoring.REFUSED == place.score()
    assert f"cannot write to {place.to}: Not a directory." in capsys.readouterr().err


def test_an_answer_that_would_take_hours_is_refused_with_its_place(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    longest = submission_files.LONGEST_ANSWER
    texts = place.body("short")["responses"]
    place.change("short", responses=[texts[0], "a" * longest, texts[2]])
    assert scoring.DONE == place.score()
    place.change("short", responses=[texts[0], texts[1], "a" * (longest + 1)])
    assert scoring.REFUSED == place.score()
    assert "short.json, responses[2] has 100,001 characters, and an answer at most 100,000" in (
        capsys.readouterr().err
    )


def test_the_details_hold_no_hash_on_which_keys_could_be_tried(scored_place: Place) -> None:
    assert "corpus=" not in scored_place.details
    assert "Scored by <code>cliniqlink</code>" in scored_place.details


def test_the_keys_of_the_scores_are_the_columns_of_the_competition(scored_place: Place) -> None:
    import yaml

    competition = scored_place.program.parents[1] / "competition.yaml"
    body = yaml.safe_load(competition.read_text(encoding="utf-8"))
    assert [column["key"] for column in body["leaderboards"][0]["columns"]] == list(scored_place.scores)


def test_a_missing_answer_counts_as_an_empty_one_and_is_named(place: Place, tmp_path: Path) -> None:
    body = place.body("true_false")
    place.change("true_false", responses=[None, *body["responses"][1:]])  # a null
    body = place.body("short")
    for name in ("inputs", "responses", "prompts"):  # no entry
        body[name] = body[name][1:]
    dump(place.submission / "short.json", body)
    (place.submission / "list.json").unlink()  # no file
    assert scoring.DONE == place.score()
    lacking = {"TF-0", "short-0", "list-0", "list-1", "list-2"}
    texts = answers(place.spec, 0.7, 1) | dict.fromkeys(lacking, "")
    assert expected(place, tmp_path / "r.viva", texts) | {"missing": 5} == place.scores
    assert 0 == place.scores["list"]
    assert all(name in place.details for name in (*lacking, "list.json", "5 questions without an answer"))


def test_a_blank_answer_counts_and_is_not_missing_and_a_file_of_codabench_is_not_the_teams(
    place: Place,
) -> None:
    place.change("list", responses=["", " ", "\n"])
    (place.submission / "metadata").write_text("elapsedTime: 1")
    place.score()
    assert (0, 0) == (place.scores["missing"], place.scores["list"])
    assert "Not read" not in place.details


def test_a_result_file_is_found_in_one_folder_of_the_zip(place: Place, scored_place: Place) -> None:
    inner = place.submission / "my results"
    inner.mkdir()
    for path in list(place.submission.glob("*.json")):
        path.rename(inner / path.name)
    dump(place.submission / "__MACOSX" / "list.json", "what a Mac adds")
    place.score()
    assert scored_place.scores == place.scores


def test_files_of_hostile_names_are_not_read_and_are_shown_as_text(place: Place) -> None:
    for name in ("<script>alert(1)</script>"[:20], "\u202egnp.exe", "=cmd|calc", "a" * 250):
        (place.submission / name.replace("/", "_")).write_text("x")
    Path(os.fsdecode(os.fsencode(place.submission) + b"/caf\xe9")).write_text("x")
    place.score()
    assert "<script>" not in place.details
    assert "&lt;script&gt;" in place.details
    assert "\u202e" not in place.details
    assert "a" * 130 not in place.details


def test_the_output_is_three_files_without_the_key(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.change("short", responses=["no idea"] * 3)  # the right answers were the key itself
    place.score()
    assert {path.name for path in place.to.iterdir()} == OUTPUT
    said = capsys.readouterr()
    texts = [said.out, said.err, *(path.read_text() for path in place.to.iterdir())]
    assert [] == [word for text in texts for word in holds_any(SECRETS, text)]


def test_no_page_asks_the_network_for_anything(scored_place: Place) -> None:
    details = scored_place.details
    assert "default-src 'none'" in html.unescape(details)
    assert [] == holds_any(("http:", "https:", "src=", "<script", "@import", "url("), details)


# What gold a submission claims is not looked at: an error would say whether it is right


@pytest.mark.parametrize("claims", [("True", "False", 7), ("False", None, "True")])
def test_gold_in_the_inputs_changes_nothing(
    place: Place, scored_place: Place, claims: tuple[object, ...]
) -> None:
    """Right and wrong keys by turns, and what is none."""
    rows = place.body("true_false")["inputs"]
    place.change(
        "true_false", inputs=[row | {"answer": claim} for row, claim in zip(rows, claims, strict=True)]
    )
    assert scoring.DONE == place.score()
    assert scored_place.scores == place.scores


# What is refused, in one sentence


def test_an_empty_submission_has_no_score(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    for path in place.submission.iterdir():
        path.unlink()
    message = refused(place, capsys)
    assert "holds none of the result files true_false.json, " in message
    assert message.rstrip().endswith("It holds nothing.")
    (place.submission / "answers.zip").write_bytes(b"PK")
    assert "It holds 'answers.zip'." in refused(place, capsys)


@pytest.mark.parametrize("text", [None, ""])
def test_a_submission_of_nulls_or_blanks_has_no_result(
    place: Place, capsys: pytest.CaptureFixture[str], text: str | None
) -> None:
    for kind in KINDS.values():
        place.change(kind, responses=[text] * 3)
    assert "no answer of the submission could be read" in refused(place, capsys)


def change_row(place: Place, **fields: object) -> None:
    rows = place.body("multiple_choice")["inputs"]
    place.change("multiple_choice", inputs=[rows[0] | fields, *rows[1:]])


def test_a_wrong_id_is_named(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    change_row(place, id="MC-9")
    assert "multiple_choice.json, inputs[0]: cliniqlink has no 'MC-9'" in refused(place, capsys)


def test_a_wrong_id_of_any_length_is_one_short_line(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    change_row(place, id="MC\n" * 1_000_000)
    message = refused(place, capsys)
    assert "multiple_choice.json, inputs[0]: cliniqlink has no 'MC" in message
    assert len(message) <= 1_001
    assert 1 == message.count("\n")


def test_a_changed_question_is_named(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    change_row(place, question="Something easier?")
    assert "inputs[0]: MC-0 is worded otherwise" in refused(place, capsys)


def test_an_id_twice_is_named(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    rows = place.body("multiple_choice")["inputs"]
    place.change("multiple_choice", inputs=[rows[0], rows[0], rows[2]])
    assert "inputs[1] asks MC-0 of cliniqlink a second time" in refused(place, capsys)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "broken JSON"),
        ("[" * 100_000, "broken JSON"),
        ("[]", "a JSON object with the lists inputs and responses is needed"),
        ('{"inputs": [], "responses": ["x"]}', "0 inputs and 1 responses"),
        ('{"inputs": [7], "responses": ["x"]}', "inputs[0] is no question of this format"),
        ('{"inputs": [NaN], "responses": ["x"]}', "broken JSON"),
    ],
)
def test_a_broken_file_is_named(
    place: Place, capsys: pytest.CaptureFixture[str], text: str, sentence: str
) -> None:
    (place.submission / "short.json").write_text(text)
    message = refused(place, capsys)
    assert "short.json" in message
    assert sentence in message


def test_an_answer_that_is_no_text_is_named(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.change("short", responses=["a", {"nested": ["x"]}, "c"])
    assert "short.json, responses[1] is no text but dict" in refused(place, capsys)


def test_a_huge_file_is_refused_unread(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    size = (place.submission / "list.json").stat().st_size
    monkeypatch.setattr(submission_files, "MOST_BYTES", size - 1)
    for path in place.submission.glob("*.json"):
        if path.name != "list.json":
            path.unlink()
    assert f"list.json of the submission has {size:,} bytes" in refused(place, capsys)


def test_a_link_to_the_key_is_not_followed(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    (place.submission / "short.json").unlink()
    (place.submission / "short.json").symlink_to(place.source / "ref" / "short.json")
    assert "short.json of the submission is a link or no file" in refused(place, capsys)


def test_result_files_in_several_folders_are_refused(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("v1", "v2"):
        (place.submission / name).mkdir()
        shutil.copy(place.submission / "list.json", place.submission / name)
    assert "result files in several folders ('v1', 'v2')" in refused(place, capsys)


# What is the organisers' to mend


def test_an_image_of_another_version_is_refused(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    path = place.source / "ref" / scoring.SETTINGS
    dump(path, load_json(path) | {"vivavoce": "0.0.1"})
    assert "the bundle was written by vivavoce 0.0.1 and its image has" in refused(place, capsys)


def test_another_key_than_the_bundles_is_refused(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    path = place.source / "ref" / "MC.json"
    rows = load_json(path)
    dump(path, [rows[0] | {"correct_answer": "four"}, *rows[1:]])
    assert "the reference data are not those that the bundle was written with" in refused(place, capsys)


def test_a_fault_of_ours_says_nothing_of_the_key(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(path: Path) -> None:
        raise RuntimeError("KEYSHORT is the answer")

    monkeypatch.setattr(scoring, "open_run", broken)
    assert scoring.BROKEN == place.score()
    message = capsys.readouterr().err
    assert "The scoring program broke: RuntimeError in test_scoring.py, line" in message
    assert "KEYSHORT" not in message
    assert not place.to.exists()


# As CodaBench runs it


PROGRAM_AND_SCORE = """
import json, runpy, sys
from vivavoce.run.run import open_run

path, *sys.argv = sys.argv[1:]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
except SystemExit as end:
    assert not end.code, end.code
run = open_run(path)
run.score("cliniqlink")
print(json.dumps({row["format"]: row["estimate"] for row in run.study("overall")["overall"].rows}))
"""
"""The scoring program as a command, then `viva score`: one process, as torch and the encoder load slowly."""


def test_the_program_scores_in_a_process_without_a_network(place: Place, tmp_path: Path) -> None:
    for name in ("torch", "transformers", PACKAGE):
        if importlib.util.find_spec(name) is None:
            absent(f"the encoder of cliniqlink needs {name}")
    alone = ("unshare", "-rn")
    if not shutil.which("unshare") or subprocess.run([*alone, "true"], capture_output=True).returncode:
        absent("no process can be cut off from the network here (unshare)")
    bare = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(tmp_path), "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    if "PYTHONPATH" in os.environ:
        bare["PYTHONPATH"] = os.environ["PYTHONPATH"]
    scored(tmp_path / "r.viva", place.spec, {"m": answers(place.spec, 0.7, 1)}, metrics=())
    words = [*alone, "python3", "-c", PROGRAM_AND_SCORE, tmp_path / "r.viva", place.program, place.source]
    done = subprocess.run(
        [*words, place.to], cwd=tmp_path, env=bare, capture_output=True, text=True, timeout=300
    )
    assert 0 == done.returncode, done.stderr
    figures = json.loads(done.stdout.splitlines()[-1])
    figures["multiple_choice"] = figures.pop("mcq")
    assert figures | {"missing": 0} == place.scores


def test_the_image_of_the_kit_runs_the_command_of_the_program(root: Path) -> None:
    entry = root / "examples" / "cliniqlink" / "entry.sh"
    done = subprocess.run(
        ["bash", entry, "python3", "-c", "print('scored')", "/app/input"], capture_output=True, text=True,
        env={"PATH": os.environ["PATH"]},
    )  # fmt: skip
    assert (0, "scored\n") == (done.returncode, done.stdout)
