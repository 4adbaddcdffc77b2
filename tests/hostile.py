"""Texts that try to be more than text, and a run that has one in every field that a stranger can fill.

A text that succeeds sets `window.pwned`, or asks `hostile.invalid` for something.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from tests.finished_runs import finished_run
from tests.judging.fake_judge import FakeJudge, serve
from tests.studies.making import borrowed, write_lines

from vivavoce.benchmarks import Benchmark
from vivavoce.core.records import Card, Criterion, Item, Unit, Value
from vivavoce.core.registry import benchmark, metric
from vivavoce.metrics import Metric
from vivavoce.run.run import Run, open_run

HOST = "http://hostile.invalid"
SHORT = (
    "<script>pwned=1</script>",
    "</script><script>pwned=2</script>",
    "<img src=x onerror=pwned=3>",
    "<svg onload=pwned=4>",
    '" onmouseover="pwned=5" x="',
    "' autofocus onfocus='pwned=6' x='",
    "javascript:pwned=7",
    "<a href=javascript:pwned=8>x</a>",
    "<!--<script>",
    "--> ]]> <![CDATA[",
    "\u2028pwned=9;//\u2029",
    "\u202ereversed\u202c \u2066aside\u2069",
    "{{ 7*7 }}{% raw %}{# no #}${pwned=10}",
    f"![x]({HOST}/a.png) [y](javascript:pwned=11) <{HOST}/b>",
    "data:text/html,<script>pwned=12</script>",
    f"<iframe src={HOST}/c></iframe>",
    "&lt;script&gt;pwned=13&lt;/script&gt;",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b2J",
    "[red]markup[/red] [/] [/nothing]",
    f'=HYPERLINK("{HOST}/d")',
    "datum.x; warn('x')",
    "</title></style></textarea></template></svg>",
    f"url({HOST}/e)",
    "__proto__",
    "-rf",
    "../../../../tmp/x",
)
"""Short enough for a name."""
LONG = (
    *SHORT,
    f"<style>@import '{HOST}/f';*{{background:url({HOST}/g)}}</style>",
    f"<meta http-equiv=refresh content='0;url={HOST}/h'>",
    f"<link rel=stylesheet href={HOST}/i><base href={HOST}/>",
    f"<form action={HOST}/j><input autofocus onfocus=pwned=14></form>",
    f"<object data={HOST}/k></object><embed src={HOST}/l><video src={HOST}/m onerror=pwned=15>",
    "<details open ontoggle=pwned=16>x</details><math><mtext><script>pwned=17</script></mtext></math>",
)
ALL = "\n".join(LONG)


def names() -> Iterator[str]:
    """Hostile names, each once: the short texts, numbered."""
    return (f"{SHORT[n % len(SHORT)]} {n}" for n in count())


RUN_FILE = "=cmd {{ 7*7 }} <svg onload=pwned=21>.viva"


@contextmanager
def hostile_run(folder: Path) -> Iterator[Run]:
    """A run whose questions, answers, names, notes and cards are hostile, scored, compared and studied.

    Meanwhile its exam and its metric are registered.
    """
    folder.mkdir(parents=True, exist_ok=True)
    finished_run(folder, _build)
    with borrowed():
        _register()
        yield open_run(folder / RUN_FILE)


def _build(folder: Path) -> None:
    judge = FakeJudge()
    end = serve(judge)
    providers = folder / "providers.yaml"
    providers.write_text(json.dumps({"fake": {"base_url": judge.base_url, "attempts": 1}}))
    try:
        with borrowed():
            _register()
            _score(folder, providers)
    finally:
        end()


def items() -> list[Item]:
    """A question of every format, with every field filled."""
    next_name = names().__next__
    shared: dict[str, Any] = {"benchmark": "hostile", "context": ALL, "source": ALL}
    by_format: list[dict[str, Any]] = [
        *({"format": "short", "references": (ALL,)} for _ in range(8)),
        *({"format": "mcq", "options": (ALL, "b", SHORT[0]), "answer": ("b",)} for _ in range(2)),
        *({"format": "longform", "references": (ALL,),
           "rubric": tuple(Unit(unit=next_name(), text=text, weight=2.0) for text in (ALL, "p1"))}
          for _ in range(2)),
    ]  # fmt: skip
    return [
        Item(item=next_name(), question=f"{k} {ALL}", category=SHORT[k % 7], group=next_name(),
             **({"alias": next_name()} if k % 2 else {}), meta={SHORT[k % 9]: ALL}, **shared, **fields)
        for k, fields in enumerate(by_format)
    ]  # fmt: skip


CANDIDATES = (SHORT[1] + SHORT[17], SHORT[2] + SHORT[18] + SHORT[12], SHORT[4] + SHORT[11] + SHORT[19])


def _register() -> None:
    questions = items()

    @benchmark("hostile")
    class Hostile(Benchmark):
        """An exam whose card is hostile too."""

        @property
        def card(self) -> Card:
            return Card(name="hostile", description=ALL, source=ALL, revision=ALL, licence=ALL, citation=ALL,
                        faults=LONG)  # fmt: skip

        def items(self) -> Iterator[Item]:
            yield from questions

    @metric("noted")
    class Noted(Metric):
        """A score, a failure or silence, each with a hostile note."""

        criteria = (Criterion(criterion="worth"),)
        formats = ("short", "longform", "mcq")
        needs = ()

        def values(self, rows: Any, context: Any) -> list[dict[str, Value]]:
            return [{"worth": Value(None, note=ALL, status="failed") if len(row.reading.parsed) % 5 == 0
                     else Value(len(row.reading.parsed) % 7 / 7, note=SHORT[k % len(SHORT)])}
                    for k, row in enumerate(rows)]  # fmt: skip


def _score(folder: Path, providers: Path) -> None:
    questions = items()
    answers = [
        {
            "item": q.item,
            "candidate": who,
            "repeat": repeat,
            "text": f"{ALL if k < 3 else LONG[k + n]}{'x' * (k * n + repeat)}",
        }
        for k, q in enumerate(questions)
        for n, who in enumerate(CANDIDATES)
        for repeat in (1, 2)
    ]
    file = write_lines(folder / "<img src=x onerror=pwned=20>[red].jsonl", answers)
    run = open_run(folder / RUN_FILE)
    run.import_answers(file, benchmark="hostile")
    run.score("noted")
    run.score("judge(rubric=healthbench, model=fake/j1)", providers=providers)
    marks = [
        {"item": q.item, "candidate": who, "repeat": 1, "criterion": SHORT[6], "value": (k + n) % 3 / 2,
         "rater": SHORT[n + r], "note": ALL}
        for k, q in enumerate(questions) for n, who in enumerate(CANDIDATES) for r in (0, 2)
    ]  # fmt: skip
    scores = write_lines(folder / "'; onload=pwned=22 x='.jsonl", marks)
    run.import_scores(scores, measure="people")
    others = write_lines(folder / "others.jsonl", [row | {"value": 1 - row["value"]} for row in marks])
    run.import_scores(others, measure="others")
    for other in CANDIDATES[1:]:
        run.compare(CANDIDATES[0], other, metric="noted")
        run.compare(CANDIDATES[0], other, metric="people")
    run.study()
