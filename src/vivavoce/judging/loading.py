"""From a file to a rubric, with every fault of the file named by its line."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from vivavoce.core.errors import InputError, suggest
from vivavoce.core.numbers import finite
from vivavoce.core.prompts import Prompt
from vivavoce.core.records import Criterion, Direction, IfUnanswered
from vivavoce.core.yaml_files import MOST_BYTES, read_document
from vivavoce.judging.criterion import (
    Call,
    Clip,
    Delimiters,
    Kind,
    LengthAdjustment,
    Reasoning,
    Result,
    RubricCriterion,
)
from vivavoce.judging.replies import plain
from vivavoce.judging.rubric import Rubric


class Sheet(NamedTuple):
    """A file's settings and body; `lines` has each setting's line under its path, as `('criteria', 0)`."""

    file: Path
    settings: Mapping[str, Any]
    body: str
    lines: Mapping[tuple[str | int, ...], int]

    def fault(self, what: str, *path: str | int) -> InputError:
        """The error about the setting at a path, with the line of it or of what it would stand in."""
        for end in range(len(path), -1, -1):
            if line := self.lines.get(path[:end]):
                return InputError(f"{self.file}, line {line}: {what}.")
        return InputError(f"{self.file}: {what}.")


def read_sheet(file: Path) -> Sheet:
    """The file's settings and body. Raises `InputError` with file and line for any other file."""
    try:
        with file.open("rb") as stream:
            raw = stream.read(MOST_BYTES + 1)  # of a device there is no end
        text = raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except (OSError, ValueError) as error:  # ValueError: no UTF-8, or no possible path
        raise InputError(f"the rubric {file} cannot be read: {error}.") from error
    if len(raw) > MOST_BYTES:
        raise InputError(f"{file} has more than {MOST_BYTES:,} bytes: no rubric is so long.")
    first, _, remainder = text.partition("\n")
    settings, mark, body = f"\n{remainder}".partition("\n---\n")
    if first.rstrip() != "---" or not mark:
        raise InputError(f"{file}: a rubric begins with its settings between two lines of ---.")
    # The line feed before the settings stands for the first line: lines are then those of the file.
    document = read_document(settings, file, InputError)
    if not isinstance(document.value, dict):
        raise InputError(f"{file}, line 2: the settings are a mapping of names to values.")
    return Sheet(file, document.value, body.strip(), document.lines)


_SETTINGS = (
    "name", "version", "source", "note", "kind", "reference", "call", "reasoning", "result", "criteria",
    "clip", "length", "delimiters",
)  # fmt: skip
_CRITERION = (
    "name", "key", "ask", "scale", "step", "direction", "if_unanswered", "levels", "smallest_difference",
    "also",
)  # fmt: skip
_DERIVED = ("name", "scale", "smallest_difference")
_NAME = re.compile(r"[a-z][a-z_]*")
_MARKS: dict[str, str] = {"mark": "answer", "points": "answer", "pairwise": "answers", "listwise": "answers"}
_KIND_VARIABLES = {"points": "point", "mark": "criteria"}
_SECTION = re.compile(r"^## (system|user)[ \t]*$", re.MULTILINE)
_LINE_END, _BLANK_LINES = re.compile(r"[ \t]+$", re.MULTILINE), re.compile(r"\n{3,}")
_MOST_STEPS = 1_000


def shipped() -> tuple[str, ...]:
    """The names of the rubrics that come with vivavoce."""
    return tuple(sorted(file.stem for file in (Path(__file__).parent / "rubrics").glob("*.md")))


def load(name_or_path: str) -> Rubric:
    """The shipped rubric of a name, or the file at a path that ends in `.md`.

    Raises `InputError` for an unknown name, with the nearest ones, and for a file that is not a rubric, with
    the line that is wrong.
    """
    if name_or_path.endswith(".md"):
        return _checked(read_sheet(Path(name_or_path)))
    return _shipped(name_or_path)


@cache
def _shipped(name: str) -> Rubric:
    if name not in shipped():
        raise InputError(
            f"no rubric {name!r}: give the path of a .md file or a shipped name.{suggest(name, shipped())}"
        )
    return _checked(read_sheet(Path(__file__).parent / "rubrics" / f"{name}.md"))


_UNDIVIDED = "No tags and no notice part the answer from the prompt, so an answer may speak to the judge."


