"""What a lesson asks beside its exercises, and how far one is. Nothing of it counts for points."""

from grader.play.ordering import order_lines
from grader.play.predictions import predict, remember, reveal
from grader.progress.overview import progress

__all__ = ["order_lines", "predict", "progress", "remember", "reveal"]
