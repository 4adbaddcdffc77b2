"""Long answers checked fact by fact: clean the text, split it into facts, check each against evidence.

Pure functions of text, requests and readers: whoever scores asks the models.
"""
