"""Other people's files in: recorded answers and recorded scores. A run's tables out."""
