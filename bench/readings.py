"""What readers make of recorded answers: ours, lm-eval's three filters, Inspect's scorers; and our CPU time.

    python bench/readings.py CASES.jsonl                       # right, wrong and unread, reader by reader
    python bench/readings.py --answers FOLDER [--against SRC]  # CPU time for an answer of HIVMedQA

A case has a question's format, options and key, an answer, and what a person reads in it (`want_status`,
`want_parsed`). The peers read a letter of multiple choice. `--answers` is the folder with HIVMedQA's
`questions.jsonl` and `responses.jsonl`; `--against` is the `src` folder of another version, measured in turn.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from vivavoce import formats
from vivavoce.core.records import Item, Response

ROUNDS = 7
WORKER = """
import json, sys, time
from pathlib import Path
from vivavoce import formats
from vivavoce.core.records import Item
try:
    from vivavoce.language.words import clinical_tokens
except ImportError:  # an older version
    from vivavoce.core.text import clinical_tokens

folder = Path(sys.argv[1])
rows = [json.loads(line) for line in (folder / "questions.jsonl").open(encoding="utf-8")]
items = {
    row["id"]: Item(benchmark="hiv", item=row["id"], format="longform", question=row["question"],
                    references=(row["gold"],))
    for row in rows
}
answers = [json.loads(line) for line in (folder / "responses.jsonl").open(encoding="utf-8")]
answers = [(items[row["question_id"]], row["answer"] or "") for row in answers]
def read():
    for item, text in answers:
        formats.read_response(item, text)
def tokens():
    for item, text in answers:
        clinical_tokens(text)
figures = {}
for name, work in (("reading", read), ("tokens", tokens)):
    work()
    start = time.process_time()
    work()
    figures[name] = (time.process_time() - start) / len(answers) * 1e6
print(json.dumps(figures))
"""


def cases(file: Path) -> Iterator[dict[str, Any]]:
    """The cases of a file that say what a person reads."""
    for line in file.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        if "want_status" in case:
            yield case


def item_of(case: dict[str, Any]) -> Item:
    """The item that a case answers."""
    key = case.get("answer")
    return Item(
        benchmark="cases", item=case["id"], format=case["format"], question=case.get("question") or "?",
        options=tuple(case.get("options") or ()), answer=tuple(key) if isinstance(key, list) else (str(key),),
    )  # fmt: skip


def ours(case: dict[str, Any]) -> Any:
    """What we read: the parsed answer, null where nothing is read."""
    response = Response(
        benchmark="cases", item=case["id"], candidate="A", text=case["text"],
        finish_reason=case.get("finish_reason"),
    )  # fmt: skip
    reading = formats.read_response(item_of(case), response.parts)
    return list(reading.parsed) if isinstance(reading.parsed, tuple) else reading.parsed


def by_letter(pattern: str, last: bool = False) -> Callable[[dict[str, Any]], Any]:
    """A reader that takes the option of the first or last letter that a pattern finds."""

    def read(case: dict[str, Any]) -> Any:
        letters = re.findall(pattern, case["text"])
        place = ord(letters[-1 if last else 0].upper()) - 65 if letters else -1
        options = case["options"]
        return options[place] if 0 <= place < len(options) else None

    return read


def lm_eval_readers() -> dict[str, Callable[[dict[str, Any]], Any]]:
    """lm-eval's filters as its tasks of multiple choice by generation configure them."""
    from lm_eval.filters.extraction import MultiChoiceRegexFilter, RegexFilter

    def with_filter(made: Any) -> Callable[[dict[str, Any]], Any]:
        def read(case: dict[str, Any]) -> Any:
            (((found),),) = made.apply([[case["text"]]], [{"choices": case["options"]}])
            letter = re.search(r"[A-Z]", found or "")
            place = ord(letter[0]) - 65 if letter and found != "[invalid]" else -1
            return case["options"][place] if 0 <= place < len(case["options"]) else None

        return read

    return {
        "lm-eval, strict": with_filter(RegexFilter(r"(?i)answer is \(?([A-J])\)?")),
        "lm-eval, flexible": with_filter(RegexFilter(r"(\([A-Z]\))", group_select=-1)),
        "lm-eval, multi_choice_regex": with_filter(
            MultiChoiceRegexFilter(
                regex_pattern=r"(\([A-Z]\))", ignore_case=True, ignore_punctuation=True, group_select=0
            )
        ),
    }


