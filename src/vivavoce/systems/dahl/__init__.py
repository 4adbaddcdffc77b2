"""DAHL (Seo et al., 2024): questions that are answered at length and checked fact by fact."""
