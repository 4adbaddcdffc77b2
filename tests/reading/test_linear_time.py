"""Whatever a candidate or a judge writes, the time to read it grows no faster than its length.

Held to it are all registered formats, all registered metrics of words in each way that their settings offer,
and every public function of one text in the rooms that read. A new one is held to it without a line here.
"""

import gc
import importlib
import inspect
import itertools
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields, replace
from functools import cache, partial
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import pytest
from tests.cases import each_case
from tests.growth import STEEPEST, growth
from tests.lengths import LONG, length
from tests.reading.hostile import DEEP, HOSTILE, LARGE_NUMBERS, ONCE_SQUARE, Hostile

import vivavoce
from vivavoce.core.errors import VivaError
from vivavoce.core.prompts import Unreadable
from vivavoce.core.records import Item, Reading, Response, Row
from vivavoce.core.registry import canonical, entries
from vivavoce.formats import FORMATS, read_response
from vivavoce.judging import replies
from vivavoce.judging.loading import load
from vivavoce.logprobs.requests import requests_of
from vivavoce.metrics import Metric, ScoringContext


class Measure(NamedTuple):
    """The hostile texts and their two sizes; what is faster at the large one is not judged."""

    texts: Sequence[Hostile]
    small: int
    large: int
    floor_s: float


GATE = Measure(ONCE_SQUARE, 500, 4_000, 0.001)
RULES = length(GATE, Measure(HOSTILE, 1_000, 8_000, 0.0015))
"""Of what reads by rules. Under the floor overhead and noise would decide."""
ENCODERS = GATE._replace(texts=ONCE_SQUARE[5:6])
"""Of metrics that load an encoder: a text costs a hundred times what it costs the others."""
ROOMS = (
    "core.text",
    "reading",
    "metrics",
    "contrib",
    "language",
    "privacy",
    "variants",
    "facts",
    "judging.replies",
    "systems",
)
ARGUMENTS: dict[str, Any] = {
    "labels": ("A", "B"),
    "criteria": load("medgpt").criteria,
    "criterion": load("medgpt").criteria[0],
    "thing": "met",
    "keys": ("met",),
    "words": {"yes": 1.0, "no": 0.0},
}
"""What readers of a judge's reply take beside it."""
Target = Callable[[str], object]


def item(name: str) -> Item:
    """An item of the format with all that a metric could need, short so that the answer alone grows."""
    return Item(
        benchmark="b", item="i", format=name, question="What is it?",
        options=("Aspirin", "Heparin", "Warfarin", "Alteplase") if name in ("mcq", "list") else (),
        answer=("True",) if name == "true_false" else ("Aspirin",),
        references=("Aspirin 100 mg daily for 3 days, not warfarin: it lowers the risk",),
        steps=("The pain is cardiac", "Aspirin raises the platelets", "So none is given"), step=2,
        meta={"planted": "Heparin"},
    )  # fmt: skip


def variants_of(entry: Any) -> Iterator[Metric]:
    """A metric in each way that its settings offer words for; none where it needs a file or a package."""
    hints = get_type_hints(entry.cls)
    choices = {
        f.name: get_args(hints[f.name]) for f in fields(entry.cls) if get_origin(hints[f.name]) is Literal
    }
    needed = {f.name for f in fields(entry.cls) if f.default is MISSING and f.default_factory is MISSING}
    if needed - choices.keys():
        return
    for words in itertools.product(*choices.values()):
        with suppress(ValueError):
            yield entry.cls(**dict(zip(choices, words, strict=True)))


def reads_words(metric: Metric) -> bool:
    """Whether a metric compares words; one by an encoder, in one dtype, is held to it in the long test."""
    by_rule = not metric.rater and not metric.comparative and requests_of(metric) is None
    if canonical(metric).name == "radgraph":  # without a file of annotations a package makes them
        return False
    if hasattr(metric, "encoder"):
        return by_rule and LONG and getattr(metric, "dtype", "auto") == "auto"
    return by_rule


def targets() -> Iterator[tuple[str, Target]]:
    for name in FORMATS:
        yield f"format {name}", lambda text, name=name: read_response(item(name), text)
    for metric in itertools.chain.from_iterable(map(variants_of, entries("metric"))):
        texts = [name for name in metric.formats if read_response(item(name), "Aspirin").parsed == "Aspirin"]
        open_texts = [name for name in texts if FORMATS[name].open_text]
        if open_texts and reads_words(metric):
            kind = "encoder" if hasattr(metric, "encoder") else "metric"
            yield f"{kind} {canonical(metric)}", scorer(metric, open_texts[0])
    yield from functions()


def scorer(metric: Metric, name: str) -> Target:
    question = item(name)
    others = (replace(question, item="j", references=("Insulin lowers the blood glucose within minutes",)),)

    def score(text: str) -> object:
        response = Response(benchmark="b", item="i", candidate="c", text=text)
        context = ScoringContext(items=(question, *others))
        return metric.values([Row(question, response, Reading("ok", text))], context)

    return score