def inspect_readers() -> dict[str, Callable[[dict[str, Any]], Any]]:
    """Inspect's patterns for a letter and for a line, and its scorer `choice`'s."""
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import AnswerPattern
    from inspect_ai.solver import TaskState
    from inspect_ai.solver._multiple_choice import parse_answers

    def choice(case: dict[str, Any]) -> Any:
        state = TaskState(
            model="m", sample_id="1", epoch=1, input="?", messages=[], choices=case["options"],
            output=ModelOutput.from_content("m", case["text"]),
        )  # fmt: skip
        letters = [a for a in parse_answers(state, multiple_correct=False) if len(a) == 1]
        place = ord(letters[0]) - 65 if len(letters) == 1 else -1
        return case["options"][place] if 0 <= place < len(case["options"]) else None

    return {"Inspect, answer(letter)": by_letter(AnswerPattern.LETTER), "Inspect, choice()": choice}


def compare(file: Path) -> None:
    """Print how many answers each reader reads right, wrongly and not at all."""
    choices = [case for case in cases(file) if case["format"] == "mcq" and case.get("options")]
    every = [case for case in cases(file) if case["format"] in ("mcq", "list", "true_false")]
    readers = {"vivavoce": ours, **lm_eval_readers(), **inspect_readers()}
    print(f"{'reader':30} {'cases':>6} {'right':>6} {'wrong':>6} {'unread':>7}   of multiple choice")
    for name, reader in readers.items():
        counts = Counter(outcome(case, reader(case)) for case in choices)
        print(f"{name:30} {len(choices):6} {counts['right']:6} {counts['wrong']:6} {counts['unread']:7}")
    counts = Counter(outcome(case, ours(case)) for case in every)
    of_all = f"{counts['right']:6} {counts['wrong']:6} {counts['unread']:7}"
    print(f"{'vivavoce, all formats':30} {len(every):6} {of_all}")


def outcome(case: dict[str, Any], parsed: Any) -> str:
    """`right` where a person reads the same, also nothing; `wrong` where a reader claims anything else."""
    wanted = case.get("want_parsed") if case["want_status"] == "ok" else None
    if parsed == wanted or (
        isinstance(wanted, list) and isinstance(parsed, list) and set(parsed) == set(wanted)
    ):
        return "right"
    return "unread" if parsed is None else "wrong"


def microseconds(folder: Path, source: Path) -> dict[str, float]:
    """CPU time for an answer in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    words = [sys.executable, "-c", WORKER, str(folder)]
    done = subprocess.run(words, env=environment, capture_output=True, check=True, text=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def measure(folder: Path, against: Path | None) -> None:
    """Print the CPU time for an answer, and its ratio to that of another version."""
    source = Path(__file__).resolve().parents[1] / "src"
    rounds = [
        {name: microseconds(folder, path) for name, path in (("here", source), ("there", against)) if path}
        for _ in range(ROUNDS)
    ]
    for what in ("reading", "tokens"):
        here = [one["here"][what] for one in rounds]
        line = f"{what:8} {statistics.median(here):8.1f} µs an answer ({min(here):.1f} to {max(here):.1f})"
        if against:
            ratios = [one["here"][what] / one["there"][what] for one in rounds]
            line += (
                f", {statistics.median(ratios):.2f} of that version ({min(ratios):.2f} to {max(ratios):.2f})"
            )
        print(line)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", type=Path, nargs="?")
    parser.add_argument("--answers", type=Path)
    parser.add_argument("--against", type=Path)
    options = parser.parse_args()
    if options.cases:
        compare(options.cases)
    if options.answers:
        measure(options.answers, options.against)


if __name__ == "__main__":
    main()
