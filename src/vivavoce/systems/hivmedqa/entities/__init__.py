"""Clinical entities: found in a text, brought to one form, widened by synonyms, matched and counted.

What MedSynF1 is made of (Cardenal Antolin et al. 2025, HIVMedQA). Nothing here asks a model.
"""
