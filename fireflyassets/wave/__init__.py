"""The wave engine: works on the jobs of one Dagster run, all stages, without a barrier.

Belongs here: the asyncio loop over jobs, the lease, the window, and how each job's turn ends.
Does not: Dagster; what a stage does (``stages/``); how a paid call is made (``fence/``).
"""
