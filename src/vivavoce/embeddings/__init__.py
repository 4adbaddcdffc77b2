"""One encoder for every metric that compares meaning: loading, token states, pooling."""
