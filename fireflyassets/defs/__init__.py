# pyright: standard
"""The only code that speaks Dagster: assets, checks, sensors, resources, partitions.

Belongs here: the window that people look through and the control plane that starts runs.
Does not: decisions; the ledger and the stages take them.
"""
