"""The healthcare data sets, one file each: read from the files that their authors or the hub publish.

A loader takes `data`, a folder, and reads nothing else: no network, no code of the data set. Rows that cannot
be items are left out, each with a reason; a file in another layout is refused in one sentence.
"""
