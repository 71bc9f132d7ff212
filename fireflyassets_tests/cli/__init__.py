"""Tests of `fireflyassets.cli`."""
