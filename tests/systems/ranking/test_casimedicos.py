"""CasiMedicos: five rows are one item, leaks are found in the training file, training rows are joined."""

from collections import Counter
from pathlib import Path

import pytest
from tests.systems.ranking import argument_files as files

from vivavoce import formats
from vivavoce.benchmarks import Loaded, TrainingItem, load
from vivavoce.core import registry
from vivavoce.core.errors import InputError
from vivavoce.core.prompts import load as load_prompt

REPEATS, NEAR = "repeats a training question", "begins like a training question"


@pytest.fixture(scope="module")
def casimedicos(shared: Path) -> Loaded:
    return load(f"casimedicos(data={shared / 'data' / 'casimedicos'})")


def leaks(loaded: Loaded) -> dict[str, list[int]]:
    """The published places of items by their leak."""
    return {
        leak: [item.meta["g"] for item in loaded.items if item.meta.get("leak") == leak]
        for leak in (REPEATS, NEAR)
    }


def trained(spec: str) -> list[TrainingItem]:
    return list(registry.build("benchmark", spec).training())


def test_the_rotations_of_595_rows_are_119_items_with_a_gold_explanation(casimedicos: Loaded) -> None:
    items = casimedicos.items
    assert 119 == len({item.item for item in items}) == len(items)
    assert {"argument"} == {item.format for item in items}
    assert {4: 64, 5: 55} == Counter(len(item.options) for item in items)
    assert 22.69 == round(100 * sum(1 / len(item.options) for item in items) / 119, 2)
    assert all(len(item.references) == 1 and item.answer[0] in item.options for item in items)
    assert not any(item.references[0] in item.question for item in items)


def test_nine_items_repeat_a_training_question_and_four_begin_like_one(casimedicos: Loaded) -> None:
    assert {REPEATS: [4, 20, 31, 39, 44, 78, 80, 92, 111], NEAR: [15, 35, 47, 59]} == leaks(casimedicos)


def test_the_leaked_items_can_be_left_out_and_the_near_ones_stay(casimedicos: Loaded, shared: Path) -> None:
    kept = load(f"casimedicos(data={shared / 'data' / 'casimedicos'}, leaked=drop)")
    assert (110, 9) == (len(kept.items), len(kept.others))
    assert 4 == sum(item.meta.get("leak") == NEAR for item in kept.items)
    assert {item.hash for item in casimedicos.items} == {i.hash for i in (*kept.items, *kept.others)}


def test_the_two_items_with_one_question_are_one_group(casimedicos: Loaded) -> None:
    by_g = {item.meta["g"]: item for item in casimedicos.items}
    assert by_g[12].group == by_g[88].group
    assert by_g[12].item != by_g[88].item
    assert 118 == len({item.group for item in casimedicos.items})


def test_training_rows_are_383_items_and_56_for_development(shared: Path) -> None:
    items = trained(f"casimedicos(data={shared / 'data' / 'casimedicos'})")
    assert {"train": 383, "dev": 56} == Counter(t.split for t in items)
    assert {("mixture-1",)} == {tuple(t.arguments) for t in items}
    by_rows = Counter(len(t.arguments["mixture-1"]) for t in items if t.split == "train")
    assert {5: 364, 10: 17, 15: 2} == by_rows  # 2,020 rows
    assert not any(
        argument in t.item.question for t in items for argument in t.arguments["mixture-1"] if argument
    )


def test_a_training_question_ends_where_the_published_test_has_it_end(
    casimedicos: Loaded, shared: Path
) -> None:
    """Three leaked items stand in the training file word for word."""
    asked = {t.item.question for t in trained(f"casimedicos(data={shared / 'data' / 'casimedicos'})")}
    assert 3 == len({item.question for item in casimedicos.items} & asked)


def test_the_splits_for_training_can_be_asked_under_names_of_their_own(shared: Path) -> None:
    data = shared / "data" / "casimedicos"
    items = load(f"casimedicos(data={data}, split=dev)").items
    assert {"casimedicos_dev"} == {item.benchmark for item in items}
    of_training = {t.item.item for t in trained(f"casimedicos(data={data})") if t.split == "dev"}
    assert of_training == {item.item for item in items}


def test_the_order_of_options_depends_on_nothing_but_id_and_texts(tmp_path: Path) -> None:
    first = load(f"casimedicos(data={files.written(tmp_path / 'a')})").items
    turned = files.written(tmp_path / "b")
    for name in ("No_Argument", "Expert"):
        path = turned / "tests" / f"en.test_casimedicos_{name}.jsonl"
        path.write_text("\n".join(reversed(path.read_text("utf-8").splitlines())), "utf-8")
    assert {item.hash for item in first} == {item.hash for item in load(f"casimedicos(data={turned})").items}
    assert ("Bunion", "Flat foot", "Gout", "Rickets") == tuple(sorted(first[0].options))


