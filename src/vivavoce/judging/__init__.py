"""Judging: models that score responses by a rubric, a Markdown file without any Python.

A rubric's settings stand between two `---` lines, the prompt below them, with `{{ variables }}`; `## system`
and `## user` begin its messages. Text from items and candidates is put between delimiters that it cannot
close (`models.fencing`). A reply is read tolerantly and never guessed at (`replies`).
"""
