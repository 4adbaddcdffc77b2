"""Our benchmarks and metrics in Inspect: `inspect eval vivavoce/exam`, and the scorer `vivavoce/score`.

Inspect finds `vivavoce.contrib.inspect.tasks` through its entry point; nothing of ours imports it.
"""
