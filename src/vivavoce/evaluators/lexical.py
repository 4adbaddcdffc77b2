"""The lexical evaluator: it looks how far an argument names an option, and understands nothing.

It is the lower bound of every trained evaluator, and detects arguments that leak the answer: on casimedicos
eight features of overlap order the published arguments as the trained encoders do. For each option:

1. `share`: share of the option's distinct words that the argument holds.
2. `rare_share`: the same, each word weighed by its rarity: ln((k + 1) / d) for a word in d of the k options.
3. `bigrams`: share of the option's distinct pairs of adjacent words that the argument holds.
4. `run`: longest run of the option's words that stands in the argument, as a share of the option's words.
5. `verbatim`: 1 if the option stands in the argument from its first word to its last.
6. `numbers`: share of the option's distinct numbers that the argument holds, 2.5 as one number.
7. `in_question`: as `rare_share`, but of the words that the question holds.
8. `repeats`: mean of ln(1 + n) over the option's distinct words, weighed as in `rare_share`, for a word that
   stands n times in the argument.

A share or mean of nothing is 0. Words are runs of letters and digits without case. Rarity needs no other text
than the options, so that a prediction rests on its own item, and a fitted file holds no word of its data.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from vivavoce.core.errors import InputError
from vivavoce.core.json_text import read_json
from vivavoce.evaluators.proxy_task import Prediction, ProxyInput
from vivavoce.language.scripts import WORD
from vivavoce.language.words import clinical_tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FEATURES = ("share", "rare_share", "bigrams", "run", "verbatim", "numbers", "in_question", "repeats")
RIDGE = 1e-3
"""Weight of half the sum of squared weights beside the mean loss of an item."""
MOST_WEIGHT = 1e6
_WORD = re.compile(WORD)


def features(task: ProxyInput) -> "Floats":
    """The features of each option: an array of shape (options, 8), the columns as in `FEATURES`.

    The order of the options changes the order of the rows alone.
    """
    import numpy as np

    argument, options = _words(task.argument), [_words(option) for option in task.options]
    counts, pairs, numbers = Counter(argument), set(pairwise(argument)), set(_numbers(task.argument))
    question = set(_words(task.question))
    holders = Counter(word for words in options for word in set(words))
    rarity = {word: math.log((len(options) + 1) / n) for word, n in holders.items()}
    rows, places = [], _places(argument)
    for text, words in zip(task.options, options, strict=True):
        distinct, run = set(words), _longest_run(words, places)
        repeats = {word: rarity[word] * math.log1p(counts[word]) for word in distinct}
        rows.append(
            (
                _share(distinct, counts),
                _share(distinct, counts, rarity),
                _share(set(pairwise(words)), pairs),
                run / len(words) if words else 0.0,
                float(run == len(words) > 0),
                _share(set(_numbers(text)), numbers),
                _share(distinct, question, rarity),
                math.fsum(repeats.values()) / math.fsum(rarity[word] for word in distinct) if words else 0.0,
            )
        )
    return np.array(rows, dtype=np.float64).reshape(len(options), len(FEATURES))


@dataclass(frozen=True, kw_only=True)
class Lexical:
    """Softmax over the options of a linear function of their features; `weights` as in `FEATURES`.

    Without `weights` the most probable option is that of the highest `rare_share`, and options that share it
    share the probability. `n_items` are the distinct items and arguments that it was fitted on.
    """

    name: str = "none"
    weights: tuple[float, ...] = ()
    n_items: int = 0
    ridge: float = RIDGE

    @classmethod
    def untrained(cls) -> "Lexical":
        """The rule without weights: the option whose rare words the argument names most fully."""
        return cls()

    @classmethod
    def fit(
        cls, inputs: Sequence[ProxyInput], labels: Sequence[int], *, name: str = "none", ridge: float = RIDGE
    ) -> "Lexical":
        """Weights of least mean cross-entropy plus ridge; `labels` are indices of the right options.

        The loss is strictly convex, so there is one solution and no seed. Equal inputs count as often as they
        are there. Raises `InputError` without inputs, and for a label that is no option.
        """
        import numpy as np
        from scipy.optimize import minimize

        if not inputs:
            raise InputError("the lexical evaluator has nothing to be fitted on: no training item was given.")
        for task, label in zip(inputs, labels, strict=True):
            if not 0 <= label < len(task.options):
                n_options = len(task.options)
                raise InputError(
                    f"the label {label} is none of the {n_options} options of {task.question[:60]!r}."
                )
        of_input = {task: features(task) for task in dict.fromkeys(inputs)}
        matrix = np.concatenate([of_input[task] for task in inputs])
        sizes = np.array([len(task.options) for task in inputs])
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        right = starts + np.array(labels)

        def loss(weights: "Floats") -> "tuple[float, Floats]":
            scores = matrix @ weights
            scores -= np.repeat(np.maximum.reduceat(scores, starts), sizes)
            totals = np.add.reduceat(np.exp(scores), starts)
            expected = matrix * (np.exp(scores) / np.repeat(totals, sizes))[:, None]
            value = (np.log(totals) - scores[right]).mean() + ridge / 2 * weights @ weights
            slope = (expected.sum(0) - matrix[right].sum(0)) / len(sizes) + ridge * weights
            return float(value), slope

        start = np.zeros(len(FEATURES))
        fitted = minimize(loss, start, jac=True, method="L-BFGS-B", options={"ftol": 1e-14, "gtol": 1e-9})
        weights = tuple(float(weight) for weight in fitted.x)
        return cls(name=name, weights=weights, n_items=len(of_input), ridge=ridge)

    def predict(self, inputs: Sequence[ProxyInput]) -> list[Prediction]:
        """A prediction for each input, in order; the order of the options changes nothing else."""
        distinct = {task: self._prediction(task) for task in dict.fromkeys(inputs)}
        return [distinct[task] for task in inputs]

    def _prediction(self, task: ProxyInput) -> Prediction:
        import numpy as np

        rows = features(task)
        if self.weights:
            products = (rows * np.array(self.weights)).tolist()
            return Prediction(softmax([math.fsum(row) for row in products]))
        overlap = rows[:, FEATURES.index("rare_share")].tolist()
        best = [value >= max(overlap) - 1e-9 for value in overlap]
        return Prediction(tuple(is_best / sum(best) for is_best in best))

    def to_json(self) -> str:
        """The fitted weights by feature, with what they were fitted on, as JSON."""
        weights = dict(zip(FEATURES, self.weights, strict=True)) if self.weights else None
        about = {"name": self.name, "ridge": self.ridge, "n_items": self.n_items, "weights": weights}
        return json.dumps({"evaluator": "lexical", **about}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str, where: str | Path = "the text") -> "Lexical":
        """What `to_json` wrote. Raises `InputError` for anything else."""
        try:
            raw = read_json(text)
            weights = raw["weights"]
            values = tuple(float(weights[name]) for name in FEATURES) if weights is not None else ()
            fits = raw["evaluator"] == "lexical" and set(weights or FEATURES) == set(FEATURES)
            n_items, ridge, name = int(raw["n_items"]), float(raw["ridge"]), str(raw["name"])
        except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
            fits, values = False, ()
        if not fits or not all(abs(weight) < MOST_WEIGHT for weight in values):
            raise InputError(f"{where} is no lexical evaluator: name a lexical.json that `viva train` wrote.")
        return cls(name=name, weights=values, n_items=n_items, ridge=ridge)


def load_lexical(file: Path) -> Lexical:
    """The lexical evaluator of a file. Raises `InputError` if it is none, or cannot be read."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise InputError(
            f"cannot read {file} ({reason}): name the lexical.json that `viva train` wrote."
        ) from None
    return Lexical.from_json(text, file)


