"""Prompts: strict variables, filled once, from the package or a file."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case

from vivavoce.core import prompts
from vivavoce.core.errors import InputError
from vivavoce.core.prompts import Prompt, load

PROMPT = Prompt("p", "Ask {{ question }} of {{who}}, {{ question }}.")


def test_variables_come_in_order_and_once() -> None:
    assert ("question", "who") == PROMPT.variables


def test_every_place_of_a_variable_is_filled() -> None:
    assert "Ask A of B, A." == PROMPT.fill(question="A", who="B", more="C")


@given(st.text(), st.text())
def test_marks_in_a_value_stay_as_they_are(question: str, who: str) -> None:
    assert f"Ask {question} of {who}, {question}." == PROMPT.fill(question=question, who=who)


def test_a_value_that_looks_like_a_variable_is_not_filled() -> None:
    filled = PROMPT.fill(question="{{ who }}", who=r"\1 \g<0>")
    assert r"Ask {{ who }} of \1 \g<0>, {{ who }}." == filled


def test_all_missing_variables_are_named_at_once() -> None:
    with pytest.raises(InputError, match=r"the prompt 'p' needs a value for: question, who\."):
        PROMPT.fill()


def test_every_shipped_prompt_asks_the_question_or_about_a_text_or_a_fact() -> None:
    names = sorted(p.stem for p in Path(prompts.__file__).parent.glob("*.md"))
    assert names
    for name in names:
        assert {"question", "context", "fact"} & set(load(name).variables), name


@each_case(
    "name",
    ["system_hivmedqa", "system_cliniqlink", "synonyms", "dahl_paper", "dahl_released"]
    + [f"ranking_{task}" for task in ("casimedicos", "healthfc", "nli4ct")],
)
def test_a_prompt_of_a_shipped_plugin_is_found_by_its_name(name: str) -> None:
    assert name == load(name).name


def test_a_file_of_ones_own_is_read(tmp_path: Path) -> None:
    file = tmp_path / "mine.md"
    file.write_bytes(b"\xef\xbb\xbf\n  Say {{ question }}.\n\n")
    assert Prompt("mine", "Say {{ question }}.") == load(str(file))


@pytest.mark.parametrize("name", ["longfrom", "none.md"])
def test_a_prompt_that_is_not_there_is_named_with_those_that_are(name: str) -> None:
    with pytest.raises(
        InputError, match=rf"no prompt '{name}': give the path of a \.md file or one of .*short"
    ):
        load(name)


def test_a_prompt_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "latin.md").write_bytes(b"caf\xe9")
    (tmp_path / "folder.md").mkdir()
    for name in ("latin.md", "folder.md"):
        with pytest.raises(InputError, match=rf"the prompt '.*{name}' cannot be read: "):
            load(str(tmp_path / name))
    with pytest.raises(InputError, match="cannot be read: embedded null byte"):
        load("a\0.md")
