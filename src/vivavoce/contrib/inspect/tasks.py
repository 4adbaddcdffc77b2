"""What Inspect finds of ours: the task `vivavoce/exam` and the scorer `vivavoce/score`.

Inspect imports this module whenever it looks for extensions, so whatever is heavy is imported when used.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import anyio
from inspect_ai import Task, task
from inspect_ai.scorer import Score, mean, scorer, stderr
from inspect_ai.solver import generate

if TYPE_CHECKING:
    from vivavoce.contrib.inspect.scoring import ResponseScorer

Words = str | Sequence[str]
"""A text; a list, where Inspect's command line has split one at its commas."""


def make_exam(
    spec: Words,
    metrics: Words = (),
    repeats: int = 1,
    system: Words | None = None,
    prompt: str | None = None,
    shots: int = 0,
    plugins: Words = (),
    allow_phi: bool = False,
) -> Any:
    """The benchmark that `spec` names, asked in our words and scored by our metrics.

    `metrics` are specs, such as `rouge(n=L),token_f1`; without any, the rules that fit the formats score.
    `repeats` are Inspect's epochs. `system`, `prompt` and `shots` are as for a candidate of `viva collect`,
    `plugins` are files of yours whose benchmarks and metrics may be named. Raises a `VivaError` for what
    cannot be used, a credentialed benchmark, and without `allow_phi` for items that look like patient data.
    """
    from vivavoce.contrib.inspect.exam import read_exam

    settings = {"system": _text(system), "prompt": prompt or "", "shots": shots}
    files = list(_listed(plugins))
    benchmark = read_exam(_text(spec), _listed(metrics), settings, plugins=files, allow_phi=allow_phi)
    return Task(
        dataset=benchmark.samples,
        solver=generate(),
        # One scorer for all metrics: of two with one name, older versions of Inspect count the first twice.
        scorer=score(metric=list(benchmark.metrics), plugins=files, allow_phi=allow_phi),
        epochs=repeats,
        name=benchmark.name,
        metadata={"vivavoce": dict(benchmark.origin)},
    )


def make_scorer(metric: Words, plugins: Words = (), allow_phi: bool = False) -> Any:
    """The scores of one of our metrics, or of several, one value for each criterion.

    Non-response counts as the criterion says; what has no value (a failure, what is set aside) is unscored.
    `metric` holds specs, such as `rouge(n=L)` or `judge(rubric=medgpt, model=openai/gpt-4o)`; a judge is
    asked by our own client. Raises `SpecError` and `MetricError` for what cannot score a single answer.
    """
    from vivavoce.contrib.inspect.scoring import response_scorer

    rater = response_scorer(_listed(metric), plugins=_listed(plugins), allow_phi=allow_phi)

    async def of_state(state: Any, target: Any) -> Any:
        return await anyio.to_thread.run_sync(_score, rater, state, target)

    return of_state


def _score(rater: "ResponseScorer", state: Any, target: Any) -> Any:
    scored = rater.score(state, target)
    return Score(
        value=scored.values, answer=scored.answer, explanation=scored.explanation, metadata=scored.details
    )


def _text(words: Words | None) -> str:
    """The text as it was written, before it was split at its commas."""
    return words if isinstance(words, str) else ",".join(map(str, words or ()))


def _listed(words: Words) -> tuple[str, ...]:
    return (words,) if isinstance(words, str) else tuple(words)


exam = task(name="exam")(make_exam)
score = scorer(metrics={"*": [mean(), stderr()]}, name="score")(make_scorer)
