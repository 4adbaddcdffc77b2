"""ClinIQLink 2025 (Colelough, Bartels and Demner-Fushman): seven formats, a semantic score, submissions."""
