"""Sentences of rankings that name a candidate, and what they are corrected over."""

from vivavoce.studies.naming import NamingSentence

FIRST = NamingSentence(
    code="ranking.first",
    templates=("{name} is alone in first place of {n} candidates by {measure}.",),
    names=("candidate",),
    family="all pairs of candidates by one criterion",
    correction="Holm",
    null="ranking",
)
APART = NamingSentence(
    code="ranking.apart",
    templates=(
        "{measure} on {benchmark}{warning} pairs told apart{ranks}.",
        "{basis} pairs told apart; ranks left open ({figures}): {ranks}.",
    ),
    names=("candidate", "metric"),
    family="all pairs of candidates by one criterion",
    correction="Holm",
    null="ranking",
)
