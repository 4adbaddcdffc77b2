"""Notebooks: how runs, findings, items and responses look in a cell, and charts of findings.

Each view is one block of HTML without a script, a link or a request. Every text of others is escaped, and
shown without what could turn its direction or be read as mathematics.
"""
