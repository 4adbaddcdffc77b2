"""The study `arguments`: sources of explanations ranked by what they do for a task, and who else agrees."""

from vivavoce.systems.ranking.study.arguments import Arguments

__all__ = ["Arguments"]
