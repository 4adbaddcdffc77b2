"""Models' cards: the file we ship, a user's file on top, and which label is whose."""

import re
from pathlib import Path

import pytest

from vivavoce.core.errors import ModelError
from vivavoce.core.records import ModelCard
from vivavoce.models.cards import card_of, cards

OURS = Path(__file__).resolve().parents[2] / "src" / "vivavoce" / "models" / "models.yaml"


@pytest.fixture(scope="module")
def known() -> dict[str, ModelCard]:
    return cards()


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("Llama 3.3-70B-Instruct", "llama-3.3-70b-instruct"),
        ("Llama 3.1-8B-Instruct", "llama-3.1-8b-instruct"),
        ("Llama 3.2-1B-Instruct", "llama-3.2-1b-instruct"),
        ("Gemma 3 27B", "gemma-3-27b-it"),
        ("MedGemma 27B", "medgemma-27b-text-it"),
        ("Meditron 3-70B", "meditron3-70b"),
        ("Med42-70B", "llama3-med42-70b"),
        ("NVLM-70B", "nvlm-d-72b"),
        ("Claude 3.5 Sonnet", "claude-3.5-sonnet"),
        ("Gemini 2.5 Pro", "gemini-2.5-pro"),
        ("Mixtral-8x7B-Instruct-v0.1", "mixtral-8x7b-instruct-v0.1"),
        ("Yi-1.5-34B-Chat", "yi-1.5-34b-chat"),
        ("openai/gpt-4o(temperature=0.2, prompt=cot)", "gpt-4o"),
        ("GPT-4o", "gpt-4o"),
        ("openai/gpt-4o-2024-08-06", "gpt-4o"),
        ("hf/meta-llama/Meta-Llama-3.1-8B-Instruct", "llama-3.1-8b-instruct"),
        ("vllm/someone/Meta_Llama-3.1-8B-Instruct-GGUF", "llama-3.1-8b-instruct"),
        ("vllm/Qwen2.5-7B-Instruct-Q4_K_M.gguf", "qwen2.5-7b-instruct"),
        ("vllm/llama-3.1-8b-instruct-bnb-4bit(seed=1)", "llama-3.1-8b-instruct"),
        ("vllm/Meta-Llama-3.1-405B-Instruct-FP8", "llama-3.1-405b-instruct"),
        ("ollama/llama3.1:8b", "llama-3.1-8b-instruct"),
        ("hf/m42-health/med42-70b", "med42-70b-v1"),
    ],
)
def test_a_label_finds_its_card(known: dict[str, ModelCard], label: str, name: str) -> None:
    card = card_of(label, known)
    assert card is not None
    assert name == card.name


@pytest.mark.parametrize(
    "label",
    ["", "/", "llama3", "llama", "gpt", "gpt-40", "gpt-4o-audio", "llama-3.1-8b-instruct-tuned", "Human",
     "gpt-4o (run 2)", "callable(path=pipelines:gpt-4o)", "http(url=http://localhost/gpt-4o)",
     "baseline/random", "gpt-4o/tuned"],
)  # fmt: skip
def test_nothing_is_guessed(known: dict[str, ModelCard], label: str) -> None:
    assert card_of(label, known) is None


def test_every_name_of_every_card_finds_that_card(known: dict[str, ModelCard]) -> None:
    for card in known.values():
        for label in (card.name, *card.names, card.name.upper(), f"any-provider/{card.name}"):
            assert card is card_of(label, known), label


def test_every_candidate_of_hivmedqa_has_a_card(hivmedqa: Path, known: dict[str, ModelCard]) -> None:
    text = (hivmedqa / "responses.jsonl").read_text(encoding="utf-8")
    labels = set(re.findall(r'"model": "([^"]+)"', text)) - {"Rephrased Gold Answers"}
    assert 10 == len(labels)
    assert set() == {label for label in labels if card_of(label, known) is None}


def test_every_candidate_of_the_published_suite_has_a_card(shared: Path, known: dict[str, ModelCard]) -> None:
    text = (shared / "data" / "tables" / "bsc_suite.json").read_text(encoding="utf-8")
    labels = set(re.findall(r'"model": "([^"]+)"', text))
    assert 12 == len(labels)
    assert set() == {label for label in labels if card_of(label, known) is None}


def test_our_cards_say_nothing_impossible(known: dict[str, ModelCard]) -> None:
    for card in known.values():
        assert card.family, card
        assert (card.base is None) or card.medical, card
        assert all(known[base].medical is False for base in card.base or ()), card
        assert card.parameters is None or card.active is None or card.active < card.parameters, card
        assert card.open or card.parameters is None or card.name == "gemini-1.5-flash-8b", card
        assert card.cutoff is None or card.release is None or card.cutoff <= card.release, card


def test_a_size_in_a_name_is_the_size_on_the_card(known: dict[str, ModelCard]) -> None:
    """Within a third: 1B has 1.23 billion; mixtures (8x7b, 30b-a3b) state another sum in theirs."""
    wrong = []
    for card in known.values():
        found = re.search(r"(?<![\dx.a])(\d+(?:\.\d+)?)b(?![a-z])", card.name)
        if found and card.parameters and not card.active:
            size = float(found[1])
            near = abs(card.parameters - size) < size / 3
            wrong += [] if near else [(card.name, card.parameters)]
    assert [] == wrong


