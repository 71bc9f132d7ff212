"""Tests of the shared rate limiter."""
