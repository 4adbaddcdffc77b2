"""A model in a folder is shown by its name; where the folder lies stands in the provenance alone."""

import json
import shutil

import pytest
from tests.cases import each_case
from tests.models.local.test_local import saved  # the small models of the tests

import vivavoce as viva
from vivavoce.core.errors import InputError, SpecError
from vivavoce.models.candidates import shown_name
from vivavoce.run.collect.plan import plan_collect

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def exam(tmp_path):
    file = tmp_path / "exam.jsonl"
    file.write_text('{"id": "q", "format": "short", "question": "What is a fever?", "answer": "warmth"}\n')
    return f"jsonl(path={file})"


def folder(tmp_path, secret, name="ours", seed=1):
    """A model under a name in a folder whose own name is nobody's business."""
    place = tmp_path / secret / name
    place.parent.mkdir(parents=True)
    shutil.copytree(saved(tmp_path / f"saved {secret}", "llama", seed=seed), place)
    return place


def test_tables_and_report_show_the_name_of_a_folder_and_the_provenance_its_path(exam, tmp_path):
    place, run = folder(tmp_path, "project-x"), viva.open(tmp_path / "run.viva")
    run.collect(exam, models=[f"hf/{place}"], logprobs=["perplexity"])
    run.score("perplexity")
    assert ["hf/ours"] == [candidate.candidate for candidate in run.candidates]
    assert ["hf/ours"] == run.scores["candidate"].unique().to_list()
    report = run.report(tmp_path / "report.html").read_text()
    assert "hf/ours" in report
    assert "project-x" not in report
    with run.file.reading() as db:
        (body,) = db.execute("SELECT body FROM provenance WHERE verb = 'collect'").fetchone()
    assert {"hf/ours": str(place)} == {k: v["model"] for k, v in json.loads(body)["models"].items()}
    again = run.collect(exam, models=[f"hf/{place}"], logprobs=["perplexity"])
    assert "nobody was asked" in again.text  # it is the same candidate


def test_two_folders_of_one_name_are_never_one_candidate(exam, tmp_path):
    one, other = folder(tmp_path, "a"), folder(tmp_path, "b", seed=2)
    run = viva.open(tmp_path / "run.viva")
    with pytest.raises(SpecError, match=r"two folders .* under hf/ours"):
        run.collect(exam, models=[f"hf/{one}", f"hf/{other}"], logprobs=["perplexity"])
    run.collect(exam, models=[f"hf/{one}"], logprobs=["perplexity"])
    with pytest.raises(InputError, match="hf/ours is another model now"):
        run.collect(exam, models=[f"hf/{other}"], logprobs=["perplexity(given=nothing)"])


def test_a_link_gives_the_second_folder_a_name_of_its_own(exam, tmp_path):
    one, other = folder(tmp_path, "a"), folder(tmp_path, "b", seed=2)
    link = tmp_path / "theirs"
    link.symlink_to(other)
    run = viva.open(tmp_path / "run.viva")
    run.collect(exam, models=[f"hf/{one}", f"hf/{link}"], logprobs=["perplexity"])
    assert ["hf/ours", "hf/theirs"] == sorted(candidate.candidate for candidate in run.candidates)


def test_a_run_that_holds_the_whole_path_keeps_it(exam):
    path = "hf//srv/models/ours"
    plans = [plan_collect(exam, [path], stored_labels=stored) for stored in ([], [path])]
    assert ["hf/ours", path] == [str(plan.candidates[0].spec) for plan in plans]


@each_case(
    ("name", "shown"),
    [
        ("hf/google/medgemma-27b", "hf/google/medgemma-27b"),
        ("hf/models/small", "hf/models/small"),  # written like a hub id, and it hides nothing
        ("hf//srv/secret/small", "hf/small"),
        ("hf/~/secret/small", "hf/small"),
        ("hf/secret/deep/small", "hf/small"),
        ("hf/../small", "hf/small"),
        ("hf//srv/hub/models--org--small/snapshots/0123abcd", "hf/org/small"),
        ("openai/a/b/c", "openai/a/b/c"),
        ("baseline/random", "baseline/random"),
    ],
)
def test_a_path_is_shown_by_its_last_name_and_an_id_as_it_stands(name, shown):
    assert shown == shown_name(name)
