"""Attention done right, and the ways it goes wrong: shared by every exercise that attends."""
