"""Tests of what receivers import."""
