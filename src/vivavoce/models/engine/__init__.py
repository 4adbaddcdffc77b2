"""The engine: every request to a model passes here, once.

Bounded workers per model; per endpoint a concurrency limit that adapts to what it takes, rate limits,
attempts with jitter, a price, one way to stop. Each outcome is handed to the caller at once, a failure too,
so that an interrupted command loses nothing. The program's own questions go through `ModelClient`.
"""
