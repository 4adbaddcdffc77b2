"""The intervals of a pair that a margin is held against: of its verdict, of a gate, and by a mere count."""

from vivavoce import stats
from vivavoce.stats.verdict import LEAST_DIFFERENT
from vivavoce.studies.comparing.paired import Compared, Differences, IntervalMethod


def gate_interval(compared: Compared, level: float) -> stats.Interval | None:
    """The interval on which a gate decides; of both fillings too where scores are missing.

    Null without a margin, or where nothing bounds what is missing.
    """
    if compared.pair.margin is None or (compared.missing and compared.fillings is None):
        return None
    # A filling counts as a loss that was seen, so what may not have been seen is of the observed alone.
    columns = ("d", compared.observed), *zip(("d_low", "d_high"), compared.fillings or (), strict=False)
    ends = [margin_interval(compared, *column, level, stats.gate_interval) for column in columns]
    lows, highs = zip(*filter(None, ends), strict=True) if None not in ends else ((), ())
    return stats.Interval(min(lows), max(highs)) if lows else None


def margin_interval(
    compared: Compared,
    column: str,
    paired: stats.Paired,
    level: float,
    method: IntervalMethod = stats.margin_interval,
) -> stats.Interval | None:
    """The interval on which a margin is judged, of a column of differences or of pooled figures."""
    if compared.pair.population == "fixed":
        return paired.interval(level=level)
    if not isinstance(compared.data, Differences):
        # Pseudo-groups of Agresti-Min have no counts to be pooled, and no labels.
        return paired.interval(level=level)
    return compared.data.arrays(column).interval(method, span=compared.pair.width, level=level)


def most_by_count(compared: Compared, level: float) -> float | None:
    """The most by which either could be better where hardly any case differs, else null.

    Each case that may differ counts as a whole one, and each failed score at its worst.
    """
    if compared.pair.population == "fixed" or not isinstance(compared.data, Differences):
        return None
    ends = gate_interval(compared, level) if compared.observed.n_different < LEAST_DIFFERENT else None
    return ends and max(-ends.low, ends.high)
