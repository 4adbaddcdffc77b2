"""HIVMedQA's recorded scores in runs that several modules read, and scores of hand-made panels."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.finished_runs import finished_run
from tests.studies import naming
from tests.studies.making import Answers, made, write_lines

from vivavoce.run.run import Run, open_run
from vivavoce.studies.study import Study

JUDGE = "judge(rubric=medgpt, model=gpt-4o-2024-08-06)"
COLUMNS = {"item": "question_id", "repeat": "iteration", "candidate": "model"}
FIVE = ("comprehension", "reasoning", "knowledge_recall", "demographic_bias", "harm")


@pytest.fixture(scope="module", autouse=True)
def declared_sentences() -> Iterator[None]:
    """Every finding that a test here makes is refused if it names something in an undeclared sentence."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Study, "finding", naming.check(Study.finding))
        yield


@pytest.fixture(scope="session")
def paper(hivmedqa: Path) -> str:
    """The spec of the paper's 63 questions."""
    return f"hivmedqa(data='{hivmedqa}', subset=paper)"


@pytest.fixture(scope="session")
def published(hivmedqa: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Run]:
    """`published(*criteria, blank=…)`: all recorded answers, with the supervised judge's recorded scores.

    Every call is given a run of its own, a copy of the one that was imported first.
    """

    def copied(*criteria: str, blank: str = "recorded") -> Run:
        folder = tmp_path_factory.mktemp("published")
        finished_run(folder, _publish, hivmedqa, criteria, blank)
        return open_run(folder / "hiv.viva")

    return copied


def _answer(folder: Path, hivmedqa: Path) -> None:
    open_run(folder / "hiv.viva").import_answers(
        hivmedqa / "responses.jsonl",
        benchmark=f"hivmedqa(data='{hivmedqa}')",
        map={**COLUMNS, "text": "answer"},
        role={"Rephrased Gold Answers": "ceiling"},
    )


def _publish(folder: Path, hivmedqa: Path, criteria: Sequence[str], blank: str) -> None:
    finished_run(folder, _answer, hivmedqa)
    open_run(folder / "hiv.viva").import_scores(
        hivmedqa / "judge_scores.csv",
        measure=JUDGE,
        map=COLUMNS,
        criteria=criteria,
        where={"supervised": "True"},
        status="parse_status",
        blank=blank,
    )


@pytest.fixture(scope="session")
def recorded(hivmedqa: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Scores as the judge gave them, blank answers too; and MedSynF1. For studies, which change no score."""
    folder = tmp_path_factory.mktemp("recorded")
    finished_run(folder, _record, hivmedqa)
    return open_run(folder / "hiv.viva")


def _record(folder: Path, hivmedqa: Path) -> None:
    finished_run(folder, _publish, hivmedqa, FIVE, "recorded")
    open_run(folder / "hiv.viva").import_scores(
        hivmedqa / "f1.csv",
        measure="medsynf1(variant=gptdict_lemma)",
        map=COLUMNS,
        criteria=["f1"],
        where={"variant": "gptdict_lemma"},
        blank="recorded",
    )


@pytest.fixture
def panel(tmp_path: Path) -> Callable[..., Run]:
    """`panel(scores, …)`: a run whose answers were scored elsewhere, one score for each row.

    Rows are (candidate, item, rater, pass, value, and possibly criterion); answers are one word each unless
    `texts` gives the repeats of a candidate's item, and a row's item then names the repeat as 'q1#2'.
    """

    def marked(
        marks: Sequence[Sequence[Any]],
        *,
        texts: Mapping[str, Sequence[str]] | None = None,
        items: Sequence[Any] = (),
        measure: str = "panel(rubric=r)",
        **settings: Any,
    ) -> Run:
        rows = []
        for candidate, name, rater, pass_no, value, *criterion in marks:
            item, _, repeat = str(name).partition("#")
            place = {"candidate": candidate, "item": item, "repeat": int(repeat or 1)}
            given = {"rater": rater, "pass_no": pass_no, "value": value}
            rows.append(place | given | {"criterion": criterion[0] if criterion else "worth"})
        answers: Answers = {
            name: {
                item: (texts or {}).get(name, ["x"])
                for item in dict.fromkeys(r["item"] for r in rows if r["candidate"] == name)
            }
            for name in dict.fromkeys(r["candidate"] for r in rows)
        }
        run = made(tmp_path, answers, items=items)
        file = write_lines(tmp_path / "marks.jsonl", rows)
        run.import_scores(file, measure=measure, again=True, **{"range": {"*": (0, 5)}} | settings)
        return run

    return marked
