"""Other people's files in: recorded answers and recorded scores. A run's tables out."""

from vivavoce.interchange.answers import Imported, import_answers
from vivavoce.interchange.exports import Exported, export
from vivavoce.interchange.marks import Layout
from vivavoce.interchange.scores import Declared, ImportedScores, import_scores

__all__ = [
    "Declared",
    "Exported",
    "Imported",
    "ImportedScores",
    "Layout",
    "export",
    "import_answers",
    "import_scores",
]
