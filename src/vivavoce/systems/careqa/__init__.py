"""CareQA and the healthcare suite of the BSC (Arias-Duart et al. 2025): benchmarks, and how they are made."""

from vivavoce.systems.careqa.negative_stems import negative_stem

__all__ = ["negative_stem"]
