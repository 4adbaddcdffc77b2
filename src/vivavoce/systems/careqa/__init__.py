"""CareQA and the healthcare suite of the BSC (Arias-Duart et al. 2025): benchmarks and the reproduction."""
