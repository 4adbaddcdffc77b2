"""A section of the report: `viva report RUN --plugin examples/plugin_section.py`."""

from vivavoce import Section, section
from vivavoce.report import charts


@section("bias")
class Bias(Section):
    """Scores with and without a misleading sentence."""

    heading = "Misleading additions"
    about = "How far scores fall when a question carries a misleading sentence."
    methods = "Items were asked again with a misleading sentence, and scores compared in pairs."

    def charts(self, rows):
        """A line for each candidate and type of bias."""
        keys = ("candidate", "low", "high")
        drops = [
            {**{key: row[key] for key in keys}, "category": row["type"], "estimate": row["difference"]}
            for row in rows
            if row["contrast"] == "bias"
        ]
        if drops:
            yield charts.figure("Drop by type of bias", charts.forest(drops), "bias")

    def table(self, rows):
        """The columns that a reader needs first."""
        return [{name: row[name] for name in ("candidate", "type", "difference", "verdict")} for row in rows]
