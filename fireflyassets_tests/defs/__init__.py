"""Tests of the Dagster definitions, over memory ports."""
