"""Panels as tasks of annotation tools: what each tool reads, and the annotations that come back."""
