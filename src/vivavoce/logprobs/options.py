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
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, NamedTuple

from vivavoce.core.records import Criterion, Item, Row, Value
from vivavoce.core.registry import metric
from vivavoce.core.specs import Spec
from vivavoce.core.text import label
from vivavoce.formats import format_of
from vivavoce.logprobs.requests import LogprobMetric, LogprobRequests, PromptBuilder, finite
from vivavoce.metrics import ScoringContext
from vivavoce.models.replies import are_certain
from vivavoce.models.requests import Continuations, Likelihood, Reply, Request

Of = Literal["letter", "text"]


BLANKS = (" ", "")
"""What stands before a text that is put without a question: as after a cue, as after a line break."""


class OptionLikelihood(NamedTuple):
    """An option as it was put to the model, by its text or its letter, and its log-likelihood.

    `logprob` is natural, summed over `tokens`; `alone` is the same without any question. Null where the model
    returned no finite number.
    """

    text: str
    logprob: float | None
    tokens: int
    alone: float | None


@dataclass(frozen=True, kw_only=True)
class Choices(LogprobRequests):
    """The options of an item as branches after the conversation that asks it.

    Nothing is added to how a candidate is asked. By default that is the question in words, which suits a
    model with a chat template; a base model needs a cue to continue from: `--prompt cue`, or a file of your
    own.

    `of`: the letters under which options stand, A, B, …, or their full texts; true/false questions, which
    show no letters, are asked for the words True and False either way. `rotate`: the item is asked once in
    every cyclic rotation of its k options, the published order first, so that each stands once in every
    place. `unconditional`: also what the same texts are worth without any question.
    """

    of: Of = "letter"
    rotate: bool = False
    unconditional: bool = False

    @property
    def name(self) -> str:
        """Such as `choices(of=letter)`; what is off is left out."""
        on = {name: True for name in ("rotate", "unconditional") if getattr(self, name)}
        return str(Spec("choices", {"of": self.of, **on}))

    def score(self, item: Item, prompt: PromptBuilder, samples: Sequence[Reply]) -> Sequence[Request]:
        """A request for each order, with a branch for each option; then that without a question.

        Branches of texts keep the published order, so that orders which a prompt does not show are one
        request. Without a question a text must be put as it stood after one, with a blank before it or
        without: only the model knows what the prompt ends in, so it is asked for both.
        """
        targets = self._targets(item)
        questions = [(prompt(_rotated(item, shift)), targets) for shift in self._shifts(item)]
        if self.unconditional:
            questions += [((), tuple(f"{blank}{text}" for text in targets)) for blank in BLANKS]
        return [Request(messages=m, kind="loglikelihood", branches=Continuations(t)) for m, t in questions]

    def to_record(self, item: Item, samples: Sequence[Reply], scores: Sequence[Reply]) -> Mapping[str, Any]:
        """`orders`, a list of rotations, each with its `shift` and lists by option in the published order:
        how it was `put`, its `logprob` and `tokens`; and `alone`, the log-probability of each text by itself.

        With a shift of s the first option shown is number s (from 0). What is not finite is null, and so is
        all of an order whose reply has another number of likelihoods than there are options. Raises
        `ValueError` where two options would both be certain.
        """
        shifts, targets = self._shifts(item), self._targets(item)
        orders = [self._order(shift, targets, r) for shift, r in zip(shifts, scores, strict=False)]
        form = len(shifts) + BLANKS.index("" if scores[0].spaced is False else " ")
        alone = _each(scores[form], len(targets)) if self.unconditional else ()
        return {
            "orders": orders,
            "alone": {text: _finite(likelihood) for text, likelihood in zip(targets, alone, strict=False)},
            "tokeniser": scores[0].tokeniser,
            "truncated": max(reply.truncated for reply in scores),
        }

    def _shifts(self, item: Item) -> range:
        return range(len(item.options) if self.rotate and item.options else 1)

    def _targets(self, item: Item) -> tuple[str, ...]:
        if self.of == "text" or format_of(item).fixed_options:
            return options_of(item)
        return tuple(label(k) for k in range(len(item.options)))

    def _order(self, shift: int, targets: Sequence[str], reply: Reply) -> dict[str, Any]:
        n = len(targets)
        lettered = self.of == "letter"
        places = [(k - shift) % n if lettered else k for k in range(n)]
        likelihoods = _each(reply, n)
        refuse_certain_options(targets, [likelihood and likelihood.logprob for likelihood in likelihoods])
        return {
            "shift": shift,
            "put": [targets[position] for position in places],
            "logprob": [_finite(likelihoods[position]) for position in places],
            "tokens": [
                likelihood.tokens if (likelihood := likelihoods[position]) else 0 for position in places
            ],
        }


