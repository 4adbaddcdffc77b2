"""A package with a metric, found through its entry point once it is installed."""

from vivavoce import Criterion, Metric, Value, metric


@metric("wordiness")
class Wordiness(Metric):
    """How many words an answer has."""

    criteria = (Criterion(criterion="words", high=None, if_unanswered="set_aside"),)
    formats = ("short", "longform")

    def values(self, rows, context):
        return [{"words": Value(float(len(row.reading.text.split())))} for row in rows]
