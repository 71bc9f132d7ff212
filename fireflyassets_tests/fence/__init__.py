"""Tests of the spend fence."""
