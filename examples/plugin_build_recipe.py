"""A recipe of your own: questions of a file, of which a step of your own keeps those with a subject.

viva build exam.viva on_subject --from bank.jsonl --word sepsis --plugin examples/plugin_build_recipe.py
"""

from vivavoce import BuildRecipe, Drop, Step, StepResult, build_recipe, step
from vivavoce.run.building.questions import Questions


@step("with_word")
class WithWord(Step):
    """Questions that hold a word, whatever its case."""

    word: str

    def apply(self, parts, lab):
        """Keep those with the word; drop the others, each with the reason."""
        kept = [part for part in parts if self.word.casefold() in part.question.casefold()]
        dropped = [Drop(part, f"no {self.word} in it") for part in parts if part not in kept]
        return StepResult(kept, dropped)


@build_recipe("on_subject")
class OnSubject(BuildRecipe):
    """Questions of the files `from` that hold a `word`."""

    from_: tuple[str, ...]
    word: str

    def steps(self):
        """Two steps: one of ours, and the one above."""
        return {"parse": Questions(files=self.from_), "subject": WithWord(word=self.word)}
