"""Packages of extras: a sentence names the extra where one is missing."""

import re
import sys

import pytest

from vivavoce.core import registry
from vivavoce.core.errors import ExtraError
from vivavoce.core.extras import import_extra, require_extras


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with the core alone, as far as these packages go."""
    for package in ("sacrebleu", "simplemma"):
        monkeypatch.setitem(sys.modules, package, None)


def test_a_missing_package_is_named_with_its_extra_and_with_what_needs_it(bare: None) -> None:
    with pytest.raises(ExtraError, match=re.escape('bleu needs sacrebleu: pip install "vivavoce[text]".')):
        import_extra("sacrebleu.metrics.bleu", extra="text", user="bleu")


def test_several_missing_packages_stand_in_one_sentence() -> None:
    packages = {"json": "plots", "no_such_b": "text", "no_such_a": "excel"}
    with pytest.raises(ExtraError, match=r"^x needs no_such_b and no_such_a: pip .*\[excel,text\]"):
        require_extras(packages, "x")


def test_what_is_installed_is_imported_and_nothing_asks_for_nothing() -> None:
    require_extras({}, "x")
    assert import_extra("json.decoder", extra="text", user="x").JSONDecoder


def test_metrics_of_an_extra_are_refused_before_anything_is_scored(bare: None) -> None:
    from vivavoce.run.catalogue import metrics_of

    for name in ("bleu", "medsynf1"):
        with pytest.raises(ExtraError, match=rf"^{name} needs .*\[text\]"):
            metrics_of(["accuracy", name])
    assert metrics_of(["medsynf1(lemma=none)", "chrf"])


def test_a_run_scored_elsewhere_is_read_without_the_extra(bare: None) -> None:
    assert registry.build("metric", "bleu").criteria
    assert "{'sacrebleu': 'text'}" == str(registry.build("metric", "bleu").packages)
