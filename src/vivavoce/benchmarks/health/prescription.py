"""Prescriptions: which of four lines of medicine belongs to a diagnosis that was read off a scanned form.

The released task (lm-evaluation-harness, med_prescriptions) draws its wrong options anew each time they are
needed, so that those in the prompt and those that are scored differ. Here they are drawn once, by the item's
id. The rules that dig diagnosis and medicines out of the forms are ours, after the released ones.
"""

import ast
import hashlib
import re
import warnings
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple

from vivavoce.benchmarks.health.source_files import (
    DECODING,
    SourceFolder,
    SourceLine,
    content_id,
    find_file,
    items_of,
    read_source,
)
from vivavoce.core.errors import RowError
from vivavoce.core.records import Card, Download, Exclusion, Item
from vivavoce.core.registry import benchmark
from vivavoce.core.text import is_blank

_LONGEST, _DEEPEST = 100_000, 50
"""Characters of a literal that is parsed, and its levels of brackets."""
_FREQUENCIES = ("before breakfast", "before breakfast and dinner", "after food", "before food")
_DURATIONS = (
    *("once", "3 days", "5 days", "10 days", "1 week", "2 weeks", "3 weeks", "1 month", "2 months"),
)
"""What the released hard options are written with."""
_NOTHING = frozenset(("", "na", "n/a", "none", "nil", "not specified", "not provided"))
_INDIAN_SCRIPTS = re.compile("[\u0900-\u0d7f]")
_NAMES = ("medicine_name", "Name")
_DETAILS = (("medicine_frequency", "course_duration"), ("medicine_dosage",), ("Duration",), ("Dosage",))
"""What follows a medicine's name: the first of these that says something."""


@benchmark("prescription")
class Prescription(SourceFolder):
    """Prescriptions from `data`, a folder with the hub's train file.

    `level=easy`: the wrong options are lines of other prescriptions; `hard`: medicines of the same one with
    another frequency and duration.
    """

    level: Literal["easy", "hard"] = "easy"

    @property
    def card(self) -> Card:
        """The card of the level; both levels share their groups."""
        return Card(
            name=self._name,
            description="Diagnoses or complaints from scanned prescriptions, each with four lines of "
            "medicine, one of which was prescribed.",
            source="huggingface.co/datasets/devlocalhost/prescription-full, the training split",
            revision_note="the hub's revision is not known here; the hash of the file stands in the "
            "signature",
            licence="not stated",
            access="open",
            citation="Arias-Duart et al., Automatic evaluation of healthcare LLMs beyond question-answering, "
            "2025; data: devlocalhost/prescription-full",
            faults=(
                "The released task draws its wrong options anew for the prompt and for the scoring, so they "
                "differ. Here they are drawn once, by the item's id: figures of the released task cannot be "
                "compared.",
                "The released easy options come from a list in its code; here they are lines of other "
                "prescriptions in the file, of medicines that this prescription does not name.",
                "Under hard, another frequency or duration need not be wrong, and the words of the drawn "
                "ones give the key away: it alone is written as in the form.",
                "Nobody checked that the prescribed line is right, or the others wrong. Not a measure of "
                "safety.",
                "Forms were read by a machine: names of medicines are misspelt.",
                "The prompt says the published instruction in our words.",
            ),
            published={**DECODING, "prompt": "suite_prescription"},
            primary="accuracy",
            groups_of="prescription" if self.level == "hard" else None,
        )

    download = Download(hub="devlocalhost/prescription-full", files=("data/train-*.parquet",))

    @property
    def files(self) -> tuple[Path, ...]:
        """The training split."""
        names = ("data/train-*.parquet", "train-*.parquet", "train.parquet", "train.jsonl", "train.csv")
        return (find_file("prescription", self.data, *names),)

    def items(self) -> Iterator[Item | Exclusion]:
        """The prescriptions in the order of the file."""
        lines = list(read_source(self.files[0], "results"))
        forms = {line.number: _form_or_error(line) for line in lines}
        ring = _Ring({text for form in forms.values() if isinstance(form, _Form) for text in form.medicines})
        return items_of(lines, lambda line: self._item(line, forms[line.number], ring))

    @property
    def _name(self) -> str:
        """What its items are a benchmark of: both levels can stand in one run."""
        return "prescription" if self.level == "easy" else "prescription_hard"

    def _item(self, line: SourceLine, form: "_Form | RowError", ring: "_Ring") -> Item:
        if isinstance(form, RowError):
            raise form
        name = content_id(form.diagnosis, *form.medicines)
        key = _ordered(f"{name}|key", form.medicines)[0]
        wrong = (
            ring.draw(name, form.medicines) if self.level == "easy" else _altered(name, key, form.medicines)
        )
        if len(wrong) < 3:
            raise line.fault("there are too few other medicines")
        return Item(
            benchmark=self._name,
            item=name,
            format="mcq",
            question=f"A patient presents with: {form.diagnosis}. What would you prescribe?",
            options=line.options(_ordered(f"{name}|order", (key, *wrong))),
            answer=(key,),
            meta={"row": line.number},
        )


