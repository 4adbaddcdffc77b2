"""The verbs of a run that read what others made: answers, logs of other tools, scores."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from vivavoce.core.cases import NearDuplicates
from vivavoce.core.exclusions import Faulty
from vivavoce.core.parts import reasoning_marks as marks_of
from vivavoce.core.records import Role
from vivavoce.core.tables import Dialect
from vivavoce.store.runfile import RunFile

if TYPE_CHECKING:
    from vivavoce.run.exchange.imported import Imported, ImportedLogs
    from vivavoce.run.exchange.scores import ImportedScores
    from vivavoce.run.exchange.sources import Data
    from vivavoce.run.exchange.wide_tables import Columns


class ImportVerbs:
    """Answers and scores into one run file."""

    file: RunFile

    def import_answers(
        self, data: "Data", *, benchmark: str | None = None, name: str | None = None,
        map: Mapping[str, str] | None = None, set: Mapping[str, Any] | None = None,
        role: Mapping[str, Role] | None = None, new_version: bool = False, models_in_columns: "Columns" = (),
        delimiter: str | None = None, encoding: str | None = None, sheet: str | None = None,
        faulty: Faulty = "refuse", reasoning_marks: Sequence[str] | None = None,
        near_duplicates: NearDuplicates | None = None, candidate_from: str | None = None,
        by: Literal["id", "words", "row"] | None = None, yes: bool = False,
        criteria: Sequence[str] | None = None, raters: Sequence[str] | None = None,
    ) -> "Imported":  # fmt: skip
        """Store recorded answers: of a file, of another tool's log, or of data in memory.

        `data` is a path (json, csv, parquet …), a Polars or pandas frame, a list of dicts, a dict of columns
        or a `datasets.Dataset`. Columns are found by name, as [Columns by name](../how-to/own-exam.md) says;
        what was found stands in the result's `matched`. `map` gives for our names (item, candidate, text …)
        your columns, `set` a value for every row, `role` candidates that are a floor or a ceiling. Without
        `benchmark` the questions are those of the table, as a benchmark of this `name`; else the run's only
        benchmark is meant. `new_version` accepts items that changed. A null text, in a pandas frame also
        NaN, is a failed response. A registered log reader, such as that of ClinIQLink's folders, reads what
        it accepts.

        `models_in_columns` names the columns of a wide table that hold the answers of a model each, or gives
        them by candidate. `delimiter`, `encoding` and `sheet` say how a file is written; without them they
        are found, and stand in the result. `faulty` says what becomes of the questions of a table of which
        one can be no item: they are refused, or with "exclude" that one is left out and counted.
        `reasoning_marks` open and close the thinking in these texts, where they are of no known family.
        `near_duplicates`, for this and later calls: questions that are nearly the same are counted, by
        default, or with "join" they are one case.

        `data` may also be several paths, a folder or a path with `*`: one of them may be the exam. What the
        data leave open is asked all at once in an `InputError`, each with a proposal; `yes` takes these.
        `candidate_from`, such as "results/{candidate}_temp*.json", says where in a path the model stands, and
        `by` whether rows find their question in an exam by id, by its words or by their place alone; without
        it by id, else by words.

        Columns of true and false or of 0 to 1 whose names say that they score the answers (`correct`, `acc`,
        `judge_score` …) are kept as the file's own scores, under the metric `file`: they rank no candidate,
        and `score` compares them with ours. `criteria` names these columns; ["none"] keeps none. Columns such
        as `rater_1` or `physician_2_score` are kept as people's scores, under the metric `people`: the column
        names the rater, and the criterion. `raters` names these columns, each "COLUMN" or "RATER=COLUMN".
        """
        from vivavoce.run.exchange.answers import import_answers
        from vivavoce.run.exchange.sources import Reading

        return import_answers(
            self.file, data, benchmark=benchmark, name=name, columns=map or {}, constants=set or {},
            roles=role or {}, new_version=new_version, own_marks=marks_of(reasoning_marks, "reasoning_marks"),
            reading=Reading(
                Dialect(delimiter, encoding, sheet), models_in_columns, faulty, candidate_from, by, yes,
                [criteria] if isinstance(criteria, str) else criteria,
                [raters] if isinstance(raters, str) else raters,
            ),
            near_duplicates=near_duplicates,
        )  # fmt: skip

    def import_logs(
        self, *paths: str | Path, reader: str | None = None, benchmark: str | None = None,
        candidate: str | None = None, new_version: bool = False, again: bool = False,
        reasoning_marks: Sequence[str] | None = None,
        near_duplicates: NearDuplicates | None = None,
    ) -> "ImportedLogs":  # fmt: skip
        """Store the answers and scores in logs of other tools, files or folders of them; all of them or none.

        Logs are told by their content, or read by the `reader` of that name. Without `benchmark` each log is
        the exam, under its task's name; with it items are found by id and content, never by row. `candidate`
        names the model of logs that name none, or one. Scores are recorded measures, such as
        `inspect.choice`. The same again changes nothing; `again` stores scores that came in before by another
        tool or measure, which are refused without it. `reasoning_marks` and `near_duplicates` are as in
        `import_answers`. A file in a folder that cannot be read is listed, and does not refuse the others.
        """
        from vivavoce.run.exchange.import_logs import import_logs

        return import_logs(
            self.file, [Path(path) for path in paths], reader=reader, benchmark=benchmark,
            candidate=candidate, new_version=new_version, same_allowed=again,
            own_marks=marks_of(reasoning_marks, "reasoning_marks"), near_duplicates=near_duplicates,
        )  # fmt: skip

    def import_scores(
        self, data: "Data", *, measure: str, map: Mapping[str, str] | None = None,
        set: Mapping[str, str] | None = None, criteria: Sequence[str] = (),
        where: Mapping[str, str] | None = None, status: str | None = None,
        blank: Literal["unanswered", "recorded"] = "unanswered",
        range: Mapping[str, tuple[float | None, float | None]] | None = None,
        direction: Mapping[str, str] | None = None, if_unanswered: Mapping[str, str] | None = None,
        benchmark: str | None = None, delimiter: str | None = None, encoding: str | None = None,
        sheet: str | None = None, again: bool = False,
        texts: Literal["same", "differ"] = "same",
    ) -> "ImportedScores":  # fmt: skip
        """Store scores that judges or people gave elsewhere to answers of this run; all of them or none.

        `data`, and how its columns are found, are as in `import_answers`. `measure` is a spec kept as a
        label. Wide tables have a column per criterion (`criteria`), long ones `criterion` and `value`.
        `where` keeps rows, `status` names the column whose word must be ok. `range`,
        `direction` and `if_unanswered` declare criteria by name, or all under '*'. `blank` says whether
        scores of blank answers count; rows on other items of `benchmark` are skipped. For people's labels,
        `map` or `set` may give the `probability` with which each case was drawn for labelling. Scores that
        the run holds under another measure or rater are refused, unless `again`: raters may agree in
        everything. Where a column holds the texts that were scored, scores of other texts than the run's
        answers are refused, unless `texts` is "differ"; thinking, blanks and line ends do not count.
        """
        from vivavoce.run.exchange.score_layout import Layout
        from vivavoce.run.exchange.scores import import_scores

        declared: dict[str, dict[str, Any]] = {}
        for name, (low, high) in (range or {}).items():
            declared.setdefault(name, {}).update(low=low, high=high)
        for field, words in (("direction", direction), ("if_unanswered", if_unanswered)):
            for name, word in (words or {}).items():
                declared.setdefault(name, {})[field] = word
        names = [criteria] if isinstance(criteria, str) else criteria
        chosen = {column: str(value) for column, value in (where or {}).items()}
        layout = Layout(map or {}, set or {}, names, chosen, status, blank, texts)
        return import_scores(
            self.file, data, measure=measure, layout=layout, declared=declared, benchmark=benchmark,
            dialect=Dialect(delimiter, encoding, sheet), same_allowed=again,
        )  # fmt: skip
