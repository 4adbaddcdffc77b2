"""A metric of your own: one class, one decorator.

viva score RUN brevity --plugin examples/plugin_metric.py
"""

from vivavoce import Criterion, Metric, Value, metric


@metric("brevity")
class Brevity(Metric):
    """Share of answers of at most `words` words."""

    words: int = 100

    criteria = (Criterion(criterion="short_enough", if_unanswered="set_aside"),)
    formats = ("short", "longform")

    def values(self, rows, context):
        """1.0 or 0.0 for each row."""
        return [{"short_enough": Value(float(len(row.reading.parsed.split()) <= self.words))} for row in rows]
