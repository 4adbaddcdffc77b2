"""Checkers by their specs: a model, a model that cites, a file of verdicts, or a local entailment model.

openai/gpt-4o(temperature=0)            a model, by its knowledge or by passages
cited(model=perplexity/sonar)           an endpoint that cites its sources
recorded(file=verdicts.jsonl)           verdicts that were given elsewhere, or by people
nli(weights=DIR)                        a local entailment model, by passages
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, get_args, get_type_hints

from vivavoce.core.errors import InputError, SpecError, suggest
from vivavoce.core.once import Once, once_each
from vivavoce.core.specs import Spec, parse, type_in_words, typed_setting
from vivavoce.facts.checker import Checker, Claim
from vivavoce.facts.cited_checker import cited_checker
from vivavoce.facts.context_passages import is_statement
from vivavoce.facts.entailment import EntailmentChecker
from vivavoce.facts.fact import RIGHT, WRONG, Answer, Fact, KnowledgeWord, Verdict, VerdictWord
from vivavoce.facts.model_checker import model_checker
from vivavoce.facts.recorded import RecordedUnit, read_recorded
from vivavoce.facts.verdict_words import verdict
from vivavoce.models.candidates import is_model_name


@dataclass(frozen=True, kw_only=True)
class RecordedChecker(Checker):
    """The verdicts of a file, of one `rater` where there are several.

    A verdict is that on the text in this very answer: by this candidate, to this item, of this repeat.
    """

    spec: Spec
    file: Path
    rater: str | None = None

    @property
    def files(self) -> tuple[Path, ...]:  # type: ignore[override]
        """The file."""
        return (self.file,)

    def prepare(self, *, passages: bool) -> None:
        """Read the file. Raises `InputError` for a row that is wrong, and for a rater who is not there."""
        raters = read_recorded(self.file).raters
        if not raters:
            raise InputError(
                f"{self.file} holds no verdicts: a row needs verdict= true, false, supported, …."
            )
        if self.rater is not None and self.rater not in raters:
            raise InputError(f"{self.file} has no rater {self.rater!r}.{suggest(self.rater, list(raters))}")
        if self.rater is None and len(raters) > 1:
            named = ", ".join(rater or "(none)" for rater in raters)
            raise InputError(f"{self.file} holds the verdicts of several raters ({named}): give rater=.")

    def immediate_verdict(self, claim: Claim) -> Verdict | None:
        """None: what is recorded is not looked for in passages."""
        return None

    def verdicts(
        self, answer: Answer, facts: Sequence[Fact], claims: Sequence[Claim], once: Once = once_each
    ) -> tuple[Verdict | None, ...]:
        """The recorded verdict on each fact, with its evidence; null where there is none."""
        recorded = read_recorded(self.file)
        return tuple(
            self._chosen(recorded.checked(answer.keys, " ".join(fact.text.split()), must=is_statement(claim)))
            for fact, claim in zip(facts, claims, strict=True)
        )

    def _chosen(self, rows: Sequence[RecordedUnit]) -> Verdict | None:
        """The verdict of the rater, who may have met one text twice."""
        of_rater = [row for row in rows if self.rater in (None, row.rater)]
        return _verdict([row.verdict for row in of_rater if row.verdict], of_rater[0]) if of_rater else None


def _verdict(words: Sequence[VerdictWord], row: RecordedUnit) -> Verdict:
    """What the words come to, with the evidence of the first: two that say otherwise are no verdict."""
    if len({Verdict(word).value for word in words}) == 1:
        reason = None if words[0] in (*RIGHT, *WRONG) else "recorded so"
        return Verdict(words[0], reason, row.evidence)
    none: VerdictWord = "bad" if set(words) <= set(get_args(KnowledgeWord)) else "unverifiable"
    return Verdict(none, f"recorded as {' and as '.join(dict.fromkeys(words))}", row.evidence)


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
