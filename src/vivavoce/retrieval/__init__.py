"""A local source: a folder of texts, searched by words, with the file, page and place of every passage.

`index.open_source` is the way in. The extra `sources` brings bm25s, pypdf and lxml. Nothing here reaches a
network, and no model is imported: who wants passages ordered by an encoder hands one in.
"""
