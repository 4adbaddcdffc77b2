"""Words, sentences, quantities and negation of any text, and what is known of each language."""
