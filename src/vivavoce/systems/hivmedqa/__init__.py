"""HIVMedQA (Cardenal Antolin et al. 2025): open questions on HIV, MedSynF1, bias twins."""
