"""Making benchmarks: recipes of small steps, from papers and passages to a frozen exam."""
