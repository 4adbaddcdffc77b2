"""A benchmark: `viva collect RUN "doses(file=doses.txt)" --plugin examples/plugin_benchmark.py`."""

from pathlib import Path

from vivavoce import Benchmark, Card, Item, benchmark


@benchmark("doses")
class Doses(Benchmark):
    """Highest daily doses from a text file with lines such as `paracetamol: 4 g`."""

    file: Path
    card = Card(name="doses", description="Highest daily doses.", source="ward", revision="1", licence="own",
                access="own", citation="none")  # fmt: skip

    def items(self):
        """A short question for each line."""
        for line in self.file.read_text(encoding="utf-8").splitlines():
            drug, _, dose = line.partition(": ")
            question = f"What is the highest daily dose of {drug}?"
            yield Item(benchmark="doses", item=drug, format="short", question=question, references=(dose,))