def softmax(scores: Sequence[float]) -> tuple[float, ...]:
    """Probabilities of finite scores, adding up to 1; their order does not change the sum."""
    top = max(scores)
    powers = [math.exp(score - top) for score in scores]
    total = math.fsum(powers)
    return tuple(power / total for power in powers)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _places(words: Sequence[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        places.setdefault(word, []).append(place)
    return places


def _numbers(text: str) -> list[str]:
    return [token for token in clinical_tokens(text) if any(map(str.isdigit, token))]


def _share(
    parts: Collection[object], present: Collection[object], weights: "dict[str, float] | None" = None
) -> float:
    """The share of the parts that are present, each of weight 1 or as given; 0 without parts."""
    weight = {part: 1.0 if weights is None else weights[str(part)] for part in parts}
    total = math.fsum(weight.values())
    return math.fsum(weight[part] for part in parts if part in present) / total if total else 0.0


def _longest_run(words: Sequence[str], places: Mapping[str, Sequence[int]]) -> int:
    """How many adjacent words stand in a text one after the other, at most; `places` of its words there."""
    longest, preceding = 0, dict[int, int]()
    for word in words:
        preceding = {place: preceding.get(place - 1, 0) + 1 for place in places.get(word, ())}
        longest = max(longest, *preceding.values()) if preceding else longest
    return longest
