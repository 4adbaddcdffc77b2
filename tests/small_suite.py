"""The small suite of the examples, for tests: every data set of the healthcare suite in its layout."""

import importlib.util
from pathlib import Path

_FILE = Path(__file__).resolve().parents[1] / "examples" / "small_suite.py"
_spec = importlib.util.spec_from_file_location("small_suite", _FILE)
assert _spec
assert _spec.loader
small_suite = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(small_suite)
