"""Submissions that look alike: names of teams that an eye confuses, and the same answers under two names.

They are named and not refused: two teams may be called alike, and a baseline may be sent in twice.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence

from vivavoce.core.text import one_line, printable
from vivavoce.studies.text import and_so
from vivavoce.systems.cliniqlink.submissions.scored_run import ScoredRun

_CYRILLIC = str.maketrans("авекмнорстухіјѕԁһԛԝ", "abekmhopctyxijsdhqw")
_GREEK = str.maketrans("αβεζηικμνορτυχ", "abezhikmnoptyx")
_ALIKE = str.maketrans("01i", "oll")


def likeness_notes(runs: Sequence[ScoredRun]) -> Iterator[str]:
    """A sentence for each group of teams whose names look alike, and of submissions with equal answers."""
    teams: dict[str, dict[str, str]] = defaultdict(dict)
    places: dict[str, list[str]] = defaultdict(list)
    for run in runs:
        submission = run.submission
        if shape := name_shape(submission.team):
            teams[shape].setdefault(submission.team_key, _displayed(submission.team))
        if run.answers is not None:
            places[run.answers].append(_displayed(submission.place))
    for names in teams.values():
        if len(names) > 1:
            yield f"The names {and_so(list(names.values()))} look alike, and count as different teams."
    for alike in places.values():
        if len(alike) > 1:
            yield f"{and_so(alike)} give the same answers."


def name_shape(name: str) -> str:
    """What an eye sees of a name: letters and digits in any case, Cyrillic and Greek ones as Latin ones."""
    letters = unicodedata.normalize("NFKD", name.casefold()).casefold()
    visible = "".join(letter for letter in letters if letter.isalnum())
    return visible.translate(_CYRILLIC).translate(_GREEK).translate(_ALIKE)


def _displayed(name: str) -> str:
    return one_line(printable(name), 60)
