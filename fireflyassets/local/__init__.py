"""The whole factory on one machine, without accounts: for trying it, showing it and testing it.

Belongs here: starting, watching and stopping the embedded AWS, the twin, the intake API and Dagster
as programs of their own on loopback, and the demo that sends the main job through them.
Does not: anything that production runs. Nothing here is imported by the factory itself.
"""
