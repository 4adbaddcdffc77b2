"""A reader of logs that hold their questions: one class, one decorator.

`viva import RUN monday.quiz.json --plugin examples/plugin_recorded_log.py`
"""

import json

from vivavoce import InputError, Item, Mark, RecordedLog, RecordedLogReader, Sample, log_reader


@log_reader("quiz")
class QuizLog(RecordedLogReader):
    """A JSON file with a `model` and its `answers`, each with `question`, `key`, `text` and `points`."""

    describes = "*.quiz.json"

    def knows(self, path):
        """Known by the end of its name."""
        return path.name.endswith(".quiz.json")

    def logs(self, path):
        """The one log in the file."""
        try:
            log = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise InputError(f"{path}: broken JSON ({error}): have the log written again.") from None
        yield RecordedLog(
            tool="quiz",
            version=None,
            task="quiz",
            candidate=log["model"],
            files=(path,),
            samples=lambda: (_sample(path, number, row) for number, row in enumerate(log["answers"], 1)),
        )


def _sample(path, number, row):
    item = Item(
        benchmark="quiz", item=row["id"], format="", question=row["question"], references=(row["key"],)
    )
    mark = Mark(scorer="points", value=row["points"], low=0.0, high=1.0)
    return Sample(where=f"{path}, answer {number}", item=item, text=row["text"], marks=(mark,))
