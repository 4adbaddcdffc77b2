"""An exporter: one class, one decorator. `viva export RUN pairs.jsonl --format pairs --plugin
examples/plugin_exporter.py`
"""

import json

from vivavoce import Exported, Exporter, StoreError, exporter


@exporter("pairs")
class Pairs(Exporter):
    """Questions with a candidate's responses, a JSON object a line, as tools for fine-tuning read them."""

    candidate: str

    def write(self, run, to):
        """One line for each response that arrived."""
        if to.exists():
            raise StoreError(f"{to} is there already: give another path.")
        questions = {row["item"]: row["question"] for row in run.items.iter_rows(named=True)}
        rows = run.responses.filter(candidate=self.candidate, status="ok", probe="")
        pairs = [{"prompt": questions[row["item"]], "response": row["text"]} for row in rows.to_dicts()]
        to.write_text("".join(json.dumps(pair) + "\n" for pair in pairs), encoding="utf-8")
        return (Exported(None, to, len(pairs), to.stat().st_size),)
