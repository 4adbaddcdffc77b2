"""The viewer: a run in the browser of its owner, read page by page while it grows."""
