"""Studies: score rows in, findings out. A study knows no metric, no model and no store."""
