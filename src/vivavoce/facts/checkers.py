"""Checkers by their specs: a model, a model that cites, a file of verdicts, or a local entailment model.

openai/gpt-4o(temperature=0)            a model, by its knowledge or by passages
cited(model=perplexity/sonar)           an endpoint that cites its sources
recorded(file=verdicts.jsonl)           verdicts that were given elsewhere, or by people
nli(weights=DIR)                        a local entailment model, by passages
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from functools import partial
from typing import Any, get_type_hints

from vivavoce.core.errors import SpecError, suggest
from vivavoce.core.specs import Spec, parse, type_in_words, typed_setting
from vivavoce.facts.checker import Checker
from vivavoce.facts.cited_checker import cited_checker
from vivavoce.facts.entailment import EntailmentChecker
from vivavoce.facts.fact import KnowledgeWord
from vivavoce.facts.model_checker import model_checker
from vivavoce.facts.recorded_checker import RecordedChecker
from vivavoce.facts.verdict_words import verdict
from vivavoce.models.candidates import is_model_name

_KINDS: Mapping[str, Any] = {"recorded": RecordedChecker, "nli": EntailmentChecker}


def checker_of(
    spec: str | Spec, *, per_call: int = 1, reads: Callable[[str], KnowledgeWord] = verdict
) -> Checker:
    """The checker that a spec names.

    A model is asked about `per_call` claims at once; `reads` makes a word of a reply about one claim without
    passages, and a reader other than ours gets the reply as it came. Settings of a model's spec are the
    model's, save `prompt`, a .md file or the name of a shipped prompt with `{{ fact }}` (between tags) or
    `{{ text }}` (bare), and `system`, a text or such a file. Raises `SpecError` for what it does not know.
    """
    if per_call < 1:
        raise SpecError(f"per_call takes 1 or more, not {per_call}.")
    spec = parse(spec) if isinstance(spec, str) else spec
    if spec.name in _KINDS:
        return _built(_KINDS[spec.name], spec)
    if spec.name == "cited":
        if per_call > 1:
            raise SpecError(f"{spec}: citations belong to one fact each: leave per_call out.")
        return cited_checker(spec, partial(checker_of, reads=reads))
    if is_model_name(spec.name):
        return model_checker(spec, per_call, reads)
    hint = suggest(spec.name, ["cited", *_KINDS])
    raise SpecError(f"no checker named {spec.name!r}: name a model as PROVIDER/MODEL.{hint}")


def _built(cls: Any, spec: Spec) -> Checker:
    """A checker without a model; its settings are the fields of its class."""
    hints = get_type_hints(cls)
    names = {f.name: f for f in fields(cls) if f.name != "spec"}
    for key in spec.settings:
        if key not in names:
            raise SpecError(f"{spec.name} has no setting {key!r}.{suggest(key, list(names))}")
    for key, f in names.items():
        if f.default is MISSING and key not in spec.settings:
            raise SpecError(f"{spec.name} needs {key}={type_in_words(hints[key])}: {spec.name}({key}=…).")
    values = {key: typed_setting(spec, key, value, hints[key]) for key, value in spec.settings.items()}
    checker: Checker = cls(spec=spec, **values)
    return checker