def options_of(item: Item) -> tuple[str, ...]:
    """The texts of an item's options, in their published order."""
    return format_of(item).fixed_options or item.options


def options_in(record: Mapping[str, Any]) -> list[tuple[int, tuple[OptionLikelihood, ...]]]:
    """What a response holds: by order its shift, and the options in their published order."""
    alone = record.get("alone") or {}
    return [
        (
            order["shift"],
            tuple(
                OptionLikelihood(text, logprob, tokens, alone.get(text))
                for text, logprob, tokens in zip(order["put"], order["logprob"], order["tokens"], strict=True)
            ),
        )
        for order in record["orders"]
    ]


def _rotated(item: Item, shift: int) -> Item:
    """The item with its options from number `shift` on, then those before it."""
    return replace(item, options=item.options[shift:] + item.options[:shift]) if shift else item


def _each(reply: Reply, n: int) -> Sequence[Likelihood | None]:
    """The likelihoods of n targets: none of fewer or more, as nothing says whose each is."""
    return reply.likelihoods if len(reply.likelihoods) == n else [None] * n


def refuse_certain_options(targets: Sequence[str], logprobs: Sequence[float | None]) -> None:
    """Raise `ValueError` where two options would both be certain, of which none begins the other."""
    pairs = zip(targets, logprobs, strict=True)
    certain = [text for text, logprob in pairs if are_certain([logprob])]
    if any(not a.startswith(b) and not b.startswith(a) for a, b in combinations(certain, 2)):
        raise ValueError(
            "the endpoint gives several options the log-probability 0.0, and two cannot both be certain: its "
            "server computes none"
        )


def _finite(likelihood: Likelihood | None) -> float | None:
    return None if likelihood is None else finite(likelihood)


TIE = 1e-6
"""Nats within which two options are held for equal: float32 tells sums of this size no further apart."""


@metric("options")
class Options(LogprobMetric):
    """Closed questions by the probabilities of their options; the likeliest is the answer.

    `norm`: what orders the options: raw, the sum over an option's tokens; byte or token, its mean by UTF-8
    byte or by token; unconditional, less what the option is worth without the question. `of`: options are
    put by letter or by full text. `rotate=true` asks each question in all k rotations of its options and adds
    what hangs on their places; it scores multiple choice alone, as true and false have none.
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
    def tokenizer_dependent(self) -> tuple[str, ...]:
        """The margin, where it is divided by tokens."""
        return ("margin",) if self.norm == "token" else ()

    @property
    def logprob_requests(self) -> Choices:
        """What is asked; raw, byte and token share it."""
        return Choices(of=self.of, rotate=self.rotate, unconditional=self.norm == "unconditional")

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
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
        return [self._values(row.item, row.reading.parsed) for row in rows]

    def _values(self, item: Item, record: Mapping[str, Any]) -> Mapping[str, Value]:
        options = options_of(item)
        key = options.index(item.answer[0])
        orders = []
        for shift, likelihoods in options_in(record):
            order = self._order(shift, likelihoods)
            if isinstance(order, str):
                failed = Value(None, note=order, status="failed")
                return {c.criterion: failed for c in self.criteria}
            orders.append(order)
        rights = [order.right(key) for order in orders]
        right = _mean(rights)
        keyed = _mean([order.score(key) for order in orders])
        best_other = _mean([order.rival(key) for order in orders])
        note = _note(orders, record.get("truncated") or 0)
        margin = Value(keyed - best_other, {"key": keyed, "other": best_other}, note)
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

    def _order(self, shift: int, options: Sequence[OptionLikelihood]) -> "_Order | str":
        """The order with the scores of its options, or why it has none."""
        scores: list[float] = []
        for option in options:
            score = _score(self.norm, option)
            if score is None:
                return f"the model told no probability of the option {option.text!r}"
            scores.append(score)
        return _Order(shift, tuple(scores))


def _note(orders: Sequence["_Order"], truncated: int) -> str | None:
    """What a reader of the value must know: ties, and a question that was cut."""
    notes = []
    tied = max(len(order.tied) for order in orders)
    if tied > 1:
        notes.append(f"{tied} options are equally likely")
    if truncated:
        notes.append(f"{truncated} tokens of the question were left out to fit the model's context")
    return "; ".join(notes) or None


def _score(norm: str, option: OptionLikelihood) -> float | None:
    """What an option is ordered by; null where the model did not tell all that it is made of."""
    if option.logprob is None:
        return None
    match norm:
        case "byte":
            return option.logprob / len(option.text.encode("utf-8", "surrogatepass"))
        case "token":
            return option.logprob / option.tokens if option.tokens else None
        case "unconditional":
            return None if option.alone is None else option.logprob - option.alone
    return option.logprob


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