def _checked(sheet: Sheet) -> Rubric:
    _check_settings(sheet, sheet.settings, _SETTINGS)
    kind: Kind = _one_of(sheet, "kind", get_args(Kind), "mark")
    criteria = _criteria(sheet, kind)
    system, user = _sections(sheet)
    delimiters: Delimiters = _one_of(sheet, "delimiters", get_args(Delimiters), "tags")
    notes = [_text(sheet, "note", ""), _UNDIVIDED if delimiters == "none" else ""]
    rubric = Rubric(
        name=_text(sheet, "name"),
        version=_version(sheet),
        source=_text(sheet, "source"),
        note=" ".join(filter(None, notes)),
        kind=kind,
        reference=_yes_or_no(sheet, "reference"),
        call=_one_of(sheet, "call", get_args(Call), "each" if kind == "points" else "joint"),
        reasoning=_one_of(sheet, "reasoning", get_args(Reasoning), "strip"),
        result=_one_of(sheet, "result", get_args(Result), "json"),
        criteria=criteria,
        system=system,
        user=user,
        path=sheet.file,
        clip=_one_of(sheet, "clip", get_args(Clip), "each"),
        length=_length(sheet),
        delimiters=delimiters,
    )
    _check_kind(sheet, rubric)
    _check_variables(sheet, rubric)
    return rubric


def _check_kind(sheet: Sheet, rubric: Rubric) -> None:
    """The kind of a rubric goes with its number of criteria, its calls and its form of reply."""
    kind, primary = rubric.kind, [c for c in rubric.criteria if c.of is None]
    if kind != "mark" and len(primary) > 1:
        raise sheet.fault(f"a rubric of kind {kind} has one criterion", "criteria", 1)
    if kind == "points" and rubric.call != "each":
        raise sheet.fault("points are scored one by one: write call: each", "call")
    if kind != "points" and (rubric.clip != "each" or rubric.length):
        name = "length" if rubric.clip == "each" else "clip"
        raise sheet.fault(f"{name}: goes with kind: points", name)
    if rubric.length and rubric.clip != "mean":
        raise sheet.fault("a score is adjusted for length before it is clipped: write clip: mean", "length")
    if rubric.result == "tag" and (kind != "mark" or (len(primary) > 1 and rubric.call == "joint")):
        raise sheet.fault("a tag holds one score: write call: each, or result: json", "result")
    if rubric.delimiters == "none" and rubric.result != "tag":
        raise sheet.fault(
            "delimiters: none goes with result: tag, whose form the prompt itself states", "delimiters"
        )
    if rubric.delimiters == "none" and (len(primary) > 1 or set(primary[0].levels) != set(primary[0].steps)):
        raise sheet.fault(
            "delimiters: none needs one criterion with a step and a level for each score", "criteria", 0
        )


def _check_variables(sheet: Sheet, rubric: Rubric) -> None:
    needed = {_MARKS[rubric.kind], "form"} - ({"form"} if rubric.delimiters == "none" else set())
    if rubric.reference:
        needed.add("reference")
    if rubric.kind in _KIND_VARIABLES:
        needed.add(_KIND_VARIABLES[rubric.kind])
    if missing := sorted(needed - set(rubric.variables)):
        raise sheet.fault(f"the prompt lacks {', '.join(f'{{{{ {name} }}}}' for name in missing)}")
    allowed = tuple(sorted(needed | {"question", "criteria", "form"}))
    for name in rubric.variables:
        if name == "reference" and not rubric.reference:
            raise sheet.fault(
                "the prompt shows {{ reference }}, but the settings say reference: false", "reference"
            )
        if name not in allowed:
            raise sheet.fault(
                f"the prompt has an unknown variable {{{{ {name} }}}}.{suggest(name, allowed)}".rstrip(".")
            )
    unfilled = Prompt("", f"{rubric.system}\n{rubric.user}").fill(**dict.fromkeys(rubric.variables, ""))
    if "{{" in unfilled or "}}" in unfilled:
        raise sheet.fault("a variable of the prompt is not written as {{ name }}")


def _sections(sheet: Sheet) -> tuple[str, str]:
    """The body's system and user message; without a heading all of it is the user's."""
    first, *remainder = _SECTION.split(sheet.body)
    if not remainder:
        return "", _filled(sheet, first)
    if first.strip():
        raise sheet.fault("text stands before the first of the sections ## system and ## user")
    names, texts = remainder[::2], [_tidy(text) for text in remainder[1::2]]
    if len(set(names)) < len(names) or "user" not in names:
        raise sheet.fault("the prompt has one section ## user and at most one ## system")
    parts = dict(zip(names, texts, strict=True))
    return parts.get("system", ""), _filled(sheet, parts["user"])


def _filled(sheet: Sheet, text: str) -> str:
    if not (text := _tidy(text)):
        raise sheet.fault("there is no prompt below the settings")
    return text


