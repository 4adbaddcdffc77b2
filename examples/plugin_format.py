"""A format: `viva import RUN FILE --benchmark "jsonl(path=EXAM)" --plugin examples/plugin_format.py`."""

from vivavoce import Format, InputError, Reading, format


@format("script_concordance")
class ScriptConcordance(Format):
    """How far a finding makes a hypothesis more or less likely; the key is what most experts say."""

    fields = ("question", "answer", "context")
    answered, read_as, scored_as = "with a number from -2 to 2", "the number as text", "mcq"
    open_text, fixed_options = False, ("-2", "-1", "0", "1", "2")

    def ask(self, item, style=None):
        """The question as it stands, and the scale."""
        return f"{super().ask(item)}\n\nAnswer with a number from -2 (less likely) to 2 (more likely)."

    def read(self, item, text):
        """The only number; thinking, blank texts and refusals are dealt with by the base class."""
        reading = super().read(item, text)
        numbers = {word.strip("+.,*") for word in str(reading.parsed).split()} & set(self.fixed_options)
        if len(numbers) == 1:
            return Reading("ok", numbers.pop())
        return Reading("unreadable", reason="no single number") if reading.parsed else reading

    def check(self, item):
        """Needs a key on the scale."""
        if len(item.answer) == 1 and item.answer[0] in self.fixed_options:
            return item
        raise InputError(f"item {item.name!r}: the answer must be a number from -2 to 2.")
