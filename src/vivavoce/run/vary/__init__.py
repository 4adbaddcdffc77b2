"""The verb vary: variants of items, edits of responses."""
