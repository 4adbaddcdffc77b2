"""The plan of a collect: what is to be asked of which candidates, checked before anything is sent."""

import re
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, get_args

from vivavoce import formats
from vivavoce.benchmarks import Loaded, load, load_examples, sampled
from vivavoce.core import registry
from vivavoce.core.conversations import leading
from vivavoce.core.errors import InputError, SpecError
from vivavoce.core.item_files import items_where
from vivavoce.core.prompts import Prompt
from vivavoce.core.prompts import load as load_prompt
from vivavoce.core.records import Item
from vivavoce.core.specs import Spec, parse
from vivavoce.core.text import label
from vivavoce.formats.base import with_context
from vivavoce.logprobs.requests import LogprobRequests, requests_of
from vivavoce.metrics import Metric
from vivavoce.models.candidates import CandidateConfig, parse_candidate
from vivavoce.models.endpoints import load_endpoints
from vivavoce.models.ranges import RANGES, Preset, check_option
from vivavoce.models.requests import Message, Request, Sampling
from vivavoce.run.collect.few_shot import FewShot
from vivavoce.run.collect.seeds import seed_of
from vivavoce.run.shards.memory import ShardWork
from vivavoce.store.asked import unanswered
from vivavoce.store.earlier_turns import EarlierTurns

_FILE = re.compile(r"system_\w+|\S+\.md")
"""A system message that is the name of a shipped prompt, or a file."""
_OPTION = re.compile(r"option_[1-9]\d?")
_IN_PRESET = ("prompt", "stop")
"""Published settings that no label spells out: benchmarks that were published together differ in the prompt,
and a candidate is one across benchmarks only under one label. A stop may hold line ends.
"""
OLD_PRESET = (
    "preset=published is the older name of paper-settings: temperature, tokens and order of the parts as in "
    "the paper, prompts in our words"
)
_NOTES: Mapping[str | None, Mapping[str, str]] = {"published": {"note": OLD_PRESET}}


