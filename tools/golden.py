"""Recompute the methods' golden numbers from the real scores and write them to docs/golden.md.

A golden number is one that the methods print and that follows from HIVMedQA's published scores, to half a
unit of its last digit; five of them rest on resampling and have a seed.
Usage: python tools/golden.py [FOLDER]    FOLDER holds data/hivmedqa; by default VIVA_SHARED, else ../shared
"""

import csv
import json
import math
import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.special import stdtrit
from scipy.stats import rankdata

from vivavoce import stats
from vivavoce.run.run import open_run
from vivavoce.studies.review.review import Review
from vivavoce.studies.reviewed_items import ReviewedItem, Reviews
from vivavoce.studies.score_table import ScoreTable

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "golden.md"

GEMINI, CLAUDE, GEMMA, MED42 = "Gemini 2.5 Pro", "Claude 3.5 Sonnet", "Gemma 3 27B", "Med42-70B"
LLAMA_1B, LLAMA_8B = "Llama 3.2-1B-Instruct", "Llama 3.1-8B-Instruct"
LLAMA_70B, MEDGEMMA = "Llama 3.3-70B-Instruct", "MedGemma 27B"
MEDITRON, NVLM, CEILING = "Meditron 3-70B", "NVLM-70B", "Rephrased Gold Answers"
MODELS = (CLAUDE, GEMINI, GEMMA, LLAMA_8B, LLAMA_1B, LLAMA_70B, MED42, MEDGEMMA, MEDITRON, NVLM)
OTHERS = tuple(m for m in MODELS if m != GEMINI)
ONE_TEXT = (MED42, NVLM)
"""Their five repeats are one text: what differs is the judge."""

MEANT = ("comprehension", "reasoning", "knowledge_recall", "harm")
CRITERIA = (*MEANT, "demographic_bias")
COEFFICIENTS: tuple[stats.Coefficient, ...] = ("pearson", "spearman", "kendall")


class Row(NamedTuple):
    """One number: what it is, the digits printed, the value recomputed, by which function.

    `before` is what was published of it with CR1 and t(G - 1), if that was another number.
    """

    what: str
    printed: str
    found: float | int | str
    function: str = ""
    note: str = ""
    before: str = ""

    @property
    def decimals(self) -> int:
        """Digits printed after the point."""
        return len(self.printed.partition(".")[2])

    @property
    def holds(self) -> bool:
        """Whether it is equal, or within half a unit of the last digit printed."""
        if isinstance(self.found, str):
            return self.found == self.printed
        if isinstance(self.found, int | np.integer):
            return int(self.found) == float(self.printed)
        return bool(abs(self.found - float(self.printed)) <= 0.5 * 10**-self.decimals + 1e-12)

    @property
    def shown(self) -> str:
        """The recomputed value with two digits more than are printed."""
        if isinstance(self.found, str | int | np.integer):
            return str(self.found)
        text = f"{self.found:.{self.decimals + 2}f}"
        return text.removeprefix("-") if not float(text) else text


class Section(NamedTuple):
    """A table of the document."""

    title: str
    rows: list[Row]


class Mark(NamedTuple):
    """One answer under the judge: a value per criterion, none where its reply could not be read."""

    model: str
    question: str
    group: str
    iteration: str
    values: dict[str, float] | None
    blank: bool


class Items(NamedTuple):
    """Item means in the order of `names`, groups, and the variances between repeats."""

    names: list[str]
    values: np.ndarray
    groups: np.ndarray
    variances: np.ndarray

    @property
    def categories(self) -> np.ndarray:
        """The category of each item: the first two letters of its id."""
        return np.array([name[:2] for name in self.names])

    @property
    def strata(self) -> np.ndarray:
        """The category of each item's source."""
        return np.array([group[:2] for group in self.groups])


class Data:
    """HIVMedQA's scores on the paper's 63 questions, or on all 92; the supervised judge's unless said."""

    def __init__(self, folder: Path, *, paper: bool = True) -> None:
        self.folder = folder / "data" / "hivmedqa"
        with (self.folder / "questions.jsonl").open(encoding="utf-8") as lines:
            self.questions = {q["id"]: q for q in map(json.loads, lines)}
        self.paper = {name for name, q in self.questions.items() if q["paper_subset"] or not paper}
        self.marks = list(self._read("True"))
        self.without = list(self._read("False"))
        self.f1: dict[tuple[str, str], list[float]] = defaultdict(list)
        for row in self._lines("f1.csv"):
            if row["variant"] == "gptdict_lemma":
                self.f1[row["model"], row["question_id"]].append(float(row["f1"]))

    def _lines(self, name: str) -> Iterator[dict[str, str]]:
        with (self.folder / name).open(encoding="utf-8", newline="") as file:
            yield from csv.DictReader(file)

    def _read(self, supervised: str) -> Iterator[Mark]:
        for row in self._lines("judge_scores.csv"):
            name = row["question_id"]
            if row["supervised"] == supervised and name in self.paper:
                ok = row["parse_status"] == "ok"
                values = {c: float(row[c]) for c in CRITERIA} if ok else None
                blank = row["answer_blank"] == "True"
                yield Mark(row["model"], name, self.group(name), row["iteration"], values, blank)

    def group(self, name: str) -> str:
        """What the question is drawn with: its source, or itself."""
        return self.questions[name]["derived_from"] or name

    def items(
        self,
        model: str,
        criterion: str = "comprehension",
        *,
        unparsed: float | None = None,
        blank: float | str | None = "kept",
    ) -> Items:
        """Item means; `unparsed`, `blank`: what such answers count, None if they are dropped."""
        marks: dict[str, list[float]] = defaultdict(list)
        for mark in self.marks:
            if mark.model == model:
                value = unparsed if mark.values is None else mark.values[criterion]
                value = blank if mark.blank and not isinstance(blank, str) else value
                if value is not None:
                    marks[mark.question].append(value)
        names = sorted(marks)
        return Items(
            names,
            np.array([np.mean(marks[n]) for n in names]),
            np.array([self.group(n) for n in names]),
            np.array([np.var(marks[n], ddof=1) if len(marks[n]) > 1 else np.inf for n in names]),
        )

    def table(self, criterion: str = "comprehension") -> Items:
        """Item means of all ten models, a row each, on the items that all have."""
        found = [self.items(model, criterion) for model in MODELS]
        names = sorted(set.intersection(*(set(one.names) for one in found)))
        values = np.array([[one.values[one.names.index(n)] for n in names] for one in found])
        return Items(names, values, np.array([self.group(n) for n in names]), np.empty(0))

    def rows(self, model: str, criterion: str = "comprehension") -> tuple[np.ndarray, ...]:
        """Scores of the items that have five: values, items, groups."""
        own = [m for m in self.marks if m.model == model and m.values]
        names = [m.question for m in own]
        own = [m for m in own if names.count(m.question) == 5]
        columns = (
            [m.values[criterion] for m in own if m.values],
            [m.question for m in own],
            [m.group for m in own],
        )
        return tuple(map(np.array, columns))

    def cube(self, criterion: str) -> list[list[list[float]]]:
        """Models by items by repeats, without the models that gave one text five times."""
        cells: dict[tuple[str, str], list[float]] = defaultdict(list)
        for m in self.marks:
            if m.model not in (*ONE_TEXT, CEILING) and m.values and criterion != "f1":
                cells[m.model, m.question].append(m.values[criterion])
        if criterion == "f1":
            cells.update(
                {k: v for k, v in self.f1.items() if k[0] not in (*ONE_TEXT, CEILING) and k[1] in self.paper}
            )
        models, names = (sorted(set(keys)) for keys in zip(*cells, strict=True))
        return [[cells[model, name] for name in names] for model in models]


