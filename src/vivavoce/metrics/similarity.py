"""Similarity of response and reference: the cosine of their vectors (Reimers and Gurevych 2019).

A vector is the mean of a text's states in the last layer, so far as the encoder reads it.
"""

from collections.abc import Mapping

from vivavoce.core.records import Criterion, Item, Value
from vivavoce.core.registry import metric
from vivavoce.embeddings.encoder import Encoder, Encoding
from vivavoce.embeddings.similarity import cosine
from vivavoce.metrics import ScoringContext
from vivavoce.metrics.encoder_metric import EncoderMetric


@metric("similarity", version=2)
class Similarity(EncoderMetric):
    """The cosine of the vectors of response and reference, from 0; what points the other way counts 0.

    `parts` hold the cosine as it is. Of several references the best counts. It measures the topic and is
    blind where medicine is not: ten times the dose, or the opposite, is near the top.
    """

    criteria = (Criterion(criterion="similarity"),)

    def compare(
        self, response: Encoding, reference: Encoding, item: Item, encoder: Encoder, context: ScoringContext
    ) -> Mapping[str, Value]:
        """The cosine, at least 0."""
        value = min(cosine(response.vector, reference.vector), 1.0)
        return {"similarity": Value(max(value, 0.0), {"cosine": value})}
