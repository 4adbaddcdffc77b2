"""Rubrics: how a judge model is asked to mark, in a Markdown file without any Python.

Settings stand between two `---` lines, the prompt below them, with `{{ variables }}`; `## system` and
`## user` begin its messages. What a stranger wrote is put between delimiters that it cannot close
(`fencing`); a reply is read tolerantly and never guessed at (`replies`, `ballots`).
"""

from vivavoce.rubrics.base import Ask, RubricCriterion
from vivavoce.rubrics.loading import load, shipped
from vivavoce.rubrics.rubric import Rubric

__all__ = ["Ask", "Rubric", "RubricCriterion", "load", "shipped"]
