"""Control cases: edits of answers by which an examiner is tested, of the kinds that `control_kinds` names."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vivavoce import formats
from vivavoce.core.errors import InputError, suggest
from vivavoce.core.records import Item, Response, Role
from vivavoce.core.registry import variation
from vivavoce.core.specs import Setting, Spec
from vivavoce.evaluators.proxy_task import NO_ARGUMENT
from vivavoce.variants import Outcome, Stock, Variation, altered_claims, controls, key_of
from vivavoce.variants.control_kinds import KINDS, STRATA, control_edit
from vivavoce.variants.controls import Draw, Edited, same_text

if TYPE_CHECKING:
    from vivavoce.models.engine.client import ModelClient

ALL, LABEL = "all", "label"
NOTHING_DRAWN = ("none", "empty", "passages", "label_number_right", "label_text_right")
"""Kinds that are the same whatever the seed."""
_OF_TEXT: "Mapping[str, Callable[[str, Draw], Edited | str]]" = {
    "off_topic": controls.off_topic,
    "padded": controls.padded,
    "confident": controls.confident,
    "praise": controls.praise,
    "negated": altered_claims.negated,
    "numbers": altered_claims.numbers,
}
SILENT = ("none", "empty")
"""Kinds that need not be read as an answer."""


class _Answer(NamedTuple):
    """A readable answer without its thinking, and its item."""

    item: Item
    response: Response
    text: str

    @property
    def draw_ids(self) -> tuple[str, ...]:
        return (self.item.benchmark, self.item.item)


@variation("control")
class Control(Variation):
    """Control cases of the answers of candidates and ceilings: what an examiner must not be fooled by.

    `kind` is a kind of control, a list of them, `label` for all four of the label, or `all`. `seed` draws by
    the ids of items. `draws` are so many noises for each answer, and `injections` so many orders to the
    examiner, each of another form and language. `source` is a folder of documents for passages.
    `candidate` restricts to one candidate or ceiling. Open formats only; the edits are `control:KIND`,
    `control:noise:DRAW` and `control:injection:STRATUM`.
    """

    kind: str | tuple[str, ...]
    seed: int = 0
    draws: int = 5
    injections: int = 10
    source: Path | None = None
    candidate: str | None = None

    def __post_init__(self) -> None:
        if not self.kind:
            raise ValueError("kind names no control")
        for name in self._names:
            if name not in (*KINDS, ALL, LABEL):
                hint = suggest(name, [*KINDS, ALL, LABEL])
                raise ValueError(
                    f"kind={name} is no control.{hint} There are {ALL}, {LABEL}, {', '.join(KINDS)}"
                )
        if not 1 <= self.draws <= 100:
            raise ValueError("draws is a number from 1 to 100")
        if not 1 <= self.injections <= len(STRATA):
            raise ValueError(f"injections is a number from 1 to {len(STRATA)}")
        if "passages" in self._names and self.source is None:
            raise ValueError("passages are searched in a folder of documents: give source=DIR")

    @property
    def _names(self) -> tuple[str, ...]:
        return (self.kind,) if isinstance(self.kind, str) else self.kind

    def makes(self, stock: Stock, client: "ModelClient | None") -> Iterator[Outcome]:
        """An outcome for each readable answer, kind and draw, and one for each other answer.

        Raises `InputError` where another spec made some of it in this run.
        """
        answers: list[_Answer] = []
        for item, response in self._responses(stock):
            if reason := _unfit(item, response):
                yield Outcome("control", item.name, reason=reason)
            else:
                answers.append(_Answer(item, response, response.final_text))
        for kind in filter(self._means, KINDS):
            several = {"noise": self._noise, "injection": self._injections}
            make = several.get(kind, partial(self._edits, kind))
            yield from make(answers, stock)

    def _means(self, kind: str) -> bool:
        """Whether a kind is one of those that `kind` names."""
        return any(name in (ALL, kind, kind.split("_")[0]) for name in self._names)

    def _responses(self, stock: Stock) -> Iterator[tuple[Item, Response]]:
        """Responses to base items of the candidates and ceilings that are meant."""
        examined = self._examined(stock.roles)
        bases = {(item.benchmark, item.item): item for item in stock.bases}
        for response in stock.answers:
            item = bases.get((response.benchmark, response.item))
            if item is not None and not response.variant and response.candidate in examined:
                yield item, response

    def _examined(self, roles: Mapping[str, Role]) -> set[str]:
        """The candidates and ceilings that are meant. Raises `InputError` for a `candidate` that is none."""
        examined = {candidate for candidate, role in roles.items() if role != "floor"}
        if self.candidate is None:
            return examined
        if self.candidate not in examined:
            reason = "is a floor" if self.candidate in roles else "is not in this run"
            hint = suggest(self.candidate, sorted(examined))
            raise InputError(
                f"control: {self.candidate!r} {reason}: controls are made of candidates and ceilings.{hint}"
            )
        return {self.candidate}

    def _edits(self, kind: str, answers: list[_Answer], stock: Stock) -> Iterator[Outcome]:
        settings: dict[str, Setting] = {"kind": kind}
        if kind not in NOTHING_DRAWN:
            settings["seed"] = self.seed
        make = _OF_TEXT.get(kind)
        if kind == "passages":
            make, version = self._search()
            settings["source"] = version
        for answer in answers:
            edited = self._edited(kind, answer, make)
            yield self._outcome(control_edit(kind), answer, edited, settings, stock)

    def _edited(self, kind: str, answer: _Answer, make: "Callable[..., Edited | str] | None") -> Edited | str:
        item = answer.item
        draw = Draw(answer.draw_ids, self.seed)
        if kind == "none":
            return Edited(NO_ARGUMENT, "replaced by a sentence that says there is no argument")
        if kind == "empty":
            return Edited("", "replaced by an empty text")
        if kind.startswith("label_"):
            if len(item.answer) != 1 or item.answer[0] not in item.options or len(set(item.options)) < 2:
                return "its question has no options with one right among them"
            return controls.label(kind, item.options, item.answer[0], draw)
        if make is None:
            return "it takes a folder of documents: give source=DIR"
        return make(item.question, draw) if kind == "passages" else make(answer.text, draw)

    def _search(self) -> tuple["Callable[..., Edited | str] | None", str]:
        """What makes passages for a question, and the version of the documents they come from."""
        if self.source is None:
            return None, ""
        from vivavoce.retrieval.index import open_source

        source = open_source(self.source)
        by_question: dict[str, Edited | str] = {}  # every candidate's answers to an item have the same ones

        def make(question: str, draw: Draw) -> Edited | str:
            if question not in by_question:
                by_question[question] = controls.passages(question, source.search)
            return by_question[question]

        return make, f"{source.name}@{source.version}"

    def _injections(self, answers: list[_Answer], stock: Stock) -> Iterator[Outcome]:
        settings: dict[str, Setting] = {"kind": "injection", "seed": self.seed}
        items: dict[str, set[str]] = {}
        for answer in answers:
            items.setdefault(answer.item.benchmark, set()).add(answer.item.item)
        strata = {
            benchmark: controls.strata_of(names, self.injections, Draw((benchmark,), self.seed))
            for benchmark, names in items.items()
        }
        for answer in answers:
            for number in strata[answer.item.benchmark][answer.item.item]:
                edited = controls.injection(answer.text, STRATA[number - 1])
                yield self._outcome(control_edit("injection", number), answer, edited, settings, stock)

    def _noise(self, answers: list[_Answer], stock: Stock) -> Iterator[Outcome]:
        settings: dict[str, Setting] = {"kind": "noise", "seed": self.seed}
        sets: dict[tuple[str, str, str], dict[str, list[_Answer]]] = {}
        for answer in answers:  # one candidate's answers of one form
            of = (answer.item.benchmark, answer.response.candidate, answer.item.format)
            sets.setdefault(of, {}).setdefault(answer.item.group, []).append(answer)
        for by_group in sets.values():
            texts = {
                group: frozenset(same_text(answer.text) for answer in group_answers)
                for group, group_answers in by_group.items()
            }
            ordered = {
                group: sorted(group_answers, key=lambda answer: key_of(answer.response))
                for group, group_answers in by_group.items()
            }
            for step in range(1, self.draws + 1):
                donors = controls.donors(texts, step, self.seed)
                for group in sorted(by_group):
                    for answer in ordered[group]:
                        edited = self._of_donor(answer, ordered.get(donors[group] or ""), step, len(by_group))
                        yield self._outcome(control_edit("noise", step), answer, edited, settings, stock)

    def _of_donor(
        self, answer: _Answer, among: list[_Answer] | None, step: int, n_groups: int
    ) -> Edited | str:
        if n_groups <= step:
            return f"too few cases of this format were answered for the draw: {n_groups}"
        if among is None:
            return "no answer to another case is left that says anything else"
        draw = Draw((*answer.draw_ids, str(answer.response.repeat)), self.seed)
        donor = draw.choice(f"noise {step}", among)
        return Edited(donor.text, f"replaced by the answer to {donor.item.name}")

    def _outcome(
        self, edit: str, answer: _Answer, edited: Edited | str, settings: dict[str, Setting], stock: Stock
    ) -> Outcome:
        subject = ":".join(edit.split(":")[:2])
        if isinstance(edited, str):
            return Outcome(subject, answer.item.name, reason=edited)
        if subject.removeprefix("control:") not in SILENT:
            if same_text(edited.text) == same_text(answer.text):
                return Outcome(subject, answer.item.name, reason="it would be the same text")
            if (reading := formats.read_response(answer.item, edited.text)).status != "ok":
                return Outcome(subject, answer.item.name, reason=f"as a control it would be {reading.status}")
        meta = {"origin": str(Spec("control", settings)), "change": edited.change}
        key = key_of(answer.response)._replace(edit=edit)
        row = Response(**key._asdict(), text=edited.text, meta=meta)
        if stock.holds(row):
            return Outcome(subject, answer.item.name, stored=True)
        return Outcome(subject, answer.item.name, (row,))


def _unfit(item: Item, response: Response) -> str | None:
    """Why an answer gets no control; null if it may get one."""
    if not formats.format_of(item).open_text:
        return "its format is answered with an option"
    status = formats.read_response(item, response.parts).status
    return None if status == "ok" else f"it is {status}"
