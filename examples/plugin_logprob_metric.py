"""A metric of log-likelihoods: `viva collect … --for surprise`, then `viva score RUN surprise`."""

from vivavoce import Criterion, LogprobMetric, LogprobRequests, Value, metric
from vivavoce.models.requests import Request


class FirstReference(LogprobRequests):
    """How probable a reference is."""

    name = "first_reference"

    def score(self, item, prompt, samples):
        """The item's first reference, as what follows the question."""
        return [Request(messages=prompt(item), kind="loglikelihood", target=item.references[0])]

    def to_record(self, item, samples, scores):
        """What is stored of the reply."""
        return {"nats": -scores[0].likelihoods[0].logprob, "bytes": len(item.references[0].encode())}


@metric("surprise")
class Surprise(LogprobMetric):
    """How improbable the first reference is to the model, in nats per byte."""

    criteria = (Criterion(criterion="surprise", high=None, direction="lower", if_unanswered="set_aside"),)
    formats, needs, logprob_requests = ("short", "longform"), ("references",), FirstReference()

    def values(self, rows, context):
        """One value for each record."""
        return [{"surprise": Value(r.reading.parsed["nats"] / r.reading.parsed["bytes"])} for r in rows]
