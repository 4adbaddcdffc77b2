"""What an import of answers did, in numbers and in sentences."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from vivavoce.core.exclusions import ExclusionCounts
from vivavoce.core.text import one_line
from vivavoce.run.exchange.rater_columns import RaterColumn
from vivavoce.studies.text import and_so, count


def odd_texts(server_errors: Mapping[str, int], escaped: Mapping[str, int]) -> list[str]:
    """The sentences on texts that are the error of a server, by what it says, and on escaped line ends.

    `escaped` counts by candidate the answers that hold some.
    """
    notes = []
    if n := sum(server_errors.values()):
        error, _ = max(server_errors.items(), key=lambda entry: entry[1])
        are = "answer is a server's error and counts" if n == 1 else "answers are a server's error and count"
        notes.append(f"{n:,} {are} as failed, such as {one_line(error, 60)!r}.")
    if escaped:
        names = and_so([f"{count(n, 'answer')} of {one_line(name, 40)}" for name, n in escaped.items()])
        notes.append(f"Line ends stand as a backslash and an n in {names}: they are read as line ends.")
    return notes


def left_out_text(left_out: Mapping[str, int]) -> str:
    """The sentence on the rows of a log that give no answer; '' for none."""
    reasons = ", ".join(f"{n:,} ({reason})" for reason, n in left_out.items())
    return f"Rows without an answer are left out: {reasons}." if reasons else ""


def unnamed_text(name: str, n_answers: int, n_models: int) -> str:
    """The sentence on answers without a model, which stand under `name`; the log names so many models."""
    if not n_models:
        return f"The log names no model: its answers stand under {name!r}; --set candidate=NAME names it."
    names = "names no model" if n_answers == 1 else "name no model"
    return (
        f"{count(n_answers, 'answer')} {names} and the log has {n_models}: under {name!r}, until the file "
        "says which model it was."
    )


def only_model_text(n_answers: int, model: str) -> str:
    """The sentence on answers without a model in a log that names one."""
    are = "names no model: it is" if n_answers == 1 else "name no model: they are"
    return f"{count(n_answers, 'answer')} {are} taken as {one_line(model, 40)}'s, the only one in the log."


def lost_scores_text(n_scores: int) -> str:
    """The sentence on scores of answers that never came."""
    are = "is" if n_scores == 1 else "are"
    return f"{count(n_scores, 'score')} of failed answers {are} left out: nothing was there to be scored."


def joined_text(joined: Mapping[str, int]) -> list[str]:
    """The sentence on rows that found their question by other than its id; none where all did by that."""
    if not {*joined} - {"id"}:
        return []
    words = {"id": "its id", "words": "its words", "row": "its place in the exam"}
    parts = [f"{count(n, 'row')} by {words[way]}" for way, n in sorted(joined.items())]
    return [f"The question was told of {and_so(parts)}."]


def forgotten_text(n_answers: int) -> list[str]:
    """The sentence on answers that the run was told to forget, or whose questions it was; none for none."""
    are = "answer is" if n_answers == 1 else "answers are"
    subject = "it, or its question," if n_answers == 1 else "they, or their questions,"
    return [f"{n_answers:,} {are} left out: {subject} had been forgotten in this run."] if n_answers else []


def file_scores_text(n_scores: Mapping[str, int]) -> list[str]:
    """The sentence on the scores that a file gave to its answers, by column; none without any."""
    if not n_scores:
        return []
    columns = and_so([f"{one_line(column, 40)} ({n:,})" for column, n in n_scores.items()])
    return [
        f"The file's own scores were kept under the metric file, apart from ours: {columns}. `viva score` "
        "compares them."
    ]


def logprobs_text(n: int) -> list[str]:
    """The sentence on what a table says of the options of questions; none without it."""
    if not n:
        return []
    return [
        f"The log-probabilities of options were kept for {count(n, 'answer')}: `viva score RUN options` and "
        "`confidence:of=likelihood` read them."
    ]


def people_scores_text(raters: Sequence[RaterColumn], n_scores: Mapping[str, int]) -> list[str]:
    """The sentences on people's scores that came with the answers, by criterion; none without any."""
    if not n_scores:
        return []
    by_criterion: dict[str, list[str]] = {}
    for rater in raters:
        name = f"{one_line(rater.rater, 40)} ({n_scores.get(rater.column, 0):,})"
        by_criterion.setdefault(rater.criterion, []).append(name)
    criteria = [f"{one_line(name, 40)} by {and_so(names)}" for name, names in by_criterion.items()]
    total = count(sum(n_scores.values()), "score")
    return [
        f"People's scores were kept under the metric people, {total}: {'; '.join(criteria)}. `viva study RUN "
        "agreement` compares the raters."
    ]


