"""Long answers scored fact by fact: how much of what they claim is right, and how much could be checked.

It measures conflict with facts only: an answer may be true in every fact and leave out what matters, or be
harmful by what it advises. `must_recall` and the weights by severity say a part of that.
"""
