"""People who rank answers: packets out, ballots in.

`make` writes a blinded packet for each rater and keeps the key in the run; `take` checks what comes back
against that key and stores it as scores of the measure `panel(id=…)`. The study `panel` sums up.
"""

from vivavoce.people.keys import REFERENCE
from vivavoce.people.packets import CRITERION, Made, make
from vivavoce.people.storing import CRITERIA, Taken, take

__all__ = ["CRITERIA", "CRITERION", "REFERENCE", "Made", "Taken", "make", "take"]
