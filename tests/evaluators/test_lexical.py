"""The lexical evaluator: it looks how far an argument names an option, and nothing else."""

import json
import math
from itertools import takewhile
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from vivavoce.core.errors import InputError
from vivavoce.evaluators.lexical import FEATURES, RIDGE, Lexical, features, load_lexical, softmax
from vivavoce.evaluators.proxy_task import ProxyInput

SHOWN = ProxyInput(
    "Which dose of iron?", ("Iron 2.5 mg daily.", "Iron 25 mg", "No iron, no aspirin"),
    "Give 2.5 mg: iron 25 mg daily is too much, and daily doses are simple.",
)  # fmt: skip
SOURCES = {"GPT4": 82.35, "Expert": 70.25, "OpenBioLLM": 56.64, "Llama3": 57.65}
"""Accuracy of the untrained rule in the published analysis (ranking_dahl.md, A0.3), in per cent."""
CONTROLS = ("No_Argument", "Noise", "Label_Only", "IR_Passages")


def test_the_features_by_hand():
    """Words: iron 2 5 mg daily; iron 25 mg; no iron no aspirin. Rarity: ln(4 / options with the word)."""
    rare = {"iron": math.log(4 / 3), "mg": math.log(4 / 2)} | dict.fromkeys(
        ("2", "5", "daily", "25", "no", "aspirin"), math.log(4)
    )
    iron, mg, word = rare["iron"], rare["mg"], math.log(4)
    one, two = math.log(2), math.log(3)
    first = iron + mg + 3 * word
    assert features(SHOWN)[0] == pytest.approx(
        [1, 1, 3 / 4, 3 / 5, 0, 1, iron / first, (one * (iron + 2 * word) + two * (mg + word)) / first]
    )
    second = iron + mg + word
    assert features(SHOWN)[1] == pytest.approx(
        [1, 1, 1, 1, 1, 1, iron / second, (one * (iron + word) + two * mg) / second]
    )
    third = iron + 2 * word
    assert features(SHOWN)[2] == pytest.approx(
        [1 / 3, iron / third, 0, 1 / 4, 0, 0, iron / third, one * iron / third]
    )


def test_without_an_argument_or_words_there_is_no_overlap():
    assert [[0] * 6, [0] * 6] == features(ProxyInput("q", ("a b", "c")))[:, :6].tolist()
    assert [0] * 8 == features(ProxyInput("q", ("?!", "c"), "c ?!"))[0].tolist()


def test_untrained_the_option_named_most_fully_is_best_and_ties_are_shared():
    first, blank, tie = Lexical.untrained().predict(
        [
            ProxyInput("q", ("iron", "aspirin"), "Take iron."),
            ProxyInput("q", ("iron", "aspirin", "rest", "tea")),
            ProxyInput("q", ("iron", "aspirin", "rest"), "Iron or aspirin."),
        ]
    )
    assert (1.0, 0.0) == first.probabilities
    assert (0.25,) * 4 == blank.probabilities
    assert 0.25 == blank.right(2)
    assert [0.5, 0.5, 0.0] == [tie.right(k) for k in range(3)]


def test_the_order_of_options_changes_nothing_else():
    turned = SHOWN._replace(options=SHOWN.options[::-1])
    for lexical in (Lexical.untrained(), Lexical(weights=(0.3, 2.2, 0.6, -0.1, -0.2, 0.2, -1.6, 1.7))):
        (straight,), (reverse,) = lexical.predict([SHOWN]), lexical.predict([turned])
        assert straight.probabilities == reverse.probabilities[::-1]
        assert 1 == pytest.approx(sum(straight.probabilities))


def test_the_weights_are_those_of_the_least_loss():
    """Golden: the same loss written out item by item, minimised by another method."""
    inputs = [SHOWN, ProxyInput("Fever?", ("yes", "no"), "yes, no fever"), ProxyInput("?", ("a", "b"), "b")]
    labels = [1, 1, 1]

    def loss(weights):
        losses = [
            -math.log(softmax((features(x) @ weights).tolist())[y])
            for x, y in zip(inputs, labels, strict=True)
        ]
        return np.mean(losses) + RIDGE / 2 * weights @ weights

    expected = minimize(loss, np.zeros(8), method="BFGS", options={"gtol": 1e-7}).x
    assert expected == pytest.approx(np.array(Lexical.fit(inputs, labels).weights), abs=1e-3)


def test_a_fit_depends_on_no_order_and_no_seed():
    inputs = [SHOWN, SHOWN._replace(argument="No iron."), ProxyInput("q", ("yes", "no"), "no")]
    forth, back = Lexical.fit(inputs, [1, 2, 1]), Lexical.fit(inputs[::-1], [1, 2, 1])
    assert forth.weights == pytest.approx(back.weights, abs=1e-5)


def test_what_cannot_be_fitted_is_said():
    with pytest.raises(InputError, match="nothing to be fitted on"):
        Lexical.fit([], [])
    with pytest.raises(InputError, match="label 3 is none of the 3 options"):
        Lexical.fit([SHOWN], [3])


