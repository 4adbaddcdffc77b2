"""Which argument each item gets, and what is refused."""

from collections import Counter
from pathlib import Path

import pytest

from vivavoce.core import registry
from vivavoce.core.errors import InputError
from vivavoce.run.train.mixtures import Mixture, balanced_draw, draw_mixtures
from vivavoce.run.train.training_data import load_training_data


def mixtures(kind: str, arguments: str, recipe: str = "corrected", **settings) -> list[Mixture]:
    data = load_training_data(f"small_task:kind={kind}")
    return draw_mixtures(data, arguments, registry.build("recipe", recipe), **settings)


def test_each_item_gets_one_source_and_the_sources_are_balanced(plugin: Path):
    drawn = mixtures("good", "mixture")
    assert ["mixture-1", "mixture-2", "mixture-3"] == [m.name for m in drawn]
    for mixture in drawn:
        assert 40 == len(mixture.train) == len({row.item for row in mixture.train})
        assert {13, 14} == set(mixture.counts.values())
        assert {4} == set(Counter(row.source for row in mixture.dev).values())
        assert all(row.task.argument.startswith(row.source) for row in mixture.train)


def test_mixtures_of_one_seed_and_of_two_seeds_differ(plugin: Path):
    hashes = [m.data_hash for seed in (0, 1) for m in mixtures("good", "mixture", seed=seed)]
    assert 6 == len(set(hashes))
    assert hashes[:3] == [m.data_hash for m in mixtures("good", "mixture", seed=0)]


def test_a_draw_rests_on_ids_and_not_on_the_order_of_the_items(plugin: Path):
    examples = load_training_data("small_task").of("train")
    assert balanced_draw(examples, ("a", "b", "c"), "s") == balanced_draw(
        examples[::-1], ("a", "b", "c"), "s"
    )


def test_items_with_few_sources_are_made_up_for_by_the_others(plugin: Path):
    examples = load_training_data("small_task").of("train")
    few = [e._replace(arguments={"a": e.arguments["a"]}) if k < 10 else e for k, e in enumerate(examples)]
    assert {13, 14} == set(Counter(balanced_draw(few, ("a", "b", "c"), "s").values()).values())


def test_blank_arguments_are_none_and_their_items_are_left_out_and_counted(plugin: Path):
    data = load_training_data("small_task:kind=holes")
    (mixture, *_) = mixtures("holes", "mixture")
    assert 13 == data.n_blank
    assert 13 == mixture.n_without
    assert 30 == len(mixture.train)


def test_published_mixtures_are_taken_as_drawn(plugin: Path):
    """Five rows of an item hold three arguments: each is a row once, or with the copies five rows."""
    drawn = mixtures("published", "mixture")
    assert ["mixture-1", "mixture-2"] == [m.name for m in drawn]
    assert 3 * 40 == len(drawn[0].train)
    assert {"mixture-1": 40} == drawn[0].counts
    (copied, _) = mixtures("published", "mixture", "published")
    assert 5 * 40 == len(copied.train)


def test_with_copies_the_source_is_drawn_for_each_row(plugin: Path):
    (mixture, *_) = mixtures("good", "mixture", "corrected(copies=5)")
    by_item = Counter(row.item for row in mixture.train)
    assert {5} == set(by_item.values())
    assert max(len({r.task.argument for r in mixture.train if r.item == i}) for i in by_item) > 1


def test_none_and_expert_are_one_training_each(plugin: Path):
    (none,) = mixtures("good", "none")
    assert {""} == {row.task.argument for row in none.train}
    (expert,) = mixtures("expert", "expert")
    assert "the iron" == expert.train[0].task.argument


@pytest.mark.parametrize(
    ("kind", "arguments", "number", "sentence"),
    [
        ("none", "none", None, "has no train items, which `viva train` needs to learn from"),
        ("no_dev", "none", None, "has no dev items, which `viva train` needs to choose the best epoch by"),
        ("good", "expert", None, "--arguments expert needs a source `expert`, or references.* have a, b, c"),
        ("bare", "mixture", None, "needs sources beside `expert`.* have none at all"),
        ("published", "mixture", 3, "brings 2 as published .*mixture-1, mixture-2"),
        ("good", "none", 2, "--mixtures 2: .* only with --arguments mixture"),
        ("good", "mixture", 0, "--mixtures 0"),
    ],
)
def test_what_cannot_be_trained_is_one_sentence(plugin: Path, kind, arguments, number, sentence):
    with pytest.raises(InputError, match=sentence) as error:
        mixtures(kind, arguments, number=number)
    assert "\n" not in str(error.value)


def test_asked_items_that_repeat_training_items_are_named(plugin: Path):
    """One by its question, one by options and answer in another wording."""
    assert ("asked-0", "asked-1") == load_training_data("small_task:kind=leak").leaks
    assert () == load_training_data("small_task").leaks


def test_options_of_classes_alone_are_no_leak(plugin: Path):
    data = load_training_data("small_task:kind=classes")
    assert ("refuted", "supported") == data.classes
    assert () == data.dev_leaks
