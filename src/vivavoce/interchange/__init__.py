"""Other people's files in: recorded answers and recorded scores."""

from vivavoce.interchange.answers import Imported, import_answers
from vivavoce.interchange.marks import Layout
from vivavoce.interchange.scores import Declared, ImportedScores, import_scores

__all__ = ["Declared", "Imported", "ImportedScores", "Layout", "import_answers", "import_scores"]
