"""The prompts and rubrics that the systems' papers print, cut out of the copy that a user has."""