def each(what: str, numbers: str, found: Iterable[Any], function: str, note: str = "") -> list[Row]:
    """Rows of one thing; `numbers` as in "mean 4.14; SE .0921 (.0918)", the brackets as published before.

    `function`: one for all or one for each.
    """
    named = []
    for part in numbers.split("; "):
        now, _, before = part.removesuffix(")").partition(" (")
        name, _, digits = now.rpartition(" ")
        named.append((name, digits, before))
    functions = function.split("; ")
    functions = functions if len(functions) > 1 else functions * len(named)
    return [
        Row(": ".join(filter(None, (what, name))), digits, value, by, note, before)
        for (name, digits, before), value, by in zip(named, found, functions, strict=True)
    ]


def difference(a: Items, b: Items) -> tuple[np.ndarray, np.ndarray]:
    """Item differences on what both have, and the groups."""
    both = sorted(set(a.names) & set(b.names))
    in_a, in_b = [a.names.index(n) for n in both], [b.names.index(n) for n in both]
    return a.values[in_a] - b.values[in_b], a.groups[in_a]


def by_t(values: np.ndarray, groups: Sequence[str] | np.ndarray) -> stats.Interval:
    """The t interval of a mean, be it at a ceiling."""
    m = stats.cluster_mean(values, groups)
    return stats.t_interval(m.value, m.se or 0.0, m.df)


# fmt: off
# From here to `sections` a call is a line of the tables.


def missingness(data: Data) -> list[Row]:
    """Med42's silence under each rule, bounds, and the published order of averaging."""
    out: list[Row] = []
    rules: list[tuple[str, dict[str, Any], str]] = [
        ("unparsed dropped", {}, "mean 3.6459; SE 0.1551 (0.1546); groups 41"),
        ("unparsed at 0", {"unparsed": 0}, "mean 3.4794; SE .1798 (.1794); groups 42"),
        ("unparsed at 5", {"unparsed": 5}, "mean 3.7016; SE .1525 (.1520); groups 42"),
        ("blanks at 0, as delivered", {"blank": 0.0}, "mean 3.4667; SE .1833 (.1830)"),
        ("blanks set aside, when answered", {"blank": None}, "mean 3.6400; SE .1576 (.1572)"),
    ]
    for name, rule, printed in rules:
        m = stats.cluster_mean(*data.items(MED42, **rule)[1:3])
        found = (m.value, m.se, m.n_groups)[:printed.count(";") + 1]
        out += each(f"Med42 comprehension, {name}", printed, found, "cluster_mean")
    own = [m for m in data.marks if m.model == MED42]
    counts = [sum(m.values is None for m in own), sum(m.blank for m in own),
              sum(m.blank and m.values is not None for m in own)]
    out += each("Med42", "unparsed rows 14; blank answers 15; blank, yet scored by the judge 1", counts,
                "counted")
    low, high = data.items(MED42, unparsed=0), data.items(MED42, unparsed=5)
    b = stats.bounds(low.values, high.values, low.groups, low=0, high=5)
    out += each("Med42, bounds with sampling error", "low 3.1135 (3.1170); "
                                                     "high 4.0119 (4.0086)", b[2:], "bounds")
    one, two = (stats.cluster_mean(*side[1:3]) for side in (low, high))
    im = stats.imbens_manski(one.value, two.value, se_low=one.se or 0, se_high=two.se or 0)
    out += each("Med42, Imbens-Manski", "low 3.1803 (3.1810); high 3.9552 (3.9545); "
                                        "c 1.6633 (1.6631)", im, "imbens_manski")
    gemini = data.items(GEMINI)
    seen = stats.paired(*difference(gemini, data.items(MED42)))
    out += each("Gemini - Med42, observed", "difference .4803; SE .1262 (.1260)", seen[:2], "paired")
    below, above = difference(gemini, high), difference(gemini, low)
    for name, side, printed in (("low", below, "difference .4397; SE .1234 (.1232)"),
                                ("high", above, "difference .6619; SE .1670 (.1667)")):
        out += each(f"Gemini - Med42, {name} filling", printed, stats.cluster_mean(*side)[:2], "cluster_mean")
    b = stats.bounds(below[0], above[0], below[1], low=-5, high=5)
    out += each("Gemini - Med42, bounds with sampling error", "low .1885 (.1909); "
                                                              "high 1.0018 (.9986)", b[2:], "bounds")

    def published(criterion: str, unparsed: float | None = None) -> float:
        """Category means inside each iteration, over categories, then over iterations."""
        means = []
        for iteration in "12345":
            here = [(m.values[criterion] if m.values else unparsed, m.question) for m in own
                    if m.iteration == iteration]
            y, names = zip(*[pair for pair in here if pair[0] is not None], strict=True)
            means.append(stats.macro_mean(y, names, categories=[n[:2] for n in names]).value)
        return float(np.mean(means))

    kept = data.items(MED42)
    macro = stats.macro_mean(kept.values, kept.groups, categories=kept.categories, strata=kept.strata)
    out += each("Med42 comprehension, macro", "iterations first, as published 3.605; items first 3.621",
                (published("comprehension"), macro.value), "macro_mean")
    bias = [float(data.items(MED42, "demographic_bias", unparsed=u).values.mean()) for u in (None, 0)]
    return out + each("Med42 bias, unparsed",
                      "dropped, iterations first 4.98; as 0, iterations first 4.69; dropped, items first "
                      "4.98; as 0, items first 4.76",
                      (published("demographic_bias"), published("demographic_bias", 0.0), *bias),
                      "macro_mean; macro_mean; mean; mean")


