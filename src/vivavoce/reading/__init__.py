"""How a text is read: tokens, mentions of options, answer markers, refusals. No item is known here."""
