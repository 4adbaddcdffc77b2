"""The audit of every quality measure of a run: rules, embeddings and judges beside people or a judge."""