def test_a_medical_model_is_as_large_as_its_base(known: dict[str, ModelCard]) -> None:
    for card in known.values():
        for base in card.base or ():
            assert card.parameters == known[base].parameters, card.name


def test_no_card_stands_twice_in_our_file() -> None:
    names = re.findall(r"^([^\s#][^:]*):", OURS.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(set(names)) == len(names)
    assert set(cards()) == set(names)


def test_a_users_file_adds_and_changes(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        "house-7b: {family: House, parameters: 7, medical: true, base: mistral-7b-instruct-v0.1}\n"
        "gpt-4o: {parameters: 200, names: [Our assistant]}\n",
    )
    found = cards(file)
    house, gpt = found["house-7b"], found["gpt-4o"]
    assert (7.0, True, ("mistral-7b-instruct-v0.1",)) == (house.parameters, house.medical, house.base)
    assert (200.0, "GPT-4o", "2024-05") == (gpt.parameters, gpt.family, gpt.release)
    assert gpt is card_of("our assistant", found)
    assert gpt is card_of("gpt-4o-2024-05-13", found)


def test_a_users_name_is_taken_from_the_card_that_had_it(tmp_path: Path) -> None:
    found = cards(written(tmp_path, "first-med42: {names: [Med42-70B]}\n"))
    card = card_of("Med42-70B", found)
    assert card is not None
    assert "first-med42" == card.name


def test_what_is_not_stated_is_not_known(tmp_path: Path) -> None:
    card = cards(written(tmp_path, "new: {}\n"))["new"]
    assert ModelCard(name="new") == card
    assert card.parameters is None


def test_a_cutoff_is_stated_or_not_known(tmp_path: Path, known: dict[str, ModelCard]) -> None:
    """Meta states Llama 3.1's of its pretraining alone: of the tuned model nothing is guessed."""
    assert ("2023-12", None) == (known["llama-3.1-8b"].cutoff, known["llama-3.1-8b-instruct"].cutoff)
    assert ("2022-09", "2023-07") == (known["llama-2-7b"].cutoff, known["llama-2-7b-chat"].cutoff)
    found = cards(written(tmp_path, "house-7b: {cutoff: 2025-03}\nllama-3.1-8b: {cutoff: null}\n"))
    assert ("2025-03", None) == (found["house-7b"].cutoff, found["llama-3.1-8b"].cutoff)
    assert "2024-07" == found["llama-3.1-8b"].release


def test_an_empty_file_changes_nothing(tmp_path: Path) -> None:
    assert cards() == cards(written(tmp_path, "# nothing\n"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a\n", "a mapping of names to settings is needed, not list"),
        ("x: 7\n", "x: a card is a mapping"),
        ("x: {parameter: 7}\n", "x: a card has no field 'parameter'. Did you mean 'parameters'?"),
        ("x: {parameters: 7B}\n", "x, parameters: billions of parameters, a number above 0"),
        ("x: {parameters: 0}\n", "x, parameters: billions"),
        ("x: {parameters: true}\n", "x, parameters: billions"),
        ("x: {parameters: .inf}\n", "line 1: .inf is no number"),
        ("x: {parameters: .nan}\n", "line 1: .nan is no number"),
        ("x: {parameters: 7, active: 12}\n", "x: 12 active parameters are more than all 7"),
        ("x: {open: maybe}\n", "x, open: true, false or null"),
        ("x: {release: 2024}\n", "x, release: year and month are needed, such as 2024-07, not 2024"),
        ("x: {release: 2024-13}\n", "x, release: year and month"),
        ("x: {release: 2024-07-01}\n", "x, release: year and month"),
        ("x: {cutoff: 2024}\n", "x, cutoff: year and month are needed, such as 2024-07, not 2024"),
        ("x: {cutoff: soon}\n", "x, cutoff: year and month"),
        ("x: {base: lama-3-8b}\n", "x, base: no card 'lama-3-8b'. Did you mean 'llama-3-8b'"),
        ("x: {names: [7]}\n", "x, names: a list of names is needed"),
        ("x: {family: 3}\n", "x, family: text is needed"),
        ("x: {names: [A b]}\ny: {names: [a-b]}\n", "y: the name 'a-b' is that of x too"),
        ("x: {}\nx: {}\n", "line 2: x stands there twice"),
        ("x: {a: [}\n", "line 1: no valid YAML"),
    ],
)  # fmt: skip
def test_a_card_that_cannot_be_used_is_named_with_its_file(tmp_path: Path, text: str, said: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(ModelError, match=re.escape(said)) as raised:
        cards(file)
    assert str(file) in str(raised.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"cannot read the cards of .*none\.yaml"):
        cards(tmp_path / "none.yaml")


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_bytes(b"\xff\xfe\x00x")
    with pytest.raises(ModelError, match=r"mine\.yaml"):
        cards(file)


def test_cards_of_a_caller_are_its_own() -> None:
    """The cards that ship are read once: what a caller takes out is there for the next."""
    changed = cards()
    del changed["gpt-4o"]
    assert card_of("gpt-4o", changed) is None
    assert card_of("gpt-4o") is cards()["gpt-4o"]
