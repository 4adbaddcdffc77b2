"""A metric of one's own: one class, one decorator. `viva score RUN brevity --plugin
examples/plugin_metric.py`
"""

from vivavoce import Criterion, Value, metric


@metric("brevity")
class Brevity:
    """Share of answers of at most `words` words."""

    words: int = 100

    criteria = (Criterion(criterion="short_enough", if_unanswered="set_aside"),)
    formats = ("short", "longform")
    needs = ()

    def values(self, rows, lab):
        """1.0 or 0.0 for each row."""
        return [{"short_enough": Value(float(len(row.reading.parsed.split()) <= self.words))} for row in rows]
