"""Tests of the asset factory; the folders mirror the package."""
