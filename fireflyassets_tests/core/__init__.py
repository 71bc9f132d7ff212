"""Tests of `fireflyassets.core`."""
