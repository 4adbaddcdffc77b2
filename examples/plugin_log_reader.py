"""A reader of another tool's logs: one class, one decorator. `viva import RUN log.samples.json
--benchmark SPEC --plugin examples/plugin_log_reader.py`
"""

import json

from vivavoce import InputError, Line, LogReader, log_reader


@log_reader("samples")
class SamplesLog(LogReader):
    """A JSON file with a `model` and its `samples`, each with an `id` and an `output`."""

    def accepts(self, path, benchmark):
        """Known by the end of its name."""
        return path.name.endswith(".samples.json")

    def lines(self, path, benchmark):
        """A row for each sample."""
        try:
            log = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise InputError(f"{path}: broken JSON ({error}): have the log written again.") from None
        for index, sample in enumerate(log["samples"]):
            row = {"item": sample["id"], "candidate": log["model"], "text": sample["output"]}
            yield Line(f"{path}, samples[{index}]", row)
