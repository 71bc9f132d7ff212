"""Tests of `fireflyassets.adapters`."""