class RequestBuilder:
    """Builds the request for an item from a candidate's settings. Prompt files are read once, when needed.

    Settings of a candidate that matter here: `system`, a text, a .md file, or the name of a shipped prompt
    that begins with system_; `prompt`, a .md file with `{{ question }}` and, where items have them, `{{
    options }}` or single ones (`{{ option_1 }}`), `{{ steps }}`, `{{ false_answer }}`, `{{ category }}` and
    `{{ context }}`, which stands before the question unless the file places it; `shots`, a number of
    `FewShot` examples; and `confidence`, which asks behind the question for a last line that states one. The
    messages of a conversation are sent as they stand; what its system says comes behind the candidate's own
    `system`.
    """

    def __init__(self, items: Sequence[Item], split: Callable[[], Sequence[Item]] = tuple) -> None:
        self._few_shot = FewShot(items, split)
        self._prompts: dict[str, Prompt] = {}

    def check(self, items: Sequence[Item], candidate: CandidateConfig) -> None:
        """Raise `InputError` where an item could not be asked: no such prompt, too few examples."""
        settings = candidate.settings
        self._system(settings)
        if settings.get("prompt"):
            template = self._prompt(str(settings["prompt"]))
            in_context = "context" in template.variables and any(item.context for item in items)
            if "question" not in template.variables and not in_context:
                raise InputError(
                    f"the prompt {template.name!r} never says {{{{ question }}}}: put it where the question "
                    f"goes."
                )
        shots = int(settings.get("shots") or 0)
        for item in items if shots else ():
            if item.messages:
                raise InputError(
                    f"{item.benchmark}, item {item.name!r} is a conversation, before which no example can "
                    "stand: leave --shots out."
                )
            self._few_shot.of(item, shots)
        self._question(items[0], settings)

    def request(self, item: Item, candidate: CandidateConfig, repeat: int) -> Request:
        """What a candidate is asked in a repeat; a seed of its own makes one for each item and repeat.

        Only a baseline sees options, key and draw: for a model, items worded alike are one question.
        """
        request = self.generation(item, candidate.settings, candidate.sampling, repeat)
        if not candidate.spec.name.startswith("baseline/"):
            return request
        return replace(
            request,
            options=item.options or formats.format_of(item).fixed_options,
            reference=formats.key(item),
            draw=seed_of(item, "draw", repeat),
        )

    def generation(self, item: Item, settings: Mapping[str, Any], sampling: Sampling, repeat: int) -> Request:
        """The request of a repeat by these settings, for a model; its seed is the item's own."""
        if sampling.seed is not None:
            sampling = replace(sampling, seed=seed_of(item, "answer", repeat, sampling.seed))
        return Request(messages=self.messages(item, settings), sampling=sampling)

    def messages(self, item: Item, settings: Mapping[str, Any]) -> tuple[Message, ...]:
        """The conversation that asks an item: system, examples, question.

        Raises `InputError` where there are too few examples to draw from.
        """
        shots = int(settings.get("shots") or 0)
        rules = leading(item.messages)
        system = "\n\n".join(filter(None, (self._system(settings), *(rule.content for rule in rules))))
        messages = [Message("system", system)] if system else []
        messages += item.messages[len(rules) : -1]
        for example in self._few_shot.of(item, shots) if shots else ():
            question = self._question(example.item, settings)
            messages += [Message("user", question), Message("assistant", example.answer)]
        question = self._question(item, settings)
        if settings.get("confidence"):  # of the last question alone: examples show answers without it
            question = self._prompt("confidence").fill(question=question)
        return (*messages, Message("user", question))

    def shared_texts(self, settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """What is sent along with every item: the setting it comes from, and its text."""
        if settings.get("system"):
            yield "--system text", self._system(settings)
        if settings.get("prompt"):
            yield "--prompt file", self._prompt(str(settings["prompt"])).text

    def _prompt(self, name: str) -> Prompt:
        if name not in self._prompts:
            self._prompts[name] = load_prompt(name)
        return self._prompts[name]

    def _system(self, settings: Mapping[str, Any]) -> str:
        system = str(settings.get("system") or "")
        return self._prompt(system).text if _FILE.fullmatch(system) else system

    def _question(self, item: Item, settings: Mapping[str, Any]) -> str:
        if not settings.get("prompt"):
            return formats.ask(item)
        template = self._prompt(str(settings["prompt"]))
        return template.fill(
            question=_text(item, alone="context" in template.variables),
            context=item.context or "",
            category=(item.category or "").replace("_", " "),
            options="\n".join(f"{label(k)}. {text}" for k, text in enumerate(item.options)),
            steps="\n".join(f"{k}. {text}" for k, text in enumerate(item.steps, 1)),
            false_answer=item.false_answer or "",
            **{name: _option(item, name) for name in template.variables if _OPTION.fullmatch(name)},
        )


def _option(item: Item, name: str) -> str:
    """The text of the option that `option_3` names; empty where the item has fewer."""
    k = int(name.removeprefix("option_")) - 1
    return item.options[k] if k < len(item.options) else ""


def _text(item: Item, *, alone: bool) -> str:
    """What a prompt file calls the question: with the context unless `alone`, of messages the last."""
    if item.messages:
        return item.messages[-1].content
    return item.question if alone else with_context(item)


class LogprobTask(NamedTuple):
    """The requests that a metric of log-probabilities makes, and the items that they are made about."""

    probe: LogprobRequests
    items: Sequence[Item]


class CollectPlan(NamedTuple):
    """What is to be asked, checked: the items, the candidates, and how often; or which log-probabilities.

    `inapplicable` are metrics that were asked for and score none of the items. Of a shard, `items` are its
    own, and `exam` those of all shards.
    """

    benchmark: Loaded
    items: Sequence[Item]
    candidates: tuple[CandidateConfig, ...]
    repeats: int
    settings: Mapping[str, Any]
    requests: RequestBuilder
    tasks: tuple[LogprobTask, ...] = ()
    inapplicable: tuple[str, ...] = ()
    exam: Sequence[Item] = ()
    shard: ShardWork | None = None


def pending_repeats(
    db: sqlite3.Connection | None, plan: CollectPlan, candidate: CandidateConfig
) -> Iterator[tuple[Item, int]]:
    """Items and repeats to which a candidate has given no answer: the first repeat of every item, then the
    second, and so on. A later turn is none of them where a turn before it, or its answer, was forgotten.
    """
    name, turns = str(candidate.spec), EarlierTurns(db) if db is not None else None
    for repeat in range(1, plan.repeats + 1):
        for item in unanswered(db, plan.items, name, repeat=repeat):
            if turns is None or not item.follows or not turns.is_broken(item, name, repeat):
                yield item, repeat


def plan_collect(
    benchmark: str | Loaded,
    models: Sequence[str],
    *,
    logprobs: Sequence[str] = (),
    repeats: int | None = None,
    preset: Preset | None = None,
    sample: str | None = None,
    draw: int = 1,
    providers: Path | None = None,
    generated_items: Callable[[str], Sequence[Item]] = lambda benchmark: (),
    stored_labels: Collection[str] = (),
    **settings: Any,
) -> CollectPlan:
    """Check what is to be asked of which candidates; nothing is sent or stored, and no key is needed.

    `logprobs` names metrics that need log-probabilities: these are collected then, and no text is generated.
    `generated_items` gives what the run made of a benchmark's items: it is asked too.
    `stored_labels` are the run's candidates: one that is there under the path of its folder keeps that name.
    `settings` go to every candidate whose own spec does not state them; under `preset` those that the
    benchmark was published with fill the gaps. Raises a `VivaError` for whatever cannot be used: a benchmark,
    a model, a provider, a setting, a prompt.
    """
    loaded = benchmark if isinstance(benchmark, Loaded) else load(benchmark)
    loaded = loaded.joined(generated_items(loaded.items[0].benchmark))
    _check_ranges(settings)
    settings, implied = _with_preset(settings, preset, loaded)
    n = _repeats(repeats, settings.pop("repeats", None), for_logprobs=bool(logprobs))
    candidates = _candidates(models, providers, settings, implied, stored_labels)
    names = [str(candidate.spec) for candidate in candidates]
    items = _asked_items(loaded.items, sample, draw)
    if logprobs and n > 1:
        raise SpecError(f"--repeats {n}: probabilities are asked once; leave --repeats out with --for.")
    tasks, inapplicable = _logprob_tasks(logprobs, items)
    requests = RequestBuilder(loaded.items, split=lambda: load_examples(loaded.spec))
    for candidate in candidates:
        requests.check(items, candidate)
    record: dict[str, Any] = {
        "benchmark": loaded.spec,
        "candidates": names,
        "repeats": n,
        "sample": sample,
        "preset": preset,
        **_NOTES.get(preset, {}),
    }
    record |= {} if sample is None else {"draw": draw}
    if tasks:
        record["for"] = [task.probe.name for task in tasks]
    return CollectPlan(loaded, items, candidates, n, record, requests, tasks, inapplicable)


def _asked_items(items: Sequence[Item], sample: str | None, draw: int) -> Sequence[Item]:
    """All items, or the sample of them."""
    if sample is not None:
        return sampled(items, sample, draw)
    if draw != 1:
        raise InputError(f"--draw {draw} says which sample is asked: give its size too, as --sample 10%.")
    return items


def _check_ranges(settings: Mapping[str, Any]) -> None:
    """Raise `SpecError` for a number out of its range; what is no number, the candidates refuse."""
    for name, value in settings.items():
        if name in RANGES and isinstance(value, int | float):
            check_option(name, value, SpecError)


def _with_preset(
    settings: Mapping[str, Any], preset: str | None, loaded: Loaded
) -> tuple[dict[str, Any], Mapping[str, str]]:
    """The settings that were given, before those that the benchmark was published with; and the names of the
    latter that `preset=…` stands for in a label.
    """
    explicit = {key: value for key, value in settings.items() if value is not None and value != ()}
    if preset is None:
        return explicit, {}
    if not loaded.card.published:
        raise SpecError(f"{loaded.spec} names no published settings, so there is no --preset {preset}.")
    published = {**loaded.card.published, **explicit}
    return published, {key: preset for key in _IN_PRESET if key in published and key not in explicit}


def _repeats(repeats: int | None, published: Any, *, for_logprobs: bool) -> int:
    if repeats is None:
        repeats = 1 if for_logprobs else int(published or 1)
    check_option("repeats", repeats)
    return repeats


def _candidates(
    models: Sequence[str],
    providers: Path | None,
    settings: Mapping[str, Any],
    implied: Mapping[str, str],
    stored_labels: Collection[str],
) -> tuple[CandidateConfig, ...]:
    registered = load_endpoints(providers)
    candidates = tuple(
        _stored_preset(
            _short_label(parse_candidate(text, registered, **settings), text, implied), stored_labels
        )
        for text in dict.fromkeys(models)
    )
    if not candidates:
        raise SpecError("collect needs --model, such as --model openai/gpt-4o or --model baseline/random.")
    names = [str(candidate.spec) for candidate in candidates]
    if twice := [name for name in names if names.count(name) > 1]:
        raise SpecError(f"--model names {twice[0]} twice.")
    # A run of an earlier version may hold answers of a model in a folder under the whole path.
    labelled_candidates = tuple(c if str(c.spec) in stored_labels else c.with_label for c in candidates)
    names = [str(candidate.spec) for candidate in labelled_candidates]
    if alike := [name for name in names if names.count(name) > 1]:
        raise SpecError(
            f"--model names two folders whose answers would both stand under {alike[0]}: give one of them "
            "another name, or a link to it."
        )
    return labelled_candidates


def _short_label(candidate: CandidateConfig, text: str, implied: Mapping[str, str]) -> CandidateConfig:
    """The candidate with `preset=NAME` in place of the settings that the preset implies."""
    settings, explicit = candidate.spec.settings, parse(text).settings
    replaced = [key for key in implied if key in settings and key not in explicit]
    if not replaced:
        return candidate
    spelled = {key: value for key, value in settings.items() if key not in replaced}
    return candidate._replace(spec=Spec(candidate.spec.name, {**spelled, "preset": implied[replaced[0]]}))


def _stored_preset(candidate: CandidateConfig, stored_labels: Collection[str]) -> CandidateConfig:
    """The candidate, under the preset's other name where the run has answers under that one."""
    settings = candidate.spec.settings
    for name in sorted(get_args(Preset), key=lambda name: name != settings.get("preset")) * (
        "preset" in settings
    ):
        renamed = candidate._replace(spec=Spec(candidate.spec.name, {**settings, "preset": name}))
        if str(renamed.with_label.spec) in stored_labels or str(renamed.spec) in stored_labels:
            return renamed
    return candidate


def _logprob_tasks(
    metrics: Sequence[str], items: Sequence[Item]
) -> tuple[tuple[LogprobTask, ...], tuple[str, ...]]:
    """The tasks of these metrics, each with the items that one of them scores; and metrics that score
    none.
    """
    probes: dict[str, LogprobRequests] = {}
    scored_by: dict[str, list[Metric]] = {}
    inapplicable: list[str] = []
    for text in metrics:
        metric: Metric = registry.build("metric", text).bind(items)
        probe = requests_of(metric)
        if probe is None:
            raise SpecError(f"--for {text}: it scores answers in words, not probabilities; leave --for out.")
        if not any(_scores(metric, item) for item in items):
            inapplicable.append(text)
            continue
        probes[probe.name] = probe
        scored_by.setdefault(probe.name, []).append(metric)
    if inapplicable and not probes:
        raise SpecError(
            f"--for {', '.join(inapplicable)}: none of these {len(items)} items can be scored so; "
            "`viva show METRIC` says what it takes."
        )
    tasks = tuple(
        LogprobTask(probe, items_where(items, partial(_any_scores, scored_by[name])))
        for name, probe in probes.items()
    )
    return tasks, tuple(inapplicable)


def _any_scores(metrics: Sequence[Metric], item: Item) -> bool:
    return any(_scores(metric, item) for metric in metrics)


def _scores(metric: Metric, item: Item) -> bool:
    """Whether the metric scores what a model tells of the item, which is no later turn of a conversation."""
    return metric.applies_to(item) and all(getattr(item, need) for need in metric.needs) and not item.follows
