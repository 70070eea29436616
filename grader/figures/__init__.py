"""Every picture of the course: one call draws one figure and says in words what it shows.

Numbers may come as tensors (also such that need a gradient), arrays or nested lists.
"""

from grader.figures.charts import bars, curves, histogram, vectors
from grader.figures.heat import heatmap, heatmaps

__all__ = ["bars", "curves", "heatmap", "heatmaps", "histogram", "vectors"]
