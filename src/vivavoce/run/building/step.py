"""The base classes of a build: a step is a pure function of parts, a recipe is a list of named steps."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, dataclass_transform, runtime_checkable

from vivavoce.core.errors import InputError
from vivavoce.core.prompts import file_of
from vivavoce.core.records import Card, Finding, Item
from vivavoce.models.engine.client import CallResult, ModelClient, Parser, T
from vivavoce.models.requests import Request
from vivavoce.run.building.parts import Part
from vivavoce.store.runfile import RunFile


class Drop(NamedTuple):
    """A part that a step drops: the `reason`, one of few, and in `detail` what it is about this part.

    `failed` where no model gave a usable reply: the next command asks again.
    """

    part: Part
    reason: str
    detail: str = ""
    failed: bool = False


class StepResult(NamedTuple):
    """What a step makes of the parts that it had. A part that is in neither list was used up.

    `verdicts` are the counts of a filter: what it would keep, review, drop and repair. `unasked` counts parts
    that stay though no reply about them came: the next command asks again.
    """

    parts: Sequence[Part]
    dropped: Sequence[Drop] = ()
    notes: Sequence[str] = ()
    verdicts: Mapping[str, int] = {}
    unasked: int = 0

    @classmethod
    def of(
        cls,
        outcomes: Iterable[Part | Drop],
        notes: Sequence[str] = (),
        verdicts: Mapping[str, int] = {},
    ) -> "StepResult":
        """The result of outcomes in their order: parts that stay, and drops."""
        every = list(outcomes)
        parts = [part for part in every if not isinstance(part, Drop)]
        return cls(parts, [drop for drop in every if isinstance(drop, Drop)], notes, verdicts)


class Lab(NamedTuple):
    """What a step may use beside its settings: the name of the exam, a seed, and the way to ask a model."""

    benchmark: str
    seed: int
    client: ModelClient
    purpose: str

    def ask(
        self,
        model: str,
        requests: Sequence[Request],
        parse: Parser[T] | Sequence[Parser[T]],
    ) -> list[CallResult[T]]:
        """Ask the model every request: stored, priced and resumed, under the purpose of this step."""
        return self.client.ask(model, requests, parse, purpose=self.purpose)


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Step(ABC):
    """One step of a build. Its dataclass fields are its settings; equal settings and parts, equal results."""

    prompts: ClassVar[tuple[str, ...]] = ()
    """Shipped prompts that it asks with: their files belong to its signature."""

    @abstractmethod
    def apply(self, parts: Sequence[Part], lab: Lab) -> StepResult:
        """What becomes of the parts. The first step of a recipe has none, and reads files.

        Raises `InputError` for input that it cannot use at all.
        """

    @property
    def extra_files(self) -> tuple[Path, ...]:
        """Files that it reads beside those that its settings name."""
        return tuple(map(file_of, self.prompts))

    @property
    def writer(self) -> str | None:
        """The model that writes or translates items in this step; null where none does."""
        return None


@dataclass_transform(frozen_default=True, kw_only_default=True)
class BuildRecipe(ABC):
    """The steps of `viva build RUN NAME` in their order, by name. Its fields are the command's options.

    A field that ends in `_`, such as `from_`, is the option without it.
    """

    continues: ClassVar[bool] = False
    """Whether it goes on with the exam under construction; else it begins one."""
    card_fields: ClassVar[Mapping[str, str]] = {}
    """What the card says beside name and sources: description, licence, citation, primary criterion."""

    @abstractmethod
    def steps(self) -> Mapping[str, Step]:
        """The steps that these options ask for. Raises `InputError` for options that do not fit together."""

    def card(self, benchmark: str) -> Card:
        """The card of the exam: what it is, and where it comes from."""
        sources = [Path(source).name for source in getattr(self, "from_", ())]
        fields: dict[str, Any] = {"description": "An exam.", "licence": "that of its sources",
                  "citation": "none", **self.card_fields}  # fmt: skip
        return Card(
            name=benchmark,
            source=", ".join(sources) or "viva build",
            revision_note="an exam under construction: its steps stand in the run",
            access="own",
            **fields,
        )

    def require_model(self, model: str, what: str) -> None:
        """Raise `InputError` where a model is needed for `what`, and none is named."""
        if not model:
            raise InputError(f"this recipe {what} by a model: name one with --model, such as openai/gpt-4o.")


@runtime_checkable
class WholeRecipe(Protocol):
    """A recipe that is no list of steps: `viva build` calls `run_on` and runs no step of it."""

    def run_on(
        self, run: RunFile, name: str, client: ModelClient, *, benchmark: str, until: str | None, seed: int
    ) -> Finding:
        """Do all of the recipe's work on a run. With a `CountingClient` nothing is stored."""
        ...


def items_of(parts: Sequence[Part]) -> list[Item]:
    """The items among parts."""
    return [part for part in parts if isinstance(part, Item)]
