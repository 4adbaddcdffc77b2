"""HealthBench (Arora et al. 2025) and its Professional set (2026): conversations with points to meet."""
