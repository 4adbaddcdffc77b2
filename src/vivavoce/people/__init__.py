"""People who rank or rate answers: packets out, ballots in.

`make` writes a blinded packet for each rater and keeps the key in the run; `read` checks what comes back
against that key and stores it as scores: ranks of the measure `panel(id=…)`, which the study `panel` sums up,
and ratings of the measure `rating(rubric=…)`, by which a judge is examined and corrected. What differs
between the two stands in `tasks`.
"""
