"""What everything else is written in: records, specs, the registry, errors, text, tables."""