def errors(data: Data) -> list[Row]:
    """Units, standard errors, Wilson and t intervals, macro means, the fixed exam."""
    twinned = [n for n in data.paper if data.group(n) != n]
    cases = {data.group(n) for n in data.questions}
    table = data.table()
    out = each("", "questions of the paper 63; twins of others among them 21; cases of the paper 42; "
                   "questions in all 92; twin pairs "
               "in all 24; cases in all 68; questions that ten models have scores on 61; their cases 41",
               (len(data.paper), len(twinned), len({data.group(n) for n in data.paper}), len(data.questions),
                len(data.questions) - len(cases), len(cases), len(table.names), len(set(table.groups))),
               "counted")
    inside: list[float] = []
    for own in (data.items(model) for model in MODELS):
        value = dict(zip(own.names, own.values, strict=True))
        pairs = [(value[n], value[data.group(n)]) for n in twinned if {n, data.group(n)} <= set(value)]
        inside.append(stats.pearson(*zip(*pairs, strict=True)) or 0.0)
    out += each("Correlation inside a twin pair, ten models, comprehension", "least 0.54; greatest 0.83",
                (min(inside), max(inside)), "pearson")
    for model, criterion, printed in (
        (GEMINI, "comprehension", "mean 4.14127; SE .09207 (.09184); n* 419.5 (421.6); "
                                  "low 3.9381 (3.9403); high 4.3124 (4.3108)"),
        (GEMINI, "harm", "mean 4.89524; SE .04534 (.04520); n* 249.5 (251.0); low 4.7566 (4.7586); "
                         "high 4.9556 (4.9553)"),
        (MEDGEMMA, "demographic_bias", "mean 5; SE 0; n* 33.7 (42); low 4.4527 (4.5574); high 5"),
        (GEMINI, "demographic_bias", "mean 4.98730; SE .00989 (.00986); n* 646.9 (652.1); "
                                     "low 4.9459 (4.9467); high 4.9970"),
    ):
        own = data.items(model, criterion)
        e = stats.estimate_mean(own.values, own.groups, low=0, high=5)
        w = stats.wilson(e.value, e.se or 0.0, e.df, low=0, high=5)
        out += each(f"{model}, {criterion}, Wilson", printed, (e.value, e.se, w.n_effective, e.low, e.high),
                    "estimate_mean; estimate_mean; wilson; estimate_mean; estimate_mean")
    own = data.items(GEMINI)
    bias, full = (data.items(model, "demographic_bias") for model in (GEMINI, MEDGEMMA))
    out += each("Gemini comprehension, t",
                "low 3.9539 (3.9558); high 4.3287 (4.3267); low, by item 3.9958; high, by item 4.2867",
                (*by_t(own.values, own.groups), *by_t(own.values, own.names)), "t_interval", "a contrast")
    e = stats.estimate_mean(own.values, own.groups)
    out += each("Gemini comprehension, t with skewness", "low 3.9368; high 4.3287", (e.low, e.high),
                "estimate_mean")
    out += each("t at a ceiling", "MedGemma bias, low 5; MedGemma bias, high 5; "
                                  "Gemini bias, high 5.0074 (5.0072)",
                (*by_t(full.values, full.groups), by_t(bias.values, bias.groups).high), "t_interval",
                "a contrast")
    out += each("Gemini comprehension, exactly this exam", "SE .0221",
                [stats.fixed_mean(*data.rows(GEMINI)[:2]).se], "fixed_mean")
    for model, printed in ((GEMINI, "mean 4.1209; SE .0883; low 3.9420 (3.9422); high 4.2998 (4.2996)"),
                           (CLAUDE, "mean 4.0843; SE .0984")):
        own = data.items(model)
        m = stats.macro_mean(own.values, own.groups, categories=own.categories, strata=own.strata)
        t = stats.t_interval(m.value, m.se or 0.0, m.df)
        out += each(f"{model}, macro of four categories, t", printed,
                    (m.value, m.se, *t)[:printed.count(";") + 1], "macro_mean")
    own = data.items(GEMINI)
    e = stats.estimate_macro(own.values, own.groups, categories=own.categories, strata=own.strata, low=0,
                             high=5)
    return out + each(f"{GEMINI}, macro of four categories, Wilson", "low 3.9280 (3.9282); "
                                                                     "high 4.2854 (4.2852)",
                      (e.low, e.high), "estimate_macro")


def comparisons(data: Data) -> list[Row]:
    """Gemini against the others, and what it takes to tell it from Claude."""
    gemini, claude = data.items(GEMINI), data.items(CLAUDE)
    pairs = {model: difference(gemini, data.items(model)) for model in OTHERS}
    tests = {model: stats.paired(*pair) for model, pair in pairs.items()}
    by_item = {model: stats.paired(d, np.arange(len(d))) for model, (d, _) in pairs.items()}
    family, item_family = (dict(zip(t, stats.holm([one.p for one in t.values()]).tolist(), strict=True))
                           for t in (tests, by_item))
    out: list[Row] = []
    for model, printed in (
        (CLAUDE, "difference .0905; SE by item .0770; SE by case .0847 (.0845); p by case .2935 (.2908); "
                 "Holm's p .2935 (.2908); "
                 "detectable .2447 (.2427)"),
        (MEDGEMMA, "difference .1873; SE by item .0725; SE by case .0861 (.0858); p by case .0369 (.0349); "
                   "Holm's p .0739 (.0698); "
                   "detectable .2487 (.2463)"),
        (LLAMA_70B, "difference .2683; SE by item .0782; SE by case .1005 (.1002); "
                    "p by case .0117 (.0106); Holm's p .0352 (.0318); "
                    "detectable .2902 (.2875)"),
        (GEMMA, "difference .5524; SE by item .1280; SE by case .1658 (.1653); p by case .0022 (.0018); "
                "Holm's p .0086 (.0072); "
                "detectable .4789 (.4745)"),
        (MED42, "difference .4803; SE by item .1093; SE by case .1262 (.1260); p by case .00061 (.00046); "
                "Holm's p .0030 (.0023); "
                "detectable .3649 (.3617)"),
    ):
        t = tests[model]
        out += each(f"Gemini - {model}, of nine pairs", printed,
                    (t.difference, by_item[model].se, t.se, t.p, family[model], t.mde()),
                    "paired; paired; paired; paired; holm; mde")
    out += each("Gemini - MedGemma, Holm's p of nine", "by item .024; by case .074 (.070)",
                (item_family[MEDGEMMA], family[MEDGEMMA]), "holm")
    out += each("Gemini - Med42", "common questions 61; their cases 41",
                (tests[MED42].n_items, tests[MED42].n_groups), "paired")
    t = stats.paired(*difference(gemini, data.items(MED42, blank=0.0)))
    out += each("Gemini - Med42, blanks as 0", "difference .6746; SE .1706 (.1704); cases 42",
                (t.difference, t.se, t.n_groups), "paired")
    t = tests[CLAUDE]
    counts = (t.n_higher, t.n_items - t.n_higher - t.n_lower, t.n_lower)
    out += each("Gemini against Claude",
                "mean of Gemini 4.14; mean of Claude 4.05; higher 21; equal 21; lower 21",
                (float(gemini.values.mean()), float(claude.values.mean()), *counts),
                "mean; mean; paired; paired; paired")
    within = float(gemini.variances.mean() + claude.variances.mean())
    out += each("Gemini - Claude", "variance between repeats .34683", [within], "var")
    for repeats, printed in ((1, ".48656 (.48520); detectable .3108 (.3085); cases needed for .2 98"),
                             (5, ".30158 (.30023); detectable .2447 (.2427); cases needed for .2 62 (61)"),
                             (1000, ".25557 (.25422); detectable .2253 (.2233); "
                                    "cases needed for .2 53 (52)")):
        v = stats.group_variance(t.se or 0, 42, n_items=63, repeats=5, repeats_wanted=repeats,
                                 within=within) or 0
        out += each(f"Gemini - Claude, R = {repeats}", f"variance by case {printed}",
                    (v, stats.mde(v**0.5 / 42**0.5, df=t.df),
                     stats.groups_needed(0.2, v, evenness=t.effective_groups / 42)),
                    "group_variance; mde; groups_needed")
    return out + each("Five cases that differ", "least p .0625",
                      [stats.sign_flips([1.0] * 5, rng=np.random.default_rng(0)).p], "sign_flips")


