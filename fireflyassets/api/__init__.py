"""The HTTP API: the door for customers' systems.

Belongs here: routes, who may ask, bodies, problems. Does not: Dagster, vendors, use cases.
Every answer holds rows of the caller's tenant alone; nothing here calls Adobe.
"""
