"""Log-likelihoods: what is requested of a model about an item, what is recorded, and the metrics of it."""