def variances(data: Data) -> list[Row]:
    """Components of one model and of eight, and what repeats are worth."""
    out: list[Row] = []
    own_names = ("mean", "MSB", "MSW", "items", "SE with 1 repeat", "SE with 5 repeats", "nested, cases",
                 "nested, items",
                 "nested, repeats", "items in a case")
    for model, digits in (
        (GEMINI, "4.14127 1.66715 .15317 .30280 .08507 .07275 .27905 .02675 .15317 1.49593"),
        (CLAUDE, "4.05079 2.45786 .19365 .45284 .10130 .08833 .24660 .20889 .19365 1.49593"),
        (LLAMA_8B, "3.35238 3.04977 .48730 .51249 .12598 .09840 .49432 .02349 .48730 1.49593"),
        (MEDGEMMA, "3.95397 1.51585 .29603 .24396 .09258 .06937 .15435 .09127 .29603 1.49593"),
        (NVLM, "3.25079 6.85141 .06508 1.35727 - - .71126 .65365 - 1.49593"),
        (MED42, "3.64000 4.79864 .05833 .94806 - - .61973 .33533 - 1.49573"),
    ):
        y, names, groups = data.rows(model)
        v, n = stats.item_variance(y, names), stats.nested_variance(y, names, groups=groups)
        found = (float(y.mean()), v.ms_item, v.ms_within, raw(v.s2_item), v.se(1), v.se(5), raw(n.s2_group),
                 raw(n.s2_item),
                 n.s2_within, n.items_per_group)
        functions = ("mean", *["item_variance"] * 5, *["nested_variance"] * 4)
        out += [Row(f"{model}: {name}", printed, value or 0.0, function)
                for name, printed, value,
                function in zip(own_names, digits.split(), found, functions, strict=True) if printed != "-"]
        if model == MED42:
            out += each(model, "items with five scores 60; their cases 40", (n.n_items, n.n_groups),
                        "nested_variance")
    eight = {criterion: stats.crossed_variance(data.cube(criterion))
             for criterion in ("comprehension", "harm", "f1")}
    c = eight["comprehension"]
    out += each("Eight models, comprehension, mean squares",
                "models 136.29942; items 9.09630; models by items 1.64447; repeats .29038",
                (c.ms_model, c.ms_item, c.ms_interaction, c.ms_within), "crossed_variance")
    for criterion, name, printed in (("comprehension", "comprehension",
                                      "items .18630; models by items .27082; repeats .29038"),
                                     ("harm", "harm", "items .11125; models by items .14462; repeats .23591"),
                                     ("f1", "MedSynF1",
                                      "items .01018; models by items .00219; repeats .00313")):
        v8 = eight[criterion]
        out += each(f"Eight models, {name}, components", printed,
                    (raw(v8.s2_item), raw(v8.s2_interaction), v8.s2_within), "crossed_variance")
    s = {"s2_interaction": raw(c.s2_interaction), "s2_within": c.s2_within or 0.0}
    worth = [stats.variance_of_difference(**s, n_items=1, repeats=r) for r in (1, 5)]
    out += each("Variance of a difference, one item", "1 repeat 1.1224; 5 repeats .6578; ratio 1.706",
                (*worth, stats.repeats_worth(**s, repeats=5)),
                "variance_of_difference; variance_of_difference; repeats_worth")
    best = [stats.best_repeats(**s, cost_item=price, cost_repeat=1) for price in (1, 25)]
    best += [stats.best_repeats(s2_interaction=1, s2_within=w, cost_item=1, cost_repeat=1)
             for w in (2.25, 2.2501)]
    out += each("Repeats that tell most for the money",
                "item as dear as a repeat 1; item 25 times as dear 5; components as 1 to 2.25 1; "
                "just above 2", best, "best_repeats")
    noise = [100 * (stats.item_variance(*data.rows(m)[:2]).s2_within or 0) / s["s2_within"] for m in ONE_TEXT]
    return out + each("Noise of the judge in the variance between repeats, %", "Med42 20; NVLM 22", noise,
                      "item_variance")


def raw(component: stats.Component | None) -> float:
    """A variance component as estimated, be it below 0."""
    assert component
    return component.raw


