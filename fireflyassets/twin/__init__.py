"""The twin: a simulator of Adobe's IMS, Firefly and Photoshop services, spoken to over HTTP only.

Belongs here: everything the simulator needs. It imports nothing of the pipeline, and nothing of
the pipeline imports it, so that a rehearsal can never pass by sharing a mistake with the client.
Does not belong here: any knowledge of jobs, campaigns, ledgers or Dagster.
"""
