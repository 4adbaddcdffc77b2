"""The door for metrics: ours and the examples keep the rules, a plugin works like ours, a breach is named."""

import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each_case
from tests.embeddings.tiny_bert import tiny_bert
from tests.lengths import length
from tests.run.collect.likely import FakeLikely
from tests.studies.making import made

import vivavoce as viva
from vivavoce.core import registry
from vivavoce.core.errors import SpecError
from vivavoce.core.records import Criterion, Item, Response, Row, Value
from vivavoce.formats import read_response
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.models.candidates import CandidateConfig
from vivavoce.models.engine.client import CallResult
from vivavoce.models.requests import Message, Request
from vivavoce.testing import check_metric

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PACKAGE = Path(__file__).parent / "package"


@each_case(
    "spec",
    [
        "accuracy",
        "answer_leak",
        "bleu",
        "chrf",
        "confidence(of=stated)",
        "confidence(of=repeats)",
        "confidence(of=likelihood)",
        "exact",
        "extract",
        "label_f1",
        "label_f1(labels=[True, False])",
        "list_f1",
        "meteor",
        "rouge(n=1)",
        "rouge(n=L)",
        "similarity",
        "relation_f1(direction=false)",
        "step_accuracy",
        "token_f1",
        "medsynf1(extractor=chunk)",
        "canary(text='x 6f1c0c2e-8a1d-4f0e-9b65-2d7c3a9e5b10', decoys=3)",
        "options",
        "options(norm=byte, rotate=true)",
        "perplexity",
        "perplexity(given=nothing)",
        "second_half",
        "relaxed_perplexity(n=4, stride=2)",
        *length((), ("bertscore", "bertscore(layers=[2, 6], idf=true)", "moverscore(n=2)")),
    ],
)
def test_our_own_metrics_keep_the_rules(spec: str) -> None:
    check_metric(spec)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small encoder: in the gate one metric is asked with that of the package."""
    return tiny_bert(tmp_path_factory.mktemp("encoder") / "bert")


@pytest.mark.parametrize(
    "spec", ["bertscore({})", "bertscore({}, layers=[1, 2], idf=true)", "moverscore({}, n=2)"]
)
def test_our_own_metrics_by_an_encoder_keep_the_rules(spec: str, encoder: Path) -> None:
    check_metric(spec.format(f"encoder='{encoder}'"))


def test_our_own_metric_of_a_planted_answer_keeps_the_rules() -> None:
    check_metric(
        "planted", [row(text, meta={"planted": "aspirin"}) for text in ("Aspirin.", "Rest.", "Rest.")]
    )


@pytest.mark.parametrize(
    ("file", "spec"),
    [
        ("plugin_metric.py", "brevity(words=5)"),
        ("plugin_comparative_metric.py", "shorter"),
        ("plugin_logprob_metric.py", "surprise"),
    ],
)
def test_the_examples_keep_the_rules_in_thirty_lines(file: str, spec: str) -> None:
    registry.load_plugin(EXAMPLES / file)
    check_metric(spec)
    assert 30 >= len((EXAMPLES / file).read_text(encoding="utf-8").splitlines())


class FixedClient:
    """Gives every request the same reply."""

    def __init__(self, text: str) -> None:
        self.text = text

    def ask(
        self,
        model: object,
        requests: Sequence[Request],
        readers: Sequence[Callable[[str], Any]],
        **more: object,
    ) -> list[CallResult[Any]]:
        return [CallResult(reader(self.text), "") for reader in readers]


@pytest.mark.parametrize(
    ("rubric", "reply"),
    [
        (EXAMPLES / "rubrics" / "clarity.md", '{"clarity": 2}'),
        ("correctness", '{"correct": 0.5}'),
        ("healthbench", '{"met": true}'),
        ("pairwise", '{"winner": "B"}'),
        ("listwise", '{"ranking": ["B", "A"]}'),
    ],
)
def test_a_judge_by_a_rubric_keeps_the_rules_without_any_python(rubric: object, reply: str) -> None:
    context = ScoringContext(FixedClient(reply))  # type: ignore[arg-type]
    check_metric(f"judge(rubric='{rubric}', model=vllm/fake)", context=context)


def test_a_comparative_plugin_scores_ballots_from_the_command_line(
    tmp_path: Path, viva: Callable[..., Any]
) -> None:
    run = made(tmp_path, {"A": {"q1": "short"}, "B": {"q1": "much longer"}, "C": {"q1": "five5"}})
    plugin = EXAMPLES / "plugin_comparative_metric.py"
    done = viva("score", run.file.path, "shorter", "--plugin", plugin, "--json")
    rows = json.loads(done.stdout)["rows"]
    assert {"A": 0.75, "B": 0.0, "C": 0.75} == {r["candidate"]: r["estimate"] for r in rows}


def test_a_plugin_of_log_likelihoods_is_collected_and_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CandidateConfig, "connect", lambda self: FakeLikely(str(self.spec)))
    exam = tmp_path / "exam.jsonl"
    exam.write_text('{"id": "q1", "question": "Q?", "format": "short", "answer": "four"}\n', encoding="utf-8")
    run = viva.open(tmp_path / "run.viva", plugins=[str(EXAMPLES / "plugin_logprob_metric.py")])
    run.collect(f"jsonl(path={exam})", models=["vllm/m"], for_=["surprise"])
    run.score("surprise")
    (record,) = map(json.loads, run.responses.filter(probe="first_reference")["logprobs"])
    assert [record["nats"] / 4] == run.scores["value"].to_list()


def test_a_package_is_found_by_its_entry_point_once_it_is_installed(tmp_path: Path) -> None:
    source, target = shutil.copytree(PACKAGE, tmp_path / "source"), tmp_path / "installed"
    offline = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    pip = [sys.executable, "-m", "pip", "install", *offline, "--target", str(target), str(source)]
    subprocess.run(pip, check=True, capture_output=True)
    path = os.pathsep.join([str(target), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", "vivavoce", "show", "wordiness", "--json"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    (shown,) = json.loads(done.stdout)["rows"]
    assert ("wordiness()@1", "words") == (shown["signature"], shown["criteria"][0]["criterion"])


def test_a_class_without_the_base_is_refused_and_told_what_to_write() -> None:
    with pytest.raises(SpecError) as error:

        @registry.metric("loose")
        class Loose:
            criteria = (Criterion(criterion="x"),)
            formats = ("short",)

            def values(self, rows: Any, context: Any) -> list[Any]:
                return []

    assert str(error.value) == (
        "the metric 'loose' does not derive from vivavoce.Metric: write `class Loose(Metric):` and import "
        "Metric from vivavoce."
    )


@pytest.mark.parametrize(
    ("base", "members"),
    [
        (viva.Metric, "criteria, formats, values"),
        (viva.ComparativeMetric, "compare, criteria, formats, orders"),
        (viva.LogprobMetric, "criteria, formats, logprob_requests, values"),
    ],
)
def test_what_a_class_lacks_is_named(base: type, members: str) -> None:
    with pytest.raises(SpecError, match=f"the metric 'bare' has no {members}: every metric needs that"):
        registry.metric("bare")(type("Bare", (base,), {}))


def test_the_defaults_are_no_settings() -> None:
    registry.load_plugin(EXAMPLES / "plugin_metric.py")
    assert {"words": "a whole number"} == registry.settings(registry.find("metric", "brevity"))
    metric = registry.build("metric", "brevity")
    assert ((), "", False, (), ()) == (
        metric.needs, metric.rater, metric.comparative, metric.extra_files, metric.tokenizer_dependent
    )  # fmt: skip
    assert metric is metric.bind([])
    assert [True, False] == [
        metric.applies_to(Item(benchmark="b", item="q", format=form, question="?"))
        for form in ("short", "mcq")
    ]


def row(text: str, **fields: Any) -> Row:
    item = Item(benchmark="b", item="q", format="short", question="?", references=("fever",), **fields)
    return Row(item, Response(benchmark="b", item="q", candidate="A", text=text), read_response(item, text))


def registered(values: Callable[[Sequence[Row]], Any], **criterion: Any) -> Metric:
    """A metric of these values, registered as `mine`."""

    def method(self: object, rows: Sequence[Row], context: object) -> Any:
        return values(rows)

    body = {"criteria": (Criterion(criterion="x", **criterion),), "formats": ("short",), "values": method}
    built: Metric = registry.metric("mine")(type("Mine", (Metric,), body))()
    return built


def x(value: float | None, **more: Any) -> Mapping[str, Value]:
    return {"x": Value(value, **more)}


def raising(rows: Sequence[Row]) -> Any:
    return 1 / len(rows) and rows[0].item.meta["absent"]


BREACHES: dict[str, tuple[Callable[[Sequence[Row]], Any], str]] = {
    "raises": (raising, "raises KeyError"),
    "a row too few": (lambda rows: [x(0.5) for _ in rows[1:]], "values for"),
    "no value of a criterion": (lambda rows: [{} for _ in rows], "no value for its criterion 'x'"),
    "no Value": (lambda rows: [{"x": 0.5} for _ in rows], "a Value with a status of"),
    "NaN": (lambda rows: [x(math.nan) for _ in rows], "outside its declared range"),
    "infinity": (lambda rows: [x(math.inf) for _ in rows], "outside its declared range"),
    "larger than any measurement": (lambda rows: [x(1e300) for _ in rows], "1e+300 is larger than 1e+60"),
    "out of range": (lambda rows: [x(1.5) for _ in rows], "outside its declared range 0 to 1"),
    "a value and a failure": (lambda rows: [x(0.5, status="failed") for _ in rows], "goes with status ok"),
    "a failure in silence": (lambda rows: [x(None, status="failed") for _ in rows], "no note that says why"),
    "set aside in silence": (
        lambda rows: [x(None, status="set_aside") for _ in rows],
        "no note that says why",
    ),
    "a part is NaN": (lambda rows: [x(0.5, parts={"n": math.nan}) for _ in rows], "must be finite"),
    "the place in the batch": (lambda rows: [x(k / 99) for k, _ in enumerate(rows)], "two equal responses"),
    "the size of the batch": (lambda rows: [x(1 / len(rows)) for _ in rows], "in a batch and by itself"),
    "something for nothing": (lambda rows: [x(0.5) for _ in rows] or [x(0.5)], "values for no rows"),
    "the first row of the batch": (
        lambda rows: [x(float(r.response.text == rows[0].response.text)) for r in rows],
        "in another order of the rows",
    ),
}  # fmt: skip


@each_case("breach", BREACHES)
def test_a_metric_that_breaks_a_rule_is_named_with_it(breach: str) -> None:
    values, words = BREACHES[breach]
    with pytest.raises(AssertionError, match=r"^(the metric )?mine") as error:
        check_metric(registered(values))
    assert words in str(error.value)


def test_an_infinite_value_is_refused_on_a_scale_without_a_limit() -> None:
    with pytest.raises(AssertionError, match="inf lies outside its declared range"):
        check_metric(registered(lambda rows: [x(math.inf) for _ in rows], high=None))


def test_a_declaration_that_makes_no_sense_is_named() -> None:
    with pytest.raises(AssertionError, match="its range must run upwards"):
        check_metric(registered(lambda rows: [], low=1.0, high=0.0))


def test_a_metric_of_other_items_than_the_examples_wants_rows() -> None:
    metric = registered(lambda rows: [x(float("fever" in r.reading.text.lower())) for r in rows])
    check_metric(metric, [row("Fever."), row("Pain.")])
    with pytest.raises(AssertionError, match="mine applies to none of the example items: give rows"):
        check_metric(metric, [])


def test_the_prompt_of_a_request_is_the_candidate_s_own() -> None:
    registry.load_plugin(EXAMPLES / "plugin_logprob_metric.py")
    requests = registry.build("metric", "surprise").logprob_requests
    (request,) = requests.score(row("x").item, lambda item: (Message("user", f"Now: {item.question}"),), ())
    assert ("Now: ?", "fever") == (request.messages[0].content, request.target)
