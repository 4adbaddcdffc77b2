"""People who rank answers: packets out, ballots in.

`make` writes a blinded packet for each rater and keeps the key in the run; `take` checks what comes back
against that key and stores it as scores of the measure `panel(id=…)`. The study `panel` sums up.
"""
