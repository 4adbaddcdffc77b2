"""HealthFC: 741 of 750 rows in splits of 518, 111 and 112, drawn by label with a seed, pages kept whole."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pytest
from tests.systems.ranking import healthfc_files as files

from vivavoce.benchmarks import Loaded, TrainingItem, load
from vivavoce.core import registry
from vivavoce.core.errors import InputError
from vivavoce.core.records import Item

SPLITS = ("train", "dev", "test")
CLASSES = ("supported", "refuted", "not enough information")


def trained(spec: str) -> list[TrainingItem]:
    return list(registry.build("benchmark", spec).training())


def everything(path: Path, **settings: object) -> dict[str, Loaded]:
    """The benchmark in each of its splits."""
    extra = "".join(f", {name}={value}" for name, value in settings.items())
    return {split: load(f"healthfc(data={path}, split={split}{extra})") for split in SPLITS}


def content(path: Path) -> list[tuple[str, str, tuple[str, ...], tuple[str, ...]]]:
    """What the items of a small file say, in whichever splits they are."""
    items = [t.item for t in trained(f"healthfc(data={path})")]
    with suppress(InputError):  # few rows may leave no test
        items += load(f"healthfc(data={path})").items
    return sorted((i.question, i.group, i.answer, i.references) for i in items)


def of_labels(items: Iterable[Item]) -> tuple[int, ...]:
    """How many are supported, refuted, and without enough evidence."""
    counts = Counter(item.answer[0] for item in items)
    return tuple(counts[name] for name in CLASSES)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return files.write(tmp_path_factory.mktemp("healthfc") / "Datensatz.csv", files.many())


def test_741_rows_are_518_and_111_and_112_items_with_shares_of_each_label(table: Path) -> None:
    splits = everything(table)
    assert {"train": 518, "dev": 111, "test": 112} == {s: len(x.items) for s, x in splits.items()}
    assert {"train": (140, 85, 293), "dev": (30, 18, 63), "test": (30, 19, 63)} == {
        split: of_labels(loaded.items) for split, loaded in splits.items()
    }
    items = [item for loaded in splits.values() for item in loaded.items]
    assert 741 == len({item.item for item in items})
    assert {CLASSES} == {item.options for item in items}


def test_nine_rows_without_an_explanation_are_left_out_and_counted_in_every_split(table: Path) -> None:
    for loaded in everything(table).values():
        assert ["en_explanation is empty"] * 9 == [e.reason for e in loaded.exclusions]
        assert [*range(743, 752)] == [e.row for e in loaded.exclusions], "counted with the header"


def test_the_questions_of_a_page_are_one_group_and_stay_in_one_split(table: Path) -> None:
    pages: dict[str, set[str]] = defaultdict(set)
    for split, loaded in everything(table).items():
        for item in loaded.items:
            pages[item.group].add(split)
    assert files.N_PAGES == len(pages)
    assert {1} == {len(of_page) for of_page in pages.values()}


def test_a_seed_draws_one_split_and_another_seed_another_of_the_same_sizes(table: Path) -> None:
    first, again, other = (
        {item.item for item in load(f"healthfc(data={table}, seed={seed})").items} for seed in (0, 0, 1)
    )
    assert first == again
    assert 112 == len(other)
    assert len(first & other) < 56


def test_the_order_of_rows_decides_no_split(table: Path, tmp_path: Path) -> None:
    turned = files.write(tmp_path / "Datensatz.csv", files.many()[::-1])
    assert {item.item for item in load(f"healthfc(data={table})").items} == {
        item.item for item in load(f"healthfc(data={turned})").items
    }


def test_the_test_is_of_49_items_without_the_class_of_no_evidence(table: Path) -> None:
    """As many as the paper scored."""
    whole = load(f"healthfc(data={table})")
    part = load(f"healthfc(data={table}, no_evidence=drop)")
    assert (30, 19, 0) == of_labels(part.items)
    assert 63 == len(part.others)
    assert {CLASSES} == {item.options for item in part.items}, "the class stays an option"
    assert {item.hash for item in whole.items} == {item.hash for item in (*part.items, *part.others)}


def test_training_keeps_all_classes_and_has_the_explanation_as_an_argument_of_experts(table: Path) -> None:
    items = trained(f"healthfc(data={table}, no_evidence=drop)")
    assert {"train": 518, "dev": 111} == Counter(t.split for t in items)
    assert (140, 85, 293) == of_labels(t.item for t in items if t.split == "train")
    assert all({"expert": t.item.references} == t.arguments and t.item.references for t in items)
    assert {("healthfc_train", "train"), ("healthfc_dev", "dev")} == {
        (t.item.benchmark, t.split) for t in items
    }
    tested = {item.group for item in load(f"healthfc(data={table})").items}
    assert not tested & {t.item.group for t in items}


def test_splits_have_names_of_their_own_in_a_run(table: Path) -> None:
    names = {split: {item.benchmark for item in x.items} for split, x in everything(table).items()}
    assert {"train": {"healthfc_train"}, "dev": {"healthfc_dev"}, "test": {"healthfc"}} == names
    in_training = {t.item.hash for t in trained(f"healthfc(data={table})")}
    asked = everything(table)
    assert in_training == {item.hash for split in ("train", "dev") for item in asked[split].items}


def test_labels_by_number_are_supported_no_evidence_and_refuted(tmp_path: Path) -> None:
    files.write(tmp_path / "Datensatz.csv", files.ROWS)
    by_question = {question: answer for question, _, answer, _ in content(tmp_path)}
    assert {
        "Do vaccines against measles prevent measles?": ("supported",),
        "Does vitamin C cure measles?": ("not enough information",),
        "Do antibiotics cure\nthe flu, too?": ("refuted",),
    } == by_question


@pytest.mark.parametrize(("mark", "end"), [(False, "\n"), (False, "\r\n"), (True, "\n")])
def test_a_byte_order_mark_and_crlf_change_nothing(tmp_path: Path, mark: bool, end: str) -> None:
    published = files.write(tmp_path / "a" / "Datensatz.csv", files.ROWS)
    other = files.write(tmp_path / "b" / "Datensatz.csv", files.ROWS, mark=mark, end=end)
    assert published.read_bytes() != other.read_bytes()
    assert 3 == len(content(published))
    assert content(published) == content(other)


def test_the_file_or_its_folder_is_named(table: Path) -> None:
    by_file, by_folder = load(f"healthfc(data={table})"), load(f"healthfc(data={table.parent})")
    assert [item.hash for item in by_file.items] == [item.hash for item in by_folder.items]


def test_a_question_without_a_page_is_a_group_by_itself(tmp_path: Path) -> None:
    files.write(tmp_path / "Datensatz.csv", [(*row[:3], "") for row in files.ROWS])
    assert 3 == len({group for _, group, _, _ in content(tmp_path)})


def test_one_question_with_two_explanations_is_two_items(tmp_path: Path) -> None:
    claim, _, label, _ = files.ROWS[0]
    rows = [(claim, f"Explanation {k}.", label, "a") for k in range(10)]
    files.write(tmp_path / "Datensatz.csv", rows)
    assert 10 == len(content(tmp_path))


def test_rows_that_can_be_no_item_are_left_out_with_their_reasons(tmp_path: Path) -> None:
    claim, explanation, label, page = files.ROWS[0]
    faulty = [
        ("", explanation, label, page),
        (claim, claim, label, page),
        (claim, "...", label, page),
        (claim, explanation, "3", page),
        (claim, explanation, "supported", page),
        ("Is it so?", "It is.", "0", page),
        ("Is it so?", "It is.", "2", page),
    ]
    files.write(tmp_path / "Datensatz.csv", [*faulty, *files.many()])
    exclusions = load(f"healthfc(data={tmp_path})").exclusions
    assert [
        "en_claim is empty",
        "the reference is what is asked",
        "the reference is empty",
        "label is not from 0 to 2",
        "label is no whole number",
        "rows with one question have different keys",
        "rows with one question have different keys",
    ] == [e.reason for e in exclusions][:7]


def test_a_file_that_is_not_there_or_of_another_layout_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"healthfc: no Datensatz\.csv in .*: data= names the folder"):
        load(f"healthfc(data={tmp_path})")
    (tmp_path / "Datensatz.csv").write_text("claim,label\nIs it so?,0\n", "utf-8")
    with pytest.raises(InputError, match=r"no column 'en_claim'. Did you mean 'claim'"):
        load(f"healthfc(data={tmp_path})")


def test_a_file_without_any_explanation_says_why_it_has_no_items(tmp_path: Path) -> None:
    files.write(tmp_path / "Datensatz.csv", [(row[0], "", *row[2:]) for row in files.ROWS])
    with pytest.raises(InputError, match=r"all of its 3 rows were left out: .*en_explanation is empty"):
        load(f"healthfc(data={tmp_path})")
    assert [] == trained(f"healthfc(data={tmp_path})")
