"""The order of the tests: those that need the same large library follow each other.

pytest-xdist gives each worker a row of neighbours to begin with, so few workers import a library. They come
first: what a worker has left at the end, others take.
"""

from functools import cache
from pathlib import Path

from tests.imports import reaches

LIBRARIES = (
    ("playwright",),
    ("torch", "transformers", "embeddings", "evaluators", "models.local"),
    ("inspect_ai", "contrib.inspect"),
    ("ray", "run.workers.ray_executor"),
    ("statsmodels", "scikit_posthocs", "ppi_py"),
    ("nltk", "rouge_score", "sklearn", "lunr"),
)
"""Each group is imported together, or with what the others import."""


@cache
def place(file: Path) -> int:
    """The place of a file of tests: that of the first group that it reaches, or after all of them."""
    return next((k for k, names in enumerate(LIBRARIES) if reaches(file, names)), len(LIBRARIES))
