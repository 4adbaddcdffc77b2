"""Tables for a paper: estimates, comparisons, agreement and the flow of answers, as LaTeX, Markdown, CSV."""
