"""A metric of your own that compares responses to one item.

viva score RUN shorter --plugin examples/plugin_comparative_metric.py
"""

from itertools import combinations

from vivavoce import ComparativeMetric, Criterion, Value, metric


@metric("shorter")
class Shorter(ComparativeMetric):
    """Whether an answer is shorter than another candidate's answer to the same item."""

    criteria = (Criterion(criterion="shorter", if_unanswered="set_aside"),)
    formats = ("short", "longform")

    def orders(self, candidates, place):
        """Every pair once: a rule does not care which of the two is shown first."""
        return list(combinations(candidates, 2))

    def compare(self, ballots, context):
        """1 for the shorter answer of a pair, 0 for the longer one, 0.5 each if they are equally long."""
        return [[self._value(row, ballot) for row in ballot] for ballot in ballots]

    def _value(self, row, ballot):
        length, both = len(row.reading.text), sorted(len(other.reading.text) for other in ballot)
        return {"shorter": Value(0.5 if both[0] == both[1] else float(length == both[0]))}
