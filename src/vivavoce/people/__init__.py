"""People who rank or rate answers: packets out, ballots in.

`make` writes a blinded packet for each rater and keeps the key in the run; `read` checks ballots against it
and stores scores: ranks of `panel(id=…)`, and ratings of `rating(rubric=…)`, by which a judge is examined.
"""

KEY_EVENT = "panel made"
