"""Tests of `fireflyassets.api`."""
