"""One exam from its passages to a leaderboard: build, review, freeze, competition, submissions, board.

The model that writes, the reviewers and both submissions are made up, and no file is made by hand. Open
answers are compared by the encoder of the metric cliniqlink (`pip install "vivavoce[cliniqlink]"`).
Not for clinical use.

Usage: python examples/exam_to_board.py FOLDER
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import vivavoce as viva
from vivavoce import Provider, Reply, provider
from vivavoce.people.panels import PanelSettings, open_panel
from vivavoce.people.storing.judgements import store_judgement
from vivavoce.people.tasks import ReviewTask

LETTERS = "alfa beta gamma delta epsi zeta eta theta iota kappa lambda mu"
DRUGS = [f"{letter}mol" for letter in LETTERS.split()]
PASSAGE = (
    "{0} is a made-up drug. The level of {0} in blood is measured after five half-lives. Renal failure "
    "raises that level, and with it the risk of harm. {0} is stopped before surgery."
)
ANSWERS = {
    "is either true or false": {"answer": "True"},
    "exactly one is right": {"options": ["after five half-lives", "at once", "never", "after a year"],
                             "answers": ["after five half-lives"]},
    "all right elements": {"options": ["renal failure", "surgery", "blood", "sleep"],
                           "answers": ["renal failure", "surgery"]},
    "is answered in a few words": {"answer": "After five half-lives"},
    "say why it is wrong": {"right_answer": "after five half-lives", "false_answer": "at once",
                            "explanation": "The level is steady after five half-lives only."},
    "exactly one step is wrong": {"steps": ["Excretion is slow.", "The level falls.", "Harm follows."],
                                  "wrong_step": 2, "false_answer": "It is safe.",
                                  "explanation": "The level rises."},
    "": {"steps": ["Renal failure slows excretion.", "The level rises."], "answer": "Harm follows."},
}  # fmt: skip
"""What the writer answers, by words of the request for each format."""


@provider("madeup")
class Writer(Provider):
    """Writes a question about the drug of a passage, and finds every key supported."""

    host = ""  # nothing leaves this process
    price = (0.0, 0.0)

    async def generate(self, request):
        """A question with its quote, or what the check asks for."""
        text = request.messages[-1].content
        if text.startswith("A question was written from a passage"):
            return Reply(
                text='{"reason": "as it says", "supported": true, "wrong": true}', finish_reason="stop"
            )
        drug = re.search(r"(\w+) is a made-up drug", text)[1]
        fields = next(fields for words, fields in ANSWERS.items() if words in text)
        fields = fields | {
            "question": f"When is the level of {drug} measured, and what raises it?",
            "quote": f"The level of {drug} in blood is measured after five half-lives.",
        }
        return Reply(text=json.dumps(fields), finish_reason="stop")


def command(*words: object) -> None:
    """A command of vivavoce."""
    subprocess.run([sys.executable, "-m", "vivavoce", *map(str, words)], check=True)


def main(folder: Path) -> None:
    folder.mkdir(parents=True)
    passages = folder / "passages.jsonl"
    rows = [{"id": drug, "text": PASSAGE.format(drug.capitalize())} for drug in DRUGS]
    passages.write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    run = viva.open(folder / "exam.viva")
    print(run.build("cliniqlink", from_=[passages], model="madeup/writer").text)
    review(run)
    print(run.study("review")["review"].text)
    print(run.build("freeze", to=str(folder / "frozen"), min_relevance=5, min_raters=2).text)

    exam, competition = f"jsonl:path={folder / 'frozen' / 'exam.jsonl'}", folder / "competition"
    command(
        "challenge", "bundle", exam, "--image", "lab/viva:1", "--start", "2026-12-01", "--to", competition
    )
    command("challenge", "questions", exam, "--to", folder / "questions")
    for seed in (1, 2):
        submit(folder, seed)
    command("challenge", "board", folder / "submissions", "--to", folder / "leaderboard.html")


def review(run) -> None:
    """Two raters find all questions right and relevant, but for one each."""
    panel = open_panel(run.file, PanelSettings(ReviewTask(), repeats=0.0), ["anna", "ben"])
    for n, rater in enumerate(panel.key.packets):
        for number, entry in enumerate(panel.key.packets[rater]):
            is_right = number != n
            entries = {"correct": "yes" if is_right else "no", "relevance": 5 if is_right else 2}
            store_judgement(run.file, panel.key, rater, entry.question.name, {"A": entries})


def submit(folder: Path, seed: int) -> None:
    """A system answers the questions without the key; the program of the competition scores its files."""
    team, competition = folder / "submissions" / f"team-{seed}", folder / "competition"
    answers = viva.open(folder / f"answers-{seed}.viva")
    answers.collect(
        f"cliniqlink_questions(data={folder / 'questions'})", models=[f"baseline/random(seed={seed})"]
    )
    answers.export(folder / f"input-{seed}" / "res", format="cliniqlink")
    (folder / f"input-{seed}" / "ref").symlink_to((competition / "reference_data").resolve())
    program = competition / "scoring_program" / "scoring_program.py"
    subprocess.run([sys.executable, program, folder / f"input-{seed}", folder / f"output-{seed}"], check=True)
    team.mkdir(parents=True)
    benchmark = f"cliniqlink:data={competition / 'reference_data'}"
    command("challenge", "import", folder / f"input-{seed}" / "res", "--benchmark", benchmark,
            "--to", team / "run.viva", "--candidate", f"System {seed}", "--quiet")  # fmt: skip
    viva.open(team / "run.viva").score("cliniqlink")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
