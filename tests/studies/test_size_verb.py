"""`viva study RUN size`: cards by the candidates' labels, and silence where nobody has one."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.studies.making import marked, twins

from vivavoce.core import registry
from vivavoce.core.errors import ModelError, SelectionError
from vivavoce.run.run import Run
from vivavoce.store.table_hashes import renew_table_hashes

GENERAL = [name for name, cls in registry.members("study").items() if not cls.special]
KNOWN = {"llama-3.1-8b-instruct": twins([0.5] * 12), "llama-3.1-70b-instruct": twins([0.75] * 12)}
OWN = {"little": twins([0.5] * 12), "large": twins([0.75] * 12)}


@pytest.fixture
def cards(tmp_path: Path) -> Path:
    path = tmp_path / "cards.yaml"
    path.write_text("little: {family: House, parameters: 1}\nlarge: {family: House, parameters: 9}\n")
    return path


def steps(run: Run, **settings: Any) -> list[tuple[Any, ...]]:
    rows = run.study("size", **settings)["size"].rows
    return [(r["a"], r["b"], r["parameters_a"], r["parameters_b"]) for r in rows if r["contrast"] == "size"]


def test_candidates_are_known_by_their_label(tmp_path: Path) -> None:
    labels = {f"hf/meta-llama/{name}(temperature=0)": said for name, said in KNOWN.items()}
    large, small = "llama-3.1-70b-instruct", "llama-3.1-8b-instruct"
    found = steps(marked(tmp_path, labels))
    prefix, settings = "hf/meta-llama/", "(temperature=0)"
    assert [(f"{prefix}{large}{settings}", f"{prefix}{small}{settings}", 70.0, 8.0)] == found


def test_a_file_adds_cards(tmp_path: Path, cards: Path) -> None:
    assert [("large", "little", 9.0, 1.0)] == steps(marked(tmp_path, OWN), cards=cards)


def test_without_a_card_the_study_of_all_leaves_it_out(tmp_path: Path) -> None:
    run = marked(tmp_path, OWN)
    assert {*GENERAL} - {"size"} == set(run.study())


def test_with_a_card_the_study_of_all_makes_it(tmp_path: Path, cards: Path) -> None:
    run = marked(tmp_path, OWN)
    assert GENERAL == list(run.study(cards=cards))


def test_asked_by_name_it_says_who_has_no_card(tmp_path: Path) -> None:
    found = marked(tmp_path, OWN).study("size")["size"]
    assert "Without a card: large, little." in found.notes


def test_a_ceiling_needs_no_card(tmp_path: Path) -> None:
    """Gold answers under a model's name are no candidate."""
    run = marked(tmp_path, KNOWN, role=dict.fromkeys(KNOWN, "ceiling"))
    assert "size" not in run.study()


def test_cards_for_another_study_are_refused(tmp_path: Path, cards: Path) -> None:
    with pytest.raises(
        SelectionError, match="are for the study of contamination, correlation, examiners and size alone"
    ):
        marked(tmp_path, OWN).study("ranking", cards=cards)


def test_a_file_of_cards_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"cannot read the cards of .*none\.yaml"):
        marked(tmp_path, OWN).study(cards=tmp_path / "none.yaml")


def test_the_command_takes_a_file(tmp_path: Path, cards: Path, viva: Callable[..., Any]) -> None:
    run = marked(tmp_path, OWN)
    rows = json.loads(viva("study", run.file.path, "size", "--cards", cards, "--json").stdout)["rows"]
    assert [("size", "large"), ("slope", None)] == [(r["contrast"], r["a"]) for r in rows]
    assert (
        "large (9 billion) against little (1 billion)"
        in viva("study", run.file.path, "--cards", cards).stdout
    )


def test_a_sample_weighs_the_steps(tmp_path: Path, cards: Path) -> None:
    """.5 better on the question that stands for 9, equal on 11 others: 4.5 of 20."""
    run = marked(tmp_path, {"little": twins([0.5] * 12), "large": twins([1.0] + [0.5] * 11)})
    with run.file.writing() as db:
        db.execute("UPDATE items SET weight = 9 WHERE item = 'q00'")
        renew_table_hashes(db)
    found = run.study("size", cards=cards)["size"]
    assert pytest.approx(4.5 / 20) == found.rows[0]["difference"]
    assert "A sample was asked" in " ".join(found.notes)
