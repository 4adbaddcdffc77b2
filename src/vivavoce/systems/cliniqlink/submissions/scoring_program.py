"""Scores one submission: python3 scoring_program.py INPUT OUTPUT.

INPUT holds `ref`, the reference data, and `res`, the submission; OUTPUT gets scores.json, scores.txt and
detailed_results.html. The image that this runs in has vivavoce installed; nothing is fetched.
"""

import os
import sys

OFFLINE = {
    "VIVA_OFFLINE": "1",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
}


def run() -> int:
    """Score the submission that the command line names; the exit code."""
    os.environ.update(OFFLINE)  # before anything is imported that reads them
    try:
        from vivavoce.systems.cliniqlink.submissions.scoring import main
    except ImportError as error:
        print(f"The image of this competition cannot score: {error}.", file=sys.stderr)
        return 2
    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(run())
