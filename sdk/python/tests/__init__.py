"""Tests of what the conformance tables do not cover."""

import pathlib
import sys

# The tests are about the source, also if another version is installed.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "src"))
