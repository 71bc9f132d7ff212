"""Tests of `fireflyassets.twin`."""