def functions() -> Iterator[tuple[str, Target]]:
    """The public functions whose one needed argument is a text, and the readers of judges' replies."""
    modules = [vivavoce.core.text, *rooms()]
    for module in modules:
        for name, function in vars(module).items():
            if name.startswith("_") or not inspect.isfunction(inspect.unwrap(function)):
                continue
            if function.__module__ != module.__name__:
                continue
            parameters = inspect.signature(function).parameters.values()
            text, *others = [p for p in parameters if p.default is p.empty] or [None]
            if (
                text is None
                or text.name not in ("text", "form", "written")
                or text.annotation not in (str, "str")
            ):
                continue
            if module is replies and name.startswith("read_") and name != "read_fields":
                others = {p.name: ARGUMENTS[p.name] for p in others}
            if not isinstance(others, dict) and others:
                continue
            with suppress(VivaError, ValueError):  # it reads a file's format, or lacks a package
                reader = partial(function, **dict(others))
                attempt(reader, "A short answer.")
                yield f"{module.__name__.removeprefix('vivavoce.')}.{name}", reader


def rooms() -> Iterator[Any]:
    for found in pkgutil.walk_packages(vivavoce.__path__, "vivavoce."):
        if found.name.removeprefix("vivavoce.").startswith(ROOMS):
            yield importlib.import_module(found.name)


def attempt(target: Target, text: str) -> None:
    """One call; a judge's reply may be unreadable, nothing else may be raised."""
    with suppress(Unreadable):
        target(text)


@cache
def all_targets() -> dict[str, Target]:
    """By name every reader; they are looked for when a test first asks, for all modules are imported then."""
    return dict(targets())


def section(name: str) -> dict[str, Target]:
    """The targets whose names begin with these words."""
    return {target: reader for target, reader in all_targets().items() if target.startswith(name)}


SECTIONS = ("format ", "metric ", "encoder ", *ROOMS)


@pytest.fixture(autouse=True, scope="module")
def _no_collection():
    """A collection of garbage in the middle of a measurement would be taken for work."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_every_target_is_of_a_section() -> None:
    assert set(all_targets()) == {name for words in SECTIONS for name in section(words)}


def steep_texts(target: Target, measure: Measure) -> dict[str, float]:
    """By hostile text the exponent of the time to read it, where that is too large."""
    exponents = {
        hostile.name: growth(
            partial(attempt, target), hostile.text,
            small=measure.small, large=measure.large, floor_s=measure.floor_s,
        )
        for hostile in measure.texts
    }  # fmt: skip
    return {name: exponent for name, exponent in exponents.items() if exponent > STEEPEST}


@each_case("words", SECTIONS)
def test_time_grows_with_length_and_no_faster(words: str) -> None:
    measure = ENCODERS if words == "encoder " else RULES
    steep = {name: steep_texts(reader, measure) for name, reader in section(words).items()}
    assert {} == {name: texts for name, texts in steep.items() if texts}


def test_every_kind_of_reader_is_held_to_it() -> None:
    kinds = """
        format multi_hop_inverse|metric planted|tokens=squad|tokens=words|n=L|clinical_tokens
        stated_confidence|treebank_words|read_order|privacy.suspects|invariants
    """
    for kind in re.split(r"\s*[|\n]\s*", kinds.strip()):
        assert [name for name in all_targets() if kind in name], kind


def test_a_square_would_be_found() -> None:
    """The measure itself: a pattern that costs its square has an exponent near 2."""
    search = re.compile("=+>").search
    assert growth(search, lambda size: "=" * size) > 1.7


def failures(targets: Mapping[str, Target], texts: Sequence[str]) -> dict[str, str]:
    """By target the error that the first of these texts raises."""
    raised = {}
    for name, reader in targets.items():
        try:
            for text in texts:
                attempt(reader, text)
        except Exception as error:
            raised[name] = repr(error)[:200]
    return raised


STEPS = {"encoder ": 90, "metric ": length(4, 1)}
"""Each metric is asked in many ways, which read numbers alike: by every so-manieth text."""


@each_case("words", SECTIONS)
def test_no_text_is_too_deep_and_no_number_too_large(words: str) -> None:
    """No `RecursionError`, and no `ValueError` of Python's limit on the digits of whole numbers."""
    texts = (*DEEP, *LARGE_NUMBERS)
    assert {} == failures(section(words), texts[:: STEPS.get(words, 1)])


MANY = length(25_000, 100_000)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * MANY, '{"score": ' + "9" * 100_000 + "}"])
def test_an_answer_of_tens_of_thousands_of_brackets_or_digits_is_read(text: str) -> None:
    assert {} == failures({**section("format "), **section("judging.")}, [text])