def _tidy(text: str) -> str:
    """A prompt without white space that no reader sees: at the ends of lines, and lines of nothing else."""
    return _BLANK_LINES.sub("\n\n", _LINE_END.sub("", text)).strip()


_POOLS = {"listwise": "rank", "points": "unit"}
"""Ranks have no mean, and points of several weights none either."""


def _criteria(sheet: Sheet, kind: Kind) -> tuple[RubricCriterion, ...]:
    entries = sheet.settings.get("criteria")
    if not isinstance(entries, list) or not entries:
        raise sheet.fault("criteria: is a list of one criterion or more", "criteria")
    criteria: list[RubricCriterion] = []
    names: set[str] = set()
    for k, entry in enumerate(entries):
        for criterion in _criterion(sheet, kind, entry, k):
            new_names = {criterion.name, plain(criterion.key)} - {""}
            if taken := new_names & (names | {"reason"}):
                raise sheet.fault(f"the name {min(taken)!r} is taken", "criteria", k)
            names |= new_names
            criteria.append(criterion)
    return tuple(criteria)


def _criterion(sheet: Sheet, kind: Kind, entry: Any, k: int) -> list[RubricCriterion]:
    position = ("criteria", k)
    _check_settings(sheet, entry, _CRITERION, *position)
    name = _name(sheet, entry, *position)
    low, high = _scale(sheet, entry, *position, open_end=kind == "listwise")
    direction: Direction = _one_of(sheet, "direction", get_args(Direction), "higher", *position)
    if_unanswered: IfUnanswered = _one_of(sheet, "if_unanswered", get_args(IfUnanswered), "worst", *position)
    _fixed(sheet, kind, low, high, direction, position)
    criterion = RubricCriterion(
        criterion=Criterion(
            criterion=name,
            low=low,
            high=high,
            direction=direction,
            if_unanswered=if_unanswered,
            pool=_POOLS.get(kind, "mean"),
            smallest_difference=_positive(sheet, entry, "smallest_difference", *position),
        ),
        ask=_text(sheet, "ask", None, *position),
        key=_text(sheet, "key", name, *position),
        step=_positive(sheet, entry, "step", *position),
        levels=_levels(sheet, entry, low, high, *position),
    )
    _check_criterion(sheet, criterion, position)
    return [criterion, *_derived(sheet, entry, criterion, kind, *position)]


def _check_criterion(sheet: Sheet, criterion: RubricCriterion, position: tuple[str | int, ...]) -> None:
    """Its key has letters or digits, its steps lead from end to end, and its levels are steps."""
    low, high = criterion.criterion.low or 0.0, criterion.criterion.high
    if not plain(criterion.key) or len(criterion.key) > 80:
        raise sheet.fault("a key has letters or digits, and at most 80 characters", *position, "key")
    if criterion.step and high is not None:
        number = (high - low) / criterion.step
        if number > _MOST_STEPS or abs(number - round(number)) > 1e-9:
            raise sheet.fault(
                f"steps of {criterion.step:g} do not lead from {low:g} to {high:g}", *position, "step"
            )
    for value in criterion.levels if criterion.steps else ():
        if min(abs(value - step) for step in criterion.steps) > 1e-9:
            raise sheet.fault(
                f"the level {value:g} is no step of the scale", *position, "levels", f"{value:g}"
            )


def _derived(
    sheet: Sheet, entry: Any, of: RubricCriterion, kind: Kind, *position: str | int
) -> list[RubricCriterion]:
    """What is made of a criterion's values, which shares its silence.

    A score on another scale, with the direction and to scale the least difference; of a rank the share of the
    other answers that stand behind.
    """
    derived = entry.get("also")
    if derived is None:
        return []
    position = (*position, "also")
    _check_settings(sheet, derived, _DERIVED, *position)
    if kind not in ("mark", "listwise"):
        raise sheet.fault("only scores and ranks are rescaled", *position)
    name = _name(sheet, derived, *position)
    low, high = _scale(sheet, derived, *position)
    if kind == "listwise" and (low, high) != (0, 1):
        raise sheet.fault("the share of the others that stand behind has scale: [0, 1]", *position)
    least = _positive(sheet, derived, "smallest_difference", *position)
    parent = of.criterion
    if least is None:
        least = _rescaled_difference(parent, low, high)
    criterion = Criterion(
        criterion=name,
        low=low,
        high=high,
        direction="higher" if kind == "listwise" else parent.direction,
        if_unanswered=parent.if_unanswered,
        smallest_difference=least,
    )
    return [RubricCriterion(criterion=criterion, of=of.name)]


def _rescaled_difference(parent: Criterion, low: float, high: float | None) -> float | None:
    """The least difference of a criterion, on another scale; null where either has no length."""
    if not parent.smallest_difference or high is None or parent.high is None:
        return None
    return parent.smallest_difference * (high - low) / (parent.high - (parent.low or 0))


