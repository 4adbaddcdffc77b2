"""Closed questions by likelihood: the option that the model holds most probable is its answer.

Nothing is generated and nothing read, so no answer is lost to its form. With x the question and o the text of
an option as it was put, options are ordered by

    raw            log P(o | x)
    byte           log P(o | x) / UTF-8 bytes of o
    token          log P(o | x) / tokens of o
    unconditional  log P(o | x) - log P(o), pointwise mutual information

In the EleutherAI harness (lm-eval 0.4.13, `process_results`) raw is `acc`, byte `acc_bytes`, unconditional
`acc_mutual_info`; its `acc_norm` divides by characters, which outside ASCII are fewer than bytes.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from vivavoce.metrics import Lab
from vivavoce.probes.choices import Choices, Of, Put, options_of, puts_of
from vivavoce.records import Criterion, Item, Row, Value
from vivavoce.registry import metric

TIE = 1e-6
"""Nats within which two options are held for equal: float32 tells sums of this size no further apart."""


@metric("options")
class Options:
    """Closed questions by the probabilities of their options; the likeliest is the answer.

    `norm`: what orders the options: raw, the sum over an option's tokens; byte or token, its mean by UTF-8
    byte or by token; unconditional, less what the option is worth without the question. `of`: options are
    put by letter or by full text. `rotate=true` asks each question in all k rotations of its options and adds
    what hangs on their places; it marks multiple choice alone, as true and false have none.
    """

    norm: Literal["raw", "byte", "token", "unconditional"] = "raw"
    of: Of = "letter"
    rotate: bool = False

    needs = ("answer",)

    @property
    def formats(self) -> tuple[str, ...]:
        """Multiple choice; in one order true/false too."""
        return ("mcq",) if self.rotate else ("mcq", "true_false")

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Accuracy and margin; with rotations also what the places do."""
        margin = Criterion(criterion="margin", low=None, high=None, if_unanswered="set_aside")
        bias = Criterion(criterion="position_bias", direction="lower", if_unanswered="set_aside")
        gap = Criterion(criterion="option_gap", low=-1.0, direction="lower", if_unanswered="set_aside")
        return (Criterion(criterion="accuracy"), margin, *((bias, gap) if self.rotate else ()))

    @property
    def per_token(self) -> tuple[str, ...]:
        """The margin, where it is divided by tokens."""
        return ("margin",) if self.norm == "token" else ()

    @property
    def probe(self) -> Choices:
        """What is asked; raw, byte and token share it."""
        return Choices(of=self.of, rotate=self.rotate, unconditional=self.norm == "unconditional")

    def values(self, rows: Sequence[Row], lab: Lab) -> Sequence[Mapping[str, Value]]:
        """By row:

        `accuracy`: 1 if the key is the likeliest option, else 0; of t options within 1e-6 nats of the
        likeliest, 1/t if the key is among them. With rotations the mean over all; its parts are `published`,
        that of the published order, and `rotated`, the mean of the k - 1 others.

        `margin`: the key's log-probability less the best other option's, in nats as `norm` has them (by byte
        or token where it divides), with rotations the mean. Above 0 where the key is the likeliest. Its parts
        are both, `key` and `other`.

        `position_bias`: total variation distance of the places picked in the k rotations from one pick each,
        by its largest value 1 - 1/k. 0: the pick goes with the content; 1: it is the same place whatever
        stands there. Tied options share a pick. The parts count the picks by place, `pick_1` to `pick_k`, and
        the `options`.

        `option_gap`: `published` less `rotated`, -1 to 1. The parts are both, the key's `place` in the
        published order, from 1, and the `options`.

        A row fails, with a note, where an option has no finite probability.
        """
        return [self._marks(row.item, row.reading.parsed) for row in rows]

    def _marks(self, item: Item, told: Mapping[str, Any]) -> Mapping[str, Value]:
        options = options_of(item)
        key = options.index(item.answer[0])
        orders = []
        for shift, puts in puts_of(told):
            order = self._order(shift, puts)
            if isinstance(order, str):
                failed = Value(None, note=order, status="failed")
                return {c.criterion: failed for c in self.criteria}
            orders.append(order)
        rights = [order.right(key) for order in orders]
        right = _mean(rights)
        own, other = (_mean([score(o, key) for o in orders]) for score in (_Order.score, _Order.rival))
        n, tied = told.get("truncated") or 0, max(len(order.tied) for order in orders)
        notes = [f"{tied} options are equally likely"] if tied > 1 else []
        notes += [f"{n} tokens of the question were left out to fit the model's context"] if n else []
        note = "; ".join(notes) or None
        margin = Value(own - other, {"key": own, "other": other}, note)
        if not self.rotate:
            return {"accuracy": Value(right, None, note), "margin": margin}
        halves = {"published": rights[0], "rotated": _mean(rights[1:])}
        placed = {"options": float(len(options)), "place": key + 1.0}
        picks = _picks(orders, len(options))
        return {
            "accuracy": Value(right, halves, note),
            "margin": margin,
            "position_bias": Value(_bias(picks), _numbered(picks), note),
            "option_gap": Value(halves["published"] - halves["rotated"], halves | placed, note),
        }

    def _order(self, shift: int, puts: Sequence[Put]) -> "_Order | str":
        """The order with the scores of its options, or why it has none."""
        scores = [_scored(self.norm, put) for put in puts]
        known = tuple(score for score in scores if score is not None)
        if len(known) == len(scores):
            return _Order(shift, known)
        return f"the model told no probability of the option {puts[scores.index(None)].text!r}"


def _scored(norm: str, put: Put) -> float | None:
    """What an option is ordered by; null where the model did not tell all that it is made of."""
    if put.logprob is None:
        return None
    match norm:
        case "byte":
            return put.logprob / len(put.text.encode("utf-8", "surrogatepass"))
        case "token":
            return put.logprob / put.tokens if put.tokens else None
        case "unconditional":
            return None if put.alone is None else put.logprob - put.alone
    return put.logprob


class _Order(NamedTuple):
    """The options in one order: the number of the one that stood first, and the scores by number."""

    shift: int
    scores: tuple[float, ...]

    @property
    def tied(self) -> tuple[int, ...]:
        """The options that none is likelier than, mostly one."""
        best = max(self.scores)
        return tuple(k for k, score in enumerate(self.scores) if best - score <= TIE)

    def right(self, key: int) -> float:
        return 1 / len(self.tied) if key in self.tied else 0.0

    def score(self, key: int) -> float:
        return self.scores[key]

    def rival(self, key: int) -> float:
        return max(score for k, score in enumerate(self.scores) if k != key)


def _picks(orders: Sequence[_Order], k: int) -> list[float]:
    """How often each place was picked."""
    picks = [0.0] * k
    for order in orders:
        for option in order.tied:
            picks[(option - order.shift) % k] += 1 / len(order.tied)
    return picks


def _bias(picks: Sequence[float]) -> float:
    """Total variation from even picks, 0 to 1: half of sum |p - 1/k|, over 1 - 1/k."""
    k, n = len(picks), sum(picks)
    return min(sum(abs(p / n - 1 / k) for p in picks) / (2 * (1 - 1 / k)), 1.0)


def _numbered(picks: Sequence[float]) -> dict[str, float]:
    return {"options": float(len(picks))} | {f"pick_{j}": pick for j, pick in enumerate(picks, 1)}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
