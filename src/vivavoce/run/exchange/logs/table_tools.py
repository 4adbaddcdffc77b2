"""Results of tools that hand out tables: ragas, LangSmith, Langfuse, Phoenix, MLflow, W&B and Braintrust."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from vivavoce.core.registry import log_reader
from vivavoce.core.tables import Line
from vivavoce.run.exchange.logs.files import start_of
from vivavoce.run.exchange.logs.mapping import Fields, MappedLog, Names, ScoreColumns, Scores, value_at

_ROLES = {"human": "user", "ai": "assistant"}
_TABLES = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet")
_RAGAS = (
    *("faithfulness", "answer_relevancy", "answer_correctness", "answer_similarity", "semantic_similarity"),
    *("context_precision", "context_recall", "context_entity_recall", "context_relevancy"),
    *("context_utilization", "llm_context_precision_with_reference", "factual_correctness"),
    *("nv_accuracy", "nv_context_relevance", "nv_response_groundedness", "non_llm_string_similarity"),
)
_PARTS: Names = (
    *("user_input", "question", "retrieved_contexts", "contexts", "reference_contexts", "response", "answer"),
    *("reference", "ground_truth", "ground_truths", "rubrics", "reference_topics", "synthesizer_name"),
)


@log_reader("ragas")
class RagasResult(MappedLog):
    """A row for each sample of `result.to_pandas()`; an empty score failed."""

    tool: ClassVar[str] = "ragas"
    describes: ClassVar[str] = "the table of ragas' result.to_pandas()"
    endings: ClassVar[Names] = _TABLES
    reads_tables: ClassVar[bool] = True
    signs: ClassVar[tuple[Names, ...]] = (
        *(("user_input", "response", name) for name in _RAGAS),
        *(("question", "answer", name) for name in _RAGAS),
    )
    fields: ClassVar[Fields] = Fields(
        question=("user_input", "question"),
        answer=("response", "answer"),
        key=("reference", "ground_truth", "ground_truths"),
        context=("retrieved_contexts", "contexts"),
        candidate=("model", "candidate"),
    )
    scores = (ScoreColumns(names=_RAGAS, low=0.0, high=1.0), ScoreColumns(all_but={*_PARTS, *_RAGAS}))
    json_cells: ClassVar[Names] = ("user_input", "retrieved_contexts", "contexts")


@log_reader("langsmith")
class LangSmithExperiment(MappedLog):
    """An experiment as a table: `inputs.…`, `outputs.…`, `reference.…` and `feedback.…`; or runs as they are.

    Of runs calls of a model are answers, and of an experiment the runs that answer an example.
    """

    tool: ClassVar[str] = "langsmith"
    describes: ClassVar[str] = (
        "an experiment of LangSmith as a table (to_pandas, get_test_results), or its runs"
    )
    endings: ClassVar[Names] = _TABLES
    reads_tables: ClassVar[bool] = True
    rows_at: ClassVar[str] = "runs"
    begins: ClassVar[Names] = ("runs", "run_type")
    signs: ClassVar[tuple[Names, ...]] = (
        ("inputs.", "example_id"),
        ("input.", "outputs.", "feedback."),
        *(
            ("inputs", "outputs", name)
            for name in ("run_type", "reference_outputs", "reference_example_id", "feedback_stats")
        ),
    )
    fields: ClassVar[Fields] = Fields(
        item=("example_id", "reference_example_id"),
        question=("inputs.", "input.", "inputs"),
        answer=(
            *("outputs.", "output.", "outputs.generations.0.0.text", "outputs.generations.0.text"),
            *("outputs.choices.0.message.content", "outputs"),
        ),
        key=("reference.", "reference_outputs.", "reference_outputs"),
        candidate=(
            *("extra.metadata.ls_model_name", "extra.invocation_params.model"),
            *("extra.invocation_params.model_name", "metadata.ls_model_name"),
        ),
        error=("error",),
        tokens=("completion_tokens",),
        seconds=("execution_time", "latency"),
        cost=("total_cost",),
    )
    scores = (
        ScoreColumns(begins="feedback.", note="_comment"),
        Scores(field=("feedback",), name=("key", "name"), note=("comment",)),
        Scores(field=("feedback_stats",), value=("avg",)),
    )
    json_cells: ClassVar[Names] = (
        *("inputs", "outputs", "reference_outputs", "extra", "metadata", "feedback", "feedback_stats"),
    )
    kind: ClassVar[Names] = ("run_type",)
    answer_kinds: ClassVar[Names] = ("llm",)

    def rows(self, path: Path) -> Iterator[Line]:
        """The rows, with messages of LangChain as other tools write them."""
        for line in super().rows(path):
            inputs = line.row.get("inputs")
            turns = _turns(inputs.get("messages")) if isinstance(inputs, Mapping) else None
            yield Line(line.where, {**line.row, "inputs": turns}) if turns else line

    def is_step(self, row: Mapping[str, Any]) -> bool:
        """Whether a run is neither a call of a model nor what answers an example of a data set."""
        is_root = not value_at(row, ("parent_run_id", "parent_run_ids"))
        return super().is_step(row) and not (is_root and row.get("reference_example_id"))


def _turns(messages: Any) -> list[dict[str, Any]]:
    """Messages of LangChain, possibly a list in a list, with role and content; none of any other."""
    if isinstance(messages, list) and len(messages) == 1 and isinstance(messages[0], list):
        messages = messages[0]
    turns = []
    for message in messages if isinstance(messages, list) else ():
        turn = message.get("kwargs", message) if isinstance(message, Mapping) else {}
        if not isinstance(turn, Mapping) or "content" not in turn:
            return []
        role = str(turn.get("role") or turn.get("type"))
        turns.append({"role": _ROLES.get(role, role), "content": turn["content"]})
    return turns


@log_reader("langfuse")
class LangfuseExport(MappedLog):
    """Traces, observations or runs on a data set, each with its scores."""

    tool: ClassVar[str] = "langfuse"
    describes: ClassVar[str] = "traces or observations of Langfuse with scores"
    endings: ClassVar[Names] = _TABLES
    reads_tables: ClassVar[bool] = True
    signs: ClassVar[tuple[Names, ...]] = (
        *(("input", "output", trace, "type") for trace in ("traceId", "trace_id")),
        *(
            ("input", "output", "scores", name)
            for name in ("traceId", "trace_id", "sessionId", "observations")
        ),
        ("input", "output", "timestamp", "sessionId"),
    )
    fields: ClassVar[Fields] = Fields(
        item=("datasetItemId", "dataset_item_id"),
        question=("input",),
        answer=("output",),
        key=("expectedOutput", "expected_output", "metadata.expected_output"),
        candidate=("model", "metadata.model", "providedModelName", "provided_model_name"),
        error=("statusMessage", "status_message"),
        tokens=(
            "usageDetails.output",
            "usage_details.output",
            "usage.output",
            "completionTokens",
            "outputTokens",
        ),
        seconds=("latency",),
        cost=("totalCost", "calculatedTotalCost", "total_cost"),
    )
    scores = (
        Scores(field=("scores",), note=("comment",), rater=("source",)),
        ScoreColumns(all_but={"tags"}, in_lists=True),
    )
    json_cells: ClassVar[Names] = (
        *("input", "output", "expectedOutput", "metadata", "scores", "usageDetails", "usage_details"),
    )
    kind: ClassVar[Names] = ("type",)
    answer_kinds: ClassVar[Names] = ("generation",)


@log_reader("phoenix")
class PhoenixExperiment(MappedLog):
    """An experiment of Phoenix with its annotations, or spans with evaluations in columns."""

    tool: ClassVar[str] = "phoenix"
    describes: ClassVar[str] = "an experiment of Phoenix as JSON, or a table of evaluated spans"
    endings: ClassVar[Names] = _TABLES
    reads_tables: ClassVar[bool] = True
    signs: ClassVar[tuple[Names, ...]] = (
        ("example_id", "repetition_number", "output"),
        ("attributes.input.value", "attributes.output.value"),
    )
    fields: ClassVar[Fields] = Fields(
        item=("example_id",),
        question=("input", "attributes.input.value"),
        answer=("output", "attributes.output.value"),
        key=("reference_output", "expected"),
        candidate=("attributes.llm.model_name", "metadata.model"),
        repeat=("repetition_number",),
        error=("error",),
        tokens=("completion_token_count", "attributes.llm.token_count.completion"),
        milliseconds=("latency_ms",),
    )
    scores = (
        Scores(field=("annotations", "evaluations"), rater=("annotator_kind",)),
        ScoreColumns(begins="eval.", ends=".score", note=".explanation"),
    )
    json_cells: ClassVar[Names] = ("input", "output", "reference_output", "expected", "annotations")
    kind: ClassVar[Names] = ("span_kind", "attributes.openinference.span.kind")
    answer_kinds: ClassVar[Names] = ("llm",)


@log_reader("braintrust")
class BraintrustExperiment(MappedLog):
    """An experiment of Braintrust: rows with `input`, `output`, `expected` and `scores` between 0 and 1."""

    tool: ClassVar[str] = "braintrust"
    describes: ClassVar[str] = "an experiment of Braintrust as JSON or CSV"
    endings: ClassVar[Names] = _TABLES
    reads_tables: ClassVar[bool] = True
    signs: ClassVar[tuple[Names, ...]] = (
        ("input", "output", "scores", "root_span_id"),
        ("input", "output", "scores", "span_id"),
    )
    fields: ClassVar[Fields] = Fields(
        item=("origin.id", "dataset_record_id"),
        question=("input",),
        answer=("output",),
        key=("expected",),
        candidate=("metadata.model", "experiment_name"),
        error=("error",),
        tokens=("metrics.completion_tokens",),
        seconds=("metrics.duration",),
        cost=("metrics.estimated_cost",),
    )
    scores = (Scores(field=("scores",), low=0.0, high=1.0),)
    json_cells: ClassVar[Names] = ("input", "output", "expected", "scores", "metadata", "metrics", "origin")

    def is_step(self, row: Mapping[str, Any]) -> bool:
        """Whether a row is a span below the row of a question."""
        return str(row.get("is_root")).lower() == "false"


@log_reader("mlflow")
class MLflowTable(MappedLog):
    """`eval_results_table.json`, under whatever name: scores are columns as `answer_similarity/v1/score`."""

    tool: ClassVar[str] = "mlflow"
    describes: ClassVar[str] = (
        "eval_results_table.json of MLflow, under another name with a column METRIC/v1/score"
    )
    rows_at: ClassVar[str] = "data"
    begins: ClassVar[Names] = ("columns", "data")
    fields: ClassVar[Fields] = Fields(
        question=("inputs", "question", "input", "request", "prompt"),
        answer=("outputs", "predictions", "prediction", "response"),
        key=("ground_truth", "targets", "target", "expected_response"),
        context=("context", "retrieved_context"),
        candidate=("model", "params.model"),
        tokens=("token_count",),
        seconds=("latency",),
    )
    scores = (ScoreColumns(ends="/score", note="/justification"),)

    def knows(self, path: Path) -> bool:
        """Told by columns and data, and by the name of the file or of a column of scores."""
        named = path.name.endswith("eval_results_table.json")
        return super().knows(path) and (named or _METRIC.search(start_of(path)) is not None)


_METRIC = re.compile(r'/v\d+/score"')
_OF_TABLE = Fields(
    item=("id", "item", "item_id", "question_id", "example_id"),
    question=("question", "input", "inputs", "prompt", "query", "user_input", "instruction"),
    answer=(
        *("answer", "output", "outputs", "response", "prediction", "completion", "generation"),
        *("model_output", "model_answer", "generated_text"),
    ),
    key=(
        *("expected", "target", "reference", "ground_truth", "label", "gold", "correct_answer"),
        *("expected_output", "expected_answer"),
    ),
    context=("context", "contexts"),
    category=("category", "topic", "subject"),
    candidate=("model", "model_name", "candidate"),
    repeat=("repeat", "epoch", "trial"),
    tokens=("tokens", "completion_tokens", "output_tokens"),
    seconds=("seconds", "latency"),
    cost=("cost",),
)
_NO_SCORES = {"index", "row", "step", "_step", "idx", *_OF_TABLE.names}


@log_reader("wandb")
class WeightsAndBiasesTable(MappedLog):
    """A logged table, whose columns people name: the usual names are known, other numbers are scores."""

    tool: ClassVar[str] = "wandb"
    describes: ClassVar[str] = "*.table.json of Weights & Biases"
    rows_at: ClassVar[str] = "data"
    name_ends: ClassVar[str] = ".table.json"
    begins: ClassVar[Names] = ("columns", "data")
    fields: ClassVar[Fields] = _OF_TABLE
    scores = (ScoreColumns(all_but=_NO_SCORES),)
