"""A variation of your own: a variant of every item, made by a rule.

viva vary RUN hurried --plugin examples/plugin_variation.py
"""

from dataclasses import replace

from vivavoce import Outcome, Variation, variation


@variation("hurried")
class Hurried(Variation):
    """The same question from somebody in a hurry."""

    sentence: str = "I have one minute. "

    def makes(self, stock, client):
        """One variant of each item of the benchmark, or the reason why there is none."""
        for item in stock.bases:
            if self.sentence in item.question:
                yield Outcome("hurried", item.name, reason="it is in a hurry already")
            else:
                variant = replace(item, variant="hurried", question=self.sentence + item.question)
                yield Outcome("hurried", item.name, (variant,))
