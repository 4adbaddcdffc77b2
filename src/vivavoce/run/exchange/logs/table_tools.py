"""Results of tools that hand out tables: ragas, LangSmith, Langfuse, Phoenix, MLflow, W&B and Braintrust."""

from collections.abc import Iterable
from typing import ClassVar

from vivavoce.core.registry import log_reader
from vivavoce.core.tables import Line
from vivavoce.run.exchange.logs.mapping import Fields, MappedLog, Names, ScoreColumns, Scores
from vivavoce.run.exchange.recorded_log import LeftOut, RecordedLog, Sample

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
    """An experiment as a table: `inputs.…`, `outputs.…`, `reference.…` and `feedback.…`."""

    tool: ClassVar[str] = "langsmith"
    describes: ClassVar[str] = "an experiment of LangSmith as a table (to_pandas, get_test_results)"
    endings: ClassVar[Names] = _TABLES
    reads_tables: ClassVar[bool] = True
    signs: ClassVar[tuple[Names, ...]] = (("inputs.", "example_id"), ("input.", "outputs.", "feedback."))
    fields: ClassVar[Fields] = Fields(
        item=("example_id",),
        question=("inputs.", "input."),
        answer=("outputs.", "output."),
        key=("reference.", "reference_outputs."),
        error=("error",),
        seconds=("execution_time", "latency"),
        cost=("total_cost",),
    )
    scores = (ScoreColumns(begins="feedback.", note="_comment"),)


@log_reader("langfuse")
class LangfuseExport(MappedLog):
    """Traces, observations or runs on a data set, each with its scores."""

    tool: ClassVar[str] = "langfuse"
    describes: ClassVar[str] = "traces or observations of Langfuse with scores"
    endings: ClassVar[Names] = _TABLES
    reads_tables: ClassVar[bool] = True
    signs: ClassVar[tuple[Names, ...]] = (
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
        candidate=("model", "metadata.model", "providedModelName"),
        error=("statusMessage",),
        tokens=("usageDetails.output", "usage.output", "completionTokens", "outputTokens"),
        seconds=("latency",),
        cost=("totalCost", "calculatedTotalCost", "total_cost"),
    )
    scores = (
        Scores(field=("scores",), note=("comment",), rater=("source",)),
        ScoreColumns(all_but={"tags"}, in_lists=True),
    )
    json_cells: ClassVar[Names] = ("input", "output", "expectedOutput", "metadata", "scores")


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

    def samples(self, line: Line, log: RecordedLog) -> Iterable[Sample | LeftOut]:
        """The answer of a row; a span below the row of a question is none."""
        if line.row.get("is_root") in (False, "false"):
            return (LeftOut(line.where, "a step of an answer"),)
        return super().samples(line, log)


@log_reader("mlflow")
class MLflowTable(MappedLog):
    """`eval_results_table.json`: scores are columns such as `answer_similarity/v1/score`."""

    tool: ClassVar[str] = "mlflow"
    describes: ClassVar[str] = "eval_results_table.json of MLflow"
    rows_at: ClassVar[str] = "data"
    name_ends: ClassVar[str] = "eval_results_table.json"
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
