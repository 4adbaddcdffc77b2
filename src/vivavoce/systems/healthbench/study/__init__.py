"""Studies of HealthBench: scores by theme and axis, and graders held against physicians."""

from vivavoce.systems.healthbench.study.axes import Axes
from vivavoce.systems.healthbench.study.meta_evaluation import MetaEvaluation

__all__ = ["Axes", "MetaEvaluation"]
