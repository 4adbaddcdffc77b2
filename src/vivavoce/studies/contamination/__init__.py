"""Signs that a candidate has seen the benchmark, and its preference for a position."""