def _fixed(
    sheet: Sheet,
    kind: Kind,
    low: float,
    high: float | None,
    direction: Direction,
    position: tuple[str | int, ...],
) -> None:
    """Points and contests have the scale that their values have."""
    if kind in ("points", "pairwise") and ((low, high) != (0, 1) or direction != "higher"):
        raise sheet.fault(f"a rubric of kind {kind} has scale: [0, 1], higher is better", *position)
    if kind == "listwise" and (low != 1 or high is not None or direction != "lower"):
        raise sheet.fault("ranks have scale: [1, null] and direction: lower", *position)


def _check_settings(sheet: Sheet, entry: Any, allowed: Sequence[str], *position: str | int) -> None:
    if not isinstance(entry, dict):
        raise sheet.fault("here stands a mapping of names to values", *position)
    for key in entry:
        if key not in allowed:
            hint = suggest(str(key), tuple(allowed)).rstrip(".")
            raise sheet.fault(f"{key} is no setting here.{hint}", *position, str(key))


def _setting(sheet: Sheet, name: str, *position: str | int) -> Any:
    value: Any = sheet.settings
    for step in position:
        value = value[step]
    return value.get(name)


def _text(sheet: Sheet, name: str, default: str | None = None, *position: str | int) -> str:
    value = _setting(sheet, name, *position)
    if value is None and default is not None:
        return default
    if not isinstance(value, str) or not value.strip():
        raise sheet.fault(f"{name}: needs a text", *position, name)
    return " ".join(value.split())


def _version(sheet: Sheet) -> int:
    value = sheet.settings.get("version")
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise sheet.fault("version: is a whole number from 1", "version")
    return value


def _yes_or_no(sheet: Sheet, name: str) -> bool:
    value = sheet.settings.get(name)
    if not isinstance(value, bool):
        raise sheet.fault(f"{name}: is true or false", name)
    return value


def _one_of(sheet: Sheet, name: str, allowed: tuple[Any, ...], default: str, *position: str | int) -> Any:
    value = _setting(sheet, name, *position)
    if value is None:
        return default
    if value not in allowed:
        raise sheet.fault(f"{name}: is {value!r}, not one of {', '.join(allowed)}", *position, name)
    return value


def _length(sheet: Sheet) -> LengthAdjustment | None:
    value = sheet.settings.get("length")
    if value is None:
        return None
    _check_settings(sheet, value, LengthAdjustment._fields, "length")
    numbers = {name: finite(value.get(name)) for name in LengthAdjustment._fields}
    for name, number in numbers.items():
        if number is None or number <= 0:
            raise sheet.fault(f"{name}: is a number above 0", "length", name)
    return LengthAdjustment(**{name: number for name, number in numbers.items() if number is not None})


def _name(sheet: Sheet, entry: Any, *position: str | int) -> str:
    name = entry.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise sheet.fault(
            f"a criterion's name is of the letters a to z and _, not {name!r}", *position, "name"
        )
    return name


def _scale(
    sheet: Sheet, entry: Any, *position: str | int, open_end: bool = False
) -> tuple[float, float | None]:
    scale = entry.get("scale")
    if isinstance(scale, list) and len(scale) == 2 and (low := finite(scale[0])) is not None:
        high = finite(scale[1])
        if (high is not None and low < high) or (open_end and scale[1] is None):
            return low, high
    raise sheet.fault("scale: is [low, high] with low below high", *position, "scale")


def _positive(
    sheet: Sheet, entry: Any, name: Literal["step", "smallest_difference"], *position: str | int
) -> float | None:
    value = entry.get(name)
    if value is None:
        return None
    number = finite(value)
    if number is None or number <= 0:
        raise sheet.fault(f"{name}: is a number above 0", *position, name)
    return number


def _levels(
    sheet: Sheet, entry: Any, low: float, high: float | None, *position: str | int
) -> dict[float, str]:
    levels = entry.get("levels")
    if levels is None:
        return {}
    if not isinstance(levels, dict):
        raise sheet.fault("levels: is a mapping of values to what they mean", *position, "levels")
    texts: dict[float, str] = {}
    for value, text in levels.items():
        number = finite(value)
        place = (*position, "levels", str(value) if number is None else f"{number:g}")
        if number is None or number < low or (high is not None and number > high):
            raise sheet.fault(f"the level {value!r} is outside the scale", *place)
        if not isinstance(text, str) or not text.strip():
            raise sheet.fault(f"the level {value!r} needs a text", *place)
        texts[number] = " ".join(text.split())
    return texts
