"""Plugins written for `vivavoce.pipeline` still load."""

import importlib

import pytest

from vivavoce.run.building.filters.base import Filter
from vivavoce.run.building.questions import Questions
from vivavoce.run.run import Run


@pytest.mark.parametrize(
    ("name", "value"),
    [("build.filters.base", Filter), ("build.questions", Questions), ("run", Run)],
)
def test_the_former_module_is_the_new_one(name, value):
    former = importlib.import_module(f"vivavoce.pipeline.{name}")
    assert value is getattr(former, value.__name__)
    assert value.__module__ == former.__name__ == former.__spec__.name


def test_a_module_that_never_was_is_missing():
    with pytest.raises(ModuleNotFoundError, match=r"vivavoce\.run\.nothing"):
        importlib.import_module("vivavoce.pipeline.nothing")