def test_a_byte_order_mark_crlf_and_blank_lines_change_nothing(tmp_path: Path) -> None:
    plain = load(f"casimedicos(data={files.written(tmp_path / 'a')})").items
    folder = files.written(tmp_path / "b")
    for path in (folder / "tests").iterdir():
        text = path.read_bytes().replace(b"\n", b"\r\n\r\n")
        path.write_bytes(b"\xef\xbb\xbf" + text)
    assert [item.hash for item in plain] == [i.hash for i in load(f"casimedicos(data={folder})").items]


def test_a_missing_rotation_is_one_sentence(tmp_path: Path) -> None:
    path = files.written(tmp_path) / "tests" / "en.test_casimedicos_No_Argument.jsonl"
    path.write_text("".join(path.read_text("utf-8").splitlines(keepends=True)[:-1]), "utf-8")
    with pytest.raises(InputError, match=r"item of line 6 lacks the row with its right option at place 5: "):
        load(f"casimedicos(data={tmp_path})")


def test_the_published_file_without_its_last_row_is_refused(shared: Path, tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    for name in ("Expert", "No_Argument"):
        file = f"tests/en.test_casimedicos_{name}.jsonl"
        text = (shared / "data" / "casimedicos" / file).read_text("utf-8").splitlines(keepends=True)
        (tmp_path / file).write_text("".join(text[:594]), "utf-8")
    with pytest.raises(InputError, match=r"item of line 591 lacks the row .* at place 5"):
        load(f"casimedicos(data={tmp_path})")


def test_a_file_cut_within_a_row_is_named_with_its_line(tmp_path: Path) -> None:
    path = files.written(tmp_path) / "tests" / "en.test_casimedicos_Expert.jsonl"
    path.write_text(path.read_text("utf-8")[:-40], "utf-8")
    with pytest.raises(InputError, match=r"Expert\.jsonl, line 10: broken JSON"):
        load(f"casimedicos(data={tmp_path})")


def test_an_item_that_stands_there_twice_is_asked_once_and_counted(tmp_path: Path) -> None:
    files.written(tmp_path)
    path = tmp_path / "tests" / "en.test_casimedicos_No_Argument.jsonl"
    path.write_text(path.read_text("utf-8") * 2, "utf-8")
    loaded = load(f"casimedicos(data={tmp_path})")
    assert 2 == len(loaded.items)
    assert ["it repeats an earlier row"] * 2 == [e.reason for e in loaded.exclusions]


def test_rows_of_one_question_with_different_keys_are_left_out(tmp_path: Path) -> None:
    files.written(tmp_path)
    question, right, others = files.TASKS[0]
    other = files.rows((question, others[0], (right, *others[1:])))
    path = tmp_path / "tests" / "en.test_casimedicos_No_Argument.jsonl"
    files.write(path, files.rows(files.TASKS[0]), other, files.rows(files.TASKS[1]))
    loaded = load(f"casimedicos(data={tmp_path})")
    assert 1 == len(loaded.items)
    assert {"rows with one question have different keys"} == {e.reason for e in loaded.exclusions}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"correct_option": 6}, "correct_option is not from 1 to 5"),
        ({"options": ["a", "b"]}, "options are no object of texts"),
        ({"options": {"1": "", "2": "b"}}, "correct_option is 1, and there is no such option"),
        ({"question": " "}, "question is empty"),
    ],
)
def test_a_row_of_another_layout_is_named_with_its_line(
    tmp_path: Path, change: dict[str, object], sentence: str
) -> None:
    files.written(tmp_path)
    rows = [files.rows(files.TASKS[0])[0] | change]
    files.write(tmp_path / "tests" / "en.test_casimedicos_No_Argument.jsonl", rows)
    with pytest.raises(InputError, match=f"No_Argument.jsonl, line 1: {sentence}"):
        load(f"casimedicos(data={tmp_path})")


def test_gold_of_other_options_is_refused(tmp_path: Path) -> None:
    files.written(tmp_path)
    question, right, others = files.TASKS[0]
    other = files.rows((question, right, ("Frostbite", *others[1:])), "Crystals hurt.")
    files.write(tmp_path / "tests" / "en.test_casimedicos_Expert.jsonl", other)
    with pytest.raises(InputError, match=r"line 1: options or right answer are not those that item .* has"):
        load(f"casimedicos(data={tmp_path})")