def test_a_file_gives_the_evaluator_back_and_holds_no_training_text(tmp_path: Path):
    lexical = Lexical.fit([SHOWN], [1], name="mixture-2")
    (tmp_path / "lexical.json").write_text(lexical.to_json(), encoding="utf-8")
    assert lexical == load_lexical(tmp_path / "lexical.json")
    assert set(FEATURES) == json.loads(lexical.to_json())["weights"].keys()
    assert "iron" not in lexical.to_json().lower()


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "[" * 5000, '{"weights": {"share": 1}}', Lexical.untrained().to_json()[:-40]]
)
def test_another_file_is_refused(text: str):
    with pytest.raises(InputError, match=r"x.json is no lexical evaluator"):
        Lexical.from_json(text, "x.json")


@pytest.mark.parametrize("weight", ["NaN", "Infinity", "1e300"])
def test_weights_that_are_no_sound_numbers_are_refused(weight: str):
    raw = json.loads(Lexical(weights=(1.0,) * 8).to_json())
    text = json.dumps(raw).replace('"share": 1.0', f'"share": {weight}')
    with pytest.raises(InputError, match="no lexical evaluator"):
        Lexical.from_json(text)


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(InputError, match=r"cannot read .*none.json"):
        load_lexical(tmp_path / "none.json")


def _lines(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def sources(shared: Path) -> dict[str, tuple[list[ProxyInput], list[int]]]:
    """The 119 items of the published test files, with the argument of each source."""
    folder = shared / "data" / "casimedicos" / "tests"
    tasks = _lines(folder / "en.test_casimedicos_No_Argument.jsonl")
    read = {}
    for source in (*SOURCES, *CONTROLS):
        rows = _lines(folder / f"en.test_casimedicos_{source}.jsonl")
        read[source] = _inputs([(t["question"], r) for t, r in zip(tasks[::5], rows[::5], strict=True)])
    return read


@pytest.fixture(scope="module")
def fitted(shared: Path) -> Lexical:
    """Fitted on the published training mixture."""
    groups: dict[tuple, list[dict]] = {}
    (file,) = (shared / "data" / "casimedicos").glob("en.train_*")
    for row in _lines(file):
        groups.setdefault(tuple(sorted(row["options"].values())), []).append(row)
    with_task = []
    for rows in groups.values():
        texts = {row["question"] for row in rows}
        if len(texts) > 1:  # the arguments differ: what they share is the question
            pairs = takewhile(lambda both: both[0] == both[1], zip(min(texts), max(texts), strict=False))
            question = "".join(letter for letter, _ in pairs)
            with_task += [(question, row) for row in rows]
    return Lexical.fit(*_inputs(with_task), name="mixture-1")


def _inputs(rows: list[tuple[str, dict]]) -> tuple[list[ProxyInput], list[int]]:
    inputs, labels = [], []
    for question, row in rows:
        assert row["question"].startswith(question)
        options = tuple(text for text in row["options"].values() if text.strip())
        labels.append(options.index(row["options"][str(row["correct_option"])]))
        inputs.append(ProxyInput(question.strip(), options, row["question"][len(question) :].strip()))
    return inputs, labels


def _accuracy(lexical: Lexical, inputs: list[ProxyInput], labels: list[int]) -> float:
    predictions = lexical.predict(inputs)
    return 100 * sum(p.right(y) for p, y in zip(predictions, labels, strict=True)) / len(labels)


def test_untrained_it_scores_the_published_arguments_as_the_analysis_says(sources):
    """Within 1.2 points, 1.4 items of 119, of the reference, whose rarity is counted otherwise."""
    scored = {source: _accuracy(Lexical.untrained(), *sources[source]) for source in SOURCES}
    assert SOURCES == pytest.approx(scored, abs=1.2)
    assert 22.69 == pytest.approx(_accuracy(Lexical.untrained(), *sources["No_Argument"]), abs=0.005)


def test_fitted_it_ranks_every_source_above_every_control(sources, fitted: Lexical):
    scored = {source: _accuracy(fitted, *sources[source]) for source in sources}
    assert min(scored[source] for source in SOURCES) > 2 * max(scored[source] for source in CONTROLS)
    assert ["GPT4", "Expert", "OpenBioLLM", "Llama3"] == sorted(SOURCES, key=lambda s: -scored[s])


def test_the_text_of_a_wrong_label_fools_it_wholly(sources, fitted: Lexical):
    inputs, labels = sources["No_Argument"]

    def named(step: int) -> list[ProxyInput]:
        return [
            task._replace(argument=f"The correct answer is {task.options[(y + step) % len(task.options)]}")
            for task, y in zip(inputs, labels, strict=True)
        ]

    assert _accuracy(fitted, named(1), labels) < 1
    assert _accuracy(fitted, named(0), labels) > 99