class _Form(NamedTuple):
    """What is used of a prescription: the diagnosis or complaints, and a line for each medicine."""

    diagnosis: str
    medicines: tuple[str, ...]


def _form_or_error(line: SourceLine) -> _Form | RowError:
    try:
        return _form(line)
    except RowError as error:
        return error


def _form(line: SourceLine) -> _Form:
    fields = _literal(line)
    diagnosis = _diagnosis(fields)
    if not diagnosis or is_blank(diagnosis):
        raise line.fault("it states no diagnosis")
    medicines = _medicines(fields)
    if not medicines:
        raise line.fault("it states no medicine with its use")
    if any(map(_INDIAN_SCRIPTS.search, (diagnosis, *medicines))):
        raise line.fault("it is partly in an Indian script")
    return _Form(diagnosis, medicines)


def _literal(line: SourceLine) -> Mapping[str, Any]:
    """The dict that the column `results` writes in Python. It is parsed, never run."""
    text = line.text("results")
    if len(text) > _LONGEST or _depth(text) > _DEEPEST:
        raise line.fault("results is too long or too deep")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "\d" in a text of others is no business of the user's
            value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise line.fault("results is no Python literal") from None
    if not isinstance(value, dict):
        raise line.fault("results is no dict")
    return value


def _depth(text: str) -> int:
    depth = deepest = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        deepest = max(deepest, depth)
    return deepest


def _diagnosis(fields: Mapping[str, Any]) -> str:
    """The diagnosis or the complaints, as the kinds of forms name them; '' where there is none."""
    procedure = _dict(fields.get("procedure"))
    if both := _plain_text(procedure.get("chief_complaints_diagnosis")):
        return both
    complaints, diagnosis = (
        _plain_text(procedure.get("chief_complaints")),
        _plain_text(procedure.get("diagnosis")),
    )
    if diagnosis:
        return f"{complaints}. Diagnosis: {diagnosis}" if complaints else diagnosis
    if disease := _plain_text(_dict(fields.get("prescription_details")).get("disease_diagnosis")):
        return disease
    symptoms = fields.get("Symptoms/Complaints")
    texts = map(_plain_text, symptoms if isinstance(symptoms, list) else [symptoms])
    return ", ".join(text for text in texts if text) or complaints


def _medicines(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """A line for each medicine that has a name and a use, such as 'PAN 40, after food, 5 days'."""
    entries = fields.get("medicine_details") or fields.get("Medicines Prescribed")
    lines = map(_medicine, entries if isinstance(entries, list) else [])
    return tuple(dict.fromkeys(text for text in lines if text))


def _medicine(entry: Any) -> str:
    fields = _dict(entry)
    name = next((text for key in _NAMES if (text := _plain_text(fields.get(key)))), "")
    for keys in _DETAILS:
        uses = [text.lower() for key in keys if (text := _plain_text(fields.get(key)))]
        if uses:
            return ", ".join((name, *uses)) if name and not name.startswith("[") else ""
    return ""


def _dict(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _plain_text(value: Any) -> str:
    """The text, trimmed, its white space as single blanks; '' for what says that nothing is stated."""
    text = " ".join(str(value).split()) if isinstance(value, str | int | float) else ""
    return "" if text.casefold() in _NOTHING else text


def _drug(line: str) -> str:
    """The name in a line of medicine, for comparing."""
    return line.partition(",")[0].casefold()


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _ordered(purpose: str, texts: Sequence[str]) -> list[str]:
    """The texts in an order that only the purpose decides."""
    return sorted(texts, key=lambda text: _digest(f"{purpose}|{text}"))


class _Ring:
    """Lines of medicine on a ring of hashes: a line more or less in the file changes few draws."""

    def __init__(self, lines: set[str]) -> None:
        self._places = sorted((_digest(line), line) for line in lines)

    def draw(self, name: str, medicines: Sequence[str]) -> list[str]:
        """Three lines of medicines that are not among these; fewer where a hundred tries give no more."""
        drugs, lines = set(map(_drug, medicines)), []
        for k in range(100):
            _, line = self._places[bisect(self._places, (_digest(f"{name}|{k}"), "")) % len(self._places)]
            if _drug(line) not in drugs:
                drugs.add(_drug(line))
                lines.append(line)
            if len(lines) == 3:
                break
        return lines


def _altered(name: str, key: str, medicines: Sequence[str]) -> list[str]:
    """Three lines with names of this prescription and another frequency and duration.

    As released, every second time one of them has the key's own name; too few others repeat the first.
    """
    others = [_name(line) for line in _ordered(f"{name}|others", medicines) if line != key]
    with_own = not others or _digest(f"{name}|own")[0] % 2 == 0
    names = ([_name(key)] if with_own else []) + others[:3]
    names = (names + [names[-1]] * 3)[:3]
    uses = _ordered(f"{name}|uses", [", ".join(pair) for pair in product(_FREQUENCIES, _DURATIONS)])
    lines = [f"{drug}, {use}" for drug, use in zip(names, uses, strict=False)]
    if key in lines:  # by chance the use of the form itself
        lines[lines.index(key)] = f"{names[lines.index(key)]}, {uses[3]}"
    return lines


def _name(line: str) -> str:
    return line.partition(",")[0]