class Imported(NamedTuple):
    """What an import of answers did, in rows of the file.

    `skipped` rows answer items outside the benchmark, or that its settings leave out; `skipped_items` names
    these. `forgotten` answers had been forgotten in this run, or their questions, and stay out. `probes` rows
    hold what a model told of its probabilities: they are no answers in words, and are left out too. The
    benchmark has `questions` in so many `cases`; `repeated` of them repeat another one, `near_repeated` more
    nearly (null if not looked for), which are one case with it if `near_joined`. `matched` gives the columns
    that were found under other names than ours, by field; `formats` how many questions were taken for each
    format, where the table stated none; `left_out` the columns not used. `benchmark` is the spec of what was
    answered, `benchmark_name` its name; `exclusions` counts by reason the rows that it leaves out, `excluded`
    of `excluded_of` in all. `server_errors` answers are the error of a server, and failed;
    `escaped_line_ends` have a backslash and an n for a line end. `delimiter`, `encoding` and `sheet` are how
    a file was read, null where its kind has none; `guess` says why one of them was guessed. `row_counts` says
    what became of each of the file's rows, `joined` what told their question: id, words or row. `file_scores`
    counts by column the scores that the file gave to its answers, `people_scores` those of people. `logprobs`
    counts what was said of the options of a question beside, or in place of, an answer in words. `notes` are
    sentences on what the log of another tool lacks.
    """

    responses: int
    candidates: int
    items: int
    blank: int
    failed: int
    skipped: int
    new: int
    unchanged: int
    replaced: int
    identical_repeats: tuple[str, ...]
    forgotten: int = 0
    probes: int = 0
    skipped_items: tuple[str, ...] = ()
    questions: int = 0
    repeated: int = 0
    cases: int = 0
    near_repeated: int | None = None
    near_joined: bool = False
    group_level: str | None = None
    outer_level: str | None = None
    n_outer: int | None = None
    server_errors: int = 0
    escaped_line_ends: int = 0
    matched: Mapping[str, str] = {}
    formats: Mapping[str, int] = {}
    left_out: tuple[str, ...] = ()
    delimiter: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    guess: str = ""
    notes: tuple[str, ...] = ()
    benchmark: str = ""
    benchmark_name: str = ""
    excluded: int = 0
    excluded_of: int | None = None
    exclusions: Mapping[str, int] = {}
    row_counts: Mapping[str, int] = {}
    joined: Mapping[str, int] = {}
    file_scores: Mapping[str, int] = {}
    people_scores: Mapping[str, int] = {}
    logprobs: int = 0

    def __str__(self) -> str:
        return f"{self._answers} {self.left_out_text}".rstrip()

    @property
    def left_out_text(self) -> str:
        """The sentence on rows of the benchmark that were left out; '' where it has them all."""
        if not self.exclusions:
            return ""
        items = (self.excluded_of or 0) - self.excluded
        counts = ExclusionCounts(self.benchmark_name, self.benchmark, items, self.exclusions)
        return f"{counts.text} Answers to them are skipped."

    @property
    def _answers(self) -> str:
        return (
            f"{count(self.responses, 'answer')} of {count(self.candidates, 'candidate')} to "
            f"{count(self.items, 'item')} ({self.new} new, {self.unchanged} unchanged, {self.replaced} "
            f"replacing failures); {self.blank} blank, {self.failed} failed, {self.skipped} skipped."
        )


class ImportedLog(NamedTuple):
    """What the import of one log did. `repeats` is the largest number of answers to one item by a candidate.

    `responses` counts answers, with `failed` and `blank` ones; `logprobs` those of them that are
    log-likelihoods of options. `scores` counts scores, with `scores_failed`, and those of `units`. `skipped`
    answers are to no item of the exam; `skipped_items` names these. `new`, `unchanged` and `replaced` count
    answers as the run held them before, `forgotten` those that it was told to forget: neither these nor their
    scores are among the others. `server_errors` and
    `escaped_line_ends` are as in `Imported`.
    `left_out` counts by reason the rows that give no answer; `row_counts` says what became of each answer and
    row that the log holds, and adds up. From `questions` on they are as in `Imported`,
    where near duplicates were asked for.
    """

    source: str
    tool: str
    version: str | None
    task: str
    candidates: tuple[str, ...]
    benchmark: str
    items: int
    responses: int
    failed: int
    blank: int
    repeats: int
    scores: int = 0
    scores_failed: int = 0
    units: int = 0
    logprobs: int = 0
    skipped: int = 0
    skipped_items: tuple[str, ...] = ()
    new: int = 0
    unchanged: int = 0
    replaced: int = 0
    forgotten: int = 0
    measures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    server_errors: int = 0
    escaped_line_ends: int = 0
    left_out: Mapping[str, int] = {}
    row_counts: Mapping[str, int] = {}
    questions: int = 0
    repeated: int = 0
    cases: int = 0
    near_repeated: int | None = None
    near_joined: bool = False
    group_level: str | None = None
    outer_level: str | None = None
    n_outer: int | None = None


class ImportedLogs(NamedTuple):
    """What an import of logs did: one entry for each log, and by name why other files were skipped."""

    logs: tuple[ImportedLog, ...]
    skipped_files: Mapping[str, str]
