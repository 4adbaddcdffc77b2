"""Pages over one run file, rendered on this machine: for raters, the organiser and the owner of a run."""
