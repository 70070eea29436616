"""Grading the notebooks that a class hands in."""
