"""How `make outputs` stores a solved lesson: run, and without what differs from run to run."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))

c = get_config()

c.NbConvertApp.export_format = "notebook"

c.ExecutePreprocessor.enabled = True
c.ExecutePreprocessor.timeout = 300
c.ExecutePreprocessor.record_timing = False
c.ExecutePreprocessor.store_widget_state = False

# Of the metadata only what nbgrader, nbval and a kernel need.
c.ClearMetadataPreprocessor.enabled = True
c.ClearMetadataPreprocessor.preserve_cell_metadata_mask = {"nbgrader", "tags"}
c.ClearMetadataPreprocessor.preserve_nb_metadata_mask = {"kernelspec", ("language_info", "name")}

# What a cell prints is one output, however it arrived.
c.CoalesceStreamsPreprocessor.enabled = True
c.NotebookExporter.preprocessors = [
    "nbconvert.preprocessors.CoalesceStreamsPreprocessor",
    "grader.runtime.saving.still_outputs",
    "tidy.readable_ids",
    "tidy.minutes",
]
