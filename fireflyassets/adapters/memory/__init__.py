"""Ports in memory: for tests and for one process. They keep the promises of the real ones.

Belongs here: one module per port, thread-safe. Does not: mocks, scripts of what is called.
"""
