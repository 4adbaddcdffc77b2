"""A small exam from its files to its report. The answers are written for illustration; not for clinical use.

Sixteen questions in four formats and the recorded answers of two made-up candidates, one careful, one
hasty, with what real answers come with: an answer in bold, thinking, a hedge, a refusal, a blank, a dose
ten times too high.
"""

from pathlib import Path

import vivavoce as viva

here = Path(__file__).parent / "demo"
out = Path("demo")


def main() -> None:
    out.mkdir(exist_ok=True)
    (out / "demo.viva").unlink(missing_ok=True)
    run = viva.open(out / "demo.viva")
    done = run.import_answers(here / "answers.jsonl", benchmark=f"jsonl(path='{here / 'exam.jsonl'}')")
    print(
        f"{done.responses} answers of {done.candidates} candidates to {done.items} questions, "
        f"{done.blank} blank."
    )
    for row in run.score("accuracy", "list_f1", "exact", "token_f1").rows:
        missing = f", {row['n_unanswered']} unanswered, {row['n_unreadable']} unreadable"
        interval = f"{row['estimate']:.2f} ({row['low']:.2f} to {row['high']:.2f})"
        print(f"  {row['metric']:8} {row['candidate']:22} {interval}{missing}")
    print(run.compare("illustration: careful", "illustration: hasty", metric="accuracy"))
    print(f"Open the report: {run.report()}")


if __name__ == "__main__":
    main()