def test_without_a_training_file_leaks_are_unknown_and_the_card_says_so(tmp_path: Path) -> None:
    loaded = load(f"casimedicos(data={files.written(tmp_path)})")
    assert not any("leak" in item.meta for item in loaded.items)
    assert loaded.card.faults[-1].endswith("which items repeat a training question is unknown.")
    with pytest.raises(
        InputError, match=r"leaked=drop\) compares with the training questions, and en\.train_"
    ):
        load(f"casimedicos(data={tmp_path}, leaked=drop)")
    with pytest.raises(InputError, match=r"no en\.train_casimedicos_Mixture-LLM-Args_0\*\.jsonl"):
        trained(f"casimedicos(data={tmp_path})")


def test_a_leak_is_found_by_options_by_words_and_by_its_beginning(tmp_path: Path) -> None:
    files.written(tmp_path)
    long = (
        "A woman has had a headache on one side for two days, with nausea, and light hurts her eyes badly. "
    )
    asked = [(long + "What is it?", "Migraine", ("Gout", "Flu", "Lice", "")), files.TASKS[1]]
    for name in ("No_Argument", "Expert"):
        path = tmp_path / "tests" / f"en.test_casimedicos_{name}.jsonl"
        files.write(path, *(files.rows(task) for task in asked))
    near = (long + "Which drug would you give first?", "Ibuprofen", ("Insulin", "Iron", "Zinc", ""))
    same = ("In other words: a barking cough?", *files.TASKS[1][1:])
    files.training(tmp_path, files.rows(near, "It helps."), files.rows(same, "It barks."))
    loaded = load(f"casimedicos(data={tmp_path})")
    assert [NEAR, REPEATS] == [item.meta["leak"] for item in loaded.items]
    assert "unknown" not in loaded.card.faults[-1]


def test_training_arguments_come_by_mixture_and_expert_where_their_files_are(tmp_path: Path) -> None:
    task = files.TASKS[1]
    one, other = files.rows(task, "It barks."), files.rows(task, " The larynx swells.")
    for k in (0, 2):
        files.training(tmp_path, [*one[:3], *other[3:]], k=k)
        files.training(tmp_path, other, k=k, split="dev")
    files.write(tmp_path / "en.train_casimedicos_Expert.jsonl", files.rows(task, "Stridor is heard."))
    train, dev = trained(f"casimedicos(data={tmp_path})")
    drafts = ("It barks.",) * 3 + ("The larynx swells.",) * 2
    assert {"mixture-1": drafts, "mixture-3": drafts, "expert": ("Stridor is heard.",) * 5} == train.arguments
    assert (task[0], ("Stridor is heard.",)) == (train.item.question, train.item.references)
    assert (task[0], {"mixture-1", "mixture-3"}, ()) == (
        dev.item.question,
        set(dev.arguments),
        dev.item.references,
    )


def test_training_rows_in_other_words_for_the_same_options_are_one_item(tmp_path: Path) -> None:
    question, right, others = files.TASKS[1]
    again = ("At night a girl of 6 barks as she coughs. What is likely?", right, others)
    files.training(
        tmp_path, files.rows((question, right, others), "It barks."), files.rows(again, "It barks.")
    )
    files.training(tmp_path, files.rows(files.TASKS[0], "Crystals."), split="dev")
    train, _ = trained(f"casimedicos(data={tmp_path})")
    assert ("It barks.",) * 10 == train.arguments["mixture-1"]


def test_other_languages_are_files_of_another_prefix_and_have_a_name_of_their_own(tmp_path: Path) -> None:
    loaded = load(f"casimedicos(data={files.written(tmp_path, 'es')}, language=es)")
    assert {"casimedicos_es"} == {item.benchmark for item in loaded.items}
    with pytest.raises(InputError, match=r"no tests/it\.test_casimedicos_No_Argument\.jsonl or it\.test_"):
        load(f"casimedicos(data={tmp_path}, language=it)")


def test_as_published_it_is_asked_with_our_prompt_and_their_sampling(casimedicos: Loaded) -> None:
    published = casimedicos.card.published
    assert {
        "max_tokens": 256,
        "temperature": 0.9,
        "top_p": 0.85,
        "prompt": "ranking_casimedicos",
    } == published
    prompt = load_prompt("ranking_casimedicos")
    assert {"question", "options"} == set(prompt.variables)
    assert "argument" not in formats.ask(casimedicos.items[0])  # without the preset the format's words
