"""Recipes: what the corrected one does, and every difference of the published one."""

from dataclasses import fields

import pytest

from vivavoce.core import registry
from vivavoce.core.errors import SpecError
from vivavoce.run.train.recipe import Recipe


def recipe(spec: str) -> Recipe:
    built: Recipe = registry.build("recipe", spec)
    return built


def test_warm_up_and_decay_count_steps():
    """20 steps, 10% of them warm-up: up in two steps, then straight down, and never 0."""
    shares = [recipe("corrected(epochs=2)").learning_rate_share(step, 10) for step in range(20)]
    assert [0.5, 1.0, 1.0, 17 / 18, 16 / 18] == shares[:5]
    assert 1 / 18 == shares[-1]
    assert shares[2:] == sorted(shares[2:], reverse=True)


def test_without_warm_up_the_first_step_has_the_whole_rate():
    assert 1.0 == recipe("corrected(warmup=0.0)").learning_rate_share(0, 10)


def test_the_published_rate_moves_once_an_epoch_and_never_reaches_the_stated_one():
    """2,020 rows, 1,010 changes an epoch: 0 in the first epoch, 4.5e-6 in the tenth (fault A0.4)."""
    published = recipe("published")
    assert 1010 == published.steps_per_epoch(2020)
    rates = [5e-5 * published.learning_rate_share(step, 1010) for step in range(10 * 1010)]
    assert {0.0} == set(rates[:1010])
    assert pytest.approx([5e-7 * epoch for epoch in range(10)]) == rates[::1010]
    assert pytest.approx(4.5e-6) == max(rates)


def test_the_published_recipe_cannot_stop_early_and_the_corrected_one_can():
    assert recipe("corrected").can_stop_early
    assert not recipe("published").can_stop_early
    assert not recipe("corrected(epochs=4, patience=3)").can_stop_early


def test_every_difference_is_named_with_what_was_published():
    """A comment below each field that differs says what the released code does."""
    from pathlib import Path

    from vivavoce.run.train import recipe as module

    source = Path(module.__file__).read_text(encoding="utf-8")
    published, corrected = recipe("published"), recipe("corrected")
    for f in fields(Recipe):
        comment = source.partition(f"    {f.name}: ")[2].split('"""')[1]
        if getattr(published, f.name) != getattr(corrected, f.name):
            assert "Published: " in comment, f.name
    assert {"schedule", "patience", "padded_options", "cut", "dropout", "batch", "copies"} <= {
        f.name for f in fields(Recipe) if getattr(published, f.name) != getattr(corrected, f.name)
    }


@pytest.mark.parametrize(
    "setting", ["epochs=0", "batch=0", "learning_rate=0.0", "dropout=1.0", "clip=-1.0", "max_tokens=4"]
)
def test_a_setting_out_of_range_is_one_sentence(setting: str):
    with pytest.raises(SpecError, match=setting.partition("=")[0]):
        recipe(f"corrected({setting})")