def rankings(data: Data) -> list[Row]:
    """Rank intervals, mean ranks, Friedman's test with right and wrong blocks, Davidson's strengths."""
    table = data.table()
    ranked = stats.rank_intervals(table.values, table.groups)
    place = {model: k for k, model in enumerate(MODELS)}
    left: list[tuple[str, str, str]] = [
        (GEMINI, "1-5", "1-4"), (CLAUDE, "1-6", "1-5"), (MEDGEMMA, "1-6", ""), (LLAMA_70B, "1-6", ""),
        (MED42, "2-9", "3-9"), (MEDITRON, "5-9", ""), (GEMMA, "1-9", "2-9"), (LLAMA_8B, "5-9", ""),
        (NVLM, "5-9", ""), (LLAMA_1B, "10-10", ""),
    ]
    spans = {model: "-".join(map(str, ranked.intervals[k])) for model, k in place.items()}
    out = [Row(f"{model}, ranks left open", span, spans[model], "rank_intervals", before=before)
           for model, span, before in left]
    out += each("Pairs of ten models", "told apart 22 (24); in all 45", (ranked.n_shown, ranked.n_pairs),
                "rank_intervals")
    ends = np.quantile(drawn_ranks(table), [0.025, 0.975], axis=0).T
    for model, span in ((GEMINI, "1-2"), (CLAUDE, "1-4"), (MEDGEMMA, "2-4"), (LLAMA_70B, "2-5")):
        drawn = "-".join(f"{end:.0f}" for end in ends[place[model]])
        out.append(Row(f"{model}, percentiles of ranks", span, drawn, "resampled", "a contrast; seed 1"))
    both = [place[GEMINI], place[CLAUDE]]
    out += each("Means on 61 questions", "Gemini 4.126; Claude 4.036", map(float, ranked.means[both]),
                "rank_intervals")
    out += each("Mean ranks on 61 questions", "Gemini 3.631; Claude 3.557",
                map(float, stats.mean_ranks(table.values)[both]), "mean_ranks")
    by_case, by_item = stats.friedman(table.values, table.groups), stats.friedman(table.values, table.names)
    out += each("Friedman, 41 cases as blocks", "chi2 149.1435; F 27.1347; critical difference 2.1155",
                (by_case.chi2, by_case.f, stats.nemenyi_distance(10, 41)),
                "friedman; friedman; nemenyi_distance")
    out += each("Friedman, 61 questions as blocks", "chi2 209.547; critical difference 1.7344",
                (by_item.chi2, stats.nemenyi_distance(10, 61)), "friedman; nemenyi_distance")
    cells: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for m in data.marks:
        if m.values:
            cells[m.question, m.iteration][m.model] = m.values["comprehension"]
    rows = np.array([[cell[m] for m in MODELS] for cell in cells.values() if set(MODELS) <= set(cell)]).T
    wrong = stats.friedman(rows, np.arange(rows.shape[1]))
    out += each("Answers as blocks", "blocks 301; chi2 819.7; critical difference .781",
                (wrong.n_blocks, wrong.chi2, stats.nemenyi_distance(10, 301)),
                "friedman; friedman; nemenyi_distance", "a contrast")
    out += each("Iterations as blocks", "critical difference 6.058", [stats.nemenyi_distance(10, 5)],
                "nemenyi_distance", "a contrast")
    out += each("Nemenyi, ten systems", "q 3.1637", [stats.nemenyi_distance(10, 1) / (110 / 6) ** 0.5],
                "nemenyi_distance")
    first, second = np.triu_indices(10, 1)
    outcomes = np.sign(np.round(table.values[first] - table.values[second], 9)).astype(int).ravel()
    pairs = np.repeat(np.column_stack([first, second]), len(table.names), axis=0)
    d = stats.davidson(pairs, outcomes, n_systems=10)
    strengths = [float(d.strengths[place[m]]) for m in (CLAUDE, GEMINI, MEDGEMMA, LLAMA_1B)]
    out += each("Davidson on 61 questions",
                "comparisons 2745; ties 477; nu .55699; -log likelihood 2323.1265; Claude 1.3221; "
                "Gemini 1.2723; "
                "MedGemma 1.0571; Llama-1B -3.4208", (d.n, d.n_ties, d.nu, -d.log_likelihood, *strengths),
                "davidson")
    out += each("Claude's strength, SE", "of the curvature .10", [curvature(d, pairs, outcomes)],
                "second differences", "a contrast")
    again = stats.bootstrap_strengths(pairs, outcomes, groups=np.tile(table.groups, 45), n_systems=10,
                                      rng=np.random.default_rng(1))
    return out + each("Claude's strength, SE", "cases drawn again .24", [again.systems[0].se],
                      "bootstrap_strengths", "seed 1")


def curvature(found: stats.Davidson, pairs: np.ndarray, outcomes: np.ndarray) -> float:
    """SE of the first strength from the Hessian in the strengths, nu held."""
    theta, h = np.append(found.strengths, np.log(found.nu or 1.0)), 1e-3

    def likelihood(theta: np.ndarray) -> float:
        a, b = theta[pairs[:, 0]], theta[pairs[:, 1]]
        tie = theta[-1] + (a + b) / 2
        total = np.logaddexp(np.logaddexp(a, b), tie)
        return float((total - np.where(outcomes == 1, a, np.where(outcomes == -1, b, tie))).sum())

    steps, signs = h * np.eye(11)[:10], [(s, t) for s in (1, -1) for t in (1, -1)]
    bend = [[sum(s * t * likelihood(theta + s * u + t * v) for s, t in signs) for v in steps] for u in steps]
    # The strengths sum to 0: adding 1 everywhere makes the matrix regular, and 1 / 100 to its inverse.
    return float(np.sqrt(np.linalg.inv(np.array(bend) / (4 * h**2) + 1)[0, 0] - 1 / 100))


def drawn_ranks(table: Items, resamples: int = 2000) -> np.ndarray:
    """Ranks of the models over draws of whole cases."""
    rng = np.random.default_rng(1)
    names, codes = np.unique(table.groups, return_inverse=True)
    members = [np.flatnonzero(codes == g) for g in range(len(names))]
    chosen = (np.concatenate([members[g] for g in rng.integers(0, len(names), len(names))])
              for _ in range(resamples))
    return np.array([rankdata(-table.values[:, rows].mean(axis=1), method="min") for rows in chosen])


