"""Grading the notebooks that a class hands in."""

import sys

# nbformat imports jsonschema, which makes a grammar of web addresses if it finds this package: more
# than a second, for a check that notebooks have no use for.
sys.modules.setdefault("rfc3987_syntax", None)
