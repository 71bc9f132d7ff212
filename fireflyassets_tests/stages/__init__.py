"""Tests of `fireflyassets.stages`."""