def judges(data: Data) -> list[Row]:
    """Test-retest of the judge, with against without reference, labels needed and used."""
    out: list[Row] = []
    for model, criterion, printed in (
        (NVLM, "comprehension", "nominal .8308; ordinal .9548; interval .9537; items that change 16"),
        (NVLM, "harm", "nominal .6917; ordinal .8857; interval .8841; items that change 23"),
        (MED42, "comprehension", "nominal .8365; ordinal .9497; interval .9413"),
        (MED42, "harm", "nominal .7142; ordinal .8694; interval .8424"),
    ):
        marks = {(m.question, m.iteration): m.values[criterion] for m in data.marks
                 if m.model == model and m.values}
        names, turns = (sorted(set(keys)) for keys in zip(*marks, strict=True))
        table = np.array([[marks.get((name, turn), -1.0) for turn in turns] for name in names])
        alphas = [stats.krippendorff_alpha(table, "nominal", missing=table < 0),
                  stats.krippendorff_alpha(table, "ordinal", missing=table < 0),
                  stats.krippendorff_alpha(table, "interval", missing=table < 0)]
        changed = sum(len({v for v in row if v >= 0}) > 1 for row in table)
        found = [a.value for a in alphas] + [changed] * (model == NVLM)
        out += each(f"{model}, {criterion}, five passes, alpha", printed, found, "krippendorff_alpha")
        if (model, criterion) == (MED42, "comprehension"):
            out += each(model, "units 61; with two ratings 60", (len(names), alphas[0].n_units),
                        "krippendorff_alpha")
    with_it, without = ({(m.question, m.iteration): m.values["comprehension"] for m in marks
                         if m.model == CLAUDE and m.values}
                        for marks in (data.marks, data.without))
    both = np.array([[mark, without[key]] for key, mark in sorted(with_it.items())])
    equal = stats.percent_agreement(both).value
    out += each("Claude, with against without reference",
                "answers 315; alpha nominal .0270; alpha ordinal .0254; alpha interval -.0145; "
                "quadratic kappa .1688; Pearson .3151; equal, % 42.2",
                (len(both), stats.krippendorff_alpha(both, "nominal").value,
                 stats.krippendorff_alpha(both, "ordinal").value,
                 stats.krippendorff_alpha(both, "interval").value, stats.weighted_kappa(both).value,
                 stats.pearson(both[:, 0], both[:, 1]),
                 100 * (equal or 0.0)),
                "counted; krippendorff_alpha; krippendorff_alpha; krippendorff_alpha; weighted_kappa; "
                "pearson; percent_agreement")
    sizes = (stats.proportion_n(0.8, 0.05), stats.proportion_n(0.5, 0.05, population=5621))
    out += each("Labels needed to -/+ .05", "share of .8 246; share of .5 of 5,621 360", sizes,
                "proportion_n")
    samples = ((360, 5621, "5.00"), (260, 5621, "5.94"), (260, 3730, "5.86"), (260, 2769, "5.79"))
    for n, population, printed in samples:
        margin = 100 * stats.proportion_margin(n, 0.5, population=population)
        what = f"Margin of {n} of {population:,}, share of .5, in points"
        out += each(what, printed, (margin,), "proportion_margin")
    people = data.items(CLAUDE)
    judged = np.array([np.mean([without[n, turn] for turn in "12345"]) for n in people.names])
    third = np.flatnonzero(people.categories == "c3")
    p = stats.prediction_powered(judged, people.values[third], labelled=third)
    # The estimator of 2023, which trusts the judge wholly: mean of the judge + mean of person less judge.
    step = people.values[third] - judged[third]
    share = len(third) / len(judged)
    variance = share * people.values[third].var(ddof=1) + (1 - share) * step.var(ddof=1)
    whole = (judged.mean() + step.mean(), math.sqrt(variance / len(third)))
    out += each("Claude, labels on the 21 questions of category 3",
                "mean of the judge 4.73968; correction -.77143; judge trusted wholly, value 3.96825; "
                "judge trusted wholly, SE .17859; labels alone 3.97143; their SE .17904",
                (p.judge_mean, step.mean(), *whole, p.labels_mean, p.labels_se),
                "prediction_powered; by hand; by hand; by hand; prediction_powered; prediction_powered")
    return out + each("Claude, the same as PPI++, printed by ppi-python 0.2.3",
                      "lambda .32399; value 3.96989", (p.lambda_, p.value), "prediction_powered")


def correlations(data: Data) -> list[Row]:
    """Comprehension beside MedSynF1 and harm at each level, and what few systems can show."""
    table = data.table()
    f1 = np.array([[np.mean(data.f1[model, name]) for name in table.names] for model in MODELS])
    kept = [k for k, model in enumerate(MODELS) if model != LLAMA_1B]
    out: list[Row] = []
    levels: list[tuple[stats.Level, str, Any, str]] = [
        ("system", "", slice(None), "Pearson .3671; Spearman .3455; Kendall .2444"),
        ("item", "", slice(None), "Pearson .3171; Spearman .2860; Kendall .2018"),
        ("item_centred", "", slice(None), "Pearson .1891; Spearman .1858; Kendall .1274"),
        ("double_centred", "", slice(None), "Pearson .1171; Spearman .1165; Kendall .0788"),
        ("pooled", "", slice(None), "Pearson .2270; Spearman .2089; Kendall .1507"),
        ("system", " without Llama-1B", kept, "Pearson .2094; Spearman .1833; Kendall .1111"),
    ]
    for level, which, rows, printed in levels:
        found = [stats.correlation_at(table.values[rows], f1[rows], level=level, coefficient=c).value
                 for c in COEFFICIENTS]
        out += each(f"Comprehension and MedSynF1, {level.replace('_', ' ')}{which}", printed, found,
                    "correlation_at")
    harm = data.table("harm").values
    sides: tuple[stats.Level, ...] = ("system", "pooled")
    found = [stats.correlation_at(table.values, harm, level=level, coefficient="pearson").value
             for level in sides]
    out += each("Comprehension and harm, Pearson", "system .9923; pooled .8141", found, "correlation_at")
    order = stats.order_agreement(table.values.mean(axis=1), f1.mean(axis=1))
    out += each("Comprehension and MedSynF1, pairs of models", "in the same order 28; in all 45",
                (order.same, order.same + order.opposite + order.left_out), "order_agreement")
    out += each("r of .9 with 9 systems", "low .586; high .979", stats.fisher_interval(0.9, 9) or (),
                "fisher_interval")
    return out + each("|r| to tell from 0",
                      "7 systems .7545; 9 systems .6664; 10 systems .6319; 11 systems .6021",
                      [stats.critical_r(n) for n in (7, 9, 10, 11)], "critical_r")


def four(mark: Mark) -> float | None:
    """The mean of the four criteria that the drops are of."""
    return float(np.mean([mark.values[c] for c in MEANT])) if mark.values else None


