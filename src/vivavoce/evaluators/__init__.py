"""Evaluators: models trained to solve a task with the help of an argument, so that arguments compare."""
