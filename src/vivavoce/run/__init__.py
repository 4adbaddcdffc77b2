"""The verbs: collect, score, vary, exchange, and `Run`, which offers them all."""
