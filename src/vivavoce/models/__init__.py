"""Everything that reaches a model: requests, providers, models in this process, and the engine that asks."""
