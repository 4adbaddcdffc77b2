"""Similarity of meaning between an answer and its reference: words, sentence and paragraph, by an encoder.

What the metric `cliniqlink` is made of (Colelough, Bartels and Demner-Fushman 2025, ClinIQLink).
"""
