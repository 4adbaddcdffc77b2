"""The sample exam from its recorded answers to its report, in Python; `viva demo` does the same.

The answers are made up, faults included. Not for clinical use.
"""

from pathlib import Path

import vivavoce as viva
from vivavoce.benchmarks.sample import CANDIDATES, recorded

folder = Path("viva-demo")
metrics = ("accuracy", "list_f1", "exact", "token_f1", "rouge(n=L)", "meteor", "step_accuracy", "planted")


def main() -> None:
    folder.mkdir(exist_ok=True)
    run = viva.open(folder / "demo.viva")  # one file; all this again adds nothing to it but a look
    with recorded() as answers:
        print(run.import_answers(answers, benchmark="sample"))
    print(run.score(*metrics))
    print(run.compare(*CANDIDATES, metric="accuracy"))
    print(run.study()["bias"])  # the others are in the report
    print(f"Open the report: {run.report()}")


if __name__ == "__main__":
    main()
