"""The verbs compare, gate and interim: comparisons of candidates, and what is decided on them."""
