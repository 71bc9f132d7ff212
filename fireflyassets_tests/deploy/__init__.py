"""Tests of what `deploy/` makes."""
