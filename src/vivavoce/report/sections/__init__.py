"""Sections of the report: what it shows of scores, raters and findings."""
