"""What single facts of answers show beside a score: coverage, kinds of facts, length, samples and raters."""