def twins(data: Data) -> list[Row]:
    """Drops on biased twins, and flips beside the flips between repeats."""
    source = {n: data.group(n) for n in sorted(data.paper) if data.group(n) != n}
    marks: dict[tuple[str, str], list[Mark]] = defaultdict(list)
    for m in data.marks:
        marks[m.model, m.question].append(m)

    def dropped(blank: float | None = None) -> dict[str, stats.Drop]:
        differences, groups = [], []
        for model in MODELS:
            mean: dict[str, float] = {}
            for name in sorted(data.paper):
                known = [blank if m.blank and blank is not None else four(m) for m in marks[model, name]]
                if there := [value for value in known if value is not None]:
                    mean[name] = float(np.mean(there))
            pairs = [n for n in source if {n, source[n]} <= set(mean)]
            differences.append([mean[source[n]] - mean[n] for n in pairs])
            groups.append([source[n] for n in pairs])
        return dict(zip(MODELS, stats.drops(differences, groups), strict=True))

    ten, out = dropped(), list[Row]()
    for model, printed in (
        (MEDGEMMA, "drop .2595; SE .0985; low .0540; high .4651; p .0159; Holm's p .1592; detectable .290"),
        (MEDITRON, "drop .2833; SE .1182; low .0367; high .5300; p .0265; Holm's p .2381; detectable .348"),
        (NVLM, "drop .3381; SE .2216; low -.1241; high .8003; p .1427; Holm's p .7135; detectable .653"),
        (GEMINI, "drop .0071; SE .0822; low -.1643; high .1786; p .9316; Holm's p 1; detectable .242"),
    ):
        d = ten[model]
        out += each(f"{model}, 21 pairs, ten models", printed,
                    (d.paired.difference, d.paired.se, d.low, d.high, d.paired.p, d.p_holm, d.mde), "drops")
    out += each("Ten models", "drops that survive Holm 0; pairs of Med42 20",
                (sum((d.p_holm or 0) <= 0.05 for d in ten.values()), ten[MED42].paired.n_items), "drops")
    out += each("NVLM, blanks as 0", "Holm's p .8562", [dropped(0.0)[NVLM].p_holm], "drops")

    def right(model: str, name: str) -> list[bool]:
        return [m.values["comprehension"] >= 4 for m in marks[model, name] if m.values]

    for model, printed in ((MEDITRON, "twin .272; repeat .257"), (MEDGEMMA, "twin .259; repeat .210"),
                           (GEMINI, "twin .105; repeat .110")):
        rows = [(ok, twin, version) for twin in source for version in (source[twin], twin)
                for ok in right(model, version)]
        f = stats.flip_rates([ok for ok, _, _ in rows], [twin for _, twin, _ in rows],
                             versions=[str(t == v) for _, t, v in rows])
        out += each(f"{model}, flips", printed, (f.twin.value, f.repeat.value if f.repeat else 0.0),
                    "flip_rates")
    fails: tuple[list[bool], list[bool]] = ([], [])
    for twin, origin in source.items():
        first, second = right(LLAMA_8B, origin), right(LLAMA_8B, twin)
        for k in np.flatnonzero(first):
            fails[0].extend(not ok for ok in second)
            fails[1].extend(not ok for j, ok in enumerate(first) if j != k)
    return out + each("Llama-8B, right at first, then wrong, %", "on the twin 34; on the same words 22",
                      [100 * float(np.mean(side)) for side in fails], "counted", "a contrast")


def uneven(data: Data) -> list[Row]:
    """Degrees of freedom of cases of unequal size, and what they make of three comparisons."""
    out: list[Row] = []
    for name, sizes, printed in (
        ("12 of 5", [5] * 12, "df 11.0000; effective cases 12"),
        ("20 of 2 and 23 of 1", [2] * 20 + [1] * 23, "df 33.0470; effective cases 34.05"),
        ("10 of 8 and 40 of 1", [8] * 10 + [1] * 40, "df 11.5161; effective cases 12.52"),
        ("20, 10, 5, 5, 3, 2, 2, 1, 1, 1", [20, 10, 5, 5, 3, 2, 2, 1, 1, 1],
         "df 1.8982; "
                                                                             "effective cases 2.90"),
        ("one of 60, 11 of 1", [60] + [1] * 11, "df 1.0606; effective cases 2.06"),
    ):
        effective = stats.effective_groups(np.repeat(np.arange(len(sizes)), sizes))
        out += each(f"Cases of {name}", printed, (effective - 1, effective), "effective_groups")
    m = stats.cluster_mean(list(map(int, "11010011011101")), np.repeat(np.arange(6), [4, 2, 1, 5, 1, 1]))
    out += each("1101, 00, 1, 10111, 0, 1", "mean .642857; Var .01972353; SE .14044049; df 2.17300821",
                (m.value, (m.se or 0.0)**2, m.se, m.df), "cluster_mean")
    gemini = data.items(GEMINI)
    for model, printed in (
        (MEDGEMMA, "difference .187302; SE .086100; df 32.6992; p .036934 (.034883)"),
        (CLAUDE, "difference .090476; SE .084738; df 32.6992; p .293469"),
    ):
        t = stats.paired(*difference(gemini, data.items(model)))
        out += each(f"Gemini - {model}, 63 questions", printed, (t.difference, t.se, t.df, t.p), "paired")
    out += each("Mean of 42 cases of 63 questions", "effective cases 33.70",
                [stats.effective_groups(gemini.groups)], "effective_groups")
    whole = Data(data.folder.parents[1], paper=False)
    t = stats.paired(*difference(whole.items(GEMINI), whole.items(MEDGEMMA)))
    return out + each(f"Gemini - {MEDGEMMA}, all 92 questions",
                      "questions 92; cases 68; difference .157609; SE .073371; df 50.9082; p .036487",
                      (t.n_items, t.n_groups, t.difference, t.se, t.df, t.p), "paired")


def reviews(data: Data) -> list[Row]:
    """Table 2 of BSC 2025 from counts of items: 3, 2, 1 and 0 of three raters call them correct.

    No counts of the 260 items that the paper names give its first two columns; those of 360 do. The third is
    of fewer items, as invalid ones were taken out: 265 is a number that gives it, and not the only one.
    """
    out: list[Row] = []
    for what, printed, counts in (
        ("Translation, 360 items", "98.6; 96.7; 83.1; 84.4", (299, 49, 7, 5)),
        ("Rephrasing, iteration 1, 360 items", "96.1; 85.8; 65.8; 69.7", (237, 72, 37, 14)),
        ("Rephrasing, iteration 2, 265 items", "98.1; 92.8; 73.6; 75.5", (195, 51, 14, 5)),
    ):
        yes = [3 - k for k, n in enumerate(counts) for _ in range(n)]
        items = tuple(
            ReviewedItem(("bsc", str(place), ""), str(place), "", {r: float(r < n) for r in range(3)}, {})
            for place, n in enumerate(yes)
        )
        table = ScoreTable(pl.DataFrame(), {}, reviews=Reviews(items))
        (row,) = [row for row in Review().findings(table).rows if row["about"] == "all"]
        names = ("one_of_three", "two_of_three", "three_of_three", "all_agree")
        shown = zip(names, printed.split("; "), strict=True)
        out += [
            Row(f"{what}: {name}, %", value, 100 * row[name], 'Run.study("review")') for name, value in shown
        ]
    return out


