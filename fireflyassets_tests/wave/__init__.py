"""Tests of the wave engine."""
