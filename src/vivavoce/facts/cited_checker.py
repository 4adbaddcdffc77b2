"""An endpoint that cites as a checker: it says true or false, and what it cites is looked up.

`citations` says how; its verdicts are those of a model without passages.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from vivavoce.core.errors import SpecError, suggest
from vivavoce.core.specs import Spec, typed_setting
from vivavoce.facts.checker import Checker
from vivavoce.facts.entailment import EntailmentChecker
from vivavoce.facts.model_checker import ModelChecker


@dataclass(frozen=True, kw_only=True)
class CitedChecker(ModelChecker):
    """A model that is asked about one claim at a time and cites its sources.

    `support` decides what the cited documents say of a claim: the same model by passages unless named.
    """

    support: Checker

    takes_passages: ClassVar[bool] = False

    @property
    def files(self) -> tuple[Path, ...]:  # type: ignore[override]
        """The prompts, and the files of `support`."""
        return tuple(dict.fromkeys((*super().files, *self.support.files)))

    def prepare(self, *, passages: bool) -> None:
        """Raise as `ModelChecker`; `passages` says whether there is a source to look citations up in."""
        super().prepare(passages=False)
        if passages:
            self.support.prepare(passages=True)


def cited_checker(spec: Spec, build: Callable[[str | Spec], Checker]) -> CitedChecker:
    """The checker of `cited(model=M, support=…)`; `build` makes its parts. Raises `SpecError`."""
    names = ["model", "support"]
    for key in spec.settings:
        if key not in names:
            raise SpecError(f"cited has no setting {key!r}.{suggest(key, names)}")
    parts = {key: build(typed_setting(spec, key, value, str | Spec)) for key, value in spec.settings.items()}
    model = parts.get("model")
    if type(model) is not ModelChecker:
        raise SpecError("cited needs a model that cites: cited(model=PROVIDER/MODEL).")
    if model.neighbours:
        raise SpecError(f"{spec}: an endpoint that cites is asked about a fact alone: leave neighbours out.")
    support = parts.get("support", build(model.model))
    if not isinstance(support, ModelChecker | EntailmentChecker):
        raise SpecError(f"{spec}: support takes a model, or nli(weights=DIR).")
    return CitedChecker(
        spec=spec,
        model=model.model,
        prompt=model.prompt or "facts_cited",
        system=model.system,
        reads=model.reads,
        support=support,
    )