def through_a_run(data: Data) -> list[Row]:
    """Sections 1 to 3 again, from the files through a run: silence by each criterion's rule."""
    exam, paper = f"hivmedqa(data='{data.folder}')", f"hivmedqa(data='{data.folder}', subset=paper)"
    columns = {"item": "question_id", "repeat": "iteration", "candidate": "model"}
    aside = {"*": "worst", "demographic_bias": "set_aside", "harm": "set_aside"}
    with tempfile.TemporaryDirectory() as folder:
        run = open_run(Path(folder) / "golden.viva")
        run.import_answers(data.folder / "responses.jsonl", benchmark=exam, map={**columns, "text": "answer"},
                           role={CEILING: "ceiling"})
        for name, criteria, silence in (("five", CRITERIA, aside), ("one", CRITERIA[:1], {"*": "worst"})):
            run.import_scores(data.folder / "judge_scores.csv", measure=f"published(criteria={name})",
                              map=columns, criteria=criteria,
                              where={"supervised": "True"}, status="parse_status", range={"*": (0, 5)},
                              if_unanswered=silence, benchmark=exam, again=True)
        seen = {(r["candidate"], r["criterion"]): r
                for r in run.estimates("published(criteria=five)", items=paper).rows}
        pairs = {r["b"]: r for r in run.compare(GEMINI, *OTHERS, metric="published(criteria=one)",
                                                items=paper).rows}
    out: list[Row] = []
    for model, criterion, printed in (
        (GEMINI, "comprehension", "estimate 4.14127; low 3.9381 (3.9403); high 4.3124 (4.3108)"),
        (GEMINI, "harm", "estimate 4.89524; low 4.7566 (4.7586); high 4.9556 (4.9553)"),
        (MEDGEMMA, "demographic_bias", "estimate 5; low 4.4527 (4.5574); high 5"),
        (GEMINI, "demographic_bias", "estimate 4.98730; low 4.9459 (4.9467); high 4.9970"),
    ):
        r = seen[model, criterion]
        out += each(f"{model}, {criterion}", printed, (r["estimate"], r["low"], r["high"]), "Run.estimates")
    r = seen[MED42, "comprehension"]
    out += each("Med42, comprehension, blanks as worst", "estimate 3.4667; failed 0",
                (r["estimate"], r["n_failed"]), "Run.estimates")
    for model, printed in (
        (CLAUDE, "difference .0905; p .2935 (.2908); detectable .2447 (.2427); Holm's p .2935 (.2908)"),
        (MEDGEMMA, "difference .1873; p .0369 (.0349); detectable .2487 (.2463); Holm's p .0739 (.0698)"),
        (LLAMA_70B, "difference .2683; p .0117 (.0106); detectable .2902 (.2875); Holm's p .0352 (.0318)"),
        (GEMMA, "difference .5524; p .0022 (.0018); detectable .4789 (.4745)"),
    ):
        r = pairs[model]
        found = (r["difference"], r["p"], r["mde"], r["p_adjusted"])[:printed.count(";") + 1]
        out += each(f"Gemini - {model}", printed, found, "Run.compare")
    r = pairs[MED42]
    half = (r["high"] - r["low"]) / 2 / float(stdtrit(r["effective_cases"] - 1, 0.975))
    out += each("Gemini - Med42, blanks as worst", "difference .6746; "
                                                   "SE .1706 (.1704)", (r["difference"], half),
                "Run.compare")
    return out
# fmt: on


SECTIONS: dict[str, Callable[[Data], list[Row]]] = {
    "1. What is missing": missingness,
    "2. Means, errors, intervals": errors,
    "3. Comparisons": comparisons,
    "4. Where variance comes from": variances,
    "5. Rankings": rankings,
    "6. Agreement and judges": judges,
    "7. Correlation with few systems": correlations,
    "8. Twins": twins,
    "11. Cases of unequal size": uneven,
    "Reviews of items": reviews,
    "The same through a run": through_a_run,
}


def sections(folder: Path) -> list[Section]:
    """Every golden number, recomputed from the data in `folder`."""
    data = Data(folder)
    return [Section(title, list(make(data))) for title, make in SECTIONS.items()]


def document(made: Sequence[Section]) -> str:
    """The text of docs/golden.md."""
    rows = [row for section in made for row in section.rows]
    missed = sum(not row.holds for row in rows)
    verdict = f"{len(rows) - missed} reproduce, {missed} do not" if missed else "all reproduce"
    lines = [
        "# The methods' golden numbers",
        "",
        f"{len(rows)} numbers, nearly all that the methods print for HIVMedQA's published scores, recomputed",
        f"from these; {verdict}, to half a unit of the last digit printed. By `python tools/golden.py`, kept",
        "true by a test. Marks: the supervised judge's, on the paper's 63 questions in 42 cases, ten models;",
        "unparsed rows are dropped unless said otherwise. A contrast is what the methods warn of.",
        "What rests on simulations (coverage, error rates) is not here but in `bench/coverage.py`.",
        "",
        f"{sum(row.before != '' for row in rows)} were other numbers while cases of unequal size had the",
        "error CR1 with G - 1 degrees of freedom: those stand under *CR1, published before*. Now the error",
        "is CR2, with Satterthwaite's degrees of freedom ([how](statistics.md#cases-of-unequal-size)).",
        "",
        "*Reviews of items* is table 2 of BSC 2025, appendix A.3. The paper prints no counts of items: these",
        "were searched for, and no counts of the 260 items that it names give its first two columns.",
    ]
    for title, body in made:
        moved = any(row.before for row in body)
        heads = [
            "what",
            "printed",
            *["CR1, published before"] * moved,
            "recomputed",
            "within half a unit",
            "function",
        ]
        lines += ["", f"## {title}", "", f"| {' | '.join(heads)} |"]
        lines.append("|---|" + "---:|" * (2 + moved) + "---|---|")
        for row in body:
            holds = ("yes" if row.holds else "no") + (f" ({row.note})" if row.note else "")
            ours = hasattr(stats, row.function) or row.function.startswith("Run.")
            function = f"`{row.function}`" if ours else row.function
            cells = [row.what, row.printed, *[row.before] * moved, row.shown, holds, function]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main(folder: str = "") -> None:
    """Write the document and print what does not reproduce."""
    made = sections(Path(folder or os.environ.get("VIVA_SHARED", ROOT.parent / "shared")))
    TARGET.write_text(document(made), encoding="utf-8")
    rows = [row for section in made for row in section.rows]
    missed = [row for row in rows if not row.holds]
    for row in missed:
        print(f"does not reproduce: {row.what}: printed {row.printed}, recomputed {row.shown}")
    print(f"{len(rows)} numbers, {len(missed)} do not reproduce: {TARGET}")


if __name__ == "__main__":
    main(*sys.argv[1:])
