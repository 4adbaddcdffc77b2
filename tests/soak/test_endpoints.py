"""Bad endpoints: no wrong score, no blank answer for what never came, no key kept; an end, and its cause."""

import json
import sys
from pathlib import Path

import pytest
from tests.lengths import LONG
from tests.soak.bad_endpoint import KEY, MODES, PATIENCE_S, VERDICT, BadEndpoint, Mode
from tests.soak.inputs import lines
from tests.soak.patience import Hung, patience
from tests.soak.tally import Tally

from vivavoce import cli
from vivavoce.models.engine import scheduler
from vivavoce.run.run import Run, open_run

RIGHT = "A bad endpoint gives no wrong answer and no wrong score"
BLANK = "What never came is failed, never unanswered"
SECRET = "A key that an endpoint sends back is neither stored nor printed"
ENDS = "A command ends by itself, with an exit code and no fault of ours"
CAUSE = "The cause of what failed is shown"

ITEMS = [{"id": f"q{k}", "question": f"Question {k}?", "format": "short", "answer": "x"} for k in range(2)]
PARTS = 8
"""Groups of modes, so that several processes share them."""


def chosen() -> list[str]:
    """All modes in the long form; some of each kind in the gate."""
    return [name for number, name in enumerate(MODES) if LONG or number % 9 == 4]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """The command line as a user meets it; its exit code, null if it hangs, and all that it printed."""

    def call(*words: object) -> tuple[int | None, str]:
        monkeypatch.setattr(sys, "argv", ["viva", *map(str, words)])
        capsys.readouterr()
        code: int | None
        try:
            with patience(120):
                cli.main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        except Hung:
            code = None
        return code, "".join(capsys.readouterr())

    return call


def good_answer(k: int) -> str:
    return f"answer to Question {k}?\n\nAnswer in a phrase or at most two sentences."


def of_collect(run: Run, mode: Mode) -> tuple[str | None, str | None]:
    """What broke the first promise, and the second; null for what held."""
    texts = {row["item"]: row["text"] for row in run.responses.to_dicts()} if run.file.exists else {}
    wanted = {
        f"q{k}": mode.text(good_answer(k)) if mode.fate == "answered" else None for k in range(len(ITEMS))
    }
    wrong = {item: text for item, text in texts.items() if text != wanted[item]}
    lost = [item for item, text in wanted.items() if text is not None and item not in texts]
    blank = [item for item, text in texts.items() if text == "" != wanted[item]]
    return (f"stored {wrong}, lost {lost}" if wrong or lost else None), (f"{blank}" if blank else None)


def of_judge(run: Run, mode: Mode) -> tuple[str | None, str | None]:
    """The same of a judge's scores of answers that were there before."""
    rows = run.scores.filter(candidate="Able").to_dicts()
    fate = mode.judge or mode.fate
    values = [row["value"] for row in rows]
    wanted = [VERDICT] * len(ITEMS) if fate == "answered" else [None] * len(rows)
    blank = [row["item"] for row in rows if row["status"] == "unanswered"]
    return (f"scores {values}" if values != wanted else None), (f"{blank}" if blank else None)


@pytest.mark.parametrize("part", range(PARTS))
def test_a_bad_endpoint_is_survived(
    part: int, call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tally: Tally
) -> None:
    monkeypatch.setenv("SOAK_KEY", KEY)
    monkeypatch.setattr(scheduler, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(scheduler, "LONGEST_AFTER", 0.02)
    with BadEndpoint() as endpoint:
        for number, name in enumerate(chosen()):
            if number % PARTS == part:
                endpoint.mode = MODES[name]
                meet(name, MODES[name], endpoint, tmp_path / str(number), call, tally)
    tally.check()


def meet(name: str, mode: Mode, endpoint: BadEndpoint, folder: Path, call, tally: Tally) -> None:
    """Collect from the endpoint, then have it judge; count what holds of both."""
    folder.mkdir()
    exam, run = folder / "exam.jsonl", open_run(folder / "run.viva")
    exam.write_bytes(lines(ITEMS))
    settings = {"base_url": endpoint.base_url, "key": "SOAK_KEY", "attempts": 2,
                "timeout": PATIENCE_S if mode.stalls else 60.0}  # fmt: skip
    (folder / "providers.yaml").write_text(json.dumps({"bad": settings}))
    more = ("--providers", folder / "providers.yaml")
    spec = f"jsonl(path='{exam}')"
    first = call("collect", run.file.path, spec, "--model", "bad/m", *more)
    collected = of_collect(run, mode)
    told = folder / "answers.jsonl"
    told.write_bytes(lines([{"item": row["id"], "candidate": "Able", "text": "So."} for row in ITEMS]))
    run.import_answers(told, benchmark=spec)
    second = call("score", run.file.path, "judge(rubric=correctness, model=bad/m)", *more)
    judged = of_judge(run, mode)
    third = call("status", run.file.path)
    printed = "\n".join(output for _, output in (first, second, third))
    for (wrong, blank), what in ((collected, "collect"), (judged, "judge")):
        tally.count(RIGHT, wrong and f"{name}, {what}: {wrong}")
        tally.count(BLANK, blank and f"{name}, {what}: {blank}")
    stored = b"".join(path.read_bytes() for path in folder.iterdir())
    tally.count(SECRET, f"{name}: the key" if KEY.encode() in stored or KEY in printed else None)
    for code, output in (first, second, third):
        fault = code not in (0, 1, 2) or "fault of vivavoce" in output
        tally.count(ENDS, f"{name}: {code}, {output[-300:]}" if fault else None)
    if "answered" not in (mode.fate, mode.judge):
        shown = mode.cause in printed
        tally.count(CAUSE, None if shown else f"{name}: no {mode.cause!r} in {printed[-900:]}")
